//! The parser of `.param` text.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::str::{FromStr, SplitAsciiWhitespace};

use super::{MAGIC, NcnnLayer, NcnnNet, NcnnValue};
use crate::Error;
use crate::recognise::{first_token, show_start};

/// Longest text accepted: a hundred times that of the largest published upscaler.
pub const MAX_PARAM_BYTES: u64 = 16 << 20;

/// Ids at or below this one are arrays; the array's own id is what is left.
const ARRAY_ID: i32 = -23300;
/// ncnn keeps 32 parameters a layer.
const MAX_PARAM_ID: i32 = 31;

/// Parses the text of a `.param` file and checks its counts and its wiring.
///
/// # Errors
/// [`Error::BadMagic`], [`Error::InvalidNcnn`] with the line, or [`Error::DuplicateName`].
pub fn parse_param(path: &Path, text: &[u8]) -> Result<NcnnNet, Error> {
    let start = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if first_token(start.trim_ascii_start()) != MAGIC.to_string().as_bytes() {
        return Err(Error::BadMagic { path: path.to_owned(), found: show_start(start) });
    }
    let invalid = |line: usize, problem: String| Error::InvalidNcnn { path: path.to_owned(), line, problem };
    let text = std::str::from_utf8(start).map_err(|error| {
        let line = start[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        invalid(line, "the text is not UTF-8".to_owned())
    })?;
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim_ascii().is_empty());

    // The magic number stands alone on the first line.
    if let Some((line, magic)) = lines.next()
        && magic.split_ascii_whitespace().nth(1).is_some()
    {
        return Err(invalid(line, "the magic number must stand alone on its line".to_owned()));
    }
    let Some((counts_line, counts)) = lines.next() else {
        return Err(invalid(1, "the counts of layers and blobs are missing".to_owned()));
    };
    let (n_layers, n_blobs) = parse_counts(counts).map_err(|problem| invalid(counts_line, problem))?;

    let mut layers = Vec::new();
    let mut names = HashSet::new();
    let mut blobs = HashSet::new();
    for (line, text) in lines {
        let layer = parse_layer(text, line).map_err(|problem| invalid(line, problem))?;
        if let Some(input) = layer.inputs.iter().find(|input| !blobs.contains(*input)) {
            let problem = format!("layer {:?} reads the blob {input:?}, which no layer before it makes", layer.name);
            return Err(invalid(line, problem));
        }
        for output in &layer.outputs {
            if !blobs.insert(output.clone()) {
                return Err(invalid(line, format!("the blob {output:?} is made twice")));
            }
        }
        if !names.insert(layer.name.clone()) {
            return Err(Error::DuplicateName { path: path.to_owned(), name: layer.name });
        }
        layers.push(layer);
    }
    for (what, announced, found) in [("layers", n_layers, layers.len()), ("blobs", n_blobs, blobs.len())] {
        if announced != found {
            let problem = format!("{announced} {what} are announced, {found} follow; is the file complete?");
            return Err(invalid(counts_line, problem));
        }
    }
    if layers.is_empty() {
        return Err(invalid(counts_line, "the model has no layers".to_owned()));
    }
    Ok(NcnnNet { layers })
}

/// The numbers of layers and blobs.
fn parse_counts(text: &str) -> Result<(usize, usize), String> {
    let mut tokens = text.split_ascii_whitespace();
    let mut count = |what| parse_token::<u32>(&mut tokens, what).map(|count| count as usize);
    let counts = (count("the number of layers")?, count("the number of blobs")?);
    match tokens.next() {
        None => Ok(counts),
        Some(extra) => Err(format!("{extra:?} stands after the counts of layers and blobs")),
    }
}

fn parse_layer(text: &str, line: usize) -> Result<NcnnLayer, String> {
    let mut tokens = text.split_ascii_whitespace();
    let kind: String = parse_token(&mut tokens, "the kind of layer")?;
    let name: String = parse_token(&mut tokens, "the name of the layer")?;
    let n_inputs: u32 = parse_token(&mut tokens, "the number of inputs")?;
    let n_outputs: u32 = parse_token(&mut tokens, "the number of outputs")?;
    // The counts are used as limits only; a false one ends at the end of the line.
    let mut blobs = |n: u32, what| (0..n).map(|_| parse_token(&mut tokens, what)).collect::<Result<Vec<String>, _>>();
    let inputs = blobs(n_inputs, "an input")?;
    let outputs = blobs(n_outputs, "an output")?;
    let mut params = BTreeMap::new();
    for token in tokens {
        let (id, value) = parse_param_token(token).map_err(|problem| format!("parameter {token:?}: {problem}"))?;
        if params.insert(id, value).is_some() {
            return Err(format!("parameter {id} is given twice"));
        }
    }
    Ok(NcnnLayer { kind, name, inputs, outputs, params, line })
}

/// The next token as a `T`.
fn parse_token<T: FromStr>(tokens: &mut SplitAsciiWhitespace<'_>, what: &str) -> Result<T, String> {
    let token = tokens.next().ok_or_else(|| format!("{what} is missing"))?;
    token.parse().map_err(|_| format!("{what} is {token:?}"))
}

/// `id=value` or `-233xx=n,value,…`.
fn parse_param_token(token: &str) -> Result<(i32, NcnnValue), &'static str> {
    let (id, value) = token.split_once('=').ok_or("it is not of the form id=value")?;
    let id: i32 = id.parse().map_err(|_| "its id is no number")?;
    if id > ARRAY_ID {
        let value = match Number::parse(value)? {
            Number::Int(value) => NcnnValue::Int(value),
            Number::Float(value) => NcnnValue::Float(value),
        };
        return Ok((checked_id(id)?, value));
    }
    let id = checked_id(ARRAY_ID.checked_sub(id).ok_or("its id is out of range")?)?;
    let mut items = value.split(',');
    let announced: usize = items.next().unwrap_or_default().parse().map_err(|_| "its length is no number")?;
    let numbers = items.map(Number::parse).collect::<Result<Vec<_>, _>>()?;
    if numbers.len() != announced {
        return Err("its length is not the number of its values");
    }
    let ints: Option<Vec<i32>> = numbers.iter().map(Number::as_int).collect();
    let value = ints.map_or_else(|| NcnnValue::Floats(numbers.iter().map(Number::as_float).collect()), NcnnValue::Ints);
    Ok((id, value))
}

fn checked_id(id: i32) -> Result<i32, &'static str> {
    (0..=MAX_PARAM_ID).contains(&id).then_some(id).ok_or("its id is out of range")
}

/// A number as ncnn tells them apart.
enum Number {
    Int(i32),
    Float(f32),
}

impl Number {
    fn parse(text: &str) -> Result<Self, &'static str> {
        if text.contains(['.', 'e', 'E']) {
            let value: f32 = text.parse().map_err(|_| "its value is no number")?;
            return if value.is_finite() { Ok(Self::Float(value)) } else { Err("its value is out of range") };
        }
        text.parse().map(Self::Int).map_err(|_| "its value is no number of 32 bits")
    }

    fn as_int(&self) -> Option<i32> {
        match *self {
            Self::Int(value) => Some(value),
            Self::Float(_) => None,
        }
    }

    fn as_float(&self) -> f32 {
        match *self {
            Self::Int(value) => value as f32,
            Self::Float(value) => value,
        }
    }
}
