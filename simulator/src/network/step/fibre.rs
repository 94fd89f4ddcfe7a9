//! FRES through an end of a fibre. N-5

use codec::character::Symbol;

use crate::network::Network;
use crate::network::schedule::PortEnd;
use crate::port::{DataSink, PortUnit};

impl Network {
    /// Lets an end of a fibre send the FRES that it has received from its other port. N-5
    pub(super) fn pass_reset(&mut self, index: usize) {
        let Some(PortUnit { port, sink: DataSink::Switch(switch, _), .. }) = self.units.get(index)
        else {
            return;
        };
        let switch = self.switches.get(*switch as usize);
        let other = switch.and_then(|it| it.unit(it.parameters().opposite(port.port)?));
        if let Some(other) = other {
            self.wake(PortEnd::Sender, other as usize);
            let unit = self.units.get_mut(other as usize);
            unit.into_iter().for_each(|unit| unit.sender.queue_symbol(Symbol::ForwardReset));
        }
    }
}
