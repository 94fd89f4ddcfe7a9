//! Every rule of `docs/rules.md` has a test that names it: a rule that is added without one
//! fails here. What `docs/seeds.md` cites is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use simulator::experiment::EXPERIMENTS;

/// The rules of the digest that the project goes by: how many each group has. L has one, without a number.
#[rustfmt::skip]
const GROUPS: [(char, u32); 11] = [
    ('C', 7), ('W', 8), ('P', 9), ('F', 9), ('R', 6), ('S', 10), ('I', 8), ('N', 8), ('H', 3), ('B', 2),
    ('T', 15),
];

#[derive(Clone, Debug)]
struct RulePageRow {
    id: String,
    tests: Vec<String>,
}

fn rows(page: &str) -> Vec<RulePageRow> {
    let row = |line: &str| {
        let line = line.strip_prefix("| ")?.strip_suffix('|')?;
        let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let [id, _, _, tests] = cells.as_slice() else { return None };
        let is_id = *id == "L"
            || id.split_once('-').is_some_and(|(group, number)| {
                group.len() == 1 && number.bytes().all(|byte| byte.is_ascii_digit())
            });
        is_id.then(|| RulePageRow { id: (*id).to_owned(), tests: quoted(tests) })
    };
    page.lines().filter_map(row).collect()
}

fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn expected() -> BTreeSet<String> {
    let all = GROUPS.iter().flat_map(|(group, count)| (1..=*count).map(move |n| (group, n)));
    all.map(|(group, number)| format!("{group}-{number}")).chain(["L".to_owned()]).collect()
}

/// All that is wrong with a page, given what stands in the files that it cites.
fn complaints(page: &str, file: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    let rows = rows(page);
    let mut out = Vec::new();
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for row in &rows {
        *seen.entry(&row.id).or_default() += 1;
        out.extend(wrong(row, file));
    }
    let twice = seen.iter().filter(|(_, count)| **count > 1);
    out.extend(twice.map(|(id, _)| format!("{id} stands there twice")));
    let expected = expected();
    let missing = expected.iter().filter(|id| !seen.contains_key(id.as_str()));
    out.extend(missing.map(|id| format!("{id} of the digest is missing")));
    let more = seen.keys().filter(|id| !expected.contains(**id));
    out.extend(more.map(|id| format!("{id} is no rule of the digest: say so in this test too")));
    out
}

fn wrong(row: &RulePageRow, file: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    let RulePageRow { id, tests } = row;
    let mut out = Vec::new();
    if tests.is_empty() {
        out.push(format!("{id} has no test"));
        return out;
    }
    let mut is_named = false;
    for test in tests {
        match source(test, file) {
            Ok(source) => is_named |= names(&source, id),
            Err(why) => out.push(format!("{id} cites {test}: {why}")),
        }
    }
    if !is_named {
        out.push(format!("{id}: none of its tests says which rule it holds"));
    }
    out
}

/// The text of a test, with its comment: of `file::name` that function, of `file` all of it.
fn source(test: &str, file: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (path, name) = test.split_once("::").unwrap_or((test, ""));
    let text = file(path).ok_or("there is no such file")?;
    if text.contains("#[ignore") {
        return Err("a test of that file is ignored".to_owned());
    }
    if name.is_empty() {
        return if text.contains("#[test]") {
            Ok(text)
        } else {
            Err("no test is in it".to_owned())
        };
    }
    let at = text.find(&format!("fn {name}(")).ok_or("there is no such function")?;
    let (before, rest) = text.split_at(at);
    // What stands above it belongs to it, up to what is empty.
    let above = before.rsplit("\n\n").next().unwrap_or_default();
    if !above.contains("#[test]") {
        return Err("it is no test".to_owned());
    }
    let indent = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
    let end = format!("\n{}}}", " ".repeat(indent));
    let body = rest.split(&end).next().unwrap_or(rest);
    Ok([above, body].concat())
}

/// Tests whether a text names a rule, alone or in a range: `T-6..T-8`.
fn names(text: &str, id: &str) -> bool {
    let alone = text.match_indices(id).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + id.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    });
    alone || ranges(text).any(|range| range.contains(id))
}

/// The rules of each range that a text names.
fn ranges(text: &str) -> impl Iterator<Item = BTreeSet<String>> {
    let number = |text: &str, group: &str| -> Option<u32> {
        let digits = text.strip_prefix(group)?.strip_prefix('-')?;
        let len = digits.bytes().take_while(u8::is_ascii_digit).count();
        digits.get(..len)?.parse().ok()
    };
    text.match_indices("..").filter_map(move |(at, _)| {
        let (before, after) = (text.get(..at)?, text.get(at + 2..)?);
        let first = before.rsplit(|c: char| !c.is_alphanumeric() && c != '-').next()?;
        let group = first.get(..1)?;
        let (first, last) = (number(first, group)?, number(after, group)?);
        Some((first..=last).map(|number| format!("{group}-{number}")).collect())
    })
}

/// All that is wrong with `docs/seeds.md`, given what stands in the files that it cites.
fn uncited(page: &str, file: &impl Fn(&str) -> Option<String>) -> Vec<String> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let lines = lines.filter_map(|line| Some((line.split_once(' ')?.0, line)));
    let lines: BTreeMap<&str, &str> = lines.filter(|(number, _)| number.contains('.')).collect();
    let mut out = Vec::new();
    for (number, line) in &lines {
        let mut tell = |what: &str| out.push(format!("{number}: {what}"));
        let cells: Vec<&str> = line.split(" | ").collect();
        let [_, _, rules, built, tests, shown] = cells.try_into().unwrap_or([""; 6]);
        let rules = rules.split(", ").filter(|rule| *rule != "–" && !expected().contains(*rule));
        rules.for_each(|rule| tell(&format!("there is no rule {rule}")));
        let paths: Vec<_> = quoted(built).into_iter().filter(|it| it.contains('/')).collect();
        let gone = paths.iter().filter(|path| file(path).is_none());
        gone.for_each(|path| tell(&format!("{path} is not there")));
        let refers = built.strip_prefix("as ").map(|to| to.split(" to "));
        let refers = refers.is_some_and(|mut to| to.all(|it| lines.contains_key(it)));
        if paths.is_empty() && !refers && !(built.starts_with("not built") && built.contains(": "))
        {
            tell("neither where it is built is said nor why not");
        }
        if [tests, shown].map(|cell| cell != "–") != [!paths.is_empty(); 2] {
            tell("a test, and what shows it, belong to what is built");
        }
        for test in quoted(tests) {
            source(&test, file).err().iter().for_each(|why| tell(&format!("{test}: {why}")));
        }
        let pages = shown.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let pages = pages.filter(|page| file(&format!("docs/{page}")).is_none());
        let commands = quoted(shown).into_iter().filter(|command| !is_command(command, file));
        commands.chain(pages.map(str::to_owned)).for_each(|it| tell(&format!("no {it}")));
    }
    out
}

/// Tests whether the program has a command, and the demo, experiment or subject that it names.
fn is_command(command: &str, file: &impl Fn(&str) -> Option<String>) -> bool {
    let has = |page: &str, text: &str| file(page).is_some_and(|page| page.contains(text));
    match command.split(' ').collect::<Vec<_>>().as_slice() {
        ["demo", name] => file(&format!("cli/demos/{name}.toml")).is_some(),
        ["experiment", name] => EXPERIMENTS.iter().any(|it| it.name == *name),
        ["explain", name] => {
            has("docs/findings.md", &format!("- {name}: "))
                || has("docs/rules.md", &format!("| {name} |"))
        }
        words => {
            words.first().is_some_and(|it| has("docs/examples.md", &format!("myriscope {it}")))
        }
    }
}

fn workspace(path: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).ok()
}

#[test]
fn every_rule_has_a_test_that_names_it_and_what_is_cited_for_a_statement_is_there() {
    let page = workspace("docs/rules.md").unwrap();
    assert_eq!(complaints(&page, &workspace), Vec::<String>::new());
    assert_eq!(uncited(&workspace("docs/seeds.md").unwrap(), &workspace), [""; 0]);
    let page = "| 1.1 | A. | F-1 | as 1.2 | – | – |\n| 1.2 | A. | F-0 | `c/d.rs` | `e.rs` | `sing` |\n\
                | 1.3 | A. | – | not built | – | [x](x.md) |\n";
    assert_eq!(uncited(page, &|_| None).len(), 7, "{:?}", uncited(page, &|_| None));
}

/// A page with one more row, and nothing else that is wrong.
fn doctored(row: &str) -> Vec<String> {
    let file = |path: &str| match path {
        "good.rs" => Some(
            "/// F-1\n#[test]\nfn stops() {\n    check();\n}\n\nfn helper() {\n}\n\n#[test]\n\
             fn goes() {\n}\n\n/// F-3\n#[test]\nfn fills() {\n}\n"
                .to_owned(),
        ),
        "range.rs" => Some("//! F-1..F-4\n#[test]\nfn any() {\n}\n".to_owned()),
        "none.rs" => Some("//! F-1\nfn any() {\n}\n".to_owned()),
        "idle.rs" => Some("#[test]\n#[ignore = \"slow\"]\nfn stops() {\n}\n".to_owned()),
        _ => None,
    };
    let others = expected().into_iter().filter(|id| id != "F-1");
    let others = others.map(|id| format!("| {id} | Text. | – | `{id}.rs` |\n"));
    let page = others.collect::<String>() + row;
    complaints(&page, &|path| match path.strip_suffix(".rs") {
        Some(id) if expected().contains(id) => {
            Some(format!("//! {id}\n#[test]\nfn any() {{\n}}\n"))
        }
        Some(_) | None => file(path),
    })
}

#[test]
fn a_rule_without_a_test_is_told_and_one_with_a_test_is_fine() {
    let told = |row: &str| doctored(row).join("; ");
    assert_eq!(told("| F-1 | Text. | – | |"), "F-1 has no test");
    assert_eq!(told(""), "F-1 of the digest is missing");
    let text = "F-10 is no rule of the digest: say so in this test too";
    let both = "| F-1 | Text. | – | `range.rs` |\n| F-10 | Text. | – | |";
    assert_eq!(told(both), format!("F-10 has no test; {text}"));
    let twice = "| F-1 | Text. | – | `range.rs` |\n".repeat(2);
    assert_eq!(told(&twice), "F-1 stands there twice");
    assert_eq!(doctored("| F-1 | Text. | – | `good.rs::stops` |"), [""; 0]);
    assert_eq!(doctored("| F-1 | Text. | – | `range.rs`, `good.rs::goes` |"), [""; 0]);
}

#[test]
fn a_test_that_is_none_is_told() {
    let told = |tests: &str| doctored(&format!("| F-1 | A. | – | {tests} |")).join("; ");
    let unnamed = "F-1: none of its tests says which rule it holds";
    assert_eq!(told("`good.rs::goes`"), unnamed);
    assert_eq!(told("`good.rs::fills`"), unnamed);
    for (test, why) in [
        ("good.rs::starts", "there is no such function"),
        ("good.rs::helper", "it is no test"),
        ("gone.rs::stops", "there is no such file"),
        ("none.rs", "no test is in it"),
        ("idle.rs::stops", "a test of that file is ignored"),
    ] {
        let said = told(&format!("`{test}`"));
        assert_eq!(said, format!("F-1 cites {test}: {why}; {unnamed}"));
        let said = told(&format!("`good.rs::stops`, `{test}`"));
        assert_eq!(said, format!("F-1 cites {test}: {why}"));
    }
}

#[test]
fn names_are_whole_and_ranges_are_read() {
    assert!(names("F-1, F-12", "F-1") && names("§ (T-6..T-8)", "T-7") && names("L: red", "L"));
    assert!(!names("F-12", "F-1") && !names("T-6..T-8", "T-9") && !names("REPLx", "L"));
    assert!(!names("0..=8, F-3..", "F-4"));
}
