//! Exceptions of `cargo xtask tidy`: `xtask/tidy.txt`, from which lines are only removed.

use std::collections::BTreeMap;
use std::fs;

use crate::workspace::{TaskError, at, root};

/// The lines of the file, each `RULE WHERE WHAT`, and how often each has been used.
pub(super) struct TidyExceptions(BTreeMap<String, usize>);

impl TidyExceptions {
    pub(super) fn read() -> Result<Self, TaskError> {
        let path = root().join("xtask/tidy.txt");
        let text = fs::read_to_string(&path).map_err(at(&path))?;
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        Ok(Self(lines.map(|line| (line.to_owned(), 0)).collect()))
    }

    /// True if the file has this exception, which counts as used.
    pub(super) fn allow(&mut self, rule: &str, place: &str, name: &str) -> bool {
        let found = self.0.get_mut(&format!("{rule} {place} {name}"));
        found.map(|uses| *uses += 1).is_some()
    }

    /// True if the file has this exception with at least this count: `RULE WHERE COUNT`.
    pub(super) fn allow_up_to(&mut self, rule: &str, place: &str, count: usize) -> bool {
        let prefix = format!("{rule} {place} ");
        let mut entries = self.0.iter_mut().filter(|(line, _)| line.starts_with(&prefix));
        let Some((line, uses)) = entries.next() else { return false };
        let max = line.rsplit(' ').next().and_then(|count| count.parse::<usize>().ok());
        *uses += 1;
        max.is_some_and(|max| count <= max)
    }

    /// Faults for exceptions that nothing needs any more.
    pub(super) fn unused(&self) -> impl Iterator<Item = String> {
        let unused = self.0.iter().filter(|(_, uses)| **uses == 0);
        unused.map(|(line, _)| format!("xtask/tidy.txt: remove `{line}`, which is not needed"))
    }
}
