//! Modules of a crate that depend on each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::exceptions::TidyExceptions;
use crate::source::SourceFile;

/// Modules at the top of a crate, and those that each names.
type ModuleUses<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Crates whose modules do not form layers.
pub(super) fn faults(files: &[SourceFile], exceptions: &mut TidyExceptions) -> Vec<String> {
    let crates: BTreeSet<&str> = files.iter().map(|file| file.krate.as_str()).collect();
    let circle = |krate: &str| {
        let modules = in_circles(uses(files.iter().filter(|file| file.krate == krate)));
        let fails = !modules.is_empty() && !exceptions.allow_up_to("circle", krate, modules.len());
        fails.then(|| {
            format!("{krate}: modules depend on each other in a circle: {}", modules.join(", "))
        })
    };
    crates.into_iter().filter_map(circle).collect()
}

fn uses<'a>(files: impl Iterator<Item = &'a SourceFile>) -> ModuleUses<'a> {
    let mut uses = ModuleUses::new();
    for file in files {
        let Some((_, path)) = file.path.split_once("/src/") else { continue };
        let module = path.split(['/', '.']).next().unwrap_or_default();
        let code = file.text.lines().take(file.before_tests).map(code);
        uses.entry(module).or_default().extend(code.flat_map(named));
    }
    let modules: BTreeSet<&str> = uses.keys().copied().collect();
    for (module, named) in &mut uses {
        named.retain(|name| name != module && modules.contains(name));
    }
    uses
}

fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

/// Modules that a line names from the root of its crate, one or several in braces.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let paths = line.split("crate::").skip(1).flat_map(|path| {
        let group = path.strip_prefix('{').and_then(|group| group.split('}').next());
        group.unwrap_or(path).split(',').take(if group.is_some() { usize::MAX } else { 1 })
    });
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    paths.map(move |path| path.trim().split(is_end).next().unwrap_or_default())
}

/// Modules in circles and between them: what is left without those that use none or that none uses.
fn in_circles(mut uses: ModuleUses<'_>) -> Vec<&str> {
    loop {
        let used: BTreeSet<&str> = uses.values().flatten().copied().collect();
        let before = uses.len();
        uses.retain(|module, names| !names.is_empty() && used.contains(module));
        let left: BTreeSet<&str> = uses.keys().copied().collect();
        uses.values_mut().for_each(|names| names.retain(|name| left.contains(name)));
        if uses.len() == before {
            return uses.into_keys().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_what_is_left_of_layers() {
        let uses = |rows: &[(&'static str, &[&'static str])]| -> ModuleUses<'static> {
            rows.iter().map(|(module, names)| (*module, names.iter().copied().collect())).collect()
        };
        let layers = uses(&[("top", &["middle", "low"]), ("middle", &["low"]), ("low", &[])]);
        assert!(in_circles(layers).is_empty());
        let circle = uses(&[("top", &["a"]), ("a", &["b", "low"]), ("b", &["a"]), ("low", &[])]);
        assert_eq!(in_circles(circle), ["a", "b"]);
    }

    #[test]
    fn a_line_names_the_modules_after_the_root() {
        let names = |line| named(code(line)).collect::<Vec<&str>>();
        assert_eq!(names("use crate::link::{Wire, Port}; // crate::port"), ["link"]);
        assert_eq!(names("use crate::{link, port::Port};"), ["link", "port"]);
    }
}
