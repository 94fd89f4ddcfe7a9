//! What a sender knows of a logical channel, and what it makes of an answer and of time. T-3, T-8, T-10..T-13

use codec::transport::{Header, Incarnation, LogicalChannel, Nic, Reason, Seq, Sync};

use super::residents::Stage;
use super::rows::RowSet;
use super::{FIRST, Letter, Micros, TransportParameters};

/// An entry of the send table. T-3
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum SendEntry<M> {
    /// Free and uninitialised: the next packet brings SYNC and a new incarnation. T-11
    #[default]
    Closed,
    /// Free: the next packet has this label.
    Open(Label),
    /// Stop-and-wait: one packet is unacknowledged, and no other may go. T-2
    Busy(Flight<M>),
}

/// What tells a packet from the others of its logical channel. T-4, T-12
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Label {
    /// Its number.
    pub seq: Seq,
    /// Which use of the channel it belongs to.
    pub incarnation: Incarnation,
}

/// A message that is not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flight<M> {
    /// The message and whose it is.
    pub letter: Letter<M>,
    /// When it was transmitted last. T-3
    pub sent: Micros,
    /// What has become of that transmission.
    pub phase: Phase,
}

/// What has become of a message's latest transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// It has no answer.
    Underway {
        /// Its label, which each transmission has.
        label: Label,
        /// SYNC is repeated with its incarnation until it is acknowledged. T-12
        sync: Sync,
        /// When the first one went out that has no answer: since then there is no sign of life. T-11
        silent: Micros,
    },
    /// It was refused, and goes out again at a scan. T-10
    Refused {
        /// The label that it keeps.
        label: Label,
        /// The same.
        sync: Sync,
    },
    /// It was refused with reason 4: it goes out again with SYNC and a new incarnation. T-12
    Closed,
}

/// The send table: a row for each NIC, a column for each logical channel. T-3
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SendTable<M> {
    columns: u8,
    entries: Box<[SendEntry<M>]>,
    /// For each row, a bit for each column that is busy; so many are unacknowledged. T-2, T-10
    busy: Box<[u32]>,
    /// The rows that have any. T-10
    active: RowSet,
}

/// An answer, as its sender meant it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It was written. T-5
    Ack,
    /// It was not. T-6
    Nack(Reason),
}

/// How an answer's echo stands to the packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Echo {
    /// Of its latest transmission. T-8
    Latest,
    /// Of an earlier one.
    Earlier,
    /// Of another packet, or of another use of the channel.
    Foreign,
}

/// What an answer means for the packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Nothing.
    Late,
    /// It was written.
    Acknowledged,
    /// It goes out again at a scan. T-10
    Refused(Reason),
    /// It will never be taken. T-6
    Return(Reason),
}

/// What a scan does about a packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// It waits.
    Nothing,
    /// It goes out again. T-10
    Resend,
    /// It goes back: its destination is unreachable. T-11
    Return,
}

/// What the clock says about a packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// Its latest transmission is not older than the timeout.
    Early,
    /// It is.
    Timeout,
    /// There was no sign of life for too long.
    Silence,
}

impl<M> SendTable<M> {
    /// All logical channels are free and uninitialised. T-11
    pub(super) fn new(rows: u16, columns: u8) -> Self {
        let columns = columns.min(32);
        let places = usize::from(rows) * usize::from(columns);
        Self {
            columns,
            entries: std::iter::repeat_with(SendEntry::default).take(places).collect(),
            busy: vec![0; usize::from(rows)].into_boxed_slice(),
            active: RowSet::new(usize::from(rows)),
        }
    }

    /// Entries that it has: rows × columns. T-3
    pub(super) fn places(&self) -> usize {
        self.entries.len()
    }

    /// The first free logical channel to that NIC, in one look. T-2, T-3
    pub(super) fn free_channel(&self, to: Nic) -> Option<LogicalChannel> {
        let free = (!self.busy.get(usize::from(to.0))?).trailing_zeros();
        let channel = u8::try_from(free).ok()?;
        (channel < self.columns).then_some(LogicalChannel(channel))
    }

    /// The place of an entry, if the table has one. T-3, T-7
    pub(super) fn place(&self, nic: Nic, channel: LogicalChannel) -> Option<usize> {
        let row = usize::from(nic.0);
        (row < self.busy.len() && channel.0 < self.columns)
            .then(|| row * usize::from(self.columns) + usize::from(channel.0))
    }

    /// An entry.
    pub(super) fn entry_mut(
        &mut self,
        nic: Nic,
        channel: LogicalChannel,
    ) -> Option<&mut SendEntry<M>> {
        let place = self.place(nic, channel)?;
        self.entries.get_mut(place)
    }

    /// Puts a packet in flight. T-2, T-10
    pub(super) fn occupy(&mut self, nic: Nic, channel: LogicalChannel, flight: Flight<M>) {
        if let Some(entry) = self.entry_mut(nic, channel) {
            *entry = SendEntry::Busy(flight);
            let row = usize::from(nic.0);
            if let Some(busy) = self.busy.get_mut(row) {
                *busy |= 1 << channel.0;
                self.active.insert(row);
            }
        }
    }

    /// Ends what is in flight, and leaves the channel free for `next`. T-2, T-10
    pub(super) fn release(
        &mut self,
        nic: Nic,
        channel: LogicalChannel,
        next: SendEntry<M>,
    ) -> Option<Flight<M>> {
        let SendEntry::Busy(flight) = std::mem::replace(self.entry_mut(nic, channel)?, next) else {
            return None;
        };
        let row = usize::from(nic.0);
        if let Some(busy) = self.busy.get_mut(row) {
            *busy &= !(1 << channel.0);
            if *busy == 0 {
                self.active.remove(row);
            }
        }
        Some(flight)
    }

    /// Whether nothing is outstanding.
    pub(super) fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// The first row from there on that has anything outstanding, and in which columns. T-10
    pub(super) fn active_from(&self, row: usize) -> Option<(Nic, u32)> {
        let row = self.active.first_from(row)?;
        Some((Nic(u16::try_from(row).ok()?), *self.busy.get(row)?))
    }

    /// All packets in flight, in the order of the table.
    pub(super) fn flights(
        &self,
    ) -> impl Iterator<Item = (Nic, LogicalChannel, &Flight<M>)> + use<'_, M> {
        let mut from = Some((0, 0));
        std::iter::from_fn(move || {
            while let Some((row, done)) = from {
                let (nic, busy) = self.active_from(row)?;
                let here = usize::from(nic.0);
                let left = if here == row { busy & !done } else { busy };
                if left == 0 {
                    from = Some((here + 1, 0));
                    continue;
                }
                let channel = left.trailing_zeros();
                let passed = u32::MAX >> (31 - channel);
                from = Some((here, passed));
                let channel = LogicalChannel(u8::try_from(channel).ok()?);
                match self.entries.get(self.place(nic, channel)?)? {
                    SendEntry::Busy(flight) => return Some((nic, channel, flight)),
                    SendEntry::Closed | SendEntry::Open(_) => {}
                }
            }
            None
        })
    }

    /// Whether bits, rows and entries say the same of what is outstanding.
    pub(super) fn agrees(&self) -> bool {
        self.entries.iter().filter(|entry| matches!(entry, SendEntry::Busy(_))).count()
            == self.flights().count()
            && self.busy.iter().enumerate().all(|(row, busy)| {
                (*busy != 0) == (self.active.first_from(row) == Some(row))
                    && usize::from(self.columns) >= 32 - usize_of(busy.leading_zeros())
            })
            && self.busy.iter().map(|busy| usize_of(busy.count_ones())).sum::<usize>()
                == self.flights().count()
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.entries) + size_of_val(&*self.busy) + self.active.bytes()
    }
}

impl<M> SendEntry<M> {
    /// What an answer means. T-5, T-6, T-8, T-12, T-13
    pub(super) fn hear(&self, header: &Header, answer: Answer) -> Meaning {
        let (echo, phase) = match self {
            Self::Closed | Self::Open(_) => return Meaning::Late,
            Self::Busy(flight) => (flight.echo(header), flight.phase),
        };
        match (phase, answer, echo) {
            // An acknowledgment of any transmission says that the message was written. T-5
            (
                Phase::Underway { .. } | Phase::Refused { .. },
                Answer::Ack,
                Echo::Latest | Echo::Earlier,
            ) => Meaning::Acknowledged,
            // T-8: a NACK of the latest transmission counts.
            (Phase::Underway { .. }, Answer::Nack(reason), Echo::Latest) => {
                if reason.is_final() { Meaning::Return(reason) } else { Meaning::Refused(reason) }
            }
            // Reading: once.
            (Phase::Refused { .. }, Answer::Nack(_), Echo::Latest)
            // T-8, T-13: one of an earlier transmission does not count.
            | (Phase::Underway { .. } | Phase::Refused { .. }, Answer::Nack(_), Echo::Earlier)
            | (
                Phase::Underway { .. } | Phase::Refused { .. },
                Answer::Ack | Answer::Nack(_),
                Echo::Foreign,
            )
            // What went out before reason 4 came is of a use of the channel that is over. T-12
            | (
                Phase::Closed,
                Answer::Ack | Answer::Nack(_),
                Echo::Latest | Echo::Earlier | Echo::Foreign,
            ) => Meaning::Late,
        }
    }
}

impl Label {
    /// That of the first packet of a channel's next use. T-12
    pub(super) const fn open(next: &mut Incarnation) -> Self {
        let incarnation = *next;
        *next = incarnation.next();
        Self { seq: FIRST, incarnation }
    }
}

impl Phase {
    /// Its latest transmission was refused.
    pub(super) const fn refused(self, reason: Reason) -> Self {
        match (self, reason) {
            // T-12: the receiver knows nothing of the channel, which becomes uninitialised.
            (_, Reason::NoChannelState) | (Self::Closed, _) => Self::Closed,
            (Self::Underway { label, sync, .. } | Self::Refused { label, sync }, _) => {
                Self::Refused { label, sync }
            }
        }
    }
}

impl<M> Flight<M> {
    /// Which transmission of it an answer echoes. T-8, T-12
    fn echo(&self, header: &Header) -> Echo {
        match self.phase {
            Phase::Underway { label, .. } | Phase::Refused { label, .. } => {
                if header.seq != label.seq || header.incarnation != label.incarnation {
                    Echo::Foreign
                } else if header.timestamp == self.sent.timestamp() {
                    Echo::Latest
                } else {
                    Echo::Earlier
                }
            }
            Phase::Closed => Echo::Foreign,
        }
    }

    /// What a scan does about it. T-10, T-11, T-13
    pub(super) fn due(&self, now: Micros, stage: Stage, parameters: &TransportParameters) -> Due {
        match (self.phase, stage, self.clock(now, parameters)) {
            (Phase::Underway { .. }, Stage::Staying | Stage::Leaving, Clock::Early) => Due::Nothing,
            // An endpoint that leaves waits for an answer, and so still asks for one. T-13
            (Phase::Underway { .. }, Stage::Staying | Stage::Leaving, Clock::Timeout) => {
                Due::Resend
            }
            (Phase::Underway { .. }, Stage::Staying | Stage::Leaving, Clock::Silence) => {
                Due::Return
            }
            (Phase::Refused { .. } | Phase::Closed, Stage::Staying, Clock::Early) => Due::Nothing,
            // T-10: the NACK itself does not resend. T-11: whoever answered is not silent.
            (
                Phase::Refused { .. } | Phase::Closed,
                Stage::Staying,
                Clock::Timeout | Clock::Silence,
            ) => Due::Resend,
            // Reading of T-13: its latest transmission has its answer, and must stay the latest.
            (
                Phase::Refused { .. } | Phase::Closed,
                Stage::Leaving,
                Clock::Early | Clock::Timeout | Clock::Silence,
            ) => Due::Nothing,
        }
    }

    /// It goes out again: with the label and the SYNC that it had, or on a channel opened anew. T-12
    pub(super) const fn resend(&mut self, now: Micros, next: &mut Incarnation) -> (Label, Sync) {
        let (label, sync, silent) = match self.phase {
            Phase::Underway { label, sync, silent } => (label, sync, silent),
            Phase::Refused { label, sync } => (label, sync, now),
            Phase::Closed => (Label::open(next), Sync::Set, now),
        };
        self.sent = now;
        self.phase = Phase::Underway { label, sync, silent };
        (label, sync)
    }

    /// Reading: both times are over when they are exceeded. T-10, T-11
    fn clock(&self, now: Micros, parameters: &TransportParameters) -> Clock {
        let silent = match self.phase {
            Phase::Underway { silent, .. } => now.since(silent),
            Phase::Refused { .. } | Phase::Closed => Micros(0),
        };
        if silent > parameters.unreachable {
            Clock::Silence
        } else if now.since(self.sent) > parameters.timeout {
            Clock::Timeout
        } else {
            Clock::Early
        }
    }
}

/// A number of bits.
fn usize_of(bits: u32) -> usize {
    usize::try_from(bits).unwrap_or(usize::MAX)
}
