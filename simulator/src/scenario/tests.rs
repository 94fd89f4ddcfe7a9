//! Scenarios as they are read, and what is said of wrong ones.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use codec::packet::PacketTag;
use codec::route::PortId;
use codec::time::Ticks;
use proptest::prelude::*;

use super::*;
use crate::fault::FaultKind;
use crate::interface::DmaBus;
use crate::link::{FillMode, FramingMode, ResetEnding, SlackSize};
use crate::topology::{ExtensionSupport, NodeKind, SwitchParameters};
use crate::traffic::{ArrivalProcess, CommandForm, PayloadSize, StreamDestination};

fn good(text: &str) -> Scenario {
    Scenario::read("net.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

fn node(scenario: &Scenario, name: &str) -> NodeId {
    scenario.topology.find(name).unwrap()
}

fn port(scenario: &Scenario, name: &str, port: u8) -> NodePort {
    NodePort { node: node(scenario, name), port: PortId(port) }
}

const STAR: &str = "duration_us = 500\n[topology]\nkind = \"switch\"\nports = 5\n";

fn star(text: &str) -> Scenario {
    good(&format!("{STAR}{text}"))
}

/// Files with every kind of table, arrival, size, message and fault.
const FILES: [&str; 2] = [
    include_str!("../../tests/scenarios/every-kind.toml"),
    include_str!("../../tests/scenarios/mapped.toml"),
];

/// Examples of the reference, those without a duration completed with `STAR`, and these files.
fn examples() -> Vec<String> {
    let reference = include_str!("../../../docs/scenario.md");
    let blocks = reference.split("```toml\n").skip(1).filter_map(|it| it.split("```").next());
    let whole = |block: &str| {
        let head = if block.contains("duration_") { "" } else { STAR };
        head.to_owned() + block
    };
    blocks.chain(FILES).map(whole).collect()
}

/// Sender and receiver of each stream, as host numbers.
fn pairs(scenario: &Scenario) -> Vec<(u32, u32)> {
    // Node 0 is the switch.
    let pair = |stream: &TrafficStream| match &stream.to {
        StreamDestination::One(to) => (stream.from.0 - 1, to.0 - 1),
        StreamDestination::Among(_) => panic!("one receiver"),
    };
    scenario.streams.iter().map(pair).collect()
}

fn traffic(text: &str) -> TrafficStream {
    let read = star(&format!("[[traffic]]\nfrom = \"h0\"\nto = \"h1\"\n{text}"));
    read.streams[0].clone()
}

#[test]
fn the_first_example_gives_the_model_worked_out_by_hand() {
    let read = good(&examples()[0]);
    assert_eq!((read.seed, read.duration), (7, 40_000));
    let names: Vec<&str> = read.topology.nodes().iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["s0", "s1", "h0", "h1"]);
    let [h0, h1, s0_s1] = read.topology.cables() else { panic!("three cables") };
    assert_eq!(h0.ends, [port(&read, "h0", 0), port(&read, "s0", 0)]);
    assert_eq!(h0.link.delay, Ticks(12));
    assert_eq!(h1.ends, [port(&read, "h1", 0), port(&read, "s1", 3)]);
    assert_eq!(s0_s1.ends, [port(&read, "s0", 7), port(&read, "s1", 7)]);
    // 10 m: 56 ns, 4.48 periods.
    assert_eq!(s0_s1.link.delay, Ticks(5));
    let (h0, h1) = (node(&read, "h0"), node(&read, "h1"));
    // From port 0 of s0 to 7: +7. From port 7 of s1 to 3: −4.
    assert_eq!(read.routes.get(h0, h1), Some(&[0x87, 0xbc][..]));
    assert_eq!(
        read.streams,
        [TrafficStream {
            from: h0,
            to: StreamDestination::One(h1),
            tag: PacketTag::new(0).unwrap(),
            protocol: None,
            multicast: None,
            payload: PayloadSize::Fixed(1024),
            arrivals: ArrivalProcess::Constant(Ticks(1_600)),
            start: 0,
            packets: Some(100),
            command: CommandForm::default(),
        }]
    );
    let place = port(&read, "s0", 7);
    let cut = FaultSpec { at: 9_600, until: Some(13_600), place, kind: FaultKind::Cut };
    assert_eq!(read.faults, [cut]);
    assert_eq!(read.taps, [PortTap { port: port(&read, "h0", 0), from: 0, to: 40_000 }]);
}

#[test]
fn the_examples_of_the_reference_are_read() {
    let examples = examples();
    assert!(examples.len() > 6);
    examples.iter().for_each(|example| drop(good(example)));
}

/// The keys that the reader lists for an unknown one.
#[test]
fn every_key_is_documented() {
    let reference = include_str!("../../../docs/scenario.md");
    let single = ["link", "switch_defaults", "interface", "routes", "mapper", "transport", "costs"];
    let several = [
        "switch", "cable", "host", "fibre", "route", "traffic", "ip", "replay", "raw", "endpoint",
        "messages",
    ];
    let single = single.map(|name| format!("[{name}]"));
    let several = several.map(|name| format!("[[{name}]]"));
    for section in single.iter().chain(&several) {
        let text = format!("duration_us = 1\n{section}\nno_such_key = 1\n");
        let error = Scenario::read("net.toml", &text).unwrap_err();
        let is_unknown = |problem: &&ScenarioProblem| problem.message.starts_with("unknown key");
        let keys = &error.problems().iter().find(is_unknown).unwrap().expected;
        for key in keys.split('`').skip(1).step_by(2) {
            assert!(reference.contains(&format!("`{key}`")), "{key} of {section}");
        }
    }
}

#[test]
fn a_network_may_stand_in_a_file_of_its_own() {
    let files = |name: &str, _| match name {
        "net.csv" => Ok(b"h0,0,s0,3,40\nh1,0,s0,9".to_vec()),
        _ => Err("no such file".to_owned()),
    };
    let read = |keys: &str| {
        let text = format!("duration_us = 5\n[topology]\n{keys}");
        Scenario::read_from("net.toml", &text, None, &files)
    };
    let csv = read("file = 'net.csv'\nports = 12\n[link]\ndelay_periods = 7").unwrap();
    let delays = csv.topology.cables().iter().map(|cable| cable.link.delay.0);
    assert_eq!(delays.collect::<Vec<_>>(), [40, 7]);
    for (keys, expected) in [
        ("file = 'net.csv'", "net.csv:2: there is no port s0:9 (s0 has 0..8)"),
        ("file = 'other.csv'", "other.csv cannot be read: no such file"),
        ("file = 'net.txt'", "`file` is 'net.txt'"),
        ("file = 'net.csv'\nports = 12\nkind = 'ring'", "unknown key `kind` in [topology]"),
    ] {
        let error = read(keys).unwrap_err();
        let [problem] = error.problems() else { panic!("{error}") };
        assert_eq!(problem.message, expected);
    }
    assert!(Scenario::read("net.toml", "duration_us = 5\ntopology.file = 'net.csv'").is_err());
}

/// S-1: hosts are at port 2 of the switches of a ring; port 0 leads to the next one's port 1.
#[test]
fn routes_and_cables_of_a_generated_network_have_names() {
    let read = |more: &str| {
        let ring = "duration_us = 500\n[topology]\nkind = 'ring'\nswitches = 4\n";
        good(&format!("{ring}{more}"))
    };
    let route = |addressing: &str| {
        let more = format!("[switch_defaults]\naddressing = '{addressing}'\n");
        let read =
            read(&format!("{more}[[route]]\nfrom = 'h0'\nto = 'h2'\nvia = ['s0', 's1:0', 's2']"));
        let [h0, h2] = ["h0", "h2"].map(|host| node(&read, host));
        read.routes.get(h0, h2).map(<[u8]>::to_vec)
    };
    // From port 2 to 0, from 1 to 0, from 1 to 2.
    assert_eq!(route("relative"), Some(vec![0xbe, 0xbf, 0x81]));
    assert_eq!(route("absolute"), Some(vec![0x80, 0x80, 0x82]));
    let cable = "[[cable]]\nends = ['s1:1', 's0:0']\nlength_m = 10\nb = { dateline = true }\n";
    let read = read(&format!("[link]\nprofile = 'VC0=50,VC1=51,GO1=60,STOP1=6f'\n{cable}"));
    assert_eq!(read.topology.cables().len(), 8);
    let next = |link: &crate::link::LinkParameters| {
        link.ports.map(|port| port.passage == crate::link::shared_line::PassageMode::Next)
    };
    let link = |port_number| read.topology.link(port(&read, "s0", port_number)).unwrap();
    // 10 m: 56 ns, 4.48 periods. Its own end of a link comes first.
    assert_eq!((link(0).delay, next(&link(0))), (Ticks(5), [true, false]));
    assert_eq!((link(1).delay, next(&link(1))), (Ticks(12), [false, false]));
}

#[test]
fn patterns_pair_the_hosts() {
    let to =
        |to: &str| pairs(&star(&format!("[[traffic]]\nto = {to}\npayload = 1\nsaturate = true\n")));
    assert_eq!(to("\"shift\""), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
    assert_eq!(to("\"shift\"\nby = 7"), [(0, 2), (1, 3), (2, 4), (3, 0), (4, 1)]);
    assert_eq!(to("\"neighbour\""), [(0, 1), (1, 0), (2, 3), (3, 2)]);
    assert_eq!(to("\"bisect\""), [(0, 2), (1, 3), (2, 0), (3, 1)]);
    assert_eq!(to("\"tornado\""), [(0, 2), (1, 3), (2, 4), (3, 0), (4, 1)]);
    let four = "\nfrom = [\"h4\", \"h1\", \"h0\", \"h2\"]";
    assert_eq!(to(&format!("\"transpose\"{four}")), [(1, 0), (0, 1)]);
    assert_eq!(to(&format!("\"bit-reversal\"{four}")), [(1, 0), (0, 1)]);
    assert_eq!(to("\"h2\""), [(0, 2), (1, 2), (3, 2), (4, 2)]);
    assert_eq!(to("\"bisect\"\nfrom = [\"h4\", \"h1\"]"), [(4, 1), (1, 4)]);
}

#[test]
fn a_hot_host_is_drawn_more_often_than_others() {
    let table = "[[traffic]]\nto = \"hotspot\"\nhot = \"h2\"\npayload = 1\nsaturate = true\n";
    for (weight, drawn) in [("weight = 3", 3), ("", 10)] {
        let read = star(&format!("{table}{weight}"));
        let hosts = (1..=5).chain(std::iter::repeat_n(3, drawn - 1)).map(NodeId);
        let expected = StreamDestination::Among(hosts.collect());
        assert_eq!(read.streams.len(), 5);
        assert!(read.streams.iter().all(|stream| stream.to == expected));
    }
}

#[test]
fn uniform_traffic_goes_to_all_hosts_with_a_cable() {
    let read = star(
        "[[host]]\nname = \"spare\"\n[[traffic]]\nto = \"uniform\"\npayload = 1\nsaturate = true",
    );
    let all = StreamDestination::Among((1..=5).map(NodeId).collect());
    assert_eq!(read.streams.len(), 5);
    assert!(read.streams.iter().all(|stream| stream.to == all));
}

#[test]
fn a_load_is_a_share_of_the_characters_of_the_first_link() {
    let mean = |text: &str| traffic(text).arrivals;
    // A route byte, a tag, 96 bytes, CRC byte and GAP: 100 characters.
    assert_eq!(mean("payload = 96\nload = 0.25"), ArrivalProcess::Poisson(Ticks(400)));
    assert_eq!(mean("payload = 96\nload = 1"), ArrivalProcess::Poisson(Ticks(100)));
    // 333.3 characters, rounded up so that the load is no more than asked for.
    assert_eq!(mean("payload = 96\nload = 3e-1"), ArrivalProcess::Poisson(Ticks(334)));
    assert_eq!(
        mean("payload = [64, 128]\nload = 0.25\nlaw = \"constant\""),
        ArrivalProcess::Constant(Ticks(400))
    );
    // 32 and, a half of the time, 128 more: 96.
    assert_eq!(
        mean("payload = { small = 32, large = 160, large_share = 0.5 }\nload = 0.25"),
        ArrivalProcess::Poisson(Ticks(400))
    );
    let eight = NonZeroU32::new(8).unwrap();
    assert_eq!(
        mean("payload = 96\nload = 0.25\nburst = 8"),
        ArrivalProcess::Bursts(eight, Ticks(3_200))
    );
    // At half the rate a character takes two periods.
    assert_eq!(
        mean("payload = 96\nload = 0.25\n[link]\nrate_divisor = 2"),
        ArrivalProcess::Poisson(Ticks(800))
    );
}

#[test]
fn traffic_is_open_or_closed_loop() {
    let law = |text: &str| traffic(&format!("payload = 1\n{text}")).arrivals;
    let three = NonZeroU32::new(3).unwrap();
    assert_eq!(law("every_us = 12.5"), ArrivalProcess::Constant(Ticks(1_000)));
    assert_eq!(law("every_periods = 7\nlaw = \"poisson\""), ArrivalProcess::Poisson(Ticks(7)));
    assert_eq!(law("every_us = 1\nburst = 3"), ArrivalProcess::Bursts(three, Ticks(80)));
    assert_eq!(law("saturate = true"), ArrivalProcess::Saturating);
    assert_eq!(law("window = 3"), ArrivalProcess::Closed(three, Ticks(0)));
    assert_eq!(law("window = 3\nthink_us = 2"), ArrivalProcess::Closed(three, Ticks(160)));
}

#[test]
fn an_end_goes_before_its_cable_that_before_its_node_and_that_before_its_kind() {
    let read = good(
        r#"duration_periods = 1000
        link = { go_slack = 1, hysteresis = 1, stop_slack = 1, fill = "gap", symbols = "all" }
        switch_defaults = { go_slack = 2, hysteresis = 2, stop_slack = 2 }
        interface = { framing = "waits" }
        switch = [
            { name = "s", hysteresis = 3, stop_slack = 3, fill = "idle-9" },
            { name = "t", rate_divisor = 2, blocked_us = 1 },
        ]
        host = [
            { name = "x", at = "s:0", b = { go_slack = 5 }, replies = false },
            { name = "y", reset = "next-gap" },
        ]
        cable = [
            { ends = ["s:1", "t:1"], stop_slack = 4, length_m = 0, a = { stop_slack = 6 } },
            { ends = ["y:0", "t:0"] },
        ]"#,
    );
    let of = |name: &str, port| {
        let port = NodePort { node: node(&read, name), port: PortId(port) };
        let [own, far] = read.topology.link(port).unwrap().ports;
        assert_eq!(
            read.topology.peer(port).and_then(|it| read.topology.link(it)).unwrap().ports,
            [far, own]
        );
        own
    };
    let slack = |go_slack, hysteresis, stop_slack| SlackSize { go_slack, hysteresis, stop_slack };
    let cells = |name, port| of(name, port).slack;
    assert_eq!([cells("x", 0), cells("s", 0)], [slack(1, 1, 1), slack(5, 3, 3)]);
    assert_eq!([cells("s", 1), cells("t", 1)], [slack(2, 3, 6), slack(2, 2, 4)]);
    assert_eq!([cells("y", 0), cells("t", 0)], [slack(1, 1, 1), slack(2, 2, 2)]);
    let [x, s, y, t] = [of("x", 0), of("s", 0), of("y", 0), of("t", 0)];
    assert_eq!([x, s, y, t].map(|it| it.replies), [false, false, true, true]);
    assert_eq!(
        [x, s, y, t].map(|it| it.fill),
        [FillMode::Gaps, FillMode::Idle(9), FillMode::Gaps, FillMode::Gaps]
    );
    assert_eq!(
        [x, y, t].map(|it| it.framing),
        [FramingMode::Waits, FramingMode::Waits, FramingMode::Free]
    );
    assert_eq!([x, y].map(|it| it.reset), [ResetEnding::OwnGap, ResetEnding::NextGap]);
    // 80 periods of the full rate.
    assert_eq!((t.divisor.get(), t.blocked, y.divisor.get()), (2, Ticks(40), 1));
}

#[test]
fn tables_of_their_own_go_before_the_defaults() {
    let read = good(
        r#"duration_periods = 1000
        link = { go_slack = 5, rate_divisor = 4, blocked_us = 1 }
        switch_defaults = { ports = 16, routing_us = 0.55, extensions = true }
        interface = { bus = "sbus", consumption = 3, commands = 9 }
        switch = [{ name = "a" }, { name = "b", ports = 4, routing_periods = 1 }]
        host = [
            { name = "x", at = "a:15", go_slack = 6, boot_us = 1 },
            { name = "y", bus = "ideal" },
        ]
        cable = [{ ends = ["y:0", "b:3"], delay_us = 0.5, hysteresis = 1 }]"#,
    );
    let [x, y] = read.topology.cables() else { panic!("two cables") };
    let slack = |go_slack, hysteresis| SlackSize { go_slack, hysteresis, stop_slack: 32 };
    assert_eq!((x.link.ports[0].slack, x.link.delay), (slack(6, 16), Ticks(12)));
    assert_eq!((y.link.ports[0].slack, y.link.delay), (slack(5, 1), Ticks(40)));
    // 80 periods of the full rate.
    assert_eq!((y.link.ports[0].divisor.get(), y.link.ports[0].blocked), (4, Ticks(20)));
    let switch = |name| match read.topology.node(node(&read, name)).unwrap().kind {
        NodeKind::Switch(SwitchParameters { ports, routing, extensions, .. }) => {
            (ports, routing, extensions)
        }
        NodeKind::Host => panic!("a switch"),
    };
    assert_eq!(switch("a"), (16, 44, ExtensionSupport::On));
    assert_eq!(switch("b"), (4, 1, ExtensionSupport::On));
    let [(_, x), (_, y)] = read.interfaces.as_slice() else { panic!("two hosts") };
    assert_eq!((x.bus, x.boot, x.commands), (DmaBus::SBus, Some(Ticks(80)), 9));
    assert_eq!((y.bus, y.boot, y.consumption), (DmaBus::Ideal, None, x.consumption));
}

#[test]
fn routes_are_computed_or_given() {
    let read = star("[[route]]\nfrom = \"h0\"\nto = \"h3\"\nbytes = \"81 bf\"");
    let [h0, h1, h3] = ["h0", "h1", "h3"].map(|name| node(&read, name));
    assert_eq!(read.routes.get(h0, h3), Some(&[0x81, 0xbf][..]));
    // From port 3 to port 1: −2.
    assert_eq!(read.routes.get(h3, h1), Some(&[0xbe][..]));
    let given = star("[routes]\nmethod = \"given\"");
    assert_eq!(given.routes, RouteTable::default());
}

#[test]
fn random_faults_stay_in_their_window_and_come_from_the_seed() {
    let faults = |seed: u64| {
        let text = "every_us = 1\nfrom_us = 100\nto_us = 400\ncut = \"any\"\nfor_periods = 5";
        good(&format!("seed = {seed}\n{STAR}[[fault]]\n{text}")).faults
    };
    let drawn = faults(1);
    // 300 in the mean, give or take four times their root.
    assert!((230..370).contains(&drawn.len()), "{}", drawn.len());
    assert!(drawn.iter().all(|fault| (8_000..32_000).contains(&fault.at)));
    assert!(drawn.iter().all(|fault| fault.until == Some(fault.at + 5)));
    assert!(drawn.is_sorted_by_key(|fault| fault.at));
    // Ten ends of cables.
    let ports: BTreeSet<NodePort> = drawn
        .iter()
        .filter_map(|fault| (fault.kind == FaultKind::Cut).then_some(fault.place))
        .collect();
    assert_eq!(ports.len(), 10);
    assert_eq!(drawn, faults(1));
    assert_ne!(drawn, faults(2));
}

#[test]
fn raw_characters_are_kept_as_they_stand() {
    let read = star("[[raw]]\nfrom = \"h1\"\nat_us = 0.1\nchars = \"GAP 81 !a6 00×2\"");
    let chars = codec::notation::parse("GAP 81 !a6 00 00").unwrap();
    assert_eq!(read.raw, [RawText { from: node(&read, "h1"), at: 8, chars }]);
}

#[test]
fn all_taps_are_every_link_once() {
    let read = star("[[tap]]\nall = true\nto_us = 1");
    let ports: Vec<NodePort> = (0..5).map(|at| port(&read, "s0", at)).collect();
    assert_eq!(read.taps.iter().map(|tap| tap.port).collect::<Vec<_>>(), ports);
    assert!(read.taps.iter().all(|tap| (tap.from, tap.to) == (0, 80)));
}

proptest! {
    #[test]
    fn no_text_is_too_strange(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4, ".{0,3}"), 1..6),
    ) {
        let mut text: Vec<char> = which.get(&examples()).chars().collect();
        for (place, length, with) in edits {
            let from = place.index(text.len() + 1);
            let to = (from + length).min(text.len());
            text.splice(from..to, with.chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(error) = Scenario::read("net.toml", &text) {
            prop_assert!(!error.problems().is_empty());
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn any_number_in_any_place_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        with in "-?[0-9]{1,20}|[0-9]{1,3}\\.[0-9]{1,12}|[0-9]e[0-9]{1,12}|inf|nan|0x[0-9a-f]{1,16}",
    ) {
        let text = which.get(&examples()).clone();
        let numbers: Vec<usize> = text
            .match_indices(" = ")
            .map(|(at, _)| at + 3)
            .filter(|at| text[*at..].starts_with(|c: char| c.is_ascii_digit()))
            .collect();
        if numbers.is_empty() {
            return Ok(());
        }
        let at = *place.get(&numbers);
        let end = text[at..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |n| at + n);
        let changed = format!("{}{with}{}", &text[..at], &text[end..]);
        if let Err(error) = Scenario::read("net.toml", &changed) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
