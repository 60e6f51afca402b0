//! The devices of this machine.

use crate::error::Error;
use crate::ggml::{self, Device};

/// The devices that models can run on, found once and shared by everything that is loaded.
#[derive(Clone)]
pub struct Runtime {
    devices: Vec<Device>,
}

impl Runtime {
    /// Finds the devices.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] if this build does not fit this machine's processor.
    pub fn new() -> Result<Self, Error> {
        Ok(Self { devices: Device::all()? })
    }

    /// Loads the backends that lie as libraries in `dir` (`libfresco-vulkan.so` and the like), then finds the devices. A
    /// library that does not load, for lack of its vendor's driver perhaps, is passed over with a warning in the log.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] if `dir` cannot be read or this build does not fit this machine's processor.
    #[cfg(feature = "dynamic-backends")]
    pub fn with_backends(dir: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        let dir = dir.as_ref();
        let files = ggml::load_backends(dir)?;
        if files.is_empty() {
            tracing::warn!(dir = %dir.display(), "there is no backend in the folder");
        }
        for ggml::BackendFile { path, outcome } in files {
            match outcome {
                Ok(name) => tracing::info!(path = %path.display(), name, "backend loaded"),
                Err(error) => tracing::warn!(%error, "backend passed over"),
            }
        }
        Self::new()
    }

    /// All devices.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The device of a name: whatever its case, a name or the unique beginning of one; `gpu` is the first GPU and `auto` the
    /// best GPU, or the CPU where there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] if the name fits no device or several; the message lists those there are.
    pub fn device(&self, name: &str) -> Result<Device, Error> {
        ggml::select_device(&self.devices, name).map_err(|error| ggml::Error::from(error).into())
    }
}
