//! IP over Myrinet: datagrams with fragments, and a connection over a link that loses packets. H-1

use crate::support;

use myriscope_simulator::interface::HostStatistics;
use myriscope_simulator::network::SimulationEngine;
use support::{RunWay, TestRun};

/// Counters of both hosts after the run.
fn run(more: &str, micros: u32, engine: SimulationEngine) -> [HostStatistics; 2] {
    let text = format!(
        "seed = 3\nduration_us = {micros}\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n\
         [[cable]]\nends = ['a:0', 'b:0']\n{more}"
    );
    let run = TestRun::finished(support::read(&text), RunWay::by(engine));
    ["a", "b"].map(|host| run.statistics(host))
}

/// H-1
#[test]
fn datagrams_and_connections_arrive() {
    const UDP: &str = "[interface]\nmtu = 1500\n[[ip]]\nproto = 'udp'\nfrom = 'a'\nto = 'b'\n\
                       payload = 4000\nevery_us = 200\npackets = 10\n";
    const TCP: &str = "[interface]\nmtu = 1500\n[[ip]]\nproto = 'tcp'\nfrom = 'a'\nto = 'b'\n\
                       payload = 10000\nsaturate = true\npackets = 10\n";
    let event = |text: &str, micros| run(text, micros, SimulationEngine::Event);
    let saturating = UDP.replace("every_us = 200\npackets = 10", "saturate = true\npackets = 100");
    // The sender's buffer of 131 072 bytes holds 32 datagrams, and the others wait for room.
    let [a, b] = event(&saturating, 8000);
    assert_eq!((a.refused, a.sent, b.ip_bytes), (0, 300, 400_000));
    // 4008 bytes of UDP in fragments of 1480: three each.
    let [a, b] = event(UDP, 3000);
    assert_eq!((a.sent, b.ip_bytes, b.handled.delivered), (30, 40_000, 30));
    // Of each byte: a write and a read by the applications, the bus at both ends, with headers of 20, 20
    // and 28 bytes, and the host's pass for the checksum at the sender.
    assert_eq!([a, b].map(|host| host.touched.application), [40_000; 2]);
    assert_eq!([a, b].map(|host| host.touched.bus), [40_680; 2]);
    assert_eq!([a, b].map(|host| host.touched.summed), [40_680, 0]);
    // A sum over all fragments is the host's work, whatever is asked for: the interface has one at a time.
    let [a, b] = event(&format!("{UDP}checksum = 'nic'\n"), 3000);
    assert_eq!((b.ip_bytes, a.touched.summed), (40_000, 40_680));
    assert_eq!(event(TCP, 3000)[1].ip_bytes, 100_000);
    let [a, b] = event(&format!("{TCP}checksum = 'nic'\n"), 3000);
    assert_eq!((b.ip_bytes, a.touched.summed), (100_000, 0));
    // A corrupted packet in the middle is repaired by a fast retransmission; a second one after a second.
    let fault = |at| format!("[[fault]]\nat_us = {at}\nflip = 'a:0'\nbits = 1\n");
    let one = format!("{TCP}{}", fault(300));
    let two = format!("{one}{}", fault(600));
    for (text, micros, corrupt) in [(&one, 3000, 1), (&two, 2_000_000, 2)] {
        let [_, b] = event(text, micros);
        assert_eq!((b.ip_bytes, b.handled.corrupt), (100_000, corrupt));
    }
    // Without power from 300 to 1100 µs: what was due at 400, 600, 800 and 1000 is not sent later.
    let off = format!("{UDP}[[fault]]\nat_us = 300\nfor_us = 800\npower_off = 'a'\n");
    assert_eq!(event(&off.replace("packets = 10\n", ""), 1900)[0].sent, 3 * (2 + 4));
    for text in [UDP, &one] {
        assert_eq!(event(text, 3000), run(text, 3000, SimulationEngine::Step));
    }
}
