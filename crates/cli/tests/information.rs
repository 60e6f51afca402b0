//! `fresco inspect` and `fresco devices`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;

use common::Folder;
use serde_json::Value;

#[test]
fn inspect_shows_what_a_model_is() {
    let folder = Folder::new();
    let text = folder.run("inspect x2.safetensors").expect(0, &[]).stdout;
    for part in
        ["safetensors", "SRVGGNetCompact, upscales 2 times", "author: nobody", "body.2.weight  f32", "[12, 32, 3, 3]"]
    {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
    let document: Value =
        serde_json::from_str(&folder.run("inspect x2.safetensors --json").expect(0, &[]).stdout).unwrap();
    assert_eq!((&document["format"], &document["path"]), (&"safetensors".into(), &"x2.safetensors".into()));
    assert_eq!((&document["architecture"]["scale"], &document["architecture"]["radius_px"]), (&2.into(), &2.into()));
    assert_eq!((&document["unsupported"], &document["metadata"]["author"]), (&Value::Null, &"nobody".into()));
    assert_eq!(document["n_parameters"], 32 * 27 + 32 + 32 + 12 * 288 + 12);
    let tensor = &document["tensors"][0];
    assert_eq!(
        (&tensor["name"], &tensor["dtype"], &tensor["bytes"]),
        (&"body.0.bias".into(), &"f32".into(), &128.into())
    );
}

#[test]
fn inspect_shows_files_that_are_no_upscalers() {
    let folder = Folder::new();
    let header = br#"{"other.weight":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}"#;
    let file = [&(header.len() as u64).to_le_bytes()[..], header, &[0; 4]].concat();
    fs::write(folder.path("other.safetensors"), file).unwrap();
    let text = folder.run("inspect other.safetensors").expect(0, &[]).stdout;
    assert!(text.contains("other.weight  f16"), "{text}");
    let document: Value =
        serde_json::from_str(&folder.run("inspect other.safetensors --json").expect(0, &[]).stdout).unwrap();
    assert_eq!(document["architecture"], Value::Null);
    assert!(document["unsupported"].as_str().unwrap().contains("no upscaler"), "{document}");
    fs::write(folder.path("notes.txt"), "no model").unwrap();
    folder.run("inspect notes.txt").expect(1, &["notes.txt"]);
    folder.run("inspect none").expect(1, &["none"]);
}

#[test]
fn devices_lists_the_cpu() {
    let folder = Folder::new();
    assert!(folder.run("devices").expect(0, &[]).stdout.lines().any(|line| line.starts_with("CPU ")));
    let document: Value = serde_json::from_str(&folder.run("devices --json").expect(0, &[]).stdout).unwrap();
    let devices = document["devices"].as_array().unwrap();
    let cpu = devices.iter().find(|device| device["name"] == "CPU").unwrap();
    assert_eq!(cpu["kind"], "cpu");
    assert!(cpu["free_bytes"].as_u64() <= cpu["total_bytes"].as_u64() && cpu["free_bytes"].as_u64() > Some(0));
}

#[test]
fn help_and_version_are_there() {
    let folder = Folder::new();
    let help = folder.run("upscale --help").expect(0, &[]).stdout;
    let options =
        ["--output", "--model", "--tile", "--repeat", "--type", "--threads", "--backend", "--json", "--force"];
    assert!(options.iter().all(|option| help.contains(option)), "{help}");
    assert!(folder.run("--version").expect(0, &[]).stdout.contains(env!("CARGO_PKG_VERSION")));
}
