//! The safetensors format: 8 bytes of header length (little-endian), a JSON header, the data.
//!
//! The header maps each tensor's name to `{"dtype", "shape", "data_offsets": [begin, end]}`, counted from the end of
//! the header; `__metadata__` maps strings to strings. The data must be used up exactly, without holes or overlaps, so
//! that a file has one reading. Where files in the wild are looser than the format and the meaning is not in doubt,
//! they are read: JSON whitespace around the header, unknown fields in an entry, metadata values that are no strings.
//!
//! Format: <https://github.com/huggingface/safetensors#format>.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::catalogue::{Catalogue, FileId, TensorInfo};
use crate::file::SourceFile;
use crate::ggml::DType;
use crate::{Error, StoredType};

/// Longest header accepted: the reference implementation's own limit, a hundred times what the largest models have.
pub const MAX_HEADER_BYTES: u64 = 100_000_000;
/// Most tensors accepted in one file: the largest models have less than half as many, and each entry costs memory
/// beyond its text.
pub const MAX_TENSORS: usize = 1 << 18;
/// Most dimensions accepted: PyTorch models use up to 5 (a 3-D convolution's weight), ggml folds what is beyond 4.
pub const MAX_RANK: usize = 8;

/// Bytes of the header's length, which stands before it.
const LENGTH_BYTES: u64 = 8;

/// What a header says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The tensors, with offsets counted from the start of the file.
    pub tensors: Catalogue,
    /// The strings of `__metadata__`.
    pub metadata: BTreeMap<String, String>,
}

/// Reads and checks the header of a file that was recognised as safetensors.
pub(crate) fn read_header(file: &SourceFile, id: FileId) -> Result<Header, Error> {
    let truncated = |expected_bytes| Error::Truncated {
        path: file.path().to_owned(),
        part: "the header".to_owned(),
        expected_bytes,
        found_bytes: file.bytes(),
    };
    if file.bytes() < LENGTH_BYTES {
        return Err(truncated(LENGTH_BYTES));
    }
    let mut length = [0; LENGTH_BYTES as usize];
    file.read_exact_at(&mut length, 0, "the header length")?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER_BYTES {
        return Err(Error::HeaderTooLarge {
            path: file.path().to_owned(),
            bytes: length,
            limit_bytes: MAX_HEADER_BYTES,
        });
    }
    if length > file.bytes() - LENGTH_BYTES {
        return Err(truncated(LENGTH_BYTES + length));
    }
    // Bounded by the file and by the limit, so it fits the address space.
    let mut json = vec![0; length as usize];
    file.read_exact_at(&mut json, LENGTH_BYTES, "the header")?;
    parse_header(file.path(), &json, file.bytes(), id)
}

/// Parses the JSON of a header and checks it against the length of the whole file.
///
/// # Errors
/// [`Error::InvalidHeader`], [`Error::DuplicateName`], [`Error::UnknownType`] and so on name what breaks the format;
/// [`Error::Truncated`] means that a header in order describes more data than the file has.
pub fn parse_header(path: &Path, json: &[u8], file_bytes: u64, file: FileId) -> Result<Header, Error> {
    let data_offset = LENGTH_BYTES + json.len() as u64;
    let mut parser = Parser { path, file, data_offset, header: Header::default(), entry: None, fault: None };
    let parsed = match json.last() {
        // What a C program makes of a fixed buffer. The parser's own message would not name the cause.
        Some(0) => Err(de::Error::custom("it is padded with NUL bytes, where the format has spaces")),
        _ => parser.parse(json),
    };
    if let Err(source) = parsed {
        return Err(match parser.fault {
            Some(fault) => fault,
            None => Error::InvalidHeader { path: path.to_owned(), tensor: parser.entry, source },
        });
    }
    check_layout(path, &parser.header.tensors, data_offset, file_bytes)?;
    Ok(parser.header)
}

/// Checks that the tensors use up the data, each byte once.
fn check_layout(path: &Path, tensors: &Catalogue, data_offset: u64, file_bytes: u64) -> Result<(), Error> {
    let mut in_order: Vec<(&str, &TensorInfo)> = tensors.iter().collect();
    in_order.sort_by_key(|(_, info)| (info.offset, info.bytes));
    let mut end = data_offset;
    let mut previous = "";
    for (name, info) in in_order {
        if info.offset < end {
            return Err(Error::OffsetOverlap {
                path: path.to_owned(),
                first: previous.to_owned(),
                second: name.to_owned(),
            });
        }
        if info.offset > end {
            return Err(Error::UnusedBytes { path: path.to_owned(), offset: end, bytes: info.offset - end });
        }
        // The sum was checked when the entry was read.
        end = info.offset + info.bytes;
        previous = name;
    }
    if end > file_bytes {
        return Err(Error::Truncated {
            path: path.to_owned(),
            part: "the tensor data".to_owned(),
            expected_bytes: end,
            found_bytes: file_bytes,
        });
    }
    if end < file_bytes {
        return Err(Error::UnusedBytes { path: path.to_owned(), offset: end, bytes: file_bytes - end });
    }
    Ok(())
}

/// The type of that name in the format. The types below 8 bits and the complex one have no use in models that run.
fn stored_type(name: &str) -> Option<StoredType> {
    Some(match name {
        "F64" => DType::F64.into(),
        "F32" => DType::F32.into(),
        "F16" => DType::F16.into(),
        "BF16" => DType::BF16.into(),
        "I64" => DType::I64.into(),
        "I32" => DType::I32.into(),
        "I16" => DType::I16.into(),
        "I8" => DType::I8.into(),
        "U64" => StoredType::U64,
        "U32" => StoredType::U32,
        "U16" => StoredType::U16,
        "U8" => StoredType::U8,
        "BOOL" => StoredType::Bool,
        "F8_E4M3" => StoredType::F8E4M3,
        "F8_E5M2" => StoredType::F8E5M2,
        "F8_E4M3FNUZ" => StoredType::F8E4M3Fnuz,
        "F8_E5M2FNUZ" => StoredType::F8E5M2Fnuz,
        "F8_E8M0" => StoredType::F8E8M0,
        _ => return None,
    })
}

/// The header's visitor. Errors that JSON has no words for go to `fault`, beside a placeholder for serde.
struct Parser<'a> {
    path: &'a Path,
    file: FileId,
    data_offset: u64,
    header: Header,
    /// The entry being read, for messages.
    entry: Option<String>,
    fault: Option<Error>,
}

impl Parser<'_> {
    fn parse(&mut self, json: &[u8]) -> Result<(), serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        deserializer.deserialize_map(&mut *self)?;
        self.entry = None;
        deserializer.end()
    }

    fn fail<E: de::Error>(&mut self, fault: Error) -> E {
        self.fault = Some(fault);
        E::custom("see the fault")
    }

    fn tensor_info(&self, tensor: &str, entry: Entry) -> Result<TensorInfo, Error> {
        let path = || self.path.to_owned();
        let tensor = || tensor.to_owned();
        let dtype = stored_type(&entry.dtype).ok_or_else(|| Error::UnknownType {
            path: path(),
            tensor: tensor(),
            dtype: entry.dtype,
        })?;
        let Some(shape) = entry.shape.0 else {
            return Err(Error::UnsupportedRank { path: path(), tensor: tensor(), limit: MAX_RANK });
        };
        let [begin, end] = entry.data_offsets;
        let Some(found_bytes) = end.checked_sub(begin) else {
            return Err(Error::OffsetOutOfRange { path: path(), tensor: tensor(), begin, end });
        };
        let Some(bytes) = dtype.tensor_bytes(&shape) else {
            return Err(Error::ShapeOverflow { path: path(), tensor: tensor(), shape });
        };
        if bytes != found_bytes {
            return Err(Error::SizeMismatch { path: path(), tensor: tensor(), expected_bytes: bytes, found_bytes });
        }
        if self.data_offset.checked_add(end).is_none() {
            return Err(Error::OffsetOutOfRange { path: path(), tensor: tensor(), begin, end });
        }
        Ok(TensorInfo { dtype, shape, file: self.file, offset: self.data_offset + begin, bytes })
    }
}

impl<'de> Visitor<'de> for &mut Parser<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of tensor names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut has_metadata = false;
        while let Some(name) = map.next_key::<String>()? {
            if name == "__metadata__" {
                if std::mem::replace(&mut has_metadata, true) {
                    return Err(self.fail(Error::DuplicateName { path: self.path.to_owned(), name }));
                }
                if let Loose::Strings(metadata) = map.next_value()? {
                    self.header.metadata = metadata;
                }
                continue;
            }
            if self.header.tensors.len() == MAX_TENSORS {
                return Err(self.fail(Error::LimitExceeded {
                    path: self.path.to_owned(),
                    what: "tensors",
                    found: MAX_TENSORS as u64 + 1,
                    limit: MAX_TENSORS as u64,
                }));
            }
            let name = self.entry.insert(name).clone();
            let entry = map.next_value::<Entry>()?;
            let info = self.tensor_info(&name, entry).map_err(|fault| self.fail(fault))?;
            if !self.header.tensors.insert(name.clone(), info) {
                return Err(self.fail(Error::DuplicateName { path: self.path.to_owned(), name }));
            }
        }
        Ok(())
    }
}

/// The value of one tensor's name.
struct Entry {
    dtype: String,
    shape: Dims,
    data_offsets: [u64; 2],
}

// Written out rather than derived: a derived one would also take a list of the three values.
impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;

        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with dtype, shape and data_offsets")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
                let (mut dtype, mut shape, mut data_offsets) = (None, None, None);
                while let Some(field) = map.next_key::<String>()? {
                    let is_repeated = match field.as_str() {
                        "dtype" => dtype.replace(map.next_value()?).is_some(),
                        "shape" => shape.replace(map.next_value()?).is_some(),
                        "data_offsets" => data_offsets.replace(map.next_value()?).is_some(),
                        _ => {
                            map.next_value::<Loose>()?;
                            false
                        }
                    };
                    if is_repeated {
                        return Err(de::Error::custom(format_args!("duplicate field {field:?}")));
                    }
                }
                Ok(Entry {
                    dtype: dtype.ok_or_else(|| de::Error::missing_field("dtype"))?,
                    shape: shape.ok_or_else(|| de::Error::missing_field("shape"))?,
                    data_offsets: data_offsets.ok_or_else(|| de::Error::missing_field("data_offsets"))?,
                })
            }
        }

        deserializer.deserialize_map(EntryVisitor)
    }
}

/// A shape; `None` when it has more than [`MAX_RANK`] dimensions, which are read but not kept.
struct Dims(Option<Vec<u64>>);

impl<'de> Deserialize<'de> for Dims {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DimsVisitor;

        impl<'de> Visitor<'de> for DimsVisitor {
            type Value = Dims;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of dimensions")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Dims, A::Error> {
                let mut dims = Vec::new();
                while let Some(dim) = seq.next_element()? {
                    // One beyond the limit is kept, as a mark.
                    if dims.len() <= MAX_RANK {
                        dims.push(dim);
                    }
                }
                Ok(Dims((dims.len() <= MAX_RANK).then_some(dims)))
            }
        }

        deserializer.deserialize_seq(DimsVisitor)
    }
}

/// Any JSON: for `__metadata__`, of which the strings are kept, and for unknown fields, of which nothing is.
///
/// Unlike serde's `IgnoredAny` it keeps to the parser's limit of nesting.
enum Loose {
    String(String),
    Strings(BTreeMap<String, String>),
    Other,
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LooseVisitor;

        impl<'de> Visitor<'de> for LooseVisitor {
            type Value = Loose;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_str<E>(self, string: &str) -> Result<Loose, E> {
                Ok(Loose::String(string.to_owned()))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Loose, E> {
                Ok(Loose::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Loose, E> {
                Ok(Loose::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Loose, E> {
                Ok(Loose::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Loose, E> {
                Ok(Loose::Other)
            }

            fn visit_unit<E>(self) -> Result<Loose, E> {
                Ok(Loose::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Loose, A::Error> {
                while seq.next_element::<Loose>()?.is_some() {}
                Ok(Loose::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
                let mut strings = BTreeMap::new();
                while let Some((key, value)) = map.next_entry()? {
                    if let Loose::String(value) = value {
                        strings.insert(key, value);
                    }
                }
                Ok(Loose::Strings(strings))
            }
        }

        deserializer.deserialize_any(LooseVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str, data_bytes: u64) -> Result<Header, Error> {
        let file_bytes = LENGTH_BYTES + json.len() as u64 + data_bytes;
        parse_header(Path::new("x.safetensors"), json.as_bytes(), file_bytes, FileId(0))
    }

    const TWO: &str = r#"{"b":{"dtype":"F16","shape":[2],"data_offsets":[8,12]},
                          "a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;

    #[test]
    fn entries_become_tensors_with_offsets_in_the_file() {
        let header = parse(TWO, 12).unwrap();
        let data_offset = 8 + TWO.len() as u64;
        let a = header.tensors.get("a").unwrap();
        assert_eq!((a.dtype, a.shape.as_slice(), a.offset, a.bytes), (DType::F32.into(), &[1, 2][..], data_offset, 8));
        let b = header.tensors.get("b").unwrap();
        assert_eq!((b.dtype, b.shape.as_slice(), b.offset, b.bytes), (DType::F16.into(), &[2][..], data_offset + 8, 4));
    }

    #[test]
    fn the_data_is_used_up_exactly() {
        assert!(matches!(
            parse(TWO, 11),
            Err(Error::Truncated { expected_bytes, found_bytes, .. }) if expected_bytes == found_bytes + 1
        ));
        assert!(matches!(parse(TWO, 13), Err(Error::UnusedBytes { bytes: 1, .. })));
        let hole = TWO.replace("[8,12]", "[9,13]");
        assert!(matches!(parse(&hole, 13), Err(Error::UnusedBytes { bytes: 1, .. })));
        let overlap = TWO.replace("[8,12]", "[4,8]");
        match parse(&overlap, 8) {
            Err(Error::OffsetOverlap { first, second, .. }) => assert_eq!((&*first, &*second), ("a", "b")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_names_the_entry_it_is_about() {
        for (from, to) in [("\"F16\"", "16"), ("[2]", "[-2]"), ("[2]", "2"), ("[8,12]", "[8]"), ("\"shape\"", "\"s\"")]
        {
            match parse(&TWO.replacen(from, to, 1), 12) {
                Err(Error::InvalidHeader { tensor, .. }) => assert_eq!(tensor.as_deref(), Some("b"), "{to}"),
                other => panic!("{to}: {other:?}"),
            }
        }
        match parse(&format!("{TWO},"), 12) {
            Err(Error::InvalidHeader { tensor, .. }) => assert_eq!(tensor, None, "after all entries"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn fields_come_once_in_any_order_and_unknown_ones_are_passed_over() {
        let other = r#"{"a":{"x":[{}],"data_offsets":[0,2],"shape":[],"dtype":"BF16"}}"#;
        let header = parse(other, 2).unwrap();
        assert_eq!(header.tensors.get("a").unwrap().n_elements(), 1);
        let twice = other.replace("\"x\":[{}]", "\"shape\":[]");
        assert!(parse(&twice, 2).unwrap_err().to_string().contains("duplicate field \"shape\""));
    }

    #[test]
    fn every_type_of_the_format_has_its_size() {
        for (name, bits) in [
            ("F64", 64),
            ("F32", 32),
            ("F16", 16),
            ("BF16", 16),
            ("I64", 64),
            ("I32", 32),
            ("I16", 16),
            ("I8", 8),
            ("U64", 64),
            ("U32", 32),
            ("U16", 16),
            ("U8", 8),
            ("BOOL", 8),
            ("F8_E4M3", 8),
            ("F8_E5M2", 8),
            ("F8_E4M3FNUZ", 8),
            ("F8_E5M2FNUZ", 8),
            ("F8_E8M0", 8),
        ] {
            let bytes = 3 * bits / 8;
            let json = format!(r#"{{"a":{{"dtype":"{name}","shape":[3],"data_offsets":[0,{bytes}]}}}}"#);
            assert_eq!(parse(&json, bytes).unwrap().tensors.total_bytes(), bytes, "{name}");
        }
        for name in ["F4", "F6_E2M3", "C64", "f32", ""] {
            let json = format!(r#"{{"a":{{"dtype":"{name}","shape":[8],"data_offsets":[0,4]}}}}"#);
            assert!(matches!(parse(&json, 4), Err(Error::UnknownType { dtype, .. }) if dtype == name));
        }
    }

    #[test]
    fn tensors_without_end_are_refused() {
        let entry = |index: usize| format!(r#""{index}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#);
        let header = |n: usize| format!("{{{}}}", (0..n).map(entry).collect::<Vec<_>>().join(","));
        assert_eq!(parse(&header(MAX_TENSORS), 0).unwrap().tensors.len(), MAX_TENSORS);
        assert!(matches!(parse(&header(MAX_TENSORS + 1), 0), Err(Error::LimitExceeded { what: "tensors", .. })));
    }

    #[test]
    fn deep_nesting_is_refused_wherever_it_stands() {
        let deep = "[".repeat(100_000);
        for json in [
            deep.clone(),
            format!(r#"{{"__metadata__":{deep}"#),
            format!(r#"{{"__metadata__":{{"a":{deep}"#),
            format!(r#"{{"a":{{"x":{deep}"#),
            format!(r#"{{"a":{{"shape":{deep}"#),
        ] {
            assert!(matches!(parse(&json, 0), Err(Error::InvalidHeader { .. })));
        }
    }
}
