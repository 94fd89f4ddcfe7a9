//! Faults behind switches: all are planted at once, and an environment variable selects one, so that one
//! build serves all of them.
//!
//! The function of a fault is written twice, with and without it. rustfmt's layout shows where a function
//! begins and ends.

use std::collections::BTreeMap;
use std::ops::Range;

use super::patch::FaultPatch;
use crate::workspace::TaskError;

/// Names the fault that is there.
pub(crate) const VARIABLE: &str = "MYRISCOPE_PLANTED";

/// Goes into `codec`, on which all others depend.
pub(crate) fn switch() -> String {
    format!(
        "
/// True if this fault is switched on.
#[must_use]
pub fn planted(number: u32) -> bool {{
    static NUMBER: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let number_there = NUMBER.get_or_init(|| {{
        let text = std::env::var(\"{VARIABLE}\").unwrap_or_default();
        text.parse().unwrap_or_default()
    }});
    *number_there == number
}}
"
    )
}

/// The lines that a patch replaces, and the patch.
type PlantedLines<'a> = (Range<usize>, &'a FaultPatch);

/// A file's text with its faults behind switches.
pub(crate) fn plant(text: &str, patches: &[&FaultPatch]) -> Result<String, TaskError> {
    let lines: Vec<&str> = text.lines().collect();
    let mut bodies: BTreeMap<(usize, usize), Vec<PlantedLines<'_>>> = BTreeMap::new();
    for patch in patches {
        let place = place(&lines, patch)?;
        let body = body(&lines, place.start)
            .ok_or_else(|| format!("{}: is in no function", patch.name))?;
        bodies.entry((body.start, body.end)).or_default().push((place, patch));
    }
    let mut out = String::new();
    let mut add = |line: &str| {
        out.push_str(line);
        out.push('\n');
    };
    let mut at = 0;
    for ((start, end), planted) in &bodies {
        let signature = head(&lines, *start);
        let before = lines.get(at..*start).unwrap_or_default();
        for (number, line) in (at..).zip(before) {
            // What is switched is not constant.
            let plain = line.replacen("const fn ", "fn ", usize::from(number >= signature));
            add(&plain);
        }
        for (place, patch) in planted {
            let path = if patch.krate() == "codec" { "crate" } else { "codec" };
            add(&format!("if {path}::planted({}) {{", patch.number));
            lines.get(*start..place.start).unwrap_or_default().iter().for_each(|line| add(line));
            changed(patch).1.iter().for_each(|line| add(line));
            lines.get(place.end..*end).unwrap_or_default().iter().for_each(|line| add(line));
            add("} else");
        }
        add("{");
        lines.get(*start..*end).unwrap_or_default().iter().for_each(|line| add(line));
        add("}");
        at = *end;
    }
    lines.get(at..).unwrap_or_default().iter().for_each(|line| add(line));
    Ok(out)
}

/// The lines that a patch replaces.
fn place(lines: &[&str], patch: &FaultPatch) -> Result<Range<usize>, TaskError> {
    let count = patch.old.len();
    let mut found = (0..lines.len()).filter(|at| {
        lines.get(*at..at + count).is_some_and(|here| here.iter().eq(patch.old.iter()))
    });
    let (before, new) = changed(patch);
    let behind = patch.new.len() - before - new.len();
    match (found.next(), found.next()) {
        (Some(at), None) => Ok(at + before..at + count - behind),
        (None, _) => Err(format!("{}: what it replaces is not there", patch.name)),
        (Some(_), Some(_)) => Err(format!("{}: what it replaces is there twice", patch.name)),
    }
}

/// Number of unchanged lines before a patch's change, and the new lines.
fn changed(patch: &FaultPatch) -> (usize, &[String]) {
    let FaultPatch { old, new, .. } = patch;
    let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let least = old.len().min(new.len()) - before;
    let ends = old.iter().rev().zip(new.iter().rev());
    let behind = ends.take(least).take_while(|(old, new)| old == new).count();
    (before, new.get(before..new.len() - behind).unwrap_or_default())
}

/// The lines between the braces of the function that a line is in.
fn body(lines: &[&str], inside: usize) -> Option<Range<usize>> {
    (0..=inside).rev().find_map(|at| {
        let indent = is_function(lines.get(at)?)?;
        let start = at + lines.get(at..)?.iter().position(|line| line.ends_with('{'))? + 1;
        let is_end = |line: &&str| line.len() == indent + 1 && line.trim_start() == "}";
        let end = start + lines.get(start..)?.iter().position(is_end)?;
        (start..end).contains(&inside).then_some(start..end)
    })
}

/// The line that a function begins with whose body begins there.
fn head(lines: &[&str], start: usize) -> usize {
    let is_head = |at: &usize| lines.get(*at).and_then(|line| is_function(line)).is_some();
    (0..start).rev().find(is_head).unwrap_or(start)
}

/// Indentation of a line that begins a function.
fn is_function(line: &str) -> Option<usize> {
    let code = line.trim_start();
    let words = code.split_once("fn ")?.0;
    let only =
        |word: &str| word.starts_with("pub") || ["const", "super)", "crate)"].contains(&word);
    words.split_whitespace().all(only).then_some(line.len() - code.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::patch;
    use crate::workspace::root;

    fn patch(old: &[&str], new: &[&str]) -> FaultPatch {
        let mut patch = patch::named(&["01".to_owned()]).unwrap().remove(0);
        let text = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        (patch.number, patch.file) = (7, "simulator/src/a.rs".to_owned());
        (patch.old, patch.new) = (text(old), text(new));
        patch
    }

    #[test]
    fn the_function_is_there_twice_and_is_not_constant() {
        let text = "\
impl A {
    const fn other(self) -> u8 {
        1
    }

    pub const fn step(
        self,
    ) -> u8 {
        let one = 1;
        one + self.0
    }
}
";
        let patch = patch(&["        let one = 1;"], &["        let one = 2;"]);
        let planted = plant(text, &[&patch]).unwrap();
        assert_eq!(
            planted,
            "\
impl A {
    const fn other(self) -> u8 {
        1
    }

    pub fn step(
        self,
    ) -> u8 {
if codec::planted(7) {
        let one = 2;
        one + self.0
} else
{
        let one = 1;
        one + self.0
}
    }
}
"
        );
    }

    #[test]
    fn what_is_not_there_or_twice_is_refused() {
        let patch = patch(&["        1"], &[]);
        assert!(plant("fn a() {\n    2\n}\n", &[&patch]).is_err());
        assert!(plant("        1\n", &[&patch]).is_err(), "in no function");
        let twice = "fn a() {\n        1\n}\nfn b() {\n        1\n}\n";
        assert!(plant(twice, &[&patch]).is_err());
    }

    #[test]
    fn every_patch_can_be_put_behind_a_switch() {
        for patch in patch::named(&[]).unwrap() {
            let text = std::fs::read_to_string(root().join(&patch.file)).unwrap();
            let planted = plant(&text, &[&patch]);
            assert!(planted.is_ok(), "{planted:?}");
        }
    }
}
