//! `--backends`: backends that are loaded at run time. `cargo xtask vulkan` builds the one that these tests load;
//! `FRESCO_BACKENDS` names its folder where it is not `target/backends`.
#![cfg(feature = "dynamic-backends")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};

use common::Folder;

#[test]
fn a_loaded_backend_adds_its_devices() {
    let folder = Folder::new();
    assert!(!folder.run("devices").expect(0, &[]).stdout.contains("Vulkan"));
    let backends = backends_dir();
    let with_backends = format!("devices --backends {}", backends.display());
    assert!(folder.run(&with_backends).expect(0, &[]).stdout.contains("Vulkan0"));
}

#[test]
fn a_library_that_is_no_backend_is_passed_over_with_a_warning() {
    let folder = Folder::new();
    let name = format!("{DLL_PREFIX}fresco-nothing{DLL_SUFFIX}");
    fs::write(folder.path(&name), "no library").unwrap();
    let run = folder.run("devices --backends .").expect(0, &[]);
    assert!(run.stdout.contains("CPU") && run.stderr.contains(&name), "{}", run.stderr);
}

#[test]
fn a_folder_without_backends_is_told() {
    let folder = Folder::new();
    fs::create_dir(folder.path("empty")).unwrap();
    folder.run("devices --backends none").expect(1, &["none"]);
    assert!(folder.run("devices --backends empty").expect(0, &[]).stderr.contains("no backend"));
}

fn backends_dir() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/backends");
    std::env::var_os("FRESCO_BACKENDS").map_or_else(default, PathBuf::from)
}
