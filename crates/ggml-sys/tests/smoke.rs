//! The build links and computes: two tensors are added on the CPU through the shim, an exception becomes a status, and
//! what was compiled in is what the build promises.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers included")]
#![allow(unsafe_code, reason = "the crate under test consists of foreign functions")]

use std::ffi::CStr;
use std::ptr;

use fresco_ggml_sys as sys;

mod support;

#[test]
fn the_cpu_adds_two_tensors() {
    let (a, b) = ([1.0_f32, 2.0, 3.0], [10.0_f32, 20.0, 30.0]);
    let mut sum = [0.0_f32; 3];
    let n_bytes = size_of_val(&sum);
    let mut message = sys::fresco_message { text: [0; 512] };
    // SAFETY: every pointer is one that ggml returned and is freed after its last use; sizes are those of the arrays.
    unsafe {
        let mut n_devices = 0;
        assert_eq!(sys::fresco_devices_init(&mut n_devices, &mut message), sys::FRESCO_OK);
        assert!(n_devices >= 1);
        let device = sys::ggml_backend_reg_dev_get(sys::ggml_backend_cpu_reg(), 0);
        let mut backend = ptr::null_mut();
        assert_eq!(sys::fresco_backend_init(device, &mut backend, &mut message), sys::FRESCO_OK);

        let params = sys::ggml_init_params { mem_size: 1 << 20, mem_buffer: ptr::null_mut(), no_alloc: true };
        let context = sys::ggml_init(params);
        let new_tensor = || sys::ggml_new_tensor(context, sys::GGML_TYPE_F32, 1, [a.len() as i64].as_ptr());
        let (left, right) = (new_tensor(), new_tensor());
        let result = sys::ggml_add(context, left, right);
        let graph = sys::ggml_new_graph_custom(context, 16, false);
        sys::ggml_build_forward_expand(graph, result);

        let buffer = support::allocate(device, &[left, right, result]);
        assert_eq!(sys::fresco_tensor_set(left, a.as_ptr().cast(), 0, n_bytes, &mut message), sys::FRESCO_OK);
        assert_eq!(sys::fresco_tensor_set(right, b.as_ptr().cast(), 0, n_bytes, &mut message), sys::FRESCO_OK);
        assert_eq!(sys::fresco_graph_compute(backend, graph, &mut message), sys::FRESCO_OK);
        assert_eq!(sys::fresco_tensor_get(result, sum.as_mut_ptr().cast(), 0, n_bytes, &mut message), sys::FRESCO_OK);
        assert_eq!(sys::fresco_buffer_free(buffer, &mut message), sys::FRESCO_OK);
        sys::ggml_free(context);
        assert_eq!(sys::fresco_backend_free(backend, &mut message), sys::FRESCO_OK);
    }
    assert_eq!(sum, [11.0, 22.0, 33.0]);
}

#[test]
fn an_allocation_that_the_device_cannot_make_is_a_status() {
    assert_eq!(allocate_the_impossible(), (sys::FRESCO_FAILED, String::new()));
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn an_exception_becomes_a_status() {
    use std::cell::Cell;
    use std::ffi::{c_char, c_void};

    unsafe extern "C-unwind" {
        /// `std::__throw_bad_alloc` of the C++ library.
        #[link_name = "_ZSt17__throw_bad_allocv"]
        fn throw_bad_alloc() -> !;
    }
    thread_local! {
        static THROWS: Cell<bool> = const { Cell::new(false) };
    }
    /// ggml logs that an allocation failed, from inside the call that the shim guards.
    unsafe extern "C-unwind" fn throwing(_level: sys::ggml_log_level, _text: *const c_char, _user_data: *mut c_void) {
        if THROWS.get() {
            // SAFETY: the exception passes through this frame, which has nothing to drop, into the shim.
            unsafe { throw_bad_alloc() }
        }
    }
    // SAFETY: the two function types differ in what Rust assumes of a caller in Rust, and the caller is C.
    unsafe {
        let callback = std::mem::transmute::<
            unsafe extern "C-unwind" fn(sys::ggml_log_level, *const c_char, *mut c_void),
            unsafe extern "C" fn(sys::ggml_log_level, *const c_char, *mut c_void),
        >(throwing);
        sys::ggml_log_set(Some(callback), ptr::null_mut());
    }
    THROWS.set(true);
    assert_eq!(allocate_the_impossible(), (sys::FRESCO_THROWN, "std::bad_alloc".to_owned()));
    THROWS.set(false);
}

/// Asks the CPU for more memory than there are addresses; the status and the message that this gives.
fn allocate_the_impossible() -> (sys::fresco_status, String) {
    let mut message = sys::fresco_message { text: [0; 512] };
    // SAFETY: the buffer type is ggml's own and lives for good; the message ends with a zero byte.
    unsafe {
        let mut buffer = ptr::null_mut();
        let buft = sys::ggml_backend_cpu_buffer_type();
        let status = sys::fresco_buffer_alloc(buft, usize::MAX / 4, &mut buffer, &mut message);
        assert!(buffer.is_null());
        (status, CStr::from_ptr(message.text.as_ptr()).to_string_lossy().into_owned())
    }
}

#[test]
fn every_compiled_extension_is_known_by_name_and_the_fast_kernels_are_in() {
    // A build on and for this machine takes what its CPU has, so none may be missing here.
    let missing: Vec<_> = sys::COMPILED_CPU_FEATURES.iter().filter(|feature| !sys::cpu_has(feature)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    // SAFETY: these functions only report how they were compiled.
    unsafe {
        assert_eq!(sys::ggml_cpu_has_llamafile(), 1);
        assert_eq!(sys::ggml_cpu_has_amx_int8(), 0);
        assert_eq!(sys::ggml_cpu_has_avx2() == 1, sys::COMPILED_CPU_FEATURES.contains(&"avx2"));
        assert_eq!(sys::ggml_cpu_has_avx512() == 1, sys::COMPILED_CPU_FEATURES.contains(&"avx512f"));
        assert_eq!(CStr::from_ptr(sys::ggml_version()), c"0.26.0");
    }
}
