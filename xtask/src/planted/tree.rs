//! A copy of the repository in which faults are planted, with directories of its own to build in.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::By;
use super::patch::Patch;
use crate::workspace::{Failure, at, command, done, output, root};

/// The copy, and what is built of it.
#[derive(Debug)]
pub(crate) struct Tree {
    /// All of it: `target/planted/tests`, and so on, so that all three can look at once.
    directory: PathBuf,
    /// The commit that it is a copy of, with a `+` if there is more in it than that.
    pub(crate) commit: String,
}

/// How a cargo command of the copy builds: only what a fault changes is built anew, and quickly.
const SETTINGS: [(&str, &str); 8] = [
    ("CARGO_INCREMENTAL", "1"),
    ("CARGO_PROFILE_DEV_DEBUG", "line-tables-only"),
    ("CARGO_PROFILE_TEST_DEBUG", "line-tables-only"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "0"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "2"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "64"),
    ("CI", "true"),
    ("INSTA_UPDATE", "no"),
];

impl Tree {
    /// Brings the copy up to date.
    ///
    /// # Errors
    /// Git does not say what there is, or it cannot be copied.
    pub(crate) fn new(by: By) -> Result<Self, Failure> {
        let mut commit = output(command("git").args(["rev-parse", "--short", "HEAD"]))?;
        let changed = output(command("git").args(["status", "--porcelain", "-uno"]))?;
        if !changed.is_empty() {
            commit.push('+');
        }
        let tree = Self { directory: root().join("target/planted").join(by.name()), commit };
        tree.mend()?;
        Ok(tree)
    }

    /// Where the copy stands.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join("tree")
    }

    /// A directory beside the copy, for what is built or found.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// An empty directory beside the copy.
    ///
    /// # Errors
    /// It cannot be emptied or made.
    pub(crate) fn empty(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.beside(name);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&path)(error)),
            Ok(()) | Err(_) => {}
        }
        fs::create_dir_all(&path).map_err(at(&path))?;
        Ok(path)
    }

    /// A command in the copy that is stopped, with all that it has begun, after so many seconds.
    pub(crate) fn command(&self, seconds: u64, program: &Path) -> Command {
        let mut command = Command::new("timeout");
        command.current_dir(self.path()).envs(SETTINGS);
        // It stands in the repository, and is no part of it.
        command.env("GIT_CEILING_DIRECTORIES", &self.directory);
        command.args(["--kill-after=5", &seconds.to_string()]).arg(program);
        command
    }

    /// Makes the copy what the repository is, but for one fault.
    ///
    /// # Errors
    /// The files cannot be copied, or the patch does not apply.
    pub(crate) fn plant(&self, patch: &Patch) -> Result<(), Failure> {
        self.mend()?;
        done(self.command(60, Path::new("git")).arg("apply").arg(&patch.path))
    }

    /// Makes the copy what the repository is. A file that is the same stays, so that what was built
    /// of it need not be built again.
    fn mend(&self) -> Result<(), Failure> {
        let files = output(command("git").args(["ls-files", "-z"]))?;
        let files: BTreeSet<&str> = files.split('\0').filter(|file| !file.is_empty()).collect();
        for file in &files {
            let (from, to) = (root().join(file), self.path().join(file));
            if from.is_symlink() || !from.is_file() {
                continue;
            }
            let bytes = fs::read(&from).map_err(at(&from))?;
            if fs::read(&to).is_ok_and(|old| old == bytes) {
                continue;
            }
            if let Some(above) = to.parent() {
                fs::create_dir_all(above).map_err(at(above))?;
            }
            fs::write(&to, bytes).map_err(at(&to))?;
        }
        self.remove_others(&self.path(), &files)
    }

    /// Removes what is in the copy and no more in the repository.
    fn remove_others(&self, within: &Path, files: &BTreeSet<&str>) -> Result<(), Failure> {
        for entry in fs::read_dir(within).map_err(at(within))? {
            let path = entry.map_err(at(within))?.path();
            let name = path.strip_prefix(self.path()).unwrap_or(&path).to_string_lossy();
            if path.is_dir() {
                self.remove_others(&path, files)?;
            } else if !files.contains(&*name) {
                fs::remove_file(&path).map_err(at(&path))?;
            }
        }
        Ok(())
    }
}
