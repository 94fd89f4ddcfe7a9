//! The machine as a whole.

use codec::transport::{EndpointId, Incarnation, Nic};

use super::{PARAMETERS, step, told};
use crate::transport::{Effect, Letter, Micros, Transport, TransportParameters};

#[test]
fn a_nic_may_send_to_itself() {
    let mut nic = Transport::new(Nic(0), PARAMETERS, Incarnation(7));
    nic.on_load(EndpointId(3));
    let mut written = Vec::new();
    let mut ends = Vec::new();
    for (now, message) in (0_u64..).zip("abc".chars()) {
        let letter = Letter { endpoint: EndpointId(3), message };
        let mut effects = Vec::new();
        nic.on_send(Micros(now), Nic(0), letter, &mut effects).unwrap();
        while let Some(effect) = effects.pop() {
            match effect {
                Effect::Send(packet) => {
                    let mut take = |message: &char| {
                        written.push(*message);
                        Ok(())
                    };
                    nic.on_packet(Micros(now), &packet, &mut take, &mut effects);
                }
                Effect::Acknowledged(_)
                | Effect::Returned(..)
                | Effect::Unloaded(..)
                | Effect::Noted(..) => ends.push(told(&effect)),
            }
        }
    }
    assert_eq!(written, ['a', 'b', 'c']);
    assert_eq!(ends, ["acknowledged a", "acknowledged b", "acknowledged c"]);
}

#[test]
fn what_is_outstanding_is_listed_in_the_order_of_the_table() {
    let parameters = TransportParameters { nics: 100, channels: 32, ..PARAMETERS };
    let mut nic = Transport::new(Nic(0), parameters, Incarnation(7));
    nic.on_load(EndpointId(3));
    let mut effects = Vec::new();
    for (to, message) in [(99, 'x'), (1, 'a'), (64, 'm'), (1, 'b'), (99, 'y'), (1, 'c')] {
        let letter = Letter { endpoint: EndpointId(3), message };
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
        let mut nic = Transport::new(Nic(0), PARAMETERS, Incarnation(7));
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
    later.earlier(Micros(1000));
    assert_eq!(later, run(0));
}

#[test]
fn a_restart_begins_with_the_incarnation_that_would_be_next() {
    let mut nic = Transport::new(Nic(0), PARAMETERS, Incarnation(7));
    nic.on_load(EndpointId(3));
    let letter = Letter { endpoint: EndpointId(3), message: 'a' };
    nic.on_send(Micros(0), Nic(1), letter, &mut Vec::new()).unwrap();
    assert_eq!(nic.next_incarnation(), Incarnation(8));
}

/// A send entry whose message is a number of 32 bits takes 40 bytes or less, a receive entry 6.
#[test]
fn tables_are_of_the_size_that_is_asked_for() {
    for (nics, channels) in [(0_u16, 8_u8), (1, 1), (2, 8), (64, 32), (4096, 32)] {
        let parameters = TransportParameters { nics, channels, ..PARAMETERS };
        let nic = Transport::<u32>::new(Nic(0), parameters, Incarnation(0));
        let (rows, places) = (usize::from(nics), usize::from(nics) * usize::from(channels));
        let bits = rows.div_ceil(64) * 8 + rows.div_ceil(4096) * 8;
        let bytes = nic.table_bytes() - rows * 4 - bits;
        assert!(bytes <= places * 46 && bytes >= places * 20, "{bytes} for {places}");
    }
}
