//! `cargo xtask backend <name>`: builds one GPU backend of ggml as a library that the feature `dynamic-backends` loads at
//! run time, by default into `target/backends`.
//!
//! What the vendor's tools are and where they come from is the business of the modules below; a machine that has none
//! gets those for Vulkan and CUDA unpacked under `vendor/toolchains`, which the system never notices.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use xshell::cmd;

use crate::{doctor, process, vendor};

mod cuda;
mod vulkan;

/// ggml's backends that can be built so.
const NAMES: &[&str] = &["vulkan", "cuda", "hip", "metal", "opencl", "sycl"];

/// What a build needs beside ggml's source.
#[derive(Default)]
struct Toolchain {
    /// Environment variables for CMake.
    variables: Vec<(&'static str, PathBuf)>,
    /// Libraries that the backend needs at run time and that the system does not have; they are put beside it.
    libraries: Vec<PathBuf>,
}

/// Builds the backend `name` into `out`. `cuda_archs` is CMake's list of CUDA architectures, such as `86;90`.
pub(crate) fn run(
    name: &str,
    out: Option<PathBuf>,
    cuda_archs: Option<String>,
    jobs: Option<u32>,
) -> anyhow::Result<()> {
    let root = process::workspace_root();
    let toolchain = match name {
        "vulkan" => vulkan::toolchain()?,
        "cuda" => cuda::toolchain()?,
        _ if NAMES.contains(&name) => Toolchain::default(),
        _ => bail!("there is no backend '{name}'; choose one of {}", NAMES.join(", ")),
    };
    let shell = process::shell()?;
    for (variable, path) in &toolchain.variables {
        shell.set_var(variable, path);
    }
    if name == "cuda" {
        shell.set_var("CUDAARCHS", cuda::architectures(&shell, cuda_archs));
    }

    let source = vendor::source()?;
    let build = root.join("target/backends/build").join(name);
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get() as u32));
    let jobs = jobs.to_string();
    let ninja = doctor::version_of("ninja", &["--version"]).map(|_| "-GNinja");
    cmd!(
        shell,
        "cmake -S crates/ggml-sys/cmake -B {build} {ninja...} -DCMAKE_BUILD_TYPE=Release -DGGML_DIR={source}
            -DFRESCO_BACKEND={name}"
    )
    .run()
    .context("CMake could not set the build up; `cargo xtask doctor` looks for what it needs")?;
    cmd!(shell, "cmake --build {build} --config Release --target fresco-{name} --parallel {jobs}").run()?;

    let out = out.unwrap_or_else(|| root.join("target/backends"));
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    // CMake gives loadable modules the suffix of Linux on Apple systems, too.
    let built = [DLL_SUFFIX, ".so"].map(|suffix| build.join("out").join(format!("{DLL_PREFIX}fresco-{name}{suffix}")));
    let built = built.iter().find(|file| file.is_file()).context("CMake succeeded without building the library")?;
    let library = out.join(format!("{DLL_PREFIX}fresco-{name}{DLL_SUFFIX}"));
    place(built, &library)?;
    for dependency in &toolchain.libraries {
        let file = dependency.file_name().context("a library has a name")?;
        place(dependency, &out.join(file))?;
    }
    println!("built {}", library.display());
    Ok(())
}

/// Puts `file` at `destination`, sharing its bytes where the file system can: some of the libraries are enormous.
fn place(file: &Path, destination: &Path) -> anyhow::Result<()> {
    match fs::remove_file(destination) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot replace {}", destination.display()));
        }
        _ => {}
    }
    fs::hard_link(file, destination)
        .or_else(|_| fs::copy(file, destination).map(drop))
        .with_context(|| format!("cannot copy {} to {}", file.display(), destination.display()))
}

/// Makes `folder` by running `fill` on a temporary folder beside it, unless it is there already; a folder that was only
/// partly filled never has the name.
fn unpacked(folder: &Path, fill: impl FnOnce(&Path) -> anyhow::Result<()>) -> anyhow::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut partial = folder.to_path_buf().into_os_string();
    partial.push(".tmp");
    let partial = PathBuf::from(partial);
    if partial.exists() {
        fs::remove_dir_all(&partial).with_context(|| format!("cannot remove {}", partial.display()))?;
    }
    fs::create_dir_all(&partial).with_context(|| format!("cannot create {}", partial.display()))?;
    fill(&partial)?;
    fs::rename(&partial, folder).with_context(|| format!("cannot create {}", folder.display()))
}

#[cfg(unix)]
fn link(target: &str, at: &Path) -> anyhow::Result<()> {
    std::os::unix::fs::symlink(target, at).with_context(|| format!("cannot create the link {}", at.display()))
}

#[cfg(unix)]
fn make_executable(file: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", file.display()))
}

// The tools that are fetched are for Linux; elsewhere both functions are out of reach.
#[cfg(not(unix))]
fn link(_target: &str, at: &Path) -> anyhow::Result<()> {
    bail!("cannot create the link {}", at.display())
}

#[cfg(not(unix))]
fn make_executable(_file: &Path) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_appears_only_when_it_is_filled() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("tools");
        let failed = unpacked(&folder, |partial| {
            fs::write(partial.join("half"), "")?;
            bail!("no network")
        });
        assert_eq!(failed.unwrap_err().to_string(), "no network");
        assert!(!folder.exists());
        unpacked(&folder, |partial| Ok(fs::write(partial.join("whole"), "")?)).unwrap();
        assert!(folder.join("whole").is_file() && !folder.join("half").exists());
        unpacked(&folder, |_| bail!("filled twice")).unwrap();
    }

    #[test]
    fn a_library_takes_the_place_of_an_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        fs::write(&new, "new").unwrap();
        fs::write(&old, "old").unwrap();
        place(&new, &old).unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "new");
    }
}
