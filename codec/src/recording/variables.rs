//! Variables that a recording declares, and their signals.

use std::collections::BTreeMap;

use super::SELECTED_MAX;

/// Most bits of all signals together, and most bytes of their names and codes.
const SIGNALS_MAX: usize = 262_144;
const NAMES_MAX: usize = 16 << 20;

/// Most nested scopes.
const SCOPES_MAX: usize = 256;

/// Enters a scope.
pub(super) fn add_scope(scopes: &mut Vec<String>, name: &str) -> Result<(), String> {
    if scopes.len() == SCOPES_MAX {
        return Err(format!("more than {SCOPES_MAX} nested scopes"));
    }
    scopes.push(name.to_owned());
    Ok(())
}

/// Name of a variable: `d` and the range `[8:0]` in the scopes `top` and `link`.
#[derive(Clone, Copy, Debug)]
pub(super) struct VariableName<'a> {
    pub(super) scopes: &'a [String],
    pub(super) name: &'a str,
    pub(super) range: &'a str,
}

/// Signals of a variable, from its most significant bit.
#[derive(Clone, Copy, Debug)]
struct DeclaredVariable {
    first: usize,
    width: usize,
}

/// Variables and signals of a recording, in bounded memory.
#[derive(Debug, Default)]
pub struct SignalTable {
    /// Names of the signals, one a bit, with their scopes: `top.link.d[8]`; empty for one without a name.
    names: Vec<String>,
    /// The first signal of the same net, by signal.
    nets: Vec<usize>,
    /// First signal of each code.
    codes: BTreeMap<Box<[u8]>, usize>,
    /// Variables with their codes, which several may share.
    variables: Vec<(Box<[u8]>, DeclaredVariable)>,
    /// Bytes of names and codes.
    names_len: usize,
    /// What was taken in one of several ways.
    pub(super) note: Option<String>,
}

impl SignalTable {
    /// The names of the signals, with their scopes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What the recording leaves open, and how it was taken: columns that are no signals, and why; no unit of times.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// True for the first signal with a name that a net has.
    pub(super) fn is_first(&self, signal: usize) -> bool {
        self.nets.get(signal) == Some(&signal)
            && self.names.get(signal).is_some_and(|name| !name.is_empty())
    }

    /// The first signal of the same net.
    pub(super) fn net(&self, signal: usize) -> usize {
        self.nets.get(signal).copied().unwrap_or(signal)
    }

    /// Adds a signal that is a net of its own.
    #[cfg(feature = "recordings")]
    pub(super) fn push(&mut self, name: String) {
        self.nets.push(self.names.len());
        self.names.push(name);
    }

    /// Adds a variable of some bits; one of none has no signals.
    pub(super) fn declare(
        &mut self,
        name: VariableName<'_>,
        width: usize,
        code: &[u8],
    ) -> Result<(), String> {
        if width == 0 {
            // It would cost memory that no limit counts.
            return Ok(());
        }
        let (plain, glued) = split_range(name.name);
        let (given, range) = if name.range.is_empty() && width > 1 {
            (plain, glued)
        } else {
            (name.name, name.range)
        };
        let name = [name.scopes.join(".").as_str(), given].join(".");
        let name = name.trim_start_matches('.');
        if self.names.len().saturating_add(width) > SIGNALS_MAX {
            return Err(format!("more than {SIGNALS_MAX} signals: dump the wires alone"));
        }
        let name_len = name.len().saturating_add(range.len()).saturating_add(8);
        self.names_len = self.names_len.saturating_add(code.len());
        self.names_len = self.names_len.saturating_add(name_len.saturating_mul(width));
        if self.names_len > NAMES_MAX {
            return Err(format!("names of signals exceed {NAMES_MAX} bytes"));
        }
        // The range of `d[8:0]` numbers the bits; without one, they count down to 0.
        let (left, right) = bounds(range).unwrap_or((width.saturating_sub(1), 0));
        let first = self.names.len();
        let net = *self.codes.entry(code.into()).or_insert(first);
        self.nets.extend(net..net.saturating_add(width));
        self.variables.push((code.into(), DeclaredVariable { first, width }));
        self.names.extend((0..width).map(|bit| match width {
            1 => format!("{name}{}", if range.contains(':') { "" } else { range }),
            _ if left < right => format!("{name}[{}]", left.saturating_add(bit)),
            _ => format!("{name}[{}]", left.saturating_sub(bit)),
        }));
        Ok(())
    }

    /// Masks of selected signals, from the least significant bit of each code that has one of them.
    pub(super) fn masks(&self, selected: &[usize]) -> BTreeMap<Box<[u8]>, Vec<u64>> {
        let mut all: BTreeMap<Box<[u8]>, Vec<u64>> = BTreeMap::new();
        for (number, signal) in (0..).zip(selected.iter().take(SELECTED_MAX)) {
            let holds = |(_, variable): &&(_, DeclaredVariable)| {
                (variable.first..variable.first + variable.width).contains(signal)
            };
            for (code, variable) in self.variables.iter().filter(holds) {
                let bit = variable.first + variable.width - 1 - signal;
                let masks = all.entry(code.clone()).or_default();
                masks.resize(masks.len().max(bit + 1), 0);
                if let Some(mask) = masks.get_mut(bit) {
                    *mask |= 1_u64 << number;
                }
            }
        }
        all
    }
}

/// Bounds of a range: 8 and 0 of `[8:0]`, `(8 downto 0)` and `8-D0`.
pub(super) fn bounds(range: &str) -> Option<(usize, usize)> {
    let inner = range
        .trim_matches(['[', ']', '(', ')', '<', '>'])
        .replace("downto", ":")
        .replace("to", ":");
    let (one, other) = inner.split_once([':', '-'])?;
    let other = other.trim().trim_start_matches(char::is_alphabetic);
    Some((one.trim().parse().ok()?, other.parse().ok()?))
}

/// Number of bits of a range.
pub(super) fn range_width(range: &str) -> Option<usize> {
    bounds(range).map(|(first, last)| first.abs_diff(last).saturating_add(1))
}

/// A name and the range behind it: `tx` and `[8:0]` of `tx[8:0]`, `D` and `7-D0` of `D7-D0`.
pub(super) fn split_range(name: &str) -> (&str, &str) {
    match name.rfind(['[', '(', '<']) {
        Some(at) if name.ends_with([']', ')', '>']) => name.split_at(at),
        _ => {
            let digits = name.find(|c: char| c.is_ascii_digit()).filter(|digits| *digits > 0);
            let (stem, range) = name.split_at(digits.unwrap_or(name.len()));
            let is_bus = range.split_once('-').is_some_and(|(_, low)| low.starts_with(stem))
                && bounds(range).is_some_and(|(high, low)| high > low);
            if is_bus { (stem, range) } else { (name, "") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_a_name_may_be_its_first_and_its_last_one() {
        assert_eq!((split_range("D7-D0"), bounds("7-D0")), (("D", "7-D0"), Some((7, 0))));
        for name in ["D0-D7", "D7-E0", "a-b", "7-0"] {
            assert_eq!(split_range(name), (name, ""));
        }
    }

    #[test]
    fn a_variable_of_no_bits_costs_nothing() {
        let (mut table, scopes) = (SignalTable::default(), ["top".to_owned()]);
        let name = VariableName { scopes: &scopes, name: "a", range: "" };
        table.declare(name, 0, b"!").unwrap();
        assert_eq!((table.variables.len(), table.names_len), (0, 0));
        table.declare(name, 1, b"!").unwrap();
        assert_eq!((table.variables.len(), table.names()), (1, &["top.a".to_owned()][..]));
    }
}
