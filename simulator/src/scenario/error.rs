//! Errors of scenario files, rendered like a compiler's: line, caret, expected value.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use codec::words::{shortened, without_c1};

use super::limits::PROBLEMS_MAX;

/// Maximum length of a line in a message. *Chosen*: no terminal is wider.
const LINE_MAX: usize = 400;

/// All problems of a scenario file, at least one, in file order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    name: String,
    problems: Vec<ScenarioProblem>,
    omitted: usize,
}

/// Problem of a scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioProblem {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the faulty text.
    pub message: String,
    /// Expected text.
    pub expected: String,
    /// Suggested correction.
    pub help: Option<String>,
    source: String,
    marked: Range<usize>,
}

/// Rendering style of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorStyle {
    /// Plain text.
    Plain,
    /// Coloured with terminal escape sequences.
    Coloured,
}

/// Collector of the problems found while reading a file.
#[derive(Debug)]
pub(super) struct ProblemList<'a> {
    text: &'a str,
    breaks: Vec<usize>,
    found: RefCell<Vec<UnlocatedProblem>>,
    /// Keys whose values are left to be used later, until they are.
    unused: RefCell<Vec<Option<LeftKey>>>,
}

/// Place and name of a key.
type LeftKey = (Range<usize>, String);

/// A key whose value is left to be used later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyUse(usize);

#[derive(Debug, PartialEq, Eq)]
struct UnlocatedProblem {
    span: Range<usize>,
    message: String,
    expected: String,
    help: Option<String>,
}

impl ScenarioError {
    /// Problems in file order.
    pub fn problems(&self) -> &[ScenarioProblem] {
        &self.problems
    }

    /// Renders all problems with the lines of the file, without a final line break.
    pub fn render(&self, style: ErrorStyle) -> String {
        let renderer = match style {
            ErrorStyle::Plain => Renderer::plain(),
            ErrorStyle::Coloured => Renderer::styled(),
        };
        let mut shown: Vec<String> =
            self.problems.iter().map(|problem| problem.render(&self.name, &renderer)).collect();
        if self.omitted > 0 {
            shown.push(format!("{} more problems in {}", self.omitted, self.name));
        }
        shown.join("\n\n")
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(ErrorStyle::Plain))
    }
}

impl std::error::Error for ScenarioError {}

impl ScenarioProblem {
    fn render(&self, name: &str, renderer: &Renderer) -> String {
        let mark = AnnotationKind::Primary.span(self.marked.clone()).label(self.expected.as_str());
        let line =
            Snippet::source(self.source.as_str()).line_start(self.line).path(name).annotation(mark);
        let error = Level::ERROR.primary_title(self.message.as_str()).element(line);
        match &self.help {
            Some(help) => renderer.render(&[error.element(Level::HELP.message(help.as_str()))]),
            None => renderer.render(&[error]),
        }
    }

    fn locate(text: &str, found: UnlocatedProblem) -> Self {
        let start = text.floor_char_boundary(found.span.start);
        let before = text.get(..start).unwrap_or_default();
        let first = before.rfind('\n').map_or(0, |at| at + 1);
        let rest = text.get(first..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default().trim_end_matches('\r');
        let column = start - first;
        // What is marked must be seen: of a very long line only what stands around it is shown.
        let from = line.floor_char_boundary(column.saturating_sub(LINE_MAX / 2));
        let source = line.get(from..line.floor_char_boundary(from + LINE_MAX)).unwrap_or_default();
        let end = (found.span.end.max(start) - first).saturating_sub(from);
        let end = source.floor_char_boundary(end);
        let begin = (column - from).min(source.len());
        Self {
            line: before.matches('\n').count() + 1,
            column: line.get(..column).unwrap_or(line).chars().count() + 1,
            message: found.message,
            expected: found.expected,
            help: found.help,
            source: without_c1(source),
            marked: begin..end.max(begin),
        }
    }
}

impl<'a> ProblemList<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at).collect();
        Self { text, breaks, found: RefCell::default(), unused: RefCell::default() }
    }

    /// Tests whether the limit of shown problems is exceeded; then suggestions, which are
    /// expensive, are skipped.
    pub(super) fn are_many(&self) -> bool {
        self.found.borrow().len() > PROBLEMS_MAX
    }

    pub(super) fn add(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) {
        self.add_with_help(span, message, expected, None);
    }

    pub(super) fn add_with_help(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
        expected: impl Into<String>,
        help: Option<String>,
    ) {
        let (message, expected) = (message.into(), expected.into());
        self.found.borrow_mut().push(UnlocatedProblem {
            span: span.clone(),
            message,
            expected,
            help,
        });
    }

    /// Adds a key that is reported by [`Self::notes`] unless it is used later.
    pub(super) fn leave(&self, span: Range<usize>, name: String) -> KeyUse {
        let mut unused = self.unused.borrow_mut();
        unused.push(Some((span, name)));
        KeyUse(unused.len() - 1)
    }

    pub(super) fn note_use(&self, KeyUse(key): KeyUse) {
        self.unused.borrow_mut().iter_mut().skip(key).take(1).for_each(|unused| *unused = None);
    }

    /// The keys that nothing has used, in the order of the file.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut unused: Vec<_> = self.unused.borrow().iter().flatten().cloned().collect();
        unused.sort_by_key(|(span, _)| span.start);
        let note = |(span, name): (Range<usize>, String)| {
            format!("line {}: {name} has no effect here: nothing uses its value", self.line(&span))
        };
        unused.into_iter().map(note).collect()
    }

    /// Withdraws the problem that a key is missing in a table: it is there, but misspelt.
    pub(super) fn withdraw_missing(&self, table: &Range<usize>, message: &str, key: &str) {
        let key = format!("`{key}`");
        self.found.borrow_mut().retain(|found| {
            found.span != *table || found.message != message || !found.expected.contains(&key)
        });
    }

    pub(super) fn shown(&self, span: &Range<usize>) -> String {
        shortened(self.text.get(span.clone()).unwrap_or_default())
    }

    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        self.breaks.partition_point(|at| *at < span.start) + 1
    }

    pub(super) fn check<T>(self, name: &str, read: Option<T>) -> Result<T, ScenarioError> {
        let mut found = self.found.into_inner();
        match read {
            Some(read) if found.is_empty() => Ok(read),
            Some(_) | None => {
                found.sort_by_key(|found| found.span.start);
                // A table that is read in two places is wrong in both.
                found.dedup();
                if found.is_empty() {
                    let message = "the file is not a scenario".to_owned();
                    let expected = "expected one".to_owned();
                    found.push(UnlocatedProblem { span: 0..0, message, expected, help: None });
                }
                let omitted = found.len().saturating_sub(PROBLEMS_MAX);
                found.truncate(PROBLEMS_MAX);
                let problems = found
                    .into_iter()
                    .map(|found| ScenarioProblem::locate(self.text, found))
                    .collect();
                Err(ScenarioError { name: name.to_owned(), problems, omitted })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::{ErrorStyle, Scenario};

    /// U+009B begins an escape sequence as ESC [ does, U+202E reverses the direction of text.
    #[test]
    fn no_control_character_reaches_a_terminal() {
        let error = Scenario::read("net.toml", "[link]\n\"seed\u{202e}\" = 1").unwrap_err();
        assert!(!error.to_string().contains('\u{202e}'), "{error}");
        for control in ['\u{80}', '\u{9b}', '\u{9f}'] {
            let text = format!("seed = \"{control}31m\" # é");
            let error = Scenario::read("net.toml", &text).unwrap_err();
            assert!(error.to_string().contains("seed = \"·31m\" # é"), "{error}");
            assert!(!error.render(ErrorStyle::Coloured).contains(control), "{error}");
        }
    }
}
