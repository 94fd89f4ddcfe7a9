//! Tests of networks that Myrinet is compared with: chains, handshake cables, switches that store packets. B-1, B-2

use crate::support;

use myriscope_simulator::fault::FaultKind;
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::truth::TruthEventKind;
use support::TestRun;

/// A chain with a cable from its end to a switch that stores packets of up to 8 + 4 − 1 bytes.
const NETWORK: &str = r#"
duration_us = 300
[[chain]]
hosts = ["h0", "h1", "h2"]
kind = "handshake"
length_m = 1
[[switch]]
name = "s0"
forwarding = "store-and-forward"
[[host]]
name = "h3"
at = "s0:1"
go_slack = 8
hysteresis = 4
[[host]]
name = "h4"
at = "s0:2"
[[cable]]
ends = ["h2.ports:2", "s0:0"]
[[tap]]
all = true
"#;

/// A packet of h3 for h4, with this payload, at a microsecond.
fn packet(at: u32, payload: u32, from: &str, to: &str) -> String {
    format!(
        "[[traffic]]\nfrom = \"{from}\"\nto = \"{to}\"\npayload = {payload}\nevery_us = 1\n\
         start_us = {at}\npackets = 1\n"
    )
}

#[test]
fn a_switch_that_stores_packets_drops_bad_and_long_ones() {
    // Route byte, tag, payload, CRC byte: 8, 11 and 12 bytes; and 81 05 00 with a wrong CRC byte.
    let bad = "[[raw]]\nfrom = \"h3\"\nat_us = 40\nchars = \"GAP 81 05 00 01 GAP\"\n";
    let [short, fits, long] =
        [(10, 5), (20, 8), (30, 9)].map(|(at, payload)| packet(at, payload, "h3", "h4"));
    let last = packet(50, 1, "h3", "h4");
    let run = TestRun::whole(&format!("{NETWORK}{short}{fits}{long}{bad}{last}"));
    let heard = run.frames("h4:0 receives");
    assert_eq!(heard.iter().map(Vec::len).collect::<Vec<_>>(), [7, 10, 3]);
    let dropped = run.rows(&["dropped"]);
    let rules: Vec<_> =
        dropped.lines().map(|row| row.contains("h3#2") || row.contains("h3#3")).collect();
    assert_eq!((rules, dropped.matches("B-2").count()), (vec![true, true], 2), "{dropped}");
}

#[test]
fn the_hosts_of_a_chain_pass_on_what_is_not_theirs_and_lose_their_power_as_a_whole() {
    let packets =
        [(10, "h0", "h4"), (20, "h4", "h0"), (30, "h0", "h1"), (60, "h0", "h2"), (80, "h3", "h2")];
    let packets = packets.map(|(at, from, to)| packet(at, 4, from, to)).concat();
    let text =
        format!("{NETWORK}{packets}[[fault]]\nat_us = 50\npower_off = \"h1\"\nfor_us = 100\n");
    let scenario = Scenario::read("chain", &text).unwrap();
    let off = |scenario: &Scenario| -> Vec<_> {
        let faults = scenario.faults.iter();
        faults.map(|fault| (fault.at, fault.kind, fault.place.node)).collect()
    };
    let names = |name: &str| scenario.topology.find(name).unwrap();
    let mut both = ["h1", "h1.ports"].map(|name| (4000, FaultKind::PowerOff, names(name)));
    assert_eq!(off(&scenario), both);
    both.reverse();
    let of_ports = text.replace("power_off = \"h1\"", "power_off = \"h1.ports\"");
    assert_eq!(off(&Scenario::read("ports", &of_ports).unwrap()), both, "whichever is named");
    let run = TestRun::whole(&text);
    let received = ["h0", "h1", "h2", "h3", "h4"].map(|host| run.statistics(host).received);
    // The packet from h0 to h2 waits before h1, even when that has its power back; the others have
    // arrived.
    assert_eq!(received, [1, 1, 1, 0, 1]);
    assert_eq!(run.count(|kind| matches!(kind, TruthEventKind::Dropped(_))), 1);
    // S-10: a host has one supply, whatever switches have.
    let supply = text.replace("power_off", "supply_off");
    let run = TestRun::whole(&format!("switch_defaults = {{ supplies = 2 }}\n{supply}"));
    assert_eq!(run.times("h1.ports:0", |kind| matches!(kind, TruthEventKind::PowerLost)), [4000]);
}

/// I-3: the host is the supply of all its interfaces, whether it is named or one of them.
#[test]
fn all_interfaces_of_a_host_lose_their_power_together() {
    for named in ["h0", "h0.0", "h0.1"] {
        let text = format!(
            "duration_us = 100\n[[switch]]\nname = \"s0\"\n[[host]]\nname = \"h0\"\ninterfaces = 2\n\
             at = [\"s0:0\", \"s0:1\"]\n[[host]]\nname = \"h1\"\nat = \"s0:2\"\n\
             [[fault]]\nat_us = 50\npower_off = \"{named}\"\nfor_us = 20\n"
        );
        let run = TestRun::whole(&text);
        for port in ["h0.0:0", "h0.1:0", "h1:0"] {
            let lost = run.times(port, |kind| matches!(kind, TruthEventKind::PowerLost));
            assert_eq!(lost, if port == "h1:0" { vec![] } else { vec![4000] }, "{named} {port}");
        }
    }
    // A node is meant by its own name, whatever others are called.
    let text = "duration_us = 100\n[[switch]]\nname = \"s0\"\n[[host]]\nname = \"h0.0\"\nat = \"s0:0\"\n\
                [[host]]\nname = \"h0\"\nat = \"s0:1\"\n[[fault]]\nat_us = 50\npower_off = \"h0\"\n";
    let scenario = Scenario::read("dots", text).unwrap();
    assert_eq!(Some(scenario.faults[0].place.node), scenario.topology.find("h0"));
    assert_eq!(scenario.faults.len(), 1);
    let text = "[[switch]]\nname = \"s0\"\n[[host]]\nname = \"h0\"\nat = \"s0:0\"\n\
                [[fault]]\nat_us = 50\npower_off = \"h\"\n";
    assert!(Scenario::read("unknown", text).unwrap_err().to_string().contains("unknown node `h`"));
}

/// S-10: a box with two supplies loses its power with the second of them.
#[test]
fn a_switch_has_power_as_long_as_one_of_its_supplies() {
    let star = "duration_us = 100\n[[switch]]\nname = \"s0\"\nmodel = \"M2F-SW4\"\nsupplies = 2\n\
                [[host]]\nname = \"h0\"\nat = \"s0:0\"\n[[host]]\nname = \"h1\"\nat = \"s0:3\"\n";
    let off = |at: u32, lasts: u32| {
        format!("[[fault]]\nat_us = {at}\nsupply_off = \"s0\"\nfor_us = {lasts}\n")
    };
    let faults = [(10, 40), (20, 10), (22, 4), (60, 30)].map(|(at, lasts)| off(at, lasts));
    let run = TestRun::whole(&format!("{star}{}", faults.concat()));
    // Both are off from 20 to 30 µs, whatever else goes off; either port loses its power once.
    let lost = |port: &str| run.times(port, |kind| matches!(kind, TruthEventKind::PowerLost));
    assert_eq!((lost("s0:0"), lost("s0:3")), (vec![1600], vec![1600]));
    let back = run.times("h0:0", |kind| matches!(kind, TruthEventKind::LinkRestored));
    assert!(matches!(back.as_slice(), [at] if (2400..2416).contains(at)), "{back:?}");
    let text = format!("{star}[[host]]\nname = \"h2\"\nat = \"s0:4\"\n");
    assert!(Scenario::read("ports", &text).unwrap_err().to_string().contains("s0:4"));
}
