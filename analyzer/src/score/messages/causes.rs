//! True causes of retransmissions, from the fates of each transmission and its answers. T-10

use std::collections::{BTreeMap, VecDeque};

use super::{ScoredLabel, TruthLabel};
use crate::conversation::ResendCause;

/// Maximum number of transmissions kept per message. *Chosen*: much older ones do not affect the
/// cause of the last.
const SENT_MAX: usize = 32;

/// True causes of all retransmissions.
#[derive(Clone, Debug, Default)]
pub(super) struct CauseScore {
    /// Transmissions of the latest message of each logical channel.
    sent: BTreeMap<ScoredLabel, VecDeque<ScoredTransmission>>,
    /// Accepted causes of the retransmissions of earlier messages, until the analysis reports them.
    known: BTreeMap<TruthLabel, &'static [ResendCause]>,
    /// Packets in transit, by name.
    packets: BTreeMap<String, TransportFrame>,
}

/// A packet in transit.
#[derive(Clone, Copy, Debug)]
struct TransportFrame {
    label: TruthLabel,
    kind: TransportFrameKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransportFrameKind {
    Data,
    Ack,
    Nack,
}

/// One transmission of a data packet.
#[derive(Clone, Debug)]
struct ScoredTransmission {
    label: TruthLabel,
    message: String,
    /// Time of the transmission, in periods of the full rate.
    at: u64,
    end: TransportFrameEnd,
    answers: Vec<ScoredAnswer>,
}

#[derive(Clone, Copy, Debug)]
struct ScoredAnswer {
    kind: TransportFrameKind,
    at: u64,
    end: TransportFrameEnd,
    /// True if a tap has captured it intact.
    is_seen: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TransportFrameEnd {
    #[default]
    UnderWay,
    /// Arrived at a host with a good CRC, at a time.
    Arrived(u64),
    /// Did not arrive with a good CRC.
    Lost,
    /// Lost inside a host, which a capture does not show. R-3, F-7
    Inside,
}

impl CauseScore {
    /// Adds a transmission of a data packet.
    pub(super) fn data(&mut self, (name, at): (&str, u64), message: &str, label: TruthLabel) {
        self.packets
            .insert(name.to_owned(), TransportFrame { label, kind: TransportFrameKind::Data });
        let sent = self.sent.entry(label.key()).or_default();
        if sent.back().is_some_and(|before| before.message != message) {
            // The previous message has ended: the causes of its retransmissions are final.
            let again =
                sent.iter().filter_map(|it| Some((it.label, expected_causes(sent, it.label)?)));
            self.known.extend(again);
            sent.clear();
        }
        let message = message.to_owned();
        sent.push_back(ScoredTransmission {
            label,
            message,
            at,
            end: TransportFrameEnd::UnderWay,
            answers: Vec::new(),
        });
        if sent.len() > SENT_MAX {
            sent.pop_front();
        }
    }

    /// Adds an answer to the data with this label.
    pub(super) fn answer(
        &mut self,
        (name, at): (&str, u64),
        kind: TransportFrameKind,
        label: TruthLabel,
    ) {
        self.packets.insert(name.to_owned(), TransportFrame { label, kind });
        if let Some(sent) = self.of(label) {
            let (end, is_seen) = (TransportFrameEnd::UnderWay, false);
            sent.answers.push(ScoredAnswer { kind, at, end, is_seen });
        }
    }

    /// Marks a packet as captured intact.
    pub(super) fn seen(&mut self, name: &str) {
        let Some(TransportFrame { label, kind }) = self.packets.get(name).copied() else { return };
        let Some(sent) = self.of(label) else { return };
        let on_its_way =
            |it: &&mut ScoredAnswer| it.kind == kind && it.end == TransportFrameEnd::UnderWay;
        sent.answers.iter_mut().filter(on_its_way).for_each(|it| it.is_seen = true);
    }

    /// Records the end of a packet. Returns its label if it is data.
    pub(super) fn ended(&mut self, name: &str, end: TransportFrameEnd) -> Option<TruthLabel> {
        let TransportFrame { label, kind } = self.packets.remove(name)?;
        let sent = self.of(label)?;
        if kind == TransportFrameKind::Data {
            sent.end = end;
            return Some(label);
        }
        let on_its_way =
            |it: &&mut ScoredAnswer| it.kind == kind && it.end == TransportFrameEnd::UnderWay;
        if let Some(answer) = sent.answers.iter_mut().find(on_its_way) {
            answer.end = end;
        }
        None
    }

    fn of(&mut self, label: TruthLabel) -> Option<&mut ScoredTransmission> {
        self.sent.get_mut(&label.key())?.iter_mut().rev().find(|sent| sent.label == label)
    }

    /// Accepted causes of the retransmission with this label: several if the capture does not
    /// distinguish them; none if too little is known.
    pub(super) fn of_resent(&mut self, label: TruthLabel) -> Option<&'static [ResendCause]> {
        let known = self.known.remove(&label);
        known.or_else(|| expected_causes(self.sent.get(&label.key())?, label))
    }
}

/// Accepted causes of the retransmission with this label, from all transmissions of its message.
fn expected_causes(
    sent: &VecDeque<ScoredTransmission>,
    label: TruthLabel,
) -> Option<&'static [ResendCause]> {
    let place = sent.iter().rposition(|sent| sent.label == label)?;
    let now = sent.get(place)?;
    let before = sent.get(place.checked_sub(1)?)?;
    let mut answers = sent.iter().take(place).flat_map(|sent| &sent.answers);
    let arrived = |answer: &ScoredAnswer| matches!(answer.end, TransportFrameEnd::Arrived(_));
    if answers.any(|it| it.kind == TransportFrameKind::Ack && it.at < now.at && arrived(it)) {
        return Some(&[ResendCause::TooEarly, ResendCause::AfterAck]);
    }
    match (before.answers.last(), before.end) {
        (Some(ScoredAnswer { end: TransportFrameEnd::UnderWay, .. }), _)
        | (None, TransportFrameEnd::UnderWay) => None,
        (Some(ScoredAnswer { end: TransportFrameEnd::Arrived(at), kind, .. }), _) => match kind {
            TransportFrameKind::Nack if *at < now.at => Some(&[ResendCause::Nack]),
            TransportFrameKind::Ack | TransportFrameKind::Nack | TransportFrameKind::Data => {
                Some(&[ResendCause::TooEarly])
            }
        },
        // An answer that was corrupted before its first tap may not be recognizable.
        (
            Some(ScoredAnswer {
                end: TransportFrameEnd::Lost | TransportFrameEnd::Inside,
                kind,
                is_seen,
                ..
            }),
            _,
        ) => Some(match (kind, is_seen) {
            (TransportFrameKind::Nack, true) => &[ResendCause::Nack, ResendCause::Corrupt],
            (TransportFrameKind::Nack, false) => {
                &[ResendCause::Nack, ResendCause::Corrupt, ResendCause::Unanswered]
            }
            (TransportFrameKind::Ack | TransportFrameKind::Data, true) => {
                &[ResendCause::LostAck, ResendCause::Corrupt]
            }
            (TransportFrameKind::Ack | TransportFrameKind::Data, false) => {
                &[ResendCause::LostAck, ResendCause::Corrupt, ResendCause::Unanswered]
            }
        }),
        (None, TransportFrameEnd::Arrived(_)) => Some(&[ResendCause::Unanswered]),
        (None, TransportFrameEnd::Inside) => {
            Some(&[ResendCause::LostData, ResendCause::Corrupt, ResendCause::Unanswered])
        }
        (None, TransportFrameEnd::Lost) => Some(&[ResendCause::LostData, ResendCause::Corrupt]),
    }
}
