//! The tools for the Vulkan backend: headers, the loader to link with, SPIR-V headers, and the shader compiler `glslc`.
//!
//! ggml needs newer headers than Debian 12 has. There, Debian 13's packages are fetched through apt with a private
//! configuration and unpacked; its `glslc` wants a newer C library as well and so runs on an unpacked one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use xshell::{Shell, cmd};

use super::{Toolchain, link, make_executable, unpacked};
use crate::{process, testdata::sha256_of};

/// A package of Debian 13, by its version and the checksum of its file for each architecture that has a build here.
struct Package {
    name: &'static str,
    version: &'static str,
    amd64: &'static str,
    arm64: &'static str,
}

const RELEASE: &str = "trixie";

const PACKAGES: &[Package] = &[
    Package {
        name: "libvulkan-dev",
        version: "1.4.309.0-1",
        amd64: "8d329d465e16168afff58b1bd0dd6db46aac2cc3f56054a481b25a04e90b345a",
        arm64: "3244f0422d3c5cf14f5d13bc48a0cae7786d94ea0ceff22414c094388666e70d",
    },
    Package {
        name: "libvulkan1",
        version: "1.4.309.0-1",
        amd64: "f47da79cd140264fe21cceb08bc87a71bc7fec05819e4a421f3f518d21101a37",
        arm64: "f5f576d8b9e5703702a9f3254c8c5d130bef17da9db4aecd46ba86cec7a08930",
    },
    Package {
        name: "spirv-headers",
        version: "1.6.1+1.4.309.0-1",
        amd64: "dc18db866d63680351c40ac6b6bece34cb52da64a7799ce1cc4f16f6bff4d064",
        arm64: "dc18db866d63680351c40ac6b6bece34cb52da64a7799ce1cc4f16f6bff4d064",
    },
    Package {
        name: "glslc",
        version: "2025.2-1",
        amd64: "e05374965709159303041b104d4a26022d6ac5eb8296450364d66ae864a20367",
        arm64: "3a1013c54b4769a4f258b762c48c949d5879b6395067e066867296e9c10ff30f",
    },
    Package {
        name: "libshaderc1",
        version: "2025.2-1",
        amd64: "2a67c8f784c65e1aa0d251819c020917405b490fbb543c6a73a52a631e476463",
        arm64: "4165d9d4e87140ec6c77b6cad26bb5c3cd830186e04c7b8b1567a9e7afbb176b",
    },
    Package {
        name: "libstdc++6",
        version: "14.2.0-19",
        amd64: "ab1fa05837aa7a92aae748fd07a18a35f7d18bb4a71c4724fe2bbf0e32089de0",
        arm64: "6669b0c52a2e7c6af9adfdabce3ff6e286065cdfbc7b85280862b5f799daebee",
    },
    Package {
        name: "libgcc-s1",
        version: "14.2.0-19",
        amd64: "3c71917b490d1a17aed43196a2787a256ecf060526cdb20216a74bedc061b150",
        arm64: "1108bc87879833d6d9a145f22a4a15cddb34e065b4b5f4b97bee586adbac2851",
    },
];

/// The C library that `glslc` runs on. The one package that changes within a Debian release, since it gets security
/// fixes, and nothing of it is compiled or linked in: apt's check of the archive's signature has to do.
const C_LIBRARY: &str = "libc6";

pub(super) fn toolchain() -> anyhow::Result<Toolchain> {
    if std::env::var_os("VULKAN_SDK").is_some() || system_is_new_enough() {
        return Ok(Toolchain::default());
    }
    let folder = process::workspace_root().join("vendor/toolchains/vulkan");
    unpacked(&folder, |partial| fetch(partial).context("cannot get Debian 13's Vulkan tools"))?;
    Ok(Toolchain { variables: vec![("VULKAN_SDK", folder)], libraries: Vec::new() })
}

/// Whether the system's own packages will do; the extension is the newest that ggml uses.
fn system_is_new_enough() -> bool {
    let headers = ["/usr/include", "/usr/local/include"].map(|dir| Path::new(dir).join("vulkan/vulkan_core.h"));
    let new_enough =
        |header: &PathBuf| fs::read_to_string(header).is_ok_and(|text| text.contains("VK_EXT_layer_settings"));
    headers.iter().any(new_enough) && crate::doctor::version_of("glslc", &["--version"]).is_some()
}

/// Fills `folder` the way a Vulkan SDK looks: `include`, `lib`, `share` and `bin/glslc`.
fn fetch(folder: &Path) -> anyhow::Result<()> {
    let shell = process::shell()?;
    let architecture = cmd!(shell, "dpkg --print-architecture")
        .quiet()
        .read()
        .context("this is no Debian: install a Vulkan SDK of version 1.3.275 or newer and set VULKAN_SDK")?;
    let checksum = |package: &Package| match architecture.as_str() {
        "amd64" => Ok(package.amd64),
        "arm64" => Ok(package.arm64),
        other => bail!("there is no such toolchain for {other}: set VULKAN_SDK"),
    };
    let apt = folder.join("apt");
    let options = &apt_options(&shell, &apt)?;
    cmd!(shell, "apt-get {options...} update").run()?;

    shell.change_dir(&apt);
    let root = folder.join("root");
    for package in PACKAGES {
        let (name, version, expected) = (package.name, package.version, checksum(package)?);
        cmd!(shell, "apt-get {options...} download {name}={version}").run().with_context(|| {
            format!("Debian 13 no longer has {name} {version}: the pins in xtask/src/backend/vulkan.rs need renewal")
        })?;
        let archive = archive_of(&apt, name)?;
        let found = sha256_of(&archive)?.unwrap_or_default();
        ensure!(found == expected, "{} has the SHA-256 {found} instead of {expected}", archive.display());
        cmd!(shell, "dpkg-deb --extract {archive} {root}").run()?;
    }
    cmd!(shell, "apt-get {options...} download {C_LIBRARY}").run()?;
    let archive = archive_of(&apt, C_LIBRARY)?;
    cmd!(shell, "dpkg-deb --extract {archive} {root}").run()?;
    drop(shell);

    arrange(folder)?;
    fs::remove_dir_all(&apt).with_context(|| format!("cannot remove {}", apt.display()))
}

/// Options that make apt keep to `folder` and to Debian 13, on the mirror that the system uses.
fn apt_options(shell: &Shell, folder: &Path) -> anyhow::Result<Vec<String>> {
    let query = ["--format", "$(REPO_URI)", "Created-By: Packages"];
    let mirrors = cmd!(shell, "apt-get indextargets {query...}").quiet().read()?;
    let mirror = mirrors.lines().find(|uri| uri.trim_end_matches('/').ends_with("/debian")).context(
        "apt knows no mirror of Debian: install a Vulkan SDK of version 1.3.275 or newer and set VULKAN_SDK",
    )?;
    for dir in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(folder.join(dir)).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let sources = folder.join("debian.sources");
    let text = format!("Types: deb\nURIs: {mirror}\nSuites: {RELEASE}\nComponents: main\nSigned-By: {keyring}\n");
    fs::write(&sources, text).with_context(|| format!("cannot write {}", sources.display()))?;
    let folder = folder.display();
    Ok([
        format!("Dir::Etc::sourcelist={}", sources.display()),
        "Dir::Etc::sourceparts=/dev/null".into(),
        format!("Dir::State::lists={folder}/lists"),
        format!("Dir::Cache={folder}/cache"),
        "Dir::State::status=/dev/null".into(),
        // Run by root, apt would change to a user who may not write to the folder.
        "APT::Sandbox::User=root".into(),
        "Acquire::Languages=none".into(),
    ]
    .into_iter()
    .flat_map(|option| ["-o".to_owned(), option])
    .collect())
}

/// The file that apt downloaded for the package `name`.
fn archive_of(folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let is_its = |path: &PathBuf| {
        let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        file.starts_with(&format!("{name}_")) && file.ends_with(".deb")
    };
    entries.flatten().map(|entry| entry.path()).find(is_its).with_context(|| format!("apt did not download {name}"))
}

/// Lays links out over the unpacked packages, and a `glslc` that runs on the unpacked C library.
fn arrange(folder: &Path) -> anyhow::Result<()> {
    let libraries = fs::read_dir(folder.join("root/usr/lib"))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .find(|name| name.ends_with("-linux-gnu"))
        .context("the packages hold no libraries")?;
    let loader = fs::read_dir(folder.join("root/usr/lib").join(&libraries))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .find(|name| name.starts_with("ld-linux"))
        .context("the packages hold no dynamic loader")?;
    fs::create_dir_all(folder.join("lib"))?;
    fs::create_dir_all(folder.join("bin"))?;
    link("root/usr/include", &folder.join("include"))?;
    link("root/usr/share", &folder.join("share"))?;
    link(&format!("../root/usr/lib/{libraries}/libvulkan.so.1"), &folder.join("lib/libvulkan.so"))?;
    let script = format!(
        "#!/bin/sh\n\
         root=$(dirname \"$0\")/../root/usr\n\
         libraries=$root/lib/{libraries}\n\
         exec \"$libraries/{loader}\" --library-path \"$libraries\" \"$root/bin/glslc\" \"$@\"\n"
    );
    let glslc = folder.join("bin/glslc");
    fs::write(&glslc, script).with_context(|| format!("cannot write {}", glslc.display()))?;
    make_executable(&glslc)
}
