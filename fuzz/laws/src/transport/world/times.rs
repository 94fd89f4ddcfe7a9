//! Time passes, and control programs and endpoints come and go.

use codec::transport::Nic;
use simulator::transport::{Micros, Transport};

use super::super::checker::{EndpointAddress, StepCause};
use super::super::input::RestartClock;
use super::{FrameResidency, TransportWorld, WorldHost};

impl TransportWorld {
    pub(super) fn next(&self) -> Option<(u64, Nic)> {
        let due = |(nic, host): (Nic, &WorldHost)| {
            Some((host.machine.due()?.0.wrapping_sub(host.ahead), nic))
        };
        self.nics().zip(&self.hosts).filter_map(due).min()
    }

    pub(super) fn pass(&mut self, time: u64) {
        let end = self.now + time;
        while let Some((at, nic)) = self.next()
            && at <= end
        {
            self.now = self.now.max(at);
            self.tick(nic);
            let due = self.host(nic).and_then(|host| host.machine.due());
            let clock = self.clock(nic);
            assert!(due.is_none_or(|due| due.0 > clock), "a scan is not due again at once");
        }
        self.now = end;
    }

    pub(super) fn tick(&mut self, nic: Nic) {
        let clock = self.clock(nic);
        let Some(host) = self.hosts.get_mut(usize::from(nic.0)) else { return };
        let is_due = host.machine.due().is_some_and(|due| due.0 <= clock);
        let before = (!is_due).then(|| host.machine.clone());
        host.machine.on_tick(Micros(clock), &mut self.effects);
        if let Some(before) = before {
            let unchanged = before == host.machine && self.effects.is_empty();
            assert!(unchanged, "nothing is done before it is due. T-10");
        }
        self.done(nic, StepCause::Tick);
        if is_due {
            self.ledger.scanned(nic, clock);
        }
    }

    pub(super) fn restart(&mut self, nic: Nic, clock: RestartClock) {
        self.ledger.restart(nic);
        self.touch(nic);
        let (parameters, now) = (self.parameters, self.now);
        let Some(host) = self.host_mut(nic) else { return };
        host.scan = None;
        host.queue.clear();
        host.machine = Transport::new(nic, parameters, host.machine.next_incarnation());
        match clock {
            RestartClock::GoesOn => {}
            RestartClock::Begins => host.ahead = 0_u64.wrapping_sub(now),
        }
        host.endpoints.iter_mut().for_each(|endpoint| endpoint.frame = FrameResidency::Out);
    }

    pub(super) fn unload(&mut self, at: EndpointAddress) {
        let Some(host) = self.hosts.get_mut(usize::from(at.nic.0)) else { return };
        let Some(endpoint) = host.endpoints.get_mut(usize::from(at.endpoint.0)) else { return };
        endpoint.frame = FrameResidency::Leaving;
        host.machine.on_unload(at.endpoint, &mut self.effects);
        self.done(at.nic, StepCause::Unload(at.endpoint));
    }

    pub(super) fn load(&mut self, at: EndpointAddress) {
        self.touch(at.nic);
        let Some(host) = self.hosts.get_mut(usize::from(at.nic.0)) else { return };
        let Some(endpoint) = host.endpoints.get_mut(usize::from(at.endpoint.0)) else { return };
        endpoint.frame = FrameResidency::Resident;
        host.machine.on_load(at.endpoint);
        self.ledger.stays(at);
        self.send_waiting(at);
    }
}
