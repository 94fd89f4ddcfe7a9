//! Conversations of the reliability protocol: a table, and the packets around the trouble in sequence.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use analyzer::conversation::{
    Abandonment, Conversation, ConversationKey, ConversationRow, Observation, ObservationKind,
    TransportEvent,
};
use analyzer::finding::{CaptureArgument, ShellCommand};
use codec::transport::SyncFlag;

use super::text::{BoundedList, duration};

/// Conversations kept, and rows of the table. *Chosen*: a page or two.
const KEPT_MAX: usize = 1024;
const ROWS_MAX: usize = 100;
/// Conversations whose packets are kept, and diagrams. *Chosen*: many are alike.
const LOGS_MAX: usize = 128;
const DIAGRAMS_MAX: usize = 4;
/// Packets before the first trouble, and all packets of a diagram. *Chosen*: a screen.
const BEFORE_MAX: usize = 8;
const PACKETS_MAX: usize = 24;
/// Coordinates of the two NICs in a diagram.
const LIFELINES: [usize; 2] = [200, 620];

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
pub(super) struct MessageLog {
    pub(super) before: u64,
    observations: VecDeque<Observation>,
    pub(super) after: u64,
    trouble: u64,
}

/// Packets of a conversation in sequence, as arrows and remarks.
pub(super) struct SequenceDiagram<'a> {
    pub(super) key: &'a ConversationKey,
    pub(super) log: &'a MessageLog,
    pub(super) rows: Vec<SequenceRow>,
}

/// An arrow from one NIC to the other, or a remark.
pub(super) struct SequenceRow {
    pub(super) time: String,
    pub(super) class: &'static str,
    pub(super) label: String,
    /// Coordinates of the arrow's ends; equal for a remark.
    pub(super) ends: [usize; 2],
    /// Name of the packet's fate, if it was lost.
    pub(super) lost: Option<&'static str>,
}

impl MessageRecord {
    pub(super) fn add(&mut self, capture: u32, event: TransportEvent) {
        match event {
            TransportEvent::Observed(observation) => self.observation(capture, observation),
            TransportEvent::Conversation(it) => {
                self.count += 1;
                self.conversations.push((capture, *it));
                if self.conversations.len() >= 2 * KEPT_MAX {
                    self.conversations.sort_by_cached_key(trouble_order);
                    self.conversations.truncate(KEPT_MAX);
                }
            }
            TransportEvent::Malformed(_) => {}
        }
    }

    fn observation(&mut self, capture: u32, observation: Observation) {
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
    pub(super) fn table(&self, capture: CaptureArgument<'_>) -> BoundedList<ConversationRow> {
        let mut ranked: Vec<&(u32, Conversation)> = self.conversations.iter().collect();
        ranked.sort_by_cached_key(|it| trouble_order(it));
        let rows = BoundedList::of(ranked, ROWS_MAX, &ShellCommand::of("conversations", capture));
        let more = self.count.saturating_sub(rows.items.len());
        BoundedList { more, ..rows.map(|(_, it)| it.row()) }
    }

    /// Diagrams of the conversations with the most trouble.
    pub(super) fn diagrams(
        &self,
        capture: CaptureArgument<'_>,
    ) -> BoundedList<SequenceDiagram<'_>> {
        let mut logs: Vec<_> = self.logs.iter().collect();
        logs.sort_by_key(|(key, log)| (Reverse(log.trouble), **key));
        let command = ShellCommand::of("conversations", capture).with("--events");
        BoundedList::of(logs, DIAGRAMS_MAX, &command).map(|((_, key), log)| {
            let rows = log.observations.iter().map(row).collect();
            SequenceDiagram { key, log, rows }
        })
    }
}

impl SequenceDiagram<'_> {
    pub(super) fn title(&self) -> String {
        let (source, destination) = self.key.pair();
        let channel = self.key.channel.0;
        format!("NIC {} to NIC {}, logical channel {channel}", source.0, destination.0)
    }
}

/// Key that sorts conversations with trouble first.
fn trouble_order((capture, it): &(u32, Conversation)) -> (Reverse<[u64; 3]>, u32, u64) {
    let row = it.row();
    (Reverse([row.broken, row.retransmissions, row.nacks]), *capture, row.conversation)
}

fn is_trouble(observation: &Observation) -> bool {
    use ObservationKind::{Ack, Data, Gone};
    let is_usual = matches!(observation.observed, Data(_) | Ack(_) | Gone(Abandonment::Open));
    observation.fate.is_lost() || !is_usual
}

fn row(observation: &Observation) -> SequenceRow {
    let [left, right] = LIFELINES;
    let (there, back, nowhere) = ([left, right], [right, left], [left, left]);
    let name = observation.observed.name();
    let (class, ends, label) = match observation.observed {
        ObservationKind::Data(data) => {
            let sync = if data.sync == SyncFlag::Set { "SYNC, " } else { "" };
            ("data", there, format!("DATA {sync}{} bytes", data.bytes))
        }
        ObservationKind::Resent(data, cause) => {
            let label = format!("↻ DATA again, {} bytes: {}", data.bytes, cause.name());
            ("resent", there, label)
        }
        ObservationKind::Ack(trip) => {
            let trip = trip.map(|trip| format!(", after {}", duration(trip))).unwrap_or_default();
            ("ack", back, format!("ACK{trip}"))
        }
        ObservationKind::Nack(reason) => ("nack", back, format!("NACK: {}", reason.name())),
        ObservationKind::Gone(gone) => {
            ("remark", nowhere, format!("message ended: {}", gone.name()))
        }
        ObservationKind::Duplicate | ObservationKind::Late | ObservationKind::Stale => {
            ("remark", nowhere, name.to_owned())
        }
        ObservationKind::Storm(_) | ObservationKind::Broken(_) => {
            ("broken", nowhere, format!("✗ {name}"))
        }
    };
    let lost = observation.fate.is_lost().then(|| observation.fate.name());
    SequenceRow { time: duration(observation.place.time), class, label, ends, lost }
}
