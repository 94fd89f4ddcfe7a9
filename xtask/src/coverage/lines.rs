//! Code lines and their execution counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::{TaskError, at, before_tests, root, shown};

/// Sources of a crate without the tests at the end of files.
#[derive(Debug)]
pub(crate) struct CrateLines {
    pub(crate) name: String,
    /// Files with the number of lines before their tests.
    files: BTreeMap<PathBuf, usize>,
}

/// Execution counts of code lines, by file and line.
#[derive(Debug, Default)]
pub(crate) struct LineCounts(BTreeMap<PathBuf, BTreeMap<usize, u64>>);

impl LineCounts {
    /// Reads LCOV's `SF:` file and `DA:` line and count.
    pub(crate) fn read(lcov: &str) -> Self {
        let mut reached = Self::default();
        let mut file = None;
        for line in lcov.lines() {
            if let Some(path) = line.strip_prefix("SF:") {
                file = Some(reached.0.entry(PathBuf::from(path)).or_default());
            } else if let (Some(file), Some(counted)) = (&mut file, line.strip_prefix("DA:")) {
                let mut numbers = counted.split(',').map(str::parse::<u64>);
                if let (Some(Ok(line)), Some(Ok(count))) = (numbers.next(), numbers.next())
                    && let Ok(line) = usize::try_from(line)
                {
                    *file.entry(line).or_default() += count;
                }
            }
        }
        reached
    }
}

impl CrateLines {
    /// The sources of the crate in a directory.
    pub(crate) fn of(name: &str) -> Result<Self, TaskError> {
        let mut files = BTreeMap::new();
        collect(&root().join(name).join("src"), &mut files)?;
        Ok(Self { name: name.to_owned(), files })
    }

    /// Number of code lines.
    pub(crate) fn all(&self, reached: &LineCounts) -> usize {
        self.counts(reached).count()
    }

    /// Number of covered code lines.
    pub(crate) fn reached(&self, reached: &LineCounts) -> usize {
        self.counts(reached).filter(|&(_, _, count)| count > 0).count()
    }

    /// Uncovered lines, one text line per file.
    pub(crate) fn missing(&self, reached: &LineCounts) -> String {
        let mut missing: BTreeMap<&PathBuf, Vec<String>> = BTreeMap::new();
        for (file, line, _) in self.counts(reached).filter(|&(_, _, count)| count == 0) {
            missing.entry(file).or_default().push(line.to_string());
        }
        let line = |(file, lines): (&PathBuf, Vec<String>)| {
            format!("{}: {}\n", shown(file), lines.join(" "))
        };
        missing.into_iter().map(line).collect()
    }

    fn counts<'a>(
        &'a self,
        reached: &'a LineCounts,
    ) -> impl Iterator<Item = (&'a PathBuf, usize, u64)> {
        let known = |(file, last): (&'a PathBuf, &'a usize)| {
            let lines = reached.0.get(file).into_iter().flat_map(|lines| lines.range(..=*last));
            lines.map(move |(line, count)| (file, *line, *count))
        };
        self.files.iter().flat_map(known)
    }
}

/// The sources below a directory.
fn collect(directory: &Path, into: &mut BTreeMap<PathBuf, usize>) -> Result<(), TaskError> {
    for entry in fs::read_dir(directory).map_err(at(directory))? {
        let path = entry.map_err(at(directory))?.path();
        if is_tests(&path) {
            continue;
        }
        if path.is_dir() {
            collect(&path, into)?;
        } else {
            let text = fs::read_to_string(&path).map_err(at(&path))?;
            into.insert(path, before_tests(&text));
        }
    }
    Ok(())
}

/// True for files and directories of tests.
fn is_tests(path: &Path) -> bool {
    path.file_stem().is_some_and(|name| name == "tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LCOV: &str = "SF:/a.rs\nFN:1,a\nDA:1,2\nDA:2,0\nDA:9,0\nLF:3\nend_of_record\n\
                        SF:/b.rs\nDA:1,0\nend_of_record\n\
                        SF:/a.rs\nDA:2,5\nend_of_record\n";

    #[test]
    fn a_line_is_reached_if_any_copy_of_it_is_and_tests_are_no_lines() {
        let reached = LineCounts::read(LCOV);
        let files = [(PathBuf::from("/a.rs"), 8), (PathBuf::from("/b.rs"), 8)];
        let lines = CrateLines { name: "crate".to_owned(), files: BTreeMap::from(files) };
        assert_eq!((lines.all(&reached), lines.reached(&reached)), (3, 2));
        assert_eq!(lines.missing(&reached), "/b.rs: 1\n");
    }

    #[test]
    fn a_file_of_tests_and_a_directory_of_them_are_no_sources() {
        let paths = ["src/transport/tests", "src/transport/tests.rs", "src/attests.rs", "src/a"];
        assert_eq!(paths.map(|path| is_tests(Path::new(path))), [true, true, false, false]);
    }
}
