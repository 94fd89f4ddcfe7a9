//! A fibre between two switches: what its ends do with packets and symbols. N-5

use crate::support;

use myriscope_simulator::mapping::MappingNotice;
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::truth::{TraceLevel, TruthEvent, TruthEventKind};
use support::{RunWay, TestRun, assert_same};

const CABLE: &str = "[[cable]]\nends = ['s0:1', 's1:1']\ndelay_periods = 826\nstop_slack = 1656\n";
/// 2 km are 800 periods, 25 m are 12, and either end takes 1: 826 in all.
const FIBRE: &str = "[[fibre]]\nname = 'f'\nlength_km = 2\n\
    [[cable]]\nends = ['s0:1', 'f.0:0']\n[[cable]]\nends = ['f.1:0', 's1:1']\n";

fn scenario(between: &str, more: &str) -> Scenario {
    lasting(100, between, more)
}

fn lasting(us: u32, between: &str, more: &str) -> Scenario {
    let text = format!(
        "duration_us = {us}\nswitch = [{{ name = 's0' }}, {{ name = 's1' }}]\n\
         host = [{{ name = 'h0', at = 's0:0' }}, {{ name = 'h1', at = 's1:0' }}]\n{between}{more}"
    );
    support::read(&text)
}

fn run(scenario: &Scenario) -> Vec<TruthEvent> {
    TestRun::finished(scenario.clone(), RunWay::USUAL).happened
}

/// Events at the two hosts, whose nodes have the same numbers with a cable and with a fibre. Nothing is
/// sent in the first 20 µs: to a switch, so long a cable is open until the first character arrives.
fn at_hosts(between: &str, more: &str) -> Vec<TruthEvent> {
    let scenario = scenario(between, more);
    let is_host = |row: &TruthEvent| scenario.topology.hosts().any(|host| host == row.place.node);
    run(&scenario).into_iter().filter(is_host).collect()
}

#[test]
fn framing_and_crc_pass_a_fibre_unchanged() {
    // With two CRC bytes, of which one is wrong at least; short ones; with fill.
    let raw = |chars: &str| format!("[[raw]]\nfrom = 'h0'\nat_us = 20\nchars = '{chars}'\n");
    for chars in [
        "GAP 81 bf 05 aa bb 00 GAP 81 bf 05 aa bb 01 GAP",
        "GAP 81 bf 05 00 GAP",
        "GAP 81 bf 05 GAP",
        "GAP GAP 81 bf 05 11 GAP GAP 81 bf 05 22 33 GAP",
        "GAP 81 bf 05 aa GO STOP GO IDLE bb cc GAP",
        "GAP 81 bf 81 05 aa bb GAP",
    ] {
        let [cable, fibre] = [CABLE, FIBRE].map(|between| at_hosts(between, &raw(chars)));
        assert!(cable.len() > 1, "{chars}: {cable:?}");
        assert_same(&fibre, &cable, chars);
    }
}

#[test]
fn routes_and_traffic_are_those_of_a_cable() {
    let more =
        "[[traffic]]\nfrom = 'all'\nto = 'shift'\npayload = [1, 200]\nload = 0.2\nstart_us = 20\n";
    let [cable, fibre] = [CABLE, FIBRE].map(|between| scenario(between, more));
    assert_eq!(fibre.routes, cable.routes);
    assert_eq!(fibre.routes.iter().count(), 2);
    let [cable, fibre] = [CABLE, FIBRE].map(|between| at_hosts(between, more));
    assert!(cable.len() > 20);
    assert_same(&fibre, &cable, more);
}

/// FRES resets the far switch, which ends the packet with a GAP.
#[test]
fn a_forward_reset_passes_a_fibre() {
    let more = "[[traffic]]\nfrom = 'h0'\nto = 'h1'\npayload = 2000\npackets = 2\nevery_us = 40\nstart_us = 20\n\
                [[fault]]\nat_us = 32\nforward_reset = 's0:1'\n";
    for between in [CABLE, FIBRE] {
        let rows = run(&scenario(between, more));
        let named = |name: &str| rows.iter().filter(|row| row.kind.name() == name).count();
        let links = if between == FIBRE { 3 } else { 1 };
        assert_eq!(named("forward-reset"), links, "each link passes it on");
        let end = rows.iter().filter(|row| row.kind.name() == "consumed");
        let ends: Vec<_> = end.map(|row| format!("{:?}", row.kind)).collect();
        assert_eq!(ends.len(), 2, "{ends:?}");
        assert!(ends[0].contains("Bad") && ends[1].contains("Good"), "{ends:?}");
    }
}

/// N-5: 2 · 800 periods of characters and the latencies, and 2 for clocks; with less, F-9.
#[test]
fn slack_for_the_whole_fibre_loses_nothing() {
    let more = "[interface]\nconsumption = 'never'\n\
                [[traffic]]\nfrom = 'h0'\nto = 'h1'\npayload = 6000\nsaturate = true\n";
    let lost = |keys: &str| {
        let fibre = FIBRE.replace("length_km = 2\n", &format!("length_km = 2\n{keys}"));
        let rows = run(&scenario(&fibre, more));
        rows.iter().filter(|row| row.kind.name() == "overflow").count()
    };
    assert_eq!(lost(""), 0);
    assert!(lost("stop_slack = 1600\n") > 0);
}

/// N-5: both slacks of 1 km are 2 · 400 periods, two latencies of 2, and 2 for clocks. F-3, F-4
#[test]
fn both_slacks_follow_from_the_length() {
    let of = |km: &str| {
        let fibre = FIBRE.replace("length_km = 2", &format!("length_km = {km}"));
        let scenario = scenario(&fibre, "");
        let fibre = scenario.topology.cables().iter().find(|it| scenario.topology.is_fibre(it));
        fibre.unwrap().link.ports.map(|port| (port.slack.go_slack, port.slack.stop_slack))
    };
    assert_eq!(of("1"), [(806, 806); 2]);
    assert_eq!(of("2"), [(1606, 1606); 2]);
    assert_eq!(of("0.01"), [(14, 14); 2]);
    assert_eq!(of("2\ngo_slack = 32"), [(32, 1606); 2]);
}

/// N-5, F-4: after a pause the sink finds a character in every period until those that GO has called
/// for come, so that a sink that pauses at random receives as much over a fibre as over a short cable.
#[test]
fn a_sink_that_pauses_at_random_gets_the_rate_of_a_short_cable() {
    let short = "[[cable]]\nends = ['s0:1', 's1:1']\n";
    for seed in 1..=2 {
        let pauses = "[[traffic]]\nfrom = 'h0'\nto = 'h1'\npayload = 4096\nsaturate = true\n\
                      [[fault]]\nevery_us = 100\nconsume = 'h1'\nhow = 'never'\nfor_us = 40\n";
        let sent = |between: &str| {
            let scenario = lasting(3200, &format!("seed = {seed}\n{between}"), pauses);
            let mut run =
                TestRun::new(scenario, RunWay { level: TraceLevel::Nothing, ..RunWay::USUAL });
            let mut until = |us: u64| {
                run.run_until(us * 80);
                run.passed("s1:0").data
            };
            // The first packet comes later over a fibre.
            let first = until(200);
            until(3200) - first
        };
        let most = sent(short);
        assert!((100_000..200_000).contains(&most), "of 240 000 periods: {most}");
        for km in ["0.1", "0.5", "1", "2", "5"] {
            let fibre = sent(&FIBRE.replace("length_km = 2", &format!("length_km = {km}")));
            assert!(fibre.abs_diff(most) <= most / 100, "{km} km: {fibre}, {most}");
        }
    }
}

#[test]
fn a_cut_fibre_leaves_its_cables_alive_and_loses_what_is_sent() {
    let more = "[[traffic]]\nfrom = 'h0'\nto = 'h1'\npayload = 20\npackets = 3\nevery_us = 30\nstart_us = 12\n\
                [[fault]]\nat_us = 35\nfor_us = 30\ncut = 'f.0:1'\n";
    let scenario = scenario(FIBRE, more);
    let rows = run(&scenario);
    let places = |name: &str| -> Vec<String> {
        let rows = rows.iter().filter(|row| row.kind.name() == name);
        rows.map(|row| scenario.topology.port_name(row.place)).collect()
    };
    assert_eq!(places("open-link"), ["f.0:1", "f.1:1"].repeat(2), "at the start, too");
    assert_eq!(places("consumed").len(), 2, "the second is lost");
    assert_eq!(places("dropped"), ["f.0:1"]);
}

#[test]
fn a_tap_of_all_cables_leaves_fibres_out() {
    let more = "[[fibre]]\nname = 'g'\nlength_km = 0.0124\ngo_slack = 3\n\
                [[cable]]\nends = ['g.1:0', 's1:2']\n[[tap]]\nall = true\n";
    let Scenario { topology, taps, .. } = scenario(FIBRE, more);
    assert_eq!(taps.len(), 5);
    // 400 periods are a kilometre: 4.96 periods.
    let fibres = topology.cables().iter().filter(|cable| topology.is_fibre(cable));
    assert_eq!(fibres.map(|cable| cable.link.delay.0).collect::<Vec<_>>(), [800, 5]);
    assert_eq!(scenario(FIBRE, &format!("{more}[[tap]]\nport = 'f.0:1'\n")).taps.len(), 6);
}

/// N-2: while the fibre is cut, from 14 to 26 ms, each building has a mapper and a map of its own.
#[test]
fn each_building_elects_a_mapper_while_the_fibre_is_cut() {
    let scenario = support::read(include_str!("../../cli/demos/campus.toml"));
    let rows = run(&scenario);
    let maps: Vec<_> = rows
        .iter()
        .filter(|row| matches!(row.kind.name(), "map-version" | "mapper-resigned"))
        .map(|row| {
            let size = if let TruthEventKind::Mapping(MappingNotice::Mapped {
                hosts,
                switches,
                links,
                ..
            }) = row.kind
            {
                format!("maps {hosts}, {switches}, {links}")
            } else {
                "resigns".to_owned()
            };
            format!("{} {size}", scenario.topology.port_name(row.place))
        })
        .collect();
    let (whole, half) = (" maps 4, 2, 5", " maps 2, 1, 2");
    let expected = [("b:0", " resigns"), ("d:0", whole), ("d:0", half), ("b:0", half)];
    let expected = expected.into_iter().chain([("b:0", " resigns"), ("d:0", whole)]);
    assert_eq!(maps, expected.map(|(place, what)| format!("{place}{what}")).collect::<Vec<_>>());
    let count = |name: &str| rows.iter().filter(|row| row.kind.name() == name).count();
    assert_eq!(count("message-lost"), 0);
}
