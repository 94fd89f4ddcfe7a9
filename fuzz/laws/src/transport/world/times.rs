//! Time passes, and control programs and endpoints come and go.

use std::rc::Rc;

use codec::transport::{Nic, TransportTimestamp};
use simulator::transport::{Micros, ProtocolPacket, Transport};

use super::super::checker::{EndpointAddress, StepCause};
use super::super::input::RestartClock;
use super::{FrameResidency, SeededFlaw, TransportWorld, WorldHost, WorldPacket, header_mut};

/// Clock of every NIC, where all states are explored, at the beginning of each step. Far from 0, so that
/// what was before has a time too.
pub(crate) const ORIGIN: u64 = 1 << 30;

/// Time when what was transmitted long ago was: longer ago than any timeout of a walk. A message that was
/// refused waits for as long as its endpoint leaves. T-13
const OLDEST: u64 = ORIGIN - 8;

/// Timestamp of a transmission that is not the latest of an outstanding message.
const LONG_AGO: TransportTimestamp = TransportTimestamp(1 << 20);

impl TransportWorld {
    pub(crate) const fn now(&self) -> u64 {
        self.now
    }

    /// Moves everything back to when every step begins, and forgets what nothing depends on: which
    /// packets have arrived, and when those were transmitted that are not the latest transmission of
    /// what is outstanding. A timestamp is only compared with that of the latest, and no later one will
    /// be as old. T-8
    pub(crate) fn rewind(&mut self) {
        let by = std::mem::take(&mut self.now);
        if by > 0 {
            for host in &mut self.hosts {
                let host = Rc::make_mut(host);
                host.machine.shift_back(Micros(by), Micros(OLDEST));
                host.scan = host.scan.map(|scan| scan - by);
            }
            self.checker.shift_back(by, OLDEST);
        }
        let rewound = |packet: &WorldPacket| {
            let mut packet = *packet;
            let header = header_mut(&mut packet);
            if header.timestamp != LONG_AGO {
                let at = u64::from(header.timestamp.0).saturating_sub(by).max(OLDEST);
                header.timestamp = Micros(at).timestamp();
            }
            let own = match packet {
                ProtocolPacket::Data(header, ..) => header,
                ProtocolPacket::Ack(header) | ProtocolPacket::Nack(header, _) => header.answer(),
            };
            if self.checker.latest(own.source, (own.destination, own.channel)) != Some(own) {
                header_mut(&mut packet).timestamp = LONG_AGO;
            }
            packet
        };
        for path in &mut self.paths {
            let is_rewound = path.packets.iter().all(|packet| rewound(packet) == *packet);
            if !is_rewound || !path.past.is_empty() {
                let path = Rc::make_mut(path);
                path.past.clear();
                path.packets.iter_mut().for_each(|packet| *packet = rewound(packet));
            }
        }
    }

    pub(super) fn next(&self) -> Option<(u64, Nic)> {
        let due = |(nic, host): (Nic, &Rc<WorldHost>)| {
            Some((host.machine.due()?.0.wrapping_sub(host.ahead), nic))
        };
        self.nics().zip(&self.hosts).filter_map(due).min()
    }

    pub(crate) fn pass(&mut self, time: u64) {
        let end = self.now + time;
        while let Some((at, nic)) = self.next()
            && at <= end
        {
            self.now = self.now.max(at);
            self.tick(nic);
            let due = self.host(nic).machine.due();
            let clock = self.clock(nic);
            assert!(due.is_none_or(|due| due.0 > clock), "a scan is not due again at once");
        }
        self.now = end;
    }

    pub(super) fn tick(&mut self, nic: Nic) {
        let clock = self.clock(nic);
        let (host, mut effects) = (self.host_mut(nic), Vec::new());
        let is_due = host.machine.due().is_some_and(|due| due.0 <= clock);
        let before = (!is_due).then(|| host.machine.clone());
        host.machine.on_tick(Micros(clock), &mut effects);
        if let Some(before) = before {
            let unchanged = before == host.machine && effects.is_empty();
            assert!(unchanged, "nothing is done before it is due. T-10");
        }
        self.done(nic, StepCause::Tick, effects);
        if is_due {
            self.checker.scanned(nic, clock);
        }
    }

    pub(crate) fn restart(&mut self, nic: Nic, clock: RestartClock) {
        self.checker.restart(nic);
        self.touch(nic);
        if self.setup.flaw == SeededFlaw::LostSentAgain {
            self.checker.send_lost_again(nic);
        }
        let (parameters, now) = (self.setup.parameters, self.now);
        let host = self.host_mut(nic);
        host.scan = None;
        host.queue.clear();
        host.machine = Transport::new(nic, parameters, host.machine.next_incarnation());
        match clock {
            RestartClock::GoesOn => {}
            RestartClock::Begins => host.ahead = 0_u64.wrapping_sub(now),
        }
        host.endpoints.iter_mut().for_each(|endpoint| endpoint.frame = FrameResidency::Out);
    }

    pub(crate) fn unload(&mut self, at: EndpointAddress) {
        self.endpoint_mut(at).frame = FrameResidency::Leaving;
        let mut effects = Vec::new();
        self.host_mut(at.nic).machine.on_unload(at.endpoint, &mut effects);
        self.done(at.nic, StepCause::Unload(at.endpoint), effects);
    }

    pub(crate) fn load(&mut self, at: EndpointAddress) {
        self.touch(at.nic);
        self.endpoint_mut(at).frame = FrameResidency::Resident;
        self.host_mut(at.nic).machine.on_load(at.endpoint);
        self.checker.stays(at);
    }
}
