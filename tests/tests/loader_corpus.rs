//! Model files, good and bad, against a manifest of what must come of each: values to the bit, kinds of error, no panic
//! and no large allocation.
//!
//! Formats that the loader does not read yet are part of the set: a good file of such a format must be refused by
//! name, a bad one must be refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fresco::models::engine::loader;
use fresco_tests::references_dir;
use loader::ggml::DType;
use loader::{Error, ModelSource, ReadOptions, ReadRequest, StoredType, read_tensors};
use peak_alloc::PeakAlloc;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Counts the memory of the whole process, so the tests of this file run one at a time.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

static ALONE: Mutex<()> = Mutex::new(());

#[derive(Deserialize)]
struct Manifest {
    sentinel_file: String,
    bad_defaults: Limits,
    good: Vec<Good>,
    bad: Vec<Bad>,
    sweeps: Vec<Sweep>,
}

#[derive(Deserialize)]
struct Limits {
    max_alloc_bytes: usize,
}

/// A file that loads, or that may be refused with the kind of error that `optional` begins with.
#[derive(Deserialize)]
struct Good {
    id: String,
    kind: String,
    open: String,
    files: Vec<CaseFile>,
    #[serde(default)]
    setup: Vec<Setup>,
    tensors: Vec<Tensor>,
    metadata: Option<serde_json::Value>,
    optional: Option<String>,
}

#[derive(Deserialize)]
struct Tensor {
    name: String,
    dtype: String,
    shape: Vec<u64>,
    nbytes: u64,
    raw_sha256: String,
    f32_sha256: String,
}

#[derive(Deserialize)]
struct Bad {
    id: String,
    kind: String,
    open: String,
    files: Vec<CaseFile>,
    #[serde(default)]
    setup: Vec<Setup>,
    skip_if: Option<String>,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    outcome: Outcome,
    error_kinds: Vec<String>,
    #[serde(default)]
    message_mentions: Vec<String>,
    stage: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Error,
    Either,
}

#[derive(Deserialize)]
struct CaseFile {
    path: String,
}

/// What a copy of the files cannot carry.
#[derive(Deserialize)]
struct Setup {
    op: String,
    path: String,
    target: Option<String>,
    target_device: Option<String>,
    mode: Option<String>,
}

#[derive(Deserialize)]
struct Sweep {
    op: String,
    base: String,
    open: String,
    lengths: Option<(u64, u64)>,
    offsets: Option<(u64, u64)>,
    mask: Option<u8>,
}

#[test]
fn good_files_hold_the_stated_values() {
    let Some((folder, manifest, _alone)) = corpus() else { return };
    assert!(!manifest.good.is_empty());
    let failures: Vec<String> = manifest
        .good
        .iter()
        .filter_map(|case| {
            let copy = TempCopy::new(&folder, &case.id, &case.files, &case.setup);
            check_good(case, &copy.path(&case.open)).err().map(|problem| format!("{}: {problem}", case.id))
        })
        .collect();
    assert!(failures.is_empty(), "{} good files failed:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn bad_files_are_refused_for_the_right_reason() {
    let Some((folder, manifest, _alone)) = corpus() else { return };
    assert!(!manifest.bad.is_empty());
    let failures: Vec<String> = manifest
        .bad
        .iter()
        .filter(|case| case.skip_if.as_deref() != Some("root") || !is_root())
        .filter_map(|case| {
            let copy = TempCopy::new(&folder, &case.id, &case.files, &case.setup);
            let result = check_bad(case, &copy.path(&case.open), &manifest.bad_defaults);
            assert!(!Path::new(&manifest.sentinel_file).exists(), "{} was executed", case.id);
            result.err().map(|problem| format!("{}: {problem}", case.id))
        })
        .collect();
    assert!(failures.is_empty(), "{} bad files failed:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn files_cut_anywhere_are_refused_and_flipped_bits_do_no_harm() {
    let Some((folder, manifest, _alone)) = corpus() else { return };
    for sweep in &manifest.sweeps {
        let files = siblings(&folder, &sweep.base);
        let copy = TempCopy::new(&folder, "sweep", &files, &[]);
        let (base, open) = (copy.path(&sweep.base), copy.path(&sweep.open));
        let file = OpenOptions::new().read(true).write(true).open(&base).unwrap();
        match (sweep.op.as_str(), sweep.lengths, sweep.offsets, sweep.mask) {
            ("truncate", Some((shortest, longest)), None, None) => {
                // From long to short, so that the file is only ever shortened.
                for length in (shortest..=longest).rev() {
                    file.set_len(length).unwrap();
                    let result = within(&manifest.bad_defaults, || ModelSource::open(&open));
                    assert!(result.is_err(), "{} loads when cut to {length} bytes", sweep.base);
                }
            }
            ("xor_byte", None, Some((first, last)), Some(mask)) => {
                let original = fs::read(&base).unwrap();
                let put = |offset: u64, byte: u8| {
                    (&file).seek(SeekFrom::Start(offset)).unwrap();
                    (&file).write_all(&[byte]).unwrap();
                };
                for offset in first..=last {
                    let byte = original[offset as usize];
                    put(offset, byte ^ mask);
                    // Either outcome will do; what opens must be readable or say why not.
                    if let Ok(source) = within(&manifest.bad_defaults, || ModelSource::open(&open)) {
                        for name in source.catalogue().names() {
                            let _ = read_f32(&source, name);
                        }
                    }
                    put(offset, byte);
                }
            }
            _ => panic!("{}: an unknown sweep {}", sweep.base, sweep.op),
        }
    }
}

/// The family's folder and manifest, and the right to run alone.
fn corpus() -> Option<(PathBuf, Manifest, MutexGuard<'static, ()>)> {
    let folder = references_dir("loader")?;
    // A failed test does not spoil the others.
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let text = fs::read_to_string(folder.join("manifest.json")).unwrap();
    Some((folder, serde_json::from_str(&text).unwrap(), alone))
}

fn check_good(case: &Good, path: &Path) -> Result<(), String> {
    let source = match (ModelSource::open(path), case.kind.as_str(), &case.optional) {
        (Ok(source), "safetensors" | "ncnn", _) => source,
        (Err(error), "safetensors" | "ncnn", Some(optional)) => {
            let (kinds, _) = optional.split_once(':').unwrap_or((optional, ""));
            let is_named = kinds.split('/').any(|kind| error_kinds(&error).contains(&kind.trim()));
            return if is_named { Ok(()) } else { Err(format!("refused, but not for {kinds}: {error}")) };
        }
        (Err(Error::UnsupportedFormat { .. }), kind, _) if !matches!(kind, "safetensors" | "ncnn") => return Ok(()),
        (Err(error), ..) => return Err(format!("{error} ({error:?})")),
        (Ok(_), kind, _) => return Err(format!("a {kind} loads, but is not checked: extend this test")),
    };
    if let Some(metadata) = &case.metadata
        && serde_json::json!(source.metadata()) != *metadata
    {
        return Err(format!("other metadata: {:?}", source.metadata()));
    }
    if source.catalogue().len() != case.tensors.len() {
        return Err(format!("{} tensors, expected {}", source.catalogue().len(), case.tensors.len()));
    }
    for expected in &case.tensors {
        check_tensor(&source, expected).map_err(|problem| format!("tensor {:?}: {problem}", expected.name))?;
    }
    Ok(())
}

fn check_tensor(source: &ModelSource, expected: &Tensor) -> Result<(), String> {
    let info = source.catalogue().get(&expected.name).ok_or("missing")?;
    if info.dtype != stored_type(&expected.dtype) || info.shape != expected.shape || info.bytes != expected.nbytes {
        return Err(format!("found {info:?}"));
    }
    if let StoredType::Ggml(dtype) = info.dtype {
        let raw = read(source, &expected.name, dtype).map_err(|error| error.to_string())?;
        if sha256(&raw) != expected.raw_sha256 {
            return Err("other bytes".to_owned());
        }
    }
    let mut values = read_f32(source, &expected.name).map_err(|error| error.to_string())?;
    for value in values.as_chunks_mut().0 {
        if f32::from_le_bytes(*value).is_nan() {
            *value = 0x7fc0_0000_u32.to_le_bytes();
        }
    }
    if sha256(&values) == expected.f32_sha256 { Ok(()) } else { Err("other values".to_owned()) }
}

fn check_bad(case: &Bad, path: &Path, limits: &Limits) -> Result<(), String> {
    let is_readable_format = !matches!(case.kind.as_str(), "gguf" | "torch_zip" | "torch_legacy" | "diffusers_dir");
    let result = within(limits, || ModelSource::open(path));
    if case.expected.stage.as_deref() == Some("model") {
        // The container is in order; that it is the wrong model is found when one is built from it.
        return match result {
            Ok(_) | Err(Error::UnsupportedFormat { .. }) => Ok(()),
            Err(error) => Err(format!("the container does not open: {error}")),
        };
    }
    match result {
        Ok(_) if case.expected.outcome == Outcome::Either => Ok(()),
        Ok(_) => Err(format!("loads, expected {:?}", case.expected.error_kinds)),
        Err(Error::UnsupportedFormat { .. }) if !is_readable_format || case.kind == "safetensors_index" => Ok(()),
        Err(error) => {
            let kinds = error_kinds(&error);
            if is_readable_format && !case.expected.error_kinds.iter().any(|kind| kinds.contains(&kind.as_str())) {
                return Err(format!("{error} ({kinds:?}), expected {:?}", case.expected.error_kinds));
            }
            let message = error.to_string().to_lowercase();
            let lacks = |mention: &&String| {
                // A lone dot stands for any message.
                !mention.split('|').any(|word| word == "." || message.contains(&word.to_lowercase()))
            };
            match case.expected.message_mentions.iter().find(lacks) {
                Some(mention) if is_readable_format => Err(format!("the message lacks {mention}: {error}")),
                _ => Ok(()),
            }
        }
    }
}

/// Runs `open` and fails if it takes more memory than allowed.
fn within<T>(limits: &Limits, open: impl FnOnce() -> T) -> T {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result = open();
    let taken = MEMORY.peak_usage().saturating_sub(before);
    assert!(taken < limits.max_alloc_bytes, "opening took {taken} bytes of memory");
    result
}

/// The manifest's words for an error.
fn error_kinds(error: &Error) -> &'static [&'static str] {
    match error {
        Error::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => &["NotFound", "Io"],
            ErrorKind::PermissionDenied => &["PermissionDenied", "Io"],
            _ => &["Io"],
        },
        Error::NotAFile { .. } => &["NotAFile"],
        Error::MissingPartner { .. } => &["MissingFile"],
        Error::Empty { .. } => &["Empty"],
        Error::Truncated { .. } => &["Truncated"],
        Error::LfsPointer { .. } => &["LfsPointer"],
        Error::HtmlPage { .. } => &["HtmlPage"],
        Error::NotAModel { .. } => &["NotAModel"],
        Error::UnsupportedFormat { .. } => &["UnsupportedFormat", "NotAModel"],
        Error::HeaderTooLarge { .. } => &["HeaderTooLarge"],
        Error::InvalidHeader { .. } => &["InvalidHeader"],
        Error::LimitExceeded { .. } => &["LimitExceeded"],
        Error::DuplicateName { .. } => &["DuplicateName"],
        Error::UnknownType { .. } => &["UnknownDtype"],
        Error::UnsupportedType { .. } => &["UnsupportedDtype"],
        Error::UnsupportedRank { .. } => &["UnsupportedRank"],
        Error::ShapeOverflow { .. } => &["ShapeOverflow"],
        Error::SizeMismatch { .. } => &["SizeMismatch"],
        Error::OffsetOutOfRange { .. } => &["OffsetOutOfRange"],
        Error::OffsetOverlap { .. } => &["OffsetOverlap"],
        Error::UnusedBytes { .. } => &["OffsetHole", "NcnnInvalid"],
        Error::BadMagic { .. } => &["BadMagic"],
        Error::InvalidNcnn { .. } => &["NcnnInvalid"],
        Error::UnsupportedLayer { .. } => &["UnsupportedLayer"],
        Error::UnknownNcnnTag { .. } => &["NcnnInvalid", "UnsupportedDtype"],
        other => panic!("not an error of opening: {other:?}"),
    }
}

fn stored_type(name: &str) -> StoredType {
    match name {
        "BOOL" => StoredType::Bool,
        "U8" => StoredType::U8,
        "F8_E4M3" => StoredType::F8E4M3,
        "F8_E5M2" => StoredType::F8E5M2,
        name => DType::from_name(name).unwrap_or_else(|| panic!("an unknown type {name}")).into(),
    }
}

fn read_f32(source: &ModelSource, name: &str) -> Result<Vec<u8>, Error> {
    read(source, name, DType::F32)
}

fn read(source: &ModelSource, name: &str, wanted: DType) -> Result<Vec<u8>, Error> {
    let n_elements = source.catalogue().get(name).unwrap().n_elements();
    let mut destination = vec![0; wanted.row_bytes(n_elements).unwrap() as usize];
    let request = ReadRequest { name, wanted, row_len: n_elements.max(1), destination: &mut destination };
    read_tensors(source, &mut [request], ReadOptions { n_threads: 1, ..ReadOptions::default() })?;
    Ok(destination)
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A case's files in a folder of its own, which goes away with it.
struct TempCopy {
    folder: tempfile::TempDir,
}

impl TempCopy {
    fn new(corpus: &Path, id: &str, files: &[CaseFile], setup: &[Setup]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for CaseFile { path } in files {
            let copy = folder.path().join(path);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(corpus.join(path), copy).unwrap();
        }
        // Paths of `setup` start at the case's own folder.
        let own = ["good", "bad"].map(|side| folder.path().join(side).join(id)).into_iter().find(|own| own.is_dir());
        for step in setup {
            apply(step, own.as_ref().unwrap());
        }
        Self { folder }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }
}

#[cfg(unix)]
fn apply(step: &Setup, folder: &Path) {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let path = folder.join(&step.path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match (step.op.as_str(), &step.target, &step.target_device, &step.mode) {
        ("symlink", Some(target), None, _) => symlink(target, path).unwrap(),
        ("symlink", None, Some(device), _) if device == "zero" => symlink("/dev/zero", path).unwrap(),
        ("mkfifo", ..) => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        ("chmod", _, _, Some(mode)) => {
            let mode = u32::from_str_radix(mode, 8).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        _ => panic!("an unknown setup step {}", step.op),
    }
}

#[cfg(not(unix))]
fn apply(step: &Setup, folder: &Path) {
    panic!("{} on {} in {} needs Unix", step.op, step.path, folder.display());
}

/// All files that lie in the folder of `base`, or `base` alone where it lies among other cases.
fn siblings(corpus: &Path, base: &str) -> Vec<CaseFile> {
    let own = Path::new(base).parent().unwrap();
    if own.components().count() < 2 {
        return vec![CaseFile { path: base.to_owned() }];
    }
    fs::read_dir(corpus.join(own))
        .unwrap()
        .map(|entry| CaseFile { path: own.join(entry.unwrap().file_name()).to_str().unwrap().to_owned() })
        .collect()
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}
