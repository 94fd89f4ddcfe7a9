//! Errors in filters, in the style of compilers: the expression, a caret, the expected form.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use codec::words::without_c1;

/// Error in an expression or in a list of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    option: &'static str,
    text: String,
    fault: Box<FilterFault>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilterFault {
    pub(super) at: Range<usize>,
    pub(super) message: String,
    pub(super) expected: String,
    pub(super) help: Option<String>,
}

/// Style of an error message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterErrorStyle {
    /// Plain text.
    Plain,
    /// Text with colours, as escape sequences of a terminal.
    Coloured,
}

impl FilterFault {
    /// Fault with a message and the expected text.
    pub(super) fn new(
        at: Range<usize>,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { at, message: message.into(), expected: expected.into(), help: None }
    }

    pub(super) fn with(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }
}

impl FilterError {
    pub(super) fn new(option: &'static str, text: &str, fault: FilterFault) -> Self {
        Self { option, text: text.to_owned(), fault: Box::new(fault) }
    }

    /// Byte range of the faulty text, on character boundaries; empty at the end of the text.
    pub fn place(&self) -> Range<usize> {
        let start = self.text.floor_char_boundary(self.fault.at.start);
        start..self.text.floor_char_boundary(self.fault.at.end).max(start)
    }

    /// Message in one line.
    pub fn message(&self) -> &str {
        &self.fault.message
    }

    /// Complete error with a caret, without a final line break.
    pub fn render(&self, style: FilterErrorStyle) -> String {
        let renderer = match style {
            FilterErrorStyle::Plain => Renderer::plain(),
            FilterErrorStyle::Coloured => Renderer::styled(),
        };
        let FilterFault { message, expected, help, .. } = self.fault.as_ref();
        let mark = AnnotationKind::Primary.span(self.place()).label(expected.as_str());
        let text = without_c1(&self.text);
        let line = Snippet::source(text).path(self.option).annotation(mark);
        let error = Level::ERROR.primary_title(message.as_str()).element(line);
        match help {
            Some(help) => renderer.render(&[error.element(Level::HELP.message(help.as_str()))]),
            None => renderer.render(&[error]),
        }
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(FilterErrorStyle::Plain))
    }
}

impl std::error::Error for FilterError {}

#[cfg(test)]
mod tests {
    use super::{FilterError, FilterErrorStyle};
    use crate::filter::{ColumnList, RowKind};

    #[test]
    fn no_control_character_reaches_a_terminal() {
        let shown = |text: &str| {
            let error = ColumnList::parse(text, RowKind::Packets).err();
            error.as_ref().map(FilterError::to_string).unwrap_or_default()
        };
        for control in ['\0', '\u{1b}', '\u{7f}', '\u{80}', '\u{9b}', '\u{9f}'] {
            let said = shown(&format!("start{control}é"));
            assert!(said.contains('^'), "{control:?}: {said}");
            assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "{control:?}: {said}");
        }
        let error = ColumnList::parse("\u{9b}", RowKind::Packets).err();
        let coloured =
            error.map(|error| error.render(FilterErrorStyle::Coloured)).unwrap_or_default();
        assert!(!coloured.contains('\u{9b}'));
    }
}
