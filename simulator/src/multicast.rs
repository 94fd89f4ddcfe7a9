//! Cut-through multicast: a packet on its way from one input of a switch to several outputs. S-9

use std::collections::VecDeque;

use codec::crc::Crc8;
use codec::route::PortId;

use crate::cell::{Cell, PacketId};
use crate::extension::Item;
use crate::receiver::Receiver;
use crate::supply::{Appetite, Supply};
use crate::truth::{Rule, Telling, What};

/// A packet on its way from one input to several outputs. S-9
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multicast {
    phase: Phase,
    /// Of all that came in. P-5
    computed: Crc8,
    /// The packet, until its first byte is in its place.
    head: Option<PacketId>,
    /// One for each output that is still served, the lowest first.
    copies: Vec<Copy>,
}

/// How far a multicast has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first so many outputs are its own; it asks for the next.
    Waiting(usize),
    /// Its bytes go out.
    Passing,
    /// The framing mark has been taken from the slack buffer.
    Ended,
}

/// What goes out of one output.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Copy {
    output: PortId,
    /// In place of the byte that was used, until the next byte is there.
    header: Vec<u8>,
    /// Of all that went out. P-5
    forwarded: Crc8,
    /// What is in its place, to go out next: empty when it may take part in the next byte.
    due: VecDeque<Supply>,
}

/// What comes of a period of a multicast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on.
    UnderWay,
    /// Every output has ended it.
    Over,
    /// No output is left, but some of the packet is.
    Abandoned,
}

impl Multicast {
    /// A packet for the outputs of some items, each output once and the lowest first.
    ///
    /// Outputs are asked for one after the other, each when the one before it has been granted. All
    /// multicasts of a switch do so in the same order, so that none waits for another in a circle.
    #[must_use]
    pub fn new<'a>(items: impl Iterator<Item = &'a Item>) -> Self {
        let copies = items.map(|item| Copy {
            output: item.output,
            header: item.header.clone(),
            forwarded: Crc8::NEW,
            due: VecDeque::new(),
        });
        let copies = copies.collect();
        Self { phase: Phase::Waiting(0), computed: Crc8::NEW, head: None, copies }
    }

    /// The output that it asks for.
    #[must_use]
    pub fn request(&self) -> Option<PortId> {
        match self.phase {
            Phase::Waiting(granted) => self.copies.get(granted).map(|copy| copy.output),
            Phase::Passing | Phase::Ended => None,
        }
    }

    /// It has got the output that it asked for.
    pub const fn granted(&mut self) {
        if let Phase::Waiting(granted) = &mut self.phase {
            *granted += 1;
        }
    }

    /// It has all outputs: it starts with the byte that the switch used, and replaces. P-3
    pub fn begin(&mut self, route: u8, head: Option<PacketId>) {
        (self.phase, self.head) = (Phase::Passing, head);
        self.computed = self.computed.push(route);
    }

    /// The outputs that are its own, the lowest first.
    pub fn outputs(&self) -> impl Iterator<Item = PortId> {
        let granted = match self.phase {
            Phase::Waiting(granted) => granted,
            Phase::Passing | Phase::Ended => self.copies.len(),
        };
        self.copies.iter().take(granted).map(|copy| copy.output)
    }

    /// The packet, if none of it has gone out.
    #[must_use]
    pub fn head(&self) -> Option<PacketId> {
        self.head.or_else(|| self.copies.iter().find_map(Copy::head))
    }

    /// An output is lost: the others go on.
    pub fn lose(&mut self, output: PortId, telling: &mut Telling<'_>) {
        for copy in self.copies.extract_if(.., |copy| copy.output == output) {
            if let Some(id) = copy.head() {
                telling.tell(Some(id), || What::Dropped(Rule("S-1")));
            }
        }
    }

    /// A period passes: when every copy has sent its byte, the next one is taken from the slack
    /// buffer, and a copy put in every place. As in [`crate::transit::Transit::supply`], it must be
    /// known what follows it. P-5
    pub fn pass(&mut self, buffer: &mut Receiver, telling: &mut Telling<'_>) -> Outcome {
        if self.copies.is_empty() {
            if self.phase == Phase::Ended {
                return Outcome::Over;
            }
            if let Some(id) = self.head.take() {
                telling.tell(Some(id), || What::Dropped(Rule("S-1")));
            }
            return Outcome::Abandoned;
        }
        if self.phase == Phase::Passing && self.copies.iter().all(|copy| copy.due.is_empty()) {
            self.fill_places(buffer, telling);
        }
        Outcome::UnderWay
    }

    fn fill_places(&mut self, buffer: &mut Receiver, telling: &mut Telling<'_>) {
        let Some(front) = buffer.peek(0) else { return };
        if !front.is_data() {
            buffer.take();
            self.phase = Phase::Ended;
            self.copies.iter_mut().for_each(|copy| copy.due.push_back(Supply::Mark));
            if let Some(id) = self.head.take() {
                telling.tell(Some(id), || What::Dropped(Rule("P-9")));
            }
            return;
        }
        let Some(next) = buffer.peek(1) else { return };
        let inner = buffer.take().and_then(|(_, head)| head);
        let mut head = match (self.head.take(), inner) {
            (Some(id), Some(inner)) => {
                telling.tell(Some(inner), || What::Merged);
                Some(id)
            }
            (head, inner) => head.or(inner),
        };
        let syndrome = self.computed.value() ^ front.low();
        self.computed = self.computed.push(front.low());
        for copy in &mut self.copies {
            let byte = if next.is_data() { Byte::Inner(front.low()) } else { Byte::Crc(syndrome) };
            copy.put(byte, head.take());
        }
    }

    /// What an output has to send. One that gives up the packet drops out of it.
    pub fn supply(&mut self, output: PortId, appetite: Appetite) -> Supply {
        let Some(place) = self.copies.iter().position(|copy| copy.output == output) else {
            return Supply::Nothing;
        };
        let supply = match appetite {
            Appetite::Discard => Supply::Mark,
            Appetite::Nothing => Supply::Nothing,
            Appetite::All | Appetite::Framing => {
                let due = self.copies.get_mut(place).map(|copy| &mut copy.due);
                due.and_then(|due| {
                    due.pop_front_if(|next| appetite == Appetite::All || *next == Supply::Mark)
                })
                .unwrap_or(Supply::Nothing)
            }
        };
        if supply == Supply::Mark {
            self.copies.remove(place);
        }
        supply
    }
}

/// A byte for all copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Byte {
    /// One before the last.
    Inner(u8),
    /// The last: what came in place of the CRC byte had this syndrome. P-5
    Crc(u8),
}

impl Copy {
    /// Puts in its place what goes out next: first the header. The packet begins with the first of
    /// these bytes, if it is one.
    fn put(&mut self, byte: Byte, head: Option<PacketId>) {
        for byte in std::mem::take(&mut self.header) {
            self.push(byte);
        }
        match byte {
            Byte::Inner(byte) => self.push(byte),
            Byte::Crc(syndrome) => self.push(self.forwarded.value() ^ syndrome),
        }
        if let (Some(Supply::Data(cell, packet)), Some(id)) = (self.due.front_mut(), head) {
            (*cell, *packet) = (cell.as_head(), Some(id));
        }
    }

    fn push(&mut self, byte: u8) {
        self.forwarded = self.forwarded.push(byte);
        self.due.push_back(Supply::Data(Cell::data(byte), None));
    }

    fn head(&self) -> Option<PacketId> {
        match self.due.front() {
            Some(Supply::Data(_, head)) => *head,
            Some(Supply::Nothing | Supply::Mark | Supply::Symbol(_)) | None => None,
        }
    }
}
