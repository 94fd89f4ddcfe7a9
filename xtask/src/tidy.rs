//! `cargo xtask tidy`: names, comments, dependencies and sizes, held to the limits of the house style.

mod circles;
mod exceptions;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use self::exceptions::TidyExceptions;
use crate::TaskOutcome;
use crate::source::{self, SourceFile, words_of};
use crate::workspace::TaskError;

/// Share of type names of one word, in percent. *Chosen*: three times the share today.
const ONE_WORD_MAX: usize = 10;
/// Share of types that have their name in common with another type of the project, in percent.
const SHARED_MAX: usize = 2;
/// Share of doc comments that begin with a question word, in percent.
const QUESTIONS_MAX: usize = 5;
/// Lines of a file before its tests.
const LINES_MAX: usize = 400;

/// Terms of the field and of this project that are type names by themselves.
const DOMAIN_WORDS: &str = "
    Abandonment Capture Channel Character Chars Chunk Completeness Conversation Corruption
    Counterexample Crc8 Deadlock Endpoint Experiment Filter Finding Frame Framer Handshake Header
    Host Inconsistency Interface Journey Link Message Micros Mismatch Network Nic Observation
    Occurrence Packet Picoseconds Port Report Reproduction Rerun Rng Route Rule Scenario Scorer
    Severity Switch Symbol Tick Ticks Timeliness Topology Transport Truth Violation Visibility
";

/// Words that are no part of a type name: riddles, and verbs of people.
const BANNED_IN_NAMES: &[&str] = &[
    "Asked", "Asks", "Dice", "Happened", "Heard", "Hears", "Heed", "Kept", "Ledger", "Looked",
    "Noticed", "Obey", "Obeyed", "Odd", "Said", "Scribe", "Seen", "Spoken", "Tell", "Telling",
    "Told", "Want", "Wanted", "What", "Who", "Why", "Wish",
];

/// Words that are no part of the name of a field, a variant or a function.
const BANNED_IN_MEMBERS: &[&str] = &[
    "ask", "asked", "asks", "heard", "hears", "heed", "ledger", "leg", "legs", "noticed", "remark",
    "said", "scribe", "spoken", "told", "wish",
];

/// Words that are no part of a help text.
const BANNED_IN_HELP: &[&str] = &[
    "asked", "asks", "dice", "hears", "heard", "held to", "how many", "how much", "hurt", "hurts",
    "looks at", "likewise", "said", "says", "told", "tells", "wants", "weather", "whatever",
];

/// Counts of a crate.
#[derive(Default)]
struct CrateFigures {
    types: usize,
    one_word: usize,
    shared: usize,
    comments: usize,
    questions: usize,
    lines: usize,
}

/// Measures all Rust files that git knows, prints the figures, and lists what exceeds a limit.
pub(crate) fn run() -> Result<TaskOutcome, TaskError> {
    let files = source::all()?;
    let figures = figures(&files);
    let mut exceptions = TidyExceptions::read()?;
    let mut faults = faults_of_names(&files, &mut exceptions);
    faults.extend(faults_of_shares(&figures));
    faults.extend(faults_of_comments(&figures, &mut exceptions));
    faults.extend(faults_of_crates(&figures, &mut exceptions));
    faults.extend(faults_of_sizes(&files, &mut exceptions));
    faults.extend(faults_of_members(&files));
    faults.extend(faults_of_help(&files));
    faults.extend(circles::faults(&files, &mut exceptions));
    faults.extend(exceptions.unused());
    let mut text = table(&figures);
    faults.iter().for_each(|fault| text += &format!("{fault}\n"));
    let printed = io::stdout().write_all(text.as_bytes());
    printed.map_err(|error| format!("cannot print: {error}"))?;
    Ok(if faults.is_empty() { TaskOutcome::Well } else { TaskOutcome::Found })
}

/// Figures by crate, and of all crates as the last.
fn figures(files: &[SourceFile]) -> Vec<(&str, CrateFigures)> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    let types = files.iter().flat_map(|file| &file.types);
    types.for_each(|name| *uses.entry(name).or_default() += 1);
    let crates: BTreeSet<&str> = files.iter().map(|file| file.krate.as_str()).collect();
    let figures = |files: &mut dyn Iterator<Item = &SourceFile>| {
        files.fold(CrateFigures::default(), |sum, file| {
            let count = |keep: &dyn Fn(&&String) -> bool| file.types.iter().filter(keep).count();
            CrateFigures {
                types: sum.types + file.types.len(),
                one_word: sum.one_word + count(&|name| words_of(name).len() == 1),
                shared: sum.shared
                    + count(&|name| uses.get(name.as_str()).is_some_and(|uses| *uses > 1)),
                comments: sum.comments + file.comments,
                questions: sum.questions + file.questions,
                lines: sum.lines + file.lines,
            }
        })
    };
    let mut rows: Vec<(&str, CrateFigures)> = crates
        .into_iter()
        .map(|krate| (krate, figures(&mut files.iter().filter(|file| file.krate == krate))))
        .collect();
    rows.push(("all", figures(&mut files.iter())));
    rows
}

fn table(figures: &[(&str, CrateFigures)]) -> String {
    let mut text = format!(
        "{:<10} {:>8} {:>6} {:>9} {:>7} {:>13} {:>10}\n",
        "crate", "lines", "types", "one word", "shared", "doc comments", "questions"
    );
    for (krate, it) in figures {
        text += &format!(
            "{krate:<10} {:>8} {:>6} {:>7} % {:>5} % {:>13} {:>8} %\n",
            it.lines,
            it.types,
            percent(it.one_word, it.types),
            percent(it.shared, it.types),
            it.comments,
            percent(it.questions, it.comments),
        );
    }
    text
}

fn percent(part: usize, whole: usize) -> usize {
    (part * 100).checked_div(whole).unwrap_or_default()
}

fn faults_of_shares(figures: &[(&str, CrateFigures)]) -> Vec<String> {
    let Some((_, all)) = figures.last() else { return Vec::new() };
    let shares = [
        ("type names of one word", all.one_word, all.types, ONE_WORD_MAX),
        ("types that share their name", all.shared, all.types, SHARED_MAX),
    ];
    let exceeded = shares.into_iter().filter(|(_, part, all, max)| part * 100 > all * max);
    exceeded
        .map(|(what, part, all, max)| format!("{part} of {all} {what}: limit {max} %"))
        .collect()
}

/// Crates in which too many doc comments paraphrase a name with a question.
fn faults_of_comments(
    figures: &[(&str, CrateFigures)],
    exceptions: &mut TidyExceptions,
) -> Vec<String> {
    let fault = |(krate, it): &(&str, CrateFigures)| {
        let share = (it.questions * 100).div_ceil(it.comments.max(1));
        let exceeds = share > QUESTIONS_MAX && !exceptions.allow_up_to("questions", krate, share);
        exceeds.then(|| {
            format!("{krate}: {share} % of the doc comments are questions: limit {QUESTIONS_MAX} %")
        })
    };
    figures.iter().filter_map(fault).collect()
}

/// Crates that have grown: the lines of each may only fall.
fn faults_of_crates(
    figures: &[(&str, CrateFigures)],
    exceptions: &mut TidyExceptions,
) -> Vec<String> {
    let crates = figures.iter().filter(|(krate, _)| *krate != "all");
    let grown = crates.filter(|(krate, it)| !exceptions.allow_up_to("crate", krate, it.lines));
    grown
        .map(|(krate, it)| {
            format!(
                "{krate}: {} lines are more than xtask/tidy.txt allows: remove others",
                it.lines
            )
        })
        .collect()
}

/// Names that occur twice in a crate, contain a banned word, or are one word that is not a term.
fn faults_of_names(files: &[SourceFile], exceptions: &mut TidyExceptions) -> Vec<String> {
    let mut faults = Vec::new();
    let mut defined: BTreeSet<(&str, &str)> = BTreeSet::new();
    for file in files {
        let SourceFile { path, krate, types, .. } = file;
        for name in types {
            if !defined.insert((krate, name)) && !exceptions.allow("twice", krate, name) {
                faults.push(format!("{path}: crate {krate} has another type `{name}`"));
            }
            let banned = words_of(name).into_iter().find(|word| BANNED_IN_NAMES.contains(word));
            if let Some(word) = banned
                && !exceptions.allow("banned", krate, name)
            {
                faults.push(format!("{path}: type `{name}`: `{word}` is no part of a type name"));
            }
            let one_word = words_of(name).len() == 1
                && !DOMAIN_WORDS.split_whitespace().any(|word| word == name);
            if one_word && !exceptions.allow("one-word", krate, name) {
                faults.push(format!("{path}: type `{name}` is one word and no term of the field"));
            }
        }
    }
    faults
}

fn faults_of_sizes(files: &[SourceFile], exceptions: &mut TidyExceptions) -> Vec<String> {
    let long = files.iter().filter(|file| file.before_tests > LINES_MAX);
    let fault = |file: &SourceFile| {
        let lines = file.before_tests;
        let allowed = exceptions.allow_up_to("lines", &file.path, lines);
        (!allowed)
            .then(|| format!("{}: {lines} lines before its tests: limit {LINES_MAX}", file.path))
    };
    long.filter_map(fault).collect()
}

/// Banned words in the names of fields, variants and functions. Longer names are the sentences of tests.
fn faults_of_members(files: &[SourceFile]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files {
        for (number, line) in (1..).zip(file.text.lines()) {
            let Some(name) = source::member_name(line) else { continue };
            let is_variant = name.starts_with(char::is_uppercase);
            let words = if is_variant { words_of(name) } else { name.split('_').collect() };
            let mut banned = BANNED_IN_MEMBERS.iter();
            let banned = banned.find(|word| words.iter().any(|it| it.eq_ignore_ascii_case(word)));
            if let Some(word) = banned.filter(|_| words.len() <= 3) {
                faults.push(format!(
                    "{}:{number}: `{name}`: `{word}` is no part of a name",
                    file.path
                ));
            }
        }
    }
    faults
}

/// Banned words in the help texts of the program, which are the doc comments of its arguments.
fn faults_of_help(files: &[SourceFile]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with("cli/src/args")) {
        for (number, line) in (1..).zip(file.text.lines()) {
            let Some((_, help)) = line.split_once("///") else { continue };
            let help = format!(" {} ", help.to_lowercase().replace([',', ';', ':', '.'], " "));
            let banned = BANNED_IN_HELP.iter().filter(|word| help.contains(&format!(" {word} ")));
            faults.extend(
                banned.map(|word| {
                    format!("{}:{number}: `{word}` is no part of a help text", file.path)
                }),
            );
        }
    }
    faults
}
