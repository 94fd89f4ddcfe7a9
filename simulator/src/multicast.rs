//! Cut-through multicast: a packet on its way from one input of a switch to several outputs. S-9

use std::collections::VecDeque;

use codec::crc::Crc8;
use codec::route::PortId;

use crate::extension::MulticastItem;
use crate::receiver::PortReceiver;
use crate::source_item::{AcceptMode, SourceItem};
use crate::tagged_char::{PacketId, TaggedChar};
use crate::truth::{RuleId, TraceContext, TruthEventKind};

/// A packet on its way from one input to several outputs. S-9
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticastPacket {
    phase: MulticastPhase,
    /// Of all that came in. P-5
    computed: Crc8,
    /// The packet, until its first byte is in its place.
    head: Option<PacketId>,
    /// One for each output that is still served, the lowest first.
    copies: Vec<OutputCopy>,
}

/// How far a multicast has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MulticastPhase {
    /// The first so many outputs are its own; it asks for the next.
    Waiting(usize),
    /// Its bytes go out.
    Passing,
    /// The framing mark has been taken from the slack buffer.
    Ended,
}

/// What goes out of one output.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OutputCopy {
    output: PortId,
    /// In place of the byte that was used, until the next byte is there.
    header: Vec<u8>,
    /// Of all that went out. P-5
    forwarded: Crc8,
    /// What is in its place, to go out next: empty when it may take part in the next byte.
    due: VecDeque<SourceItem>,
}

/// What comes of a period of a multicast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MulticastOutcome {
    /// It goes on.
    UnderWay,
    /// Every output has ended it.
    Over,
    /// No output is left, but some of the packet is.
    Abandoned,
}

impl MulticastPacket {
    /// A packet for the outputs of some items, each output once and the lowest first.
    ///
    /// Outputs are asked for one after the other, each when the one before it has been granted. All
    /// multicasts of a switch do so in the same order, so that none waits for another in a circle.
    #[must_use]
    pub fn new<'a>(items: impl Iterator<Item = &'a MulticastItem>) -> Self {
        let copies = items.map(|item| OutputCopy {
            output: item.output,
            header: item.header.clone(),
            forwarded: Crc8::NEW,
            due: VecDeque::new(),
        });
        let copies = copies.collect();
        Self { phase: MulticastPhase::Waiting(0), computed: Crc8::NEW, head: None, copies }
    }

    /// The output that it asks for.
    #[must_use]
    pub fn request(&self) -> Option<PortId> {
        match self.phase {
            MulticastPhase::Waiting(granted) => self.copies.get(granted).map(|copy| copy.output),
            MulticastPhase::Passing | MulticastPhase::Ended => None,
        }
    }

    /// It has got the output that it asked for.
    pub const fn granted(&mut self) {
        if let MulticastPhase::Waiting(granted) = &mut self.phase {
            *granted += 1;
        }
    }

    /// It has all outputs: it starts with the byte that the switch used, and replaces. P-3
    pub fn begin(&mut self, route: u8, head: Option<PacketId>) {
        (self.phase, self.head) = (MulticastPhase::Passing, head);
        self.computed = self.computed.push(route);
    }

    /// The outputs that are its own, the lowest first.
    pub fn outputs(&self) -> impl Iterator<Item = PortId> {
        let granted = match self.phase {
            MulticastPhase::Waiting(granted) => granted,
            MulticastPhase::Passing | MulticastPhase::Ended => self.copies.len(),
        };
        self.copies.iter().take(granted).map(|copy| copy.output)
    }

    /// The packet, if none of it has gone out.
    #[must_use]
    pub fn head(&self) -> Option<PacketId> {
        self.head.or_else(|| self.copies.iter().find_map(OutputCopy::head))
    }

    /// An output is lost: the others go on.
    pub fn lose(&mut self, output: PortId, telling: &mut TraceContext<'_>) {
        for copy in self.copies.extract_if(.., |copy| copy.output == output) {
            if let Some(id) = copy.head() {
                telling.emit(Some(id), || TruthEventKind::Dropped(RuleId("S-1")));
            }
        }
    }

    /// A period passes: when every copy has sent its byte, the next one is taken from the slack
    /// buffer, and a copy put in every place. As in [`crate::cut_through::CutThrough::next_item`], it must be
    /// known what follows it. P-5
    pub fn step(
        &mut self,
        buffer: &mut PortReceiver,
        telling: &mut TraceContext<'_>,
    ) -> MulticastOutcome {
        if self.copies.is_empty() {
            if self.phase == MulticastPhase::Ended {
                return MulticastOutcome::Over;
            }
            if let Some(id) = self.head.take() {
                telling.emit(Some(id), || TruthEventKind::Dropped(RuleId("S-1")));
            }
            return MulticastOutcome::Abandoned;
        }
        if self.phase == MulticastPhase::Passing
            && self.copies.iter().all(|copy| copy.due.is_empty())
        {
            self.fill_places(buffer, telling);
        }
        MulticastOutcome::UnderWay
    }

    fn fill_places(&mut self, buffer: &mut PortReceiver, telling: &mut TraceContext<'_>) {
        let Some(front) = buffer.peek(0) else { return };
        if !front.is_data() {
            buffer.take();
            self.phase = MulticastPhase::Ended;
            self.copies.iter_mut().for_each(|copy| copy.due.push_back(SourceItem::Mark));
            if let Some(id) = self.head.take() {
                telling.emit(Some(id), || TruthEventKind::Dropped(RuleId("P-9")));
            }
            return;
        }
        let Some(next) = buffer.peek(1) else { return };
        let inner = buffer.take().and_then(|(_, head)| head);
        let mut head = match (self.head.take(), inner) {
            (Some(id), Some(inner)) => {
                telling.emit(Some(inner), || TruthEventKind::Merged);
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

    /// What an output has to send. One that gives up the packet drops out of it.
    pub fn next_item(&mut self, output: PortId, appetite: AcceptMode) -> SourceItem {
        let Some(place) = self.copies.iter().position(|copy| copy.output == output) else {
            return SourceItem::Nothing;
        };
        let supply = match appetite {
            AcceptMode::Discard => SourceItem::Mark,
            AcceptMode::Nothing => SourceItem::Nothing,
            AcceptMode::All | AcceptMode::Framing => {
                let due = self.copies.get_mut(place).map(|copy| &mut copy.due);
                due.and_then(|due| {
                    due.pop_front_if(|next| {
                        appetite == AcceptMode::All || *next == SourceItem::Mark
                    })
                })
                .unwrap_or(SourceItem::Nothing)
            }
        };
        if supply == SourceItem::Mark {
            self.copies.remove(place);
        }
        supply
    }
}

/// A byte for all copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyByte {
    /// One before the last.
    Inner(u8),
    /// The last: what came in place of the CRC byte had this syndrome. P-5
    Crc(u8),
}

impl OutputCopy {
    /// Puts in its place what goes out next: first the header. The packet begins with the first of
    /// these bytes, if it is one.
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
