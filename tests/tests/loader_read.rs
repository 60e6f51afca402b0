//! Reading tensors: conversion, chunks, threads, cancellation, and files that change under way.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use fresco::models::engine::loader;
use fresco_tests::safetensors;
use half::{bf16, f16};
use loader::ggml::DType;
use loader::{Error, Format, MapPolicy, ModelSource, ReadOptions, ReadProgress, ReadRequest, StoredType, read_tensors};
use tempfile::TempDir;

/// Enough elements for several chunks, and not a whole number of them.
const LARGE: u64 = (3 << 18) + 96;

struct Model {
    _folder: TempDir,
    path: PathBuf,
}

impl Model {
    fn new(content: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, content).unwrap();
        Self { _folder: folder, path }
    }

    fn open(&self) -> ModelSource {
        ModelSource::open(&self.path).unwrap()
    }
}

/// Values that survive a trip through every floating-point type: small multiples of 1/4.
fn values(n: u64) -> Vec<f32> {
    (0..n).map(|index| (index * 7 % 31) as f32 / 4.0 - 3.75).collect()
}

fn bytes_of<const N: usize>(values: &[f32], encode: impl Fn(f32) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| encode(value)).collect()
}

fn f32_bytes(values: &[f32]) -> Vec<u8> {
    bytes_of(values, f32::to_le_bytes)
}

/// A model with `large` in f16 between two small tensors.
fn three_tensors() -> Model {
    let large = bytes_of(&values(LARGE), |value| f16::from_f32(value).to_le_bytes());
    Model::new(&safetensors(&[
        ("first", "F32", &[2, 3], &f32_bytes(&values(6))),
        ("large", "F16", &[LARGE / 32, 32], &large),
        ("last", "BF16", &[5], &bytes_of(&values(5), |value| bf16::from_f32(value).to_le_bytes())),
    ]))
}

fn read(source: &ModelSource, name: &str, wanted: DType, n_threads: usize) -> Result<Vec<u8>, Error> {
    let n_elements = source.catalogue().get(name).unwrap().n_elements();
    let mut destination = vec![0; wanted.row_bytes(n_elements).unwrap() as usize];
    let request = ReadRequest { name, wanted, row_len: n_elements, destination: &mut destination };
    read_tensors(source, &mut [request], ReadOptions { n_threads, ..ReadOptions::default() })?;
    Ok(destination)
}

#[test]
fn many_tensors_are_read_at_once_whatever_their_order_and_the_threads() {
    let model = three_tensors();
    let source = model.open();
    for n_threads in [0, 1, 2, 3, 8] {
        let (mut first, mut large, mut last) = (vec![0; 24], vec![0; 4 * LARGE as usize], vec![0; 20]);
        let mut requests = [
            ReadRequest { name: "last", wanted: DType::F32, row_len: 5, destination: &mut last },
            ReadRequest { name: "large", wanted: DType::F32, row_len: 32, destination: &mut large },
            ReadRequest { name: "first", wanted: DType::F32, row_len: 3, destination: &mut first },
        ];
        read_tensors(&source, &mut requests, ReadOptions { n_threads, ..ReadOptions::default() }).unwrap();
        assert!(large == f32_bytes(&values(LARGE)), "{n_threads} threads");
        assert_eq!(first, f32_bytes(&values(6)));
        assert_eq!(last, f32_bytes(&values(5)));
    }
}

#[test]
fn every_plain_type_is_read_as_every_float() {
    let values = values(LARGE);
    let whole: Vec<f32> = (0..LARGE).map(|index| (index % 100) as f32).collect();
    let of_type = |dtype: &str| match dtype {
        "F64" => (&values, bytes_of(&values, |value| f64::from(value).to_le_bytes())),
        "F32" => (&values, f32_bytes(&values)),
        "F16" => (&values, bytes_of(&values, |value| f16::from_f32(value).to_le_bytes())),
        "BF16" => (&values, bytes_of(&values, |value| bf16::from_f32(value).to_le_bytes())),
        "I64" => (&whole, bytes_of(&whole, |value| (value as i64).to_le_bytes())),
        "I32" => (&whole, bytes_of(&whole, |value| (value as i32).to_le_bytes())),
        "I16" => (&whole, bytes_of(&whole, |value| (value as i16).to_le_bytes())),
        "I8" | "U8" => (&whole, bytes_of(&whole, |value| [value as u8])),
        "U16" => (&whole, bytes_of(&whole, |value| (value as u16).to_le_bytes())),
        "U32" => (&whole, bytes_of(&whole, |value| (value as u32).to_le_bytes())),
        "U64" => (&whole, bytes_of(&whole, |value| (value as u64).to_le_bytes())),
        other => panic!("{other}"),
    };
    for stored in ["F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8"] {
        let (values, data) = of_type(stored);
        let source = Model::new(&safetensors(&[("w", stored, &[LARGE], &data)])).open();
        for (wanted, expected) in [
            (DType::F32, f32_bytes(values)),
            (DType::F16, bytes_of(values, |value| f16::from_f32(value).to_le_bytes())),
            (DType::BF16, bytes_of(values, |value| bf16::from_f32(value).to_le_bytes())),
        ] {
            assert!(read(&source, "w", wanted, 2).unwrap() == expected, "{stored} as {wanted}");
        }
    }
}

#[test]
fn tensors_are_packed_into_blocks() {
    let values = values(LARGE);
    let halves = bytes_of(&values, |value| f16::from_f32(value).to_le_bytes());
    let source = Model::new(&safetensors(&[("w", "F16", &[LARGE / 96, 96], &halves)])).open();
    for wanted in [DType::Q8_0, DType::Q4_0, DType::Q5_1] {
        let mut expected = vec![0; wanted.row_bytes(LARGE).unwrap() as usize];
        loader::ggml::quantize(wanted, &values, 96, &mut expected).unwrap();
        for n_threads in [1, 3] {
            assert!(read(&source, "w", wanted, n_threads).unwrap() == expected, "{wanted}");
        }
    }
}

#[test]
fn rows_must_be_whole_blocks() {
    let source = Model::new(&safetensors(&[("w", "F32", &[32, 3], &f32_bytes(&values(96)))])).open();
    let mut destination = vec![0; 3 * 34];
    let mut read = |row_len, wanted| {
        let request = ReadRequest { name: "w", wanted, row_len, destination: &mut destination };
        read_tensors(&source, &mut [request], ReadOptions::default())
    };
    assert!(matches!(read(3, DType::Q8_0), Err(Error::RowLength { row_len: 3, n_elements: 96, .. })));
    assert!(matches!(read(96, DType::Q4K), Err(Error::RowLength { wanted: DType::Q4K, .. })));
    read(32, DType::Q8_0).unwrap();
}

#[test]
fn a_value_that_blocks_cannot_hold_is_named() {
    let mut values = values(64);
    values[40] = f32::INFINITY;
    let source = Model::new(&safetensors(&[("w", "F32", &[2, 32], &f32_bytes(&values))])).open();
    match read(&source, "w", DType::Q8_0, 1) {
        Err(Error::UnquantizableValue { tensor, value: f32::INFINITY, wanted: DType::Q8_0, .. }) => {
            assert_eq!(tensor, "w");
        }
        other => panic!("{other:?}"),
    }
    assert!(read(&source, "w", DType::F16, 1).is_ok());
}

#[test]
fn scalars_and_empty_tensors_are_read() {
    let source = Model::new(&safetensors(&[("empty", "F32", &[0, 4], &[]), ("one", "F16", &[], &[0, 0x3c])])).open();
    assert_eq!(read(&source, "one", DType::F32, 1).unwrap(), 1.0_f32.to_le_bytes());
    let request = ReadRequest { name: "empty", wanted: DType::F32, row_len: 4, destination: &mut [] };
    read_tensors(&source, &mut [request], ReadOptions::default()).unwrap();
    read_tensors(&source, &mut [], ReadOptions::default()).unwrap();
}

#[test]
fn requests_are_checked_before_anything_is_read() {
    let model = three_tensors();
    let source = model.open();
    let refused = |name, wanted, row_len, n_bytes| {
        let (mut first, mut other) = (vec![7; 24], vec![7; n_bytes]);
        let mut requests = [
            ReadRequest { name: "first", wanted: DType::F32, row_len: 3, destination: &mut first },
            ReadRequest { name, wanted, row_len, destination: &mut other },
        ];
        let error = read_tensors(&source, &mut requests, ReadOptions::default()).unwrap_err();
        assert_eq!(first, [7; 24], "nothing was read");
        error
    };
    assert!(matches!(refused("absent", DType::F32, 1, 4), Error::NoSuchTensor { tensor, .. } if tensor == "absent"));
    assert!(matches!(
        refused("last", DType::F32, 5, 19),
        Error::DestinationSize { expected_bytes: 20, found_bytes: 19, .. }
    ));
    assert!(matches!(refused("last", DType::F32, 2, 20), Error::RowLength { row_len: 2, n_elements: 5, .. }));
    assert!(matches!(refused("last", DType::F32, 0, 20), Error::RowLength { row_len: 0, .. }));
    assert!(matches!(
        refused("last", DType::I32, 5, 20),
        Error::UnsupportedConversion { stored: StoredType::Ggml(DType::BF16), wanted: DType::I32, .. }
    ));
}

#[test]
fn progress_counts_every_stored_byte() {
    let model = three_tensors();
    let source = model.open();
    let mut seen: Vec<ReadProgress> = Vec::new();
    let (mut large, mut last) = (vec![0; 4 * LARGE as usize], vec![0; 20]);
    let mut requests = [
        ReadRequest { name: "large", wanted: DType::F32, row_len: 32, destination: &mut large },
        ReadRequest { name: "last", wanted: DType::F32, row_len: 5, destination: &mut last },
    ];
    let mut progress = |progress| seen.push(progress);
    let options = ReadOptions { n_threads: 2, progress: Some(&mut progress), ..ReadOptions::default() };
    read_tensors(&source, &mut requests, options).unwrap();
    let total_bytes = 2 * LARGE + 10;
    assert_eq!(seen.len(), 5, "four chunks of one tensor, one of the other");
    assert!(seen.is_sorted_by_key(|progress| progress.done_bytes));
    assert_eq!(seen.last(), Some(&ReadProgress { done_bytes: total_bytes, total_bytes }));
}

#[test]
fn a_cancelled_read_reads_nothing() {
    let model = three_tensors();
    let source = model.open();
    let cancel = AtomicBool::new(true);
    let mut large = vec![7; 4 * LARGE as usize];
    let request = ReadRequest { name: "large", wanted: DType::F32, row_len: 32, destination: &mut large };
    let options = ReadOptions { n_threads: 2, cancel: Some(&cancel), ..ReadOptions::default() };
    assert!(matches!(read_tensors(&source, &mut [request], options), Err(Error::Cancelled)));
    assert!(large.iter().all(|&byte| byte == 7));
}

#[test]
fn a_read_can_be_cancelled_from_its_progress() {
    let model = three_tensors();
    let source = model.open();
    let cancel = AtomicBool::new(false);
    let mut n_chunks = 0;
    let mut progress = |_| {
        n_chunks += 1;
        cancel.store(true, Ordering::Relaxed);
    };
    let mut large = vec![0; 4 * LARGE as usize];
    let request = ReadRequest { name: "large", wanted: DType::F32, row_len: 32, destination: &mut large };
    let options = ReadOptions { n_threads: 1, cancel: Some(&cancel), progress: Some(&mut progress) };
    // Threads wait for the callback when they are a chunk ahead, so the fourth chunk is never reached.
    assert!(matches!(read_tensors(&source, &mut [request], options), Err(Error::Cancelled)));
    assert!((1..4).contains(&n_chunks), "{n_chunks}");
}

#[test]
fn a_file_that_became_shorter_is_an_error() {
    let model = three_tensors();
    let source = model.open();
    let length = fs::metadata(&model.path).unwrap().len();
    let file = OpenOptions::new().write(true).open(&model.path).unwrap();
    file.set_len(length - 1).unwrap();
    match read(&source, "last", DType::F32, 1) {
        Err(Error::Truncated { part, expected_bytes, found_bytes, .. }) => {
            assert_eq!((part.as_str(), expected_bytes, found_bytes), ("last", length, length - 1));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(read(&source, "first", DType::F32, 1).unwrap(), f32_bytes(&values(6)), "what is there is read");
    file.set_len(length - 1000).unwrap();
    assert!(matches!(read(&source, "large", DType::F32, 3), Err(Error::Truncated { part, .. }) if part == "large"));
}

#[test]
fn renamed_tensors_are_read_under_their_new_names() {
    let model = three_tensors();
    let source = model.open().renamed(|name| Some(format!("model.{name}"))).unwrap();
    assert_eq!(read(&source, "model.last", DType::F32, 1).unwrap(), f32_bytes(&values(5)));
    assert!(source.catalogue().get("last").is_none());
}

#[test]
fn stored_bytes_are_mapped_only_where_they_are_the_wanted_ones() {
    let model = three_tensors();
    let source = ModelSource::open_with(&model.path, MapPolicy::FilesStayUnchanged).unwrap();
    let mapped = source.mappable("large", DType::F16, 1).unwrap();
    assert!(mapped.as_ref() == read(&source, "large", DType::F16, 1).unwrap());
    let info = source.catalogue().get("large").unwrap();
    assert_eq!((mapped.offset as u64, mapped.bytes as u64), (info.offset, info.bytes));
    let other = source.mappable("first", DType::F32, 1).unwrap();
    assert!(std::sync::Arc::ptr_eq(&mapped.mapping, &other.mapping), "a file is mapped once");

    assert!(source.mappable("large", DType::F32, 1).is_none(), "another type");
    assert!(source.mappable("absent", DType::F32, 1).is_none());
    let misaligned = 1 << (info.offset.trailing_zeros() + 1);
    assert!(source.mappable("large", DType::F16, misaligned).is_none(), "at an odd place");
    assert!(source.mappable("large", DType::F16, misaligned / 2).is_some());
    assert!(model.open().mappable("large", DType::F16, 1).is_none(), "nothing was promised");

    // The mapping outlives the source.
    drop(source);
    assert_eq!(other.as_ref(), f32_bytes(&values(6)));
}

#[test]
fn a_file_that_became_shorter_is_not_mapped() {
    let model = three_tensors();
    let source = ModelSource::open_with(&model.path, MapPolicy::FilesStayUnchanged).unwrap();
    let length = fs::metadata(&model.path).unwrap().len();
    OpenOptions::new().write(true).open(&model.path).unwrap().set_len(length - 1).unwrap();
    assert!(source.mappable("last", DType::BF16, 1).is_none());
}

const NCNN_PARAM: &str = "7767517\n\
    4 4\n\
    Input data 0 1 data\n\
    Convolution conv 1 1 data a 0=3 1=2 11=1 5=1 6=12\n\
    PReLU act 1 1 a b 0=3\n\
    Convolution out 1 1 b c 0=1 1=1 6=3\n";

/// Weights of `NCNN_PARAM`: 12 of 16 bits, bias, slopes, 3 of 16 bits and their padding.
fn ncnn_bin() -> Vec<u8> {
    let tag = 0x0130_6b47_u32.to_le_bytes();
    let half = |values: &[f32]| bytes_of(values, |value| f16::from_f32(value).to_le_bytes());
    [
        &tag[..],
        &half(&values(12)),
        &f32_bytes(&[1.0, 2.0, 3.0]),
        &f32_bytes(&[0.1, 0.2, 0.3]),
        &tag,
        &half(&[4.0, 5.0, 6.0]),
        &[0, 0],
    ]
    .concat()
}

#[test]
fn either_file_of_an_ncnn_pair_opens_both() {
    let folder = tempfile::tempdir().unwrap();
    let (param, bin) = (folder.path().join("net.param"), folder.path().join("net.bin"));
    fs::write(&param, NCNN_PARAM).unwrap();
    fs::write(&bin, ncnn_bin()).unwrap();
    for path in [&param, &bin] {
        let source = ModelSource::open(path).unwrap();
        assert_eq!((source.format(), source.path()), (Format::Ncnn, path.as_path()));
        assert_eq!(source.ncnn().unwrap().layers.len(), 4);
        let shape = |name: &str| source.catalogue().get(name).unwrap().shape.clone();
        assert_eq!(shape("conv.weight"), [3, 2, 1, 2], "outputs, inputs, height, width");
        assert_eq!(shape("conv.bias"), [3]);
        assert_eq!(shape("act.slope"), [3]);
        assert_eq!(shape("out.weight"), [1, 3, 1, 1]);
        assert_eq!(source.catalogue().len(), 4);
        assert_eq!(read(&source, "conv.weight", DType::F32, 1).unwrap(), f32_bytes(&values(12)));
        assert_eq!(read(&source, "conv.bias", DType::F32, 1).unwrap(), f32_bytes(&[1.0, 2.0, 3.0]));
        assert_eq!(read(&source, "act.slope", DType::F32, 1).unwrap(), f32_bytes(&[0.1, 0.2, 0.3]));
        assert_eq!(read(&source, "out.weight", DType::F32, 1).unwrap(), f32_bytes(&[4.0, 5.0, 6.0]));
    }
}

#[test]
fn a_missing_partner_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (param, bin) = (folder.path().join("net.param"), folder.path().join("net.bin"));
    fs::write(&param, NCNN_PARAM).unwrap();
    assert!(matches!(ModelSource::open(&param), Err(Error::MissingPartner { partner, .. }) if partner == bin));
    fs::remove_file(&param).unwrap();
    fs::write(&bin, ncnn_bin()).unwrap();
    assert!(matches!(ModelSource::open(&bin), Err(Error::MissingPartner { partner, .. }) if partner == param));
    fs::write(&param, "something else").unwrap();
    assert!(matches!(ModelSource::open(&bin), Err(Error::BadMagic { path, .. }) if path == param));
}
