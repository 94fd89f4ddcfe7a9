//! The machine as a whole.

use codec::transport::{ChannelIncarnation, EndpointId, LogicalChannel, Nic};

use super::{PARAMETERS, effect_text, step};
use crate::transport::receive::ReceiveEntry;
use crate::transport::resident_endpoints::ResidentChange;
use crate::transport::send::SendEntry;
use crate::transport::{Micros, OutboundMessage, Transport, TransportEffect, TransportParameters};

#[test]
fn a_nic_may_send_to_itself() {
    let mut nic = Transport::new(Nic(0), PARAMETERS, ChannelIncarnation(7));
    nic.on_load(EndpointId(3));
    let mut written = Vec::new();
    let mut ends = Vec::new();
    for (now, message) in (0_u64..).zip("abc".chars()) {
        let letter = OutboundMessage { endpoint: EndpointId(3), message };
        let mut effects = Vec::new();
        nic.on_send(Micros(now), Nic(0), letter, &mut effects).unwrap();
        while let Some(effect) = effects.pop() {
            match effect {
                TransportEffect::Send(mut packet) => {
                    nic.on_leave(Micros(now), &mut packet);
                    let mut take = |message: &char| {
                        written.push(*message);
                        Ok(())
                    };
                    nic.on_packet(&packet, &mut take, &mut effects);
                }
                TransportEffect::Acknowledged(_)
                | TransportEffect::Returned(..)
                | TransportEffect::Unloaded(..)
                | TransportEffect::Noted(..) => ends.push(effect_text(&effect)),
            }
        }
    }
    assert_eq!(written, ['a', 'b', 'c']);
    assert_eq!(ends, ["acknowledged a", "acknowledged b", "acknowledged c"]);
}

#[test]
fn what_is_outstanding_is_listed_in_the_order_of_the_table() {
    let parameters = TransportParameters { nics: 100, channels: 32, ..PARAMETERS };
    let mut nic = Transport::new(Nic(0), parameters, ChannelIncarnation(7));
    nic.on_load(EndpointId(3));
    let mut effects = Vec::new();
    for (to, message) in [(99, 'x'), (1, 'a'), (64, 'm'), (1, 'b'), (99, 'y'), (1, 'c')] {
        let letter = OutboundMessage { endpoint: EndpointId(3), message };
        nic.on_send(Micros(0), Nic(to), letter, &mut effects).unwrap();
    }
    let flights: Vec<_> =
        nic.flights().map(|(nic, channel, letter)| (nic.0, channel.0, letter.message)).collect();
    let listed = [(1, 0, 'a'), (1, 1, 'b'), (1, 2, 'c'), (64, 0, 'm'), (99, 0, 'x'), (99, 1, 'y')];
    assert_eq!(flights, listed);
    assert_eq!(nic.outstanding(EndpointId(3)), 6);
    assert_eq!(nic.outstanding(EndpointId(4)), 0);
}

#[test]
fn what_happened_later_is_the_same_when_it_is_taken_back() {
    let run = |later: u64| {
        let mut nic = Transport::new(Nic(0), PARAMETERS, ChannelIncarnation(7));
        let mut effects = Vec::new();
        let script =
            ["load 3", "send 3 a", "send 3 b to 0", "nack 0 0 7 @1 full", "send 3 c", "tick"];
        for (now, line) in (later..).zip(script) {
            let line = line.replace("@1", &format!("@{}", later + 1));
            let words: Vec<_> = line.split_whitespace().collect();
            step(&mut nic, Micros(now), &words, &mut effects);
        }
        step(&mut nic, Micros(later + 45), &["tick"], &mut effects);
        nic
    };
    let mut later = run(1000);
    assert_ne!(later, run(0));
    later.shift_back(Micros(1000), Micros(0));
    assert_eq!(later, run(0));
}

#[test]
fn a_restart_begins_with_the_incarnation_that_would_be_next() {
    let mut nic = Transport::new(Nic(0), PARAMETERS, ChannelIncarnation(7));
    nic.on_load(EndpointId(3));
    let letter = OutboundMessage { endpoint: EndpointId(3), message: 'a' };
    nic.on_send(Micros(0), Nic(1), letter, &mut Vec::new()).unwrap();
    assert_eq!(nic.next_incarnation(), ChannelIncarnation(8));
}

#[test]
fn tables_have_an_entry_of_each_kind_for_each_channel_and_a_word_for_each_row() {
    let entry = size_of::<SendEntry<u32>>() + size_of::<ReceiveEntry>();
    for (nics, channels) in [(0_u16, 8_u8), (1, 1), (2, 8), (64, 32), (65, 3), (4096, 32)] {
        let parameters = TransportParameters { nics, channels, ..PARAMETERS };
        let nic = Transport::<u32>::new(Nic(0), parameters, ChannelIncarnation(0));
        let (rows, columns) = (usize::from(nics), usize::from(channels));
        let words = rows.div_ceil(64);
        let sets = 8 * (words + words.div_ceil(64));
        assert_eq!(nic.table_bytes(), rows * columns * entry + rows * 4 + sets);
    }
}

#[test]
fn counts_that_say_otherwise_than_the_tables_do_not_agree() {
    let letter = OutboundMessage { endpoint: EndpointId(3), message: 'a' };
    let mut idle = Transport::new(Nic(0), PARAMETERS, ChannelIncarnation(7));
    idle.on_load(EndpointId(3));
    let mut busy = idle.clone();
    busy.on_send(Micros(0), Nic(1), letter, &mut Vec::new()).unwrap();
    assert!(idle.is_consistent() && busy.is_consistent());

    let spoil = |nic: &Transport<char>, spoil: &dyn Fn(&mut Transport<char>)| {
        let mut nic = nic.clone();
        spoil(&mut nic);
        nic.is_consistent()
    };
    let count = |nic: &mut Transport<char>, change| {
        nic.residents.count(EndpointId(3), change);
    };
    assert!(!spoil(&busy, &|nic| nic.residents.remove(EndpointId(3))));
    assert!(!spoil(&busy, &|nic| count(nic, ResidentChange::Sent)));
    assert!(!spoil(&busy, &|nic| count(nic, ResidentChange::EndedRefused)));
    assert!(!spoil(&busy, &|nic| count(nic, ResidentChange::Refused)));
    assert!(!spoil(&busy, &|nic| nic.scan = None));
    assert!(!spoil(&idle, &|nic| nic.scan = Some(Micros(0))));
    assert!(!spoil(&idle, &|nic| count(nic, ResidentChange::Sent)));
    assert!(!spoil(&busy, &|nic| {
        nic.sends.release(Nic(1), LogicalChannel(0), SendEntry::Closed);
        count(nic, ResidentChange::EndedUnanswered);
    }));
}
