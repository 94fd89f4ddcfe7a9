//! Rust files as lines: the types they define, their doc comments and their sizes.

use std::fs;

use crate::workspace::{TaskError, at, command, output, root};

/// Words with which a doc comment begins that paraphrases a name instead of stating a fact.
const QUESTION_WORDS: [&str; 13] = [
    "How", "If", "Of", "What", "Whatever", "When", "Where", "Whether", "Which", "Who", "Whom",
    "Whose", "Why",
];

/// A Rust file, and what is counted in it.
pub(crate) struct SourceFile {
    /// Path from the root of the repository.
    pub(crate) path: String,
    pub(crate) krate: String,
    pub(crate) text: String,
    /// Names of the types that are defined in it.
    pub(crate) types: Vec<String>,
    /// Doc comments, and those of them that begin with a question word.
    pub(crate) comments: usize,
    pub(crate) questions: usize,
    pub(crate) lines: usize,
    /// Lines before the tests at its end; 0 for a file of tests.
    pub(crate) before_tests: usize,
}

/// All Rust files that git knows, sorted by path.
pub(crate) fn all() -> Result<Vec<SourceFile>, TaskError> {
    let paths = output(command("git").args(["ls-files", "*.rs"]))?;
    let read = |path: &str| {
        let text = fs::read_to_string(root().join(path)).map_err(at(&root().join(path)))?;
        Ok(SourceFile::new(path, text))
    };
    paths.lines().filter(|path| root().join(path).is_file()).map(read).collect()
}

impl SourceFile {
    fn new(path: &str, text: String) -> Self {
        let krate = path.strip_prefix("fuzz/laws/").map_or_else(
            || path.split('/').next().unwrap_or_default().to_owned(),
            |_| "laws".to_owned(),
        );
        let openings = doc_openings(&text);
        let questions = openings.iter().filter(|word| QUESTION_WORDS.contains(word)).count();
        let comments = openings.len();
        let is_source = path.contains("/src/") && !path.contains("/tests");
        Self {
            types: text.lines().filter_map(type_name).map(str::to_owned).collect(),
            comments,
            questions,
            lines: text.lines().count(),
            before_tests: if is_source { before_tests(&text) } else { 0 },
            path: path.to_owned(),
            krate,
            text,
        }
    }
}

/// Number of lines before the tests at the end of a file.
fn before_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| {
        matches!(pair, [test, module] if *test == "#[cfg(test)]" && module.ends_with("mod tests {"))
    });
    tests.unwrap_or(lines.len())
}

/// First words of all doc comments.
fn doc_openings(text: &str) -> Vec<&str> {
    let mut openings = Vec::new();
    let mut previous = None;
    for line in text.lines().map(str::trim_start) {
        let marker = ["///", "//!"].into_iter().find(|marker| line.starts_with(marker));
        if let Some(marker) = marker.filter(|_| marker != previous) {
            let first = line.trim_start_matches(marker).split_whitespace().next();
            openings.push(first.unwrap_or_default().trim_end_matches([',', ':', ';']));
        }
        previous = marker;
    }
    openings
}

/// Code of a line behind its visibility.
fn without_visibility(line: &str) -> Option<&str> {
    let code = line.trim_start();
    match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => Some(rest.split_once(") ")?.1),
        Some(rest) => rest.strip_prefix(' '),
        None => Some(code),
    }
}

/// Name of the field, variant or function that a line defines or constructs.
pub(crate) fn member_name(line: &str) -> Option<&str> {
    let code = without_visibility(line)?;
    let function = code.strip_prefix("const ").unwrap_or(code).strip_prefix("fn ");
    let code = function.unwrap_or(code);
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let (name, rest) = code.split_at_checked(end)?;
    let is_variant = name.starts_with(|c: char| c.is_ascii_uppercase())
        && [",", "(", " {"].into_iter().any(|sign| rest.starts_with(sign));
    let is_field = rest.starts_with(": ") && line.ends_with(',');
    (function.is_some() || is_variant || is_field).then_some(name)
}

/// Name of the type whose definition begins on a line.
fn type_name(line: &str) -> Option<&str> {
    let code = without_visibility(line)?;
    // An indented `type` is an associated type, whose name a trait has chosen.
    let alias =
        if code.len() == line.len() || line.starts_with("pub") { "type " } else { "struct " };
    let keywords = ["struct ", "enum ", "union ", "trait ", alias];
    let rest = keywords.into_iter().find_map(|keyword| code.strip_prefix(keyword))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    rest.get(..end).filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Words of a name in camel case.
pub(crate) fn words_of(name: &str) -> Vec<&str> {
    let starts = name.char_indices().filter(|(_, c)| c.is_ascii_uppercase()).map(|(at, _)| at);
    let starts: Vec<usize> = starts.collect();
    let ends = starts.iter().skip(1).copied().chain([name.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| name.get(*start..end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_recognized_by_their_first_line() {
        let lines = [
            "pub(crate) struct FaultPatch {",
            "    enum ColumnAlignment {",
            "pub trait Visitor<'a>: Sized {",
            "type PlantedLines<'a> = (Range<usize>, &'a FaultPatch);",
            "    type Item = u8;",
            "/// struct Comment",
            "pub fn struct_like() {}",
        ];
        let names: Vec<&str> = lines.into_iter().filter_map(type_name).collect();
        assert_eq!(names, ["FaultPatch", "ColumnAlignment", "Visitor", "PlantedLines"]);
        assert_eq!(words_of("CrcByte"), ["Crc", "Byte"]);
    }

    #[test]
    fn members_are_fields_variants_and_functions() {
        let lines = [
            "    pub(super) leg: Option<HopId>,",
            "    Noticed(Observation),",
            "    pub const fn ledger(&self) -> &FindingSet {",
            "        let said = 1;",
            "    /// said: it,",
        ];
        let names: Vec<&str> = lines.into_iter().filter_map(member_name).collect();
        assert_eq!(names, ["leg", "Noticed", "ledger"]);
    }

    #[test]
    fn a_doc_comment_counts_once_with_its_first_word() {
        let text = "//! Purpose.\n\n/// What it is,\n/// and more.\nfn a() {}\n/// Whether so.\n";
        assert_eq!(doc_openings(text), ["Purpose.", "What", "Whether"]);
    }

    #[test]
    fn tests_begin_at_the_foot_of_a_file() {
        assert_eq!(before_tests("fn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n"), 2);
        assert_eq!(before_tests("#[cfg(test)]\nfn seen_by_tests() {}\nfn a() {}\n"), 3);
    }
}
