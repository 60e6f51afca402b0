//! Where reference data and fetched weights lie.

use std::env;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The folder of one family of reference data, such as `upscale`, or nothing where the set has no such family.
///
/// The set is `tests/data/` unless the variable `FRESCO_REFERENCES` names another folder of the same format (a relative
/// path starts at the root of the workspace). A missing family is reported on standard error, so that a skipped test
/// says so; a missing set is a failure.
///
/// # Panics
///
/// If the set's folder does not exist.
pub fn references_dir(family: &str) -> Option<PathBuf> {
    let set = match env::var_os("FRESCO_REFERENCES") {
        Some(path) => workspace_root().join(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("data"),
    };
    family_in(&set, family)
}

fn family_in(set: &Path, family: &str) -> Option<PathBuf> {
    assert!(set.is_dir(), "the reference set {} is not a folder; look at FRESCO_REFERENCES", set.display());
    let folder = set.join(family);
    if folder.is_dir() {
        return Some(folder);
    }
    // Written past the test runner, which keeps what passing tests print to itself.
    let _ = writeln!(io::stderr(), "skipped: the reference set {} has no family '{family}'", set.display());
    None
}

/// The folder of fetched weights (`models/`) and photos (`photos/`).
///
/// # Panics
///
/// If they have not been fetched yet.
pub fn testdata_dir() -> PathBuf {
    let folder = workspace_root().join("testdata");
    // The photos come last, so their presence means that everything is there.
    assert!(
        folder.join("photos/flower.jpg").is_file(),
        "{} is missing or incomplete; run `cargo xtask testdata`",
        folder.display()
    );
    folder
}

/// Reads an image file and converts it to 8-bit RGB.
///
/// # Panics
///
/// If the file cannot be read or decoded.
pub fn load_rgb(path: impl AsRef<Path>) -> image::RgbImage {
    let path = path.as_ref();
    match image::open(path) {
        Ok(image) => image.into_rgb8(),
        Err(error) => panic!("cannot read the image {}: {error}", path.display()),
    }
}

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_that_exists_is_found() {
        assert!(references_dir("upscale").unwrap().join("manifest.json").is_file());
    }

    #[test]
    fn an_absent_family_is_skipped() {
        assert_eq!(family_in(Path::new("src"), "no such family"), None);
    }

    #[test]
    #[should_panic(expected = "FRESCO_REFERENCES")]
    fn an_absent_set_is_a_failure() {
        family_in(Path::new("no such set"), "upscale");
    }

    #[test]
    fn an_image_is_read_as_rgb() {
        let image = load_rgb(references_dir("upscale").unwrap().join("flower33x1.png"));
        assert_eq!(image.dimensions(), (33, 1));
    }
}
