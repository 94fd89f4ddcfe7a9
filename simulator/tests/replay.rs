//! Packets that a host has recorded, sent again in a simulated network. H-1

use crate::support;

use myriscope_simulator::interface::HostStatistics;
use myriscope_simulator::network::SimulationEngine;
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::truth::TruthEventKind;
use support::{RunWay, TestRun};

/// Hosts with two addresses: the last byte of an address is 1 or 2, and that of a host its place.
const HOSTS: &str = "hosts = { '10.0.0.1' = 'h0', '10.0.0.2' = 'h1' }\n";

/// An IPv4 packet from 10.0.0.`from` to 10.0.0.`to`, UDP with a checksum that is wrong.
fn packet([from, to]: [u8; 2], data: &[u8]) -> Vec<u8> {
    let len = 28 + u8::try_from(data.len()).unwrap();
    // The ones' complement sum of the words, without a carry out of 16 bits.
    let sum: u16 = 0x4500 + 1 + 0x4011 + 0x1400 + u16::from(len) + u16::from(from) + u16::from(to);
    let [high, low] = (!sum).to_be_bytes();
    let ip = [0x45, 0, 0, len, 0, 1, 0, 0, 64, 17, high, low, 10, 0, 0, from, 10, 0, 0, to];
    [&ip[..], &[4, 0, 4, 1, 0, len - 20, 0x12, 0x34], data].concat()
}

/// A pcap file of raw IP, in microseconds.
fn pcap(packets: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, 101]);
    for (micros, bytes) in packets {
        let len = u32::try_from(bytes.len()).unwrap();
        file.extend(words(&[9, *micros, len, len]));
        file.extend(bytes);
    }
    file
}

/// A question, its answer, a packet from elsewhere, one of another protocol than IPv4, and a late one.
fn talk() -> Vec<u8> {
    let other = vec![0x60; 40];
    pcap(&[
        (100, packet([1, 2], b"one")),
        (110, packet([2, 1], b"answer")),
        (111, packet([1, 3], b"no")),
        (112, other),
        (999_000, packet([1, 2], b"late")),
    ])
}

fn read(keys: &str, file: &[u8]) -> Result<Scenario, String> {
    let text = format!(
        "duration_us = 100\ntopology = {{ kind = 'switch', ports = 4, hosts = 3 }}\n\
         interface.boot_us = 0\n[[replay]]\nfile = 'talk.pcap'\n{keys}"
    );
    let files = |name: &str, most: usize| match name {
        "talk.pcap" if file.len() <= most => Ok(file.to_vec()),
        _ => Err("no such file".to_owned()),
    };
    Scenario::read_from("net.toml", &text, None, &files).map_err(|error| {
        let problems = error.problems().iter();
        problems.map(|it| format!("{}:{}; {}", it.line, it.message, it.expected)).collect()
    })
}

/// Counters of the hosts, and the times and fields of the IP packets that are sent.
fn run(scenario: &Scenario, engine: SimulationEngine) -> (Vec<HostStatistics>, Vec<String>) {
    let run = TestRun::finished(scenario.clone(), RunWay::by(engine));
    let counters = ["h0", "h1", "h2"].map(|host| run.statistics(host)).to_vec();
    let sent = run.happened.into_iter().filter_map(|event| match event.kind {
        TruthEventKind::IpTransmitted(label) => {
            let [from, to] = label.ends.map(|(address, port)| format!("{address}:{port:?}"));
            Some(format!("{} {from} {to} {} {:?}", event.at / 80, label.data, label.checksum))
        }
        _ => None,
    });
    (counters, sent.collect())
}

#[test]
fn both_directions_are_sent_at_their_times() {
    let scenario = read(HOSTS, &talk()).unwrap();
    let times: Vec<_> = scenario.replays[0].packets.iter().map(|packet| packet.at).collect();
    // 10 µs are 800 periods.
    assert_eq!(times, [0, 800]);
    assert_eq!(
        scenario.notes(),
        [
            "talk.pcap: 3 of 5 packets are not sent: 1 are no IPv4 packets with a right header, 1 are \
          not between two of the hosts, 1 are later than the end"
        ]
    );
    let (counters, sent) = run(&scenario, SimulationEngine::Event);
    let ports = |from: u8, to: u8| format!("10.0.0.{from}:Some(1024) 10.0.0.{to}:Some(1025)");
    assert_eq!(
        sent,
        [
            format!("0 {} 3 Some(\"bad\")", ports(1, 2)),
            format!("10 {} 6 Some(\"bad\")", ports(2, 1))
        ]
    );
    assert_eq!(counters.iter().map(|host| host.sent).collect::<Vec<_>>(), [1, 1, 0]);
    assert_eq!(counters.iter().map(|host| host.handled.delivered).collect::<Vec<_>>(), [1, 1, 0]);
    assert_eq!((counters, sent), run(&scenario, SimulationEngine::Step));
}

#[test]
fn speed_start_and_checksum_change_them() {
    let more = "start_us = 5\nspeed = 2.5\nchecksum = ";
    for checksum in ["host", "nic"] {
        let scenario = read(&format!("{HOSTS}{more}'{checksum}'\n"), &talk()).unwrap();
        let (counters, sent) = run(&scenario, SimulationEngine::Event);
        let sent: Vec<_> = sent.iter().map(|row| (&row[..2], &row[row.len() - 6..])).collect();
        // 10 µs in a quarter and 0.15 of it: 4 µs.
        assert_eq!(sent, [("5 ", "3 None"), ("9 ", "6 None")], "{checksum}");
        // 31 and 34 bytes are summed by the hosts, or by their interfaces.
        let summed = if checksum == "host" { [31, 34] } else { [0, 0] };
        assert_eq!([0, 1].map(|host: usize| counters[host].touched.summed), summed);
    }
}

#[test]
fn faults_of_files_are_problems_of_the_scenario() {
    let cut = &talk()[..60];
    for (keys, file, expected) in [
        (
            HOSTS,
            cut,
            "5:talk.pcap: byte 24: the file ends inside of packet 1; expected a whole pcapng or pcap file of whole packets",
        ),
        (
            "hosts = { '10.0.0.2' = 'h1', '10.0.0.4' = 'h0' }",
            &talk(),
            "5:talk.pcap has no packet between two of the hosts; expected addresses in it, like 10.0.0.1 and 10.0.0.2",
        ),
        (
            "hosts = { '10.0.0.1' = 'h1' }",
            &pcap(&[]),
            "5:talk.pcap has no packet between two of the hosts; expected a file with IPv4 packets",
        ),
        (
            "hosts = { '10.0.0.1' = 'h0', '10.0.0.2' = 'h1' }\n[routes]\nmethod = 'given'",
            &talk(),
            "5:there is no route from `h0` to `h1`; expected hosts with routes between them",
        ),
    ] {
        assert_eq!(read(keys, file).unwrap_err(), expected);
    }
}
