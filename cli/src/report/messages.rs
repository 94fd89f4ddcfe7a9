//! Conversations of the reliability protocol: a table, and the packets around the trouble in sequence.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use analyzer::conversation::{
    Abandonment, Conversation, ConversationKey, Observation, ObservationKind, TransportFate,
};
use analyzer::finding::ShellCommand;
use codec::transport::SyncFlag;

use super::text::{BoundedList, DataCell, DataTable, clipped, duration};

/// Conversations kept, and rows of the table. *Chosen*: a page or two.
const KEPT_MAX: usize = 1024;
const ROWS_MAX: usize = 100;
/// Conversations whose packets are kept, and diagrams. *Chosen*: many are alike.
const LOGS_MAX: usize = 128;
const DIAGRAMS_MAX: usize = 4;
/// Packets before the first trouble, and all packets of a diagram. *Chosen*: a screen.
const BEFORE_MAX: usize = 8;
const PACKETS_MAX: usize = 24;
/// Times of the two NICs in a diagram, and of its rows, in pixels.
const LIFELINES: [usize; 2] = [200, 620];
const PITCH: usize = 28;
const TOP: usize = 44;

/// A conversation in a capture of a file.
type CapturedKey = (u32, ConversationKey);

/// Conversations and packets in bounded memory: of many, those with trouble.
#[derive(Default)]
pub(super) struct MessageRecord {
    count: usize,
    conversations: Vec<(u32, Conversation)>,
    logs: BTreeMap<CapturedKey, MessageLog>,
}

/// Packets of a conversation around its first trouble.
#[derive(Default)]
struct MessageLog {
    before: u64,
    observations: VecDeque<Observation>,
    after: u64,
    trouble: u64,
}

pub(super) struct SequenceDiagram {
    pub(super) title: String,
    pub(super) ends: [String; 2],
    pub(super) height: usize,
    pub(super) rows: Vec<SequenceRow>,
    pub(super) before: u64,
    pub(super) after: u64,
}

/// A packet as an arrow, or a remark.
pub(super) struct SequenceRow {
    pub(super) y: usize,
    pub(super) time: String,
    pub(super) class: &'static str,
    pub(super) label: String,
    /// The line with its head; empty for a remark.
    pub(super) d: String,
}

impl MessageRecord {
    pub(super) fn conversation(&mut self, capture: u32, conversation: Conversation) {
        self.count += 1;
        self.conversations.push((capture, conversation));
        if self.conversations.len() >= 2 * KEPT_MAX {
            self.rank();
            self.conversations.truncate(KEPT_MAX);
        }
    }

    fn rank(&mut self) {
        self.conversations.sort_by_cached_key(trouble_order);
    }

    pub(super) fn observation(&mut self, capture: u32, observation: Observation) {
        let key = (capture, observation.key);
        let is_trouble = is_trouble(&observation);
        if !self.logs.contains_key(&key) && self.logs.len() >= LOGS_MAX {
            let calm = self.logs.iter().find(|(_, log)| log.trouble == 0).map(|(key, _)| *key);
            let Some(calm) = calm.filter(|_| is_trouble) else { return };
            self.logs.remove(&calm);
        }
        let log = self.logs.entry(key).or_default();
        log.trouble += u64::from(is_trouble);
        if log.observations.len() >= PACKETS_MAX {
            log.after += 1;
            return;
        }
        log.observations.push_back(observation);
        if log.trouble == 0 && log.observations.len() > BEFORE_MAX {
            log.observations.pop_front();
            log.before += 1;
        }
    }

    /// The conversations, those with trouble first.
    pub(super) fn table(&self, file: &Path) -> DataTable {
        let mut ranked: Vec<&(u32, Conversation)> = self.conversations.iter().collect();
        ranked.sort_by_cached_key(|it| trouble_order(it));
        let command = ShellCommand::of("conversations", file);
        let rows = BoundedList::of(&ranked, ROWS_MAX, &command, |(_, it)| {
            let row = it.row();
            vec![
                DataCell::text(format!("{} → {}", row.source, row.destination)),
                DataCell::number(row.logical_channel.into()),
                DataCell::number(row.messages),
                DataCell::number(row.acknowledged),
                DataCell::number(row.data),
                DataCell::number(row.retransmissions).alarming(row.retransmissions),
                DataCell::number(row.nacks).alarming(row.nacks),
                DataCell::number(row.duplicates),
                DataCell::number(row.broken).alarming(row.broken),
                DataCell::time(row.rtt.min_ps),
                DataCell::time(row.rtt.mean_ps),
                DataCell::time(row.rtt.max_ps),
                DataCell { class: "history", ..DataCell::text(clipped(&row.history, 80)) },
            ]
        });
        let more = self.count.saturating_sub(rows.items.len());
        let heads = &[
            "NICs",
            "channel",
            "messages",
            "acknowledged",
            "data",
            "resent",
            "NACKs",
            "duplicates",
            "violations",
            "RTT min",
            "mean",
            "max",
            "history",
        ];
        DataTable { id: "conversation-table", heads, rows: BoundedList { more, ..rows } }
    }

    /// Diagrams of the conversations with the most trouble.
    pub(super) fn diagrams(&self, file: &Path) -> BoundedList<SequenceDiagram> {
        let mut logs: Vec<_> = self.logs.iter().collect();
        logs.sort_by_key(|(key, log)| (Reverse(log.trouble), **key));
        let command = ShellCommand::of("conversations", file).with("--events");
        BoundedList::of(&logs, DIAGRAMS_MAX, &command, |((_, key), log)| diagram(key, log))
    }
}

/// Key that sorts conversations with trouble first.
fn trouble_order((capture, it): &(u32, Conversation)) -> (Reverse<[u64; 3]>, u32, u64) {
    let row = it.row();
    (Reverse([row.broken, row.retransmissions, row.nacks]), *capture, row.conversation)
}

fn is_trouble(observation: &Observation) -> bool {
    observation.fate.is_lost()
        || match observation.remark {
            ObservationKind::Data(_) | ObservationKind::Ack(_) => false,
            ObservationKind::Gone(gone) => gone != Abandonment::Open,
            ObservationKind::Resent(..) | ObservationKind::Nack(_) | ObservationKind::Broken(_) => {
                true
            }
            ObservationKind::Duplicate | ObservationKind::Late | ObservationKind::Stale => true,
            ObservationKind::Storm(_) => true,
        }
}

fn diagram(key: &ConversationKey, log: &MessageLog) -> SequenceDiagram {
    let (source, destination) = key.pair();
    let rows = log.observations.iter().enumerate();
    let rows: Vec<SequenceRow> = rows.map(|(place, it)| row(it, TOP + place * PITCH)).collect();
    SequenceDiagram {
        title: format!(
            "NIC {} to NIC {}, logical channel {}",
            source.0, destination.0, key.channel.0
        ),
        ends: [source, destination].map(|nic| format!("NIC {}", nic.0)),
        height: TOP + rows.len() * PITCH,
        rows,
        before: log.before,
        after: log.after,
    }
}

fn row(observation: &Observation, y: usize) -> SequenceRow {
    let [left, right] = LIFELINES;
    let (class, ends, label) = match observation.remark {
        ObservationKind::Data(data) => {
            let sync = if data.sync == SyncFlag::Set { "SYNC, " } else { "" };
            ("data", Some((left, right)), format!("DATA {sync}{} bytes", data.bytes))
        }
        ObservationKind::Resent(data, cause) => {
            let label = format!("↻ DATA again, {} bytes: {}", data.bytes, cause.name());
            ("resent", Some((left, right)), label)
        }
        ObservationKind::Ack(trip) => {
            let trip = trip.map(|trip| format!(", after {}", duration(trip))).unwrap_or_default();
            ("ack", Some((right, left)), format!("ACK{trip}"))
        }
        ObservationKind::Nack(reason) => {
            ("nack", Some((right, left)), format!("NACK: {}", reason.name()))
        }
        ObservationKind::Gone(gone) => ("remark", None, format!("message ended: {}", gone.name())),
        ObservationKind::Duplicate | ObservationKind::Late | ObservationKind::Stale => {
            ("remark", None, observation.remark.name().to_owned())
        }
        ObservationKind::Storm(_) | ObservationKind::Broken(_) => {
            ("broken", None, format!("✗ {}", observation.remark.name()))
        }
    };
    let lost = if observation.fate.is_lost() {
        format!(" ✗ {}", observation.fate.name())
    } else {
        String::new()
    };
    SequenceRow {
        y,
        time: duration(observation.place.time),
        class,
        label: format!("{label}{lost}"),
        d: ends.map_or_else(String::new, |(from, to)| arrow((from, to), y, observation.fate)),
    }
}

/// An arrow; that of a lost packet ends with a cross in the middle.
fn arrow((from, to): (usize, usize), y: usize, fate: TransportFate) -> String {
    if fate.is_lost() {
        let end = (from + 2 * to) / 3;
        return format!("M{from} {y}H{end}m-6 -6l12 12m0 -12l-12 12");
    }
    let head = if from < to { "l-9 -5v10z" } else { "l9 -5v10z" };
    format!("M{from} {y}H{to}M{to} {y}{head}")
}
