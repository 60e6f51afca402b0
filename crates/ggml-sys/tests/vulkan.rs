//! Vulkan, linked in, computes what the CPU computes. On a machine without a GPU, Mesa's lavapipe is the device.
#![cfg(feature = "vulkan")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers included")]
#![allow(unsafe_code, reason = "the crate under test consists of foreign functions")]

mod support;

#[test]
fn vulkan_agrees_with_the_cpu() {
    support::accept_lavapipe();
    let device = support::devices().into_iter().find(|device| support::name(*device) == "Vulkan0");
    let device = device.expect("no Vulkan device: install a driver (on Debian: mesa-vulkan-drivers)");
    support::assert_agrees_with_the_cpu(device);
}
