//! Costs of the reliability protocol: a step, a scan, a table. `cargo bench -p myriscope-simulator --bench transport`
//!
//! A step is a message sent, a data packet heard or an acknowledgment heard.

#![expect(clippy::print_stdout, reason = "it is what a bench is for")]
#![expect(clippy::unwrap_used, reason = "what is sent has a row and a free channel")]

use codec::transport::{
    ChannelIncarnation, EndpointId, LogicalChannel, Nic, SequenceBit, SyncFlag, TransportHeader,
};
use divan::Bencher;
use divan::counter::ItemsCount;
use myriscope_simulator::transport::{
    Micros, OutboundMessage, ProtocolPacket, Transport, TransportEffect, TransportParameters,
};

fn main() {
    println!("bytes of table in a NIC, whose messages are handles of 32 bits");
    println!("{:>6} {:>9} {:>12} {:>8}", "NICs", "channels", "bytes", "an entry");
    for (nics, channels) in TABLES {
        let bytes = machine(nics, channels).table_bytes();
        let entry = bytes / (usize::from(nics) * usize::from(channels));
        println!("{nics:>6} {channels:>9} {bytes:>12} {entry:>8}");
    }
    divan::main();
}

/// Rows and columns.
const TABLES: [(u16, u8); 8] =
    [(2, 8), (2, 32), (64, 8), (64, 32), (1024, 8), (1024, 32), (4096, 8), (4096, 32)];

/// Rows, columns, and rows with something outstanding.
const SCANS: [(u16, u8, u16); 20] = [
    (2, 8, 1),
    (2, 8, 2),
    (2, 32, 1),
    (2, 32, 2),
    (64, 8, 1),
    (64, 8, 64),
    (64, 32, 1),
    (64, 32, 64),
    (1024, 8, 1),
    (1024, 8, 64),
    (1024, 8, 1024),
    (1024, 32, 1),
    (1024, 32, 64),
    (1024, 32, 1024),
    (4096, 8, 1),
    (4096, 8, 64),
    (4096, 8, 4096),
    (4096, 32, 1),
    (4096, 32, 64),
    (4096, 32, 4096),
];

/// Messages in a round.
const MESSAGES: u32 = 1000;

const ENDPOINT: EndpointId = EndpointId(3);

fn machine(nics: u16, channels: u8) -> Transport<u32> {
    let parameters = TransportParameters { nics, channels, ..TransportParameters::default() };
    let mut machine = Transport::new(Nic(0), parameters, ChannelIncarnation(0));
    machine.on_load(ENDPOINT);
    machine
}

/// Rows in an order that defeats caches: an odd step modulo a power of two.
fn scattered(nics: u16) -> impl Iterator<Item = Nic> {
    (0_u32..).map(move |at| {
        let row = at.wrapping_mul(2_654_435_761) >> 7;
        Nic(u16::try_from(row % u32::from(nics)).unwrap())
    })
}

/// Messages sent and acknowledged, each to another NIC: two steps each.
#[divan::bench(args = TABLES)]
fn send_and_acknowledge(bencher: Bencher<'_, '_>, (nics, channels): (u16, u8)) {
    let mut machine = machine(nics, channels);
    let mut rows = scattered(nics);
    let mut effects = Vec::new();
    let mut now = 0;
    bencher.counter(ItemsCount::new(2 * MESSAGES)).bench_local(|| {
        for message in 0..MESSAGES {
            now += 1;
            let letter = OutboundMessage { endpoint: ENDPOINT, message };
            machine.on_send(Micros(now), rows.next().unwrap(), letter, &mut effects).unwrap();
            if let Some(TransportEffect::Send(mut packet)) = effects.pop() {
                machine.on_leave(Micros(now), &mut packet);
                if let ProtocolPacket::Data(header, ..) = packet {
                    let answer = ProtocolPacket::Ack(header.answer());
                    machine.on_packet(&answer, &mut |_| Ok(()), &mut effects);
                }
            }
            effects.clear();
        }
    });
}

/// Data packets from scattered NICs, half of them duplicates: a step each.
#[divan::bench(args = TABLES)]
fn hear_data(bencher: Bencher<'_, '_>, (nics, channels): (u16, u8)) {
    let mut machine = machine(nics, channels);
    let mut rows = scattered(nics);
    let mut effects = Vec::new();
    let mut now = 0;
    let mut seq = SequenceBit::Zero;
    let mut written = 0_u64;
    bencher.counter(ItemsCount::new(MESSAGES)).bench_local(|| {
        seq = seq.flipped();
        for message in 0..MESSAGES {
            now += 1;
            let header = TransportHeader {
                source: rows.next().unwrap(),
                destination: Nic(0),
                channel: LogicalChannel(u8::try_from(message % u32::from(channels)).unwrap()),
                seq,
                timestamp: Micros(now).timestamp(),
                incarnation: ChannelIncarnation(7),
            };
            let packet = ProtocolPacket::Data(header, SyncFlag::Set, message);
            let mut take = |_: &u32| {
                written += 1;
                Ok(())
            };
            machine.on_packet(&packet, &mut take, &mut effects);
            effects.clear();
        }
    });
    divan::black_box(written);
}

/// One machine sends to another: three steps (send, receive data, receive acknowledgment) and two
/// packets per message.
#[divan::bench]
fn conversation(bencher: Bencher<'_, '_>) {
    let parameters = TransportParameters::default();
    let mut machines =
        [0, 1].map(|nic| Transport::<u32>::new(Nic(nic), parameters, ChannelIncarnation(nic)));
    for machine in &mut machines {
        machine.on_load(ENDPOINT);
    }
    let [a, b] = &mut machines;
    let (mut there, mut back) = (Vec::new(), Vec::new());
    let mut now = 0;
    bencher.counter(ItemsCount::new(3 * MESSAGES)).bench_local(|| {
        for message in 0..MESSAGES {
            now += 1;
            let letter = OutboundMessage { endpoint: ENDPOINT, message };
            a.on_send(Micros(now), Nic(1), letter, &mut there).unwrap();
            for effect in there.drain(..) {
                if let TransportEffect::Send(mut packet) = effect {
                    a.on_leave(Micros(now), &mut packet);
                    b.on_packet(&packet, &mut |_| Ok(()), &mut back);
                }
            }
            for effect in back.drain(..) {
                if let TransportEffect::Send(packet) = effect {
                    a.on_packet(&packet, &mut |_| Ok(()), &mut there);
                }
            }
            there.clear();
        }
    });
}

/// A scan that finds nothing due, with one packet outstanding in each active row.
#[divan::bench(args = SCANS)]
fn scan(bencher: Bencher<'_, '_>, (nics, channels, active): (u16, u8, u16)) {
    look(bencher, (nics, channels, active), 1);
}

/// A scan with all channels of the active rows outstanding.
#[divan::bench(args = SCANS)]
fn scan_of_full_rows(bencher: Bencher<'_, '_>, (nics, channels, active): (u16, u8, u16)) {
    look(bencher, (nics, channels, active), channels);
}

fn look(bencher: Bencher<'_, '_>, (nics, channels, active): (u16, u8, u16), outstanding: u8) {
    let parameters = TransportParameters {
        nics,
        channels,
        timeout: Micros(u64::MAX),
        ..TransportParameters::default()
    };
    let mut machine = Transport::new(Nic(0), parameters, ChannelIncarnation(0));
    machine.on_load(ENDPOINT);
    let mut effects = Vec::new();
    for row in 0..active {
        for _ in 0..outstanding {
            let to = Nic(row * (nics / active));
            let letter = OutboundMessage { endpoint: ENDPOINT, message: 0_u32 };
            machine.on_send(Micros(0), to, letter, &mut effects).unwrap();
        }
    }
    for effect in effects.drain(..) {
        if let TransportEffect::Send(mut packet) = effect {
            machine.on_leave(Micros(0), &mut packet);
        }
    }
    bencher.counter(ItemsCount::new(active)).bench_local(|| {
        let now = machine.due().unwrap();
        machine.on_tick(now, &mut effects);
        effects.len()
    });
}
