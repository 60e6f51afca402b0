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

#[cfg(test)]
mod tests {
    use super::*;

    const NET: &str = "7767517\n\
        3 4\n\
        Input        in    0 1 data\n\
        Split        split 1 2 data a b\n\
        Convolution  conv  1 1 a out 0=8 1=3 5=1 6=216 9=2 -23310=1,2.000000e-01 -23304=2,1,-1 2=1.5\n";

    fn parse(text: &str) -> Result<NcnnNet, Error> {
        parse_param(Path::new("x.param"), text.as_bytes())
    }

    /// The line and the problem that the text is refused for.
    #[track_caller]
    fn refused(text: &str) -> (usize, String) {
        match parse(text) {
            Err(Error::InvalidNcnn { line, problem, .. }) => (line, problem),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn layers_are_read_with_their_wiring_and_parameters() {
        let net = parse(NET).unwrap();
        let kinds: Vec<&str> = net.layers.iter().map(|layer| layer.kind.as_str()).collect();
        assert_eq!(kinds, ["Input", "Split", "Convolution"]);
        assert_eq!(net.layers[1].outputs, ["a", "b"]);
        let conv = &net.layers[2];
        assert_eq!((conv.name.as_str(), conv.line), ("conv", 5));
        assert_eq!((&conv.inputs[..], &conv.outputs[..]), (&["a".to_owned()][..], &["out".to_owned()][..]));
        assert_eq!(conv.params[&6], NcnnValue::Int(216));
        assert_eq!(conv.params[&2], NcnnValue::Float(1.5));
        assert_eq!(conv.params[&10], NcnnValue::Floats(vec![0.2]));
        assert_eq!(conv.params[&4], NcnnValue::Ints(vec![1, -1]));
    }

    #[test]
    fn line_ends_and_blank_lines_do_not_matter() {
        let net = parse(NET).unwrap();
        assert_eq!(parse(&NET.replace('\n', "\r\n")).unwrap(), net);
        assert_eq!(parse(NET.trim_end()).unwrap(), net);
        assert_eq!(parse(&format!("{NET}\n  \n")).unwrap(), net);
        assert_eq!(parse(&format!("\u{feff}{NET}")).unwrap(), net);
    }

    #[test]
    fn the_magic_number_comes_first() {
        for text in ["", "7767518\n1 1\n", "-7767517\n", "hello"] {
            assert!(matches!(parse(text), Err(Error::BadMagic { .. })), "{text:?}");
        }
        assert_eq!(refused("7767517").1, "the counts of layers and blobs are missing");
        assert_eq!(refused("7767517 3 4\nInput in 0 1 a\n").0, 1);
    }

    #[test]
    fn counts_must_agree_with_what_follows() {
        for counts in ["2 4", "4 4", "3 3", "3 5", "0 0", "3", "-3 4", "3 4 5", "a b", "4294967299 4"] {
            assert_eq!(refused(&NET.replace("3 4", counts)).0, 2, "{counts}");
        }
        assert_eq!(refused("7767517\n0 0\n").1, "the model has no layers");
    }

    #[test]
    fn blobs_are_made_once_and_before_they_are_read() {
        assert!(refused(&NET.replace("1 1 a out", "1 1 out out")).1.contains("reads the blob \"out\""));
        assert!(refused(&NET.replace("1 1 a out", "1 1 a b")).1.contains("the blob \"b\" is made twice"));
        assert!(matches!(parse(&NET.replace("conv ", "in ")), Err(Error::DuplicateName { name, .. }) if name == "in"));
    }

    #[test]
    fn a_layer_that_announces_more_blobs_than_it_names_is_refused() {
        for layer in ["Concat", "Concat c", "Concat c x 1", "Concat c 4294967295 1 a", "Concat c 1 -1 a"] {
            assert_eq!(refused(&format!("7767517\n1 1\n{layer}\n")).0, 3, "{layer}");
        }
    }

    #[test]
    fn parameters_are_numbers_with_an_id() {
        for param in [
            "5",
            "5=",
            "5=abc",
            "=5",
            "x=1",
            "5=1=2",
            "32=1",
            "-1=1",
            "-2147483648=1",
            "0=8 0=8",
            "5=2147483648",
            "5=1e99",
            "5=1.0.0",
            "-23310=",
            "-23310=2,1",
            "-23310=1,1,2",
            "-23310=1000000000,1",
            "-23310=-1",
            "-23310=1,x",
            "-23340=1,1",
        ] {
            let (line, problem) = refused(&format!("7767517\n1 1\nInput in 0 1 data {param}\n"));
            assert_eq!(line, 3);
            assert!(problem.contains("parameter"), "{param}: {problem}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_at_its_line() {
        let mut text = NET.as_bytes().to_vec();
        text.splice(30..31, [0xff]);
        match parse_param(Path::new("x.param"), &text) {
            Err(Error::InvalidNcnn { line: 3, .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}
