//! A model as it lies on disk: its files, open, and the catalogue of its tensors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalogue::{Catalogue, FileId, TensorInfo};
use crate::file::SourceFile;
use crate::ggml::DType;
use crate::mmap::{MapPolicy, MappedRange};
use crate::ncnn::{self, NcnnNet};
use crate::recognise::{Recognised, Refused, START_BYTES, recognise, recognise_folder, show_start};
use crate::{Error, StoredType, safetensors};

/// The format of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One safetensors file.
    Safetensors,
    /// An ncnn pair of `.param` and `.bin`.
    Ncnn,
}

/// A model's files, open for reading, and what they contain. Opening reads the headers, never the tensors.
#[derive(Debug)]
pub struct ModelSource {
    path: PathBuf,
    format: Format,
    map_policy: MapPolicy,
    files: Vec<SourceFile>,
    catalogue: Catalogue,
    metadata: BTreeMap<String, String>,
    ncnn: Option<NcnnNet>,
}

impl ModelSource {
    /// Opens the model at `path`, which is never mapped into memory.
    ///
    /// The format is recognised by content. Either file of an ncnn pair opens both; the other one is expected beside
    /// it, under the same name with the extension `param` or `bin`.
    ///
    /// # Errors
    /// What is no model at all says so ([`Error::HtmlPage`], [`Error::LfsPointer`], [`Error::Empty`],
    /// [`Error::NotAModel`], [`Error::UnsupportedFormat`]); the others name what is wrong with the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, MapPolicy::Never)
    }

    /// Opens the model at `path` like [`open`](Self::open); `map_policy` says whether [`mappable`](Self::mappable)
    /// may map its files.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, map_policy: MapPolicy) -> Result<Self, Error> {
        let path = path.as_ref();
        if path.is_dir() {
            return Err(recognise_folder(path).into_error(path));
        }
        let file = SourceFile::open(path)?;
        let start = file.read_start(START_BYTES)?;
        let mut source = match recognise(&start, file.bytes()) {
            Recognised::Safetensors => Self::from_safetensors(file)?,
            Recognised::NcnnParam => Self::from_ncnn(file, open_partner(path, "bin")?)?,
            undecided @ (Recognised::PerhapsSafetensors | Recognised::Unknown) => {
                // Weights of ncnn begin with no mark that is theirs alone: the `.param` file beside them decides.
                if let Some(param) = ncnn_param_of(path) {
                    Self::from_ncnn(param, file)?
                } else if is_like_ncnn_weights(path, &start) {
                    return Err(no_param_of(path));
                } else if undecided == Recognised::PerhapsSafetensors {
                    Self::from_safetensors(file)?
                } else if has_extension(path, "param") {
                    return Err(Error::BadMagic { path: path.to_owned(), found: show_start(&start) });
                } else {
                    return Err(Error::NotAModel { path: path.to_owned(), start: show_start(&start) });
                }
            }
            Recognised::Refused(reason) => return Err(reason.into_error(path)),
        };
        source.path = path.to_owned();
        source.map_policy = map_policy;
        tracing::debug!(path = %path.display(), format = ?source.format, n_tensors = source.catalogue.len(), "opened");
        Ok(source)
    }

    /// The path that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The format that was recognised.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The tensors.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Texts that the file carries beside its tensors, by name.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// The layers of an ncnn model, `None` for the other formats.
    pub fn ncnn(&self) -> Option<&NcnnNet> {
        self.ncnn.as_ref()
    }

    /// The same source with its tensors under other names, see [`Catalogue::renamed`].
    ///
    /// # Errors
    /// [`Error::RenameCollision`] when two tensors end up with one name.
    pub fn renamed(self, table: impl FnMut(&str) -> Option<String>) -> Result<Self, Error> {
        Ok(Self { catalogue: self.catalogue.renamed(table)?, ..self })
    }

    /// The bytes of a tensor within a mapping of its file, when they may be used as they are: the stored type is the
    /// wanted one, the data begins at a multiple of `alignment` bytes, the tensor is not empty, and the source was
    /// opened with [`MapPolicy::FilesStayUnchanged`].
    ///
    /// `None` in all other cases, also when the system cannot map the file: then the tensor is to be read.
    pub fn mappable(&self, name: &str, wanted: DType, alignment: usize) -> Option<MappedRange> {
        let info = self.catalogue.get(name)?;
        let is_usable = self.map_policy == MapPolicy::FilesStayUnchanged
            && info.dtype == StoredType::Ggml(wanted)
            && info.bytes > 0
            && info.offset.is_multiple_of(alignment as u64);
        if !is_usable {
            return None;
        }
        let mapping = self.file(info.file).mapping()?;
        // The file may have become shorter since it was opened; reading then says so.
        let end = info.offset + info.bytes;
        let is_inside = end <= mapping.bytes() as u64;
        is_inside.then(|| MappedRange {
            mapping: Arc::clone(mapping),
            offset: info.offset as usize,
            bytes: info.bytes as usize,
        })
    }

    /// The tensor of that name, which must exist.
    pub(crate) fn tensor(&self, name: &str) -> Result<&TensorInfo, Error> {
        let missing = || Error::NoSuchTensor { path: self.path.clone(), tensor: name.to_owned() };
        self.catalogue.get(name).ok_or_else(missing)
    }

    pub(crate) fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    fn from_safetensors(file: SourceFile) -> Result<Self, Error> {
        let header = safetensors::read_header(&file, FileId(0))?;
        Ok(Self {
            path: file.path().to_owned(),
            format: Format::Safetensors,
            map_policy: MapPolicy::Never,
            files: vec![file],
            catalogue: header.tensors,
            metadata: header.metadata,
            ncnn: None,
        })
    }

    fn from_ncnn(param: SourceFile, bin: SourceFile) -> Result<Self, Error> {
        if param.bytes() > ncnn::MAX_PARAM_BYTES {
            return Err(Error::HeaderTooLarge {
                path: param.path().to_owned(),
                bytes: param.bytes(),
                limit_bytes: ncnn::MAX_PARAM_BYTES,
            });
        }
        let net = ncnn::parse_param(param.path(), &param.read_start(ncnn::MAX_PARAM_BYTES)?)?;
        let catalogue = ncnn::find_weights(&net, param.path(), &bin, FileId(0))?;
        Ok(Self {
            path: param.path().to_owned(),
            format: Format::Ncnn,
            map_policy: MapPolicy::Never,
            files: vec![bin],
            catalogue,
            metadata: BTreeMap::new(),
            ncnn: Some(net),
        })
    }
}

/// Opens the other file of an ncnn pair.
fn open_partner(path: &Path, extension: &str) -> Result<SourceFile, Error> {
    let partner = path.with_extension(extension);
    if partner == path || !partner.exists() {
        return Err(Error::MissingPartner { path: path.to_owned(), partner });
    }
    let file = SourceFile::open(&partner)?;
    match recognise(&file.read_start(START_BYTES)?, file.bytes()) {
        // A failed download often takes both files.
        Recognised::Refused(reason @ (Refused::LfsPointer(_) | Refused::HtmlPage)) => Err(reason.into_error(&partner)),
        _ => Ok(file),
    }
}

/// The `.param` file beside `path`, when there is one.
fn ncnn_param_of(path: &Path) -> Option<SourceFile> {
    let param = SourceFile::open(&path.with_extension("param")).ok()?;
    let start = param.read_start(START_BYTES).ok()?;
    (recognise(&start, param.bytes()) == Recognised::NcnnParam).then_some(param)
}

/// Whether a file without a `.param` file beside it must be weights of ncnn.
fn is_like_ncnn_weights(path: &Path, start: &[u8]) -> bool {
    match start.split_first_chunk() {
        Some((tag, weights)) => match u32::from_le_bytes(*tag) {
            ncnn::TAG_F16 => true,
            // The tag of 32-bit weights is 0; the weights after it are not.
            0 => has_extension(path, "bin") && !weights.starts_with(&[0; 4]),
            _ => false,
        },
        None => false,
    }
}

/// Why the `.param` file of the weights at `path` is of no use.
fn no_param_of(path: &Path) -> Error {
    let partner = path.with_extension("param");
    let start = SourceFile::open(&partner).and_then(|file| file.read_start(START_BYTES));
    match start {
        Ok(start) => Error::BadMagic { path: partner, found: show_start(&start) },
        Err(_) => Error::MissingPartner { path: path.to_owned(), partner },
    }
}

/// Only for the choice between error messages.
fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}
