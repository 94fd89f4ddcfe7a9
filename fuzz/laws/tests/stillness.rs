//! Compares the event engine with the stepper on random networks: captures, truth and counters are equal
//! byte for byte.

use std::collections::BTreeSet;
use std::iter;
use std::panic::catch_unwind;

use crate::storms::HARDLY_EVER;
use laws::engines;
use laws::network::input::NetworkInput;
use laws::repair::{SeededRng, draws};
use laws::storm::generator;
use simulator::clock::NodeClock;
use simulator::scenario::{PortTap, Scenario};
use simulator::transport::Micros;
use simulator::truth::TraceLevel;

/// Holds a run against one from period to period; the number of periods that it left out.
fn check(name: &str, scenario: &Scenario, wanted: TraceLevel) -> u64 {
    let left_out = catch_unwind(|| engines::compare(scenario, wanted, 1999).skipped);
    left_out.unwrap_or_else(|_| panic!("{name}"))
}

#[test]
fn random_networks_leave_out_what_nobody_misses() {
    let (mut dice, mut left_out) = (SeededRng::new(b"stillness"), 0);
    for number in 0..draws(100) {
        let plan = NetworkInput::from_bytes(&dice.bytes_within(60, 600)).unwrap();
        let Some(mut scenario) = plan.scenario() else { continue };
        scenario.duration *= 3;
        // They come to rest.
        scenario.streams.iter_mut().for_each(|stream| stream.packets = Some(4));
        for tap in &mut scenario.taps {
            if tap.port.node.0.is_multiple_of(2) {
                tap.to = scenario.duration;
            }
        }
        let wanted = if number % 2 == 0 { TraceLevel::Everything } else { TraceLevel::Nothing };
        if number % 3 == 0 {
            scenario.taps.clear();
        }
        if number % 5 == 4 {
            engines::far_apart(&mut scenario);
        }
        left_out += check(&crate::file(plan.draft()), &scenario, wanted);
    }
    assert!(left_out > 15_000, "{left_out}");
}

/// Keys of tables that generators of networks do not draw: parts, and faults of wires.
const PARTS: [(&str, &str); 13] = [
    ("cable", "skew_ns = 5\njitter_ns = 1"),
    ("cable", "skew_ns = 8"),
    ("handshake cable", "handshake_ns = 31.7"),
    ("host", "command_periods = 40\npacket_periods = 700"),
    ("host", "command_periods = 1\nboot_periods = 300\nreceive_memory = 300"),
    ("switch", "extensions = 'computer'"),
    ("switch", "arbitration = 'age'\nrouting_periods = 0\ntoken_step_periods = 0"),
    ("raw", "from = 'h0'\nchars = 'GAP ff 81 13×2 55 GAP ff 80 13 55 GAP'"),
    ("fault", "glitch = 'any'\nwire = 3\nwidth_ns = 8.1"),
    ("fault", "missed_transition = 'any'\nwire = 8"),
    ("fault", "short = 'any'\nwires = [0, 8]\nfor_periods = 90"),
    (
        "fault",
        "crosstalk = 'any'\nfrom_wire = 2\nwire = 5\nmean_transitions = 9\nfor_periods = 400",
    ),
    ("fault", "slow_edge = 'any'\nwire = 2\nlate_ns = 40\nfor_periods = 300"),
];

/// The scenario in a short time, in which all of it begins.
fn hurried(mut scenario: Scenario, duration: u64) -> Scenario {
    let within = |at: &mut u64| *at %= duration;
    scenario.streams.iter_mut().for_each(|it| within(&mut it.start));
    scenario.raw.iter_mut().for_each(|it| within(&mut it.at));
    for plan in scenario.messaging.values_mut() {
        (plan.transport.scan, plan.transport.timeout) = (Micros(5), Micros(15));
        plan.streams.iter_mut().for_each(|it| within(&mut it.start));
    }
    if let Some(mapping) = &mut scenario.mapping {
        (mapping.parameters.period, mapping.parameters.timeout) = (duration / 3, 400);
    }
    for fault in &mut scenario.faults {
        let lasts = fault.until.map(|until| (until - fault.at) % duration);
        within(&mut fault.at);
        fault.until = lasts.map(|lasts| fault.at + 1 + lasts);
    }
    scenario.faults.sort_by_key(|fault| fault.at);
    scenario.taps.iter_mut().for_each(|tap| (tap.from, tap.to) = (tap.from % duration, duration));
    Scenario { duration, ..scenario }
}

/// Networks of storms with mapping, messages, IP and multicasts, and what else there is.
#[test]
fn networks_of_all_parts_leave_out_what_nobody_misses() {
    let (mut dice, mut kinds) = (SeededRng::new(b"networks of all parts"), BTreeSet::new());
    for number in 0..draws(240) {
        let mut draft = generator::draft(6, number, None).unwrap();
        let (duration, apart) = (3000 + dice.below(4000), 400 + dice.below(3000));
        for (list, keys) in PARTS.into_iter().filter(|_| dice.below(6) == 0) {
            match list {
                "raw" => draft.add(list, &format!("{keys}\nat_periods = {apart}")),
                "fault" => draft.add(
                    list,
                    &format!("{keys}\nevery_periods = {apart}\nto_periods = {duration}"),
                ),
                "handshake cable" => {
                    let cables = draft.tables("cable").filter(|it| it.contains_key("kind"));
                    cables.for_each(|it| _ = it.insert("handshake_ns".to_owned(), 31.7.into()));
                }
                _ => draft.set_each(list, iter::repeat(keys.to_owned())),
            }
        }
        let scenario = hurried(draft.scenario(), duration);
        let held = catch_unwind(|| engines::varied(scenario));
        let outcome = held.unwrap_or_else(|_| panic!("{number}\n{}", draft.text()));
        kinds.extend(outcome.rows.iter().map(|row| row.kind.name()));
    }
    // Tests of routers and of endpoints have these.
    kinds.extend(["routed", "host-memory-mapped", "transport-malformed"]);
    kinds.extend(HARDLY_EVER.split(' '));
    assert_eq!(crate::truth_kinds().find(|kind| !kinds.contains(kind)), None);
}

/// Hosts that talk now and then, over a network in which everything breaks.
const TALK: &str = r#"
duration_us = 4000
topology = { kind = "line", switches = 2, hosts_per_switch = 2 }
link.symbols = "all"
transport = { scan_us = 50, timeout_us = 150, unreachable_us = 900, frames = 1, load_us = 30 }
endpoint = [
    { name = "a", host = ["h0", "h1"], count = 4 },
    { name = "b", host = ["h2", "h3"], count = 4, wake = "event", segment = 8192 },
]
messages = [
    { from = "a", to = "b", kind = "medium", bytes = [4, 400], every_us = 300, law = "poisson" },
    { from = "b0", to = "a3", words = 2, window = 2, think_us = 217 },
]
traffic = [{ payload = 40, to = "uniform", every_us = 700, law = "poisson" }]
fault = [
    { every_us = 500, lose_gap = "any" },
    { every_us = 700, cut = "any", for_us = 40 },
    { every_us = 900, restart = "any" },
    { every_us = 1500, power_off = "any", for_us = 100 },
    { every_us = 300, probe = "any" },
    { every_us = 800, noise = "any", mean_characters = 300, for_us = 60 },
]
"#;

#[test]
fn hosts_that_talk_leave_out_what_nobody_misses() {
    let mut left_out = 0;
    for seed in 0..8 {
        let mut scenario = Scenario::read_with("talk", TALK, Some(seed)).unwrap();
        let ports: Vec<_> = scenario.topology.cables().iter().flat_map(|it| it.ends).collect();
        scenario.taps = match seed % 4 {
            0 => Vec::new(),
            1 => ports.iter().map(|port| PortTap { port: *port, from: 0, to: 320_000 }).collect(),
            // Windows that touch, overlap, and begin and end anywhere.
            _ => [(10_001, 60_000), (50_000, 80_001), (80_001, 99_999), (200_000, 320_000)]
                .map(|(from, to)| PortTap { port: ports[0], from, to })
                .into(),
        };
        let wanted = if seed < 4 { TraceLevel::Everything } else { TraceLevel::Nothing };
        left_out += check(&format!("seed {seed}"), &scenario, wanted);
    }
    assert!(left_out > 8 * 320_000 / 4, "{left_out}");
}

/// Links of all sorts, hosts that consume as they like, and faults that last: what stands still for
/// long is not only idle links.
fn broken(link: &str, faults: &str) -> String {
    format!(
        r#"
duration_us = 1000
topology = {{ kind = "ring", switches = 3, hosts_per_switch = 2 }}
transport = {{ scan_us = 50, timeout_us = 150, unreachable_us = 900 }}
endpoint = [{{ name = "a", host = ["h0", "h2", "h4"], wake = "event" }}]
messages = [
    {{ from = "a0", to = "a1", kind = "medium", bytes = [4, 400], every_us = 300, law = "poisson" }},
    {{ from = "a2", to = "a0", words = 2, every_us = 200 }},
]
[link]
{link}
[[traffic]]
from = ["h1", "h3", "h5"]
payload = [10, 300]
to = "uniform"
every_us = 150
law = "poisson"
{faults}"#
    )
}

const LINKS: [&str; 4] = [
    "blocked_us = 60",
    "blocked_us = 100\nrate_divisor = 3\nlength_m = 40\nsymbols = \"all\"",
    "blocked_us = 300\ndelay_us = 2\ngo_slack = 200\nstop_slack = 400",
    "rate_divisor = 4\nlength_m = 1\nsymbols = \"all\"",
];

/// Kinds of faults, each often and long.
const FAULTS: [&str; 14] = [
    "noise = \"any\"\nmean_characters = 2000\nfor_us = 700",
    "noise = \"any\"\nmean_characters = 3000\nerrors = \"flip\"",
    "flip = \"any\"\nbits = 0x10c",
    "open_wire = \"any\"\nwire = 8\nfor_us = 300",
    "open_wire = \"any\"\nwire = 1\nfor_us = 300",
    "cut = \"any\"\nfor_us = 300",
    "lose_gap = \"any\"",
    "lose_gap = \"any\"\nfor_us = 200",
    "forward_reset = \"any\"",
    "backward_reset = \"any\"",
    "power_off = \"any\"\nfor_us = 200",
    "dead_port = \"any\"\nfor_us = 300",
    "restart = \"any\"",
    "probe = \"any\"",
];

const WAYS: [&str; 3] = ["\"never\"", "\"adversary\"", "40"];

#[test]
fn broken_networks_leave_out_what_nobody_misses() {
    let faults = FAULTS.map(|fault| vec![format!("[[fault]]\nevery_us = 400\n{fault}\n")]);
    let ways = WAYS.map(|how| {
        let consume = |host| {
            format!("[[fault]]\nat_us = 100\nconsume = \"h{host}\"\nhow = {how}\nfor_us = 700\n")
        };
        [0, 3].map(consume).to_vec()
    });
    let kinds: Vec<_> = faults.into_iter().chain(ways).map(|it| it.concat()).collect();
    let all = kinds.iter().map(|kind| kind.replace("= 400", "= 2500")).collect();
    for (number, faults) in (0..).zip(kinds.into_iter().chain([all, String::new()])) {
        // Each kind of fault with one kind of links, and each kind of links with faults of all kinds.
        for (seed, link) in (0..).zip(LINKS).filter(|(seed, _)| (number + seed) % 4 == 0) {
            let text = broken(link, &faults);
            let mut scenario = Scenario::read_with("broken", &text, Some(seed)).unwrap();
            let ports = scenario.topology.cables().iter().flat_map(|it| it.ends);
            if (number + seed) % 3 == 0 {
                let tap = |port| PortTap { port, from: 10_000 * seed, to: 70_001 };
                scenario.taps = ports.map(tap).collect();
            }
            let told = number / 4 % 2 == 0;
            let wanted = if told { TraceLevel::Everything } else { TraceLevel::Nothing };
            if number / 2 % 2 == seed % 2 {
                scenario.set_clocks(|_| NodeClock::Random);
            }
            check(&format!("{link} {faults}"), &scenario, wanted);
        }
    }
}

/// Position where nothing moves for long, whole periods are left out, whatever is broken meanwhile.
#[test]
fn what_is_broken_stands_still() {
    let still = [
        "[[fault]]\nat_us = 0\nnoise = \"s0:2\"\nmean_characters = 3000\n",
        "[[fault]]\nat_us = 0\ncut = \"h1:0\"\n",
        "[[fault]]\nat_us = 0\nopen_wire = \"s1:0\"\nwire = 7\n",
        "[[fault]]\nat_us = 0\npower_off = \"h3\"\n",
        "[[fault]]\nat_us = 0\ndead_port = \"s1:0\"\n",
        "[[fault]]\nat_us = 0\nlose_gap = \"s1:0\"\nfor_us = 9000\n",
        "[[fault]]\nat_us = 0\nconsume = \"h1\"\nhow = \"never\"\n",
    ];
    for faults in still {
        for link in ["rate_divisor = 1", "rate_divisor = 4"] {
            let text = broken(link, faults).replace("every_us = 150", "every_us = 1500");
            let scenario = Scenario::read_with("still", &text, Some(1)).unwrap();
            let left_out = check(faults, &scenario, TraceLevel::Nothing);
            assert!(left_out > scenario.duration / 4, "{faults} {link} {left_out}");
        }
    }
}
