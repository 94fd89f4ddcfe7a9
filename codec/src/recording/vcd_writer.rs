//! Writer of value change dumps (VCD, IEEE 1364) with the wires of channels.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::wires::{FS_PER_PS, WIRES, WireTransition};

/// Writer of a value change dump. Each channel is a scope with the wires `D0` to `D7` and `d`, and the text
/// `character`, which is no part of IEEE 1364 but usual. The unit of time is 1 ps.
#[derive(Debug)]
pub struct VcdWriter<W> {
    out: W,
    /// Levels of the wires of each channel, all 0 at the beginning; `None` where nothing is recorded.
    levels: Vec<Option<u16>>,
    time_ps: Option<u64>,
    /// Time before the first one from which on the levels are known.
    pub(super) lead_fs: u64,
}

impl<W: Write> VcdWriter<W> {
    /// Writes the declarations of channels. Their levels are known from a time before the first transition on.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn new(mut out: W, names: &[&str], lead_fs: u64) -> io::Result<Self> {
        write!(out, "$version myriscope $end\n$timescale 1 ps $end\n")?;
        for (channel, scope) in scope_names(names).iter().enumerate() {
            writeln!(out, "$scope module {scope} $end")?;
            for wire in 0..WIRES {
                let name = if wire == 8 { "d".to_owned() } else { format!("D{wire}") };
                writeln!(out, "$var wire 1 {} {name} $end", code(channel, wire))?;
            }
            writeln!(out, "$var string 1 {} character $end\n$upscope $end", text_code(channel))?;
        }
        writeln!(out, "$enddefinitions $end")?;
        Ok(Self { out, levels: vec![Some(0); names.len()], time_ps: None, lead_fs })
    }

    /// Writes a time, and some time before the first one the levels from which the wires start: so it is known from when on
    /// they are recorded.
    pub(super) fn time(&mut self, time_fs: u64) -> io::Result<()> {
        let time_ps = time_fs / FS_PER_PS;
        if self.time_ps.is_none() {
            let begin_ps = time_fs.saturating_sub(self.lead_fs) / FS_PER_PS;
            self.time_ps = Some(begin_ps);
            writeln!(self.out, "#{begin_ps}\n$dumpvars")?;
            (0..self.levels.len()).try_for_each(|channel| self.write_levels(channel))?;
            writeln!(self.out, "$end")?;
        }
        if self.time_ps != Some(time_ps) {
            writeln!(self.out, "#{time_ps}")?;
        }
        self.time_ps = Some(time_ps);
        Ok(())
    }

    /// Writes transitions of a channel, not earlier than what has been written.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn transition(&mut self, channel: usize, transition: WireTransition) -> io::Result<()> {
        self.time(transition.time_fs)?;
        let Some(Some(levels)) = self.levels.get_mut(channel) else { return Ok(()) };
        *levels ^= transition.wires;
        for wire in transition.each() {
            writeln!(self.out, "{}{}", *levels >> wire & 1, code(channel, wire))?;
        }
        Ok(())
    }

    fn write_levels(&mut self, channel: usize) -> io::Result<()> {
        let levels = self.levels.get(channel).copied().flatten();
        (0..WIRES).try_for_each(|wire| {
            let level =
                levels.map_or("x", |levels| if levels >> wire & 1 == 1 { "1" } else { "0" });
            writeln!(self.out, "{level}{}", code(channel, wire))
        })
    }

    /// Writes that the levels of a channel are unknown from a time on, and then, that they are known again.
    pub(super) fn hide_or_show(&mut self, channel: usize, time_fs: u64) -> io::Result<()> {
        let Some(levels) = self.levels.get_mut(channel) else { return Ok(()) };
        *levels = if levels.is_some() { None } else { Some(0) };
        if self.time_ps.is_none() {
            return Ok(());
        }
        self.time(time_fs)?;
        self.write_levels(channel)
    }

    /// Writes the text of a channel, without blanks.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn text(&mut self, channel: usize, time_fs: u64, text: &str) -> io::Result<()> {
        self.time(time_fs)?;
        writeln!(self.out, "s{text} {}", text_code(channel))
    }

    /// The stream, with everything written to it.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Names of scopes: letters, digits and underscores, all different.
pub fn scope_names(names: &[&str]) -> Vec<String> {
    let (mut scopes, mut taken) = (Vec::new(), BTreeSet::new());
    for (number, name) in names.iter().enumerate() {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut scope: String = name.replace('>', "_to_").chars().map(plain).collect();
        while scope.is_empty() || taken.contains(&scope) {
            scope = format!("{scope}_{number}");
        }
        taken.insert(scope.clone());
        scopes.push(scope);
    }
    scopes
}

fn code(channel: usize, wire: usize) -> String {
    identifier_code(channel * WIRES + wire)
}

/// Identifier code of a variable: digits to the base 93, from `!` to `}`.
pub fn identifier_code(mut number: usize) -> String {
    let mut code = String::new();
    loop {
        code.push(char::from(b'!' + u8::try_from(number % 93).unwrap_or_default()));
        number /= 93;
        if number == 0 {
            return code;
        }
    }
}

/// Identifier code of a text, which begins like no level: readers without texts take it for a word of its
/// own.
fn text_code(channel: usize) -> String {
    format!("~{}", code(channel, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_have_different_names() {
        let names = scope_names(&["h1:0>s1:1", "h1.0>s1.1", "", "a_5", "a", "a"]);
        assert_eq!(names, ["h1_0_to_s1_1", "h1_0_to_s1_1_1", "_2", "a_5", "a", "a_5_5"]);
    }
}
