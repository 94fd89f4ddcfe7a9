//! Cut-through multicast: a packet on its way from one input of a switch to several outputs. S-9

use std::collections::VecDeque;

use codec::crc::Crc8;
use codec::multicast::MulticastItem;
use codec::route::PortId;

use crate::link::receiver::PortReceiver;
use crate::link::source_item::{AcceptMode, SourceItem};
use crate::link::tagged_char::{PacketId, TaggedChar};
use crate::truth::{RuleId, TraceContext, TruthEventKind};

/// A packet on its way from one input to several outputs. S-9
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MulticastPacket {
    phase: MulticastPhase,
    /// CRC of the bytes received. P-5
    computed: Crc8,
    /// The packet, until its first byte is queued.
    head: Option<PacketId>,
    /// One per output still served, in ascending order.
    copies: Vec<OutputCopy>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MulticastPhase {
    /// Number of outputs granted; the next one is requested.
    Waiting(usize),
    Passing,
    /// The framing mark has been taken from the slack buffer.
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OutputCopy {
    output: PortId,
    /// Replaces the byte that was used; sent before the next byte.
    header: Vec<u8>,
    /// CRC of the bytes sent. P-5
    forwarded: Crc8,
    /// Items to send next; a new byte is taken only when all copies have sent theirs.
    due: VecDeque<SourceItem>,
}

/// State of a multicast after a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MulticastOutcome {
    UnderWay,
    /// Every output has ended it.
    Over,
    /// No output is left, but a part of the packet is.
    Abandoned,
}

impl MulticastPacket {
    /// A packet for the outputs of some items, in ascending order without repeats.
    ///
    /// Outputs are requested one after the other, each once the one before is granted. All
    /// multicasts of a switch use the same order, so that they cannot deadlock.
    pub(crate) fn new<'a>(items: impl Iterator<Item = &'a MulticastItem>) -> Self {
        let copies = items.map(|item| OutputCopy {
            output: item.output,
            header: item.header.clone(),
            forwarded: Crc8::NEW,
            due: VecDeque::new(),
        });
        let copies = copies.collect();
        Self { phase: MulticastPhase::Waiting(0), computed: Crc8::NEW, head: None, copies }
    }

    /// The output that it requests.
    pub(crate) fn request(&self) -> Option<PortId> {
        match self.phase {
            MulticastPhase::Waiting(granted) => self.copies.get(granted).map(|copy| copy.output),
            MulticastPhase::Passing | MulticastPhase::Ended => None,
        }
    }

    pub(crate) const fn granted(&mut self) {
        if let MulticastPhase::Waiting(granted) = &mut self.phase {
            *granted += 1;
        }
    }

    /// Starts, with all outputs granted, with the byte that the switch used and replaces. P-3
    pub(crate) fn begin(&mut self, route: u8, head: Option<PacketId>) {
        (self.phase, self.head) = (MulticastPhase::Passing, head);
        self.computed = self.computed.push(route);
    }

    /// The outputs granted, in ascending order.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = PortId> {
        let granted = match self.phase {
            MulticastPhase::Waiting(granted) => granted,
            MulticastPhase::Passing | MulticastPhase::Ended => self.copies.len(),
        };
        self.copies.iter().take(granted).map(|copy| copy.output)
    }

    /// The packet, if none of it has been sent.
    pub(crate) fn head(&self) -> Option<PacketId> {
        self.head.or_else(|| self.copies.iter().find_map(OutputCopy::head))
    }

    /// Removes an output that is lost; the others go on.
    pub(crate) fn lose(&mut self, output: PortId, trace: &mut TraceContext<'_>) {
        for copy in self.copies.extract_if(.., |copy| copy.output == output) {
            if let Some(id) = copy.head() {
                trace.drop_packet(Some(id), RuleId("S-1"));
            }
        }
    }

    /// Takes the next byte from the slack buffer once every copy has sent its byte, and queues it
    /// for each. As in [`crate::switch::cut_through::CutThrough::next_item`], the character after it must
    /// be known. P-5
    pub(crate) fn step(
        &mut self,
        buffer: &mut PortReceiver,
        trace: &mut TraceContext<'_>,
    ) -> MulticastOutcome {
        if self.copies.is_empty() {
            if self.phase == MulticastPhase::Ended {
                return MulticastOutcome::Over;
            }
            if let Some(id) = self.head.take() {
                trace.drop_packet(Some(id), RuleId("S-1"));
            }
            return MulticastOutcome::Abandoned;
        }
        if self.phase == MulticastPhase::Passing
            && self.copies.iter().all(|copy| copy.due.is_empty())
        {
            self.fill_places(buffer, trace);
        }
        MulticastOutcome::UnderWay
    }

    fn fill_places(&mut self, buffer: &mut PortReceiver, trace: &mut TraceContext<'_>) {
        let Some(front) = buffer.peek(0) else { return };
        if !front.is_data() {
            buffer.take();
            self.phase = MulticastPhase::Ended;
            self.copies.iter_mut().for_each(|copy| copy.due.push_back(SourceItem::Mark));
            if let Some(id) = self.head.take() {
                trace.drop_packet(Some(id), RuleId("P-9"));
            }
            return;
        }
        let Some(next) = buffer.peek(1) else { return };
        let inner = buffer.take().and_then(|(_, head)| head);
        let mut head = match (self.head.take(), inner) {
            (Some(id), Some(inner)) => {
                trace.emit(Some(inner), || TruthEventKind::Merged);
                Some(id)
            }
            (head, inner) => head.or(inner),
        };
        let syndrome = self.computed.value() ^ front.low();
        self.computed = self.computed.push(front.low());
        for copy in &mut self.copies {
            let byte =
                if next.is_data() { CopyByte::Inner(front.low()) } else { CopyByte::Crc(syndrome) };
            copy.put(byte, head.take());
        }
    }

    /// The next item for an output. An output that gives up the packet is removed.
    pub(crate) fn next_item(&mut self, output: PortId, mode: AcceptMode) -> SourceItem {
        let Some(place) = self.copies.iter().position(|copy| copy.output == output) else {
            return SourceItem::Nothing;
        };
        let item = match mode {
            AcceptMode::Discard => SourceItem::Mark,
            AcceptMode::Nothing => SourceItem::Nothing,
            AcceptMode::All | AcceptMode::Framing => {
                let due = self.copies.get_mut(place).map(|copy| &mut copy.due);
                due.and_then(|due| {
                    due.pop_front_if(|next| mode == AcceptMode::All || *next == SourceItem::Mark)
                })
                .unwrap_or(SourceItem::Nothing)
            }
        };
        if item == SourceItem::Mark {
            self.copies.remove(place);
        }
        item
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyByte {
    /// A byte before the last.
    Inner(u8),
    /// The last one, with the syndrome of the CRC byte received. P-5
    Crc(u8),
}

impl OutputCopy {
    /// Queues a byte, after the header. The packet begins with the first of them.
    fn put(&mut self, byte: CopyByte, head: Option<PacketId>) {
        for byte in std::mem::take(&mut self.header) {
            self.push(byte);
        }
        match byte {
            CopyByte::Inner(byte) => self.push(byte),
            CopyByte::Crc(syndrome) => self.push(self.forwarded.value() ^ syndrome),
        }
        if let (Some(SourceItem::Data(cell, packet)), Some(id)) = (self.due.front_mut(), head) {
            (*cell, *packet) = (cell.as_head(), Some(id));
        }
    }

    fn push(&mut self, byte: u8) {
        self.forwarded = self.forwarded.push(byte);
        self.due.push_back(SourceItem::Data(TaggedChar::data(byte), None));
    }

    fn head(&self) -> Option<PacketId> {
        match self.due.front() {
            Some(SourceItem::Data(_, head)) => *head,
            Some(SourceItem::Nothing | SourceItem::Mark | SourceItem::Symbol(_)) | None => None,
        }
    }
}
