//! Devices: what computes, what it is called, how much memory it has.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use fresco_ggml_sys as sys;

use crate::arena::Arena;
use crate::buffer::{Buffer, BufferUsage};
use crate::error::Error;
use crate::ffi::{call, string};
use crate::layout::Layout;
use crate::meter::AllocationMeter;
use crate::{DType, init, memory};

/// A device that ggml computes on. Cheap to clone.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// The host's processor and memory.
    Cpu,
    /// A GPU with memory of its own.
    DiscreteGpu,
    /// A GPU that shares the host's memory.
    IntegratedGpu,
    /// Anything else, such as a matrix library used beside the CPU.
    Accelerator,
}

/// Memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    /// What could be allocated now. On some devices a guess of the driver's that lags or underflows.
    pub free_bytes: u64,
    /// All there is.
    pub total_bytes: u64,
}

/// What a device can do beside computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Work is queued and runs beside the host.
    pub asynchronous: bool,
    /// Has host memory that it reads faster than ordinary memory.
    pub pinned_host_memory: bool,
    /// Computes on memory that the host mapped.
    pub host_mappings: bool,
    /// Has events to wait for.
    pub events: bool,
}

struct Inner {
    raw: NonNull<sys::ggml_backend_device>,
    buffer_type: NonNull<sys::ggml_backend_buffer_type>,
    name: String,
    description: String,
    backend_name: String,
    kind: DeviceKind,
    capabilities: Capabilities,
    alignment_bytes: usize,
    max_buffer_bytes: Option<u64>,
}

// SAFETY: ggml's devices and buffer types are static, live until the process ends and lock what they change.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Device {
    /// Every device of the backends that are linked in or loaded, in ggml's order. Starts those backends.
    pub fn all() -> Result<Vec<Device>, Error> {
        init()?;
        let mut n_devices = 0usize;
        let started = call(|message| {
            // SAFETY: both pointers are to locals.
            unsafe { sys::fresco_devices_init(&raw mut n_devices, message) }
        });
        started.map_err(|failure| Error::BackendStart { device: "a device".into(), reason: failure.reason() })?;
        let at = |index| {
            // SAFETY: the index is below the number of devices, which never shrinks.
            unsafe { sys::ggml_backend_dev_get(index) }
        };
        (0..n_devices).filter_map(|index| NonNull::new(at(index))).map(Device::new).collect()
    }

    /// The host's processor.
    pub fn cpu() -> Result<Device, Error> {
        let devices = Device::all()?;
        let cpu = devices.into_iter().find(|device| device.kind() == DeviceKind::Cpu);
        cpu.ok_or_else(|| Error::BackendStart { device: "CPU".into(), reason: "ggml was built without it".into() })
    }

    fn new(raw: NonNull<sys::ggml_backend_device>) -> Result<Device, Error> {
        let props = props(raw)?;
        // SAFETY: the device is live; the text is static.
        let name = unsafe { string(props.name) };
        // SAFETY: as above.
        let description = unsafe { string(props.description) };
        // SAFETY: the device is live.
        let registry = unsafe { sys::ggml_backend_dev_backend_reg(raw.as_ptr()) };
        // SAFETY: every device belongs to a registered backend.
        let backend_name = unsafe { sys::ggml_backend_reg_name(registry) };
        // SAFETY: the text is static.
        let backend_name = unsafe { string(backend_name) };
        let mut buffer_type = std::ptr::null_mut();
        let found = call(|message| {
            // SAFETY: the device is live and the other pointers are to locals.
            unsafe { sys::fresco_device_buffer_type(raw.as_ptr(), &raw mut buffer_type, message) }
        });
        let no_buffers = |reason| Error::BackendStart { device: name.clone(), reason };
        found.map_err(|failure| no_buffers(failure.reason()))?;
        let buffer_type = NonNull::new(buffer_type).ok_or_else(|| no_buffers("it has no buffers".into()))?;
        // SAFETY: the buffer type is live.
        let alignment_bytes = unsafe { sys::ggml_backend_buft_get_alignment(buffer_type.as_ptr()) };
        // SAFETY: the buffer type is live.
        let max_bytes = unsafe { sys::ggml_backend_buft_get_max_size(buffer_type.as_ptr()) };
        let capabilities = Capabilities {
            asynchronous: props.caps.async_,
            pinned_host_memory: props.caps.host_buffer,
            host_mappings: props.caps.buffer_from_host_ptr,
            events: props.caps.events,
        };
        Ok(Device(Arc::new(Inner {
            raw,
            buffer_type,
            name,
            description,
            backend_name,
            kind: kind(props.type_),
            capabilities,
            alignment_bytes,
            max_buffer_bytes: (max_bytes < usize::MAX / 2).then_some(max_bytes as u64),
        })))
    }

    /// ggml's name, such as `CPU`, `Vulkan0`, `CUDA1`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The model of the processor.
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// The backend that drives it, such as `CPU`, `Vulkan`, `CUDA`.
    pub fn backend_name(&self) -> &str {
        &self.0.backend_name
    }

    /// What it is.
    pub fn kind(&self) -> DeviceKind {
        self.0.kind
    }

    /// Free and total memory now. For the host: what the kernel says is available to this process, control groups
    /// included, where ggml calls all memory free.
    pub fn memory(&self) -> DeviceMemory {
        let reported = props(self.0.raw).map_or((0, 0), |props| (props.memory_free, props.memory_total));
        let reported = DeviceMemory { free_bytes: reported.0 as u64, total_bytes: reported.1 as u64 };
        match self.kind() {
            DeviceKind::Cpu => memory::host_memory().unwrap_or(reported),
            _ => reported,
        }
    }

    /// The largest buffer, where the device names one. Vulkan's is a preference: a larger one may succeed.
    pub fn max_buffer_bytes(&self) -> Option<u64> {
        self.0.max_buffer_bytes
    }

    /// What tensors' addresses are multiples of.
    pub fn alignment(&self) -> usize {
        self.0.alignment_bytes
    }

    /// What else it can do.
    pub fn capabilities(&self) -> Capabilities {
        self.0.capabilities
    }

    /// Whether tensors are in ordinary host memory, so that a file's mapping can be computed with.
    pub fn computes_in_host_memory(&self) -> bool {
        self.kind() == DeviceKind::Cpu
    }

    /// Allocates a buffer, after the meter allowed it.
    pub fn alloc_buffer(
        &self,
        bytes: u64,
        usage: BufferUsage,
        meter: &Arc<dyn AllocationMeter>,
    ) -> Result<Buffer, Error> {
        Buffer::new(self, bytes, usage, meter)
    }

    /// Bytes that a matrix of `n_rows` rows of `row_len` elements takes in a buffer of the device, padding included.
    /// `None` where rows are no whole number of blocks, or the matrix is larger than any can be.
    pub fn tensor_bytes(&self, dtype: DType, [row_len, n_rows]: [u64; 2]) -> Option<u64> {
        let ne = [i64::try_from(row_len).ok()?, i64::try_from(n_rows).ok()?, 1, 1];
        let layout = Layout::packed(dtype, ne).ok()?;
        if self.computes_in_host_memory() {
            return Some(layout.n_bytes() as u64);
        }
        let mut arena = Arena::new(1);
        let context = arena.reserve_tensor().ok()?;
        // SAFETY: the context has room and the shape was checked.
        let tensor = unsafe { sys::ggml_new_tensor(context, dtype.raw(), 4, ne.as_ptr()) };
        Some(self.alloc_bytes(NonNull::new(tensor)?) as u64)
    }

    /// Bytes that a tensor takes in a buffer of the device.
    pub(crate) fn alloc_bytes(&self, tensor: NonNull<sys::ggml_tensor>) -> usize {
        // SAFETY: the buffer type is static and the tensor live; backends only compute a size.
        unsafe { sys::ggml_backend_buft_get_alloc_size(self.buffer_type(), tensor.as_ptr()) }
    }

    /// Whether the device's backend says that it computes the node.
    pub(crate) fn accepts(&self, node: NonNull<sys::ggml_tensor>) -> bool {
        let mut is_supported = false;
        let asked = call(|message| {
            // SAFETY: the device is live and the node complete; the other pointers are to locals.
            unsafe { sys::fresco_device_supports_op(self.raw(), node.as_ptr(), &raw mut is_supported, message) }
        });
        asked.is_ok() && is_supported
    }

    pub(crate) fn raw(&self) -> *mut sys::ggml_backend_device {
        self.0.raw.as_ptr()
    }

    pub(crate) fn buffer_type(&self) -> *mut sys::ggml_backend_buffer_type {
        self.0.buffer_type.as_ptr()
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.0.raw == other.0.raw
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.0.name).finish()
    }
}

fn props(raw: NonNull<sys::ggml_backend_device>) -> Result<sys::ggml_backend_dev_props, Error> {
    // SAFETY: a struct of numbers and pointers, for which zeros are values.
    let mut props: sys::ggml_backend_dev_props = unsafe { std::mem::zeroed() };
    let asked = call(|message| {
        // SAFETY: the device is live and the other pointers are to locals.
        unsafe { sys::fresco_device_props(raw.as_ptr(), &raw mut props, message) }
    });
    asked.map_err(|failure| Error::BackendStart { device: "a device".into(), reason: failure.reason() })?;
    Ok(props)
}

fn kind(raw: sys::ggml_backend_dev_type) -> DeviceKind {
    match raw {
        sys::GGML_BACKEND_DEVICE_TYPE_CPU => DeviceKind::Cpu,
        sys::GGML_BACKEND_DEVICE_TYPE_GPU => DeviceKind::DiscreteGpu,
        sys::GGML_BACKEND_DEVICE_TYPE_IGPU => DeviceKind::IntegratedGpu,
        _ => DeviceKind::Accelerator,
    }
}
