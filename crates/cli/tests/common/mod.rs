//! Running the command in a folder of its own, with a net that repeats pixels, so that results are known exactly.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test file uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use image::RgbImage;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A temporary folder in which the command runs.
pub(crate) struct Folder(TempDir);

/// How a run ended.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    /// A folder with the model `x2.safetensors`, which repeats each pixel twice.
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path("x2.safetensors"), repeating_net(2)).unwrap();
        folder
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command, ready to run here.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fresco"));
        command.current_dir(self.0.path()).args(arguments.split_whitespace());
        command.env_remove("RUST_LOG").stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.command(arguments).output().unwrap().into()
    }

    /// Writes a picture of `width` × `height` different colours, and returns it.
    pub(crate) fn picture(&self, name: &str, width: u32, height: u32) -> RgbImage {
        let picture = RgbImage::from_fn(width, height, |x, y| image::Rgb([(x * 9) as u8, (y * 7) as u8, 40]));
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        picture.save(path).unwrap();
        picture
    }

    pub(crate) fn read(&self, name: &str) -> image::DynamicImage {
        image::open(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names in a folder, in order.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Run {
    /// Checks the exit code, and that standard error says all of `said`.
    #[track_caller]
    pub(crate) fn expect(self, code: i32, said: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        for part in said {
            assert!(self.stderr.contains(part), "'{part}' is not in: {}", self.stderr);
        }
        self
    }

    /// Standard output as one JSON value a line.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// `picture` with each pixel repeated `scale` times.
pub(crate) fn repeated(picture: &RgbImage, scale: u32) -> RgbImage {
    RgbImage::from_fn(picture.width() * scale, picture.height() * scale, |x, y| {
        *picture.get_pixel(x / scale, y / scale)
    })
}

/// The model file of a compact net with all weights zero.
pub(crate) fn repeating_net(scale: u64) -> Vec<u8> {
    let (mut header, mut n_bytes) = (Map::new(), 0);
    let mut add = |name: &str, shape: &[u64]| {
        let end = n_bytes + 4 * shape.iter().product::<u64>();
        header.insert(name.into(), json!({ "dtype": "F32", "shape": shape, "data_offsets": [n_bytes, end] }));
        n_bytes = end;
    };
    add("body.0.weight", &[32, 3, 3, 3]);
    add("body.0.bias", &[32]);
    add("body.1.weight", &[32]);
    add("body.2.weight", &[3 * scale * scale, 32, 3, 3]);
    add("body.2.bias", &[3 * scale * scale]);
    header.insert("__metadata__".into(), json!({ "author": "nobody" }));
    let header = Value::Object(header).to_string().into_bytes();
    [&(header.len() as u64).to_le_bytes()[..], &header, &vec![0; n_bytes as usize]].concat()
}
