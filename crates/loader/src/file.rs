//! One open file of a source: its length when it was opened, and reads at any position from any thread.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::Error;
use crate::mmap::Mapping;

/// An open regular file. Shared between threads; reading moves no cursor.
#[derive(Debug)]
pub(crate) struct SourceFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    /// Made when it is first asked for; `None` when the system refused.
    mapping: OnceLock<Option<Arc<Mapping>>>,
}

impl SourceFile {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let io_error = |source| Error::Io { path: path.to_owned(), source };
        // Asked before opening: opening a pipe would wait for a writer.
        let metadata = fs::metadata(path).map_err(io_error)?;
        if !metadata.is_file() {
            let found = if metadata.is_dir() { "a folder" } else { "no regular file" };
            return Err(Error::NotAFile { path: path.to_owned(), found });
        }
        let file = File::open(path).map_err(io_error)?;
        let bytes = file.metadata().map_err(io_error)?.len();
        if bytes == 0 {
            return Err(Error::Empty { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), file, bytes, mapping: OnceLock::new() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The length when the file was opened.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills `buffer` from `offset` on; a file that has become too short for that is [`Error::Truncated`], of which
    /// `part` is the part that is missing.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64, part: &str) -> Result<(), Error> {
        read_exact_at(&self.file, buffer, offset).map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => Error::Truncated {
                path: self.path.clone(),
                part: part.to_owned(),
                expected_bytes: offset + buffer.len() as u64,
                found_bytes: self.file.metadata().map_or(self.bytes, |metadata| metadata.len()),
            },
            _ => Error::Io { path: self.path.clone(), source },
        })
    }

    /// The first bytes of the file, at most `n_bytes`.
    pub(crate) fn read_start(&self, n_bytes: u64) -> Result<Vec<u8>, Error> {
        let mut start = vec![0; n_bytes.min(self.bytes) as usize];
        self.read_exact_at(&mut start, 0, "its beginning")?;
        Ok(start)
    }

    /// The whole file as a read-only mapping, the same one at every call.
    pub(crate) fn mapping(&self) -> Option<&Arc<Mapping>> {
        self.mapping
            .get_or_init(|| match Mapping::new(&self.file) {
                Ok(mapping) => Some(Arc::new(mapping)),
                Err(error) => {
                    tracing::debug!(path = %self.path.display(), %error, "cannot map the file, it is read instead");
                    None
                }
            })
            .as_ref()
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                buffer = &mut buffer[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
