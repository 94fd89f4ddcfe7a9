//! Networks that their interfaces map: at character accuracy, with traffic and faults. N-2, N-4, N-7

use crate::support;

use std::collections::{BTreeMap, BTreeSet};

use myriscope_simulator::mapping::MappingNotice;
use myriscope_simulator::network::SimulationEngine;
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::truth::{PacketHandling, TruthEvent, TruthEventKind};
use support::{RunWay, TestRun};

const MILLISECOND: u64 = 80_000;

fn run(text: &str, engine: SimulationEngine) -> Vec<TruthEvent> {
    TestRun::finished(support::read(text), RunWay::by(engine)).happened
}

/// Times, hosts, switches and links of the maps.
fn mapped(events: &[TruthEvent]) -> Vec<(u64, usize, u16, usize)> {
    let map = |event: &TruthEvent| {
        let TruthEventKind::Mapping(notice) = &event.kind else { return None };
        let MappingNotice::Mapped { hosts, switches, links, took, .. } = notice else {
            return None;
        };
        Some((*took, *hosts, *switches, *links))
    };
    events.iter().filter_map(map).collect()
}

/// Times and numbers of the routes installed.
fn installed(events: &[TruthEvent]) -> Vec<(u64, usize)> {
    let routes = |event: &TruthEvent| {
        let TruthEventKind::Mapping(notice) = &event.kind else { return None };
        let MappingNotice::Installed { routes, .. } = notice else { return None };
        Some((event.at, *routes))
    };
    events.iter().filter_map(routes).collect()
}

/// Times at which packets with a payload of this size were delivered.
fn delivered(events: &[TruthEvent], size: u64) -> Vec<u64> {
    let at = |event: &TruthEvent| {
        let TruthEventKind::Consumed { length, handling, .. } = event.kind else { return None };
        (length == size + 2 && handling == PacketHandling::Delivered).then_some(event.at)
    };
    events.iter().filter_map(at).collect()
}

/// N-2
#[test]
fn the_berkeley_networks_are_mapped_whole() {
    for (kind, milliseconds, [hosts, switches, links]) in
        [("now-subcluster", 100, [36, 13, 64]), ("now-cluster", 300, [100, 40, 193])]
    {
        let text = format!(
            "duration_us = {milliseconds}000\ntopology.kind = '{kind}'\nroutes.method = 'mapped'\n\
             mapper.who = 'h3'\n[[traffic]]\nto = 'neighbour'\npayload = 700\nevery_us = 5000"
        );
        let events = run(&text, SimulationEngine::Event);
        let maps = mapped(&events);
        let (_, nodes, crossbars, cables) = maps[0];
        assert_eq!([nodes, crossbars.into(), cables], [hosts, switches, links]);
        let installed = installed(&events);
        assert!(installed.iter().all(|(_, routes)| *routes == hosts - 1));
        assert_eq!((maps.len(), installed.len()), (1, hosts), "{kind}");
        // What was due before the routes were there has waited, and is not lost.
        let sent = hosts * usize::try_from(milliseconds / 5).unwrap();
        let delivered = delivered(&events, 700).len();
        assert!(delivered + hosts >= sent, "{delivered} of {sent}");
    }
}

const RING: &str = "
topology = { kind = 'ring', switches = 5, hosts_per_switch = 1 }
routes.method = 'mapped'
mapper.period_us = 1000
mapper.timeout_us = 50
";

/// N-4
#[test]
fn a_ring_heals_while_packets_flow() {
    for design in ["map", "daemon"] {
        let text = format!(
            "duration_us = 60000\n{RING}mapper.design = '{design}'\n\
             [[traffic]]\nto = 'shift'\npayload = 700\nevery_us = 100\n\
             [[fault]]\ncut = 's0:1'\nat_us = 30000\n"
        );
        let events = run(&text, SimulationEngine::Event);
        let maps = mapped(&events);
        let whole = maps.iter().filter(|map| map.3 == 10).count();
        assert!(whole >= 1 && maps.last().unwrap().3 == 9, "{maps:?}");
        // The last five milliseconds: five hosts, a packet in a tenth of each.
        let late = delivered(&events, 700).into_iter().filter(|at| *at >= 55 * MILLISECOND);
        assert!((245..=255).contains(&late.count()), "{design}");
        let heal = installed(&events).into_iter().map(|(at, _)| at).max().unwrap();
        // A search that was under way, a period until the loss is noticed, three timeouts, and the
        // time of another search.
        let search = maps.last().unwrap().0;
        assert!(heal < 32 * MILLISECOND + 3 * 50 * 80 + 2 * search, "{heal}");
    }
}

/// Times at which packets were injected, those of mapping aside, that were not delivered.
fn lost(events: &[TruthEvent]) -> BTreeSet<u64> {
    let mut open = BTreeMap::new();
    for event in events {
        let Some(id) = event.packet else { continue };
        if let TruthEventKind::Injected { .. } = event.kind {
            open.insert(id, event.at);
        } else if let TruthEventKind::MappingTransmitted(_)
        | TruthEventKind::Consumed { handling: PacketHandling::Delivered, .. } =
            event.kind
        {
            open.remove(&id);
        }
    }
    open.into_values().collect()
}

/// A cable is cut; another one too, so that the ring falls in two, and comes together again; the host
/// with the highest address, which maps, goes off and comes back. N-2, N-4
#[test]
fn packets_are_lost_only_until_a_fault_is_healed() {
    const FAULTS: [(u64, &str, u64); 3] =
        [(40, "cut = 's0:1'", 120), (80, "cut = 's2:1'", 40), (200, "power_off = 'h4'", 40)];
    for design in ["map", "daemon"] {
        let mut text = format!(
            "duration_us = 290000\n{RING}mapper.design = '{design}'\n\
             [[traffic]]\nto = 'shift'\npayload = 700\nevery_us = 100\n"
        );
        for (at, fault, lasts) in FAULTS {
            text += &format!("[[fault]]\n{fault}\nat_us = {at}000\nfor_us = {lasts}000\n");
        }
        let events = run(&text, SimulationEngine::Event);
        let search = mapped(&events).iter().map(|map| map.0).max().unwrap();
        // A mapper is missed for 4 periods, and the next one waits for up to 2; then three timeouts,
        // and the time of two searches. What was injected in the last millisecond is under way.
        let heal = 6 * MILLISECOND + 3 * 50 * 80 + 2 * search;
        let changes: Vec<u64> =
            FAULTS.iter().flat_map(|(at, _, lasts)| [*at, at + lasts]).collect();
        let is_excused = |at: &u64| {
            let windows = changes.iter().map(|change| change * MILLISECOND);
            windows.into_iter().any(|from| (from - MILLISECOND..from + heal).contains(at))
        };
        let end = 289 * MILLISECOND;
        let lost = lost(&events);
        let odd: Vec<&u64> = lost.iter().filter(|at| !is_excused(at) && **at < end).collect();
        assert_eq!(odd, [&0; 0], "{design}: {heal}");
        assert!(lost.len() > 50, "{lost:?}");
        let late = delivered(&events, 700).into_iter().filter(|at| *at >= 280 * MILLISECOND);
        assert!((490..=510).contains(&late.count()), "{design}");
    }
}

#[test]
fn both_engines_map_alike() {
    for us in [0, 2] {
        let text = format!(
            "duration_us = 12000\n{RING}interface.mapping_us = {us}\n\
             [[traffic]]\nto = 'shift'\npayload = 700\nevery_us = 100\n\
             [[fault]]\ncut = 's0:1'\nat_us = 8000\n"
        );
        let stepped = run(&text, SimulationEngine::Step);
        assert!(!mapped(&stepped).is_empty());
        assert_eq!(run(&text, SimulationEngine::Event), stepped);
        if us > 0 {
            assert_eq!(run(&text, SimulationEngine::Step), stepped, "again");
        }
    }
}

/// N-3
#[test]
fn of_two_hosts_with_one_address_one_is_in_the_map() {
    // h1 and h3 have the lowest address of all, or the highest.
    for (address, last_mappers) in [("00:60:dd:00:00:01", 1), ("00:60:dd:ff:ff:ff", 2)] {
        let text = format!(
            "duration_us = 60000\n{RING}\
             mapper.addresses = {{ h1 = '{address}', h3 = '{address}' }}\n"
        );
        let events = run(&text, SimulationEngine::Event);
        let (mut mappers, mut followers) = (BTreeSet::new(), BTreeSet::new());
        for event in &events {
            let TruthEventKind::Mapping(notice) = &event.kind else { continue };
            match notice {
                MappingNotice::Mapped { hosts, switches: 5, .. } => assert_eq!(*hosts, 4),
                MappingNotice::Installed { routes: 3, .. } => drop(followers.insert(event.place)),
                MappingNotice::Elected if event.at > 30 * MILLISECOND => {}
                MappingNotice::Elected => drop(mappers.insert(event.place)),
                MappingNotice::Resigned { .. } => drop(mappers.remove(&event.place)),
                MappingNotice::Probed(_)
                | MappingNotice::Mapped { .. }
                | MappingNotice::Installed { .. } => {}
            }
        }
        assert_eq!((mappers.len(), followers.len()), (last_mappers, 3 + last_mappers), "{address}");
    }
}

/// N-8
#[test]
fn absolute_switches_are_refused() {
    let text = "duration_us = 5\ntopology = { kind = 'switch', ports = 4 }\n\
                switch_defaults.addressing = 'absolute'\n\
                routes.method = 'mapped'";
    let error = Scenario::read("net.toml", text).unwrap_err().to_string();
    assert!(
        error.contains("the switch `s0` of a mapped network has absolute addressing"),
        "{error}"
    );
}

/// I-5: the probe is sent, received and answered, and the answer received: four jobs, one after the other.
#[test]
fn each_packet_of_mapping_takes_its_time_at_either_end() {
    let took = |us: u64| {
        let text = format!(
            "duration_us = 4000\nhost = [{{ name = 'h0' }}, {{ name = 'h1' }}]\n\
             [[cable]]\nends = ['h0:0', 'h1:0']\n[routes]\nmethod = 'mapped'\n\
             [mapper]\nwho = 'h0'\ntimeout_us = 1000\n[interface]\nmapping_us = {us}\n"
        );
        mapped(&run(&text, SimulationEngine::default()))[0].0
    };
    let free = took(0);
    for us in [10, 100] {
        // Each job begins in the period after it has become due.
        let jobs = took(us) - free;
        assert!((320 * us..320 * us + 8).contains(&jobs), "{us} µs: {jobs} periods");
    }
}

/// N-8, S-8: without a byte 80 that turns a packet round, the port back is found by the switch's answer.
#[test]
fn absolute_switches_with_extensions_are_mapped_by_both_engines() {
    let text = "duration_us = 20000\nswitch_defaults = { addressing = 'absolute', extensions = true }\n\
                topology = { kind = 'mesh', width = 2, height = 2, hosts_per_switch = 1 }\n\
                routes.method = 'mapped'\n\
                mapper = { period_us = 5000, timeout_us = 50, tries = 1 }\n";
    let [events, steps] =
        [SimulationEngine::Event, SimulationEngine::Step].map(|engine| run(text, engine));
    assert_eq!(events, steps);
    // Four hosts' cables, and the four sides of the square.
    let maps: Vec<_> = mapped(&events)
        .into_iter()
        .map(|(_, hosts, switches, links)| (hosts, switches, links))
        .collect();
    assert_eq!(maps, [(4, 4, 8)]);
}
