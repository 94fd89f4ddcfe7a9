//! Steps the reliability protocol of two NICs without a network: a message is lost once, and sent
//! again by the scan.
//!
//! `cargo run -p myriscope-simulator --example transport_machine`

#![expect(clippy::print_stdout, reason = "the example's output")]

use codec::transport::{ChannelIncarnation, EndpointId, Nic};
use myriscope_simulator::transport::{
    Micros, OutboundMessage, ProtocolPacket, Transport, TransportEffect, TransportParameters,
};

const ENDPOINT: EndpointId = EndpointId(0);

fn main() {
    let machine = |nic| {
        let mut machine =
            Transport::new(Nic(nic), TransportParameters::default(), ChannelIncarnation(0));
        machine.on_load(ENDPOINT);
        machine
    };
    let (mut sender, mut receiver) = (machine(0), machine(1));
    let (mut effects, mut losses) = (Vec::new(), 1);

    let letter = OutboundMessage { endpoint: ENDPOINT, message: "hello" };
    if sender.on_send(Micros(0), Nic(1), letter, &mut effects).is_err() {
        println!("no free channel");
    }
    let mut now = Micros(0);
    loop {
        // Each packet takes 10 µs; the first one is lost.
        for mut packet in std::mem::take(&mut effects).into_iter().filter_map(sent) {
            sender.on_leave(now, &mut packet);
            println!("{:>5} µs  NIC 0 sends {packet:?}", now.0);
            if losses > 0 {
                losses -= 1;
                continue;
            }
            now = Micros(now.0 + 10);
            let mut answers = Vec::new();
            receiver.on_packet(&packet, &mut |_| Ok(()), &mut answers);
            for answer in answers.into_iter().filter_map(sent) {
                println!("{:>5} µs  NIC 1 sends {answer:?}", now.0);
                sender.on_packet(&answer, &mut |_| Ok(()), &mut effects);
            }
        }
        for effect in &effects {
            println!("{:>5} µs  NIC 0: {effect:?}", now.0);
        }
        // No scan is due once nothing is outstanding.
        let Some(due) = sender.due().filter(|_| sender.outstanding(ENDPOINT) > 0) else { return };
        now = due;
        sender.on_tick(now, &mut effects);
    }
}

fn sent<M>(effect: TransportEffect<M>) -> Option<ProtocolPacket<M>> {
    if let TransportEffect::Send(packet) = effect { Some(packet) } else { None }
}
