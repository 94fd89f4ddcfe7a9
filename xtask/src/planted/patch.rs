//! A planted fault: a patch of one line with a header that describes it.

use std::fs;
use std::path::Path;

use crate::workspace::{TaskError, at, files, root, shown};

/// A fault to be planted.
#[derive(Clone, Debug)]
pub(crate) struct FaultPatch {
    /// The file's name, without its end: `07-crc-of-one-byte`.
    pub(crate) name: String,
    /// Number at the start of the name, which switches the fault on.
    pub(crate) number: u32,
    /// Description in a sentence.
    pub(crate) what: String,
    /// The rule of `docs/rules.md` that is broken, or what else asks for it.
    pub(crate) rule: String,
    /// The fuzz targets that may find it, the likeliest first.
    pub(crate) targets: Vec<String>,
    /// The file that is changed, from the root.
    pub(crate) file: String,
    /// The lines that are replaced, with those around them.
    pub(crate) old: Vec<String>,
    /// The replacement, with the lines around it.
    pub(crate) new: Vec<String>,
}

impl FaultPatch {
    /// Reads a patch and its head.
    fn read(path: &Path) -> Result<Self, TaskError> {
        let text = fs::read_to_string(path).map_err(at(path))?;
        let header = |mark: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(mark));
            line.map(|rest| rest.trim().to_owned())
                .ok_or_else(|| format!("{}: no line {mark}", shown(path)))
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let number = name.split_once('-').and_then(|(number, _)| number.parse().ok());
        let number = number.ok_or_else(|| format!("{}: no number", shown(path)))?;
        let (what, rule, file) = (header("What:")?, header("Rule:")?, header("+++ b/")?);
        let targets = header("Targets:")?.split_whitespace().map(str::to_owned).collect();
        let hunk = text.lines().skip_while(|line| !line.starts_with("@@")).skip(1);
        let side = |mark: char| {
            let its = |line: &str| line.strip_prefix([' ', mark]).map(str::to_owned);
            hunk.clone().filter_map(its).collect()
        };
        let (old, new) = (side('-'), side('+'));
        Ok(Self { name, number, what, rule, targets, file, old, new })
    }

    /// The crate that is changed, as cargo calls it.
    pub(crate) fn krate(&self) -> &str {
        self.file.split('/').next().unwrap_or_default()
    }
}

/// The faults with the given numbers or names, or all, in the order of their numbers.
pub(crate) fn named(asked: &[String]) -> Result<Vec<FaultPatch>, TaskError> {
    let mut paths = files(&root().join("fuzz/planted"))?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "patch"));
    let all = paths.iter().map(|path| FaultPatch::read(path)).collect::<Result<Vec<_>, _>>()?;
    if asked.is_empty() {
        return Ok(all);
    }
    let find = |name: &String| {
        let its = |patch: &&FaultPatch| {
            patch.name.split_once('-').is_some_and(|(number, rest)| number == name || rest == name)
                || patch.name == *name
        };
        all.iter().find(its).cloned().ok_or_else(|| format!("{name}: no such patch"))
    };
    asked.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{command, run_command};

    #[test]
    fn every_patch_applies_to_the_tree() {
        for patch in named(&[]).unwrap() {
            let path = format!("fuzz/planted/{}.patch", patch.name);
            let applies = run_command(command("git").args(["apply", "--check", &path]));
            assert!(applies.is_ok(), "{}: make it anew for what its line is now", patch.name);
        }
    }

    #[test]
    fn there_are_forty_at_least_and_each_changes_one_line() {
        let all = named(&[]).unwrap();
        assert!(all.len() >= 40, "{}", all.len());
        for patch in &all {
            let kept = patch.old.iter().filter(|line| patch.new.contains(line)).count();
            let changed = patch.old.len() - kept;
            assert!(changed == 1 && patch.new.len() <= kept + 1, "{}", patch.name);
            assert!(["codec", "simulator", "analyzer"].contains(&patch.krate()), "{}", patch.name);
        }
    }

    #[test]
    fn every_patch_names_targets_that_there_are_and_a_rule() {
        for patch in named(&[]).unwrap() {
            assert!(!patch.targets.is_empty() && !patch.what.is_empty() && !patch.rule.is_empty());
            for target in &patch.targets {
                let source = root().join("fuzz/fuzz_targets").join(format!("{target}.rs"));
                assert!(source.is_file(), "{}: no target {target}", patch.name);
            }
        }
    }

    #[test]
    fn a_patch_is_asked_for_by_number_or_name() {
        let first = named(&["01".to_owned()]).unwrap().remove(0).name;
        let rest = first.trim_start_matches("01-").to_owned();
        assert_eq!(named(&[rest]).unwrap().remove(0).name, first);
        assert!(named(&["no-such-fault".to_owned()]).is_err());
    }
}
