//! Text of the page. Names in a capture may be long and hostile: they are shortened here, freed of
//! control characters, and escaped for HTML by the templates.

use std::borrow::Borrow;
use std::fmt::Display;

use analyzer::event::Picoseconds;
use analyzer::finding::ShellCommand;
use askama::filters::Safe;

#[expect(unreachable_pub, reason = "generated from the arguments of a filter")]
pub(crate) mod filters {
    use std::fmt::Display;

    use askama::{Result, Values, filter_fn};
    use codec::words::escape_text;

    /// A name or a sentence of at most `max` characters, without control characters. *Chosen*: names of
    /// the simulator have 20 characters, sentences of 300 fill three lines.
    #[filter_fn]
    pub(crate) fn clip(text: impl Display, _: &dyn Values, max: usize) -> Result<String> {
        let text = text.to_string();
        let cut = text.char_indices().nth(max).and_then(|(at, _)| text.get(..at));
        Ok(escape_text(cut.map(|text| format!("{text}…")).unwrap_or(text)))
    }
}

/// A time with the unit that fits it, to at most five digits.
pub(super) fn duration(time: impl Borrow<Picoseconds>) -> String {
    let time = *time.borrow();
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

pub(super) fn time_cell(time: impl Borrow<Option<Picoseconds>>) -> Safe<String> {
    Safe(match time.borrow() {
        Some(time) => format!("<td class=\"n\" data-v=\"{time}\">{}</td>", duration(*time)),
        None => "<td class=\"n\">–</td>".to_owned(),
    })
}

/// A share in percent, to a tenth.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let tenths = (u128::from(part) * 1000).checked_div(whole.into()).unwrap_or(0);
    if part > 0 && tenths == 0 {
        return "<0.1 %".to_owned();
    }
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Cell of a share, marked as a number that should be 0 if `class` says so.
pub(super) fn share_cell(
    class: &str,
    part: impl Borrow<u64>,
    whole: impl Borrow<u64>,
) -> Safe<String> {
    let (part, whole) = (*part.borrow(), *whole.borrow());
    let class = if part == 0 { "n" } else { class };
    let value = (u128::from(part) * 1_000_000).checked_div(whole.into()).unwrap_or(0);
    let text = percent(part, whole).replace('<', "&lt;");
    Safe(format!("<td class=\"{class}\" data-v=\"{value}\">{text}</td>"))
}

/// Cell of a number that should be 0.
pub(super) fn fault_cell(number: impl Display) -> Safe<String> {
    let number = number.to_string();
    let class = if number == "0" { "n" } else { "n bad" };
    Safe(format!("<td class=\"{class}\">{number}</td>"))
}

/// The first items of a list, and the command that lists all.
pub(super) struct BoundedList<T> {
    pub(super) items: Vec<T>,
    pub(super) more: usize,
    pub(super) command: ShellCommand,
}

impl<T> BoundedList<T> {
    pub(super) fn of(all: impl IntoIterator<Item = T>, max: usize, command: &ShellCommand) -> Self {
        let mut all = all.into_iter();
        let items = all.by_ref().take(max).collect();
        Self { items, more: all.count(), command: command.clone() }
    }

    pub(super) fn map<S>(self, build: impl FnMut(T) -> S) -> BoundedList<S> {
        let Self { items, more, command } = self;
        BoundedList { items: items.into_iter().map(build).collect(), more, command }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

pub(super) trait ShrinkingList {
    /// Leaves out the second half; false if nothing was left.
    fn halve(&mut self) -> bool;
}

impl<T> ShrinkingList for BoundedList<T> {
    fn halve(&mut self) -> bool {
        let left_out = self.items.len().div_ceil(2);
        self.items.truncate(self.items.len() - left_out);
        self.more += left_out;
        left_out > 0
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
}
