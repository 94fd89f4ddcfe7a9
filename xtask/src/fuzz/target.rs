//! A target: its binary, its directories, and the options that it runs with.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::workspace::{TaskError, at, files, root, shown};

/// A target that is built.
#[derive(Debug)]
pub(crate) struct FuzzTarget {
    pub(crate) name: String,
    pub(crate) binary: PathBuf,
    /// libFuzzer's options: those of `fuzz/options/`, and the dictionary.
    pub(crate) flags: Vec<String>,
}

impl FuzzTarget {
    /// A target in the directory of the binaries.
    pub(crate) fn new(name: &str, binaries: &Path) -> Result<Self, TaskError> {
        let path = root().join(format!("fuzz/options/{name}.options"));
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(at(&path)(error)),
        };
        let options = section(&text, "libfuzzer");
        let mut options = options.map_err(|fault| format!("{}, {fault}", shown(&path)))?;
        let dictionary = format!("{name}.dict");
        if root().join("fuzz/dict").join(&dictionary).is_file() {
            options.entry("dict".to_owned()).or_insert(dictionary);
        }
        let (name, binary, flags) = (name.to_owned(), binaries.join(name), flags(&options));
        Ok(Self { name, binary, flags })
    }

    /// Directory of the checked-in inputs.
    pub(crate) fn seeds(&self) -> PathBuf {
        root().join("corpus").join(&self.name)
    }

    /// Directory of inputs found by earlier runs, shared by all jobs.
    pub(crate) fn work(&self) -> PathBuf {
        root().join("fuzz/work").join(&self.name)
    }

    /// Directory of inputs that violate a law.
    pub(crate) fn artifacts(&self) -> PathBuf {
        root().join("fuzz/artifacts").join(&self.name)
    }
}

/// Names of the given targets, or of all, sorted.
pub(crate) fn names(asked: &[String]) -> Result<Vec<String>, TaskError> {
    let sources = files(&root().join("fuzz/fuzz_targets"))?;
    let stem = |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let all: Vec<String> = sources.iter().filter_map(stem).collect();
    if let Some(unknown) = asked.iter().find(|name| !all.contains(name)) {
        return Err(format!("{unknown}: no such target; there are {}", all.join(", ")));
    }
    Ok(if asked.is_empty() { all } else { asked.to_vec() })
}

/// The options of a section. The format is OSS-Fuzz's: `libfuzzer` is a section of it, others are for sanitizers.
fn section(text: &str, named: &str) -> Result<BTreeMap<String, String>, TaskError> {
    let mut options = BTreeMap::new();
    let mut section = "";
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let bracketed = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        if line.is_empty() || line.starts_with('#') {
            continue;
        } else if let Some(name) = bracketed {
            section = name;
        } else if let Some((key, value)) = line.split_once('=') {
            if section == named {
                options.insert(key.trim().to_owned(), value.trim().to_owned());
            }
        } else {
            return Err(format!("line {number}: {line} is neither [section] nor key = value"));
        }
    }
    Ok(options)
}

/// Options as libFuzzer takes them, at the root. A dictionary's name is that of a file in
/// `fuzz/dict/`, which `build.sh` puts beside the target.
fn flags(options: &BTreeMap<String, String>) -> Vec<String> {
    let flag = |(key, value): (&String, &String)| match key.as_str() {
        "dict" => format!("-dict=fuzz/dict/{value}"),
        _ => format!("-{key}={value}"),
    };
    options.iter().map(flag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_section() {
        let text = "# why\n[libfuzzer]\nmax_len = 64\n\ndict=x.dict\n[asan]\ndetect_leaks = 0\n";
        let options = section(text, "libfuzzer").unwrap();
        assert_eq!(flags(&options), ["-dict=fuzz/dict/x.dict", "-max_len=64"]);
    }

    #[test]
    fn a_line_that_is_no_option_is_named() {
        let fault = section("[libfuzzer]\nmax_len 64", "libfuzzer").unwrap_err();
        assert_eq!(fault, "line 2: max_len 64 is neither [section] nor key = value");
    }

    #[test]
    fn every_file_of_options_and_every_dictionary_is_a_targets() {
        let all = names(&[]).unwrap();
        for directory in ["fuzz/options", "fuzz/dict"] {
            for path in files(&root().join(directory)).unwrap() {
                let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
                assert!(all.contains(&stem), "{} is of no target", path.display());
            }
        }
        for name in all {
            let target = FuzzTarget::new(&name, Path::new("")).unwrap();
            for flag in target.flags {
                if let Some(dictionary) = flag.strip_prefix("-dict=") {
                    assert!(root().join(dictionary).is_file(), "{name}: no {dictionary}");
                }
            }
        }
    }
}
