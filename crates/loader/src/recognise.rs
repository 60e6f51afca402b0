//! Tells from the first bytes of a file what it is. The name is never asked: checkpoints travel under any extension.

use std::path::Path;

use crate::{Error, safetensors};

/// How many bytes are looked at. A sharded index names `weight_map` after its metadata, well within these.
pub(crate) const START_BYTES: u64 = 4096;

/// What the beginning of a file shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recognised {
    /// Certainly meant to be safetensors: a JSON object follows the eight bytes of length.
    Safetensors,
    /// Perhaps a damaged safetensors file: the first eight bytes are a possible length, and nothing else fits.
    PerhapsSafetensors,
    /// The text half of an ncnn model.
    NcnnParam,
    /// Certainly something else.
    Refused(Refused),
    /// Nothing that has a mark; weights of ncnn look like that.
    Unknown,
}

/// Content that is known and no model that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A format that is not read here.
    Format(&'static str),
    /// A git-lfs pointer, and the size it names.
    LfsPointer(Option<u64>),
    HtmlPage,
    /// A folder that is no model.
    Folder,
}

impl Refused {
    pub(crate) fn into_error(self, path: &Path) -> Error {
        let path = path.to_owned();
        match self {
            Self::Format(format) => Error::UnsupportedFormat { path, format },
            Self::LfsPointer(bytes) => Error::LfsPointer { path, bytes },
            Self::HtmlPage => Error::HtmlPage { path },
            Self::Folder => Error::NotAFile { path, found: "a folder" },
        }
    }
}

/// Recognises the format of a file of `file_bytes` bytes that begins with `start`.
pub(crate) fn recognise(start: &[u8], file_bytes: u64) -> Recognised {
    // Before the magic numbers: a length of 640 bytes, for one, begins with the bytes of a pickle.
    let length = start.first_chunk::<8>().map(|length| u64::from_le_bytes(*length));
    let is_length =
        length.is_some_and(|length| (1..=safetensors::MAX_HEADER_BYTES.min(file_bytes - 8)).contains(&length));
    if is_length && trim_start(&start[8..]).first() == Some(&b'{') {
        return Recognised::Safetensors;
    }
    if let Some(format) = unsupported_format(start) {
        return Recognised::Refused(Refused::Format(format));
    }
    if start.starts_with(b"version https://git-lfs.github.com/spec/") {
        return Recognised::Refused(Refused::LfsPointer(lfs_size(start)));
    }
    let text = trim_start(start);
    if text.first() == Some(&b'<') && is_html(text) {
        return Recognised::Refused(Refused::HtmlPage);
    }
    if text.first() == Some(&b'{') && find(text, b"\"weight_map\"") {
        return Recognised::Refused(Refused::Format("sharded safetensors index (.safetensors.index.json)"));
    }
    if first_token(text) == crate::ncnn::MAGIC.to_string().as_bytes() {
        return Recognised::NcnnParam;
    }
    if let Some((length, json)) = start.split_first_chunk::<8>() {
        if trim_start(json).first() == Some(&b'{') && !is_text(length) {
            return Recognised::Safetensors;
        }
        if is_length {
            return Recognised::PerhapsSafetensors;
        }
    }
    Recognised::Unknown
}

/// Recognises a folder by what is in it.
pub(crate) fn recognise_folder(path: &Path) -> Refused {
    const DIFFUSERS: &[&str] = &["model_index.json", "unet", "transformer", "vae", "text_encoder"];
    if DIFFUSERS.iter().any(|entry| path.join(entry).exists()) {
        Refused::Format("diffusers folder")
    } else {
        Refused::Folder
    }
}

/// The first bytes as a message shows them.
pub(crate) fn show_start(start: &[u8]) -> String {
    format!("\"{}\"", start[..start.len().min(16)].escape_ascii())
}

/// The first run of bytes without whitespace.
pub(crate) fn first_token(text: &[u8]) -> &[u8] {
    text.split(u8::is_ascii_whitespace).next().unwrap_or_default()
}

/// Formats that have a magic number.
fn unsupported_format(start: &[u8]) -> Option<&'static str> {
    // ggml's older files are little-endian words, so that their letters stand backwards.
    const MAGICS: &[(&[u8], &str)] = &[
        (b"GGUF", "GGUF file"),
        (b"lmgg", "ggml file from before GGUF"),
        (b"fmgg", "ggml file from before GGUF"),
        (b"tjgg", "ggml file from before GGUF"),
        (b"PK\x03\x04", "PyTorch checkpoint or other zip archive"),
        (b"PK\x05\x06", "zip archive without entries"),
        (b"\x80\x02", "legacy PyTorch checkpoint or other Python pickle"),
        (b"\x80\x03", "Python pickle"),
        (b"\x80\x04", "Python pickle"),
        (b"\x80\x05", "Python pickle"),
        (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
        (b"Rar!\x1a\x07", "RAR archive"),
        (b"\x1f\x8b", "gzip archive"),
        (b"\x93NUMPY", "NumPy array"),
        (b"\x89PNG\r\n\x1a\n", "PNG image"),
        (b"\xff\xd8\xff", "JPEG image"),
        (&crate::ncnn::MAGIC.to_le_bytes(), "binary ncnn .param file"),
    ];
    MAGICS.iter().find(|(magic, _)| start.starts_with(magic)).map(|&(_, format)| format)
}

/// The number after `size ` in a git-lfs pointer.
fn lfs_size(pointer: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(pointer).ok()?;
    text.lines().find_map(|line| line.strip_prefix("size ")).and_then(|size| size.trim().parse().ok())
}

fn is_html(text: &[u8]) -> bool {
    const OPENINGS: &[&[u8]] = &[b"<!doctype html", b"<html", b"<head", b"<body", b"<!--", b"<title"];
    OPENINGS.iter().any(|tag| text.len() >= tag.len() && text[..tag.len()].eq_ignore_ascii_case(tag))
}

/// Without a byte order mark and leading whitespace.
fn trim_start(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start()
}

/// Whether all bytes are printable: no length of a real header is.
fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

fn find(text: &[u8], needle: &[u8]) -> bool {
    text.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(bytes: &[u8]) -> Recognised {
        recognise(bytes, 1 << 20)
    }

    #[test]
    fn pages_and_pointers_are_named() {
        for page in ["<!DOCTYPE html><html>", "\u{feff}<HTML><HEAD>", "\n\n  <html lang=en>", "<head><title>x"] {
            assert_eq!(start(page.as_bytes()), Recognised::Refused(Refused::HtmlPage), "{page}");
        }
        let pointer = "version https://git-lfs.github.com/spec/v1\r\noid sha256:00\r\nsize 4265146304\r\n";
        assert_eq!(start(pointer.as_bytes()), Recognised::Refused(Refused::LfsPointer(Some(4_265_146_304))));
        let cut = &pointer[..50];
        assert_eq!(start(cut.as_bytes()), Recognised::Refused(Refused::LfsPointer(None)));
    }

    #[test]
    fn other_formats_are_named() {
        for (bytes, name) in [
            (&b"GGUF\x03\0\0\0"[..], "GGUF"),
            (b"PK\x03\x04\0\0\0\0", "zip"),
            (b"\x80\x02\x8a\x0al", "pickle"),
            (b"{\"metadata\": {}, \"weight_map\": {}}", "index"),
            (b"\xdd\x85\x76\x00\x03\0\0\0", "binary ncnn"),
        ] {
            match start(bytes) {
                Recognised::Refused(Refused::Format(format)) => assert!(format.contains(name), "{format}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn an_object_after_the_length_makes_it_safetensors() {
        assert_eq!(start(b"\x08\0\0\0\0\0\0\0{}      "), Recognised::Safetensors);
        assert_eq!(start(b"\0\0\0\0\0\0\0\x08{}      "), Recognised::Safetensors, "whatever the length says");
        assert_eq!(start(b"\x08\0\0\0\0\0\0\0[]      "), Recognised::PerhapsSafetensors);
        assert_eq!(recognise(b"\x08\0\0\0\0\0\0\0[]", 10), Recognised::Unknown, "a length beyond the file");
        assert_eq!(start(b"{\"error\"{: \"not found\"}"), Recognised::Unknown, "text is no length");
    }

    #[test]
    fn a_length_may_look_like_a_magic_number() {
        for length in [640u64, 896, 1152, 1408, 0x8b1f, 7_767_517] {
            let header = [&length.to_le_bytes()[..], b"{\"a\""].concat();
            assert_eq!(recognise(&header, 16 << 20), Recognised::Safetensors, "{length}");
        }
    }

    #[test]
    fn ncnn_text_begins_with_its_number() {
        assert_eq!(start(b"7767517\r\n1 1\r\n"), Recognised::NcnnParam);
        assert_eq!(start(b"77675170\n1 1\n"), Recognised::Unknown);
        assert_eq!(start(b""), Recognised::Unknown);
    }
}
