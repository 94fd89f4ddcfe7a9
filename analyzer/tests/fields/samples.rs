//! Rows which together have all that rows of their kind may have.

use std::path::Path;

use codec::capture::{Channel, ChannelId, Chunk, ChunkContent};
use codec::character::{ProbeNumber, ReplyStatus, Symbol};
use codec::crc::CrcResidue;
use codec::error::DecodeError;
use codec::notation;
use codec::time::Tick;
use codec::transport::{EndpointId, MessageForm, MessageRole, NackReason, SyncFlag};
use myriscope_analyzer::LinkEvent;
use myriscope_analyzer::blocking::{BlockedRow, DeadlockRow, HolderRow, StopRow};
use myriscope_analyzer::captured::CapturedRow;
use myriscope_analyzer::conversation::{
    Abandonment, Conversation, ConversationEnd, ConversationKey, ConversationTotals, DataContent,
    MalformedPacket, MessageHistory, Observation, ObservationKind, ObservedLabel, ObservedPlace,
    ResendCause, RoundTrips, StormKind, TransportFate, Violation,
};
use myriscope_analyzer::counters::{ControlCounts, CountersRow};
use myriscope_analyzer::event::ResumeCause;
use myriscope_analyzer::filter::RowKind;
use myriscope_analyzer::finding::{self, FindingInfo, Severity};
use myriscope_analyzer::finding_row::{CaseRow, FindingRow, FirstOccurrence, ShownFact};
use myriscope_analyzer::flow_table::PacketFlowRow;
use myriscope_analyzer::journey::{BitPlaceRow, CorruptionRow, HopRow, JourneyRow};
use myriscope_analyzer::link::interval::{ActivityInterval, ChannelActivity, PeriodTotals};
use myriscope_analyzer::link::parameters::{
    ChannelParameters, LinkAssumptions, ParameterSource, ParameterValue,
};
use myriscope_analyzer::link::report::ChannelReport;
use myriscope_analyzer::link::slack::{FillBounds, SlackTracker};

use myriscope_analyzer::link::totals::ChannelTotals;
use myriscope_analyzer::log_row::LogRow;
use myriscope_analyzer::options::AnalysisScope;
use myriscope_analyzer::packet::{FrameEnd, HexBytes, PacketRow};
use myriscope_analyzer::row::ListRow;
use myriscope_analyzer::series::SeriesRow;
use myriscope_analyzer::show::LinkViewRow;
use myriscope_analyzer::transport::TransportRow;
use serde_json::Value;

/// The rows of a kind, as they are printed: each with its capture.
pub(crate) fn samples(kind: RowKind) -> Vec<Value> {
    rows(kind)
}

fn rows(kind: RowKind) -> Vec<Value> {
    match kind {
        RowKind::Channels => vec![value(channel())],
        RowKind::Packets => vec![value(packet())],
        RowKind::Events => events().iter().map(|event| value(event.row("a>b", Tick(1)))).collect(),
        RowKind::Characters => {
            vec![value(LinkViewRow {
                at: 1,
                end: 2,
                left: "GAP".to_owned(),
                right: "GO".to_owned(),
            })]
        }
        RowKind::Waits => waits().map(value).to_vec(),
        RowKind::Links => vec![link()],
        RowKind::Intervals => {
            let (start, end) = (Tick(0), Tick(2));
            let interval = |state| ActivityInterval { channel: ChannelId(0), start, end, state };
            ChannelActivity::ALL.map(|state| value(interval(state).row("a>b"))).to_vec()
        }
        RowKind::Buffers => vec![buffer()],
        RowKind::Fills => vec![value(FILL.row("a>b"))],
        RowKind::Journeys => vec![value(journey())],
        RowKind::Series => vec![value(SeriesRow {
            channel: "a>b",
            time_ps: 0,
            end_ps: 1,
            utilisation: 0.5,
            stopped: 0.25,
            packets: 3,
            bad: 1,
            arrived: 2,
            latency_p50_ps: Some(4),
            latency_p99_ps: Some(5),
        })],
        RowKind::Flows => vec![value(PacketFlowRow {
            source: "a",
            destination: Some("b"),
            packets: 3,
            bytes: 100,
            dropped: 1,
            latency_mean_ps: Some(4),
            latency_p50_ps: Some(5),
            latency_p99_ps: Some(6),
        })],
        RowKind::Conversations => vec![value(conversation())],
        RowKind::Remarks => remarks(),
        RowKind::Findings => finding::ALL.iter().map(|about| value(finding(about))).collect(),
        RowKind::Cases => vec![value(case())],
        RowKind::Log => vec![value(log_row())],
    }
}

#[expect(clippy::needless_pass_by_value, reason = "rows are made for the call")]
fn value(row: impl ListRow) -> Value {
    serde_json::to_value(CapturedRow::new(&row, 1, 12_500)).unwrap()
}

fn channel() -> CountersRow<'static> {
    let kinds = ["IDLE", "GAP", "GO", "STOP", "ORUN", "FRES", "BRES", "PRBn", "REPLx"];
    CountersRow {
        index: 0,
        name: "a>b",
        peer: Some(1),
        period_ps: 12_500,
        characters: 1,
        data: 2,
        control: ControlCounts(kinds.map(|kind| (kind, 3)).to_vec()),
        corrected: 4,
        invalid: 5,
        holes: 6,
        first: Some(7),
        last: Some(8),
    }
}

fn packet() -> PacketRow<'static> {
    PacketRow {
        channel: "a>b",
        packet: 1,
        start: 2,
        end: 3,
        length: 4,
        route: &[0x80],
        tag: Some(5),
        payload: 6,
        crc: "good",
        syndrome: Some(7),
        ended_by: FrameEnd::Gap.name(),
        bytes: Some(HexBytes(&[0x80])),
        route_left_out: 8,
        bytes_left_out: 9,
    }
}

fn link() -> Value {
    let mut channel = Channel::named("a:0>b:0");
    channel.tap = Some("a:0".to_owned());
    let mut summary = ChannelTotals::default();
    let codes = notation::parse("IDLE GAP GO STOP ORUN FRES BRES PRB0 REPL3").unwrap();
    let content = ChunkContent::Literal(codes.chars());
    summary.counters.feed(&Chunk { first: Tick(0), content });
    summary.pings.sent(Tick(1), ProbeNumber::new(0).unwrap());
    summary.pings.answered(Tick(2));
    let (peer, lamp) = (Some(ChannelId(1)), PeriodTotals::default());
    let (channel, summary, lamp) = (&channel, &summary, &lamp);
    let mut parameters = ChannelParameters::of(channel, &"path=44".parse().unwrap());
    parameters.delay = ParameterValue { value: 4, source: ParameterSource::Probe };
    let (id, hysteresis_max) = (ChannelId(0), Some(17));
    value(
        ChannelReport {
            id,
            channel,
            peer,
            totals: summary,
            leds: lamp,
            parameters,
            hysteresis_max,
        }
        .row(),
    )
}

fn waits() -> [BlockedRow<'static>; 2] {
    let stop = StopRow {
        number: 1,
        channel: "a>b",
        start: 2,
        end: 3,
        periods: 4,
        ended_by: "reset",
        timeout: true,
        packet: Some(5),
        chain: vec!["b>c"],
        behind: Some(6),
        root: "busy",
        node: Some("b".to_owned()),
        holders: vec![HolderRow { channel: "d>b", packets: 7 }],
    };
    let deadlock = DeadlockRow {
        channels: vec!["a>b", "b>a"],
        start: 1,
        end: 2,
        periods: 3,
        broken_by: Some("reset"),
        broken_at: Some("a>b"),
    };
    [BlockedRow::Stop(stop), BlockedRow::Deadlock(deadlock)]
}

/// A journey that has everything.
fn journey() -> JourneyRow<'static> {
    let hop = HopRow {
        channel: "a>b",
        packet: 1,
        start: 2,
        end: 3,
        time_ps: 4,
        length: 5,
        route: Some(0x80),
        port: Some(0),
        switches: 1,
        latency_ps: Some(6),
        waited_ps: Some(7),
        waited_for: Some("output"),
        behind: Some(8),
        crc: "bad",
        syndrome: Some(9),
        ended_by: "gap",
    };
    let injury = CorruptionRow {
        after: Some("a>b"),
        seen: "b>c",
        switches: 1,
        harm: "flipped",
        syndrome: Some(10),
        flips: Some("odd"),
        bit: Some(11),
        places: vec![BitPlaceRow { byte: -1, bit: 7 }],
        missing: Some(12),
        more: Some(13),
        by: Some("reset"),
    };
    JourneyRow {
        journey: 0,
        time_ps: 1,
        latency_ps: 2,
        waited_ps: 3,
        tag: Some(4),
        payload: 5,
        fate: "dropped",
        rule: Some("S-1"),
        certainty: "certain",
        hops: vec![hop],
        injuries: vec![injury],
        transport: Some(Box::new(transport())),
    }
}

/// A transport packet that has everything.
fn transport() -> TransportRow {
    TransportRow {
        kind: "bulk",
        crc: "good",
        fault: Some("byte 0: version is 2, not 1".to_owned()),
        source: Some(1),
        destination: Some(2),
        channel: Some(3),
        seq: Some(1),
        timestamp: Some(4),
        incarnation: Some(5),
        reason: Some("queue-full"),
        sync: Some(true),
        role: Some("request"),
        source_endpoint: Some(6),
        destination_endpoint: Some(7),
        key: Some("0123456789abcdef".to_owned()),
        handler: Some(8),
        length: Some(9),
        offset: Some(10),
        total: Some(11),
    }
}

/// A conversation in which there was one round trip.
fn conversation() -> impl ListRow {
    let mut trips = RoundTrips::default();
    trips.add(7);
    let (key, first) = (ConversationKey::default(), ObservedPlace::default());
    let sums = ConversationTotals { trips, ..ConversationTotals::default() };
    let (mut history, ended) = (MessageHistory::default(), ConversationEnd::CaptureEnd);
    history.add("SA".chars());
    Conversation { number: 0, key, first, last: 1, sums, history, ended }.row()
}

/// Observations of every kind.
fn remarks() -> Vec<Value> {
    let data = DataContent {
        sync: SyncFlag::Set,
        role: MessageRole::Request,
        form: MessageForm::Medium,
        source: EndpointId(1),
        destination: EndpointId(2),
        bytes: 3,
        content: CrcResidue::NEW,
    };
    let remarks = [
        ObservationKind::Data(data),
        ObservationKind::Resent(data, ResendCause::LostAck),
        ObservationKind::Duplicate,
        ObservationKind::Ack(Some(4)),
        ObservationKind::Nack(NackReason::QueueFull),
        ObservationKind::Late,
        ObservationKind::Stale,
        ObservationKind::Gone(Abandonment::Refused),
        ObservationKind::Storm(StormKind::Resent),
        ObservationKind::Storm(StormKind::Nacks),
    ];
    let channel = Channel::named("a>b");
    let known = |_| Some(&channel);
    let (place, key, label) =
        (ObservedPlace::default(), ConversationKey::default(), ObservedLabel::default());
    let all = remarks.into_iter().chain(Violation::ALL.map(ObservationKind::Broken));
    let noticed = all.map(|remark| {
        let fate = TransportFate::Arrived;
        value(Observation { place, key, message: Some(5), label, fate, remark }.row(&known))
    });
    let fault = DecodeError::Unexpected { at: 7, field: "reason", found: 9, expected: "0" };
    noticed.chain([value(MalformedPacket { place, fault }.row(&known))]).collect()
}

/// A finding of a kind.
fn finding(about: &FindingInfo) -> FindingRow<'static> {
    FindingRow {
        row: "finding",
        severity: about.severity,
        finding: about.name,
        rule: Some("P-4"),
        clause: Some("5"),
        channel: "a>b",
        at: 1,
        time_ps: 12_500,
        count: 2,
        first: FirstOccurrence(vec![
            ("packet", ShownFact::Number(1)),
            ("code", ShownFact::Byte(2)),
        ]),
        last_at: 3,
        last_time_ps: 37_500,
        text: about.text,
        see: Some(about.view.command(Path::new("a b.pcapng"), &Channel::named("a>b"), Tick(1))),
    }
}

fn case() -> CaseRow<'static> {
    CaseRow {
        row: "case",
        severity: Severity::Error,
        finding: "crc-bad",
        rule: Some("P-4"),
        channel: "a>b",
        at: 1,
        time_ps: 12_500,
        packet: Some(2),
        count: 3,
        facts: FirstOccurrence(vec![("packet", ShownFact::Number(2))]),
    }
}

fn log_row() -> LogRow<'static> {
    LogRow {
        time_ps: 25_000,
        channel: "a>b",
        kind: "finding",
        name: Some("crc-bad"),
        at: 2,
        start: 1,
        packet: Some(3),
        severity: Some(Severity::Error),
        text: "3 bytes".to_owned(),
    }
}

/// An event of every kind.
fn events() -> Vec<LinkEvent> {
    let corrected = [
        (0x04, Symbol::Gap),
        (0x01, Symbol::Go),
        (0x07, Symbol::Stop),
        (0x13, Symbol::ForwardReset),
        (0x10, Symbol::OverrunAlarm),
        (0x1c, Symbol::BackwardReset),
    ];
    let corrected = corrected.map(|(code, symbol)| LinkEvent::CorrectedCode { code, symbol });
    let resumed =
        [ResumeCause::Go, ResumeCause::OpenLink, ResumeCause::Reset].map(LinkEvent::SenderResumed);
    [
        LinkEvent::OpenLink,
        LinkEvent::LinkRestored,
        LinkEvent::ForwardReset,
        LinkEvent::ResetEnded,
        LinkEvent::BackwardReset,
        LinkEvent::OverrunAlarm,
        LinkEvent::Probe(ProbeNumber::new(7).unwrap()),
        LinkEvent::Reply(ReplyStatus::new(15).unwrap()),
        LinkEvent::InvalidCode(0xa6),
        LinkEvent::Hole { missing: 5 },
        LinkEvent::SenderStopped,
    ]
    .into_iter()
    .chain(corrected)
    .chain(resumed)
    .collect()
}

/// Bounds of a fill.
const FILL: FillBounds = FillBounds {
    channel: ChannelId(0),
    start: Tick(1),
    end: Tick(9),
    lo: 0,
    lo_slope: 0,
    hi: 8,
    hi_slope: 1,
};

/// A slack buffer of which everything is known.
fn buffer() -> Value {
    let mut channel = Channel::named("a:0>b:0");
    channel.tap = Some("a:0".to_owned());
    let slack = SlackTracker::new(
        ChannelId(0),
        &channel,
        &LinkAssumptions::default(),
        AnalysisScope::Findings,
    );
    let mut row = value(slack.summary());
    let members = row.as_object_mut().unwrap();
    members.insert("mean_width".to_owned(), 1.5.into());
    members.values_mut().filter(|value| value.is_null()).for_each(|value| *value = 1.into());
    row
}
