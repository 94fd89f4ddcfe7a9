//! Effects of a received character, or of its absence, outside the receiver.

use crate::arena::{HostId, PartArena, UnitId};
use crate::link::receiver::PortRequest;
use crate::network::{HostUnit, Network, TakenChannel};
use crate::node::virtual_channel;
use crate::port::{DataSink, PortUnit, PowerState};
use crate::switch::SwitchArena;
use crate::truth::{RuleId, TraceContext, TruthLog};

impl Network {
    /// Acknowledges the last character of a handshake cable, once there is room for the next. B-1
    #[inline]
    pub(super) fn acknowledge(&mut self, index: UnitId) {
        let unit = &mut self.units[index];
        if let Some(end) = &mut unit.handshake
            && unit.receiver.has_room()
            && let Some(held) = end.acknowledge(self.now)
        {
            let peer = unit.peer;
            self.units[peer].handshake.iter_mut().for_each(|far| far.acknowledged(held));
        }
    }
}

/// Counts a period of a port that receives at another rate than its own; returns true if its sender
/// may be concerned. F-7, W-6
pub(super) fn tick_own_time(unit: &mut PortUnit, now: u64, log: &mut TruthLog) -> bool {
    if let (Some(slot), PowerState::On) = (unit.clock.send_slot(now), unit.power) {
        let trace = &mut TraceContext { now, slot, place: unit.port, log };
        let request = unit.receiver.tick(trace);
        unit.handle(request, trace);
        return request != PortRequest::Nothing || !unit.receiver.is_calm();
    }
    false
}

/// Resets the host or the switch input after FRES. R-3
pub(super) fn reset_sink(
    unit: &mut PortUnit,
    switches: &mut SwitchArena,
    hosts: &mut PartArena<HostId, HostUnit>,
    trace: &mut TraceContext<'_>,
) {
    match unit.sink {
        DataSink::Switch(switch, _) => switches[switch].catch_up(trace.now),
        DataSink::Host(host) => {
            let (host, own) = (&mut hosts[host], virtual_channel(unit.port.port));
            match host.taken {
                // The packet of another virtual channel goes on.
                TakenChannel::Inside(other) if other != own => {
                    host.interface.restart_program(trace.now, trace.log);
                }
                TakenChannel::Inside(_) | TakenChannel::Between(_) => {
                    host.taken = TakenChannel::Between(own);
                    host.interface.reset(trace.now, trace.log);
                }
            }
        }
    }
    if let Some(id) = unit.reset_input(switches) {
        trace.drop_packet(Some(id), RuleId("R-3"));
    }
}
