//! The parser of ncnn's `.param` text.
#![no_main]

use std::collections::HashSet;
use std::path::Path;

use fresco_loader::ncnn::parse_param;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(net) = parse_param(Path::new("fuzz"), text) else { return };
    let mut blobs = HashSet::new();
    for layer in &net.layers {
        assert!(layer.inputs.iter().all(|input| blobs.contains(input)));
        blobs.extend(layer.outputs.iter().cloned());
    }
});
