//! Backends: what runs graphs on a device.

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fresco_ggml_sys as sys;

use crate::device::{Device, DeviceKind};
use crate::error::Error;
use crate::ffi::{Failure, call};
use crate::graph::Graph;

/// ggml's limit of threads.
pub const MAX_THREADS: usize = 512;

/// How a backend computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackendOptions {
    /// Threads of a backend that computes on the host; others ignore it. From 1 to [`MAX_THREADS`].
    pub n_threads: usize,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeStatus {
    /// Outputs can be read.
    Completed,
    /// The abort flag was seen; outputs hold nothing of use.
    Aborted,
}

/// Runs graphs on one device. On the CPU it owns a pool of threads that lives as long.
pub struct Backend {
    raw: NonNull<sys::ggml_backend>,
    device: Device,
    pool: Option<ThreadPool>,
    is_poisoned: bool,
}

// SAFETY: a backend may be used from any thread, by one at a time.
unsafe impl Send for Backend {}
// SAFETY: shared references only give its device.
unsafe impl Sync for Backend {}

impl Backend {
    /// Starts a backend on `device`.
    pub fn new(device: &Device, options: BackendOptions) -> Result<Backend, Error> {
        let pool = match device.kind() {
            DeviceKind::Cpu => Some(ThreadPool::new(options.n_threads)?),
            _ => None,
        };
        let mut raw = std::ptr::null_mut();
        let started = call(|message| {
            // SAFETY: the device is live and the other pointers are to locals.
            unsafe { sys::fresco_backend_init(device.raw(), &raw mut raw, message) }
        });
        let failed = |reason| Error::BackendStart { device: device.name().to_owned(), reason };
        started.map_err(|failure| failed(failure.reason()))?;
        let raw = NonNull::new(raw).ok_or_else(|| failed(String::new()))?;
        let mut backend = Backend { raw, device: device.clone(), pool: None, is_poisoned: false };
        backend.use_pool(pool);
        Ok(backend)
    }

    /// The device it computes on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Computes on the host with another number of threads from now on. Results do not depend on it.
    pub fn set_n_threads(&mut self, n_threads: usize) -> Result<(), Error> {
        if self.pool.as_ref().is_some_and(|pool| pool.n_threads != n_threads) {
            let pool = ThreadPool::new(n_threads)?;
            self.use_pool(Some(pool));
        }
        Ok(())
    }

    /// Runs the graph. Its external leaves are bound, it was allocated on our device, and its inputs were written since
    /// it was allocated or run.
    ///
    /// Where `abort` becomes true, the CPU stops after the operation at hand; other devices look at it before they start.
    pub fn compute(&mut self, graph: &mut Graph, abort: Option<&AtomicBool>) -> Result<ComputeStatus, Error> {
        self.check_poison()?;
        if let Some((id, op)) = self.declined(graph) {
            return Err(Error::Unsupported { device: self.device.name().to_owned(), op, id });
        }
        let guard = graph.prepare(&self.device)?;
        // SAFETY: all tensors are placed in live memory which the guard keeps others from, and every node is one that the
        // backend computes.
        let status = unsafe { self.run(graph.cgraph(), abort) };
        drop(guard);
        graph.forget_inputs();
        status
    }

    /// Computes a graph's nodes.
    ///
    /// # Safety
    /// Every tensor has memory of our device, which nothing else uses meanwhile, and our device computes every node.
    pub(crate) unsafe fn run(
        &mut self,
        cgraph: *mut sys::ggml_cgraph,
        abort: Option<&AtomicBool>,
    ) -> Result<ComputeStatus, Error> {
        self.check_poison()?;
        if abort.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Ok(ComputeStatus::Aborted);
        }
        let _flag = self.pool.is_some().then(|| AbortFlag::set(self.raw, abort));
        let computed = call(|message| {
            // SAFETY: the caller promises what ggml assumes.
            unsafe { sys::fresco_graph_compute(self.raw.as_ptr(), cgraph, message) }
        });
        match computed {
            Ok(()) => Ok(ComputeStatus::Completed),
            Err(Failure::Aborted) => Ok(ComputeStatus::Aborted),
            Err(failure) => Err(self.failed(failure)),
        }
    }

    /// Waits until everything queued is done.
    pub fn synchronize(&mut self) -> Result<(), Error> {
        self.check_poison()?;
        let waited = call(|message| {
            // SAFETY: the backend is live.
            unsafe { sys::fresco_backend_synchronize(self.raw.as_ptr(), message) }
        });
        waited.map_err(|failure| self.failed(failure))
    }

    /// The first node that the device does not compute. The CPU's kernels were asked when the graph was built.
    fn declined(&self, graph: &Graph) -> Option<(crate::TensorId, crate::Op)> {
        match self.device.kind() {
            DeviceKind::Cpu => None,
            _ => graph.declined_by(&self.device).next(),
        }
    }

    fn check_poison(&self) -> Result<(), Error> {
        match self.is_poisoned {
            true => Err(Error::Poisoned { device: self.device.name().to_owned() }),
            false => Ok(()),
        }
    }

    fn failed(&mut self, failure: Failure) -> Error {
        self.is_poisoned |= matches!(failure, Failure::Thrown(_));
        Error::Compute { device: self.device.name().to_owned(), reason: failure.reason() }
    }

    fn use_pool(&mut self, pool: Option<ThreadPool>) {
        let Some(pool) = pool else { return };
        // SAFETY: both are live; the pool stays until another one is set or the backend is freed.
        unsafe { sys::ggml_backend_cpu_set_threadpool(self.raw.as_ptr(), pool.raw.as_ptr()) };
        // SAFETY: the backend is live and the pool has that many threads.
        unsafe { sys::ggml_backend_cpu_set_n_threads(self.raw.as_ptr(), pool.n_threads as i32) };
        self.pool = Some(pool);
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let freed = call(|message| {
            // SAFETY: owned and freed once; the pool it uses is freed afterwards.
            unsafe { sys::fresco_backend_free(self.raw.as_ptr(), message) }
        });
        if let Err(failure) = freed {
            tracing::warn!(device = self.device.name(), reason = failure.reason(), "freeing a backend failed");
        }
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend").field("device", &self.device).field("is_poisoned", &self.is_poisoned).finish()
    }
}

/// While it lives, the CPU backend asks the flag after every operation.
struct AbortFlag(NonNull<sys::ggml_backend>);

impl AbortFlag {
    fn set(backend: NonNull<sys::ggml_backend>, flag: Option<&AtomicBool>) -> Option<AbortFlag> {
        let data: *const AtomicBool = flag?;
        // SAFETY: a live CPU backend; the flag outlives the guard, which takes the callback out again.
        unsafe {
            sys::ggml_backend_cpu_set_abort_callback(backend.as_ptr(), Some(is_aborted), data.cast_mut().cast());
        }
        Some(AbortFlag(backend))
    }
}

impl Drop for AbortFlag {
    fn drop(&mut self) {
        // SAFETY: a live CPU backend.
        unsafe { sys::ggml_backend_cpu_set_abort_callback(self.0.as_ptr(), None, std::ptr::null_mut()) };
    }
}

/// ggml's question whether to stop. Cannot unwind.
unsafe extern "C" fn is_aborted(data: *mut c_void) -> bool {
    // SAFETY: `data` is the flag of an `AbortFlag` that lives.
    let flag = unsafe { &*data.cast::<AtomicBool>() };
    flag.load(Ordering::Relaxed)
}

/// ggml's threads of a CPU backend.
struct ThreadPool {
    raw: NonNull<sys::ggml_threadpool>,
    n_threads: usize,
}

impl ThreadPool {
    fn new(n_threads: usize) -> Result<ThreadPool, Error> {
        if !(1..=MAX_THREADS).contains(&n_threads) {
            return Err(Error::ThreadCount { n_threads, max: MAX_THREADS });
        }
        probe_threads(n_threads)?;
        // SAFETY: makes a struct of settings.
        let mut params = unsafe { sys::ggml_threadpool_params_default(n_threads as i32) };
        // SAFETY: the settings are ggml's own, for a number of threads within its limit.
        let raw = unsafe { sys::ggml_threadpool_new(&raw mut params) };
        let none = || Error::ThreadStart { n_threads, source: std::io::ErrorKind::OutOfMemory.into() };
        Ok(ThreadPool { raw: NonNull::new(raw).ok_or_else(none)?, n_threads })
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        // SAFETY: owned and freed once, when no backend uses it.
        unsafe { sys::ggml_threadpool_free(self.raw.as_ptr()) };
    }
}

/// Starts as many threads beside ours and lets them end: ggml aborts the process where the system gives it fewer.
fn probe_threads(n_threads: usize) -> Result<(), Error> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        // Held until the last one has started, so that all of them exist at once.
        let _held = gate.lock();
        for _ in 1..n_threads {
            let spawned = thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, || drop(gate.lock()));
            spawned.map_err(|source| Error::ThreadStart { n_threads, source })?;
        }
        Ok(())
    })
}
