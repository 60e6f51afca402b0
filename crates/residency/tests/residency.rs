//! Registering components and bringing their weights home.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fresco_residency::ggml::{DType, Device};
use fresco_residency::loader::{MapPolicy, ModelSource};
use fresco_residency::{ComponentOptions, Error, LoadReport, Mismatch, Param, ParamRole, Pins, Purpose, Residency};

/// Writes a safetensors file of f32 tensors that hold 0, 1, 2, …
fn write(folder: &Path, tensors: &[(&str, &[u64])]) -> PathBuf {
    let (mut header, mut data) = (String::from("{"), Vec::new());
    for (name, shape) in tensors {
        let start = data.len();
        data.extend((0..shape.iter().product::<u64>()).flat_map(|i| (i as f32).to_le_bytes()));
        let comma = if start == 0 { "" } else { "," };
        header +=
            &format!(r#"{comma}"{name}":{{"dtype":"F32","shape":{shape:?},"data_offsets":[{start},{}]}}"#, data.len());
    }
    header += "}";
    let path = folder.join("weights.safetensors");
    std::fs::write(&path, [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()).unwrap();
    path
}

fn options(source: &Arc<ModelSource>) -> ComponentOptions {
    ComponentOptions { name: "test".into(), source: source.clone(), device: Device::cpu().unwrap() }
}

/// A component of a kernel `conv.weight [2, 3, 3, 3]` and a `conv.bias [2]`.
fn register(residency: &mut Residency, source: &Arc<ModelSource>, wanted: Option<DType>) -> [Param; 2] {
    let declaration = residency.declare(source.catalogue(), wanted);
    let conv = declaration.root().sub("conv");
    let params =
        [conv.param("weight", ParamRole::ConvWeight, [2, 3, 3, 3]), conv.param("bias", ParamRole::Vector, [2])];
    residency.register(declaration, options(source)).unwrap();
    params
}

fn pin(residency: &mut Residency, params: &[Param]) -> Result<Pins, Error> {
    residency.pin(params.iter().map(|param| param.id), &mut |_| ControlFlow::Continue(()))
}

fn read(pins: &Pins, param: &Param, n_bytes: usize) -> Vec<u8> {
    let resident = pins.resident(param.id).unwrap();
    let mut bytes = vec![0; n_bytes];
    resident.buffer.read(resident.offset_bytes, &mut bytes).unwrap();
    bytes
}

const CONV: &[(&str, &[u64])] = &[("conv.weight", &[2, 3, 3, 3]), ("conv.bias", &[2])];

#[test]
fn the_report_names_what_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &[("a", &[4]), ("b", &[2, 2]), ("c", &[1]), ("d", &[1])]);
    let source = Arc::new(ModelSource::open(path).unwrap());
    let mut residency = Residency::new();
    let declaration = residency.declare(source.catalogue(), None);
    let root = declaration.root();
    root.param("a", ParamRole::Vector, [4]);
    root.param("b", ParamRole::Vector, [4]);
    root.sub("e").sub(0).param("f", ParamRole::Vector, [4]);
    assert!(root.has("d") && !root.has("e"));
    let expected = LoadReport {
        applied: vec!["a".into()],
        missing: vec!["e.0.f".into()],
        unused: vec!["c".into(), "d".into()],
        mismatched: vec![Mismatch { name: "b".into(), expected: [4].into(), found: vec![2, 2] }],
    };
    assert_eq!(declaration.report(), expected);
    let error = residency.register(declaration, options(&source)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the weights of the test do not fit its model: 'e.0.f' is missing, 'b' is [2, 2], not [4]"
    );
}

#[test]
fn a_parameter_asked_for_twice_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let source = ModelSource::open(write(folder.path(), &[("a", &[4])])).unwrap();
    let declaration_of = &mut Residency::new();
    let declaration = declaration_of.declare(source.catalogue(), None);
    let root = declaration.root();
    assert_eq!(root.param("a", ParamRole::Vector, [4]), root.param("a", ParamRole::Vector, [4]));
}

#[test]
fn weights_come_home_in_the_wanted_type() {
    let folder = tempfile::tempdir().unwrap();
    let source = Arc::new(ModelSource::open(write(folder.path(), CONV)).unwrap());
    let mut residency = Residency::new();
    let [weight, bias] = register(&mut residency, &source, Some(DType::F16));
    assert_eq!((weight.dtype, bias.dtype), (DType::F16, DType::F32));
    let pins = pin(&mut residency, &[weight, bias]).unwrap();
    let halves = read(&pins, &weight, 108);
    assert_eq!(&halves[106..], 0x52a0u16.to_le_bytes(), "53 in half precision");
    assert_eq!(read(&pins, &bias, 8), [0f32, 1.0].map(f32::to_le_bytes).concat());
    assert!(residency.ledger().balance("CPU").current_bytes[&Purpose::Weights] >= 116);
}

#[test]
fn pinned_weights_cannot_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let source = Arc::new(ModelSource::open(write(folder.path(), CONV)).unwrap());
    let mut residency = Residency::new();
    let params = register(&mut residency, &source, None);
    let pins = pin(&mut residency, &params).unwrap();
    let component = params[0].id.component;
    assert!(matches!(residency.remove(component), Err(Error::Pinned { .. })));
    drop(pins);
    residency.remove(component).unwrap();
    assert_eq!(residency.ledger().balance("CPU").total_bytes(), 0);
    assert!(matches!(pin(&mut residency, &params), Err(Error::UnknownParam(_))));
}

#[test]
fn unconverted_weights_of_a_stable_file_stay_in_its_mapping() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), CONV);
    let file_bytes = std::fs::metadata(&path).unwrap().len();
    let source = Arc::new(ModelSource::open_with(path, MapPolicy::FilesStayUnchanged).unwrap());
    let mut residency = Residency::new();
    let params = register(&mut residency, &source, None);
    let pins = pin(&mut residency, &params).unwrap();
    assert_eq!(read(&pins, &params[0], 8), [0f32, 1.0].map(f32::to_le_bytes).concat());
    let held = residency.ledger().balance("CPU").current_bytes;
    assert_eq!((held.get(&Purpose::Mapping), held.get(&Purpose::Weights)), (Some(&file_bytes), None));
    drop((pins, residency));
}

#[test]
fn a_file_that_shrank_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), CONV);
    let source = Arc::new(ModelSource::open(&path).unwrap());
    let mut residency = Residency::new();
    let params = register(&mut residency, &source, None);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(std::fs::metadata(&path).unwrap().len() - 4).unwrap();
    assert!(matches!(pin(&mut residency, &params), Err(Error::Read { .. })));
    assert_eq!(residency.ledger().balance("CPU").total_bytes(), 0);
}
