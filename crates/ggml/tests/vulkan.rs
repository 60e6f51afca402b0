//! What Vulkan computes agrees with the CPU, be the backend linked in (feature `vulkan`) or loaded from the folder that
//! `FRESCO_BACKENDS` names, `target/backends` by default (feature `dynamic-backends`). Without a GPU, Mesa's lavapipe is
//! the device.
#![cfg(any(feature = "vulkan", feature = "dynamic-backends"))]
#![allow(unsafe_code, reason = "setting the variable that makes lavapipe a device")]
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::sync::LazyLock;

use common::{Array, Input, assert_close, eval_on, floats, typed};
use fresco_ggml::{BufferUsage, DType, Device, GraphScope, Interpolation, OpError, Tensor};

/// Another order of sums, and products contracted with them.
const ROUNDING: f32 = 1e-5;
/// Operands rounded to half precision on the way.
const HALF: f32 = 2e-3;

static VULKAN: LazyLock<Device> = LazyLock::new(|| {
    if std::env::var_os("GGML_VK_VISIBLE_DEVICES").is_none() {
        // SAFETY: each test comes here before it calls ggml, and waits; nothing else reads the environment.
        unsafe { std::env::set_var("GGML_VK_VISIBLE_DEVICES", "0") };
    }
    #[cfg(not(feature = "vulkan"))]
    {
        let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/backends");
        let dir = std::env::var_os("FRESCO_BACKENDS").unwrap_or_else(|| default.into());
        let files = fresco_ggml::load_backends(dir.as_ref()).unwrap();
        let vulkan = files.iter().find(|file| file.path.to_string_lossy().contains("vulkan"));
        assert_eq!(vulkan.expect("run `cargo xtask backend vulkan`").outcome.as_ref().unwrap(), "Vulkan");
    }
    fresco_ggml::select_device(&Device::all().unwrap(), "Vulkan0").unwrap()
});

/// The same inputs and graph on Vulkan and on the CPU.
#[track_caller]
fn check(
    inputs: &dyn Fn() -> Vec<Input>,
    tolerance: f32,
    build: impl for<'g> Fn(&GraphScope<'g>, &[Tensor<'g>]) -> Result<Tensor<'g>, OpError>,
) {
    // First: it changes the environment.
    let vulkan = &*VULKAN;
    let expected = eval_on(&Device::cpu().unwrap(), &inputs(), 2, &build);
    let found = eval_on(vulkan, &inputs(), 1, &build);
    assert_eq!((found.0, found.1), (expected.0, expected.1));
    assert_close(&floats(&found.2), &floats(&expected.2), tolerance);
}

#[test]
fn the_device_describes_itself() {
    assert_eq!(VULKAN.backend_name(), "Vulkan");
    assert!(!VULKAN.computes_in_host_memory());
    assert!(VULKAN.memory().total_bytes > 0);
    assert!(VULKAN.max_buffer_bytes().is_some());
    assert!(VULKAN.alignment() >= 16);
}

#[test]
fn buffers_keep_what_is_written() {
    let (count, meter) = common::meter();
    let buffer = VULKAN.alloc_buffer(1000, BufferUsage::Weights, &meter).unwrap();
    let data: Vec<u8> = (0..=255).collect();
    buffer.write(500, &data).unwrap();
    let mut found = vec![0; 256];
    buffer.read(500, &mut found).unwrap();
    assert_eq!(found, data);
    assert_eq!(count.held_bytes(), 1000);
    drop(buffer);
    assert_eq!(count.held_bytes(), 0);
}

#[test]
fn operations_of_an_upscaler_agree() {
    let image = Array::noise([17, 13, 12, 1], 1);
    let input = || vec![(&image).into()];
    check(&input, 0.0, |_, t| t[0].im2col([3, 3], [1, 1], [1, 1], [1, 1], DType::F32));
    check(&input, ROUNDING, |_, t| t[0].leaky_relu(0.2));
    check(&input, ROUNDING, |_, t| t[0].silu());
    check(&input, 0.0, |_, t| t[0].upscale_nearest(2));
    check(&input, ROUNDING, |_, t| t[0].interpolate([34, 26], Interpolation::Bicubic));
    check(&input, 0.0, |_, t| t[0].concat(t[0], 2));
    check(&input, 0.0, |_, t| t[0].pad_ext([0, 1, 0, 0], [0, 2, 0, 0]));
    check(&input, 0.0, |_, t| t[0].permute([1, 2, 0, 3])?.cont());
    check(&input, ROUNDING, |_, t| t[0].norm(1e-5));
    check(&input, ROUNDING, |_, t| t[0].group_norm(4, 1e-5));
    check(&input, ROUNDING, |_, t| t[0].soft_max_ext(None, 0.5));
    // A strip of rows, which Vulkan takes as a copy only.
    check(&input, 0.0, |_, t| {
        let [_, row, plane, _] = t[0].nb();
        t[0].view_3d([17, 5, 12], [row, plane], 4 * row)?.cont()?.im2col([3, 3], [1, 1], [1, 0], [1, 1], DType::F32)
    });
    let part = Array::noise([17, 3, 12, 1], 2);
    check(&|| vec![(&image).into(), (&part).into()], 0.0, |_, t| {
        let [_, row, plane, volume] = t[0].nb();
        t[0].scale(1.0)?.set_inplace(t[1], [row, plane, volume], 2 * row)
    });
}

#[test]
fn products_agree() {
    let (a, b) = (Array::noise([288, 40, 1, 1], 3), Array::noise([288, 21, 1, 1], 4));
    // Where the device has half precision, ggml's shaders round both operands to it, whatever their type.
    for (dtype, tolerance) in [(DType::F32, HALF), (DType::F16, HALF), (DType::Q8_0, 2e-2)] {
        println!("{dtype}");
        check(&|| vec![typed(&a, dtype), (&b).into()], tolerance, |_, t| t[0].mul_mat(t[1]));
    }
}
