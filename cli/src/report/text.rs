//! Text of the page. Names in a capture may be long and hostile: they are shortened here, freed of
//! control characters, and escaped for HTML by the templates.

use analyzer::channel_name::escape_text;
use analyzer::event::Picoseconds;
use analyzer::finding::ShellCommand;

/// Longest name, in characters. *Chosen*: names of the simulator have 20.
pub(super) const NAME_MAX: usize = 60;
/// Longest sentence. *Chosen*: three lines.
pub(super) const TEXT_MAX: usize = 300;

/// A name or a sentence, shortened, without control characters.
pub(super) fn clipped(text: &str, max: usize) -> String {
    let cut = text.char_indices().nth(max).map(|(at, _)| at);
    let shown = cut.and_then(|at| text.get(..at)).map(|text| format!("{text}…"));
    escape_text(shown.unwrap_or_else(|| text.to_owned()))
}

pub(super) fn name(text: &str) -> String {
    clipped(text, NAME_MAX)
}

/// A time with the unit that fits it, to at most five digits.
pub(super) fn duration(time: Picoseconds) -> String {
    let units = [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "µs"), (1000, "ns")];
    let fits = |(size, _): &(Picoseconds, &str)| time >= *size;
    let (size, unit) = units.into_iter().find(fits).unwrap_or((1000, "ns"));
    let thousandths = time.saturating_mul(1000) / size;
    let fraction = format!("{:03}", thousandths % 1000);
    let digits = 5_usize.saturating_sub((thousandths / 1000).to_string().len()).min(3);
    let fraction = fraction.get(..digits).unwrap_or_default().trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction} {unit}", thousandths / 1000)
}

/// A share in percent, to a tenth.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let tenths = (u128::from(part) * 1000).checked_div(whole.into()).unwrap_or(0);
    if part > 0 && tenths == 0 {
        return "<0.1 %".to_owned();
    }
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// The first items of a list, and the command that lists all.
pub(super) struct BoundedList<T> {
    pub(super) items: Vec<T>,
    pub(super) more: usize,
    pub(super) command: String,
}

impl<T> BoundedList<T> {
    pub(super) fn of<S>(
        all: &[S],
        max: usize,
        command: &ShellCommand,
        build: impl FnMut(&S) -> T,
    ) -> Self {
        let items = all.iter().take(max).map(build).collect();
        let command = clipped(&command.to_string(), TEXT_MAX);
        Self { items, more: all.len().saturating_sub(max), command }
    }

    /// Leaves out the second half.
    pub(super) fn halve(&mut self) {
        let left_out = self.items.len().div_ceil(2);
        self.items.truncate(self.items.len() - left_out);
        self.more += left_out;
    }
}

/// A table that a script can sort and filter.
pub(super) struct DataTable {
    pub(super) id: &'static str,
    pub(super) heads: &'static [&'static str],
    pub(super) rows: BoundedList<Vec<DataCell>>,
}

/// A cell of a table.
pub(super) struct DataCell {
    pub(super) class: &'static str,
    pub(super) text: String,
    /// Value for sorting, if the text has a unit.
    pub(super) value: Option<String>,
}

impl DataCell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { class: "", text: text.into(), value: None }
    }

    pub(super) fn number(number: u64) -> Self {
        Self { class: "n", text: number.to_string(), value: None }
    }

    pub(super) fn time(time: Option<Picoseconds>) -> Self {
        let text = time.map_or_else(|| "–".to_owned(), duration);
        Self { class: "n", text, value: time.map(|time| time.to_string()) }
    }

    pub(super) fn share(part: u64, whole: u64) -> Self {
        let value = (u128::from(part) * 1_000_000).checked_div(whole.into());
        Self { class: "n", text: percent(part, whole), value: value.map(|it| it.to_string()) }
    }

    /// The cell, marked if a number is not 0.
    pub(super) fn alarming(self, number: u64) -> Self {
        Self { class: if number > 0 { "n bad" } else { self.class }, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_that_fits_and_five_digits() {
        let cases = [
            (0, "0 ns"),
            (12_500, "12.5 ns"),
            (999_999, "999.99 ns"),
            (15_850_000, "15.85 µs"),
            (40_000_000_000, "40 ms"),
            (123_456_789_000_000_000, "123456 s"),
        ];
        cases.into_iter().for_each(|(time, text)| assert_eq!(duration(time), text));
    }

    #[test]
    fn names_are_short_and_harmless() {
        let hostile = format!("\u{1b}[2J\u{202e}{}", "x".repeat(1 << 16));
        let shown = name(&hostile);
        assert!(shown.starts_with("\\u{1b}[2J\\u{202e}xx") && shown.ends_with("xx…"), "{shown}");
        assert!(shown.chars().count() < 80);
    }
}
