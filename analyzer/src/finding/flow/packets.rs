//! Checks of a channel's packets. P-2, P-4, P-7, P-9, F-7, R-3, R-4

use codec::packet::CrcCheck;
use codec::time::Tick;

use super::FlowChecker;
use super::stops::timeout_kind;
use crate::blocking::BLOCKED_TIMEOUT;
use crate::finding::sink::FindingSink;
use crate::finding::{FindingFact, FindingKind};
use crate::ip::IpChecksum;
use crate::packet::{FrameEnd, ReceivedPacket, StartCoverage};

impl FlowChecker {
    pub(super) fn packet(&self, at: Tick, packet: &ReceivedPacket, sink: &mut FindingSink<'_>) {
        let seen = sink.seen();
        seen.packets += 1;
        let ReceivedPacket { number, start, end, length, .. } = *packet;
        let span = end.since(start).0 + 1;
        seen.punched += u64::from(length < span);
        let facts =
            || vec![FindingFact::number("packet", number), FindingFact::number("length", length)];
        let in_time = match packet.ended_by {
            FrameEnd::Gap => BLOCKED_TIMEOUT,
            // No packet ends with FRES by itself.
            FrameEnd::Reset => BLOCKED_TIMEOUT - 1,
            FrameEnd::OpenLink => {
                return sink.note(FindingKind::TruncatedByOpenLink, end, facts);
            }
            // A packet interrupted by a hole or the end of the recording may have continued.
            FrameEnd::Hole | FrameEnd::CaptureEnd => return,
        };
        let periods = at.since(start).0;
        if periods > in_time && !self.stops.is_blocked(at) {
            sink.seen().timeouts += 1;
            let facts = || vec![FindingFact::number("packet", number)];
            sink.note(timeout_kind(periods), start, facts);
        }
        if packet.ended_by == FrameEnd::Reset {
            return sink.note(FindingKind::CutByReset, end, facts);
        }
        let is_checked = matches!(packet.check, CrcCheck::Bad(_) | CrcCheck::Good);
        sink.seen().checked += u64::from(is_checked);
        match packet.check {
            CrcCheck::Runt => sink.note(FindingKind::Runt, start, facts),
            CrcCheck::Bad(syndrome) => sink.note(FindingKind::CrcBad, start, || {
                let syndrome = FindingFact::byte("syndrome", syndrome);
                facts().into_iter().chain([syndrome]).collect()
            }),
            CrcCheck::Partial => sink.note(FindingKind::PartialAtStart, start, facts),
            // The rest of a packet has a good CRC once in 256 times.
            CrcCheck::Good if packet.opening == StartCoverage::Unsure => {
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
