//! Which file becomes which: inputs typed as files, folders and patterns, and where their results go.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::picture::FileFormat;
use crate::exit::UsageError;

/// One image to upscale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) input: PathBuf,
    pub(crate) output: PathBuf,
    pub(crate) format: FileFormat,
}

/// Whether results may replace files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Keep,
    Replace,
}

/// Finds the images that `typed` names, and the place of each one's result. Only a folder for the results is made, nothing
/// else is written.
pub(crate) fn find(typed: &[PathBuf], output: &Path, existing: Existing) -> anyhow::Result<Vec<Job>> {
    let mut inputs = Vec::new();
    let mut names_one_file = true;
    for path in typed {
        names_one_file &= expand(path, &mut inputs)? && typed.len() == 1;
    }
    let mut seen = HashSet::new();
    inputs.retain(|input| seen.insert(input.clone()));

    let into_folder = !names_one_file || output.is_dir() || output.as_os_str().to_string_lossy().ends_with('/');
    let jobs = if into_folder { jobs_into_folder(inputs, output)? } else { vec![job_into_file(inputs, output)?] };
    check_outputs(&jobs, existing)?;
    if into_folder {
        fs::create_dir_all(output).with_context(|| format!("cannot make the folder {}", output.display()))?;
    }
    Ok(jobs)
}

/// Adds what a typed path names, and says whether that is a single file by its nature.
fn expand(path: &Path, inputs: &mut Vec<PathBuf>) -> anyhow::Result<bool> {
    if path.is_dir() {
        let n_before = inputs.len();
        let folder = fs::read_dir(path).with_context(|| format!("cannot read the folder {}", path.display()))?;
        for entry in folder {
            let entry = entry.with_context(|| format!("cannot read the folder {}", path.display()))?.path();
            if FileFormat::of_path(&entry).is_some() && entry.is_file() {
                inputs.push(entry);
            }
        }
        if inputs.len() == n_before {
            bail!("the folder {} holds no {} file", path.display(), FileFormat::EXTENSIONS);
        }
        inputs[n_before..].sort();
        return Ok(false);
    }
    let is_pattern = !path.exists() && path.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let Some(pattern) = path.to_str().filter(|_| is_pattern) else {
        // Whether it can be read turns out when its turn comes.
        inputs.push(path.to_owned());
        return Ok(true);
    };
    let n_before = inputs.len();
    let paths = glob::glob(pattern).map_err(|error| UsageError(format!("'{pattern}' is not a pattern: {error}")))?;
    for found in paths {
        let found = found.with_context(|| format!("cannot look for '{pattern}'"))?;
        if found.is_file() {
            inputs.push(found);
        }
    }
    if inputs.len() == n_before {
        bail!("no file matches '{pattern}'");
    }
    Ok(false)
}

fn job_into_file(mut inputs: Vec<PathBuf>, output: &Path) -> anyhow::Result<Job> {
    let input = inputs.pop().context("no image to upscale")?;
    let Some(format) = FileFormat::of_path(output) else {
        let message = format!("cannot tell the format of {}: name it {}", output.display(), FileFormat::EXTENSIONS);
        return Err(UsageError(message).into());
    };
    Ok(Job { input, output: output.to_owned(), format })
}

/// Results take the names of their images, and PNG where that is not a format to write.
fn jobs_into_folder(inputs: Vec<PathBuf>, folder: &Path) -> anyhow::Result<Vec<Job>> {
    if folder.exists() && !folder.is_dir() {
        return Err(UsageError(format!("{} is a file: several images need a folder", folder.display())).into());
    }
    let mut taken: HashMap<PathBuf, PathBuf> = HashMap::new();
    let mut jobs = Vec::new();
    for input in inputs {
        let name = input.file_name().with_context(|| format!("{} has no file name", input.display()))?;
        let mut output = folder.join(name);
        let format = FileFormat::of_path(&output).unwrap_or_else(|| {
            output.set_extension("png");
            FileFormat::Png
        });
        if let Some(other) = taken.insert(output.clone(), input.clone()) {
            let (first, second) = (other.display(), input.display());
            return Err(UsageError(format!("{first} and {second} would both become {}", output.display())).into());
        }
        jobs.push(Job { input, output, format });
    }
    Ok(jobs)
}

/// Refuses results that would replace an image to be read, or, unless allowed, any file.
fn check_outputs(jobs: &[Job], existing: Existing) -> anyhow::Result<()> {
    let inputs: HashSet<PathBuf> = jobs.iter().filter_map(|job| job.input.canonicalize().ok()).collect();
    let replaces_input = |job: &&Job| job.output.canonicalize().is_ok_and(|output| inputs.contains(&output));
    if let Some(job) = jobs.iter().find(replaces_input) {
        let message = format!("{} is an image to be upscaled: write the result elsewhere", job.output.display());
        return Err(UsageError(message).into());
    }
    let is_there = |job: &&Job| job.output.symlink_metadata().is_ok();
    let existing = jobs.iter().filter(|_| existing == Existing::Keep).filter(is_there).collect::<Vec<_>>();
    match existing.as_slice() {
        [] => Ok(()),
        [job] => bail!("{} exists; --force replaces it", job.output.display()),
        [job, others @ ..] => {
            bail!("{} and {} more exist; --force replaces them", job.output.display(), others.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the named, empty files.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    /// Finds jobs with paths below `folder`, and shows them as `in > out`.
    fn found(
        folder: &tempfile::TempDir,
        typed: &[&str],
        output: &str,
        existing: Existing,
    ) -> Result<Vec<String>, String> {
        let root = folder.path();
        let typed: Vec<_> = typed.iter().map(|name| root.join(name)).collect();
        let show = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
        match find(&typed, &root.join(output), existing) {
            Ok(jobs) => Ok(jobs.iter().map(|job| format!("{} > {}", show(&job.input), show(&job.output))).collect()),
            Err(error) => Err(error.to_string().replace(&format!("{}/", root.display()), "")),
        }
    }

    #[test]
    fn one_file_becomes_a_file_or_goes_into_a_folder() {
        let folder = folder(&["a.png", "b.dat", "there/x.png"]);
        assert_eq!(found(&folder, &["a.png"], "out.webp", Existing::Keep).unwrap(), ["a.png > out.webp"]);
        assert_eq!(found(&folder, &["a.png"], "there", Existing::Keep).unwrap(), ["a.png > there/a.png"]);
        assert_eq!(found(&folder, &["a.png"], "new/", Existing::Keep).unwrap(), ["a.png > new/a.png"]);
        assert!(folder.path().join("new").is_dir());
        let error = found(&folder, &["a.png"], "out.gif", Existing::Keep).unwrap_err();
        assert_eq!(error, "cannot tell the format of out.gif: name it .png, .jpg, .jpeg or .webp");
    }

    #[test]
    fn folders_and_patterns_name_the_images_in_them_in_order() {
        let folder = folder(&["in/b.jpg", "in/a.PNG", "in/notes.txt", "in/deeper/c.png"]);
        let of_folder = found(&folder, &["in"], "out", Existing::Keep).unwrap();
        assert_eq!(of_folder, ["in/a.PNG > out/a.PNG", "in/b.jpg > out/b.jpg"]);
        let of_pattern = found(&folder, &["in/*.*g", "in/b.jpg"], "out", Existing::Keep).unwrap();
        assert_eq!(of_pattern, ["in/b.jpg > out/b.jpg"]);
        assert_eq!(found(&folder, &["in/*.gif"], "out", Existing::Keep).unwrap_err(), "no file matches 'in/*.gif'");
        assert!(
            found(&folder, &["in/deeper/../../in/[!]"], "out", Existing::Keep).unwrap_err().contains("not a pattern")
        );
    }

    #[test]
    fn a_file_whose_name_looks_like_a_pattern_is_that_file() {
        let folder = folder(&["a[1].png", "a1.png"]);
        assert_eq!(found(&folder, &["a[1].png"], "out.png", Existing::Keep).unwrap(), ["a[1].png > out.png"]);
    }

    #[test]
    fn several_images_need_a_folder_and_names_of_their_own() {
        let folder = folder(&["a.png", "b.tiff", "c/a.png"]);
        assert_eq!(
            found(&folder, &["a.png", "b.tiff"], "out", Existing::Keep).unwrap(),
            ["a.png > out/a.png", "b.tiff > out/b.png"]
        );
        assert_eq!(
            found(&folder, &["a.png", "b.tiff"], "c/a.png", Existing::Keep).unwrap_err(),
            "c/a.png is a file: several images need a folder"
        );
        assert_eq!(
            found(&folder, &["a.png", "c/a.png"], "out2", Existing::Keep).unwrap_err(),
            "a.png and c/a.png would both become out2/a.png"
        );
        assert!(!folder.path().join("out2").exists());
    }

    #[test]
    fn what_exists_is_kept_unless_it_may_be_replaced() {
        let folder = folder(&["a.png", "b.png", "out/a.png", "out/b.png"]);
        let error = found(&folder, &["a.png", "b.png"], "out", Existing::Keep).unwrap_err();
        assert_eq!(error, "out/a.png and 1 more exist; --force replaces them");
        assert_eq!(found(&folder, &["a.png", "b.png"], "out", Existing::Replace).unwrap().len(), 2);
    }

    #[test]
    fn an_image_never_replaces_an_image_that_is_read() {
        let folder = folder(&["a.png", "b.png"]);
        for (typed, output) in [(&["a.png"][..], "a.png"), (&["a.png", "b.png"], ".")] {
            let error = found(&folder, typed, output, Existing::Replace).unwrap_err();
            assert!(error.contains("is an image to be upscaled"), "{error}");
        }
    }
}
