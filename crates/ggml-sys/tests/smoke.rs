//! The build links and computes: two tensors are added on the CPU through the shim, the metered buffer type asks before
//! it allocates, and what was compiled in is what the build promises.
#![allow(unsafe_code, reason = "the crate under test consists of foreign functions")]

use std::ffi::{CStr, c_void};
use std::ptr;

use fresco_ggml_sys as sys;

/// What the metered buffer type's callbacks see.
struct Meter {
    limit_bytes: usize,
    taken_bytes: usize,
}

unsafe extern "C" fn acquire(user_data: *mut c_void, n_bytes: usize) -> bool {
    // SAFETY: the tests pass a pointer to a live `Meter` that nothing else borrows during the call.
    let meter = unsafe { &mut *user_data.cast::<Meter>() };
    let granted = meter.taken_bytes + n_bytes <= meter.limit_bytes;
    if granted {
        meter.taken_bytes += n_bytes;
    }
    granted
}

unsafe extern "C" fn cancel(user_data: *mut c_void, n_bytes: usize) {
    // SAFETY: as in `acquire`.
    unsafe { (*user_data.cast::<Meter>()).taken_bytes -= n_bytes };
}

/// Adds `a` and `b` on the CPU with buffers of the type that `buft` makes of the device's own.
fn add(
    a: &[f32],
    b: &[f32],
    buft: impl FnOnce(sys::ggml_backend_buffer_type_t) -> sys::ggml_backend_buffer_type_t,
) -> Result<Vec<f32>, String> {
    let mut message = sys::fresco_message { text: [0; 512] };
    let mut sum = vec![0.0; a.len()];
    // SAFETY: every pointer is one that ggml returned and is freed after its last use; sizes are those of the slices.
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
        sys::ggml_set_input(left);
        sys::ggml_set_input(right);
        let result = sys::ggml_add(context, left, right);
        let graph = sys::ggml_new_graph_custom(context, 16, false);
        sys::ggml_build_forward_expand(graph, result);

        let buft = buft(sys::ggml_backend_dev_buffer_type(device));
        let allocator = sys::ggml_gallocr_new(buft);
        let status = sys::fresco_gallocr_alloc_graph(allocator, graph, &mut message);
        if status == sys::FRESCO_OK {
            let n_bytes = size_of_val(a);
            assert_eq!(sys::fresco_tensor_set(left, a.as_ptr().cast(), 0, n_bytes, &mut message), sys::FRESCO_OK);
            assert_eq!(sys::fresco_tensor_set(right, b.as_ptr().cast(), 0, n_bytes, &mut message), sys::FRESCO_OK);
            assert_eq!(sys::fresco_graph_compute(backend, graph, &mut message), sys::FRESCO_OK);
            assert_eq!(
                sys::fresco_tensor_get(result, sum.as_mut_ptr().cast(), 0, n_bytes, &mut message),
                sys::FRESCO_OK
            );
        }
        sys::fresco_gallocr_free(allocator, &mut message);
        sys::ggml_free(context);
        sys::fresco_backend_free(backend, &mut message);
        if status == sys::FRESCO_OK {
            Ok(sum)
        } else {
            Err(CStr::from_ptr(message.text.as_ptr()).to_string_lossy().into_owned())
        }
    }
}

#[test]
fn the_cpu_adds_two_tensors() {
    let sum = add(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0], |buft| buft).unwrap();
    assert_eq!(sum, [11.0, 22.0, 33.0]);
}

#[test]
fn the_metered_buffer_type_asks_before_it_allocates() {
    for (limit_bytes, fits) in [(1 << 20, true), (16, false)] {
        let mut meter = Meter { limit_bytes, taken_bytes: 0 };
        let mut metered = ptr::null_mut();
        let sum = add(&[1.0; 64], &[2.0; 64], |inner| {
            // SAFETY: `inner` is a buffer type of ggml, and `meter` outlives the type that is freed below.
            metered = unsafe {
                sys::fresco_metered_buft_new(inner, Some(acquire), Some(cancel), ptr::from_mut(&mut meter).cast())
            };
            metered
        });
        // SAFETY: `add` freed the allocator that held the type.
        unsafe { sys::fresco_metered_buft_free(metered) };
        if fits {
            assert_eq!(sum.unwrap(), [3.0; 64]);
            assert!(meter.taken_bytes >= 2 * 64 * 4, "{} bytes", meter.taken_bytes);
        } else {
            assert!(sum.unwrap_err().contains("refused"));
            assert_eq!(meter.taken_bytes, 0);
        }
    }
}

#[test]
fn an_allocation_that_the_device_cannot_make_is_cancelled_with_the_meter() {
    let mut meter = Meter { limit_bytes: usize::MAX, taken_bytes: 0 };
    let mut message = sys::fresco_message { text: [0; 512] };
    // SAFETY: the buffer type is freed after its only use, and `meter` outlives it.
    unsafe {
        let user_data = ptr::from_mut(&mut meter).cast();
        let inner = sys::ggml_backend_cpu_buffer_type();
        let metered = sys::fresco_metered_buft_new(inner, Some(acquire), Some(cancel), user_data);
        let mut buffer = ptr::null_mut();
        let status = sys::fresco_buffer_alloc(metered, usize::MAX / 4, &mut buffer, &mut message);
        assert_eq!(status, sys::FRESCO_FAILED);
        assert!(buffer.is_null());
        sys::fresco_metered_buft_free(metered);
    }
    assert_eq!(meter.taken_bytes, 0);
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn an_exception_becomes_a_status() {
    unsafe extern "C-unwind" {
        /// `std::__throw_bad_alloc` of the C++ library.
        #[link_name = "_ZSt17__throw_bad_allocv"]
        fn throw_bad_alloc() -> !;
    }
    unsafe extern "C-unwind" fn throwing(_user_data: *mut c_void, _n_bytes: usize) -> bool {
        // SAFETY: the exception passes through this frame, which has nothing to drop, into the shim.
        unsafe { throw_bad_alloc() }
    }
    let mut message = sys::fresco_message { text: [0; 512] };
    // SAFETY: the two function types differ in what Rust assumes of a caller in Rust, and the caller is C++; the buffer
    // type is freed after its only use.
    unsafe {
        let acquire: unsafe extern "C" fn(*mut c_void, usize) -> bool =
            std::mem::transmute(throwing as unsafe extern "C-unwind" fn(*mut c_void, usize) -> bool);
        let inner = sys::ggml_backend_cpu_buffer_type();
        let metered = sys::fresco_metered_buft_new(inner, Some(acquire), Some(cancel), ptr::null_mut());
        let mut buffer = ptr::null_mut();
        let status = sys::fresco_buffer_alloc(metered, 64, &mut buffer, &mut message);
        assert_eq!(status, sys::FRESCO_THROWN);
        assert_eq!(CStr::from_ptr(message.text.as_ptr()), c"std::bad_alloc");
        sys::fresco_metered_buft_free(metered);
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
