//! Memory mappings of model files: the only module of this crate with `unsafe`.
//!
//! A mapped file is shared with every other process. If one of them changes the file, bytes that Rust takes for
//! constant change under it; if one truncates it, touching the lost pages kills this process with SIGBUS. No operating
//! system offers a way to rule that out, so nothing is mapped unless the caller takes it on:
//! [`MapPolicy::FilesStayUnchanged`] is that promise, spelled out where the source is opened. It is a value rather than
//! an `unsafe` constructor because the crates above, which pass it on from their user, have no `unsafe`. Programs that
//! replace model files keep it by writing a new file and renaming it over the old one; a mapping then keeps the old
//! content.

use std::fs::File;
use std::io;
use std::sync::Arc;

use memmap2::Mmap;

/// Whether the files of a source may be mapped into memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapPolicy {
    /// Tensors are always read; a file that shrinks meanwhile gives [`Error::Truncated`](crate::Error::Truncated).
    #[default]
    Never,
    /// Tensors that need no conversion may be used straight from a mapping of the file. The caller promises that
    /// nobody writes to or truncates the files for as long as the source or a mapping of it lives. A broken promise
    /// means wrong numbers or, after a truncation, the end of the process.
    FilesStayUnchanged,
}

/// A whole file, mapped read-only. Shared by all tensors that lie in it, and unmapped with the last of them.
#[derive(Debug)]
pub struct Mapping {
    map: Mmap,
}

impl Mapping {
    /// Maps a file of a source that was opened with [`MapPolicy::FilesStayUnchanged`].
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        // SAFETY: the file must not change while it is mapped. Only `ModelSource::mappable` leads here, and only when
        // the source's owner has given the promise of `MapPolicy::FilesStayUnchanged`.
        let map = unsafe { Mmap::map(file) }?;
        Ok(Self { map })
    }

    /// The length of the file when it was mapped.
    pub fn bytes(&self) -> usize {
        self.map.len()
    }
}

impl AsRef<[u8]> for Mapping {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}

/// A part of a mapped file.
#[derive(Clone, Debug)]
pub struct MappedRange {
    /// The whole file.
    pub mapping: Arc<Mapping>,
    /// Where the part begins.
    pub offset: usize,
    /// How long it is.
    pub bytes: usize,
}

impl AsRef<[u8]> for MappedRange {
    fn as_ref(&self) -> &[u8] {
        &self.mapping.map[self.offset..self.offset + self.bytes]
    }
}
