//! Model files made on the spot.

use std::fmt::Write;

/// The bytes of a safetensors file of `(name, dtype, shape, data)`, in that order.
///
/// Nothing is checked, so that faulty files can be made too.
pub fn safetensors(tensors: &[(&str, &str, &[u64], &[u8])]) -> Vec<u8> {
    let mut header = String::from("{");
    let mut offset = 0;
    for (name, dtype, shape, data) in tensors {
        let separator = if offset == 0 && header.len() == 1 { "" } else { "," };
        let end = offset + data.len();
        // Writing to a string does not fail.
        let _ = write!(
            header,
            r#"{separator}{name:?}:{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{offset},{end}]}}"#
        );
        offset = end;
    }
    header.push('}');
    let data: Vec<u8> = tensors.iter().flat_map(|(.., data)| data.iter().copied()).collect();
    safetensors_with_header(header.as_bytes(), &data)
}

/// The bytes of a safetensors file with that text as its header.
pub fn safetensors_with_header(header: &[u8], data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header, data].concat()
}
