//! Rows of `myriscope log`: packets, events, waits and findings of all channels.

use codec::capture::{Channel, ChannelId};
use codec::time::CharacterPeriod;

use crate::blocking::{BlockedRow, BlockingEvent};
use crate::event::{LinkEvent, Picoseconds, TimedEvent};
use crate::finding::{FindingCase, Severity};
use crate::finding_row::SEVERITIES;
use crate::packet::{FrameEnd, ReceivedPacket};
use crate::render::fact_text::details;
use crate::render::{count, crc_text, event_detail, microseconds};
use crate::row::FieldShape::{Place, Ranks, Words};
use crate::row::row;

row! {
    /// A row of `myriscope log`: the contract of `docs/output.md`.
    #[derive(Eq)]
    pub struct LogRow<'a> {
        time_ps: Picoseconds, "ps", "", "time; of packets and waits that of the end";
        channel: &'a str, "", "", "name of the channel";
        kind: &'static str as Words(KINDS), "", "", "what the row is about";
        name: Option<&'static str>, "", "", "which event or finding; the cause of a wait";
        at: u64 as Place, "characters", "", "place; of packets and waits that of the end";
        start: u64 as Place, "characters", "", "place at which it began";
        packet: Option<u64>, "", "", "number of the packet on the channel";
        severity: Option<Severity> as Ranks(SEVERITIES), "", "", "how bad a finding is";
        text: String, "", "", "the rest, in words";
    }
}

const KINDS: &[&str] = &["packet", "event", "wait-start", "wait-end", "deadlock", "finding"];

/// Maximum number of route bytes in a row.
const ROUTE_SHOWN: usize = 8;

type NamedChannels<'l, 'a> = &'l dyn Fn(ChannelId) -> Option<&'a Channel>;

impl<'a> LogRow<'a> {
    /// Row of a packet or an event; none for parts of packets and for framing.
    pub fn of_event(channel: &'a Channel, event: &TimedEvent) -> Option<Self> {
        let row = Self {
            time_ps: event.time,
            channel: &channel.name,
            kind: "event",
            name: None,
            at: event.at.0,
            start: event.at.0,
            packet: None,
            severity: None,
            text: String::new(),
        };
        if let Some(packet) = event.body.packet() {
            let (kind, text) = ("packet", packet_text(packet));
            let (start, packet) = (packet.start.0, Some(packet.number));
            return Some(Self { kind, start, packet, text, ..row });
        }
        let event = event.body.link()?;
        let is_stop = *event == LinkEvent::SenderStopped;
        let kind = if is_stop { "wait-start" } else { "event" };
        Some(Self { kind, name: Some(event.name()), text: event_detail(event), ..row })
    }

    /// Row of a case of a finding.
    pub fn of_case(case: &FindingCase, known: NamedChannels<'_, 'a>) -> Self {
        let channel = known(case.channel).map_or("", |channel| channel.name.as_str());
        let row = case.row(&|id| known(id).map_or("", |channel| channel.name.as_str()));
        let mut text = details(&row.facts);
        if text.is_empty() {
            case.kind.about().text.clone_into(&mut text);
        }
        if row.count > 1 {
            text = format!("{} more times", row.count);
        }
        Self {
            time_ps: row.time_ps,
            channel,
            kind: "finding",
            name: Some(row.finding),
            at: row.at,
            start: row.at,
            packet: row.packet,
            severity: Some(row.severity),
            text,
        }
    }

    /// Row of a wait that has ended, or of a deadlock.
    pub fn of_wait(event: &BlockingEvent, known: NamedChannels<'_, 'a>) -> Self {
        let channel = known(event.channel());
        let period = channel.map_or(CharacterPeriod::PICOSECOND, |channel| channel.period);
        let since = |periods: u64| microseconds(period.time(periods));
        let time = match event {
            BlockingEvent::Stop(stop) => stop.until,
            BlockingEvent::Deadlock(deadlock) => deadlock.until,
        };
        let (kind, name, [start, at], packet, text) = match event.row(&known) {
            BlockedRow::Stop(row) => {
                let node = row.node.map_or_else(String::new, |node| format!(" at {node}"));
                let (root, by) = (row.root, row.ended_by);
                let text = format!("{} µs: {root}{node}, by {by}", since(row.periods));
                ("wait-end", Some(row.root), [row.start, row.end], row.packet, text)
            }
            BlockedRow::Deadlock(row) => {
                let by = row.broken_by.map_or("the end".to_owned(), |by| format!("by {by}"));
                let (circle, long) = (row.channels.join(" → "), since(row.periods));
                let text = format!("{long} µs, ended {by}: {circle}");
                ("deadlock", row.broken_by, [row.start, row.end], None, text)
            }
        };
        let channel = channel.map_or("", |channel| channel.name.as_str());
        Self { time_ps: time, channel, kind, name, at, start, packet, severity: None, text }
    }
}

/// `route 81, 332 bytes, crc bad ^1a, ended by open-link`.
fn packet_text(packet: &ReceivedPacket) -> String {
    let mut route: String =
        packet.route.bytes().iter().take(ROUTE_SHOWN).map(|hop| format!(" {hop:02x}")).collect();
    if packet.route.count() > ROUTE_SHOWN as u64 {
        route += " …";
    }
    let route = if route.is_empty() { route } else { format!("route{route}, ") };
    let mut text = format!("{route}{}, crc {}", count(packet.length, "byte"), crc_text(packet));
    if packet.ended_by != FrameEnd::Gap {
        text += &format!(", ended by {}", packet.ended_by.name());
    }
    text
}
