//! Results as lines of text, identical on every machine, so that they can be snapshots.

mod blocking;
pub mod check;
mod conversations;
pub mod explain;
pub mod fact_text;
mod headline;
mod journeys;
pub mod line;
mod links;
mod log;
mod log_row;
mod mapping;
#[cfg(feature = "score")]
mod score;
mod slack;
mod topology;
mod units;

use std::io::Read;

use codec::capture::{CaptureError, CaptureFault, Channel};
use codec::mapping::TAG;
use codec::packet::{CrcCheck, PacketDialect, PacketTag};

use crate::event::{ChannelEvent, LinkEvent, TimedEvent};
use crate::event_reader::{CountedChannel, CounterReader};
use crate::packet::ReceivedPacket;
pub use crate::window::microseconds;

pub use self::blocking::{blocking, deadlock_count, deadlock_summary, wait_cause};
pub use self::check::mark;
pub use self::conversations::{ConversationText, conversations};
pub use self::headline::held_up;
pub use self::journeys::{WAY_SPARE, journey_excess, journey_head, journey_lines};
pub use self::line::{ColumnRank, StyledLine, TextStyle, count, wrapped};
pub use self::links::{PictureSpan, activity_glyph, activity_style, axis, links, shown_activity};
pub(crate) use self::log::log_text;
pub use self::log::{case_head, case_line, log_head, log_line};
pub use self::log_row::LogRow;
pub use self::mapping::{MappingText, mapping};
#[cfg(feature = "score")]
pub use self::score::score;
pub use self::slack::slack;
pub use self::topology::{network, topology};
pub use self::units::{ReportLayout, TimeUnit};

/// Heading above rows of packets.
pub fn packet_head(unit: TimeUnit) -> StyledLine {
    let start = format!("start {}", unit.name());
    let plain = StyledLine::of(TextStyle::Head, format!("{start:>12}  {:<15} ", "channel"))
        .and_ranked(3, TextStyle::Head, format!("{:>6}  ", "packet"))
        .and(TextStyle::Head, format!("{:>7}  ", "length"));
    plain
        .and_ranked(1, TextStyle::Head, format!("{:>7}  ", "payload"))
        .and_ranked(2, TextStyle::Head, "tag  ")
        .and(TextStyle::Head, format!("{:<7}  ", "crc"))
        .and_ranked(4, TextStyle::Head, format!("{:<11}  ", "ended by"))
        .and(TextStyle::Head, format!("{:<11}", "route"))
}

/// Heading above rows of events.
pub fn event_head(unit: TimeUnit) -> StyledLine {
    let time = format!("time {}", unit.name());
    StyledLine::of(TextStyle::Head, format!("{time:>12}  {:<15} ", "channel"))
        .and_ranked(1, TextStyle::Head, format!("{:>12}  ", "character"))
        .and(TextStyle::Head, format!("{:<31}", "event"))
}

/// Lines of a row: one, and more for the bytes of a packet if they were kept.
pub fn row(channel: &Channel, row: &TimedEvent, unit: TimeUnit, out: &mut impl FnMut(StyledLine)) {
    let when = |at: u64| unit.text(at, channel.period);
    if let Some(packet) = row.body.packet() {
        packet_lines(channel, packet, &when(packet.start.0), out);
    } else if let Some(event) = row.body.link() {
        out(event_line((channel, row.at.0), &when(row.at.0), event));
    } else if let ChannelEvent::Omitted { rounds, every, .. } = row.body {
        let place = StyledLine::of(TextStyle::Dim, format!("{:>12}  ", when(row.at.0)));
        let text = format!(
            "the rows of the last {every} characters repeat {rounds} times more: not listed"
        );
        out(place
            .and(TextStyle::Plain, format!("{:<15} ", channel.name))
            .and(TextStyle::Notice, text));
    }
}

/// `good`, or `bad` with the syndrome.
fn crc_text(packet: &ReceivedPacket) -> String {
    match packet.check {
        CrcCheck::Bad(syndrome) => format!("bad ^{syndrome:02x}"),
        CrcCheck::Good | CrcCheck::Runt | CrcCheck::Partial => packet.check.name().to_owned(),
    }
}

fn packet_lines(
    channel: &Channel,
    packet: &ReceivedPacket,
    when: &str,
    out: &mut impl FnMut(StyledLine),
) {
    // Route and tag of a packet without its start are not known.
    let tag = packet.tag.filter(|_| !packet.is_headless());
    let tag = tag.map_or_else(|| "-".to_owned(), |tag: PacketTag| format!("{:02x}", tag.value()));
    let crc = crc_text(packet);
    let role = match packet.check {
        CrcCheck::Good => TextStyle::Good,
        CrcCheck::Bad(_) | CrcCheck::Runt => TextStyle::Bad,
        CrcCheck::Partial => TextStyle::Notice,
    };
    let ended = packet.ended_by.name();
    let ended_role = if ended == "gap" { TextStyle::Dim } else { TextStyle::Notice };
    let mut route: Vec<String> =
        packet.route.bytes().iter().take(ROUTE_SHOWN).map(|hop| format!("{hop:02x}")).collect();
    let more = packet.route.count() - route.len() as u64;
    if more > 0 {
        route.push(format!("and {more} more"));
    }
    out(StyledLine::of(TextStyle::Dim, format!("{when:>12}  "))
        .and(TextStyle::Plain, format!("{:<15} ", channel.name))
        .and_ranked(3, TextStyle::Plain, format!("{:>6}  ", packet.number))
        .and(TextStyle::Plain, format!("{:>7}  ", packet.length))
        .and_ranked(1, TextStyle::Plain, format!("{:>7}  ", packet.payload()))
        .and_ranked(2, TextStyle::Plain, format!("{tag:>3}  "))
        .and(role, format!("{crc:<7}  "))
        .and_ranked(4, ended_role, format!("{ended:<11}  "))
        .and(TextStyle::Plain, route.join(" "))
        .and(TextStyle::Dim, type_name(packet)));
    if let Some(bytes) = &packet.bytes {
        for (at, line) in bytes.bytes().chunks(16).enumerate() {
            out(StyledLine::of(TextStyle::Dim, hex_line(at * 16, line)));
        }
        if bytes.left_out() > 0 {
            out(StyledLine::of(
                TextStyle::Notice,
                format!("{:14}and {} more", "", bytes.left_out()),
            ));
        }
    }
}

/// Name of a packet's type, behind its route. Other types have none.
fn type_name(packet: &ReceivedPacket) -> String {
    match (packet.vita26(), &packet.ip, &packet.switches) {
        (Some(row), _, _) => format!(" {}", row.summary()),
        (None, Some(ip), _) => format!(" {}", ip.row().summary()),
        (None, None, Some(answers)) => format!(" {}", answers.summary()),
        (None, None, None)
            if packet.dialect == PacketDialect::Tag
                && packet.tag.map(PacketTag::value) == Some(TAG) =>
        {
            " mapping".to_owned()
        }
        (None, None, None) => {
            packet.internetwork().map_or_else(String::new, |row| format!(" {}", row.summary()))
        }
    }
}

/// Offset, bytes and ASCII of up to 16 bytes, as `hexdump -C` prints them.
fn hex_line(offset: usize, bytes: &[u8]) -> String {
    let half =
        |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x} ")).collect() };
    let (first, second) = bytes.split_at(bytes.len().min(8));
    let graphic = |byte: &u8| matches!(byte, 0x20..=0x7e);
    let ascii: String =
        bytes.iter().map(|b| if graphic(b) { char::from(*b) } else { '.' }).collect();
    format!("  {offset:08x}  {:<24} {:<24} |{ascii}|", half(first), half(second))
}

/// Maximum number of route bytes in a line.
const ROUTE_SHOWN: usize = 8;

fn event_line((channel, at): (&Channel, u64), when: &str, event: &LinkEvent) -> StyledLine {
    let role = match event {
        LinkEvent::SenderStopped | LinkEvent::SenderResumed(_) => TextStyle::Plain,
        LinkEvent::Probe(_) | LinkEvent::Reply(_) => TextStyle::Plain,
        LinkEvent::LinkRestored | LinkEvent::ResetEnded => TextStyle::Plain,
        LinkEvent::CorrectedCode { .. } | LinkEvent::Hole { .. } => TextStyle::Notice,
        LinkEvent::ForwardReset | LinkEvent::BackwardReset => TextStyle::Notice,
        LinkEvent::OpenLink => TextStyle::Notice,
        LinkEvent::InvalidCode(_) | LinkEvent::OverrunAlarm => TextStyle::Bad,
    };
    StyledLine::of(TextStyle::Dim, format!("{when:>12}  "))
        .and(TextStyle::Plain, format!("{:<15} ", channel.name))
        .and_ranked(1, TextStyle::Plain, format!("{at:>12}  "))
        .and(role, format!("{:<15} ", event.name()))
        .and(TextStyle::Plain, event_detail(event))
}

pub(crate) fn event_detail(event: &LinkEvent) -> String {
    match event {
        LinkEvent::Probe(number) => number.value().to_string(),
        LinkEvent::Reply(status) => format!("status {}", status.value()),
        LinkEvent::InvalidCode(code) => format!("0x{code:02x}"),
        LinkEvent::CorrectedCode { code, symbol } => format!("0x{code:02x} to {symbol}"),
        LinkEvent::Hole { missing } => format!("{missing} characters not recorded before"),
        LinkEvent::SenderResumed(by) => format!("by {}", by.name()),
        LinkEvent::OpenLink | LinkEvent::LinkRestored | LinkEvent::SenderStopped => String::new(),
        LinkEvent::ForwardReset | LinkEvent::ResetEnded => String::new(),
        LinkEvent::BackwardReset | LinkEvent::OverrunAlarm => String::new(),
    }
}

/// Separator between the rows of two captures of a file.
pub fn capture_line(capture: u32) -> StyledLine {
    StyledLine::of(TextStyle::Head, format!("capture {capture}"))
}

/// Separator between the rows of two files.
pub fn file_line(name: &str) -> StyledLine {
    StyledLine::of(TextStyle::Head, name)
}

/// Line of a fault in the file.
pub fn fault(fault: &CaptureFault) -> StyledLine {
    StyledLine::of(TextStyle::Bad, format!("! {fault}"))
}

/// Line of the error that ended the reading of the file.
pub fn error(error: &CaptureError) -> StyledLine {
    StyledLine::of(TextStyle::Bad, format!("! {error}"))
}

/// Lines with the totals of the channels of a capture.
pub fn info<R: Read>(
    tallies: &CounterReader<R>,
    layout: ReportLayout,
    out: &mut impl FnMut(StyledLine),
) {
    let channels = tallies.channels();
    let links = channels.values().filter(|counted| counted.peer.is_some()).count() / 2;
    let span = |counted: &CountedChannel| {
        let period = counted.channel.period;
        let (first, last) = counted.counters.span()?;
        Some((period.time(first.0), period.time(last.0.saturating_add(1))))
    };
    let from = channels.values().filter_map(span).map(|(from, _)| from).min();
    let to = channels.values().filter_map(span).map(|(_, to)| to).max();
    let (unit, time) = (layout.unit.of_times(), to.unwrap_or(0) - from.unwrap_or(0));
    let time = format!("{} {}", unit.elapsed(time), unit.name());
    let mut head =
        format!("{}, {}, {time}", count(channels.len(), "channel"), count(links, "link"));
    if tallies.skipped_interfaces() > 0 {
        head += &format!(", {} skipped", count(tallies.skipped_interfaces(), "foreign interface"));
    }
    out(StyledLine::of(TextStyle::Plain, head));
    out(StyledLine::default());
    let head = StyledLine::of(TextStyle::Head, format!("{:>3}  {:<15} ", "#", "channel"))
        .and_ranked(2, TextStyle::Head, format!("{:>9}  ", "rate"))
        .and(TextStyle::Head, format!("{:>16}  ", "characters"))
        .and_ranked(1, TextStyle::Head, format!("{:<20}  ", "data"))
        .and(TextStyle::Head, format!("{:>6}", "share"));
    let rank = layout.rank(&head);
    out(head.without(rank));
    for (id, counted) in channels {
        channel_lines(id.0, counted, &mut |line| out(line.without(rank)));
    }
}

fn channel_lines(index: u32, counted: &CountedChannel, out: &mut impl FnMut(StyledLine)) {
    let CountedChannel { channel, counters: tally, .. } = counted;
    let all = tally.characters();
    // Share in thousandths; 0 for a channel without characters.
    let share = (u128::from(tally.data()) * 1000).checked_div(u128::from(all)).unwrap_or(0);
    let rate = format!("{} Mb/s", channel.bits_per_second() / 1_000_000);
    out(StyledLine::of(TextStyle::Plain, format!("{index:>3}  {:<15} ", channel.label()))
        .and_ranked(2, TextStyle::Plain, format!("{rate:>9}  "))
        .and(TextStyle::Plain, format!("{all:>16}  "))
        .and_ranked(1, TextStyle::Good, format!("{}  ", bar(share)))
        .and(TextStyle::Plain, format!("{:>4}.{} %", share / 10, share % 10)));
    let symbols: Vec<String> =
        tally.control().map(|(kind, count)| format!("{kind} {count}")).collect();
    let line = StyledLine::of(TextStyle::Dim, format!("     {}", symbols.join("  ")));
    let line = with_faults(line, tally);
    if all > 0 {
        out(line);
    }
}

/// Adds the numbers of faulty control codes and of holes.
fn with_faults(line: StyledLine, tally: &crate::ChannelCounters) -> StyledLine {
    [
        ("corrected", tally.corrected(), TextStyle::Notice),
        ("invalid", tally.invalid(), TextStyle::Bad),
        ("holes", tally.holes(), TextStyle::Notice),
    ]
    .into_iter()
    .filter(|(_, number, _)| *number > 0)
    .fold(line, |line, (what, number, role)| line.and(role, format!("  {what} {number}")))
}

/// Bar of 20 characters for a share in thousandths.
fn bar(share: u128) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = usize::try_from(share * 160 / 1000).unwrap_or(160);
    let part = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
    format!("{:·<20}", format!("{}{part}", "█".repeat(eighths / 8)))
}
