//! Checks of a channel's packets. P-2, P-4, P-7, P-9, F-7, R-3, R-4

use codec::packet::CrcCheck;

use super::{ANSWER, FlowChecker};
use crate::blocking::BLOCKED_TIMEOUT;
use crate::finding::sink::FindingSink;
use crate::finding::{FindingFact, FindingKind};
use crate::ip::IpChecksum;
use crate::packet::{FrameEnd, ReceivedPacket, StartCoverage};

impl FlowChecker {
    pub(super) fn packet(&self, packet: &ReceivedPacket, sink: &mut FindingSink<'_>) {
        let seen = sink.seen();
        seen.packets += 1;
        let ReceivedPacket { number, start, end, length, .. } = *packet;
        let span = end.since(start).0 + 1;
        seen.punched += u64::from(length < span);
        let facts =
            || vec![FindingFact::number("packet", number), FindingFact::number("length", length)];
        match packet.ended_by {
            FrameEnd::Gap => {}
            FrameEnd::OpenLink => {
                return sink.note(FindingKind::TruncatedByOpenLink, end, facts);
            }
            FrameEnd::Reset => return sink.note(FindingKind::CutByReset, end, facts),
            // A packet interrupted by a hole or the end of the recording may have continued.
            FrameEnd::Hole | FrameEnd::CaptureEnd => return,
        }
        if span > BLOCKED_TIMEOUT {
            sink.seen().timeouts += 1;
            let kind = if span > BLOCKED_TIMEOUT + ANSWER {
                FindingKind::MissingTimeout
            } else {
                FindingKind::BlockedTimeout
            };
            sink.note(kind, start, || vec![FindingFact::number("packet", number)]);
        }
        match packet.check {
            CrcCheck::Runt => sink.note(FindingKind::Runt, start, facts),
            CrcCheck::Bad(syndrome) => {
                sink.seen().checked += 1;
                sink.note(FindingKind::CrcBad, start, || {
                    let mut facts = facts();
                    facts.push(FindingFact::byte("syndrome", syndrome));
                    facts
                });
            }
            CrcCheck::Partial => sink.note(FindingKind::PartialAtStart, start, facts),
            // The rest of a packet has a good CRC once in 256 times.
            CrcCheck::Good if packet.opening == StartCoverage::Unsure => {
                sink.seen().checked += 1;
                if let Some(seam) = packet.possible_gap.filter(|_| !self.chip_fill) {
                    sink.note(FindingKind::MayBeTwo, seam, facts);
                }
            }
            CrcCheck::Good => {
                if let Some(seam) = packet.possible_gap {
                    let kind =
                        if self.chip_fill { FindingKind::LostGap } else { FindingKind::MayBeTwo };
                    sink.note(kind, seam, facts);
                }
                sink.seen().checked += 1;
                let sums = packet.ip.as_ref().map(|ip| ip.checksum());
                if let Some(IpChecksum::Good | IpChecksum::BadHeader | IpChecksum::Bad) = sums {
                    sink.seen().checksums += 1;
                }
                if let Some(IpChecksum::BadHeader | IpChecksum::Bad) = sums {
                    sink.note(FindingKind::IpChecksum, start, facts);
                }
                if packet.tag.is_none() {
                    sink.note(FindingKind::NoTag, start, facts);
                }
            }
        }
    }
}
