//! The parser of safetensors headers. The input is two bytes of data length, then the header.
#![no_main]

use std::path::Path;

use fresco_loader::FileId;
use fresco_loader::safetensors::parse_header;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((n_bytes, json)) = input.split_first_chunk() else { return };
    let file_bytes = 8 + json.len() as u64 + u64::from(u16::from_le_bytes(*n_bytes));
    let Ok(header) = parse_header(Path::new("fuzz"), json, file_bytes, FileId(0)) else { return };
    let mut ranges = Vec::new();
    for (_, info) in header.tensors.iter() {
        assert_eq!(info.dtype.tensor_bytes(&info.shape), Some(info.bytes));
        assert!(info.offset >= 8 + json.len() as u64);
        ranges.push(info.offset..info.offset + info.bytes);
    }
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    assert!(ranges.last().is_none_or(|range| range.end == file_bytes));
});
