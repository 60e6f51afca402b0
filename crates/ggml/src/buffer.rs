//! Buffers: device memory for weights and values, and mappings of host memory.

use std::alloc;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use fresco_ggml_sys as sys;

use crate::arena::Arena;
use crate::device::Device;
use crate::error::Error;
use crate::ffi::{Failure, call};
use crate::meter::AllocationMeter;

/// What host buffers start at a multiple of: a cache line, and what ggml asks at least.
const HOST_ALIGNMENT: usize = 64;

/// What ggml's CPU backend asserts of host memory that it is given.
const MAPPING_ALIGNMENT: usize = 32;

/// Host memory that someone else owns and nobody changes while this lives: a mapped file.
pub type HostMapping = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// What a buffer is for; backends place weights and values differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferUsage {
    /// Constant operands.
    Weights,
    /// Values of a run.
    Compute,
}

/// Memory of a device. A handle, cheap to clone; the memory is freed and its bytes released when the last one goes, and
/// graphs bound to it hold one.
#[derive(Clone)]
pub struct Buffer(Arc<Inner>);

struct Inner {
    memory: RawBuffer,
    /// A tensor of bytes over all the memory, through which it is read and written.
    whole: Whole,
    /// Held for reading by runs that read the memory, for writing by what changes it.
    lock: RwLock<()>,
    is_read_only: bool,
}

impl Buffer {
    pub(crate) fn new(
        device: &Device,
        bytes: u64,
        usage: BufferUsage,
        meter: &Arc<dyn AllocationMeter>,
    ) -> Result<Buffer, Error> {
        Buffer::from_memory(RawBuffer::alloc(device, bytes, usage, meter)?, false)
    }

    /// A buffer over memory that the host mapped, without a copy, for a device that computes in host memory. It can be
    /// read and bound, not written. The meter hears of all its bytes.
    pub fn from_host_mapping(
        device: &Device,
        mapping: HostMapping,
        meter: &Arc<dyn AllocationMeter>,
    ) -> Result<Buffer, Error> {
        Buffer::from_memory(RawBuffer::map(device, mapping, meter)?, true)
    }

    fn from_memory(memory: RawBuffer, is_read_only: bool) -> Result<Buffer, Error> {
        let whole = Whole::new(&memory)?;
        Ok(Buffer(Arc::new(Inner { memory, whole, lock: RwLock::new(()), is_read_only })))
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.0.memory.bytes
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.0.memory.device
    }

    /// Whether it is a mapping, which nothing may write.
    pub fn is_read_only(&self) -> bool {
        self.0.is_read_only
    }

    /// Writes `data` from byte `offset` on. Waits for runs that use the buffer.
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<(), Error> {
        if self.is_read_only() {
            return Err(Error::ReadOnly { what: "writing a buffer" });
        }
        let start = self.check_range("writing a buffer", offset, data.len())?;
        let _guard = self.lock_for_writing();
        let written = call(|message| {
            // SAFETY: the range lies in the tensor, which spans the buffer; the lock keeps everyone else out.
            unsafe { sys::fresco_tensor_set(self.0.whole.raw(), data.as_ptr().cast(), start, data.len(), message) }
        });
        written.map_err(|failure| self.failed(failure))
    }

    /// Reads into `data` from byte `offset` on. Waits for runs that write the buffer.
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        let start = self.check_range("reading a buffer", offset, data.len())?;
        let _guard = self.lock_for_reading();
        let read = call(|message| {
            // SAFETY: the range lies in the tensor, which spans the buffer; the lock keeps writers out.
            unsafe { sys::fresco_tensor_get(self.0.whole.raw(), data.as_mut_ptr().cast(), start, data.len(), message) }
        });
        read.map_err(|failure| self.failed(failure))
    }

    fn check_range(&self, what: &'static str, offset_bytes: u64, n_bytes: usize) -> Result<usize, Error> {
        let (n_bytes, limit_bytes) = (n_bytes as u64, self.bytes());
        match offset_bytes.checked_add(n_bytes) {
            Some(end) if end <= limit_bytes => Ok(offset_bytes as usize),
            _ => Err(Error::OutOfBounds { what, offset_bytes, n_bytes, limit_bytes }),
        }
    }

    fn failed(&self, failure: Failure) -> Error {
        Error::Compute { device: self.device().name().to_owned(), reason: failure.reason() }
    }

    pub(crate) fn memory(&self) -> &RawBuffer {
        &self.0.memory
    }

    /// The lock guards nothing but the order of accesses, so that a panic while it is held breaks nothing.
    pub(crate) fn lock_for_reading(&self) -> RwLockReadGuard<'_, ()> {
        self.0.lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lock_for_writing(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.lock.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Distinguishes buffers; handles of one buffer have the same.
    pub(crate) fn key(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("device", &self.device().name()).field("bytes", &self.bytes()).finish()
    }
}

/// A ggml buffer that counts with a meter.
pub(crate) struct RawBuffer {
    raw: NonNull<sys::ggml_backend_buffer>,
    base: *mut u8,
    bytes: u64,
    device: Device,
    meter: Arc<dyn AllocationMeter>,
    /// What `raw` is a view of, where it does not own its memory.
    _host: Option<Host>,
}

/// Host memory under a ggml buffer.
enum Host {
    Owned(#[expect(dead_code, reason = "freed with the buffer")] HostMemory),
    Mapped(#[expect(dead_code, reason = "kept alive with the buffer")] HostMapping),
}

// SAFETY: a ggml buffer is memory and functions over it, without ties to a thread.
unsafe impl Send for RawBuffer {}
// SAFETY: shared references only give its address and size; access to the memory is ordered by locks.
unsafe impl Sync for RawBuffer {}

impl RawBuffer {
    pub(crate) fn alloc(
        device: &Device,
        bytes: u64,
        usage: BufferUsage,
        meter: &Arc<dyn AllocationMeter>,
    ) -> Result<RawBuffer, Error> {
        let metered = Metered::acquire(device, bytes, meter)?;
        let out_of_memory = |reason| Error::OutOfMemory { device: device.name().to_owned(), bytes, reason };
        // ggml gives no base for an empty buffer, so one byte is the least.
        let n_bytes = usize::try_from(bytes.max(1)).map_err(|_| out_of_memory(String::new()))?;
        let buffer = if device.computes_in_host_memory() {
            // Zeroed memory of the system's costs nothing until it is touched, and is initialised for Rust.
            let memory = HostMemory::zeroed(n_bytes).ok_or_else(|| out_of_memory(String::new()))?;
            let start = memory.start();
            metered.buffer_over(start, n_bytes, Host::Owned(memory))?
        } else {
            let mut raw = std::ptr::null_mut();
            let allocated = call(|message| {
                // SAFETY: the buffer type is live and the other pointers are to locals.
                unsafe { sys::fresco_buffer_alloc(device.buffer_type(), n_bytes, &raw mut raw, message) }
            });
            allocated.map_err(|failure| out_of_memory(failure.reason()))?;
            metered.buffer(raw, None)?
        };
        let usage = match usage {
            BufferUsage::Weights => sys::GGML_BACKEND_BUFFER_USAGE_WEIGHTS,
            BufferUsage::Compute => sys::GGML_BACKEND_BUFFER_USAGE_COMPUTE,
        };
        // SAFETY: the buffer is live.
        unsafe { sys::ggml_backend_buffer_set_usage(buffer.raw(), usage) };
        Ok(buffer)
    }

    fn map(device: &Device, mapping: HostMapping, meter: &Arc<dyn AllocationMeter>) -> Result<RawBuffer, Error> {
        if !device.computes_in_host_memory() {
            return Err(Error::WrongDevice { expected: "the CPU".into(), found: device.name().to_owned() });
        }
        let slice: &[u8] = (*mapping).as_ref();
        let (start, n_bytes) = (slice.as_ptr(), slice.len());
        if !start.addr().is_multiple_of(MAPPING_ALIGNMENT) {
            let (offset_bytes, alignment_bytes) = (start.addr() as u64, MAPPING_ALIGNMENT as u64);
            return Err(Error::Misaligned { what: "a mapping".into(), offset_bytes, alignment_bytes });
        }
        let metered = Metered::acquire(device, n_bytes as u64, meter)?;
        let buffer = metered.buffer_over(start.cast_mut(), n_bytes, Host::Mapped(mapping))?;
        // SAFETY: the buffer is live.
        unsafe { sys::ggml_backend_buffer_set_usage(buffer.raw(), sys::GGML_BACKEND_BUFFER_USAGE_WEIGHTS) };
        Ok(buffer)
    }

    pub(crate) fn raw(&self) -> *mut sys::ggml_backend_buffer {
        self.raw.as_ptr()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// ggml's address of a byte of the buffer. On other devices than the host it is a number without memory behind it.
    pub(crate) fn address(&self, offset: u64) -> *mut u8 {
        self.base.wrapping_add(offset as usize)
    }
}

impl Drop for RawBuffer {
    fn drop(&mut self) {
        let freed = call(|message| {
            // SAFETY: owned and freed once; the memory under it is freed afterwards.
            unsafe { sys::fresco_buffer_free(self.raw(), message) }
        });
        if let Err(failure) = freed {
            tracing::warn!(device = self.device.name(), reason = failure.reason(), "freeing a buffer failed");
        }
        self.meter.release(self.bytes);
    }
}

/// Bytes acquired from a meter, which go back unless a buffer takes them over.
struct Metered<'a> {
    device: &'a Device,
    bytes: u64,
    meter: &'a Arc<dyn AllocationMeter>,
    is_taken: bool,
}

impl<'a> Metered<'a> {
    fn acquire(device: &'a Device, bytes: u64, meter: &'a Arc<dyn AllocationMeter>) -> Result<Metered<'a>, Error> {
        let refused = |source| Error::Refused { device: device.name().to_owned(), bytes, source };
        meter.acquire(bytes).map_err(refused)?;
        Ok(Metered { device, bytes, meter, is_taken: false })
    }

    /// A ggml buffer over host memory of a live owner.
    fn buffer_over(self, start: *mut u8, n_bytes: usize, host: Host) -> Result<RawBuffer, Error> {
        // SAFETY: the memory is aligned as ggml asserts, `n_bytes` long, and lives in `host` until the buffer is freed.
        let raw = unsafe { sys::ggml_backend_cpu_buffer_from_ptr(start.cast(), n_bytes) };
        self.buffer(raw, Some(host))
    }

    fn buffer(mut self, raw: *mut sys::ggml_backend_buffer, host: Option<Host>) -> Result<RawBuffer, Error> {
        let device = self.device.name();
        let none = || Error::OutOfMemory { device: device.to_owned(), bytes: self.bytes, reason: String::new() };
        let raw = NonNull::new(raw).ok_or_else(none)?;
        // SAFETY: the buffer is live and not empty.
        let base = unsafe { sys::ggml_backend_buffer_get_base(raw.as_ptr()) };
        self.is_taken = true;
        let (device, meter) = (self.device.clone(), self.meter.clone());
        Ok(RawBuffer { raw, base: base.cast(), bytes: self.bytes, device, meter, _host: host })
    }
}

impl Drop for Metered<'_> {
    fn drop(&mut self) {
        if !self.is_taken {
            self.meter.release(self.bytes);
        }
    }
}

/// Zeroed memory of the host, aligned for ggml.
struct HostMemory {
    block: NonNull<u8>,
    layout: alloc::Layout,
}

impl HostMemory {
    fn zeroed(n_bytes: usize) -> Option<HostMemory> {
        // Aligned by hand: a larger alignment would make the allocator write the zeros itself.
        let layout = alloc::Layout::from_size_align(n_bytes.checked_add(HOST_ALIGNMENT)?, 16).ok()?;
        // SAFETY: the size is not zero.
        let block = unsafe { alloc::alloc_zeroed(layout) };
        Some(HostMemory { block: NonNull::new(block)?, layout })
    }

    /// The first aligned byte; at least the asked number of bytes follow.
    fn start(&self) -> *mut u8 {
        let block = self.block.as_ptr();
        block.wrapping_add(block.align_offset(HOST_ALIGNMENT))
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout and freed once.
        unsafe { alloc::dealloc(self.block.as_ptr(), self.layout) };
    }
}

/// A tensor of bytes over a whole buffer.
struct Whole {
    raw: NonNull<sys::ggml_tensor>,
    _arena: Arena,
}

// SAFETY: the tensor is plain memory of the arena and is not changed after it was made.
unsafe impl Send for Whole {}
// SAFETY: as above.
unsafe impl Sync for Whole {}

impl Whole {
    fn new(memory: &RawBuffer) -> Result<Whole, Error> {
        let device = memory.device.name();
        let failed = |reason| Error::OutOfMemory { device: device.to_owned(), bytes: memory.bytes, reason };
        let mut arena = Arena::new(1);
        let context = arena.reserve_tensor().map_err(|_| failed(String::new()))?;
        let ne = [memory.bytes as i64, 1, 1, 1];
        // SAFETY: the context has room; the length is a buffer's and so fits.
        let raw = unsafe { sys::ggml_new_tensor(context, sys::GGML_TYPE_I8, 4, ne.as_ptr()) };
        let raw = NonNull::new(raw).ok_or_else(|| failed(String::new()))?;
        let placed = call(|message| {
            // SAFETY: the tensor is new, as long as the buffer, and starts where it does.
            unsafe { sys::fresco_tensor_alloc(memory.raw(), raw.as_ptr(), memory.base.cast(), message) }
        });
        placed.map_err(|failure| failed(failure.reason()))?;
        Ok(Whole { raw, _arena: arena })
    }

    fn raw(&self) -> *mut sys::ggml_tensor {
        self.raw.as_ptr()
    }
}
