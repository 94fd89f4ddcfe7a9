//! Reset, restart and power of an interface. I-3, R-3

use super::queues::HostQueues;
use super::send_engine::PacketOwner;
use super::{HostInterface, InterfaceState};
use crate::packet_types::PacketRoutine;
use crate::truth::{InterruptCause, RuleId, TruthLog};

/// Packets lost without power are lost as on a silent link. F-7
const POWER: RuleId = RuleId("F-7");

impl HostInterface {
    /// Handles FRES: interrupts the host and restarts the control program. A packet half received
    /// is lost; one half sent ends without its rest. Reading: whole packets in memory and the
    /// queues stay, but the protocol of endpoints starts anew. R-3
    pub(crate) fn reset(&mut self, now: u64, log: &mut TruthLog) {
        if self.state != InterfaceState::Off {
            self.receiving.break_off(now, RuleId("R-3"), log);
            self.restart_program(now, log);
        }
    }

    /// Restarts the control program at its initialisation code, and interrupts the host. R-3
    pub(crate) fn restart_program(&mut self, now: u64, log: &mut TruthLog) {
        let ready = match self.state {
            InterfaceState::Off => return,
            InterfaceState::Loading { until } => until.max(now),
            InterfaceState::Running => now,
        };
        self.host.interrupt(InterruptCause::Restart);
        self.control.processor.restart();
        let left = self.sending.break_off(now, RuleId("R-3"), log);
        self.left(left);
        if let Some(firmware) = &mut self.firmware {
            self.receiving.forget(PacketRoutine::Transport);
            self.sending.forget(PacketOwner::Firmware);
            firmware.restart(now, ready);
        }
        self.receiving.forget(PacketRoutine::Mapping);
        self.sending.forget(PacketOwner::Mapping);
        self.restart_mapping(ready);
        self.emit_events(now, log);
    }

    /// Loads the control program again, with empty memory. I-3
    pub(crate) fn reload(&mut self, now: u64, log: &mut TruthLog) {
        if self.state != InterfaceState::Off {
            self.receiving.reset(now, RuleId("R-3"), log);
            self.sending.reset(now, RuleId("R-3"), log);
            self.load(now);
        }
    }

    /// Stops sending and taking.
    pub(crate) fn power_off(&mut self, now: u64, log: &mut TruthLog) {
        self.receiving.reset(now, POWER, log);
        self.sending.power_off(now, POWER, log);
        self.forget(now, u64::MAX);
        self.state = InterfaceState::Off;
    }

    /// Restarts the host, and loads the control program. I-3
    pub(crate) fn power_on(&mut self, now: u64) {
        if self.state == InterfaceState::Off {
            self.host.power_on(now);
            self.load(now);
        }
    }

    fn load(&mut self, now: u64) {
        self.statistics.reloads += 1;
        let until = now.saturating_add(self.parameters.later_boot());
        self.forget(now, until);
        self.state = InterfaceState::Loading { until };
    }

    /// Clears the interface's memory and queues; the control program runs from `ready` on. Reading:
    /// a host's own memory, and the endpoints in it, survive even a loss of power.
    fn forget(&mut self, now: u64, ready: u64) {
        self.queues = HostQueues::new(self.parameters.commands, self.receiving.memory());
        self.dma.reset();
        self.control.reset();
        self.host.reset(now);
        if let Some(firmware) = &mut self.firmware {
            firmware.restart(now, ready);
        }
        self.router.iter_mut().for_each(|router| router.reset());
        self.restart_mapping(ready);
        self.due = 0;
    }

    /// The control program has lost its routes, and learns them anew.
    fn restart_mapping(&mut self, ready: u64) {
        if let Some(mapping) = &mut self.mapping {
            mapping.restart(ready);
            self.control.await_routes();
        }
    }
}
