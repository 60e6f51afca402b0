//! Files that made other loaders crash, misread or blame the wrong thing; each test is named by the report.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;

use fresco::models::engine::loader;
use fresco_tests::{safetensors, safetensors_with_header};
use loader::{Error, ModelSource};
use tempfile::TempDir;

/// A file of that content, and the folder that it goes away with.
fn file(name: &str, content: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    (folder, path)
}

fn open(content: &[u8]) -> Result<ModelSource, Error> {
    let (_folder, path) = file("model.safetensors", content);
    ModelSource::open(path)
}

fn open_header(header: &str, data: &[u8]) -> Result<ModelSource, Error> {
    open(&safetensors_with_header(header.as_bytes(), data))
}

/// The shape's product wraps to 0, which fits the empty data.
#[test]
fn stable_diffusion_cpp_1876() {
    let header = r#"{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}"#;
    match open_header(header, &[]) {
        Err(Error::ShapeOverflow { tensor, .. }) => assert_eq!(tensor, "w"),
        other => panic!("{other:?}"),
    }
}

/// A length check of `f64` tensors that aborted.
#[test]
fn stable_diffusion_cpp_1396() {
    let header = r#"{"w":{"dtype":"F64","shape":[4],"data_offsets":[0,16]}}"#;
    match open_header(header, &[0; 16]) {
        Err(Error::SizeMismatch { tensor, expected_bytes: 32, found_bytes: 16, .. }) => assert_eq!(tensor, "w"),
        other => panic!("{other:?}"),
    }
}

/// Offsets that run backwards or beyond the end were read.
#[test]
fn stable_diffusion_cpp_1754() {
    let with = |offsets: &str| {
        open_header(&format!(r#"{{"w":{{"dtype":"F32","shape":[1],"data_offsets":{offsets}}}}}"#), &[0; 8])
    };
    assert!(matches!(with("[8,4]"), Err(Error::OffsetOutOfRange { begin: 8, end: 4, .. })));
    assert!(matches!(with("[0,1099511627776]"), Err(Error::SizeMismatch { .. })));
    let far = r#"{"w":{"dtype":"U8","shape":[1099511627776],"data_offsets":[0,1099511627776]}}"#;
    assert!(matches!(open_header(far, &[0; 8]), Err(Error::Truncated { .. })));
}

/// A key that comes twice gave a misleading error.
#[test]
fn safetensors_401() {
    let entry = r#""w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
    let error = open_header(&format!("{{{entry},{entry}}}"), &[0]).unwrap_err();
    assert!(matches!(&error, Error::DuplicateName { name, .. } if name == "w"));
    assert!(error.to_string().contains("duplicate name \"w\""), "{error}");
}

/// Metadata that are no strings kept files from loading.
#[test]
fn safetensors_278() {
    for (metadata, kept) in [
        (r#"{"a":0,"b":"text","c":null,"d":["x"]}"#, &[("b", "text")][..]),
        ("{}", &[]),
        ("null", &[]),
        ("[]", &[]),
        (r#""text""#, &[]),
        ("1.5e3", &[]),
    ] {
        let header = format!(r#"{{"__metadata__":{metadata},"w":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}}"#);
        let source = open_header(&header, &[0]).unwrap_or_else(|error| panic!("{metadata}: {error}"));
        let found: Vec<(&str, &str)> = source.metadata().iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(found, kept, "{metadata}");
        assert_eq!(source.catalogue().len(), 1);
    }
}

/// Headers are padded in several ways. JSON whitespace is harmless; NUL bytes are not JSON.
#[test]
fn safetensors_686() {
    let entry = r#"{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    for header in [format!("{entry}   "), format!("{entry}\t\t"), format!("{entry}\r\n"), format!("\n {entry}")] {
        assert_eq!(open_header(&header, &[0]).unwrap().catalogue().len(), 1, "{header:?}");
    }
    let error = open_header(&format!("{entry}\0\0\0"), &[0]).unwrap_err();
    assert!(error.to_string().contains("padded with NUL bytes"), "{error}");
}

/// Scalars were skipped, among them the strengths of adapters.
#[test]
fn stable_diffusion_cpp_242() {
    let source = open(&safetensors(&[("x.alpha", "F32", &[], &4.0_f32.to_le_bytes())])).unwrap();
    let info = source.catalogue().get("x.alpha").unwrap();
    assert_eq!((info.shape.as_slice(), info.n_elements(), info.bytes), (&[][..], 1, 4));
}

/// Names were cut at 63 bytes, and two tensors became one.
#[test]
fn stable_diffusion_cpp_1949() {
    let stem = "x".repeat(70);
    let (a, b) = (format!("{stem}a"), format!("{stem}b"));
    let source = open(&safetensors(&[(&a, "U8", &[1], &[1]), (&b, "U8", &[1], &[2])])).unwrap();
    assert_eq!(source.catalogue().names().collect::<Vec<_>>(), [&a, &b]);
}

/// Paths outside ASCII did not open on Windows.
#[test]
fn llama_cpp_18571() {
    let (_folder, path) = file("mod\u{e8}le \u{6a21}\u{578b}.bin", &safetensors(&[("w", "U8", &[1], &[1])]));
    assert_eq!(ModelSource::open(path).unwrap().catalogue().len(), 1);
}

/// A repository cloned without git-lfs: the loader spoke of a header that is too large.
#[test]
fn comfyui_5826() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 6938040682\n";
    let error = open(pointer).unwrap_err();
    assert!(matches!(error, Error::LfsPointer { bytes: Some(6_938_040_682), .. }));
    assert!(error.to_string().contains("git lfs pull"), "{error}");
}
