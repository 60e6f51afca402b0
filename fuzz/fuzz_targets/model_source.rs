//! Opening and reading whole files. The input is the length of the first file in two bytes, that file, and what is left
//! as the `.bin` file beside it.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use fresco_loader::ggml::DType;
use fresco_loader::{ModelSource, ReadOptions, ReadRequest, read_tensors};
use libfuzzer_sys::fuzz_target;

/// The files of this process.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("fresco-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    folder
});

fuzz_target!(|input: &[u8]| {
    let Some((length, files)) = input.split_first_chunk() else { return };
    let (model, bin) = files.split_at(files.len().min(u16::from_le_bytes(*length).into()));
    let path = FOLDER.join("model.param");
    fs::write(&path, model).expect("a file");
    fs::write(FOLDER.join("model.bin"), bin).expect("a file");
    let Ok(source) = ModelSource::open(&path) else { return };
    for (name, info) in source.catalogue().iter() {
        let n_elements = info.n_elements();
        let mut destination = vec![0; 4 * n_elements as usize];
        let request =
            ReadRequest { name, wanted: DType::F32, row_len: n_elements.max(1), destination: &mut destination };
        let options = ReadOptions { n_threads: 1, ..ReadOptions::default() };
        read_tensors(&source, &mut [request], options).expect("all data is there");
    }
});
