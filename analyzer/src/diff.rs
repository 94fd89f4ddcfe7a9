//! Comparison of two captures: the packets of each channel, aligned by their bytes.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use codec::capture::Channel;
use codec::packet::{CrcCheck, PacketTag};

use crate::event::Picoseconds;
use crate::named_enum::named_enum;
use crate::packet::{FrameEnd, HexBytes, ReceivedPacket};
use crate::render::{StyledLine, TextStyle, count, microseconds};
use crate::row::FieldShape::{Bytes, Number, Place, Words};
use crate::row::{FieldType, row};

/// Packets of a channel in which equal ones are searched after a difference, of each capture. *Chosen*: what a link
/// carries in 1 ms in short packets.
pub const WINDOW: usize = 256;
/// Packets that wait for those of the other capture, of all channels. *Chosen*: more than a block has
/// ([`REPEATED_MAX`](crate::timeline::REPEATED_MAX) characters), and about 100 MB.
const WAITING_MAX: usize = 600_000;
/// Equal packets shown before and after the first difference.
const CONTEXT: usize = 3;
/// Most packets shown from the first difference on.
const SHOWN_MAX: usize = 12;
const ROUTE_SHOWN: usize = 8;

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
        Same = "same",
        /// In both, at different times.
        Moved = "moved",
        /// Only in the first capture.
        OnlyA = "only-a",
        /// Only in the second capture.
        OnlyB = "only-b",
    }
}

row! {
    /// A packet of a comparison.
    #[derive(Default, Eq)]
    pub struct DiffPacket {
        mark: &'static str as DiffMark::SHAPE, "", "", "in both, in both at different times, only in A, only in B";
        packet: u64, "", "", "number on the channel, in A if it is in both";
        start: u64 as Place, "characters", "P-1", "place of its first byte";
        time_ps: Picoseconds, "ps", "", "time of start";
        length: u64, "bytes", "P-1", "data bytes, CRC byte included";
        route: Vec<u8> as Bytes, "", "P-2", "first bytes of the route, at most 8";
        tag: Option<u8> as Number(127), "", "P-2", "the byte after the route";
        crc: &'static str as Words(CrcCheck::NAMES), "", "P-4", "result of the CRC check";
        ended_by: &'static str as Words(FrameEnd::NAMES), "", "P-1", "cause of its end";
        later_ps: Option<i64>, "ps", "", "time in B less that in A, if they differ";
    }
}

row! {
    /// A row of `myriscope diff`; fields as in `docs/output.md`.
    #[derive(Default, Eq)]
    pub struct DiffRow {
        channel: String, "", "", "name of the channel";
        differs: bool, "", "", "true if only one capture has it, or packets differ";
        captures: &'static str as Words(CAPTURES), "", "", "captures that have the channel";
        same: u64, "packets", "", "packets in both";
        moved: u64, "packets", "", "packets in both, at different times";
        only_a: u64, "packets", "", "packets in A only";
        only_b: u64, "packets", "", "packets in B only";
        difference: Vec<DiffPacket>, "packets", "", "the first difference and its surroundings" => DiffPacket::FIELDS;
    }
}

const CAPTURES: &[&str] = &["both", "a", "b"];

/// Compares packets of two captures as they are read. What only one capture has so far waits until the other has
/// been read as far on that channel, or until too many packets wait.
#[derive(Debug)]
pub struct CaptureComparison {
    time: DiffTime,
    /// Packets that wait, of all channels.
    waiting: usize,
    channels: BTreeMap<String, ChannelComparison>,
}

/// Packets that are not compared yet, each with its identity.
type WaitingPackets = VecDeque<(u64, DiffPacket)>;

#[derive(Debug, Default)]
struct ChannelComparison {
    /// True for a capture that has the channel.
    known: [bool; 2],
    waiting: [WaitingPackets; 2],
    before: VecDeque<DiffPacket>,
    /// Equal packets since the last difference.
    after: usize,
    row: DiffRow,
}

impl CaptureComparison {
    /// A comparison before the first packet.
    pub const fn new(time: DiffTime) -> Self {
        Self { time, waiting: 0, channels: BTreeMap::new() }
    }

    /// Adds a channel of the first capture, 0, or of the second one, 1.
    pub fn declare(&mut self, capture: usize, channel: &Channel) {
        let compared = self.channels.entry(channel.label().into_owned()).or_default();
        compared.known.get_mut(capture).into_iter().for_each(|known| *known = true);
    }

    /// Adds the next packet of a channel.
    pub fn feed(&mut self, capture: usize, channel: &Channel, packet: &ReceivedPacket) {
        let compared = self.channels.entry(channel.label().into_owned()).or_default();
        let before = compared.waiting();
        let waiting = compared.waiting.get_mut(capture).into_iter();
        waiting.for_each(|queue| queue.push_back(compared_packet(channel, packet)));
        compared.settle(self.time, usize::MAX);
        self.waiting = self.waiting + compared.waiting() - before;
        if self.waiting > WAITING_MAX {
            self.channels.values_mut().for_each(|channel| channel.settle(self.time, 2 * WINDOW));
            self.waiting = self.channels.values().map(ChannelComparison::waiting).sum();
        }
    }

    /// Ends both captures; returns a row for each channel.
    pub fn finish(self) -> Vec<DiffRow> {
        let Self { time, channels, .. } = self;
        let rows = channels.into_iter().map(|(channel, mut compared)| {
            compared.settle(time, 0);
            let row = compared.row;
            let captures = match compared.known {
                [true, false] => "a",
                [false, true] => "b",
                [true, true] | [false, false] => "both",
            };
            let differs = captures != "both" || row.moved + row.only_a + row.only_b > 0;
            DiffRow { channel, captures, differs, ..row }
        });
        rows.collect()
    }
}

/// A packet with the identity of its bytes and of its end.
fn compared_packet(channel: &Channel, packet: &ReceivedPacket) -> (u64, DiffPacket) {
    let ReceivedPacket { number, start, length, route, tag, body, check, ended_by, .. } = packet;
    let tag = tag.map(PacketTag::value);
    let mut hasher = DefaultHasher::new();
    (length, route.bytes(), tag, body, check.syndrome(), ended_by.name()).hash(&mut hasher);
    let packet = DiffPacket {
        mark: DiffMark::Same.name(),
        packet: *number,
        start: start.0,
        time_ps: channel.period.time(start.0),
        length: *length,
        route: route.bytes().iter().take(ROUTE_SHOWN).copied().collect(),
        tag,
        crc: check.name(),
        ended_by: ended_by.name(),
        later_ps: None,
    };
    (hasher.finish(), packet)
}

impl ChannelComparison {
    fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    /// Compares waiting packets, as long as both captures have a window of them, or one has `enough`, where they differ.
    fn settle(&mut self, time: DiffTime, enough: usize) {
        loop {
            let [a, b] = &mut self.waiting;
            if a.front().zip(b.front()).is_some_and(|((one, _), (other, _))| one == other) {
                if let (Some((_, one)), Some((_, other))) = (a.pop_front(), b.pop_front()) {
                    let [from, to] = [&one, &other]
                        .map(|packet| i64::try_from(packet.time_ps).unwrap_or(i64::MAX));
                    let later_ps = Some(to - from).filter(|later| *later != 0);
                    let is_moved = later_ps.is_some() && time == DiffTime::Compare;
                    let mark = if is_moved { DiffMark::Moved } else { DiffMark::Same };
                    self.add(mark, DiffPacket { later_ps, ..one });
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
            only_a.into_iter().for_each(|(_, packet)| self.add(DiffMark::OnlyA, packet));
            only_b.into_iter().for_each(|(_, packet)| self.add(DiffMark::OnlyB, packet));
        }
    }

    fn add(&mut self, mark: DiffMark, packet: DiffPacket) {
        let DiffRow { same, moved, only_a, only_b, difference, .. } = &mut self.row;
        *match mark {
            DiffMark::Same => same,
            DiffMark::Moved => moved,
            DiffMark::OnlyA => only_a,
            DiffMark::OnlyB => only_b,
        } += 1;
        let packet = DiffPacket { mark: mark.name(), ..packet };
        let is_same = mark == DiffMark::Same;
        if difference.is_empty() && is_same {
            self.before.push_back(packet);
            if self.before.len() > CONTEXT {
                self.before.pop_front();
            }
        } else if self.after < CONTEXT && difference.len() < CONTEXT + SHOWN_MAX {
            self.after = if is_same { self.after + 1 } else { 0 };
            difference.extend(self.before.drain(..));
            difference.push(packet);
        }
    }
}

/// Numbers of packets before the next two that are equal, or the next one that ends both captures: the fewest in all.
fn next_same(a: &WaitingPackets, b: &WaitingPackets) -> Option<(usize, usize)> {
    let [in_a, in_b] = [a.len(), b.len()].map(|len| len.min(WINDOW));
    let key = |(key, _): &(u64, DiffPacket)| *key;
    let is_same = |i: usize, j: usize| a.get(i).map(key) == b.get(j).map(key);
    let pairs = (1..in_a + in_b).flat_map(|sum| {
        let from = sum.saturating_sub(in_b.saturating_sub(1));
        (from..in_a.min(sum + 1)).map(move |i| (i, sum - i))
    });
    let mut pairs = pairs.filter(|(i, j)| is_same(*i, *j));
    // One equal packet may be a coincidence: short ones repeat.
    let first = pairs.clone().next();
    pairs.find(|(i, j)| is_same(i + 1, j + 1)).or(first)
}

/// The head of the text format.
pub fn diff_head(rows: &[DiffRow]) -> StyledLine {
    let differ = rows.iter().filter(|row| row.differs).count();
    let all = count(rows.len(), "channel");
    match differ {
        0 => StyledLine::of(TextStyle::Good, format!("✓ no difference on {all}")),
        _ => StyledLine::of(TextStyle::Bad, format!("✗ {differ} of {all} differ")),
    }
}

impl DiffRow {
    /// The lines of the text format.
    pub fn lines(&self, out: &mut impl FnMut(StyledLine)) {
        let Self { channel, differs, captures, same, moved, only_a, only_b, difference } = self;
        let counts = [
            (*same, "the same"),
            (*moved, "at another time"),
            (*only_a, "only in A"),
            (*only_b, "only in B"),
        ];
        let counts = counts.iter().filter(|(number, _)| *number > 0);
        let counts: Vec<String> = counts.map(|(number, what)| format!("{number} {what}")).collect();
        let text = match *captures {
            "a" => format!("only in A, {}", count(only_a, "packet")),
            "b" => format!("only in B, {}", count(only_b, "packet")),
            _ if counts.is_empty() => "no packets".to_owned(),
            _ => counts.join(", "),
        };
        let (mark, sign) =
            if *differs { (TextStyle::Bad, "✗ ") } else { (TextStyle::Good, "✓ ") };
        let line = StyledLine::of(mark, sign).and(TextStyle::Head, format!("{channel:<15}"));
        out(line.and(TextStyle::Plain, format!("  {text}")));
        if *captures == "both" {
            difference.iter().for_each(|packet| out(packet.line()));
        }
    }
}

/// Symbol of a mark, as tools that compare files print it.
fn symbol(mark: &str) -> (char, TextStyle) {
    match mark {
        "same" => ('=', TextStyle::Dim),
        "moved" => ('~', TextStyle::Notice),
        "only-a" => ('-', TextStyle::Bad),
        _ => ('+', TextStyle::Bad),
    }
}

impl DiffPacket {
    fn line(&self) -> StyledLine {
        let Self { mark, time_ps, length, route, tag, crc, ended_by, later_ps, .. } = self;
        let (mark, role) = symbol(mark);
        let tag = tag.map_or_else(|| "-".to_owned(), |tag| format!("{tag:02x}"));
        let text = format!(
            "  {mark} {:>12} µs  {length:>6} bytes  tag {tag}  crc {crc}  ended by {ended_by}  route {}",
            microseconds(*time_ps),
            HexBytes(route)
        );
        let line = StyledLine::of(role, text);
        let Some(later) = later_ps else { return line };
        let order = if *later > 0 { "later" } else { "earlier" };
        let time = microseconds(later.unsigned_abs().into());
        line.and(role, format!("  {time} µs {order} in B"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: usize, letter: char) -> DiffPacket {
        DiffPacket {
            start: at as u64,
            time_ps: at as u128,
            length: u64::from(u32::from(letter)),
            ..DiffPacket::default()
        }
    }

    /// Compares channels whose packets are letters, a packet each microsecond.
    fn check(a: &str, b: &str) -> (String, [u64; 3]) {
        let mut compared = ChannelComparison::default();
        let packet = |(at, letter): (usize, char)| {
            let packet = sample(at, letter);
            (packet.length, packet)
        };
        compared.waiting = [a, b].map(|text| text.chars().enumerate().map(packet).collect());
        assert_eq!(compared.waiting(), a.len() + b.len());
        compared.settle(DiffTime::Ignore, 0);
        assert_eq!(compared.waiting(), 0);
        let DiffRow { same, only_a, only_b, difference, .. } = compared.row;
        let letter = |it: &DiffPacket| {
            let letter = char::from_u32(u32::try_from(it.length).unwrap()).unwrap();
            format!("{}{letter}", symbol(it.mark).0)
        };
        (difference.iter().map(letter).collect::<Vec<_>>().join(" "), [same, only_a, only_b])
    }

    #[test]
    fn packets_are_aligned_around_differences() {
        for (a, b, first, counts) in [
            ("abc", "abc", "", [3, 0, 0]),
            ("", "", "", [0, 0, 0]),
            ("abcdefgh", "abcdxefgh", "=b =c =d +x =e =f =g", [8, 0, 1]),
            ("abcdefgh", "abcefgh", "=a =b =c -d =e =f =g", [7, 1, 0]),
            // The packets behind a difference begin anew with each.
            ("abcdefgh", "axbcydefgh", "=a +x =b =c +y =d =e =f", [8, 0, 2]),
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
    fn a_moved_packet_says_how_far() {
        let mut compared = ChannelComparison::default();
        compared.add(DiffMark::Moved, DiffPacket { later_ps: Some(12_500), ..sample(0, 'a') });
        compared.add(DiffMark::Moved, DiffPacket { later_ps: Some(-25_000), ..sample(1, 'b') });
        let lines: Vec<_> =
            compared.row.difference.iter().map(|it| it.line().to_string()).collect();
        for (line, end) in lines.iter().zip(["0.0125 µs later in B", "0.0250 µs earlier in B"]) {
            assert!(line.starts_with("  ~ ") && line.ends_with(end), "{line}");
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
