//! Conversations over IP: the packets from one port to another. H-1

use std::collections::BTreeMap;

use codec::packet::CrcCheck;

use crate::conversation::{TransportFate, fate};
use crate::event::Picoseconds;
use crate::ip::IpRow;
use crate::journey::Journey;
use crate::row::FieldShape::Words;
use crate::row::row;

/// Maximum of conversations. *Chosen*: several for each pair of 181 hosts.
pub const IP_CONVERSATIONS_MAX: usize = 1 << 17;

row! {
    /// Row of `myriscope conversations --ip`, as specified in `docs/output.md`.
    #[derive(Default)]
    pub struct IpConversationRow {
        source: String, "", "H-1", "address of the sender";
        source_port: Option<u16>, "", "", "its port; none of later fragments";
        destination: String, "", "H-1", "address of the receiver";
        destination_port: Option<u16>, "", "", "its port";
        protocol: &'static str as Words(crate::ip::PROTOCOLS), "", "", "protocol over IP";
        first_ps: Picoseconds, "ps", "", "when its first packet was first seen";
        last_ps: Picoseconds, "ps", "", "when its last packet was first seen";
        packets: u64, "packets", "", "packets";
        data: u64, "bytes", "", "bytes behind the headers, those sent again included";
        lost: u64, "packets", "", "packets that were lost or hurt";
        unseen: u64, "packets", "", "packets whose end was not seen";
        retransmissions: u64, "packets", "", "TCP: packets with data that had been sent before";
        bad_checksums: u64, "packets", "H-1", "packets with a wrong Internet checksum";
    }
}

/// Number of the capture, protocol, addresses and ports.
type IpKey = (u32, &'static str, [(String, Option<u16>); 2]);

/// Conversations over IP of a capture.
#[derive(Debug, Default)]
pub struct IpConversations {
    table: BTreeMap<IpKey, IpTotals>,
    omitted: u64,
}

#[derive(Debug, Default)]
struct IpTotals {
    row: IpConversationRow,
    /// TCP: the sequence number behind the data so far.
    next: Option<u32>,
}

impl IpConversations {
    /// Adds the packet of a journey, if it carries IP.
    pub fn add(&mut self, capture: u32, journey: &Journey) {
        let ends = journey.hops.first().zip(journey.hops.last());
        let (Some(contents), Some((first, last))) = (&journey.ip, ends) else { return };
        let row = contents.row();
        let (Some(protocol), Some(source), Some(destination)) =
            (row.protocol, row.source.clone(), row.destination.clone())
        else {
            return;
        };
        let ends = [(source, row.source_port), (destination, row.destination_port)];
        let (key, time) = ((capture, protocol, ends), first.time);
        // The header of a packet that was hurt on all links may name hosts that do not exist.
        let is_known = self.table.contains_key(&key);
        if !is_known && (!contents.is_sound() || self.table.len() >= IP_CONVERSATIONS_MAX) {
            self.omitted += u64::from(contents.is_sound());
            return;
        }
        let totals = self.table.entry(key).or_insert_with_key(|key| IpTotals::new(time, key));
        totals.add(time, &row, contents.check);
        match fate(journey, last) {
            TransportFate::Lost | TransportFate::Hurt => totals.row.lost += 1,
            TransportFate::OutOfSight | TransportFate::UnderWay => totals.row.unseen += 1,
            TransportFate::Arrived => {}
        }
    }

    /// Packets of conversations beyond the first [`IP_CONVERSATIONS_MAX`].
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// The conversations, each with the number of its capture, in order of their first packets.
    pub fn rows(self) -> Vec<(u32, IpConversationRow)> {
        let rows = self.table.into_iter().map(|((capture, ..), totals)| (capture, totals.row));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|(capture, row)| (*capture, row.first_ps));
        rows
    }
}

impl IpTotals {
    fn new(time: Picoseconds, (_, protocol, ends): &IpKey) -> Self {
        let [(source, source_port), (destination, destination_port)] = ends.clone();
        let row = IpConversationRow {
            source,
            source_port,
            destination,
            destination_port,
            protocol,
            first_ps: time,
            last_ps: time,
            ..IpConversationRow::default()
        };
        Self { row, next: None }
    }

    /// Adds a packet; `check` is that of its bytes.
    fn add(&mut self, time: Picoseconds, row: &IpRow, check: CrcCheck) {
        let totals = &mut self.row;
        totals.packets += 1;
        let data = row.data.unwrap_or(0);
        totals.data = totals.data.saturating_add(data);
        totals.bad_checksums += u64::from(row.checksum.starts_with("bad"));
        // Journeys end in another order than they begin: one that begins earlier is no repetition.
        let in_order = time >= totals.last_ps;
        totals.first_ps = totals.first_ps.min(time);
        totals.last_ps = totals.last_ps.max(time);
        // Any field of a packet that was hurt may differ from the one sent. P-5
        let sequence = row.sequence.filter(|_| check == CrcCheck::Good);
        let (Some(mut sequence), Ok(data)) = (sequence, u32::try_from(data)) else { return };
        if row.flags.iter().flat_map(|flags| flags.split(' ')).any(|flag| flag == "syn") {
            // It takes a number itself. A new connection of the same ports begins anew.
            sequence = sequence.wrapping_add(1);
            self.next = self.next.filter(|_| !in_order);
        }
        if data == 0 {
            return;
        }
        let end = sequence.wrapping_add(data);
        // Numbers of TCP compare modulo 2³².
        let is_behind = |one: u32, other: u32| other.wrapping_sub(one).cast_signed() > 0;
        totals.retransmissions +=
            u64::from(in_order && self.next.is_some_and(|next| is_behind(sequence, next)));
        if self.next.is_none_or(|next| is_behind(next, end)) {
            self.next = Some(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sent_again_is_counted_modulo_2_to_the_32() {
        let mut totals = IpTotals::default();
        let first = u32::MAX - 99;
        let (good, bad) = (CrcCheck::Good, CrcCheck::Bad(1));
        for (time, sequence, data, check, expected) in [
            (0, first, 100, good, 0),
            (1, 0, 100, good, 0),
            // An acknowledgement without data, and data that was sent before.
            (2, 50, 0, good, 0),
            (3, first, 100, good, 1),
            // It began before the last, whose journey ended earlier.
            (2, 0, 100, good, 1),
            // Its number was hurt on the way.
            (3, 1 << 30, 10, bad, 1),
            (4, 100, 10, good, 1),
            // It began with the last, not before it.
            (4, 0, 100, good, 2),
        ] {
            let (sequence, data) = (Some(sequence), Some(data));
            totals.add(time, &IpRow { sequence, data, ..IpRow::default() }, check);
            assert_eq!(totals.row.retransmissions, expected, "{time}");
        }
        assert_eq!((totals.row.packets, totals.row.data, totals.row.last_ps), (8, 520, 4));
    }

    #[test]
    fn conversations_are_in_order_of_their_first_packets() {
        let mut all = IpConversations::default();
        for (host, times) in [("a", [6, 5]), ("b", [9, 1]), ("c", [3, 4])] {
            let key = (0, "tcp", [(host.to_owned(), None), (host.to_owned(), None)]);
            let mut totals = IpTotals::new(times[0], &key);
            for time in times {
                totals.add(time, &IpRow::default(), CrcCheck::Good);
            }
            all.table.insert(key, totals);
        }
        let rows = all.rows().into_iter().map(|(_, row)| (row.source, row.first_ps, row.last_ps));
        let expected = [("b", 1, 9), ("c", 3, 4), ("a", 5, 6)];
        assert!(rows.eq(expected.map(|(host, first, last)| (host.to_owned(), first, last))));
    }

    /// SYN takes the number before the data of a connection.
    #[test]
    fn a_connection_on_the_ports_of_an_earlier_one_repeats_nothing_of_it() {
        let mut totals = IpTotals::default();
        for (time, flags, sequence, data, expected) in [
            (0, "syn", 8999, 0, 0),
            (1, "ack", 9000, 100, 0),
            (2, "syn", 499, 0, 0),
            (3, "psh ack", 500, 100, 0),
            (4, "ack", 500, 50, 1),
            // Its journey ended later than those behind it.
            (3, "syn", 499, 0, 1),
            (5, "ack", 550, 50, 2),
            (6, "syn", 99, 7, 2),
            (7, "ack", 100, 7, 3),
        ] {
            let flags = Some(flags.to_owned());
            let (sequence, data) = (Some(sequence), Some(data));
            totals.add(time, &IpRow { flags, sequence, data, ..IpRow::default() }, CrcCheck::Good);
            assert_eq!(totals.row.retransmissions, expected, "{time}");
        }
    }
}
