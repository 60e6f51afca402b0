//! What can be wrong with a model file, a request for its tensors, or a name table.
//!
//! Every variant that concerns a file carries its path; those that concern a tensor carry its name as the file spells
//! it. Byte counts are exact, so that a message can say how much of a download is missing.

use std::path::PathBuf;

use crate::StoredType;
use crate::ggml::{self, DType};

/// An error of the loader.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to open, inspect or read a file.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The path leads to something that is not a regular file.
    #[error("{} is {found}, not a model file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there instead.
        found: &'static str,
    },
    /// A model of two files was opened, and the other one is not there.
    #[error("{} needs its other half {}, which is missing: put both files into one folder", path.display(), partner.display())]
    MissingPartner {
        /// The file that is there.
        path: PathBuf,
        /// The file that is not.
        partner: PathBuf,
    },
    /// The file has no content.
    #[error("{} is empty (0 bytes): download it again", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file ends before what its header announces, or has become shorter since it was opened.
    #[error(
        "{} is truncated: {part} needs {expected_bytes} bytes, the file has {found_bytes}; \
         the download is probably incomplete",
        path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The part that does not fit.
        part: String,
        /// How long the file has to be for that part.
        expected_bytes: u64,
        /// How long it is.
        found_bytes: u64,
    },
    /// The file is a git-lfs pointer, left by a clone without git-lfs.
    #[error(
        "{} is a git-lfs pointer, not the model{}: run `git lfs pull`, or download the file itself",
        path.display(),
        bytes.map(|bytes| format!(" (which has {bytes} bytes)")).unwrap_or_default()
    )]
    LfsPointer {
        /// The file.
        path: PathBuf,
        /// The size of the real file, when the pointer names it.
        bytes: Option<u64>,
    },
    /// The file is a web page, left by a download that needed a login or met an error.
    #[error("{} is a web page (HTML), not a model: the download link led to a page, so download it again", path.display())]
    HtmlPage {
        /// The file.
        path: PathBuf,
    },
    /// The content is of no kind that is known.
    #[error("{} is not a model file: its format is not recognised (it starts with {start})", path.display())]
    NotAModel {
        /// The file.
        path: PathBuf,
        /// Its first bytes, escaped.
        start: String,
    },
    /// The format is recognised, but not read by this version.
    #[error("{} is a {format}: that format is not supported yet", path.display())]
    UnsupportedFormat {
        /// The file.
        path: PathBuf,
        /// The format's name.
        format: &'static str,
    },
    /// The header announces a length beyond the limit.
    #[error("{}: the header claims {bytes} bytes, more than the limit of {limit_bytes}", path.display())]
    HeaderTooLarge {
        /// The file.
        path: PathBuf,
        /// The announced length.
        bytes: u64,
        /// The largest length that is accepted.
        limit_bytes: u64,
    },
    /// The header is not the JSON that the format asks for.
    #[error(
        "{}: the header is invalid{}: {source}",
        path.display(),
        tensor.as_ref().map(|name| format!(" at tensor {name:?}")).unwrap_or_default()
    )]
    InvalidHeader {
        /// The file.
        path: PathBuf,
        /// The entry that was being read.
        tensor: Option<String>,
        /// Where and what.
        source: serde_json::Error,
    },
    /// A count in the file is beyond what any real model has.
    #[error("{}: {found} {what}, more than the limit of {limit}", path.display())]
    LimitExceeded {
        /// The file.
        path: PathBuf,
        /// What is counted.
        what: &'static str,
        /// The count.
        found: u64,
        /// The largest count that is accepted.
        limit: u64,
    },
    /// Two tensors or layers of one file have one name.
    #[error("{}: duplicate name {name:?}", path.display())]
    DuplicateName {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The element type of a tensor is not known.
    #[error("{}: tensor {tensor:?} has the unknown dtype {dtype:?}", path.display())]
    UnknownType {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The type as the file spells it.
        dtype: String,
    },
    /// The element type of a tensor is known, but not read by this version.
    #[error("{}: tensor {tensor:?} is stored as {dtype}, a type that is not supported yet", path.display())]
    UnsupportedType {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The type in words.
        dtype: &'static str,
    },
    /// A tensor has more dimensions than are accepted.
    #[error("{}: tensor {tensor:?} has more than {limit} dimensions", path.display())]
    UnsupportedRank {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The largest rank that is accepted.
        limit: usize,
    },
    /// The size of a tensor does not fit 64 bits.
    #[error("{}: tensor {tensor:?} of shape {shape:?} is impossibly large", path.display())]
    ShapeOverflow {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// The bytes reserved for a tensor are not those that its shape and type need.
    #[error(
        "{}: size mismatch: tensor {tensor:?} needs {expected_bytes} bytes, the file gives it {found_bytes}",
        path.display()
    )]
    SizeMismatch {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// What shape and type need.
        expected_bytes: u64,
        /// What the file reserves.
        found_bytes: u64,
    },
    /// The data of a tensor ends before it begins, or lies beyond every possible file.
    #[error("{}: tensor {tensor:?} has the impossible data range {begin}..{end}", path.display())]
    OffsetOutOfRange {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// Where its data begins.
        begin: u64,
        /// Where its data ends.
        end: u64,
    },
    /// Two tensors claim the same bytes.
    #[error("{}: the data of tensors {first:?} and {second:?} overlaps", path.display())]
    OffsetOverlap {
        /// The file.
        path: PathBuf,
        /// The tensor that begins first.
        first: String,
        /// The tensor that begins inside it.
        second: String,
    },
    /// Bytes of the file belong to no tensor.
    #[error("{}: {bytes} bytes at offset {offset} belong to no tensor", path.display())]
    UnusedBytes {
        /// The file.
        path: PathBuf,
        /// Where they begin in the file.
        offset: u64,
        /// How many there are.
        bytes: u64,
    },
    /// A `.param` file does not begin with ncnn's magic number.
    #[error(
        "{}: the magic number {} is expected on the first line of an ncnn .param file, found {found}",
        path.display(),
        crate::ncnn::MAGIC
    )]
    BadMagic {
        /// The file.
        path: PathBuf,
        /// The first bytes, escaped.
        found: String,
    },
    /// A line of a `.param` file breaks the format's rules.
    #[error("{}:{line}: {problem}", path.display())]
    InvalidNcnn {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// Which rule, and what stands there.
        problem: String,
    },
    /// A layer whose weights, if any, this version cannot find in the `.bin` file.
    #[error("{}:{line}: layer {layer:?} is of the kind {kind:?}, which is not supported", path.display())]
    UnsupportedLayer {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The layer.
        layer: String,
        /// Its kind.
        kind: String,
    },
    /// The weights of a layer begin with a number that stands for no type of ncnn's.
    #[error(
        "{}: tensor {tensor:?} begins with the unknown type tag {tag:#x} at offset {offset}: the file is damaged, or \
         belongs to another .param file",
        path.display()
    )]
    UnknownNcnnTag {
        /// The `.bin` file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The number.
        tag: u32,
        /// Where it stands in the file.
        offset: u64,
    },
    /// A tensor was asked for that the source does not have.
    #[error("{} has no tensor named {tensor:?}", path.display())]
    NoSuchTensor {
        /// The source.
        path: PathBuf,
        /// The tensor.
        tensor: String,
    },
    /// The stored type cannot be turned into the wanted one.
    #[error("{}: tensor {tensor:?} is stored as {stored} and cannot be read as {}", path.display(), wanted.name())]
    UnsupportedConversion {
        /// The source.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The type in the file.
        stored: StoredType,
        /// The type asked for.
        wanted: DType,
    },
    /// The rows asked for do not divide the tensor, or the blocks of the wanted type do not divide the rows.
    #[error(
        "{}: tensor {tensor:?} of {n_elements} elements cannot be read as {} in rows of {row_len} elements",
        path.display(),
        wanted.name()
    )]
    RowLength {
        /// The source.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// Its number of elements.
        n_elements: u64,
        /// The row length asked for.
        row_len: u64,
        /// The type asked for.
        wanted: DType,
    },
    /// The destination of a read is not exactly as long as the result.
    #[error("{}: reading tensor {tensor:?} gives {expected_bytes} bytes, the destination has {found_bytes}", path.display())]
    DestinationSize {
        /// The source.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// How long the result is.
        expected_bytes: u64,
        /// How long the destination is.
        found_bytes: u64,
    },
    /// A value that no block type can hold: not a number, infinite, or beyond the range of `f16`.
    #[error(
        "{}: tensor {tensor:?} contains {value}, which {} cannot hold: read it as f32, f16 or bf16, or repair the file",
        path.display(),
        wanted.name()
    )]
    UnquantizableValue {
        /// The source.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The value.
        value: f32,
        /// The type asked for.
        wanted: DType,
    },
    /// ggml could not convert a tensor.
    #[error("{}: cannot convert tensor {tensor:?}: {source}", path.display())]
    Convert {
        /// The source.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// What ggml said.
        source: ggml::Error,
    },
    /// A name table gives two tensors one name.
    #[error("tensors {first:?} and {second:?} are both renamed to {name:?}")]
    RenameCollision {
        /// The common new name.
        name: String,
        /// The first of the two, in name order.
        first: String,
        /// The second.
        second: String,
    },
    /// The operating system gave no thread to read with.
    #[error("cannot start a thread to read with: {source}")]
    ThreadStart {
        /// What it said.
        source: std::io::Error,
    },
    /// The caller cancelled the read.
    #[error("the read was cancelled")]
    Cancelled,
}
