//! What happens when the world interferes: Ctrl-C, a full disk, a folder that cannot be written.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::{Folder, Run};

#[test]
fn an_interruption_ends_the_work_and_leaves_no_temporary_file() {
    let folder = Folder::new();
    folder.picture("in/a.png", 3, 2);
    folder.picture("in/b.png", 1500, 1500);
    folder.picture("in/c.png", 3, 2);
    for signal in ["INT", "TERM"] {
        let out = format!("out-{signal}");
        // Tiles so small that the large image takes far longer than this test.
        let mut command = folder.command(&format!("upscale in -o {out} -m x2.safetensors --tile 4 --json"));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It is at work on the second image when that one's temporary file is there beside the first one's result.
        while folder.path(&out).read_dir().map_or(0, |entries| entries.count()) < 2 {
            thread::sleep(Duration::from_millis(20));
        }
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let run = Run::from(child.wait_with_output().unwrap()).expect(130, &["interrupted; 2 of 3 images were left"]);
        let summary = run.json_lines().pop().unwrap();
        assert_eq!((summary["n_done"].as_u64(), summary["n_left"].as_u64()), (Some(1), Some(2)));
        assert_eq!(folder.names(&out), ["a.png"], "what was done stays, and nothing else");
    }
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let folder = Folder::new();
    folder.picture("a.png", 300, 300);
    fs::write(folder.path("b.png"), "precious").unwrap();
    // No file may grow beyond 512 bytes, which fails as a full disk does.
    let limited = format!(
        "trap '' XFSZ; ulimit -f 1; exec {} upscale a.png -o b.png -m x2.safetensors --force",
        env!("CARGO_BIN_EXE_fresco")
    );
    let output = Command::new("sh").args(["-c", &limited]).current_dir(folder.path(".")).output().unwrap();
    Run::from(output).expect(1, &["cannot write b.png"]);
    assert_eq!(fs::read_to_string(folder.path("b.png")).unwrap(), "precious");
    assert_eq!(folder.names("."), ["a.png", "b.png", "x2.safetensors"]);
}

#[test]
fn a_folder_that_is_not_there_is_found_out_before_the_work() {
    let folder = Folder::new();
    folder.picture("a.png", 3, 2);
    folder.run("upscale a.png -o none/b.png -m x2.safetensors").expect(1, &["cannot write into the folder none"]);
}

#[test]
fn results_are_readable_as_other_files_are() {
    let folder = Folder::new();
    folder.picture("a.png", 3, 2);
    folder.run("upscale a.png -o b.png -m x2.safetensors").expect(0, &[]);
    let mode = |name: &str| folder.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("b.png"), mode("a.png"));
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let folder = Folder::new();
    folder.picture("a.png", 3, 2);
    let piped = format!("{} upscale a.png -o b.png -m x2.safetensors | true", env!("CARGO_BIN_EXE_fresco"));
    let output = Command::new("sh").args(["-c", &piped]).current_dir(folder.path(".")).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
    assert!(folder.path("b.png").exists());
}
