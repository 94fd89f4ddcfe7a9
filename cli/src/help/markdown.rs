//! Markdown as a manual page.

use std::mem;

use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// A page from Markdown with headings, paragraphs, lists, code and tables.
pub(super) fn page(name: &str, section: &str, title: &str, text: &str) -> Roff {
    let mut page = ManualPage::default();
    page.roff.control("TH", [name, section]);
    page.roff.control("SH", ["NAME"]).text([roman(format!("{name} - {title}"))]);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        page.event(event);
    }
    page.roff
}

#[derive(Default)]
struct ManualPage {
    roff: Roff,
    /// Text of the paragraph or cell so far.
    line: Vec<Inline>,
    font: TextFont,
    cell: usize,
}

#[derive(Clone, Copy, Default)]
enum TextFont {
    #[default]
    Roman,
    Bold,
    Italic,
    Code,
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "Markdown has more than the documents use, and may get more"
)]
impl ManualPage {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match self.font {
                TextFont::Code => drop(self.roff.text([roman(text.trim_end().to_owned())])),
                TextFont::Roman => self.line.push(roman(text.into_string())),
                TextFont::Bold => self.line.push(bold(text.into_string())),
                TextFont::Italic => self.line.push(italic(text.into_string())),
            },
            Event::Code(text) => self.line.push(bold(text.into_string())),
            Event::SoftBreak | Event::HardBreak => self.line.push(roman(" ")),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Paragraph => drop(self.roff.control("PP", [])),
            Tag::Item => drop(self.roff.control("IP", ["\u{2022}", "2"])),
            Tag::CodeBlock(_) => {
                self.roff.control("PP", []).control("RS", ["4"]).control("nf", []);
                self.font = TextFont::Code;
            }
            Tag::TableHead | Tag::TableRow => {
                self.roff.control("TP", []);
                self.cell = 0;
            }
            Tag::Strong => self.font = TextFont::Bold,
            Tag::Emphasis => self.font = TextFont::Italic,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let text = plain(mem::take(&mut self.line));
                match level {
                    HeadingLevel::H1 => self.roff.control("SH", ["DESCRIPTION"]),
                    HeadingLevel::H2 => self.roff.control("SH", [text.as_str()]),
                    _ => self.roff.control("SS", [text.as_str()]),
                };
            }
            TagEnd::Paragraph | TagEnd::Item => self.flush(),
            TagEnd::CodeBlock => {
                self.font = TextFont::Roman;
                self.roff.control("fi", []).control("RE", []);
            }
            // The first cell is the tag of a paragraph, the others are its text.
            TagEnd::TableCell if self.cell == 0 => {
                self.flush();
                self.cell = 1;
            }
            TagEnd::TableCell if self.line.is_empty() => {}
            TagEnd::TableCell => self.line.push(roman("; ")),
            TagEnd::TableHead | TagEnd::TableRow => {
                self.line.pop();
                self.flush();
            }
            TagEnd::Strong | TagEnd::Emphasis => self.font = TextFont::Roman,
            _ => {}
        }
    }

    fn flush(&mut self) {
        let line = mem::take(&mut self.line);
        if !line.is_empty() {
            self.roff.text(line);
        }
    }
}

fn plain(line: Vec<Inline>) -> String {
    let text = line.into_iter().map(|piece| match piece {
        Inline::Roman(text) | Inline::Italic(text) | Inline::Bold(text) => text,
        Inline::LineBreak => " ".to_owned(),
    });
    text.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_a_text_has_its_requests() {
        let text = "# Title\n\nA *b* **c** `d`\nline.\n\n## Part\n\n- one\n- two\n\n### Of it\n\n\
                    ```sh\nmyriscope x\n```\n\n| key | unit | text |\n|---|---|---|\n| k | | of it |\n";
        let page = page("name", "7", "some words", text).render();
        let (_, page) = page.split_once(".TH ").unwrap();
        insta::assert_snapshot!(page, @r#"
        name 7
        .SH NAME
        name \- some words
        .SH DESCRIPTION
        .PP
        A \fIb\fR \fBc\fR \fBd\fR line.
        .SH Part
        .IP • 2
        one
        .IP • 2
        two
        .SS "Of it"
        .PP
        .RS 4
        .nf
        myriscope x
        .fi
        .RE
        .TP
        key
        unit; text
        .TP
        k
        of it
        "#);
    }
}
