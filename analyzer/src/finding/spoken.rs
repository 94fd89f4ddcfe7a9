//! What is said in the reliability protocol. T-1..T-13

use codec::transport::{Reason, Sync};

use super::ledger::{Fact, Occurrence};
use super::{Findings, Kind};
use crate::conversation::{Broken, Cause, Gone, Malformed, Noticed, Place, Remark, Spoken, Storm};

impl Findings {
    /// What a packet or a message of the reliability protocol says.
    pub fn spoken(&mut self, spoken: &Spoken) {
        match spoken {
            Spoken::Noticed(noticed) => self.noticed(noticed),
            Spoken::Malformed(Malformed { place, fault }) => {
                self.ledger.seen.said.packets += 1;
                let kind = Kind::MalformedMessage;
                self.ledger.note(kind, place.channel, when(place), || {
                    let byte = Fact::number("byte", fault.at() as u64);
                    vec![packet(place), byte, Fact::word("field", fault.field())]
                });
            }
            Spoken::Conversation(_) => {}
        }
    }

    fn noticed(&mut self, noticed: &Noticed) {
        self.count(&noticed.remark);
        let Some(kind) = kind(noticed) else { return };
        let Noticed { place, key, label, .. } = noticed;
        self.ledger.note(kind, place.channel, when(place), || {
            let reason = match noticed.remark {
                Remark::Nack(reason) => Some(Fact::word("reason", reason.name())),
                Remark::Data(_) | Remark::Resent(..) | Remark::Ack(_) | Remark::Duplicate => None,
                Remark::Late | Remark::Stale | Remark::Gone(_) | Remark::Storm(_) => None,
                Remark::Broken(_) => None,
            };
            let facts = [
                packet(place),
                Fact::number("source", key.source.0.into()),
                Fact::number("destination", key.destination.0.into()),
                Fact::number("logical_channel", key.channel.0.into()),
                Fact::number("incarnation", label.incarnation.0.into()),
                Fact::number("timestamp", label.timestamp.0.into()),
            ];
            facts.into_iter().chain(reason).collect()
        });
    }

    /// What there is to find something in.
    fn count(&mut self, remark: &Remark) {
        let said = &mut self.ledger.seen.said;
        match remark {
            Remark::Data(data) => {
                said.messages += 1;
                said.opened += u64::from(data.sync == Sync::Set);
            }
            Remark::Resent(..) => said.resent += 1,
            Remark::Ack(_) => said.acks += 1,
            Remark::Nack(_) => said.nacks += 1,
            Remark::Stale => {}
            Remark::Duplicate | Remark::Late | Remark::Gone(_) => return,
            Remark::Storm(_) | Remark::Broken(_) => return,
        }
        said.packets += 1;
    }
}

/// The finding that it is, if it is one.
fn kind(noticed: &Noticed) -> Option<Kind> {
    Some(match noticed.remark {
        // An answer alone says nothing of a message.
        Remark::Nack(Reason::BadKey | Reason::NoSuchEndpoint) if noticed.message.is_some() => {
            Kind::MessageRefused
        }
        Remark::Resent(_, Cause::TooEarly) => Kind::TimerTooEarly,
        Remark::Gone(Gone::Unanswered) => Kind::MessageUnanswered,
        Remark::Stale => Kind::StalePacket,
        Remark::Storm(Storm::Resent) => Kind::ResendStorm,
        Remark::Storm(Storm::Nacks) => Kind::NackStorm,
        Remark::Broken(Broken::TwoOutstanding) => Kind::TwoOutstanding,
        Remark::Broken(Broken::Unflipped) => Kind::NotFlipped,
        Remark::Broken(Broken::Altered) => Kind::MessageAltered,
        Remark::Broken(Broken::AckOfLost) => Kind::AckOfLost,
        Remark::Broken(Broken::NackAfterAck) => Kind::NackAfterAck,
        Remark::Broken(Broken::Unasked) => Kind::AnswerUnasked,
        Remark::Broken(Broken::AfterAck) => Kind::ResentAfterAck,
        Remark::Broken(Broken::SyncMissing) => Kind::SyncMissing,
        Remark::Broken(Broken::SyncAgain) => Kind::SyncAgain,
        Remark::Broken(Broken::Backwards) => Kind::IncarnationBackwards,
        Remark::Data(_) | Remark::Resent(..) | Remark::Ack(_) | Remark::Nack(_) => return None,
        Remark::Duplicate | Remark::Late | Remark::Gone(_) => return None,
    })
}

const fn when(place: &Place) -> Occurrence {
    Occurrence { time: place.time, at: place.at }
}

const fn packet(place: &Place) -> Fact {
    Fact::number("packet", place.packet)
}
