//! Packets of a channel. P-2, P-4, P-7, P-9, F-7, R-3, R-4

use codec::packet::Check;

use super::{ANSWER, Watch};
use crate::blocking::BLOCKED;
use crate::finding::ledger::Scribe;
use crate::finding::{Fact, Kind};
use crate::packet::{EndedBy, PacketSeen};

impl Watch {
    pub(super) fn packet(&self, packet: &PacketSeen, scribe: &mut Scribe<'_>) {
        let seen = scribe.seen();
        seen.packets += 1;
        let PacketSeen { number, start, end, length, .. } = *packet;
        let span = end.since(start).0 + 1;
        seen.punched += u64::from(length < span);
        let facts = || vec![Fact::number("packet", number), Fact::number("length", length)];
        match packet.ended_by {
            EndedBy::Gap => {}
            EndedBy::OpenLink => return scribe.note(Kind::CutBySilence, end, facts),
            EndedBy::Reset => return scribe.note(Kind::CutByReset, end, facts),
            // What the recording ends, or misses a part of, may have gone on.
            EndedBy::Hole | EndedBy::CaptureEnd => return,
        }
        if span > BLOCKED {
            scribe.seen().timeouts += 1;
            let kind = if span > BLOCKED + ANSWER { Kind::NoEscape } else { Kind::BlockedTimeout };
            scribe.note(kind, start, || vec![Fact::number("packet", number)]);
        }
        // Before power-up nothing can have begun. P-7
        let begun =
            self.power_up != Some(start) && self.framed.is_none_or(|framed| framed >= start);
        match packet.check {
            Check::Runt if !begun => scribe.note(Kind::Runt, start, facts),
            Check::Bad(syndrome) if !begun => {
                scribe.seen().checked += 1;
                scribe.note(Kind::CrcBad, start, || {
                    let mut facts = facts();
                    facts.push(Fact::byte("syndrome", syndrome));
                    facts
                });
            }
            Check::Runt | Check::Bad(_) => scribe.note(Kind::BegunBefore, start, facts),
            Check::Good => {
                if let Some(seam) = packet.seam {
                    let kind = if self.chip_fill { Kind::LostGap } else { Kind::MayBeTwo };
                    scribe.note(kind, seam, facts);
                }
                scribe.seen().checked += 1;
                if packet.tag.is_none() {
                    scribe.note(Kind::NoTag, start, facts);
                }
            }
        }
    }
}
