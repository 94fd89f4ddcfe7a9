//! A value change dump (VCD) of decoded states, for waveform viewers beside the dump of the wires.
//!
//! Changes become known at the end of an interval, so that they are sorted before they are written: in memory
//! up to a million, and in temporary files beyond that.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};

use analyzer::link::interval::ChannelActivity;
use codec::capture::{Channel, ChannelId};
use codec::recording::export::{identifier_code, scope_names};
use codec::time::Picoseconds;

use super::timeline::{TimelineItem, TimelineItemKind};

const CHANGES_MAX: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum DumpVariable {
    State,
    Tag,
    FillMin,
    FillMax,
    Finding,
}

impl DumpVariable {
    const ALL: [(Self, &'static str); 5] = [
        (Self::State, "string 1 {} state"),
        (Self::Tag, "string 1 {} tag"),
        (Self::FillMin, "integer 32 {} slack_min"),
        (Self::FillMax, "integer 32 {} slack_max"),
        (Self::Finding, "event 1 {} finding"),
    ];
}

/// A change of a variable: time in picoseconds, number of the channel, of the variable, and the value from
/// then on plus 1, or 0 for none. So the end of one value is before the begin of another at the same time.
type DumpChange = [u64; 4];

#[derive(Debug, Default)]
pub(super) struct StateDump {
    channels: BTreeMap<ChannelId, String>,
    changes: Vec<DumpChange>,
    /// Sorted changes.
    files: Vec<File>,
}

impl StateDump {
    pub(super) fn item(&mut self, channel: &Channel, item: &TimelineItem<'_>) -> io::Result<()> {
        use DumpVariable::{FillMax, FillMin, Finding, State, Tag};
        let id = item.channel;
        self.channels.entry(id).or_insert_with(|| channel.label().into_owned());
        let [start, end] = item.times;
        let mut change = |time: Picoseconds, variable, value| {
            let time = u64::try_from(time).unwrap_or(u64::MAX);
            self.changes.push([time, id.0.into(), variable as u64, value]);
        };
        match &item.kind {
            TimelineItemKind::State(state) => {
                change(start, State, state.index() as u64 + 1);
                change(end, State, 0);
            }
            TimelineItemKind::Packet { journey, .. } => {
                let tag = journey.tag.map_or(u64::from(u32::MAX), |tag| tag.value().into());
                change(start, Tag, tag + 1);
                change(end, Tag, 0);
            }
            TimelineItemKind::Fill([min, max]) => {
                change(start, FillMin, u64::from(*min) + 1);
                change(start, FillMax, u64::from(*max) + 1);
            }
            TimelineItemKind::Finding { .. } => change(start, Finding, 1),
        }
        if self.changes.len() >= CHANGES_MAX { self.spill() } else { Ok(()) }
    }

    /// Moves the changes in memory to a file.
    fn spill(&mut self) -> io::Result<()> {
        self.changes.sort_unstable();
        let mut out = BufWriter::new(tempfile::tempfile()?);
        for number in self.changes.drain(..).flatten() {
            out.write_all(&number.to_le_bytes())?;
        }
        let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        self.files.push(file);
        Ok(())
    }

    pub(super) fn write(mut self, out: &mut impl Write) -> io::Result<()> {
        let codes = self.declare(out)?;
        self.changes.sort_unstable();
        let mut runs: Vec<Box<dyn Iterator<Item = io::Result<DumpChange>>>> = Vec::new();
        for file in std::mem::take(&mut self.files) {
            runs.push(Box::new(stored(file)));
        }
        runs.push(Box::new(std::mem::take(&mut self.changes).into_iter().map(Ok)));
        let mut next = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            next.extend(run.next().transpose()?.map(|change| Reverse((change, number))));
        }
        let mut now = None;
        while let Some(Reverse((change, number))) = next.pop() {
            if let Some(run) = runs.get_mut(number) {
                next.extend(run.next().transpose()?.map(|change| Reverse((change, number))));
            }
            let [time, channel, variable, value] = change;
            // Only the last value at a time is one.
            let is_replaced =
                next.peek().is_some_and(|Reverse((later, _))| later[..3] == change[..3]);
            let Some(code) = codes.get(&(channel, variable)).filter(|_| !is_replaced) else {
                continue;
            };
            if now != Some(time) {
                writeln!(out, "#{time}")?;
                now = Some(time);
            }
            writeln!(out, "{}", text(variable, value, code))?;
        }
        Ok(())
    }

    /// Writes the declarations; returns the code of each variable.
    fn declare(&self, out: &mut impl Write) -> io::Result<BTreeMap<(u64, u64), String>> {
        write!(out, "$version myriscope $end\n$timescale 1 ps $end\n")?;
        let names: Vec<&str> = self.channels.values().map(String::as_str).collect();
        let mut codes = BTreeMap::new();
        for (id, scope) in self.channels.keys().zip(scope_names(&names)) {
            writeln!(out, "$scope module {scope} $end")?;
            for (variable, declaration) in DumpVariable::ALL {
                let code = identifier_code(codes.len());
                writeln!(out, "$var {} $end", declaration.replace("{}", &code))?;
                codes.insert((id.0.into(), variable as u64), code);
            }
            writeln!(out, "$upscope $end")?;
        }
        writeln!(out, "$enddefinitions $end\n$dumpvars")?;
        for ((_, variable), code) in &codes {
            if *variable != DumpVariable::Finding as u64 {
                writeln!(out, "{}", text(*variable, 0, code))?;
            }
        }
        writeln!(out, "$end")?;
        Ok(codes)
    }
}

/// The line of a change.
fn text(variable: u64, value: u64, code: &str) -> String {
    let is = |it: DumpVariable| it as u64 == variable;
    let value = value.checked_sub(1);
    let words = if is(DumpVariable::State) {
        let index = value.and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| ChannelActivity::ALL.get(index)).map(|it| it.name().to_owned())
    } else if is(DumpVariable::Tag) {
        value.map(|tag| {
            u16::try_from(tag).map_or_else(|_| "packet".into(), |tag| format!("{tag:02x}"))
        })
    } else if is(DumpVariable::Finding) {
        return format!("1{code}");
    } else {
        return value.map_or_else(|| format!("bx {code}"), |value| format!("b{value:b} {code}"));
    };
    format!("s{} {code}", words.as_deref().unwrap_or("-"))
}

/// The changes in a temporary file.
fn stored(file: File) -> impl Iterator<Item = io::Result<DumpChange>> {
    let mut file = BufReader::new(file);
    std::iter::from_fn(move || {
        if file.fill_buf().is_ok_and(<[u8]>::is_empty) {
            return None;
        }
        let mut change = [0; 4];
        let mut read = |number: &mut u64| {
            let mut bytes = [0; 8];
            file.read_exact(&mut bytes).map(|()| *number = u64::from_le_bytes(bytes))
        };
        Some(change.iter_mut().try_for_each(&mut read).map(|()| change))
    })
}
