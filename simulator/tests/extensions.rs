//! The extensions of §3.4 in whole networks, character by character. S-8, S-9

use crate::support;

use std::collections::BTreeMap;

use codec::packet::{Packet, PacketTag};
use codec::route::{PortId, RouteAddressing};
use codec::switch_answer::{AnsweredPorts, SwitchAnswer, SwitchPortState, TAG};
use myriscope_simulator::link::tagged_char::PacketId;
use myriscope_simulator::network::VisitOrder;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use support::{RunWay, TestRun};

/// A switch of eight ports, absolute, with hosts at ports 0 to 3.
const STAR: &str = r#"
duration_us = 200
switch_defaults = { addressing = "absolute", extensions = true }
[[switch]]
name = "s0"
[[host]]
name = "h0"
at = "s0:0"
[[host]]
name = "h1"
at = "s0:1"
[[host]]
name = "h2"
at = "s0:2"
[[host]]
name = "h3"
at = "s0:3"
[[tap]]
all = true
"#;

/// Loads the entry 60: to port 1 with nothing, to port 2 with 83 81, to port 3 with 84.
const LOAD: (u32, &str) = (0, "ff 7f 60 03 01 00 02 02 83 81 03 01 84 e2");

/// Raw characters of a host at a microsecond.
fn raw(host: &str, at: u32, chars: &str) -> String {
    format!("[[raw]]\nfrom = \"{host}\"\nat_us = {at}\nchars = \"GAP {chars} GAP\"\n")
}

/// Star in which h0 sends these packets.
fn star(packets: &[(u32, &str)], more: &str) -> TestRun {
    let packets = packets.iter().map(|(at, chars)| raw("h0", *at, chars));
    TestRun::whole(&format!("{STAR}{}{more}", packets.collect::<String>()))
}

/// Packets received by a host, in hex.
fn received(run: &TestRun, host: u32) -> Vec<String> {
    run.frames(&format!("h{host}:0 receives")).iter().map(|frame| hex(frame)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// Bytes received by a host before a period.
fn bytes_received(run: &TestRun, host: u32, period: usize) -> usize {
    run.data(&format!("h{host}:0 receives")).iter().filter(|place| **place < period).count()
}

/// Rules of the dropped packets, in order.
fn drops(run: &TestRun) -> Vec<String> {
    let rows = run.rows(&["dropped"]);
    rows.lines().filter_map(|row| row.split_once("rule:")).map(|(_, rule)| rule.into()).collect()
}

/// Checks that every packet ends once or is in transit.
fn check_ends(run: &TestRun) {
    let mut ends: BTreeMap<PacketId, i32> = BTreeMap::new();
    for row in &run.happened {
        let change = match row.kind.name() {
            "injected" => 1,
            "consumed" | "dropped" | "merged" => -1,
            _ => 0,
        };
        if let Some(id) = row.packet {
            *ends.entry(id).or_default() += change;
        }
    }
    assert!(ends.values().all(|count| (0..=1).contains(count)), "{ends:?}");
    assert_eq!(usize::try_from(ends.values().sum::<i32>()), Ok(run.network.in_transit()));
}

/// S-8
#[test]
fn a_switch_says_who_it_is_before_the_crc_byte() {
    // Version 1, 8 ports, absolute, in at port 0, node 0.
    let answer = "05 aa bb 01 08 00 00 00 00 00 00 5a";
    for (packet, expected) in [
        ("ff 83 05 aa bb 40", answer),
        // The bytes behind may come late.
        ("ff GO×100 83 GO×100 05 aa bb GO×100 40 GO×100", answer),
        // There is no payload. All that is left is the CRC byte: that of ff 83.
        ("ff 83 57", "01 08 00 00 00 00 00 00 f9"),
    ] {
        let run = star(&[(1, packet)], "");
        assert_eq!(received(&run, 3), [expected]);
        assert_eq!(run.rows(&["forwarded"]).lines().count(), 1);
        check_ends(&run);
    }
}

#[test]
fn a_bad_packet_stays_bad_by_the_same_bits() {
    // 40 ^ 10 came in, so 5a ^ 10 goes out. P-5
    let run = star(&[(1, "ff 83 05 aa bb 50")], "");
    assert_eq!(received(&run, 3), ["05 aa bb 01 08 00 00 00 00 00 00 4a"]);
}

#[test]
fn a_packet_comes_back_with_all_switches_on_its_way() {
    // s0 (node 0, 8 ports, relative): in at 2, out at 2 + 5 = 7. s1 (node 1, 4 ports, absolute): in
    // at 3 and out again. s0, not asked: in at 7, out at 7 − 5 = 2, which is 0xbb.
    let run = TestRun::whole(&format!(
        r#"
duration_us = 50
switch_defaults = {{ extensions = true }}
[[switch]]
name = "s0"
[[switch]]
name = "s1"
ports = 4
addressing = "absolute"
[[host]]
name = "h0"
at = "s0:2"
[[cable]]
ends = ["s0:7", "s1:3"]
[[tap]]
all = true
{}"#,
        raw("h0", 1, "ff 85 ff 83 bb 05 aa 0f")
    ));
    let expected = ["05 aa 01 08 01 02 00 00 00 00 01 04 00 03 00 00 00 01 80"];
    assert_eq!(received(&run, 0), expected);
    check_ends(&run);
}

/// S-8. A packet of `from` comes in 13 periods behind its GAP, is decoded 28 later and connected as the
/// token takes two periods for each port up to its own.
#[test]
fn a_computer_tells_the_state_of_all_ports() {
    let text = STAR.replace("extensions = true", "extensions = 'computer', ports = 5");
    let text = text.replace("at = \"s0:1\"", "at = \"s0:1\"\nrate_divisor = 4");
    let more = "[[host]]\nname = 'h4'\nat = 's0:4'\n\
                [[fault]]\nat_us = 0\nconsume = 'h2'\nhow = 'never'\n";
    let packets = [
        // Sends on from port 1 from period 49 on, the 13th of its own 1011, and from port 2 from 51 on.
        raw("h3", 0, "81 05×5000"),
        raw("h4", 0, "82 05×5000"),
        // Two packets for ports that are not there.
        raw("h0", 10, "85 05 GAP 86 05"),
        // Connected in 43 periods: all counts are of those before.
        raw("h0", 50, "ff 80 13 00"),
    ];
    let run = TestRun::whole(&format!("{text}{more}{}", packets.concat()));
    let all = 50 * 80 + 43;
    // F-4: STOP for the 48th byte holds the port twice the delay of 12 and 4 periods in the ports later.
    let sent = 47 + 2 * 12 + 4;
    assert_eq!(bytes_received(&run, 2, all), sent);
    let share = |count: usize| u32::try_from(count * 1_000_000 / all).unwrap();
    let port = |used, stopped, drops| SwitchPortState {
        utilisation: share(used),
        stopped: share(stopped),
        drops,
    };
    let ports = AnsweredPorts::Watched(vec![
        port(0, 0, 2),
        SwitchPortState { utilisation: (1011 - 13) * 1_000_000 / 1011, stopped: 0, drops: 0 },
        // It counts as stopped from the period after the first without a byte.
        port(sent, all - 51 - sent - 1, 0),
        port(0, 0, 0),
        port(0, 0, 0),
    ]);
    let answer =
        SwitchAnswer { ports, addressing: RouteAddressing::Absolute, input: PortId(0), node: 0 };
    let frames = run.frames("h0:0 receives");
    let packet = Packet::parse(&frames[0]);
    assert_eq!(packet.tag.map(PacketTag::value), Some(TAG));
    assert_eq!(SwitchAnswer::parse_all(packet.payload), (vec![answer], None));
    check_ends(&run);
}

#[test]
fn what_is_behind_must_be_a_real_port() {
    // Once more ff, a virtual address, no port, nothing at all.
    let run = star(&[(1, "ff ff 83 05"), (5, "ff e0 05"), (10, "ff 88 05"), (15, "ff")], "");
    assert_eq!(drops(&run), ["S-1"; 4]);
    check_ends(&run);
}

#[test]
fn without_the_extensions_the_addresses_select_no_port() {
    for addressing in ["absolute", "relative"] {
        let defaults = format!("addressing = \"{addressing}\"");
        let star = STAR.replace("addressing = \"absolute\", extensions = true", &defaults);
        let packets = raw("h0", 1, "ff 83 05 aa bb 40") + &raw("h0", 10, LOAD.1);
        let run = TestRun::whole(&format!("{star}{packets}{}", raw("h0", 20, "e0 05 aa bb 16")));
        assert_eq!(drops(&run), ["S-1"; 3]);
        assert_eq!(run.rows(&["forwarded"]), "");
    }
}

#[test]
fn a_multicast_goes_to_all_outputs_each_with_its_header() {
    let run = star(&[LOAD, (10, "e0 05 aa bb 16")], "");
    assert_eq!(received(&run, 1), ["05 aa bb 72"]);
    assert_eq!(received(&run, 2), ["83 81 05 aa bb 64"]);
    assert_eq!(received(&run, 3), ["84 05 aa bb 1b"]);
    // The packet goes with the copy of the lowest port.
    // The load has 13 bytes behind the one that the switch used; that one is heard in 13, decoded
    // in 41, and a byte is taken in a period. The multicast's is heard in 813 and decoded in 841;
    // each output is asked for in the period after the one before it was granted.
    insta::assert_snapshot!(run.rows(&["forwarded", "consumed"]), @r"
    56 s0:0 h0#0 consumed length:13 crc:good syndrome:0 handling:delivered
    849 s0:1 h0#1 forwarded input:0
    849 s0:2 forwarded input:0
    849 s0:3 forwarded input:0
    867 h1:0 h0#1 consumed length:4 crc:good syndrome:0 handling:delivered
    867 h2:0 consumed length:6 crc:good syndrome:0 handling:misrouted
    867 h3:0 consumed length:5 crc:good syndrome:0 handling:misrouted
    ");
    check_ends(&run);
}

#[test]
fn a_bad_multicast_is_bad_by_the_same_bits_everywhere() {
    let run = star(&[LOAD, (10, "e0 05 aa bb 36")], "");
    assert_eq!(received(&run, 1), ["05 aa bb 52"]);
    assert_eq!(received(&run, 2), ["83 81 05 aa bb 44"]);
    assert_eq!(received(&run, 3), ["84 05 aa bb 3b"]);
}

#[test]
fn a_multicast_of_a_byte_alone_goes_nowhere() {
    let run = star(&[LOAD, (10, "e0")], "");
    assert_eq!(drops(&run), ["P-9"]);
    for host in 1..4 {
        assert!(received(&run, host).is_empty());
    }
    check_ends(&run);
}

/// A payload of 400 bytes, and its packet with one byte in front and one CRC byte.
fn long(first: &[u8], crc: &[u8]) -> String {
    let bytes = (0..=249).cycle().take(400);
    let bytes: Vec<_> = [0x05].into_iter().chain(bytes).collect();
    let crc = codec::crc::crc8(&[crc, bytes.as_slice()].concat());
    let all = first.iter().chain(&bytes).chain([&crc]);
    all.map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_stopped_output_holds_the_others_and_loses_nothing() {
    let stop = "[[fault]]\nat_us = 0\nconsume = \"h2\"\nhow = \"never\"\nfor_us = 100\n";
    let run = star(&[LOAD, (10, &long(&[0xe0], &[0xe0]))], stop);
    // h2's slack buffer holds 80; the others are no further than a byte, but for their headers.
    let before = |host| bytes_received(&run, host, 100 * 80);
    let held = before(2);
    assert!((48..=80).contains(&held), "{held}");
    assert!((held - 2..=held - 1).contains(&before(1)), "{}", before(1));
    assert!((held - 1..=held).contains(&before(3)), "{}", before(3));
    assert_eq!(received(&run, 1), [long(&[], &[])]);
    assert_eq!(received(&run, 2), [long(&[0x83, 0x81], &[0x83, 0x81])]);
    assert_eq!(received(&run, 3), [long(&[0x84], &[0x84])]);
    check_ends(&run);
}

#[test]
fn an_output_that_gives_up_drops_out() {
    // R-4: h2 takes nothing for ever; its sender gives up after 1000 periods.
    let text = STAR.replace("at = \"s0:2\"", "at = \"s0:2\"\nblocked_periods = 1000");
    let stop = "[[fault]]\nat_us = 0\nconsume = \"h2\"\nhow = \"never\"\n";
    let packets = raw("h0", LOAD.0, LOAD.1) + &raw("h0", 10, &long(&[0xe0], &[0xe0]));
    // The output is free again, and so is the input.
    let run = TestRun::whole(&format!("{text}{stop}{packets}{}", raw("h0", 50, "83 05 aa bb 79")));
    assert_eq!(received(&run, 1), [long(&[], &[])]);
    assert_eq!(received(&run, 3), [long(&[0x84], &[0x84]), "05 aa bb 72".to_owned()]);
    assert_eq!(run.rows(&["forward-reset"]).lines().count(), 1);
    check_ends(&run);
}

#[test]
fn an_output_without_power_drops_out() {
    let stop = "[[fault]]\nat_us = 0\nconsume = \"h2\"\nhow = \"never\"\n\
                [[fault]]\nat_us = 20\ndead_port = \"s0:1\"\n\
                [[fault]]\nat_us = 30\ndead_port = \"s0:2\"\n";
    let run = star(&[LOAD, (10, &long(&[0xe0], &[0xe0]))], stop);
    assert_eq!(received(&run, 3), [long(&[0x84], &[0x84])]);
    check_ends(&run);
    // Without all three what is left of the packet is dropped, and the input is free.
    let dead = "[[fault]]\nat_us = 40\ndead_port = \"s0:3\"\nfor_us = 20\n";
    let stop =
        format!("{}{dead}", stop.replace("30\ndead_port = \"s0:2\"", "30\nprobe = \"s0:2\""))
            + "[[fault]]\nat_us = 50\ndead_port = \"s0:2\"\n";
    let run = star(&[LOAD, (10, &long(&[0xe0], &[0xe0])), (100, "83 05 aa bb 79")], &stop);
    assert_eq!(received(&run, 3).last().unwrap(), "05 aa bb 72");
    check_ends(&run);
}

#[test]
fn a_reset_input_ends_all_copies() {
    // R-3: FRES from h0 while h2 holds all of them.
    let stop = "[[fault]]\nat_us = 0\nconsume = \"h2\"\nhow = \"never\"\nfor_us = 80\n\
                [[fault]]\nat_us = 50\nforward_reset = \"h0:0\"\n";
    let run = star(&[LOAD, (10, &long(&[0xe0], &[0xe0])), (100, "e0 05 aa bb 16")], stop);
    for (host, last) in [(1, "05 aa bb 72"), (2, "83 81 05 aa bb 64"), (3, "84 05 aa bb 1b")] {
        let packets = received(&run, host);
        assert_eq!(packets.len(), 2);
        assert!(packets[0].split(' ').count() <= 82, "{}", packets[0]);
        assert_eq!(packets[1], last);
    }
    check_ends(&run);
}

#[test]
fn multicasts_to_the_same_outputs_do_not_wait_in_a_circle() {
    // 60 lists ports 2 and 3, 61 ports 3 and 2; both are asked for at once, again and again.
    let loads =
        raw("h0", 0, "ff 7f 60 02 02 00 03 00 8f") + &raw("h1", 0, "ff 7f 61 02 03 00 02 00 a5");
    let packets = (0..10).map(|number| {
        raw("h0", 10 + number, "e0 05 cc e5") + &raw("h1", 10 + number, "e1 05 cc 8e")
    });
    let run = TestRun::whole(&format!("{STAR}{loads}{}", packets.collect::<String>()));
    for host in [2, 3] {
        assert_eq!(received(&run, host), ["05 cc 2b"; 20]);
    }
    check_ends(&run);
}

#[test]
fn a_load_that_is_not_right_changes_nothing() {
    let long = format!("ff 7f {}", "00 ".repeat(255));
    let wrong = [
        // Another tag, a bad CRC byte, a port that is not there, no virtual address, too long.
        (10, "ff 7e 60 01 01 00 48"),
        (20, "ff 7f 60 01 01 00 00"),
        (30, "ff 7f 60 01 08 00 97"),
        (40, "ff 7f 20 00 5f"),
        (50, long.as_str()),
        (60, "ff 7f"),
    ];
    let wrong: Vec<_> = [LOAD].into_iter().chain(wrong).collect();
    let run = star(&[wrong.as_slice(), &[(80, "e0 05 aa bb 16")]].concat(), "");
    assert_eq!(drops(&run), ["S-9"; 6]);
    assert_eq!(received(&run, 2), ["83 81 05 aa bb 64"]);
    check_ends(&run);
}

#[test]
fn an_entry_with_no_items_selects_nothing() {
    let run = star(&[LOAD, (10, "ff 7f 60 00 04"), (20, "e0 05 aa bb 16")], "");
    assert_eq!(drops(&run), ["S-1"]);
    check_ends(&run);
}

#[test]
fn the_table_is_lost_with_the_power() {
    let off = "[[fault]]\nat_us = 20\npower_off = \"s0\"\nfor_us = 5\n";
    let run = star(&[LOAD, (50, "e0 05 aa bb 16")], off);
    assert_eq!(drops(&run), ["S-1"]);
    check_ends(&run);
}

/// Two switches with three hosts each and a cable between them, with parameters at their limits.
fn edge() -> String {
    let mut text = r#"
duration_us = 60
switch_defaults = { addressing = "absolute", extensions = true, ports = 4 }
link = { length_m = 2, go_slack = 2, hysteresis = 2, stop_slack = 12, blocked_periods = 150 }
[[switch]]
name = "s0"
[[switch]]
name = "s1"
addressing = "relative"
[[cable]]
ends = ["s0:3", "s1:3"]
"#
    .to_owned();
    for host in 0..6 {
        let (switch, port) = (host / 3, host % 3);
        text += &format!("[[host]]\nname = \"h{host}\"\nat = \"s{switch}:{port}\"\n");
    }
    for host in [0, 3] {
        // 60: ports 0, 1 and 3; behind port 3 there is 61. 61: ports 1 and 3.
        text += &raw(&format!("h{host}"), 0, "ff 7f 60 03 03 01 e1 00 00 01 02 85 86 de");
        text += &raw(&format!("h{host}"), 0, "ff 7f 61 02 01 00 03 00 9c");
    }
    text + "[[tap]]\nall = true\n"
}

fn packet() -> impl Strategy<Value = String> {
    let first = select(vec!["e0", "e0", "e1", "ff", "81", "83", "bf", "ff 83", "ff bf", "ff ff"]);
    let byte = select(vec!["00", "5a", "ff", "GO", "GAP", "83", "e1", "04×40", "STOP×9"]);
    (first, vec(byte, 0..12)).prop_map(|(first, rest)| format!("{first} {}", rest.join(" ")))
}

fn fault() -> impl Strategy<Value = String> {
    let what = select(vec![
        "consume = \"h1\"\nhow = \"never\"\nfor_us = 20",
        "consume = \"h4\"\nhow = 7\nfor_us = 30",
        "consume = \"any\"\nhow = \"never\"\nfor_us = 9",
        "forward_reset = \"any\"",
        "power_off = \"any\"\nfor_us = 2",
        "dead_port = \"any\"\nfor_us = 3",
        "cut = \"any\"\nfor_us = 1",
        "lose_gap = \"any\"",
        "restart = \"any\"",
    ]);
    (1..60, what).prop_map(|(at, what)| format!("[[fault]]\nat_us = {at}\n{what}\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn whatever_comes_packets_end_once_and_the_order_of_parts_makes_no_difference(
        packets in vec((0..6_u32, 1..50_u32, packet()), 1..60),
        faults in vec(fault(), 0..6),
        seed: u64,
    ) {
        let packets = packets.iter().map(|(host, at, chars)| raw(&format!("h{host}"), *at, chars));
        let text = format!("seed = {seed}\n{}{}{}", edge(), packets.collect::<String>(), faults.concat());
        let run = |order| {
            let run = TestRun::new(support::read(&text), RunWay::arranged(order));
            run.with_periods(60 * 80).sorted()
        };
        let given = run(VisitOrder::AsGiven);
        check_ends(&given);
        given.assert_same(&run(VisitOrder::Shuffled(seed)), &text);
    }
}
