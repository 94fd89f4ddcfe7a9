//! FRES through an end of a fibre. N-5

use codec::character::Symbol;

use crate::arena::UnitId;
use crate::network::Network;
use crate::network::schedule::PortEnd;
use crate::port::{DataSink, PortUnit};

impl Network {
    /// Lets an end of a fibre send the FRES that it has received from its other port. N-5
    pub(super) fn pass_reset(&mut self, index: UnitId) {
        let PortUnit { port, sink: DataSink::Switch(switch, _), .. } = &self.units[index] else {
            return;
        };
        let switch = &self.switches[*switch];
        let opposite = switch.parameters().opposite(port.port);
        if let Some(other) = opposite.and_then(|opposite| switch.unit(opposite)) {
            self.wake(PortEnd::Sender, other);
            self.units[other].sender.queue_symbol(Symbol::ForwardReset);
        }
    }
}
