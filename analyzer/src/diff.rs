//! Comparison of two captures: the packets of each channel, aligned by their bytes.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use codec::capture::Channel;
use codec::packet::PacketTag;
use serde::Serialize;

use crate::event::Picoseconds;
use crate::named_enum::named_enum;
use crate::packet::{HexBytes, ReceivedPacket};
use crate::render::microseconds;
use crate::render::{StyledLine, TextStyle};

/// Packets of a channel in which equal ones are searched after a difference, of each capture; twice as many
/// are kept at most. *Chosen*: what a link carries in 1 ms in short packets.
pub const WINDOW: usize = 256;
/// Equal packets shown before and after the first difference.
const CONTEXT: usize = 3;
/// Most packets shown from the first difference on.
const SHOWN_MAX: usize = 12;
/// Bytes of a route that are shown.
const ROUTE_SHOWN: usize = 8;

/// One of the two captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffSide {
    /// The first one.
    A,
    /// The second one.
    B,
}

/// Comparison of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffTime {
    /// Packets at different times differ.
    Compare,
    /// Only the order and the bytes of packets count.
    Ignore,
}

named_enum! {
    /// Presence of a packet in the two captures.
    pub enum DiffMark {
        /// In both, at the same time or with times ignored.
        Same = "=",
        /// In both, at different times.
        Moved = "~",
        /// Only in the first capture.
        OnlyA = "-",
        /// Only in the second capture.
        OnlyB = "+",
    }
}

/// A packet of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedPacket {
    /// Its first byte.
    start: u64,
    time_ps: Picoseconds,
    length: u64,
    /// First bytes of the route.
    route: Vec<u8>,
    tag: Option<u8>,
    crc: &'static str,
    ended_by: &'static str,
    /// Identity of all bytes.
    #[serde(skip)]
    bytes: u64,
}

/// A packet of the surroundings of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffPacket {
    #[serde(serialize_with = "mark_name")]
    mark: DiffMark,
    #[serde(flatten)]
    packet: ComparedPacket,
    /// Time in the second capture less that in the first, of a packet in both.
    #[serde(skip_serializing_if = "Option::is_none")]
    later_ps: Option<i128>,
}

/// The comparison of a channel: a row of `myriscope diff`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "members in JSON")]
pub struct DiffRow {
    channel: String,
    /// True of a channel that only one capture has, or whose packets differ.
    differs: bool,
    in_a: bool,
    in_b: bool,
    same: u64,
    moved: u64,
    only_a: u64,
    only_b: u64,
    /// The first difference, a few packets before it, and those that follow.
    first: Vec<DiffPacket>,
}

/// Compares packets of two captures as they are read. Memory: a window of packets for each channel.
#[derive(Debug)]
pub struct CaptureComparison {
    time: DiffTime,
    channels: BTreeMap<String, ChannelComparison>,
}

#[derive(Debug, Default)]
struct ChannelComparison {
    waiting: [VecDeque<ComparedPacket>; 2],
    before: VecDeque<DiffPacket>,
    /// Equal packets since the last difference.
    after: usize,
    row: DiffRow,
}

impl CaptureComparison {
    /// A comparison before the first packet.
    #[must_use]
    pub const fn new(time: DiffTime) -> Self {
        Self { time, channels: BTreeMap::new() }
    }

    /// Adds a channel of a capture.
    pub fn declare(&mut self, side: DiffSide, channel: &Channel) {
        let row = &mut self.channels.entry(channel.label().into_owned()).or_default().row;
        match side {
            DiffSide::A => row.in_a = true,
            DiffSide::B => row.in_b = true,
        }
    }

    /// Adds the next packet of a channel.
    pub fn feed(&mut self, side: DiffSide, channel: &Channel, packet: &ReceivedPacket) {
        let compared = self.channels.entry(channel.label().into_owned()).or_default();
        let [a, b] = &mut compared.waiting;
        let queue = match side {
            DiffSide::A => a,
            DiffSide::B => b,
        };
        queue.push_back(ComparedPacket::of(channel, packet));
        compared.settle(self.time, 2 * WINDOW);
    }

    /// Ends both captures; returns a row for each channel.
    #[must_use]
    pub fn finish(self) -> Vec<DiffRow> {
        let Self { time, channels } = self;
        let rows = channels.into_iter().map(|(channel, mut compared)| {
            compared.settle(time, 0);
            let row = compared.row;
            let differs = !(row.in_a && row.in_b) || row.moved + row.only_a + row.only_b > 0;
            DiffRow { channel, differs, ..row }
        });
        rows.collect()
    }
}

impl ComparedPacket {
    fn of(channel: &Channel, packet: &ReceivedPacket) -> Self {
        let mut hasher = DefaultHasher::new();
        let kept = packet.bytes.as_ref();
        (kept.map(codec::packet::CappedBytes::bytes), packet.check.syndrome()).hash(&mut hasher);
        let start = packet.start.0;
        Self {
            start,
            time_ps: Picoseconds::from(start) * Picoseconds::from(channel.period_ps.get()),
            length: packet.length,
            route: packet.route.bytes().iter().take(ROUTE_SHOWN).copied().collect(),
            tag: packet.tag.map(PacketTag::value),
            crc: packet.check.name(),
            ended_by: packet.ended_by.name(),
            bytes: hasher.finish(),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.length, it.bytes, it.ended_by);
        key(self) == key(other)
    }
}

impl ChannelComparison {
    /// Compares waiting packets, as long as one capture has `enough` of them where they differ.
    fn settle(&mut self, time: DiffTime, enough: usize) {
        loop {
            let [a, b] = &mut self.waiting;
            if let (Some(one), Some(other)) = (a.front(), b.front())
                && one.is_same(other)
            {
                if let (Some(one), Some(other)) = (a.pop_front(), b.pop_front()) {
                    self.both(time, one, &other);
                }
                continue;
            }
            let most = a.len().max(b.len());
            if most == 0 || most < enough && a.len().min(b.len()) < WINDOW {
                return;
            }
            let (only_a, only_b) = next_same(a, b).unwrap_or((WINDOW, WINDOW));
            let only_a: Vec<_> = a.drain(..only_a.min(a.len())).collect();
            let only_b: Vec<_> = b.drain(..only_b.min(b.len())).collect();
            only_a.into_iter().for_each(|it| self.add(DiffMark::OnlyA, it, None));
            only_b.into_iter().for_each(|it| self.add(DiffMark::OnlyB, it, None));
        }
    }

    fn both(&mut self, time: DiffTime, one: ComparedPacket, other: &ComparedPacket) {
        let [a, b] = [&one, other].map(|it| i128::try_from(it.time_ps).unwrap_or(i128::MAX));
        let is_moved = a != b && time == DiffTime::Compare;
        let mark = if is_moved { DiffMark::Moved } else { DiffMark::Same };
        self.add(mark, one, Some(b - a));
    }

    fn add(&mut self, mark: DiffMark, packet: ComparedPacket, later_ps: Option<i128>) {
        let row = &mut self.row;
        *match mark {
            DiffMark::Same => &mut row.same,
            DiffMark::Moved => &mut row.moved,
            DiffMark::OnlyA => &mut row.only_a,
            DiffMark::OnlyB => &mut row.only_b,
        } += 1;
        let entry = DiffPacket { mark, packet, later_ps: later_ps.filter(|later| *later != 0) };
        match (row.first.is_empty(), mark) {
            (true, DiffMark::Same) => {
                if self.before.len() == CONTEXT {
                    self.before.pop_front();
                }
                self.before.push_back(entry);
            }
            (true, DiffMark::Moved | DiffMark::OnlyA | DiffMark::OnlyB) => {
                row.first.extend(self.before.drain(..));
                row.first.push(entry);
            }
            (false, _) => {
                if self.after < CONTEXT && row.first.len() < CONTEXT + SHOWN_MAX {
                    self.after = if mark == DiffMark::Same { self.after + 1 } else { 0 };
                    row.first.push(entry);
                }
            }
        }
    }
}

/// Numbers of packets before the next two that are equal, or the next one that ends both captures: the fewest in all.
fn next_same(a: &VecDeque<ComparedPacket>, b: &VecDeque<ComparedPacket>) -> Option<(usize, usize)> {
    let [in_a, in_b] = [a.len(), b.len()].map(|len| len.min(WINDOW));
    let is_same = |i: usize, j: usize| match (a.get(i), b.get(j)) {
        (Some(a), Some(b)) => a.is_same(b),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    let pairs = (1..in_a + in_b).flat_map(|sum| {
        let from = sum.saturating_sub(in_b.saturating_sub(1));
        (from..in_a.min(sum + 1)).map(move |i| (i, sum - i))
    });
    let mut pairs = pairs.filter(|(i, j)| is_same(*i, *j));
    // One equal packet may be a coincidence: short ones repeat.
    let first = pairs.clone().next();
    pairs.find(|(i, j)| is_same(i + 1, j + 1)).or(first)
}

impl DiffRow {
    /// True if the captures differ about the channel.
    #[must_use]
    pub const fn differs(&self) -> bool {
        self.differs
    }

    /// The lines of the text format.
    pub fn lines(&self, out: &mut impl FnMut(StyledLine)) {
        let Self { channel, differs, in_a, in_b, same, moved, only_a, only_b, first } = self;
        let mark = if *differs { TextStyle::Bad } else { TextStyle::Good };
        let line = StyledLine::of(mark, if *differs { "✗ " } else { "✓ " });
        let line = line.and(TextStyle::Head, format!("{channel:<15}"));
        let text = match (in_a, in_b) {
            (true, false) => format!("  only in A, {only_a} packets"),
            (false, true) => format!("  only in B, {only_b} packets"),
            (true, true) | (false, false) => {
                let counts = [
                    (*same, "the same"),
                    (*moved, "at another time"),
                    (*only_a, "only in A"),
                    (*only_b, "only in B"),
                ];
                let counts = counts.iter().filter(|(count, _)| *count > 0);
                let counts: Vec<_> =
                    counts.map(|(count, what)| format!("{count} {what}")).collect();
                if counts.is_empty() {
                    "  no packets".to_owned()
                } else {
                    format!("  {}", counts.join(", "))
                }
            }
        };
        out(line.and(TextStyle::Plain, text));
        if *in_a && *in_b {
            first.iter().for_each(|packet| out(packet.line()));
        }
    }
}

impl DiffPacket {
    fn line(&self) -> StyledLine {
        let Self { mark, packet, later_ps } = self;
        let role = match mark {
            DiffMark::Same => TextStyle::Dim,
            DiffMark::Moved => TextStyle::Notice,
            DiffMark::OnlyA | DiffMark::OnlyB => TextStyle::Bad,
        };
        let ComparedPacket { time_ps, length, route, tag, crc, ended_by, .. } = packet;
        let tag = tag.map_or_else(|| "-".to_owned(), |tag| format!("{tag:02x}"));
        let text = format!(
            "  {} {:>12} µs  {length:>6} bytes  tag {tag}  crc {crc}  ended by {ended_by}  route {}",
            mark.name(),
            microseconds(*time_ps),
            HexBytes(route)
        );
        let line = StyledLine::of(role, text);
        match later_ps {
            Some(later) if *later > 0 => {
                line.and(role, format!("  {} µs later in B", microseconds(later.unsigned_abs())))
            }
            Some(later) => {
                line.and(role, format!("  {} µs earlier in B", microseconds(later.unsigned_abs())))
            }
            None => line,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn mark_name<S: serde::Serializer>(mark: &DiffMark, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(mark.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares channels whose packets are letters, a packet each microsecond.
    fn check(a: &str, b: &str) -> (String, [u64; 3]) {
        let mut compared = ChannelComparison::default();
        let packet = |(at, letter): (usize, char)| ComparedPacket {
            start: at as u64,
            time_ps: at as u128,
            length: 1,
            route: Vec::new(),
            tag: None,
            crc: "good",
            ended_by: "gap",
            bytes: u64::from(u32::from(letter)),
        };
        compared.waiting = [a, b].map(|text| text.chars().enumerate().map(packet).collect());
        compared.settle(DiffTime::Ignore, 0);
        let DiffRow { same, only_a, only_b, first, .. } = compared.row;
        let letter = |it: &DiffPacket| {
            let letter = char::from_u32(u32::try_from(it.packet.bytes).unwrap()).unwrap();
            format!("{}{letter}", it.mark.name())
        };
        (first.iter().map(letter).collect::<Vec<_>>().join(" "), [same, only_a, only_b])
    }

    #[test]
    fn packets_are_aligned_around_differences() {
        for (a, b, first, counts) in [
            ("abc", "abc", "", [3, 0, 0]),
            ("", "", "", [0, 0, 0]),
            ("abcdefgh", "abcdxefgh", "=b =c =d +x =e =f =g", [8, 0, 1]),
            ("abcdefgh", "abcefgh", "=a =b =c -d =e =f =g", [7, 1, 0]),
            ("abxcd", "abycd", "=a =b -x +y =c =d", [4, 1, 1]),
            ("abc", "abcde", "=a =b =c +d +e", [3, 0, 2]),
            ("abc", "", "-a -b -c", [0, 3, 0]),
            // Equal packets further on are not mistaken for the one that is missing.
            ("aaab", "aab", "=a =a -a =b", [3, 1, 0]),
        ] {
            assert_eq!(check(a, b), (first.to_owned(), counts), "{a} and {b}");
        }
    }

    #[test]
    fn what_differs_throughout_is_counted_in_bounded_memory() {
        let long = |letter: &str| letter.repeat(5000);
        let (first, counts) = check(&long("a"), &long("b"));
        assert_eq!(
            (first.split(' ').count() <= CONTEXT + SHOWN_MAX, counts),
            (true, [0, 5000, 5000])
        );
    }
}
