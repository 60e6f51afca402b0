//! What the tests of GPU backends share: finding and loading a backend, and a small computation to compare.
#![allow(dead_code, reason = "no test uses all of it")]

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Once;

use fresco_ggml_sys as sys;

/// The devices that ggml knows of now.
pub(crate) fn devices() -> Vec<sys::ggml_backend_dev_t> {
    let mut message = sys::fresco_message { text: [0; 512] };
    let mut n_devices = 0;
    // SAFETY: the out-pointers are to live variables, and the indices are below the count that ggml gave.
    unsafe {
        let status = sys::fresco_devices_init(&mut n_devices, &mut message);
        assert_eq!(status, sys::FRESCO_OK, "{:?}", CStr::from_ptr(message.text.as_ptr()));
        (0..n_devices).map(|index| sys::ggml_backend_dev_get(index)).collect()
    }
}

/// The name that ggml gives a device, such as `CPU` or `Vulkan0`.
pub(crate) fn name(device: sys::ggml_backend_dev_t) -> String {
    // SAFETY: ggml's devices live as long as the process, and so do their names, which end with a zero byte.
    unsafe { CStr::from_ptr(sys::ggml_backend_dev_name(device)) }.to_string_lossy().into_owned()
}

/// Asserts that `device` computes what the CPU computes, with weights of several types.
pub(crate) fn assert_agrees_with_the_cpu(device: sys::ggml_backend_dev_t) {
    let cpu = devices().into_iter().find(|device| name(*device) == "CPU").unwrap();
    for weights_type in [sys::GGML_TYPE_F32, sys::GGML_TYPE_F16, sys::GGML_TYPE_Q8_0] {
        let expected = project(cpu, weights_type);
        let found = project(device, weights_type);
        let error: f32 = expected.iter().zip(&found).map(|(a, b)| (a - b) * (a - b)).sum();
        let power: f32 = expected.iter().map(|a| a * a).sum();
        let signal_to_noise_db = 10.0 * (power / error).log10();
        assert!(signal_to_noise_db > 40.0, "{}, type {weights_type}: {signal_to_noise_db} dB", name(device));
    }
}

/// Asserts that an allocation beyond any device's memory fails with a status, and that the device works on.
pub(crate) fn assert_refuses_the_impossible(device: sys::ggml_backend_dev_t) {
    let mut message = sys::fresco_message { text: [0; 512] };
    let mut buffer = ptr::null_mut();
    // SAFETY: the buffer type is the device's own, and the out-pointers are to live variables.
    let status = unsafe {
        let buft = sys::ggml_backend_dev_buffer_type(device);
        sys::fresco_buffer_alloc(buft, 1 << 50, &mut buffer, &mut message)
    };
    assert_ne!(status, sys::FRESCO_OK);
    assert!(buffer.is_null());
    assert_agrees_with_the_cpu(device);
}

/// `silu(weights x input)` of a 96x64 matrix of `weights_type` and a 64x33 matrix, computed on `device`.
fn project(device: sys::ggml_backend_dev_t, weights_type: sys::ggml_type) -> Vec<f32> {
    const N_IN: usize = 64;
    const N_OUT: usize = 96;
    const N_COLUMNS: usize = 33;
    let wave = |n: usize, step: f32| -> Vec<f32> { (0..n).map(|i| (i as f32 * step).sin()).collect() };
    let weights = wave(N_IN * N_OUT, 0.37);
    let input = wave(N_IN * N_COLUMNS, 0.11);
    let mut message = sys::fresco_message { text: [0; 512] };
    let mut output = vec![0.0; N_OUT * N_COLUMNS];
    let ok = |status: sys::fresco_status, message: &sys::fresco_message| {
        // SAFETY: the shim ends every message with a zero byte.
        assert_eq!(status, sys::FRESCO_OK, "{:?}", unsafe { CStr::from_ptr(message.text.as_ptr()) });
    };
    // SAFETY: every pointer is one that ggml returned and is freed after its last use; sizes are those of the vectors.
    unsafe {
        let mut backend = ptr::null_mut();
        ok(sys::fresco_backend_init(device, &mut backend, &mut message), &message);
        let params = sys::ggml_init_params { mem_size: 1 << 20, mem_buffer: ptr::null_mut(), no_alloc: true };
        let context = sys::ggml_init(params);
        let w = sys::ggml_new_tensor(context, weights_type, 2, [N_IN as i64, N_OUT as i64].as_ptr());
        let x = sys::ggml_new_tensor(context, sys::GGML_TYPE_F32, 2, [N_IN as i64, N_COLUMNS as i64].as_ptr());
        let product = sys::ggml_mul_mat(context, w, x);
        let y = sys::ggml_silu(context, product);
        let graph = sys::ggml_new_graph_custom(context, 16, false);
        sys::ggml_build_forward_expand(graph, y);
        let buffer = allocate(device, &[w, x, product, y]);

        let mut stored = vec![0_u8; sys::ggml_nbytes(w)];
        let (n_rows, n_per_row) = (N_OUT as i64, N_IN as i64);
        let destination = stored.as_mut_ptr().cast();
        sys::ggml_quantize_chunk(weights_type, weights.as_ptr(), destination, 0, n_rows, n_per_row, ptr::null());
        ok(sys::fresco_tensor_set(w, stored.as_ptr().cast(), 0, stored.len(), &mut message), &message);
        let input_bytes = size_of_val(input.as_slice());
        ok(sys::fresco_tensor_set(x, input.as_ptr().cast(), 0, input_bytes, &mut message), &message);
        ok(sys::fresco_graph_compute(backend, graph, &mut message), &message);
        let output_bytes = size_of_val(output.as_slice());
        ok(sys::fresco_tensor_get(y, output.as_mut_ptr().cast(), 0, output_bytes, &mut message), &message);

        sys::fresco_buffer_free(buffer, &mut message);
        sys::ggml_free(context);
        ok(sys::fresco_backend_free(backend, &mut message), &message);
    }
    output
}

/// Places each tensor in memory of its own, all in one buffer of `device`.
///
/// # Safety
/// The device and the tensors are ggml's; the caller frees the buffer after its last use.
pub(crate) unsafe fn allocate(
    device: sys::ggml_backend_dev_t,
    tensors: &[*mut sys::ggml_tensor],
) -> sys::ggml_backend_buffer_t {
    let mut message = sys::fresco_message { text: [0; 512] };
    let (mut buft, mut buffer) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the pointers are ggml's; the buffer's size is the sum of what its type says that each tensor needs.
    unsafe {
        assert_eq!(sys::fresco_device_buffer_type(device, &mut buft, &mut message), sys::FRESCO_OK);
        let alignment = sys::ggml_backend_buft_get_alignment(buft);
        let size_of = |tensor| sys::ggml_backend_buft_get_alloc_size(buft, tensor).next_multiple_of(alignment);
        let n_bytes = tensors.iter().map(|tensor| size_of(*tensor)).sum();
        assert_eq!(sys::fresco_buffer_alloc(buft, n_bytes, &mut buffer, &mut message), sys::FRESCO_OK);
        let mut address = sys::ggml_backend_buffer_get_base(buffer);
        for tensor in tensors {
            assert_eq!(sys::fresco_tensor_alloc(buffer, *tensor, address, &mut message), sys::FRESCO_OK);
            address = address.byte_add(size_of(*tensor));
        }
    }
    buffer
}

/// Makes ggml's Vulkan backend take lavapipe: it passes over devices of the kind CPU unless they are named by number.
/// To be called before anything else that lets C code read the environment.
pub(crate) fn accept_lavapipe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("GGML_VK_VISIBLE_DEVICES").is_none() {
            // SAFETY: every test of a GPU backend comes here first, so no C code reads the environment meanwhile.
            unsafe { std::env::set_var("GGML_VK_VISIBLE_DEVICES", "0") };
        }
    });
}

/// The backends that `cargo xtask backend` built, in its own folder or in the one that `FRESCO_BACKENDS` names.
pub(crate) fn built_backends() -> Vec<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/backends");
    let dir = std::env::var_os("FRESCO_BACKENDS").map_or_else(default, PathBuf::from);
    let is_backend = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(&format!("{DLL_PREFIX}fresco-")) && file.ends_with(DLL_SUFFIX)
    };
    let files = std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let backends: Vec<PathBuf> = files.filter(is_backend).collect();
    assert!(!backends.is_empty(), "no backend in {}: run `cargo xtask backend vulkan`", dir.display());
    backends
}

/// Loads a backend, or says why it cannot be loaded.
#[cfg(feature = "dynamic-backends")]
pub(crate) fn load(file: &Path) -> Result<sys::ggml_backend_reg_t, String> {
    let path = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
    let mut reg = ptr::null_mut();
    let mut message = sys::fresco_message { text: [0; 512] };
    // SAFETY: the path ends with a zero byte, and the out-pointers are to live variables.
    let status = unsafe { sys::fresco_backend_load(path.as_ptr(), &mut reg, &mut message) };
    // SAFETY: the shim ends every message with a zero byte.
    let text = || unsafe { CStr::from_ptr(message.text.as_ptr()) }.to_string_lossy().into_owned();
    if status == sys::FRESCO_OK { Ok(reg) } else { Err(text()) }
}
