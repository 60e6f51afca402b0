//! Arbitrary bytes, texts and headers: a parser may refuse them, but what it accepts must hold together.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use fresco::models::engine::loader;
use fresco_tests::{safetensors, safetensors_with_header};
use loader::ggml::DType;
use loader::{Catalogue, Error, FileId, ModelSource, ReadOptions, ReadRequest, ncnn, read_tensors};
use proptest::prelude::*;
use proptest::sample::select;

/// Whatever a catalogue says must be possible in a file of that length, each byte in one tensor at most.
fn check(tensors: &Catalogue, file_bytes: u64) -> Result<(), TestCaseError> {
    let mut ranges = Vec::new();
    for (name, info) in tensors.iter() {
        prop_assert_eq!(info.dtype.tensor_bytes(&info.shape), Some(info.bytes), "{}", name);
        let n_elements = info.shape.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim));
        prop_assert_eq!(n_elements, Some(info.n_elements()), "{}", name);
        let end = info.offset.checked_add(info.bytes);
        prop_assert!(end.is_some_and(|end| end <= file_bytes), "{name} ends beyond the file");
        ranges.push((info.offset, info.offset + info.bytes));
    }
    ranges.sort_unstable();
    prop_assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0), "tensors overlap");
    Ok(())
}

/// Opens `content`, alone or with `partner` beside it, and reads all that it has.
fn open_and_read(content: &[u8], partner: Option<&[u8]>) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.param");
    fs::write(&path, content).unwrap();
    if let Some(partner) = partner {
        fs::write(folder.path().join("model.bin"), partner).unwrap();
    }
    let Ok(source) = ModelSource::open(&path) else { return Ok(()) };
    check(source.catalogue(), partner.unwrap_or(content).len() as u64)?;
    for (name, info) in source.catalogue().iter() {
        let n_elements = info.n_elements();
        let mut destination = vec![0; 4 * n_elements as usize];
        let request =
            ReadRequest { name, wanted: DType::F32, row_len: n_elements.max(1), destination: &mut destination };
        let options = ReadOptions { n_threads: 1, ..ReadOptions::default() };
        prop_assert!(read_tensors(&source, &mut [request], options).is_ok(), "{name} is there, but cannot be read");
    }
    Ok(())
}

/// Numbers around the borders of the integer types, and small ones.
fn number() -> impl Strategy<Value = String> {
    let borders = [7, 8, 15, 16, 31, 32, 53, 62, 63, 64].map(|bits| 1u128 << bits);
    prop_oneof![
        4 => (0u64..20).prop_map(|number| number.to_string()),
        1 => (select(borders.to_vec()), -2i128..3).prop_map(|(border, step)| (border as i128 + step).to_string()),
        1 => select(vec!["-1", "1.5", "1e3", "null", "\"1\"", "[]", "true"]).prop_map(str::to_owned),
    ]
}

fn list(of: impl Strategy<Value = String>, n: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(of, n).prop_map(|items| format!("[{}]", items.join(",")))
}

/// Headers that are JSON and nearly right.
fn header() -> impl Strategy<Value = String> {
    let dtype = select(vec!["F32", "F16", "BF16", "F64", "I64", "U8", "BOOL", "F8_E4M3", "F4", "f32", ""]);
    let entry = (dtype, list(number(), 0..5), list(number(), 1..4)).prop_map(|(dtype, shape, offsets)| {
        format!(r#"{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}"#)
    });
    let value = prop_oneof![9 => entry, 1 => number()];
    let name = prop_oneof![8 => "[a-c]", 1 => Just("__metadata__".to_owned()), 1 => ".*"];
    prop::collection::vec((name, value), 0..5).prop_map(|entries| {
        let entries: Vec<String> = entries.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
        format!("{{{}}}", entries.join(","))
    })
}

/// Texts made of the words of `.param` files.
fn param_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => select(vec!["Input", "Convolution", "PReLU", "Split", "Concat", "LSTM", "a", "b", "c", "0=8", "1=3", "6=216"])
            .prop_map(str::to_owned),
        3 => (0u32..4).prop_map(|number| number.to_string()),
        2 => (select(vec![0, 1, 5, 6, 8, 11, 19, -23310, 99]), number()).prop_map(|(id, value)| format!("{id}={value}")),
        1 => number(),
    ];
    let line = prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "));
    prop::collection::vec(line, 0..6).prop_map(|lines| {
        let n_layers = lines.iter().filter(|line| !line.is_empty()).count();
        format!("7767517\n{n_layers} {n_layers}\n{}", lines.join("\n"))
    })
}

const PARAM: &str = "7767517\n4 4\nInput data 0 1 data\nConvolution conv 1 1 data a 0=3 1=2 11=1 5=1 6=12\n\
    PReLU act 1 1 a b 0=3\nConvolution out 1 1 b c 0=1 1=1 6=3 9=2 -23310=1,2.0e-01\n";

/// Weights of `PARAM`.
fn bin() -> Vec<u8> {
    let f16_tag = 0x0130_6b47_u32.to_le_bytes();
    [&f16_tag[..], &[1; 24], &[2; 12], &[3; 12], &[0; 4], &[4; 12]].concat()
}

fn three_tensors() -> Vec<u8> {
    safetensors(&[("a", "F32", &[2], &[1; 8]), ("b", "F8_E5M2", &[3, 1], &[2; 3]), ("c", "I64", &[], &[3; 8])])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_open_or_not(content in prop::collection::vec(any::<u8>(), 0..300)) {
        open_and_read(&content, None)?;
    }

    #[test]
    fn any_json_header_holds_together_or_is_refused(header in header(), n_bytes in 0u64..400) {
        let file_bytes = 8 + header.len() as u64 + n_bytes;
        let parsed =
            loader::safetensors::parse_header(Path::new("x"), header.as_bytes(), file_bytes, FileId(0));
        if let Ok(parsed) = parsed {
            check(&parsed.tensors, file_bytes)?;
        }
    }

    #[test]
    fn any_text_after_a_length_opens_or_not(header in ".*", data in prop::collection::vec(any::<u8>(), 0..40)) {
        open_and_read(&safetensors_with_header(header.as_bytes(), &data), None)?;
    }

    #[test]
    fn any_words_in_a_param_file_are_read_or_refused(text in param_text(), bin in prop::collection::vec(any::<u8>(), 0..100)) {
        if let Ok(net) = ncnn::parse_param(Path::new("x"), text.as_bytes()) {
            prop_assert!(!net.layers.is_empty());
        }
        open_and_read(text.as_bytes(), Some(&bin))?;
    }

    #[test]
    fn a_model_with_changed_bytes_opens_or_not(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let change = |mut content: Vec<u8>| {
            for (index, byte) in &changes {
                let index = index.index(content.len());
                content[index] = *byte;
            }
            content
        };
        open_and_read(&change(three_tensors()), None)?;
        open_and_read(&change(PARAM.as_bytes().to_vec()), Some(&bin()))?;
        open_and_read(PARAM.as_bytes(), Some(&change(bin())))?;
    }
}

#[test]
fn a_model_cut_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (param, bin_path) = (folder.path().join("model.param"), folder.path().join("model.bin"));
    let refused = |content: &[u8], partner: &[u8]| {
        fs::write(&param, content).unwrap();
        fs::write(&bin_path, partner).unwrap();
        ModelSource::open(&param).is_err()
    };
    let model = three_tensors();
    assert!(!refused(&model, &[]));
    for length in 0..model.len() {
        assert!(refused(&model[..length], &[]), "safetensors cut to {length} bytes");
    }
    assert!(!refused(PARAM.as_bytes(), &bin()));
    for length in 0..bin().len() {
        assert!(refused(PARAM.as_bytes(), &bin()[..length]), ".bin cut to {length} bytes");
    }
    // A text may lose its last parameters unnoticed, but not a layer.
    for length in 0..PARAM.find(" 9=2").unwrap() {
        assert!(refused(&PARAM.as_bytes()[..length], &bin()), ".param cut to {length} bytes");
    }
}

#[test]
fn what_is_no_regular_file_is_refused_without_being_read() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(ModelSource::open(folder.path()), Err(Error::NotAFile { found: "a folder", .. })));
    let absent = folder.path().join("absent");
    assert!(matches!(ModelSource::open(absent), Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound));
    #[cfg(unix)]
    {
        assert!(matches!(ModelSource::open("/dev/zero"), Err(Error::NotAFile { .. })));
        // Opening a pipe would wait for a writer.
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(matches!(ModelSource::open(&pipe), Err(Error::NotAFile { .. })));
    }
}

#[test]
fn an_endless_param_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.param");
    fs::write(folder.path().join("model.bin"), bin()).unwrap();
    fs::write(&path, PARAM).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(ncnn::MAX_PARAM_BYTES + 1).unwrap();
    assert!(matches!(ModelSource::open(&path), Err(Error::HeaderTooLarge { .. })));
}
