//! A copy of the repository in which all faults are planted, with directories of its own to build in.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::SearchMethod;
use super::patch::FaultPatch;
use super::switch::{VARIABLE, plant, switch};
use crate::workspace::{TaskError, at, command, output, root, run_command};

/// The copy, and what is built of it.
#[derive(Debug)]
pub(crate) struct PlantedTree {
    /// All of it: `target/planted/tests`, and so on, so that all three can look at once.
    directory: PathBuf,
    /// The commit that it is a copy of, with a `+` if there is more in it than that.
    pub(crate) commit: String,
}

impl PlantedTree {
    /// Brings the copy up to date. A file that is the same stays, so that what was built of it need
    /// not be built again.
    pub(crate) fn new(patches: &[FaultPatch], by: SearchMethod) -> Result<Self, TaskError> {
        let mut commit = output(command("git").args(["rev-parse", "--short", "HEAD"]))?;
        // But for the results, which are written as they come.
        let what = ["status", "--porcelain", "-uno", "--", ".", ":!fuzz/planted/results.json"];
        let changed = output(command("git").args(what))?;
        if !changed.is_empty() {
            commit.push('+');
        }
        let directory = root().join("target/planted").join(by.name());
        let tree = Self { directory, commit };
        let mut planted: BTreeMap<&str, Vec<&FaultPatch>> = BTreeMap::new();
        for patch in patches {
            planted.entry(&patch.file).or_default().push(patch);
        }
        let files = output(command("git").args(["ls-files", "-z"]))?;
        let files: BTreeSet<&str> = files.split('\0').filter(|file| !file.is_empty()).collect();
        for file in &files {
            let from = root().join(file);
            if from.is_symlink() {
                tree.link(file, &fs::read_link(&from).map_err(at(&from))?)?;
                continue;
            }
            if !from.is_file() {
                continue;
            }
            let mut bytes = fs::read(&from).map_err(at(&from))?;
            if let Some(patches) = planted.get(file) {
                bytes = plant(&String::from_utf8_lossy(&bytes), patches)?.into_bytes();
            }
            if *file == "codec/src/lib.rs" {
                bytes.extend(switch().into_bytes());
            }
            tree.write(file, &bytes)?;
        }
        tree.remove_others(&tree.path(), &files)?;
        Ok(tree)
    }

    /// Path of the copy.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join("tree")
    }

    /// A directory beside the copy, for what is built or found.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// An empty directory beside the copy.
    pub(crate) fn empty(&self, name: &str) -> Result<PathBuf, TaskError> {
        let path = self.beside(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).map_err(at(&path))?;
        }
        fs::create_dir_all(&path).map_err(at(&path))?;
        Ok(path)
    }

    /// A command in the copy that builds.
    pub(crate) fn build(&self, arguments: &[&str]) -> Result<(), TaskError> {
        let mut cargo = command("cargo");
        cargo.current_dir(self.path()).args(arguments).arg("--target-dir").arg(self.built());
        run_command(&mut cargo)
    }

    /// Build directory.
    pub(crate) fn built(&self) -> PathBuf {
        self.beside("build")
    }

    /// A command in the copy with one fault there, or none, that is stopped after so many seconds with
    /// all that it has begun.
    pub(crate) fn command(
        &self,
        patch: Option<&FaultPatch>,
        seconds: u64,
        program: &Path,
    ) -> Command {
        let mut command = Command::new("timeout");
        command.current_dir(self.path());
        command.env(VARIABLE, patch.map_or(0, |patch| patch.number).to_string());
        command.args(["--kill-after=5", &seconds.to_string()]).arg(program);
        command
    }

    fn write(&self, file: &str, bytes: &[u8]) -> Result<(), TaskError> {
        let to = self.path().join(file);
        if fs::read(&to).is_ok_and(|old| old == bytes) {
            return Ok(());
        }
        if let Some(above) = to.parent() {
            fs::create_dir_all(above).map_err(at(above))?;
        }
        fs::write(&to, bytes).map_err(at(&to))
    }

    /// A symbolic link to another file of the copy, as samples and demos of a crate are.
    fn link(&self, file: &str, target: &Path) -> Result<(), TaskError> {
        let to = self.path().join(file);
        if fs::read_link(&to).is_ok_and(|old| old == target) {
            return Ok(());
        }
        if let Some(above) = to.parent() {
            fs::create_dir_all(above).map_err(at(above))?;
        }
        symlink(target, &to).map_err(at(&to))
    }

    /// Removes what is in the copy and no more in the repository.
    fn remove_others(&self, within: &Path, files: &BTreeSet<&str>) -> Result<(), TaskError> {
        for entry in fs::read_dir(within).map_err(at(within))? {
            let path = entry.map_err(at(within))?.path();
            let name = path.strip_prefix(self.path()).unwrap_or(&path).to_string_lossy();
            if path.is_dir() && !path.is_symlink() {
                self.remove_others(&path, files)?;
            } else if !files.contains(&*name) {
                fs::remove_file(&path).map_err(at(&path))?;
            }
        }
        Ok(())
    }
}
