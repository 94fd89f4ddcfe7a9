//! Send table, indexed by NIC and logical channel. T-2, T-3, T-10

use codec::transport::{LogicalChannel, Nic};

use super::Micros;
use super::row_set::RowSet;
use super::send::{InFlightMessage, SendEntry};

/// A row for each NIC, a column for each logical channel. T-3
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SendTable<M> {
    columns: u8,
    entries: Box<[SendEntry<M>]>,
    /// Busy columns of each row, a bit each. T-2, T-10
    busy: Box<[u32]>,
    active: RowSet,
}

impl<M> SendTable<M> {
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

    pub(super) fn places(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn free_channels(&self, to: Nic) -> u32 {
        let busy = self.busy.get(usize::from(to.0));
        busy.map_or(0, |busy| u32::from(self.columns).saturating_sub(busy.count_ones()))
    }

    /// First free logical channel to a NIC. T-2, T-3
    pub(super) fn free_channel(&self, to: Nic) -> Option<LogicalChannel> {
        let free = (!self.busy.get(usize::from(to.0))?).trailing_zeros();
        let channel = u8::try_from(free).ok()?;
        (channel < self.columns).then_some(LogicalChannel(channel))
    }

    /// Index of an entry, if there is such a column; rows are checked by the caller's access. T-3,
    /// T-7
    pub(super) fn place(&self, nic: Nic, channel: LogicalChannel) -> Option<usize> {
        let (row, column) = (usize::from(nic.0), usize::from(channel.0));
        let columns = usize::from(self.columns);
        (column < columns).then_some(row * columns + column)
    }

    pub(super) fn entry(&self, nic: Nic, channel: LogicalChannel) -> Option<&SendEntry<M>> {
        self.entries.get(self.place(nic, channel)?)
    }

    pub(super) fn entry_mut(
        &mut self,
        nic: Nic,
        channel: LogicalChannel,
    ) -> Option<&mut SendEntry<M>> {
        let place = self.place(nic, channel)?;
        self.entries.get_mut(place)
    }

    pub(super) fn occupy(&mut self, nic: Nic, channel: LogicalChannel, flight: InFlightMessage<M>) {
        if let Some(entry) = self.entry_mut(nic, channel) {
            *entry = SendEntry::Busy(flight);
            let row = usize::from(nic.0);
            if let Some(busy) = self.busy.get_mut(row) {
                *busy |= 1 << channel.0;
                self.active.insert(row);
            }
        }
    }

    /// Ends the message in flight and sets the channel to `next`. T-2, T-10
    pub(super) fn release(
        &mut self,
        nic: Nic,
        channel: LogicalChannel,
        next: SendEntry<M>,
    ) -> Option<InFlightMessage<M>> {
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

    pub(super) fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// First row from `row` on with outstanding messages, and their columns. T-10
    pub(super) fn active_from(&self, row: usize) -> Option<(Nic, u32)> {
        let row = self.active.first_from(row)?;
        Some((Nic(u16::try_from(row).ok()?), *self.busy.get(row)?))
    }

    pub(super) fn flights(
        &self,
    ) -> impl Iterator<Item = (Nic, LogicalChannel, &InFlightMessage<M>)> + use<'_, M> {
        let row = |(nic, _): &(Nic, u32)| self.active_from(usize::from(nic.0) + 1);
        std::iter::successors(self.active_from(0), row).flat_map(move |(nic, busy)| {
            let channels = (0..32_u8).filter(move |channel| busy >> channel & 1 == 1);
            channels.map(LogicalChannel).filter_map(move |channel| {
                match self.entries.get(self.place(nic, channel)?)? {
                    SendEntry::Busy(flight) => Some((nic, channel, flight)),
                    SendEntry::Closed | SendEntry::Open(_) => None,
                }
            })
        })
    }

    /// Shifts all times back by `by`, but none before `oldest`.
    pub(super) fn shift_back(&mut self, by: Micros, oldest: Micros) {
        for entry in &mut self.entries {
            if let SendEntry::Busy(flight) = entry {
                flight.sent = flight.sent.map(|sent| sent.since(by).max(oldest));
            }
        }
    }

    /// Checks the consistency of bits, rows and entries.
    pub(super) fn is_consistent(&self) -> bool {
        self.entries.iter().filter(|entry| matches!(entry, SendEntry::Busy(_))).count()
            == self.flights().count()
            && self.busy.iter().enumerate().all(|(row, busy)| {
                (*busy != 0) == (self.active.first_from(row) == Some(row))
                    && usize::from(self.columns) >= 32 - usize_of(busy.leading_zeros())
            })
            && self.busy.iter().map(|busy| usize_of(busy.count_ones())).sum::<usize>()
                == self.flights().count()
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.entries) + size_of_val(&*self.busy) + self.active.bytes()
    }
}

fn usize_of(bits: u32) -> usize {
    usize::try_from(bits).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use codec::transport::{
        ChannelIncarnation, EndpointId, LogicalChannel, Nic, SequenceBit, SyncFlag,
    };

    use super::super::OutboundMessage;
    use super::super::send::{FlightPhase, PacketLabel};
    use super::{InFlightMessage, Micros, SendEntry, SendTable};

    /// 70 rows of 3 columns, of which row 1 has column 0 in flight, and row 69 columns 1 and 2.
    fn table() -> SendTable<char> {
        let mut table = SendTable::new(70, 3);
        for (row, column) in [(1, 0), (69, 2), (69, 1)] {
            let letter = OutboundMessage { endpoint: EndpointId(0), message: 'a' };
            let label = PacketLabel { seq: SequenceBit::Zero, incarnation: ChannelIncarnation(0) };
            let phase = FlightPhase::Underway((label, SyncFlag::Set));
            let flight = InFlightMessage { letter, sent: Some(Micros(0)), retries: 0, phase };
            table.occupy(Nic(row), LogicalChannel(column), flight);
        }
        table
    }

    #[test]
    fn bits_rows_and_entries_that_differ_do_not_agree() {
        let spoil = |spoil: fn(&mut SendTable<char>)| {
            let mut table = table();
            spoil(&mut table);
            table.is_consistent()
        };
        assert!(spoil(|_| {}));
        assert!(!spoil(|table| table.busy[1] |= 0b10));
        assert!(!spoil(|table| table.busy[1] |= 0b1000));
        assert!(!spoil(|table| table.busy[69] = 0b10));
        assert!(!spoil(|table| table.busy[1] = 0));
        assert!(!spoil(|table| table.active.insert(2)));
        assert!(!spoil(|table| table.active.remove(69)));
        assert!(!spoil(|table| table.entries[3] = SendEntry::Closed));
        assert!(!spoil(|table| table.entries.swap(3, 4)));
        assert!(!spoil(|table| {
            table.busy[1] = 0;
            table.active.remove(1);
        }));
    }

    #[test]
    fn flights_are_listed_by_row_and_column() {
        let table = table();
        let places: Vec<_> = table.flights().map(|(nic, channel, _)| (nic.0, channel.0)).collect();
        assert_eq!(places, [(1, 0), (69, 1), (69, 2)]);
        assert_eq!(SendTable::<char>::new(70, 3).flights().count(), 0);
    }

    #[test]
    fn what_is_released_is_free_and_its_row_idle_with_the_last() {
        let mut table = table();
        assert_eq!(table.free_channel(Nic(69)), Some(LogicalChannel(0)));
        for (column, next) in [(2, Some((Nic(69), 0b10))), (1, None)] {
            assert!(!table.is_idle());
            table.release(Nic(69), LogicalChannel(column), SendEntry::Closed).unwrap();
            assert_eq!(table.active_from(2), next);
            assert!(table.is_consistent());
        }
        table.release(Nic(1), LogicalChannel(0), SendEntry::Closed).unwrap();
        assert!(table.is_idle());
        assert_eq!(table, SendTable::new(70, 3));
    }
}
