//! The control program of an interface: takes the host's commands, finds routes, has the engines
//! work, and hands on what comes in. I-2, I-3, I-6

use std::collections::BTreeMap;

use codec::packet::PacketTag;

use crate::interface::dma::DmaEngine;
use crate::interface::queues::{
    CommandOutcome, EndedCommand, HostAcknowledgment, HostBuffer, SendCommand,
};
use crate::interface::receive_engine::{ReceiveEngine, StoredPacket};
use crate::interface::send_engine::{FinishedPacket, PacketOwner, SendEngine};
use crate::interface::traffic_host::HostQueues;
use crate::interface::transfers::{GatherTransfer, ScatterTransfer};
use crate::topology::NodeId;

/// The type of a closed loop's requests: 8 bytes of the asking host's number and the request's,
/// big-endian, then anything. *Chosen*
pub const REQUEST: PacketTag = tag(0x10);

/// The type of the answers, which begin with the same 8 bytes. *Chosen*
pub const ANSWER: PacketTag = tag(0x11);

/// The first tag that no routine takes; those below are all delivered. *Chosen*
pub const UNTAKEN: u8 = 0x40;

/// What takes packets of a type. I-2
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketRoutine {
    /// The host gets them.
    Deliver,
    /// The host gets and answers them.
    Request,
    /// The host gets them, and may ask again.
    Answer,
    /// The firmware gets them that serves the host's endpoints. T
    Transport,
}

/// The routine of a packet's first byte, where no endpoints are served. I-2
#[must_use]
pub const fn routine(first: u8) -> Option<PacketRoutine> {
    if first == REQUEST.value() {
        Some(PacketRoutine::Request)
    } else if first == ANSWER.value() {
        Some(PacketRoutine::Answer)
    } else if first < UNTAKEN {
        Some(PacketRoutine::Deliver)
    } else {
        None
    }
}

#[expect(clippy::panic, reason = "at compile time")]
const fn tag(byte: u8) -> PacketTag {
    match PacketTag::new(byte) {
        Some(tag) => tag,
        None => panic!("a tag has MSB 0"),
    }
}

/// The control program's own state.
#[derive(Clone, Debug)]
pub struct ControlProgram {
    /// Its own table of routes.
    routes: BTreeMap<NodeId, Vec<u8>>,
    /// Bytes of send memory, and how many of them packets take.
    memory: usize,
    used: usize,
    /// What is being scattered: its routine, and the bytes that stay behind.
    arriving: Option<(PacketRoutine, usize)>,
}

impl ControlProgram {
    /// With so many bytes of send memory.
    #[must_use]
    pub fn new(routes: Vec<(NodeId, Vec<u8>)>, memory: usize) -> Self {
        Self { routes: routes.into_iter().collect(), memory, used: 0, arriving: None }
    }

    /// Starts again: its memory is empty. R-3
    pub const fn reset(&mut self) {
        self.used = 0;
        self.arriving = None;
    }

    /// The route there, if it has one.
    #[must_use]
    pub fn route(&self, to: NodeId) -> Option<&[u8]> {
        self.routes.get(&to).map(Vec::as_slice)
    }

    /// The nodes that it has routes to.
    pub fn destinations(&self) -> impl Iterator<Item = &NodeId> {
        self.routes.keys()
    }

    /// What it can begin with the next command, if it can.
    fn command(&self, queues: &HostQueues, dma: &DmaEngine) -> Option<CommandStart<'_>> {
        let command = queues.commands.first().filter(|_| dma.gather.is_none())?;
        let Some(route) = self.routes.get(&command.to) else {
            return Some(CommandStart::Refuse(CommandOutcome::NoRoute));
        };
        let payload: usize = command.gather.iter().map(Vec::len).sum();
        let length = payload + route.len() + 2;
        if length > self.memory {
            return Some(CommandStart::Refuse(CommandOutcome::TooLong));
        }
        (length <= self.memory - self.used).then_some(CommandStart::Gather(route, length))
    }

    /// Whether there are buffers for the packet that came first, and nothing else is being moved.
    fn can_scatter(queues: &HostQueues, dma: &DmaEngine, receiving: &ReceiveEngine) -> bool {
        let room = || queues.posted.iter().map(HostBuffer::room).sum::<usize>();
        let for_host = |first: &&StoredPacket| first.routine != PacketRoutine::Transport;
        let first = receiving.first().filter(for_host).filter(|_| dma.scatter.is_none());
        first.is_some_and(|first| first.bytes.len().saturating_sub(2) <= room())
    }

    /// Whether it has something to begin.
    #[must_use]
    pub fn is_due(&self, queues: &HostQueues, dma: &DmaEngine, receiving: &ReceiveEngine) -> bool {
        self.command(queues, dma).is_some() || Self::can_scatter(queues, dma, receiving)
    }

    /// Takes a command, if there is one and memory for its packet.
    pub fn take_command(&mut self, queues: &mut HostQueues, dma: &mut DmaEngine) {
        let (used, refused) = match self.command(queues, dma) {
            None => return,
            Some(CommandStart::Refuse(outcome)) => (0, Some(outcome)),
            Some(CommandStart::Gather(route, length)) => {
                let route = route.to_vec();
                dma.gather =
                    queues.commands.pop().map(|command| GatherTransfer::new(command, &route));
                (length, None)
            }
        };
        self.used += used;
        if let Some(outcome) = refused
            && let Some(SendCommand { number, interrupt, .. }) = queues.commands.pop()
        {
            acknowledge(
                queues,
                HostAcknowledgment::Ended(EndedCommand { number, interrupt, outcome }),
            );
        }
    }

    /// Has the next good packet moved to the host.
    pub fn hand_on(
        &mut self,
        queues: &mut HostQueues,
        dma: &mut DmaEngine,
        receiving: &mut ReceiveEngine,
    ) {
        if !Self::can_scatter(queues, dma, receiving) {
            return;
        }
        let Some(StoredPacket { routine, bytes }) = receiving.pop() else { return };
        let mut needed = bytes.len().saturating_sub(2);
        self.arriving = Some((routine, bytes.len() - needed));
        let buffers = std::iter::from_fn(|| {
            let buffer = if needed > 0 { queues.posted.pop()? } else { return None };
            needed = needed.saturating_sub(buffer.room());
            Some(buffer)
        });
        dma.scatter = Some(ScatterTransfer::new(bytes, buffers));
    }

    /// What the DMA engine has moved whole goes on to the sending engine, or to the host.
    pub fn collect(
        &mut self,
        queues: &mut HostQueues,
        dma: &mut DmaEngine,
        sending: &mut SendEngine,
        receiving: &mut ReceiveEngine,
    ) {
        if let Some(gather) = dma.gathered() {
            sending.push(gather.finish());
        }
        if let Some(scatter) = dma.scattered()
            && let Some((routine, behind)) = self.arriving.take()
        {
            receiving.free(behind);
            let (buffers, sum) = scatter.finish();
            acknowledge(queues, HostAcknowledgment::Arrived { routine, buffers, sum });
        }
    }

    /// A packet of the host's has left send memory.
    pub fn left(&mut self, left: FinishedPacket, queues: &mut HostQueues) {
        let FinishedPacket { behalf, outcome, bytes } = left;
        match behalf {
            PacketOwner::Host { number, interrupt } => {
                self.used = self.used.saturating_sub(bytes);
                acknowledge(
                    queues,
                    HostAcknowledgment::Ended(EndedCommand { number, interrupt, outcome }),
                );
            }
            // It has memory of its own for what it sends.
            PacketOwner::Firmware => {}
        }
    }
}

/// What a command comes down to.
enum CommandStart<'a> {
    Refuse(CommandOutcome),
    Gather(&'a [u8], usize),
}

/// The host reads the queue in every period in which something is put in, so that there is a place.
fn acknowledge(queues: &mut HostQueues, acknowledgment: HostAcknowledgment) {
    queues.acknowledgments.push(acknowledgment).err();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tag_has_its_routine_or_none() {
        let routines: Vec<Option<PacketRoutine>> = (0..=0xff).map(routine).collect();
        let count = |which| routines.iter().filter(|routine| **routine == which).count();
        assert_eq!(routines[0x10], Some(PacketRoutine::Request));
        assert_eq!(routines[0x11], Some(PacketRoutine::Answer));
        assert_eq!(count(Some(PacketRoutine::Deliver)), 0x40 - 2);
        assert_eq!(count(None), 0x100 - 0x40);
        assert_eq!(routines[0x3f..0x41], [Some(PacketRoutine::Deliver), None]);
    }
}
