//! Text of `myriscope conversations`: per pair of NICs the traffic and one line per conversation,
//! followed by a histogram of round trips.

use crate::event::Picoseconds;
use crate::totals::AddTotals as _;
use std::collections::BTreeMap;

use codec::transport::Nic;

use super::{
    ColumnRank, ReportLayout, StyledLine, TextStyle, TimeUnit, capture_line, count, wrapped,
};
use crate::conversation::{
    Conversation, ConversationEnd, ConversationTotals, MalformedPacket, RoundTrips,
};

/// Width of a history, for lines of at most 120 columns, and indentation of lists.
const HISTORY: usize = 34;
const INDENT: usize = 10;

/// Maximum number of listed kinds of faults. *Chosen*: the screen is for conversations.
const FAULTS_SHOWN: usize = 16;

/// Maximum number of counted kinds of faults. *Chosen*: far more than fields that can be faulty.
const FAULTS_MAX: usize = 1024;

const BAR: u64 = 40;

/// Conversations and malformed packets of a summary.
#[derive(Debug, Default)]
pub struct ConversationText {
    pairs: BTreeMap<(u32, Nic, Nic), Vec<Conversation>>,
    malformed: BTreeMap<String, u64>,
}

impl ConversationText {
    /// Adds a conversation of a capture.
    pub fn add(&mut self, capture: u32, conversation: Conversation) {
        let (source, destination) = conversation.key.pair();
        self.pairs.entry((capture, source, destination)).or_default().push(conversation);
    }

    /// Adds a malformed packet of the reliability protocol.
    pub fn malformed(&mut self, malformed: &MalformedPacket) {
        let fault = malformed.fault.to_string();
        if self.malformed.len() < FAULTS_MAX || self.malformed.contains_key(&fault) {
            *self.malformed.entry(fault).or_default() += 1;
        }
    }
}

/// Prints the summary: pairs of NICs in order, their conversations in order of logical channels.
pub fn conversations(
    conversed: &ConversationText,
    layout: ReportLayout,
    out: &mut impl FnMut(StyledLine),
) {
    let (unit, head) = (layout.unit.of_times(), head(layout.unit.of_times()));
    let rank = layout.rank(&head);
    let head = head.without(rank);
    let mut trips = RoundTrips::default();
    let mut current = 0;
    for ((capture, source, destination), talks) in &conversed.pairs {
        if current != *capture {
            current = *capture;
            out(capture_line(current));
        }
        let mut sums = ConversationTotals::default();
        talks.iter().for_each(|talk| sums.absorb(&talk.sums));
        trips.absorb(&sums.trips);
        pair((*source, *destination), &sums, out);
        out(head.clone());
        let mut talks: Vec<&Conversation> = talks.iter().collect();
        talks.sort_by_key(|talk| (talk.key, talk.number));
        talks.into_iter().for_each(|talk| lines(talk, unit, &mut |line| out(line.without(rank))));
        out(StyledLine::default());
    }
    if conversed.pairs.is_empty() {
        out(StyledLine::of(TextStyle::Dim, "no conversations"));
    }
    round_trips(&trips, unit, out);
    let malformed = &conversed.malformed;
    if !malformed.is_empty() {
        let all = malformed.values().copied().fold(0, u64::saturating_add);
        out(StyledLine::of(TextStyle::Notice, format!("{} malformed (T-7)", count(all, "packet"))));
        for (fault, times) in malformed.iter().take(FAULTS_SHOWN) {
            out(StyledLine::of(TextStyle::Plain, format!("{times:>8}× {fault}")));
        }
        if malformed.len() > FAULTS_SHOWN {
            let more = malformed.len() - FAULTS_SHOWN;
            out(StyledLine::of(
                TextStyle::Dim,
                format!("{:>8}  and {} more", "", count(more, "fault")),
            ));
        }
    }
}

/// Traffic from one NIC to another.
fn pair(
    (source, destination): (Nic, Nic),
    sums: &ConversationTotals,
    out: &mut impl FnMut(StyledLine),
) {
    let numbers = [count(sums.messages, "message"), count(sums.bytes, "byte")];
    let mut line =
        StyledLine::of(TextStyle::Head, format!("NIC {} → NIC {}", source.0, destination.0))
            .and(TextStyle::Plain, format!("   {}", numbers.join(", ")))
            .and(TextStyle::Good, format!("   {} acknowledged", sums.acknowledged));
    for (gone, times) in &sums.gone {
        line = line.and(TextStyle::Notice, format!("   {times} {}", gone.name()));
    }
    out(line);
    let list = |parts: Vec<String>| parts.join(", ");
    let resent: Vec<_> = sums.resent.iter().map(|(it, n)| format!("{n} {}", it.name())).collect();
    let nacks: Vec<_> = sums.nacks.iter().map(|(it, n)| format!("{n} {}", it.name())).collect();
    let broken: Vec<_> = sums.broken.iter().map(|(it, n)| format!("{n} {}", it.name())).collect();
    for (name, role, parts) in [
        ("sent again", TextStyle::Notice, resent),
        ("NACKs", TextStyle::Notice, nacks),
        ("must not be", TextStyle::Bad, broken),
    ] {
        if !parts.is_empty() {
            let line = StyledLine::of(role, format!("{:INDENT$}{name}: ", ""));
            out(line.and(TextStyle::Plain, list(parts)));
        }
    }
}

/// Ranks and widths of the columns in front of the history.
const RANKS: [ColumnRank; 12] = [0, 5, 0, 0, 3, 0, 1, 1, 1, 2, 4, 2];
const WIDTHS: [usize; 12] = [4, 9, 7, 7, 7, 7, 4, 5, 6, 10, 9, 9];

fn columns(cells: [(TextStyle, String); 12]) -> StyledLine {
    let cells = RANKS.into_iter().zip(WIDTHS).zip(cells);
    let line = cells.fold(StyledLine::default(), |line, ((rank, width), (style, text))| {
        line.and_ranked(rank, style, format!("{text:>width$}"))
    });
    line.and(TextStyle::Plain, "  ")
}

fn head(unit: TimeUnit) -> StyledLine {
    let max = format!("max {}", unit.name());
    let names = ["ch", "messages", "data", "resent", "acks", "nacks", "dup", "late", "stale"];
    let mut names = names.into_iter().chain(["rtt min", "mean", &max]);
    let cell = |_| (TextStyle::Dim, names.next().unwrap_or_default().to_owned());
    columns(RANKS.map(cell)).and(TextStyle::Dim, "history")
}

fn lines(talk: &Conversation, unit: TimeUnit, out: &mut impl FnMut(StyledLine)) {
    let row = talk.row();
    let plain = |number: u64| (TextStyle::Plain, number.to_string());
    let notice = |number: u64| {
        (if number > 0 { TextStyle::Notice } else { TextStyle::Dim }, number.to_string())
    };
    let time = |time: Option<Picoseconds>| {
        (TextStyle::Plain, time.map_or_else(|| "-".to_owned(), |time| unit.rounded(time)))
    };
    let line = columns([
        plain(row.logical_channel.into()),
        plain(row.messages),
        plain(row.data),
        notice(row.retransmissions),
        plain(row.acks),
        notice(row.nacks),
        notice(row.duplicates),
        notice(row.late),
        notice(row.stale),
        time(row.rtt.min_ps),
        time(row.rtt.mean_ps),
        time(row.rtt.max_ps),
    ]);
    let role = if row.broken > 0 { TextStyle::Bad } else { TextStyle::Plain };
    let indent = line.width();
    let mut line = line;
    for history in wrapped(row.history.split(' '), " ", HISTORY) {
        out(line.and(role, history));
        line = StyledLine::of(TextStyle::Plain, " ".repeat(indent));
    }
    match talk.ended {
        ConversationEnd::CaptureEnd => {}
        ConversationEnd::Evicted => {
            out(StyledLine::of(
                TextStyle::Notice,
                format!("{:INDENT$}told early: too many were open", ""),
            ));
        }
    }
}

/// Prints a histogram of the round trips, in classes between powers of two of a µs.
fn round_trips(trips: &RoundTrips, unit: TimeUnit, out: &mut impl FnMut(StyledLine)) {
    let most = trips.classes.iter().copied().max().unwrap_or(0);
    let (Some((least, longest)), true) = (trips.bounds, most > 0) else { return };
    let text = format!(
        "{} of {} to {} {}",
        count(trips.count, "round trip"),
        unit.rounded(least),
        unit.rounded(longest),
        unit.name()
    );
    out(StyledLine::of(TextStyle::Head, text));
    let used: Vec<usize> =
        trips.classes.iter().enumerate().filter(|(_, n)| **n > 0).map(|(at, _)| at).collect();
    let (first, last) = (used.first().copied().unwrap_or(0), used.last().copied().unwrap_or(0));
    for (class, number) in trips.classes.iter().enumerate().take(last + 1).skip(first) {
        let from = if class == 0 { 0 } else { 1_u64 << (class - 1) };
        let bar = usize::try_from((number * BAR).div_ceil(most)).unwrap_or(0);
        let from = format!("{:>10} {}  ", unit.whole(from), unit.name());
        out(StyledLine::of(TextStyle::Dim, from)
            .and(TextStyle::Good, "█".repeat(bar))
            .and(TextStyle::Plain, format!(" {number}")));
    }
    out(StyledLine::default());
}
