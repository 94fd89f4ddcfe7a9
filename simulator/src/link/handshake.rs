//! Flow control of a handshake cable: each character is acknowledged before the next one is sent. B-1
//!
//! The acknowledge has a wire of its own and is no character, so that only its time is computed. Times
//! are picoseconds of the node's clock, so that a cable that takes no whole number of periods has its
//! rate in the mean.

use codec::time::{FULL_RATE_PERIOD_PS, Ticks};

use crate::link::{DELAY_PS_PER_M, FillMode, LinkParameters, PortParameters};
use crate::wires::CableFlow;

const PERIOD_PS: u64 = FULL_RATE_PERIOD_PS as u64;
const NM_PER_M: u64 = 1_000_000_000;

/// One end of a handshake cable: the sender's side of one channel, the receiver's side of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HandshakeEnd {
    /// Time from a character to the next, if it is acknowledged at once.
    round_ps: u64,
    request: RequestState,
    /// The tick at which a character came that is not acknowledged.
    owed: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestState {
    /// The next character may be sent from this time on.
    Free { from: u64 },
    /// The character of this time is not acknowledged.
    Sent { at: u64 },
}

impl HandshakeEnd {
    /// The parameters of the first port of a link, and the end of the cable if it is of this kind: then
    /// the port has no fill and no blocked-packet timeout.
    pub(crate) fn of_port(link: &LinkParameters) -> (PortParameters, Option<Self>) {
        let [port, _] = link.ports;
        match link.wires.flow {
            CableFlow::StopGo => (port, None),
            CableFlow::Handshake => (
                PortParameters { blocked: Ticks(u64::MAX), fill: FillMode::Idle(0), ..port },
                Some(Self {
                    round_ps: round_ps(link),
                    request: RequestState::Free { from: 0 },
                    owed: None,
                }),
            ),
        }
    }

    /// True if the sender may send a character in a tick.
    pub(crate) const fn is_free(&self, now: u64) -> bool {
        matches!(self.request, RequestState::Free { from } if from <= now.saturating_mul(PERIOD_PS))
    }

    /// Records a character sent.
    pub(crate) const fn sent(&mut self, now: u64) {
        if let RequestState::Free { from } = self.request {
            let now = now.saturating_mul(PERIOD_PS);
            // What was due within the last period leaves in this one, and delays no other.
            let at = if now.saturating_sub(from) < PERIOD_PS { from } else { now };
            self.request = RequestState::Sent { at };
        }
    }

    /// Records a character received.
    pub(crate) const fn received(&mut self, now: u64) {
        if self.owed.is_none() {
            self.owed = Some(now);
        }
    }

    /// True if a character has not been acknowledged.
    pub(crate) const fn owes(&self) -> bool {
        self.owed.is_some()
    }

    /// Acknowledges the last character; returns the time for which it had to wait.
    pub(crate) const fn acknowledge(&mut self, now: u64) -> Option<Ticks> {
        match self.owed.take() {
            Some(came) => Some(Ticks(now.saturating_sub(came))),
            None => None,
        }
    }

    /// Handles the acknowledge of a character that the other end has held for a while.
    pub(crate) const fn acknowledged(&mut self, held: Ticks) {
        if let RequestState::Sent { at } = self.request {
            let held = held.0.saturating_mul(PERIOD_PS);
            let from = at.saturating_add(self.round_ps).saturating_add(held);
            self.request = RequestState::Free { from };
        }
    }

    /// The end after a loss of power.
    pub(crate) const fn power_up(&mut self) {
        (self.request, self.owed) = (RequestState::Free { from: 0 }, None);
    }
}

/// Twice the time of flight, and that of the handshake itself.
fn round_ps(link: &LinkParameters) -> u64 {
    let flight = match link.wires.length_nm {
        Some(length) => {
            let ps = u128::from(length) * u128::from(DELAY_PS_PER_M) / u128::from(NM_PER_M);
            let cable = u64::try_from(ps).unwrap_or(u64::MAX);
            cable.saturating_add(link.wires.repeater_delay().0.saturating_mul(PERIOD_PS))
        }
        None => link.delay.0.saturating_mul(PERIOD_PS),
    };
    flight.saturating_mul(2).saturating_add(link.wires.handshake_ps.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cable(metres: u64) -> HandshakeEnd {
        let link = LinkParameters::default();
        let link = link.with_cable(link.delay, Some(metres * NM_PER_M));
        let wires = crate::wires::CableWires { flow: CableFlow::Handshake, ..link.wires };
        HandshakeEnd::of_port(&LinkParameters { wires, ..link }).1.unwrap()
    }

    /// Times of the first characters in periods, if each is acknowledged as it comes.
    fn times(metres: u64, held: u64) -> Vec<u64> {
        let mut end = cable(metres);
        let send = |now: &u64| {
            let free = end.is_free(*now);
            if free {
                end.sent(*now);
                end.acknowledged(Ticks(held));
            }
            free
        };
        (0..200).filter(send).take(8).collect()
    }

    #[test]
    fn a_character_takes_a_round_trip_and_the_handshake() {
        // B-1: 1 m are 2 · 5.6 + 9 = 20.2 ns, 1.616 periods: 396 Mb/s.
        assert_eq!(times(1, 0), [0, 2, 4, 5, 7, 9, 10, 12]);
        // 10 m: 121 ns, 9.68 periods. 25 m: 289 ns, 23.12 periods.
        assert_eq!(times(10, 0), [0, 10, 20, 30, 39, 49, 59, 68]);
        assert_eq!(times(25, 0), [0, 24, 47, 70, 93, 116, 139, 162]);
        // No faster than a character in a period, and later by what the other end holds it.
        assert_eq!(times(0, 0), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(times(1, 3), [0, 5, 10, 14, 19, 24, 28, 33]);
        // What might have left a whole period before delays the next one: 12.5 + 20.2 ns are 2.616 periods.
        let mut end = cable(1);
        end.sent(1);
        end.acknowledged(Ticks(0));
        assert_eq!([2, 3].map(|now| end.is_free(now)), [false, true]);
    }

    #[test]
    fn nothing_is_sent_until_the_last_one_is_acknowledged() {
        let wires = crate::wires::CableWires { flow: CableFlow::Handshake, ..Default::default() };
        let link = LinkParameters { wires, ..LinkParameters::default() };
        let (port, end) = HandshakeEnd::of_port(&link);
        assert_eq!((port.fill, port.blocked), (FillMode::Idle(0), Ticks(u64::MAX)));
        let mut end = end.unwrap();
        end.sent(10);
        assert!(!end.is_free(1 << 40));
        end.power_up();
        assert!(end.is_free(11));
        // What comes meanwhile is acknowledged once, with the time since it came.
        end.received(20);
        assert!(end.owes());
        end.received(22);
        assert_eq!([end.acknowledge(25), end.acknowledge(25)], [Some(Ticks(5)), None]);
        assert!(!end.owes());
        end.received(30);
        end.power_up();
        assert_eq!(end.acknowledge(31), None, "its sender has begun anew too");
    }
}
