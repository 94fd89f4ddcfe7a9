//! A fibre between two networks: its ends are routers. N-5

use crate::support;

use codec::mapping::InterfaceAddress;
use myriscope_simulator::interface::RouterCounters;
use myriscope_simulator::mapping::MappingNotice;
use myriscope_simulator::network::{SimulationEngine, VisitOrder};
use myriscope_simulator::truth::{RouterNotice, RouterOutcome, TruthEvent, TruthEventKind};
use support::{RunWay, TestRun};

/// Two networks of a switch and two hosts, 2 km apart.
const NETWORKS: &str = "[routes]\nmethod = 'mapped'\n\
    [mapper]\nperiod_us = 1000\ntimeout_us = 50\ntries = 2\n\
    addresses = { c = '00:60:dd:00:00:0c' }\n\
    [[switch]]\nname = 's0'\n[[switch]]\nname = 's1'\n\
    [[host]]\nname = 'a'\nat = 's0:0'\n[[host]]\nname = 'b'\nat = 's0:3'\n\
    [[host]]\nname = 'c'\nat = 's1:0'\n[[host]]\nname = 'd'\nat = 's1:4'\n\
    [[fibre]]\nname = 'f'\nlength_km = 2\nmode = 'router'\n\
    [[cable]]\nends = ['s0:6', 'f.0:0']\n[[cable]]\nends = ['f.1:0', 's1:7']\n";

const C: u64 = 0x0060_dd00_000c;

/// Delay of 2 km: 5 µs for a kilometre, 80 periods a microsecond.
const FIBRE: u64 = 2 * 5 * 80;

/// At most, beside the fibre and the bytes: four cables of 25 m at 12 periods, two switches of 28 and
/// 16, and the ends of frames and steps of control programs.
const OTHERS: u64 = 4 * 12 + 2 * 44 + 20;

struct RoutedRun(TestRun);

fn run(more: &str) -> RoutedRun {
    run_text(&format!("duration_us = 22000\n{NETWORKS}{more}"))
}

fn run_text(text: &str) -> RoutedRun {
    RoutedRun(TestRun::finished(support::read(text), RunWay::USUAL))
}

impl RoutedRun {
    /// Events at a port, in order of time.
    fn at<'a>(&'a self, port: &'a str) -> impl Iterator<Item = &'a TruthEvent> {
        let Self(TestRun { happened, scenario, .. }) = self;
        happened.iter().filter(move |event| scenario.topology.port_name(event.place) == port)
    }

    /// Times and lengths of the packets that a port has begun to send, without their first byte.
    fn sent(&self, port: &str) -> Vec<(u64, u64)> {
        let mapping = |it: &&TruthEvent| matches!(it.kind, TruthEventKind::MappingTransmitted(_));
        let mapping: Vec<_> = self.at(port).filter(mapping).map(|it| it.packet).collect();
        let users = self.at(port).filter(|it| !mapping.contains(&it.packet));
        let sent = users.filter_map(|it| {
            let TruthEventKind::Injected { length, .. } = it.kind else { return None };
            Some((it.at, length - 1))
        });
        sent.collect()
    }

    /// Times and lengths of the packets with user data that a host has received from a router.
    fn received(&self, port: &str, router: &str) -> Vec<(u64, u64)> {
        let router = self.0.scenario.topology.find(router);
        let from = |it: &&TruthEvent| it.packet.is_some_and(|id| Some(id.host) == router);
        let received = self.at(port).filter(from).filter_map(|it| {
            let TruthEventKind::Consumed { length, .. } = it.kind else { return None };
            Some((it.at, length))
        });
        // Those of mapping are shorter or longer.
        received.filter(|(_, length)| (316..=416).contains(length)).collect()
    }

    fn counters(&self, router: &str, port: u8) -> RouterCounters {
        let port = self.0.port(&format!("{router}:{port}"));
        self.0.network.router(port).unwrap_or_else(|| panic!("no {router}"))
    }

    /// Names of the events about mappers and maps after a time.
    fn mapping_after(&self, time: u64) -> Vec<&str> {
        let notices = self.0.happened.iter().filter(|it| it.at > time);
        let notices = notices.filter(|it| {
            matches!(
                it.kind,
                TruthEventKind::Mapping(
                    MappingNotice::Elected
                        | MappingNotice::Resigned { .. }
                        | MappingNotice::Mapped { .. }
                        | MappingNotice::Installed { .. }
                )
            )
        });
        notices.map(|it| it.kind.name()).collect()
    }
}

/// From 10 ms on; headers of 14 bytes, the tag and the CRC byte make 316 to 416 bytes of them.
const TRAFFIC: &str = "[[traffic]]\nfrom = 'a'\nto = 'c'\ntag = 5\npayload = [300, 400]\n\
    packets = 40\nevery_us = 200\nstart_us = 10000\n";
const START: u64 = 10_000 * 80;

#[test]
fn packets_cross_a_router_whole_and_in_order() {
    let run = run(TRAFFIC);
    let maps = run.0.happened.iter().filter_map(|it| {
        let TruthEventKind::Mapping(notice) = &it.kind else { return None };
        let MappingNotice::Mapped { hosts, switches, links, .. } = notice else { return None };
        Some((*hosts, *switches, *links))
    });
    let maps: Vec<_> = maps.collect();
    assert!(maps.len() >= 2 && maps.iter().all(|map| *map == (3, 1, 3)), "{maps:?}");
    let (sent, received) = (run.sent("a:0"), run.received("c:0", "f.1"));
    assert_eq!(sent.len(), 40);
    let lengths = |packets: &[(u64, u64)]| packets.iter().map(|it| it.1).collect::<Vec<_>>();
    assert_eq!(lengths(&received), lengths(&sent));
    // Whole at three receivers one after the other, and 10 µs between two of them.
    for ((from, length), (to, _)) in sent.iter().zip(&received) {
        let least = FIBRE + 3 * length;
        assert!((least..=least + OTHERS).contains(&(to - from)), "{} for {length}", to - from);
    }
    let all = RouterCounters { forwarded: 40, ..RouterCounters::default() };
    assert_eq!([run.counters("f.0", 1), run.counters("f.1", 0)], [all; 2]);
    let mapping = |it: &TruthEvent| matches!(it.kind, TruthEventKind::MappingTransmitted(_));
    assert!(!run.at("f.0:1").chain(run.at("f.1:1")).any(mapping), "it stays in its network");
}

/// 15 packets are sent while the fibre is cut; neither network maps anew for it.
#[test]
fn a_cut_fibre_loses_packets_and_disturbs_no_mapping() {
    let cut = "[[fault]]\nat_us = 11990\nfor_us = 3000\ncut = 'f.0:1'\n";
    let run = run(&format!("{TRAFFIC}{cut}"));
    let (sent, received) = (run.sent("a:0"), run.received("c:0", "f.1"));
    let lengths = |packets: &[(u64, u64)]| packets.iter().map(|it| it.1).collect::<Vec<_>>();
    let (sent, received) = (lengths(&sent), lengths(&received));
    assert_eq!(received, [&sent[..10], &sent[25..]].concat(), "before and behind the cut");
    let lost = run.at("f.0:1").chain(run.at("f.1:1"));
    assert_eq!(lost.filter(|it| it.kind.name() == "dropped").count(), 15);
    assert_eq!(run.counters("f.0", 1).forwarded, 40, "it does not know");
    assert_eq!(run.mapping_after(START), Vec::<&str>::new());
}

#[test]
fn an_address_without_a_host_is_lost_behind_the_fibre() {
    let off = "[[fault]]\nat_us = 10900\nfor_us = 11000\npower_off = 'c'\n";
    let run = run(&format!("{TRAFFIC}{off}"));
    // Its mapper misses it, and distributes a map without it.
    let installs = |it: &&TruthEvent| {
        matches!(it.kind, TruthEventKind::Mapping(MappingNotice::Installed { .. }))
    };
    let installed = run.at("f.1:0").filter(installs).last().unwrap().at;
    assert!(installed > 10_900 * 80);
    let mut unknown = 0;
    for event in run.at("f.1:0") {
        let TruthEventKind::Routed(RouterNotice { destination, outcome }) = event.kind else {
            continue;
        };
        assert_eq!(Some(destination), InterfaceAddress::new(C));
        assert_eq!(outcome == RouterOutcome::Unknown, event.at > installed, "{event:?}");
        unknown += u64::from(outcome == RouterOutcome::Unknown);
    }
    let counters = RouterCounters { forwarded: 40 - unknown, unknown, full: 0 };
    assert!(unknown > 5 && run.counters("f.1", 0) == counters, "{counters:?}");
}

/// `c` takes a byte in 20 periods: in 1.5 ms, in which all packets come, 3 of them; 55 808 bytes of
/// memory hold 27 others.
#[test]
fn a_router_without_memory_loses_packets_and_holds_nobody_up() {
    let more = "[[traffic]]\nfrom = 'a'\nto = 'c'\npayload = 2000\nsaturate = true\n\
        packets = 60\nstart_us = 10000\n";
    let slow = NETWORKS.replace("name = 'c'\n", "name = 'c'\nconsumption = 20\n");
    let text = format!("duration_us = 14000\n{slow}{more}");
    let run = run_text(&text);
    let RouterCounters { forwarded, unknown, full } = run.counters("f.1", 0);
    assert!((27..=31).contains(&forwarded) && unknown == 0, "{forwarded} {unknown} {full}");
    assert_eq!(forwarded + full, 60);
    let sent = run.sent("a:0");
    let time = sent.last().unwrap().0 - sent.first().unwrap().0;
    assert!((59 * 2018..59 * 2118).contains(&time), "hardly more than the bytes: {time}");
}

#[test]
fn requests_are_answered_from_the_other_network() {
    let run = run("[[traffic]]\nfrom = 'a'\nto = 'd'\npayload = 300\npackets = 5\n\
        window = 1\nstart_us = 10000\n");
    let answers = run.received("a:0", "f.0");
    assert_eq!(answers.iter().map(|it| it.1).collect::<Vec<_>>(), [316; 5]);
    assert_eq!(run.sent("a:0").len(), 5);
}

#[test]
fn engines_and_orders_agree_about_routers() {
    let cut = "[[fault]]\nat_us = 12000\nfor_us = 3000\ncut = 'f.0:1'\n";
    let off = "[[fault]]\nat_us = 15500\nfor_us = 500\npower_off = 'f.1'\n";
    let text = format!("duration_us = 22000\n{NETWORKS}{TRAFFIC}{cut}{off}");
    let run = |way| TestRun::finished(support::read(&text), way).sorted();
    let expected = run(RunWay::USUAL);
    for way in [
        RunWay::by(SimulationEngine::Step),
        RunWay::arranged(VisitOrder::Shuffled(5)),
        RunWay::arranged(VisitOrder::Shuffled(6)),
    ] {
        expected.assert_same(&run(way), &format!("{way:?}"));
    }
}
