//! What the tests of this crate share: model sources made on the spot.

use std::io::Write as _;

use crate::engine::loader::ModelSource;

/// A tensor's name and shape.
pub(crate) type Spec = (String, Vec<u64>);

/// A safetensors source with tensors of these shapes, all zero. Its file takes no room however large they are.
pub(crate) fn source(tensors: &[Spec]) -> ModelSource {
    let mut end = 0;
    let entries = tensors.iter().map(|(name, shape)| {
        let start = end;
        end += shape.iter().product::<u64>() * 2;
        (name.clone(), serde_json::json!({ "dtype": "F16", "shape": shape, "data_offsets": [start, end] }))
    });
    let header = serde_json::Value::Object(entries.collect()).to_string();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    file.as_file().set_len(8 + header.len() as u64 + end).unwrap();
    ModelSource::open(file.path()).unwrap()
}

/// The tensors of a 3×3 convolution with bias.
pub(crate) fn conv3x3(module: &str, input: u64, output: u64) -> [Spec; 2] {
    [(format!("{module}.weight"), vec![output, input, 3, 3]), (format!("{module}.bias"), vec![output])]
}
