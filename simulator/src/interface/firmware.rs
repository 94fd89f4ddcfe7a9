//! The firmware that serves a host's endpoints, between the engines: what comes in goes to it, what it
//! sends gets route, tag and CRC byte. T-5, T-7, P-1

use codec::crc::crc8;
use codec::transport::TAG;

use super::receiving::{Incoming, Receiving};
use super::sending::{Behalf, Outgoing, Sending};
use crate::control::{Control, Routine};
use crate::endpoint::{self, Messaging, Told, Transmission};
use crate::topology::NodeId;

/// The firmware, and what of its is in the engines.
#[derive(Clone, Debug)]
pub struct Firmware {
    messaging: Messaging,
    line: Line,
    told: Vec<Told>,
}

/// Whether the sending engine has a packet of the firmware's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Free,
    Busy,
    /// It had, and the firmware does not know yet that it is gone.
    Left,
}

impl Firmware {
    /// With nothing in the engines; the control program runs from `ready` on. I-3
    #[must_use]
    pub const fn new(mut messaging: Messaging, ready: u64) -> Self {
        messaging.boot(ready);
        Self { messaging, line: Line::Free, told: Vec::new() }
    }

    /// Its messages' side.
    #[must_use]
    pub const fn messaging(&self) -> &Messaging {
        &self.messaging
    }

    /// Hands out what has happened since the last time.
    pub fn told(&mut self) -> impl Iterator<Item = Told> {
        self.told.drain(..)
    }

    /// Does what is due by a period while the control program runs.
    pub fn work(&mut self, now: u64, control: &Control, engines: (&mut Sending, &mut Receiving)) {
        let Self { messaging, line, told } = self;
        let (sending, receiving) = engines;
        if *line == Line::Left {
            *line = Line::Free;
            messaging.sent(now);
        }
        messaging.step(now, told);
        let for_it = |first: &Incoming| first.routine == Routine::Transport;
        while messaging.has_room() && receiving.first().is_some_and(for_it) {
            let Some(Incoming { bytes, .. }) = receiving.pop() else { break };
            receiving.free(bytes.len());
            // Tag and CRC byte are the interface's.
            let payload = bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default();
            messaging.hear(now, payload, told);
        }
        messaging.step(now, told);
        // Its ACK has come before it has begun: it need not go. T-5
        if *line == Line::Busy && !messaging.is_leaving() && sending.withdraw() {
            *line = Line::Free;
            messaging.sent(now);
            messaging.step(now, told);
        }
        if *line == Line::Free
            && let Some(outgoing) = messaging.take_outgoing()
        {
            *line = match bytes(control, &outgoing) {
                Some(bytes) => {
                    sending.push(Outgoing { bytes, behalf: Behalf::Firmware });
                    Line::Busy
                }
                // Reading: an answer that no route leads back for is not sent. T-11
                None => Line::Left,
            };
        }
    }

    /// The first byte of its packet leaves the sending engine: the packet as it is on the wire, and
    /// what it is. T-3, T-8
    pub fn leaves(&mut self, now: u64, control: &Control) -> Option<(Vec<u8>, Transmission)> {
        let outgoing = self.messaging.leaves(now)?;
        Some((bytes(control, &outgoing)?, outgoing.what))
    }

    /// When it next has something to do by itself.
    #[must_use]
    pub const fn due(&self) -> Option<u64> {
        match self.line {
            Line::Free | Line::Busy => self.messaging.due(),
            Line::Left => Some(0),
        }
    }

    /// Its packet has left the sending engine, or has been given up there.
    pub const fn left(&mut self) {
        self.line = Line::Left;
    }

    /// The control program is loaded again and runs from `ready` on; the engines are empty. I-3
    pub fn restart(&mut self, now: u64, ready: u64) {
        self.line = Line::Free;
        self.messaging.restart(now, ready, &mut self.told);
    }
}

/// A packet from its route to its CRC byte; none if no route leads there.
fn bytes(control: &Control, outgoing: &endpoint::Outgoing) -> Option<Vec<u8>> {
    let route = control.route(NodeId(outgoing.to.0.into()))?;
    let mut bytes = [route, &[TAG], &outgoing.payload].concat();
    bytes.push(crc8(&bytes));
    Some(bytes)
}
