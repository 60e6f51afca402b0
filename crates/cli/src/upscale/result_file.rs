//! The file of a result: it appears under its name only when it is complete.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::NamedTempFile;

use super::jobs::Existing;

/// A file that is being written beside its final place. Dropping it removes it.
pub(crate) struct ResultFile {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl ResultFile {
    /// Begins a file that will be `path`.
    pub(crate) fn begin(path: &Path) -> anyhow::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".fresco-").suffix(".tmp");
        // Readable as the user's other files are, not by the user alone.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.tempfile_in(folder);
        let temporary = temporary.with_context(|| format!("cannot write into the folder {}", folder.display()))?;
        Ok(Self { temporary, path: path.to_owned() })
    }

    /// Writes the content and gives the file its name. With [`Existing::Keep`], a file that has appeared under that name is
    /// kept and this one is given up.
    pub(crate) fn finish(
        self,
        existing: Existing,
        write: impl FnOnce(&mut BufWriter<&File>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Self { temporary, path } = self;
        let write = || {
            let mut file = BufWriter::new(temporary.as_file());
            write(&mut file)?;
            file.flush()?;
            drop(file);
            // Some file systems find out only now that there is no room.
            temporary.as_file().sync_all()?;
            let kept = match existing {
                Existing::Keep => temporary.persist_noclobber(&path),
                Existing::Replace => temporary.persist(&path),
            };
            kept.map_err(|error| error.error)?;
            anyhow::Ok(())
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_finished_file_has_its_name_and_content() {
        let folder = tempfile::tempdir().unwrap();
        let file = ResultFile::begin(&folder.path().join("a.png")).unwrap();
        assert!(names(folder.path())[0].starts_with(".fresco-"));
        file.finish(Existing::Keep, |file| Ok(file.write_all(b"content")?)).unwrap();
        assert_eq!(fs::read(folder.path().join("a.png")).unwrap(), b"content");
        assert_eq!(names(folder.path()), ["a.png"]);
    }

    #[test]
    fn a_file_that_fails_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = ResultFile::begin(&folder.path().join("a.png")).unwrap();
        assert!(file.finish(Existing::Keep, |_| anyhow::bail!("no")).is_err());
        drop(ResultFile::begin(&folder.path().join("b.png")).unwrap());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_file_that_appeared_meanwhile_is_kept_or_replaced_as_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        for (existing, content) in [(Existing::Keep, "other"), (Existing::Replace, "own")] {
            let file = ResultFile::begin(&path).unwrap();
            fs::write(&path, "other").unwrap();
            let result = file.finish(existing, |file| Ok(file.write_all(b"own")?));
            assert_eq!(result.is_ok(), existing == Existing::Replace);
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            assert_eq!(names(folder.path()), ["a.png"]);
        }
    }
}
