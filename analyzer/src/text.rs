//! What was found, as lines of text: stable and the same everywhere, so that they can be kept as
//! snapshots. A program may colour them by their roles.

mod blocking;
pub mod check;
mod conversations;
pub mod explain;
mod fields;
mod journeys;
mod links;
mod render;
mod score;
mod slack;
mod topology;

use std::fmt::{self, Display};
use std::io::Read;

use codec::capture::{CaptureError, Channel, Fault};
use codec::packet::{Check, Tag};

use crate::event::Event;
use crate::packet::{Hex, PacketSeen, crc_name};
use crate::place::shown;
use crate::reading::{Counted, Tallies};
use crate::timeline::{Row, What};

pub use self::blocking::blocking;
pub use self::conversations::{Conversed, conversations, malformed_line, remark_head, remark_line};
pub use self::fields::fields;
pub use self::journeys::{journey_head, journey_lines};
pub use self::links::{interval, interval_head, links};
pub use self::render::{View, render};
pub use self::score::score;
pub use self::slack::{fill, fill_head, slack};
pub use self::topology::topology;

/// What a piece of a line is, for those who colour it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Neither good nor bad.
    Plain,
    /// Can be passed over at first sight.
    Dim,
    /// Names what is below or beside it.
    Head,
    /// As it should be.
    Good,
    /// Worth a look.
    Notice,
    /// Wrong.
    Bad,
}

/// A line of text, in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(Vec<(Role, String)>);

impl Line {
    /// A line of one piece.
    #[must_use]
    pub fn of(role: Role, text: impl Display) -> Self {
        Self::default().and(role, text)
    }

    /// The line with a piece more. Whatever a capture's names hold, it stays one line, and does
    /// nothing to a terminal.
    #[must_use]
    pub fn and(mut self, role: Role, text: impl Display) -> Self {
        self.0.push((role, shown(text.to_string())));
        self
    }

    /// The pieces.
    pub fn pieces(&self) -> impl Iterator<Item = (Role, &str)> {
        self.0.iter().map(|(role, text)| (*role, text.as_str()))
    }
}

impl Display for Line {
    /// The text alone, without blanks at its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.0.iter().map(|(_, text)| text.as_str()).collect();
        f.write_str(text.trim_end())
    }
}

/// A time in microseconds, to a tenth of a nanosecond, from picoseconds.
#[must_use]
pub fn microseconds(picoseconds: u128) -> String {
    let tenths = picoseconds / 100;
    format!("{}.{:04}", tenths / 10_000, tenths % 10_000)
}

fn when(channel: &Channel, at: u64) -> String {
    microseconds(u128::from(at) * u128::from(channel.period_ps.get()))
}

/// The line above rows of packets.
#[must_use]
pub fn packet_head() -> Line {
    let text = format!(
        "{:>12}  {:<15} {:>6}  {:>7}  {:>7}  tag  {:<7}  {:<11}  route",
        "start µs", "channel", "packet", "length", "payload", "crc", "ended by"
    );
    Line::of(Role::Head, text)
}

/// The line above rows of events.
#[must_use]
pub fn event_head() -> Line {
    let text = format!("{:>12}  {:<15} {:>12}  event", "time µs", "channel", "character");
    Line::of(Role::Head, text)
}

/// The lines of a row: one, and for the bytes of a packet, where they were kept, more.
pub fn row(channel: &Channel, row: &Row, out: &mut impl FnMut(Line)) {
    match &row.what {
        What::Packet(packet) => packet_lines(channel, packet, out),
        What::Event(event) => out(event_line(channel, row.at.0, event)),
        What::Detail(_) => {}
        What::Omitted { rounds, every } => {
            let place = Line::of(Role::Dim, format!("{:>12}  ", when(channel, row.at.0)));
            let text = format!(
                "the rows of the last {every} characters repeat {rounds} times more: not listed"
            );
            out(place.and(Role::Plain, format!("{:<15} ", channel.name)).and(Role::Notice, text));
        }
    }
}

fn packet_lines(channel: &Channel, packet: &PacketSeen, out: &mut impl FnMut(Line)) {
    let tag = packet.tag.map_or_else(|| "-".to_owned(), |tag: Tag| format!("{:02x}", tag.value()));
    let (crc, role) = match packet.check {
        Check::Good => (crc_name(packet.check).to_owned(), Role::Good),
        Check::Bad(syndrome) => (format!("bad ^{syndrome:02x}"), Role::Bad),
        Check::Runt => (crc_name(packet.check).to_owned(), Role::Bad),
    };
    let ended = packet.ended_by.name();
    let ended_role = if ended == "gap" { Role::Dim } else { Role::Notice };
    let mut route: Vec<String> =
        packet.route.bytes().iter().take(ROUTE_SHOWN).map(|hop| format!("{hop:02x}")).collect();
    let more = packet.route.count() - route.len() as u64;
    if more > 0 {
        route.push(format!("and {more} more"));
    }
    out(Line::of(Role::Dim, format!("{:>12}  ", when(channel, packet.start.0)))
        .and(Role::Plain, format!("{:<15} {:>6}  ", channel.name, packet.number))
        .and(Role::Plain, format!("{:>7}  {:>7}  {tag:>3}  ", packet.length, packet.payload()))
        .and(role, format!("{crc:<7}  "))
        .and(ended_role, format!("{ended:<11}  "))
        .and(Role::Plain, route.join(" ")));
    if let Some(bytes) = &packet.bytes {
        for line in bytes.bytes().chunks(32) {
            out(Line::of(Role::Dim, format!("{:14}{}", "", Hex(line))));
        }
        if bytes.left_out() > 0 {
            out(Line::of(Role::Notice, format!("{:14}and {} more", "", bytes.left_out())));
        }
    }
}

/// Hops of a route that a line has room for.
const ROUTE_SHOWN: usize = 8;

fn event_line(channel: &Channel, at: u64, event: &Event) -> Line {
    let role = match event {
        Event::SenderStopped | Event::SenderResumed(_) | Event::LinkRestored => Role::Plain,
        Event::Probe(_) | Event::Reply(_) | Event::ResetEnded => Role::Plain,
        Event::CorrectedCode { .. } | Event::Hole { .. } => Role::Notice,
        Event::OpenLink | Event::ForwardReset | Event::BackwardReset => Role::Notice,
        Event::InvalidCode(_) | Event::OverrunAlarm => Role::Bad,
    };
    let detail = match event {
        Event::Probe(number) => number.value().to_string(),
        Event::Reply(status) => format!("status {}", status.value()),
        Event::InvalidCode(code) => format!("0x{code:02x}"),
        Event::CorrectedCode { code, symbol } => format!("0x{code:02x} to {symbol}"),
        Event::Hole { missing } => format!("{missing} characters not recorded before"),
        Event::SenderResumed(by) => format!("by {}", by.name()),
        Event::OpenLink
        | Event::LinkRestored
        | Event::ForwardReset
        | Event::ResetEnded
        | Event::BackwardReset
        | Event::OverrunAlarm
        | Event::SenderStopped => String::new(),
    };
    Line::of(Role::Dim, format!("{:>12}  ", when(channel, at)))
        .and(Role::Plain, format!("{:<15} {at:>12}  ", channel.name))
        .and(role, format!("{:<15} ", event.kind()))
        .and(Role::Plain, detail)
}

/// The line between the rows of one capture of a file and those of the next.
#[must_use]
pub fn capture_line(capture: u32) -> Line {
    Line::of(Role::Head, format!("capture {capture}"))
}

/// The line of something wrong with the file.
#[must_use]
pub fn fault(fault: &Fault) -> Line {
    Line::of(Role::Bad, format!("! {fault}"))
}

/// The line of what ended the reading of the file.
#[must_use]
pub fn error(error: &CaptureError) -> Line {
    Line::of(Role::Bad, format!("! {error}"))
}

/// What the channels of a capture carried.
pub fn info<R: Read>(tallies: &Tallies<R>, out: &mut impl FnMut(Line)) {
    let channels = tallies.channels();
    let links = channels.values().filter(|counted| counted.peer.is_some()).count() / 2;
    let span = |counted: &Counted| {
        let period = u128::from(counted.channel.period_ps.get());
        let (first, last) = counted.tally.span()?;
        Some((u128::from(first.0) * period, (u128::from(last.0) + 1) * period))
    };
    let from = channels.values().filter_map(span).map(|(from, _)| from).min();
    let to = channels.values().filter_map(span).map(|(_, to)| to).max();
    let time = microseconds(to.unwrap_or(0) - from.unwrap_or(0));
    let mut head =
        format!("{}, {}, {time} µs", count(channels.len(), "channel"), count(links, "link"));
    if tallies.skipped_interfaces() > 0 {
        head += &format!(", {} foreign interfaces skipped", tallies.skipped_interfaces());
    }
    out(Line::of(Role::Plain, head));
    out(Line::default());
    out(Line::of(
        Role::Head,
        format!(
            "{:>3}  {:<15} {:>9}  {:>16}  {:<20}  {:>6}",
            "#", "channel", "rate", "characters", "data", "share"
        ),
    ));
    for (id, counted) in channels {
        channel_lines(id.0, counted, out);
    }
}

/// Words in lines of at most so many letters, unless a word has more.
#[must_use]
pub fn wrapped<'w>(
    words: impl IntoIterator<Item = &'w str>,
    between: &str,
    width: usize,
) -> Vec<String> {
    let len = |text: &str| text.chars().count();
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if len(line) + len(between) + len(word) <= width => {
                *line += between;
                *line += word;
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `1 link`, `2 links`.
fn count(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn channel_lines(index: u32, counted: &Counted, out: &mut impl FnMut(Line)) {
    let Counted { channel, tally, .. } = counted;
    let all = tally.characters();
    // In thousandths; a channel without characters has no share to show.
    let share = (u128::from(tally.data()) * 1000).checked_div(u128::from(all)).unwrap_or(0);
    let rate = format!("{} Mb/s", channel.bits_per_second() / 1_000_000);
    out(Line::of(
        Role::Plain,
        format!("{index:>3}  {:<15} {rate:>9}  {all:>16}  ", channel.label()),
    )
    .and(Role::Good, bar(share))
    .and(Role::Plain, format!("  {:>4}.{} %", share / 10, share % 10)));
    let symbols: Vec<String> =
        tally.control().map(|(kind, count)| format!("{kind} {count}")).collect();
    let mut line = Line::of(Role::Dim, format!("     {}", symbols.join("  ")));
    for (what, number, role) in [
        ("corrected", tally.corrected(), Role::Notice),
        ("invalid", tally.invalid(), Role::Bad),
        ("holes", tally.holes(), Role::Notice),
    ] {
        if number > 0 {
            line = line.and(role, format!("  {what} {number}"));
        }
    }
    if all > 0 {
        out(line);
    }
}

/// A bar of 20 characters for a share in thousandths.
fn bar(share: u128) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = usize::try_from(share * 160 / 1000).unwrap_or(160);
    let part = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
    format!("{:·<20}", format!("{}{part}", "█".repeat(eighths / 8)))
}
