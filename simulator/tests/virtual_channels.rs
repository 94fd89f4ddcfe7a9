//! Virtual channels, which share a cable. C-7 (§4.8.4, §4.8.5)

use crate::support;

use codec::Character;
use codec::chars::CharBuf;
use codec::virtual_channels::{LinkProfile, VirtualChannelSelector};
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::truth::{PacketHandling, TruthEventKind};
use support::TestRun;

const PROFILE: &str = "VC0=50,VC1=51,GO1=60,STOP1=6f";

/// A line of three switches. From h0 at s0 to h2 at s2 packets cross the dateline, and go on to s2 on virtual channel 1;
/// those from h1 at s1 to h3 at s2 use virtual channel 0.
fn line(link: &str, host: &str, more: &str) -> String {
    format!(
        "duration_periods = 40000
[switch_defaults]
ports = 4
[[switch]]
name = 's0'
[[switch]]
name = 's1'
[[switch]]
name = 's2'
[[cable]]
ends = ['s0:1', 's1:0']
{link}
dateline = true
[[cable]]
ends = ['s1:1', 's2:0']
{link}
[[host]]
name = 'h0'
at = 's0:2'
[[host]]
name = 'h1'
at = 's1:2'
[[host]]
name = 'h2'
at = 's2:2'
{host}
[[host]]
name = 'h3'
at = 's2:3'
[[tap]]
port = 's1:1'
{more}"
    )
}

fn traffic(from: &str, to: &str) -> String {
    format!("[[traffic]]\nfrom = '{from}'\nto = '{to}'\nsaturate = true\npayload = 500\n")
}

fn both() -> String {
    traffic("h0", "h2") + &traffic("h1", "h3")
}

fn profile() -> String {
    format!("profile = '{PROFILE}'")
}

/// Numbers of the packets of a host that have been consumed without a fault, in this order.
fn consumed(run: &TestRun, host: &str) -> Vec<u32> {
    let good = run.happened.iter().filter(|row| {
        matches!(row.kind, TruthEventKind::Consumed { handling: PacketHandling::Delivered, .. })
    });
    let packets = good.filter_map(|row| row.packet);
    packets.filter(|packet| run.node(packet.host) == host).map(|packet| packet.number).collect()
}

/// The characters of each virtual channel.
fn split(chars: &CharBuf) -> [CharBuf; 2] {
    let profile: LinkProfile = PROFILE.parse().expect("the profile is good");
    let mut parts = [CharBuf::new(), CharBuf::new()];
    VirtualChannelSelector::new(profile, Some(0)).split(chars.chars(), &mut parts);
    parts
}

fn data(chars: &CharBuf) -> u64 {
    chars.chars().iter().map(|character| u64::from(character.is_data())).sum()
}

/// C-7, F-8
#[test]
fn virtual_channels_share_a_cable_in_turns_and_lose_nothing() {
    let run = TestRun::whole(&line(&profile(), "", &both()));
    let chars = run.chars("s1:1 sends");
    let sent = ["s1:1.vc0", "s1:1.vc1"].map(|port| run.passed(port).data);
    assert_eq!(split(&chars).each_ref().map(data), sent);
    // Of 18 periods two are selections if both have data. STOP and GO, and the GAPs of hosts, take a tenth at most.
    assert!(sent.iter().all(|data| *data > 40_000 * 8 / 20), "{sent:?}");
    // F-8: as soon as it has power it uses every period.
    assert!(chars.chars().iter().all(|character| character != Character::IDLE));
    for (from, host) in [("h0", "h2"), ("h1", "h3")] {
        let received = run.statistics(host).received;
        assert!(received > 25 && run.statistics(host).handled.corrupt == 0);
        assert_eq!(consumed(&run, from).len() as u64, received);
    }
}

/// C-7: an interface sends on virtual channel 0 alone, and what comes on it goes on there.
#[test]
fn hosts_send_whole_packets_on_virtual_channel_0() {
    let traffic = both() + &traffic("h2", "h1");
    let run = TestRun::whole(&format!("link = {{ {} }}\n{}", profile(), line("", "", &traffic)));
    for (host, port) in [("h0", "h0:0"), ("h1", "h1:0"), ("h2", "h2:0")] {
        let [own, other] = [0, 1].map(|channel| run.passed(&format!("{port}.vc{channel}")).data);
        assert!(own > 10_000 && other == 0, "{host}: {own}, {other}");
        let packets = consumed(&run, host);
        assert!(packets.len() > 15 && packets.iter().zip(0..).all(|(it, number)| *it == number));
    }
    assert!(["h1", "h2", "h3"].iter().all(|it| run.statistics(it).handled.corrupt == 0));
}

/// C-7: one that is stopped for ever leaves the whole rate to the other.
#[test]
fn no_stop_of_a_virtual_channel_holds_the_data_of_another() {
    let rate = |more: &str| {
        let mut run = TestRun::until(&line(&profile(), "consumption = 'never'", more), 10_000);
        let before = run.passed("s1:1.vc0").data;
        run.run_until(40_000);
        (run.passed("s1:1.vc0").data - before, run.passed("s1:1.vc1").stopped)
    };
    let (alone, with_other) = (rate(&traffic("h1", "h3")), rate(&both()));
    assert!(with_other.1 > 30_000 && alone.1 == 0, "{with_other:?}");
    // Between packets a switch needs 30 periods and more (S-6). They begin at other times in the two runs, and have no
    // more than 510 bytes.
    assert!(alone.0 > 27_000 && alone.0.abs_diff(with_other.0) <= 510, "{alone:?} {with_other:?}");
}

/// F-4: `stop_slack` covers the delay there and back, 24 periods, two latencies of 2, and the STOP of the other one.
#[test]
fn each_virtual_channel_keeps_its_packets_in_order_with_the_least_slack() {
    let slack = |slack: u32| format!("{}\nstop_slack = {slack}", profile());
    let slow = |slack_keys: &str| {
        line(slack_keys, "consumption = 3", &both())
            .replace("at = 's2:3'", "at = 's2:3'\nconsumption = 3")
    };
    let run = TestRun::whole(&slow(&slack(29)));
    assert_eq!(run.count(|kind| matches!(kind, TruthEventKind::Overflow)), 0);
    for host in ["h0", "h1"] {
        let packets = consumed(&run, host);
        assert!(packets.len() > 15, "{packets:?}");
        assert!(packets.iter().zip(0..).all(|(packet, number)| *packet == number));
        assert!(run.passed(&format!("s1:1.vc{}", u8::from(host == "h0"))).stopped > 1_000);
    }
    let notes = |slack_keys: u32| Scenario::read("", &slow(&slack(slack_keys))).unwrap().notes();
    assert_eq!(notes(29), [""; 0]);
    assert_eq!(
        notes(28),
        [
            "cable s0:1 to s1:0 and 1 more: `stop_slack` is 28, a round trip takes 29 characters: bytes may be lost (F-4)"
        ]
    );
}

/// §4.8.5
#[test]
fn an_end_with_mandatory_symbols_sends_and_receives_as_without_a_profile() {
    let none = TestRun::whole(&line("", "", &both()));
    let one = TestRun::whole(&line(&format!("a = {{ {} }}", profile()), "", &both()));
    let other = TestRun::whole(&line(&format!("b = {{ {} }}", profile()), "", &both()));
    assert!(none.chunks == one.chunks && none.chunks == other.chunks);
    assert_eq!(none.network.channels(), one.network.channels());
}

/// R-2, C-7
#[test]
fn a_forward_reset_clears_the_buffer_of_its_virtual_channel_alone() {
    let fault = "[[fault]]\nat_periods = 20000\nforward_reset = 's1:1.vc1'\n";
    let run = TestRun::whole(&line(&profile(), "", &(both() + fault)));
    let resets = run.rows(&["forward-reset"]);
    let places: Vec<_> = resets.lines().map(|row| row.split(' ').nth(1).unwrap()).collect();
    assert_eq!(places, ["s2:0.vc1"]);
    assert!(consumed(&run, "h1").iter().zip(0..).all(|(packet, number)| *packet == number));
    let hurt = consumed(&run, "h0");
    assert!(hurt.iter().zip(0..).any(|(packet, number)| *packet != number), "{hurt:?}");
}

/// C-7, R-3
#[test]
fn an_interface_takes_packets_of_several_virtual_channels_one_after_the_other() {
    let both = traffic("h0", "h2") + &traffic("h1", "h2");
    let run = TestRun::whole(&line(&profile(), &profile(), &both));
    for (host, port) in [("h1", "h2:0.vc0"), ("h0", "h2:0.vc1")] {
        let packets = consumed(&run, host);
        assert!(packets.len() > 20 && packets.iter().zip(0..).all(|(it, number)| *it == number));
        assert!(!run.times(port, |kind| matches!(kind, TruthEventKind::Received(_))).is_empty());
    }
    // FRES restarts the interface's program, but the packet of virtual channel 0 goes on.
    // Of three in a cycle of two packets, one at least falls into a packet of virtual channel 1.
    let fault = |at: u32| format!("[[fault]]\nat_periods = {at}\nforward_reset = 's2:2.vc1'\n");
    let faults: String = [20_000, 20_300, 20_600].map(fault).concat();
    let run = TestRun::whole(&line(&profile(), &profile(), &(both + &faults)));
    assert_eq!(run.times("h2:0.vc1", |kind| *kind == TruthEventKind::ResetReceived).len(), 3);
    assert!(consumed(&run, "h1").iter().zip(0..).all(|(it, number)| *it == number));
    assert!(consumed(&run, "h0").iter().zip(0..).any(|(it, number)| *it != number));
    // It loses its power, as the switch does, inside a packet of virtual channel 1: nothing more comes there.
    let traffic = traffic("h0", "h2").replace("500", "2000\npackets = 1")
        + &traffic("h1", "h2").replace("saturate = true", "every_us = 25\nstart_us = 125");
    let fault = |node| format!("[[fault]]\nat_periods = 1000\nfor_us = 50\npower_off = '{node}'\n");
    let faults = ["h2", "s2"].map(fault).concat();
    let host = format!("{}\nboot_us = 1", profile());
    let run = TestRun::whole(&line(&profile(), &host, &(traffic + &faults)));
    assert_eq!(run.times("h2:0.vc1", |kind| *kind == TruthEventKind::PowerLost), [1000]);
    assert_eq!(["h0", "h1"].map(|host| consumed(&run, host).len()), [0, 15]);
}

/// C-7: the demo, which stands still with one virtual channel until the blocked-packet timeout.
#[test]
fn a_ring_with_a_dateline_does_not_deadlock() {
    let demo = include_str!("../../fixtures/demo-dateline/scenario.toml");
    let counts = |scenario: &str| {
        let run = TestRun::whole(scenario);
        let moved = run.happened.iter().rev();
        let mut moved = moved.filter(|row| matches!(row.kind, TruthEventKind::Forwarded { .. }));
        let last = moved.next().map_or(0, |row| row.at);
        (["h0", "h1", "h2", "h3"].map(|host| run.statistics(host).handled.delivered), last)
    };
    let (delivered, last) = counts(demo);
    assert_eq!(delivered, [8; 4]);
    assert!(last < 11_000, "{last}");
    // Each first packet holds an output of two switches from the beginning: 100 periods of path and cable.
    let (delivered, last) = counts(&demo.replace(PROFILE, "none"));
    assert_eq!(delivered, [0; 4]);
    assert!(last < 200, "{last}");
    // The virtual channels without the dateline are no help.
    assert_eq!(counts(&demo.replace("a = { dateline = true }", "")).0, [0; 4]);
}
