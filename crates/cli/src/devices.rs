//! `fresco devices`

use fresco::{DeviceKind, Runtime};
use serde::Serialize;

use crate::args::DevicesArguments;
use crate::exit::Exit;
use crate::{output, units};

#[derive(Serialize)]
struct Document {
    devices: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    description: String,
    kind: &'static str,
    free_bytes: u64,
    total_bytes: u64,
}

pub(crate) fn run(arguments: &DevicesArguments, runtime: &Runtime) -> anyhow::Result<Exit> {
    let entry = |device: &fresco::Device| Entry {
        name: device.name().to_owned(),
        description: device.description().to_owned(),
        kind: match device.kind() {
            DeviceKind::Cpu => "cpu",
            DeviceKind::DiscreteGpu => "discrete-gpu",
            DeviceKind::IntegratedGpu => "integrated-gpu",
            DeviceKind::Accelerator => "accelerator",
            _ => "other",
        },
        free_bytes: device.memory().free_bytes,
        total_bytes: device.memory().total_bytes,
    };
    let document = Document { devices: runtime.devices().iter().map(entry).collect() };
    if arguments.json {
        output::json_document(&document)?;
        return Ok(Exit::Success);
    }
    for Entry { name, description, kind, free_bytes, total_bytes } in document.devices {
        let (free, total) = (units::bytes(free_bytes), units::bytes(total_bytes));
        output::line(format_args!("{name:10} {kind:15} {free} free of {total}  {description}"))?;
    }
    Ok(Exit::Success)
}
