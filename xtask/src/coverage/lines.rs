//! Code lines and their execution counts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::source::SourceFile;
use crate::workspace::{root, shown};

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
    pub(crate) fn of(name: &str, files: &[SourceFile]) -> Self {
        let own = files.iter().filter(|file| file.krate == name);
        let files = own.map(|file| (root().join(&file.path), file.before_tests));
        Self { name: name.to_owned(), files: files.collect() }
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
}
