//! Reads named tensors, converted to the wanted types, on several threads.
//!
//! The work is cut into chunks of some hundred thousand elements, whatever tensors they belong to, so that one large
//! tensor keeps all threads busy and the memory in use does not grow with it: each thread holds one chunk as stored
//! and one as `f32`. Chunks are handed out in the order of the file, which disks prefer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::catalogue::TensorInfo;
use crate::file::SourceFile;
use crate::ggml::{self, DType};
use crate::{Error, ModelSource, StoredType, convert};

/// Elements of a chunk: a MiB of `f32`, which stays in a core's own cache between the steps, yet keeps the cost of a
/// read call and of handing out chunks unmeasurable. A multiple of every block length.
const CHUNK_ELEMENTS: usize = 1 << 18;

/// One tensor to be read.
#[derive(Debug)]
pub struct ReadRequest<'a> {
    /// Its name in the source's catalogue.
    pub name: &'a str,
    /// The type that the destination shall hold.
    pub wanted: DType,
    /// Elements in a row, which a quantised type divides into whole blocks. For a matrix that is its innermost
    /// dimension, for a convolution's weights `[out, in, kh, kw]` it is `in * kh * kw`.
    pub row_len: u64,
    /// Where the elements go, densely; exactly as long as they are in the wanted type.
    pub destination: &'a mut [u8],
}

/// How to read.
#[derive(Default)]
pub struct ReadOptions<'a> {
    /// How many threads read and convert; 0 means as many as the machine has.
    pub n_threads: usize,
    /// Set to true, from whatever thread, to stop within a chunk.
    pub cancel: Option<&'a AtomicBool>,
    /// Called on the calling thread after each chunk.
    pub progress: Option<&'a mut dyn FnMut(ReadProgress)>,
}

/// How far a read has come, in bytes as stored in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadProgress {
    /// Bytes read and converted.
    pub done_bytes: u64,
    /// Bytes of all requests.
    pub total_bytes: u64,
}

/// Reads tensors into their destinations, see [`ReadRequest`].
///
/// # Errors
/// All requests are checked before anything is read: [`Error::NoSuchTensor`], [`Error::UnsupportedConversion`],
/// [`Error::RowLength`], [`Error::DestinationSize`]. While reading: [`Error::Io`], [`Error::Truncated`] when a file has
/// become shorter, [`Error::UnquantizableValue`], [`Error::Cancelled`]. After an error the content of the destinations is unspecified.
pub fn read_tensors(
    source: &ModelSource,
    requests: &mut [ReadRequest<'_>],
    options: ReadOptions<'_>,
) -> Result<(), Error> {
    let mut jobs = requests.iter_mut().map(|request| Job::new(source, request)).collect::<Result<Vec<_>, _>>()?;
    jobs.sort_by_key(|job| (job.info.file, job.info.offset));
    let total_bytes = jobs.iter().map(|job| job.info.bytes).sum();
    let n_chunks = jobs.iter().map(Job::n_chunks).sum();
    let n_threads = match options.n_threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    let n_threads = n_threads.min(n_chunks);

    let chunks = Mutex::new(jobs.into_iter().flat_map(Job::into_chunks));
    let failed = AtomicBool::new(false);
    let work = |sender: SyncSender<Result<u64, Error>>| {
        let mut scratch = Scratch::default();
        while !failed.load(Ordering::Relaxed) {
            // No code that holds the lock panics.
            let Some(chunk) = chunks.lock().unwrap_or_else(PoisonError::into_inner).next() else { break };
            let is_cancelled = options.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed));
            let result = if is_cancelled { Err(Error::Cancelled) } else { chunk.read(&mut scratch) };
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            // The receiver goes away early only when the progress callback panics.
            if sender.send(result).is_err() {
                break;
            }
        }
    };
    thread::scope(|scope| {
        // Bounded, so that progress is told while it happens and a callback that cancels is heard in time.
        let (sender, receiver) = mpsc::sync_channel(n_threads);
        for n_started in 0..n_threads {
            let sender = sender.clone();
            match thread::Builder::new().spawn_scoped(scope, || work(sender)) {
                Ok(_) => {}
                // Fewer threads do the work as well.
                Err(source) if n_started == 0 => return Err(Error::ThreadStart { source }),
                Err(_) => break,
            }
        }
        drop(sender);
        let mut progress = options.progress;
        let mut done_bytes = 0;
        let mut result = Ok(());
        for outcome in receiver {
            match outcome {
                Ok(bytes) => {
                    done_bytes += bytes;
                    if let Some(progress) = progress.as_mut() {
                        progress(ReadProgress { done_bytes, total_bytes });
                    }
                }
                // The first error is the cause; the others are of chunks that were under way.
                Err(error) => result = result.and(Err(error)),
            }
        }
        result
    })
}

/// A checked request.
struct Job<'a> {
    name: &'a str,
    info: &'a TensorInfo,
    file: &'a SourceFile,
    wanted: DType,
    destination: &'a mut [u8],
}

impl<'a> Job<'a> {
    fn new(source: &'a ModelSource, request: &'a mut ReadRequest<'_>) -> Result<Self, Error> {
        let &mut ReadRequest { name, wanted, row_len, ref mut destination } = request;
        let info = source.tensor(name)?;
        let path = || source.path().to_owned();
        let tensor = || name.to_owned();
        if !convert::is_defined(info.dtype, wanted) {
            return Err(Error::UnsupportedConversion { path: path(), tensor: tensor(), stored: info.dtype, wanted });
        }
        let n_elements = info.n_elements();
        let expected_bytes = match n_elements {
            0 => Some(0),
            _ if row_len == 0 || !n_elements.is_multiple_of(row_len) => None,
            _ => wanted.row_bytes(row_len).and_then(|row_bytes| row_bytes.checked_mul(n_elements / row_len)),
        };
        let Some(expected_bytes) = expected_bytes else {
            return Err(Error::RowLength { path: path(), tensor: tensor(), n_elements, row_len, wanted });
        };
        let found_bytes = destination.len() as u64;
        if found_bytes != expected_bytes {
            return Err(Error::DestinationSize { path: path(), tensor: tensor(), expected_bytes, found_bytes });
        }
        Ok(Self { name, info, file: source.file(info.file), wanted, destination })
    }

    /// Bytes of a full chunk in the wanted type.
    fn chunk_bytes(&self) -> usize {
        CHUNK_ELEMENTS / self.wanted.block_len() * self.wanted.block_bytes()
    }

    fn n_chunks(&self) -> usize {
        self.destination.len().div_ceil(self.chunk_bytes())
    }

    fn into_chunks(self) -> impl Iterator<Item = Chunk<'a>> {
        let (name, file, wanted, stored) = (self.name, self.file, self.wanted, self.info.dtype);
        let stored_chunk_bytes = CHUNK_ELEMENTS / stored.block_len() * stored.block_bytes();
        let offsets = (self.info.offset..).step_by(stored_chunk_bytes);
        let chunk_bytes = self.chunk_bytes();
        self.destination.chunks_mut(chunk_bytes).zip(offsets).map(move |(destination, offset)| Chunk {
            name,
            file,
            stored,
            offset,
            wanted,
            destination,
        })
    }
}

/// A run of elements of one tensor: whole blocks of both types.
struct Chunk<'a> {
    name: &'a str,
    file: &'a SourceFile,
    stored: StoredType,
    offset: u64,
    wanted: DType,
    destination: &'a mut [u8],
}

/// A thread's own memory for a chunk.
#[derive(Default)]
struct Scratch {
    /// Words rather than bytes, so that what is read into them is aligned for every type.
    stored: Vec<u64>,
    floats: Vec<f32>,
}

impl Chunk<'_> {
    /// Reads and converts the chunk; the bytes that it has in the file.
    fn read(self, scratch: &mut Scratch) -> Result<u64, Error> {
        if self.stored == StoredType::Ggml(self.wanted) {
            self.file.read_exact_at(self.destination, self.offset, self.name)?;
            return Ok(self.destination.len() as u64);
        }
        let n_elements = self.destination.len() / self.wanted.block_bytes() * self.wanted.block_len();
        let n_bytes = n_elements / self.stored.block_len() * self.stored.block_bytes();
        scratch.stored.resize(n_bytes.div_ceil(size_of::<u64>()), 0);
        let stored = &mut bytemuck::cast_slice_mut(&mut scratch.stored)[..n_bytes];
        self.file.read_exact_at(stored, self.offset, self.name)?;
        scratch.floats.resize(n_elements, 0.0);
        convert::to_f32(self.stored, stored, &mut scratch.floats)
            .and_then(|()| convert::from_f32(self.wanted, &scratch.floats, self.destination))
            .map_err(|source| {
                let (path, tensor) = (self.file.path().to_owned(), self.name.to_owned());
                match source {
                    // Its index counts from the start of the chunk.
                    ggml::Error::ValueOutOfRange { value, .. } => {
                        Error::UnquantizableValue { path, tensor, value, wanted: self.wanted }
                    }
                    source => Error::Convert { path, tensor, source },
                }
            })?;
        Ok(n_bytes as u64)
    }
}
