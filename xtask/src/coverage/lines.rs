//! Lines of sources, and how often each was reached.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::{TaskError, at, root, shown};

/// The sources of a crate, without the tests at their feet.
#[derive(Debug)]
pub(crate) struct CrateLines {
    pub(crate) name: String,
    /// The files, each with the number of its last line that is no test's.
    files: BTreeMap<PathBuf, usize>,
}

/// How often each line that does something was reached, by file and line.
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
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn of(name: &str) -> Result<Self, TaskError> {
        let mut files = BTreeMap::new();
        collect(&root().join(name).join("src"), &mut files)?;
        Ok(Self { name: name.to_owned(), files })
    }

    /// How many lines do something.
    pub(crate) fn all(&self, reached: &LineCounts) -> usize {
        self.counts(reached).count()
    }

    /// How many of them were reached.
    pub(crate) fn reached(&self, reached: &LineCounts) -> usize {
        self.counts(reached).filter(|&(_, _, count)| count > 0).count()
    }

    /// The lines that were not reached, a line a file.
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

/// Whether a file, or all below a directory, is tests alone.
fn is_tests(path: &Path) -> bool {
    path.file_stem().is_some_and(|name| name == "tests")
}

/// How many lines stand before the tests, which are at the foot of their file.
fn before_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| pair == ["#[cfg(test)]", "mod tests {"]);
    tests.unwrap_or(lines.len())
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

    #[test]
    fn tests_begin_at_the_foot_of_a_file() {
        assert_eq!(before_tests("fn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n"), 2);
        assert_eq!(before_tests("#[cfg(test)]\nfn seen_by_tests() {}\nfn a() {}\n"), 3);
    }
}
