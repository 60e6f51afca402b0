//! `cargo xtask doctor`: says which tools this machine has, and for what each one that is missing would be needed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::ensure;

/// Something that a task needs beside Rust.
struct Tool {
    name: &'static str,
    /// Its version or place, if it is there.
    find: fn() -> Option<String>,
    /// Nothing works without it.
    required: bool,
    needed_for: &'static str,
    /// What to do where it is missing.
    hint: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "C compiler",
        find: || version_of(&variable_or("CC", "cc"), &["-dumpfullversion", "-dumpversion"]),
        required: true,
        needed_for: "every build",
        hint: "apt install build-essential, or set CC",
    },
    Tool {
        name: "C++ compiler",
        find: || version_of(&variable_or("CXX", "c++"), &["-dumpfullversion", "-dumpversion"]),
        required: true,
        needed_for: "every build",
        hint: "apt install build-essential, or set CXX",
    },
    Tool {
        name: "pip",
        find: || ["python3", "python"].iter().find_map(|python| version_of(python, &["-m", "pip", "--version"])),
        required: false,
        needed_for: "xtask testdata, demo, test, backend cuda",
        hint: "apt install python3-pip",
    },
    Tool {
        name: "cmake",
        find: || version_of("cmake", &["--version"]),
        required: false,
        needed_for: "GPU backends",
        hint: "apt install cmake",
    },
    Tool {
        name: "ninja",
        find: || version_of("ninja", &["--version"]),
        required: false,
        needed_for: "GPU backends on Windows; elsewhere make does",
        hint: "apt install ninja-build",
    },
    Tool {
        name: "glslc",
        find: || version_of("glslc", &["--version"]),
        required: false,
        needed_for: "the feature vulkan",
        hint: "xtask backend vulkan fetches one on Debian; elsewhere install the Vulkan SDK",
    },
    Tool {
        name: "Vulkan headers",
        find: vulkan_headers,
        required: false,
        needed_for: "the feature vulkan (1.3.275 or newer)",
        hint: "xtask backend vulkan fetches them on Debian; elsewhere install the Vulkan SDK",
    },
    Tool {
        name: "Vulkan loader",
        find: || shared_library("libvulkan.so.1"),
        required: false,
        needed_for: "running on Vulkan",
        hint: "apt install libvulkan1",
    },
    Tool {
        name: "Vulkan driver",
        find: vulkan_driver,
        required: false,
        needed_for: "running on Vulkan",
        hint: "apt install mesa-vulkan-drivers, which also runs without a GPU",
    },
    Tool {
        name: "nvcc",
        find: || version_of("nvcc", &["--version"]),
        required: false,
        needed_for: "the feature cuda",
        hint: "xtask backend cuda fetches one on Linux; elsewhere install the CUDA toolkit",
    },
    Tool {
        name: "NVIDIA driver",
        find: || version_of("nvidia-smi", &["--query-gpu=driver_version", "--format=csv,noheader"]),
        required: false,
        needed_for: "running on CUDA",
        hint: "install NVIDIA's driver",
    },
    Tool {
        name: "libclang",
        find: libclang,
        required: false,
        needed_for: "xtask bindings",
        hint: "apt install libclang-dev, or set LIBCLANG_PATH",
    },
    Tool {
        name: "valgrind",
        find: || version_of("valgrind", &["--version"]),
        required: false,
        needed_for: "the search for leaks",
        hint: "apt install valgrind",
    },
];

pub(crate) fn run() -> anyhow::Result<()> {
    let mut n_required_missing = 0;
    for tool in TOOLS {
        match (tool.find)() {
            Some(found) => println!("ok       {:<15} {found}", tool.name),
            None => {
                println!("missing  {:<15} for {}: {}", tool.name, tool.needed_for, tool.hint);
                n_required_missing += usize::from(tool.required);
            }
        }
    }
    ensure!(n_required_missing == 0, "without what is missing for every build, nothing can be built");
    Ok(())
}

/// The version that a program prints, if it runs.
pub(crate) fn version_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(version_in(&String::from_utf8_lossy(&output.stdout)).unwrap_or("of unknown version").to_owned())
}

/// The first word that looks like a version: digits, then a dot; before them at most letters and a dash.
fn version_in(text: &str) -> Option<&str> {
    text.split_whitespace().find_map(|word| {
        let version = word.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '-').trim_end_matches(',');
        let (major, rest) = version.split_once('.').unwrap_or((version, "0"));
        let looks_right = !major.is_empty()
            && major.chars().all(|c| c.is_ascii_digit())
            && rest.starts_with(|c: char| c.is_ascii_digit());
        looks_right.then_some(version)
    })
}

fn variable_or(variable: &str, default: &str) -> String {
    env::var(variable).unwrap_or_else(|_| default.to_owned())
}

fn vulkan_headers() -> Option<String> {
    let sdk = env::var_os("VULKAN_SDK").map(|sdk| PathBuf::from(sdk).join("include"));
    let mut dirs = sdk.into_iter().chain(["/usr/include".into(), "/usr/local/include".into()]);
    dirs.find_map(|dir: PathBuf| {
        let header = fs::read_to_string(dir.join("vulkan/vulkan_core.h")).ok()?;
        let patch = header.lines().find_map(|line| line.strip_prefix("#define VK_HEADER_VERSION "))?;
        let note = if header.contains("VK_EXT_layer_settings") { "" } else { ", too old" };
        Some(format!("patch level {}{note} ({})", patch.trim(), dir.display()))
    })
}

fn vulkan_driver() -> Option<String> {
    if let Some(files) = env::var_os("VK_DRIVER_FILES").or_else(|| env::var_os("VK_ICD_FILENAMES")) {
        return Some(files.to_string_lossy().into_owned());
    }
    let mut names: Vec<String> = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"].iter().flat_map(files_in).collect();
    names.sort();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The place of a library that the dynamic loader would find.
fn shared_library(name: &str) -> Option<String> {
    let known = ["ldconfig", "/sbin/ldconfig"];
    let output = known.iter().find_map(|program| Command::new(program).arg("-p").output().ok())?;
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = list.lines().find(|line| line.trim_start().starts_with(name))?;
    line.split("=> ").nth(1).map(str::to_owned)
}

fn libclang() -> Option<String> {
    let named = env::var("LIBCLANG_PATH").ok();
    let llvm = files_in("/usr/lib").into_iter().filter(|name| name.starts_with("llvm-"));
    let dirs = named.into_iter().chain(llvm.map(|name| format!("/usr/lib/{name}/lib")));
    let has_it = |dir: &String| files_in(dir).iter().any(|file| file.starts_with("libclang") && file.contains(".so"));
    dirs.into_iter().find(has_it)
}

fn files_in(dir: impl AsRef<Path>) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (printed, version) in [
            ("12.2.0\n", Some("12.2.0")),
            ("14\n", Some("14")),
            ("cmake version 3.25.1\n\nCMake suite", Some("3.25.1")),
            ("pip 23.0.1 from /usr/lib/python3/dist-packages/pip (python 3.11)", Some("23.0.1")),
            ("valgrind-3.19.0", Some("3.19.0")),
            ("shaderc v2023.2-1\nspirv-tools", Some("2023.2-1")),
            ("Cuda compilation tools, release 13.0, V13.0.88", Some("13.0")),
            ("no version", None),
        ] {
            assert_eq!(version_in(printed), version, "{printed}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_has_no_version() {
        assert_eq!(version_of("fresco-no-such-program", &[]), None);
    }
}
