//! Behaviour of networks with missing, broken or wrongly addressed parts. S-1, S-2, R-3, I-3, L,
//! N-1

use crate::support;

use myriscope_simulator::network::{SimulationEngine, VisitOrder};
use myriscope_simulator::port::PortLed;
use myriscope_simulator::truth::TruthEventKind;
use support::{RunWay, TestRun};

/// Switch of four ports with hosts at 0 and 1 and nothing at 2, and further tables.
fn star(more: &str) -> String {
    format!(
        "duration_us = 20\n{more}\n\
         [[switch]]\nname = \"s0\"\nports = 4\naddressing = \"absolute\"\n\
         [[host]]\nname = \"h0\"\nat = \"s0:0\"\n\
         [[host]]\nname = \"h1\"\nat = \"s0:1\"\n\
         [[host]]\nname = \"h3\"\nat = \"s0:3\"\n"
    )
}

fn raw(chars: &str) -> String {
    format!("[[raw]]\nfrom = \"h0\"\nat_us = 1\nchars = \"{chars}\"\n")
}

const ENDS: [&str; 3] = ["dropped", "consumed", "merged"];

#[test]
fn a_byte_that_selects_no_port_drops_the_packet() {
    // S-1: the switch has no port 4, nothing is at port 2. S-2: 05 is no route byte. The packet
    // goes out in period 80, its head is heard in 92 and decoded 28 periods later.
    for (bytes, rule) in [("84 05 00", "S-1"), ("82 05 00", "S-1"), ("05 00", "S-2")] {
        let run = TestRun::whole(&star(&raw(&format!("{bytes} GAP"))));
        assert_eq!(run.rows(&ENDS), format!("120 s0:0 h0#0 dropped rule:{rule}\n"), "{bytes}");
    }
}

#[test]
fn a_port_whose_link_is_open_drops_the_packet() {
    // S-1: without power host 3 is silent, and after 16 periods the light is red. L
    let fault = "[[fault]]\nat_us = 0\npower_off = \"h3\"\n";
    let run = TestRun::whole(&star(&format!("{}{fault}", raw("83 05 00 GAP"))));
    assert_eq!(run.rows(&ENDS), "120 s0:0 h0#0 dropped rule:S-1\n");
    let light = |port| run.network.port_state(run.port(port)).map(|(_, light)| light);
    assert_eq!(light("s0:3"), Some(PortLed::Red));
    assert_eq!(light("h3:0"), Some(PortLed::Off));
    assert_eq!(light("s0:0"), Some(PortLed::Green));
    // No cable, no port at work.
    assert_eq!(light("s0:2"), None);
}

#[test]
fn a_port_is_yellow_while_a_packet_passes() {
    // L: h0 sends in periods 80 to 83, s0 receives that 12 periods later.
    let text = star(&raw("81 05 00 00 GAP"));
    let light = |periods, port| {
        let run = TestRun::until(&text, periods);
        run.network.port_state(run.port(port)).map(|(_, light)| light)
    };
    assert_eq!(light(80, "h0:0"), Some(PortLed::Green));
    assert_eq!(light(81, "h0:0"), Some(PortLed::Yellow));
    assert_eq!(light(92, "s0:0"), Some(PortLed::Green));
    assert_eq!(light(93, "s0:0"), Some(PortLed::Yellow));
    assert_eq!(light(100, "h0:0"), Some(PortLed::Green));
}

#[test]
fn a_packet_may_leave_by_the_port_at_which_it_came() {
    // 80 at input 0 selects output 0: the host gets its own packet. Tag 05, CRC of 05.
    let crc = codec::crc::crc8(&[0x80, 0x05]);
    let run = TestRun::whole(&star(&raw(&format!("80 05 {crc:02x} GAP"))));
    let ends = run.rows(&ENDS);
    assert!(ends.contains("h0:0 h0#0 consumed") && ends.contains("handling:delivered"), "{ends}");
}

#[test]
fn an_interface_that_gets_a_reset_need_not_load_its_program_again() {
    // FRES is ordered at the switch's port 1 in period 800. I-3: where the program is loaded
    // again that takes 400 periods, and packets that come meanwhile are absorbed and ignored.
    // Packets are sent in periods 480, 720, 960, 1200 and 1440; each takes about 70.
    assert_eq!(handled("forward_reset = \"s0:1\""), ["delivered"; 5]);
    let third = ["delivered", "delivered", "ignored", "delivered", "delivered"];
    assert_eq!(handled("restart = \"h1\""), third);
}

/// Handling of five packets around a fault.
fn handled(fault: &str) -> Vec<String> {
    let more = format!(
        "[interface]\nboot_us = 5\n[[fault]]\nat_us = 10\n{fault}\n\
         [[traffic]]\nfrom = \"h0\"\nto = \"h1\"\npayload = 4\nevery_us = 3\nstart_us = 6\n"
    );
    let run = TestRun::whole(&star(&more));
    let ends = run.rows(&ENDS);
    let handled = |row: &str| {
        row.split_once("handling:")
            .map(|(_, rest)| rest.split(' ').next().unwrap_or_default().to_owned())
    };
    ends.lines().filter_map(handled).collect()
}

#[test]
fn a_switch_without_power_forgets_all_and_starts_anew() {
    // S-7: off from period 800 to 1600. h1's port is the one behind it.
    let more = "[[fault]]\nat_us = 10\npower_off = \"s0\"\nfor_us = 10\n\
                [[traffic]]\nfrom = \"h0\"\nto = \"h1\"\npayload = 40\nevery_us = 2\n";
    let text = star(more).replace("duration_us = 20", "duration_us = 40");
    let mut run = TestRun::whole(&text);
    run.network.finish();
    let (injected, ends) = (run.rows(&["injected"]), run.rows(&ENDS));
    assert_eq!(injected.lines().count(), 20);
    // Each packet has one end; those of the dark time are lost on an open link.
    assert_eq!(ends.lines().count() + run.network.in_transit(), 20, "{ends}");
    assert_eq!(ends.matches("rule:F-7").count(), 5, "{ends}");
    assert_eq!(ends.matches("handling:delivered").count(), 15, "{ends}");
    // Both ends of both links have noticed.
    assert_eq!(run.rows(&["open-link"]).lines().count(), 3);
    assert_eq!(run.rows(&["link-restored"]).lines().count(), 3);
}

#[test]
fn a_dead_port_neither_hears_nor_sends() {
    let more = "[[fault]]\nat_us = 0\ndead_port = \"s0:0\"\n";
    let run = TestRun::whole(&star(&format!("{}{more}", raw("81 05 00 GAP"))));
    // Nothing ever comes: the 16th silent period is period 15.
    assert_eq!(run.rows(&["dropped", "open-link"]).lines().next(), Some("15 h0:0 open-link"));
    assert!(run.rows(&ENDS).contains("h0#0 dropped rule:F-7"));
}

/// Network with cycles, unused ports, an unpowered host, slow links and all kinds of faults.
const UNTIDY: &str = "seed = 5\nduration_us = 60\n\
    [link]\nlength_m = 7\ngo_slack = 6\nhysteresis = 4\nstop_slack = 20\nblocked_periods = 900\n\
    symbols = \"all\"\n\
    [topology]\nkind = \"ring\"\nswitches = 4\nhosts_per_switch = 2\n\
    [[host]]\nname = \"x\"\nat = \"s1:5\"\nrate_divisor = 3\n\
    [[host]]\nname = \"dark\"\nat = \"s2:6\"\n\
    [routes]\nmethod = \"shortest\"\n\
    [[traffic]]\nto = \"uniform\"\npayload = 60\nload = 0.4\n\
    [[fault]]\nat_us = 0\npower_off = \"dark\"\n\
    [[fault]]\nat_us = 9\ncut = \"s0:0\"\nfor_us = 4\n\
    [[fault]]\nat_us = 20\nforward_reset = \"s3:1\"\n\
    [[tap]]\nall = true\n";

#[test]
fn the_order_in_which_parts_are_visited_makes_no_difference() {
    let run = |order| TestRun::finished(support::read(UNTIDY), RunWay::arranged(order)).sorted();
    let given = run(VisitOrder::AsGiven);
    assert!(given.count(|kind| kind.name() == "consumed") > 0, "something has happened");
    for seed in 0..5 {
        given.assert_same(&run(VisitOrder::Shuffled(seed)), &format!("layout {seed}"));
    }
}

#[test]
fn a_port_may_be_tapped_in_several_windows() {
    let tap = |from, to| format!("[[tap]]\nport = \"s0:0\"\nfrom_us = {from}\nto_us = {to}\n");
    let text = star(&format!("{}{}", tap(1, 2), tap(4, 5)));
    let run = TestRun::finished(support::read(&text), RunWay::USUAL);
    let spans: Vec<_> = run.chunks.iter().map(|it| (it.channel.0, it.first, it.end())).collect();
    // Two channels, 80 periods in each window, and a hole between.
    let expected = [(0, 80, 160), (1, 80, 160), (0, 320, 400), (1, 320, 400)];
    assert_eq!((run.network.channels().len(), spans.as_slice()), (2, expected.as_slice()));
}

#[test]
fn the_byte_that_is_held_back_takes_no_cell() {
    // P-5, F-3: with k_g = 0 GO comes when the slack buffer is empty, and it does get empty.
    let more = "[link]\ngo_slack = 0\n\
                [[traffic]]\nfrom = \"h0\"\nto = \"h1\"\npayload = 100\nsaturate = true\n";
    let run = TestRun::whole(&star(more));
    assert!(run.statistics("h1").received > 5, "{}", run.rows(&ENDS));
}

#[test]
fn an_output_that_dies_takes_its_packet_with_it_and_blocks_nobody() {
    // S-1: its path is formed in period 122 or so; the port dies in period 160 for good. What is
    // left of the packet is dropped, so the next one, to h3, gets through the same input.
    let long = "05 ".repeat(300);
    let fault = "[[fault]]\nat_us = 2\ndead_port = \"s0:1\"\n";
    let run =
        TestRun::whole(&star(&format!("{}{fault}", raw(&format!("81 {long} GAP 83 05 00 GAP")))));
    let rows = run.rows(&["truncated", "consumed"]);
    assert!(rows.contains("160 s0:1 h0#0 truncated rule:S-1"), "{rows}");
    assert!(rows.contains("h1:0 h0#0 consumed"), "{rows}");
    assert!(rows.contains("h3:0 h0#1 consumed"), "{rows}");
    assert_eq!(run.network.in_transit(), 0);
}

#[test]
fn a_probe_asks_for_counters_or_for_a_restart() {
    // h1 has sent 19 packets when s0 asks for its counters: replies 3, 1, then 0.
    let probes = |action: &str, every: u64, count: u64| -> String {
        let probe = |n| {
            format!("[[probe]]\nport = 's0:1'\naction = '{action}'\nat_us = {}\n", 300 + every * n)
        };
        (0..count).map(probe).collect()
    };
    let text = |probes: String| {
        star("[link]\nsymbols = 'all'\n").replace("duration_us = 20", "duration_us = 400")
            + "[[traffic]]\nfrom = 'h1'\nto = 'h0'\npayload = 9\nevery_us = 1\npackets = 19\n"
            + &probes
    };
    let run = TestRun::whole(&text(probes("counters", 5, 9)));
    let status = |row: &str| row.split("status:").nth(1)?.split(' ').next()?.parse::<u32>().ok();
    let replies: Vec<_> = run.rows(&["reply"]).lines().filter_map(status).collect();
    assert_eq!(replies, [3, 1, 0, 0, 0, 0, 0, 0, 3]);
    let run = TestRun::whole(&text(probes("reset", 5, 1)));
    // The probe is heard 12 periods after it is sent, and the reply 12 after that.
    assert_eq!(run.rows(&["interrupt"]), "24012 h1:0 interrupt cause:restart\n");
    assert_eq!(run.rows(&["reply"]).lines().count(), 1);
    assert_eq!(run.statistics("h1").interrupts, 1);
}

/// Two hosts with an interface at each of two switches, which are independent of each other; packets
/// of 1024 bytes between these interfaces, and further tables.
fn twins(bus: &str, streams: &[u8], more: &str) -> String {
    let host = |name: &str, port: u8| {
        format!(
            "[[host]]\nname = '{name}'\ninterfaces = 2\nat = ['s0:{port}', 's1:{port}']\n\
             bus = '{bus}'\nboot_periods = 400\n"
        )
    };
    let stream = |at: &u8| {
        format!("[[traffic]]\nfrom = 'h0.{at}'\nto = 'h1.{at}'\npayload = 1024\nsaturate = true\n")
    };
    "duration_periods = 100000\n[[switch]]\nname = 's0'\n[[switch]]\nname = 's1'\n".to_owned()
        + &host("h0", 0)
        + &host("h1", 1)
        + &streams.iter().map(stream).collect::<String>()
        + more
}

/// Messages of 1024 bytes between the first interfaces of [`twins`], for which only the bus takes time.
const MESSAGES: &str = "
[costs]
preset = 'nothing'
bus_burst_us = 1.15
[[endpoint]]
name = 'a'
host = 'h0.0'
[[endpoint]]
name = 'b'
host = 'h1.0'
[[messages]]
from = 'a'
to = 'b'
kind = 'medium'
bytes = 1024
saturate = true
";

/// Tests that both engines and any order of parts give the same rows.
fn check_order(text: &str) {
    let run = |way| TestRun::new(support::read(text), way).with_periods(20_000).sorted();
    let usual = run(RunWay::USUAL);
    for (engine, seed) in [(SimulationEngine::Event, 7), (SimulationEngine::Step, 8)] {
        let way = RunWay { order: VisitOrder::Shuffled(seed), ..RunWay::by(engine) };
        usual.assert_same(&run(way), &format!("{way:?}"));
    }
}

#[test]
fn two_interfaces_share_the_bus_of_their_host() {
    // I-7: 1024 bytes take 16 bursts of 92 periods: 100 000 periods are 67 packets, of which one
    // interface has all, or each half.
    let sent = |streams: &[u8]| {
        let run = TestRun::whole(&twins("sbus", streams, ""));
        ["h0.0", "h0.1"].map(|host| run.statistics(host).injected)
    };
    assert_eq!(sent(&[0]), [67, 0]);
    let [one, other] = sent(&[0, 1]);
    assert!(one.abs_diff(other) <= 1 && (66..=67).contains(&(one + other)), "{one} {other}");
    check_order(&twins("sbus", &[0, 1], ""));
}

#[test]
fn messages_share_the_bus_of_their_host_with_other_traffic() {
    // I-7: the bus moves 67.9 times 1024 bytes in 100 000 periods, as messages or as packets, in turn
    // burst by burst: to each of two or three that have something to move its half or third. A
    // message counts from its first burst on, a packet when it leaves.
    let moved = |bus: &str, streams: &[u8], more: &str| {
        let run = TestRun::whole(&twins(bus, streams, more));
        let ports = ["h0.0", "h0.1"];
        let packets: u64 = ports.iter().map(|host| run.statistics(host).injected).sum();
        let [host, other] = ports.map(|host| run.port(&format!("{host}:0")).node);
        let of_messages = run.happened.iter().filter(|row| {
            matches!(row.kind, TruthEventKind::Transmitted(_))
                && [host, other].contains(&row.place.node)
        });
        let messaging = run.network.interface(host).unwrap().messaging();
        let busy = messaging.map_or(0, |it| it.statistics().bus_busy);
        [busy / (16 * 92), packets - of_messages.count() as u64]
    };
    for (bus, streams, more, expected) in [
        ("sbus", &[][..], MESSAGES, [68, 0]),
        ("sbus", &[0], MESSAGES, [34, 33]),
        ("sbus", &[1], MESSAGES, [34, 33]),
        ("sbus", &[0, 1], MESSAGES, [23, 44]),
        // The link takes 1031 and more periods for a packet, and neither slows the other.
        ("ideal", &[], MESSAGES, [68, 0]),
        ("ideal", &[1], "", [0, 94]),
        ("ideal", &[1], MESSAGES, [68, 94]),
    ] {
        assert_eq!(moved(bus, streams, more), expected, "{bus} {streams:?}");
    }
    let lost = "[[fault]]\nevery_periods = 2100\nrestart = 'h0.0'\n\
                [[fault]]\nat_periods = 9000\nforward_reset = 's0:0'\n\
                [[fault]]\nevery_periods = 6300\npower_off = 'h0.1'\nfor_periods = 700\n";
    for faults in ["", lost] {
        check_order(&twins("sbus", &[0, 1], &format!("{MESSAGES}{faults}")));
    }
}
