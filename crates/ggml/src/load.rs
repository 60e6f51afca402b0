//! Backends that were built as libraries of their own, loaded at run time (feature `dynamic-backends`).
//!
//! Only the folder that the caller names is searched: a backend is code, and code that lies in the current folder or
//! beside a document must not run because it has the right name.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};

use fresco_ggml_sys as sys;

use crate::error::Error;
use crate::ffi::{call, string};

/// A library that was found, and what came of it.
#[derive(Debug)]
pub struct BackendFile {
    /// The file.
    pub path: PathBuf,
    /// The name of the backend that it holds, or why it was not loaded: a backend may lack its vendor's driver.
    pub outcome: Result<String, Error>,
}

/// Loads the backends in `dir`, for good: files named like `libfresco-vulkan.so`, in the order of their names. Their
/// devices are in [`Device::all`](crate::Device::all) afterwards. Loading a file again changes nothing.
pub fn load_backends(dir: &Path) -> Result<Vec<BackendFile>, Error> {
    crate::init()?;
    let unreadable = |error: std::io::Error| Error::BackendLoad { path: dir.to_owned(), reason: error.to_string() };
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&format!("{DLL_PREFIX}fresco-")) && name.ends_with(DLL_SUFFIX) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths.into_iter().map(|path| BackendFile { outcome: load(&path), path }).collect())
}

fn load(path: &Path) -> Result<String, Error> {
    let failed = |reason: &str| Error::BackendLoad { path: path.to_owned(), reason: reason.to_owned() };
    let text = path.to_str().and_then(|path| CString::new(path).ok()).ok_or_else(|| failed("its name is not UTF-8"))?;
    let mut registry = std::ptr::null_mut();
    let loaded = call(|message| {
        // SAFETY: the path ends with a zero, the out-pointers are to locals; the file was named by the caller.
        unsafe { sys::fresco_backend_load(text.as_ptr(), &raw mut registry, message) }
    });
    loaded.map_err(|failure| failed(&failure.reason()))?;
    // SAFETY: a loaded backend is never unloaded.
    let name = unsafe { sys::ggml_backend_reg_name(registry) };
    // SAFETY: static text.
    Ok(unsafe { string(name) })
}
