//! Division of an interface's memory among the control program, its queues and all buffers, and the
//! highest use of the buffers. I-5

use codec::transport::MEDIUM_MAX;
use serde::Serialize;

use super::{HostInterface, InterfaceParameters};
use crate::messaging::MessagingPlan;
use crate::truth::{MemoryMark, TruthEventKind, TruthLog};

/// Bytes of memory: 32 K words of 32 bits. I-5
pub(crate) const MEMORY: u64 = 128 << 10;
/// Bytes of the control program with its tables. *Chosen*
pub(crate) const PROGRAM: u32 = 16 << 10;
/// Bytes of a command in its queue, and of its acknowledgment. *Chosen*
const COMMAND: u64 = 32 + 16;
/// Bytes of a send buffer for messages: a packet with the longest payload, and its headers. *Chosen*
const STAGED: u64 = MEDIUM_MAX as u64 + 256;
/// Maximum of a buffer that takes what the others leave.
const BUFFER_MAX: u64 = 1 << 30;

/// Division of an interface's memory, in bytes. I-5
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MemoryLayout {
    /// The control program, with its tables.
    pub program: u64,
    /// Commands of the host and their acknowledgments. I-6
    pub queues: u64,
    /// Frames of resident endpoints. T-15
    pub frames: u64,
    /// Send buffers for medium and bulk messages.
    pub staging: u64,
    /// Packets to send.
    pub send: u64,
    /// Received packets.
    pub receive: u64,
}

/// Memory of an interface and the highest use of its buffers. I-5
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryUse {
    /// Division of the memory.
    #[serde(flatten)]
    pub layout: MemoryLayout,
    /// Most bytes of `send` in use at a time.
    pub send_max: u64,
    /// Most bytes of `receive` in use at a time.
    pub receive_max: u64,
}

impl MemoryLayout {
    /// Memory of an interface; a buffer without a size of its own takes an equal share of what the
    /// other parts leave.
    pub fn of(parameters: &InterfaceParameters, endpoints: Option<&MessagingPlan>) -> Self {
        let InterfaceParameters { memory, program, commands, .. } = *parameters;
        let given = [parameters.send_memory, parameters.receive_memory].map(|it| it.map(u64::from));
        let of_endpoints = |bytes: fn(&MessagingPlan) -> u64| endpoints.map_or(0, bytes);
        let layout = Self {
            program: program.into(),
            queues: u64::from(commands) * COMMAND,
            frames: of_endpoints(|plan| {
                u64::from(plan.parameters.frames) * u64::from(plan.costs.page)
            }),
            staging: of_endpoints(|plan| u64::from(plan.costs.send_buffers) * STAGED),
            send: given[0].unwrap_or(0),
            receive: given[1].unwrap_or(0),
        };
        let open = given.iter().filter(|given| given.is_none()).count() as u64;
        let left = memory.saturating_sub(layout.sum()).checked_div(open).unwrap_or(0);
        let [send, receive] = given.map(|given| given.unwrap_or(left.min(BUFFER_MAX)));
        Self { send, receive, ..layout }
    }

    /// Bytes of all parts.
    pub fn sum(&self) -> u64 {
        self.parts().iter().map(|(_, bytes)| bytes).sum()
    }

    /// Names and sizes of the parts.
    pub const fn parts(&self) -> [(&'static str, u64); 6] {
        let Self { program, queues, frames, staging, send, receive } = *self;
        [
            ("program", program),
            ("queues", queues),
            ("frames", frames),
            ("staging", staging),
            ("send", send),
            ("receive", receive),
        ]
    }
}

impl MemoryUse {
    pub(super) fn new(layout: MemoryLayout) -> Self {
        Self { layout, ..Self::default() }
    }

    /// Records the use of both buffers; returns those that have reached another quarter.
    pub(super) fn record(&mut self, send: u64, receive: u64) -> impl Iterator<Item = MemoryMark> {
        let Self { layout, send_max, receive_max } = self;
        let marks = [
            raise(send_max, send, ("send", layout.send)),
            raise(receive_max, receive, ("receive", layout.receive)),
        ];
        marks.into_iter().flatten()
    }
}

impl HostInterface {
    /// Records the use of its memory.
    pub(super) fn record_memory(&mut self, now: u64, log: &mut TruthLog) {
        let (send, receive) = (self.control.used() as u64, self.receiving.used() as u64);
        for mark in self.statistics.memory.record(send, receive) {
            log.emit(now, self.place, None, || TruthEventKind::MemoryFilled(mark));
        }
    }
}

fn raise(most: &mut u64, used: u64, (buffer, size): (&'static str, u64)) -> Option<MemoryMark> {
    if used <= *most {
        return None;
    }
    let quarter = |bytes: u64| bytes.saturating_mul(4).checked_div(size).unwrap_or(0);
    let before = quarter(std::mem::replace(most, used));
    (quarter(used) > before).then_some(MemoryMark { buffer, used, size })
}

#[cfg(test)]
mod tests {
    use codec::transport::Nic;

    use super::*;
    use crate::messaging::{EndpointParameters, MessageCosts};
    use crate::transport::TransportParameters;

    #[test]
    fn a_buffer_without_a_size_takes_what_is_left() {
        let defaults = InterfaceParameters::default();
        let layout = MemoryLayout::of(&defaults, None);
        // 131 072 − 16 384 − 64 · 48 = 111 616.
        assert_eq!((layout.send, layout.receive, layout.sum()), (55_808, 55_808, 131_072));
        let given = InterfaceParameters { send_memory: Some(100_000), ..defaults };
        assert_eq!(MemoryLayout::of(&given, None).receive, 11_616);
        let given = InterfaceParameters { send_memory: Some(120_000), ..defaults };
        let layout = MemoryLayout::of(&given, None);
        assert_eq!((layout.receive, layout.sum()), (0, 139_456));
    }

    /// T-15: a page for each frame; a send buffer has 8192 bytes of payload and 256 for headers.
    #[test]
    fn endpoints_take_their_frames_and_send_buffers() {
        let plan = MessagingPlan {
            nic: Nic(0),
            transport: TransportParameters::default(),
            parameters: EndpointParameters { frames: 3, ..EndpointParameters::default() },
            costs: MessageCosts { page: 8192, send_buffers: 5, ..MessageCosts::default() },
            endpoints: Vec::new(),
            streams: Vec::new(),
            names: Vec::new(),
        };
        let layout = MemoryLayout::of(&InterfaceParameters::default(), Some(&plan));
        assert_eq!((layout.frames, layout.staging), (24_576, 42_240));
        // (111 616 − 24 576 − 42 240) / 2
        assert_eq!((layout.send, layout.receive), (22_400, 22_400));
    }

    #[test]
    fn a_mark_is_told_once_for_each_quarter() {
        let layout = MemoryLayout { send: 100, ..MemoryLayout::default() };
        let mut memory = MemoryUse::new(layout);
        let found = [24, 25, 49, 80, 25, 99, 100, 100].map(|used| memory.record(used, 0).count());
        assert_eq!(found, [0, 1, 0, 1, 0, 0, 1, 0]);
        assert_eq!((memory.send_max, memory.receive_max), (100, 0));
    }
}
