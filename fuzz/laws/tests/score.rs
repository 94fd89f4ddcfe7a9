//! The demos of `fixtures/`, scored: everything on the wire is found, and nothing else.

use std::fmt::Write as _;

use analyzer::finding::Severity;
use analyzer::score::ScoreReport;
use laws::judged_network::JudgedNetwork;
use laws::network::run::RunOutcome;
use laws::score::{self, LIKELY, MESSAGES};
use laws::{corpus, taps};
use simulator::scenario::Scenario;
use simulator::truth::{TruthEvent, TruthEventKind};

use crate::conversations::{ALL, talking, troubles};
use crate::demos::EVERY_PORT;

fn scored(scenario: Scenario) -> ScoreReport {
    JudgedNetwork::of(scenario).score().clone()
}

fn check(name: &str, score: &ScoreReport) {
    for row in &score.scores {
        assert!(row.is_perfect(), "{name}: {row:?}\n{:#?}", score.differences);
    }
}

fn check_messages(name: &str, score: &ScoreReport) {
    let rows = MESSAGES.iter().filter_map(|kind| score.of(kind));
    for row in rows {
        assert!(row.is_perfect(), "{name}: {row:?}\n{:#?}", score.differences);
    }
}

fn check_but_journeys(name: &str, mut score: ScoreReport) {
    score.scores.retain(|row| !LIKELY.contains(&row.kind) && !MESSAGES.contains(&row.kind));
    check(name, &score);
}

/// The table of `docs/measurements.md`.
fn table(scores: &[(String, ScoreReport)]) -> String {
    let mut table = String::new();
    for (name, score) in scores {
        let [mut packets, mut events] = [[0; 3]; 2];
        for row in &score.scores {
            let sum = match row.kind {
                "packet" | "open-packet" => &mut packets,
                "journey" | "fate" | "injury" | "fill" => continue,
                "data" | "retransmission" | "cause" | "ack" | "nack" => continue,
                "duplicate" | "refused" | "gone" => continue,
                "mapping-probe" | "installation" | "map" | "mapper" | "resignation" => continue,
                "ip" | "ip-conversation" => continue,
                _ => &mut events,
            };
            for (sum, more) in sum.iter_mut().zip([row.in_truth, row.found, row.right]) {
                *sum += more;
            }
        }
        let of =
            |kind: &str| score.of(kind).map_or([0; 3], |row| [row.in_truth, row.found, row.right]);
        let cell = |[in_truth, found, right]: [u64; 3]| match (in_truth, found) {
            (0, 0) => "–".to_owned(),
            _ if in_truth == right && found == right => format!("{right}"),
            _ => format!("{right} of {in_truth}, {found} found"),
        };
        let width = score.of("fill").and_then(|row| row.width);
        let width = width.map_or("–".to_owned(), |width| format!("{width:.1}"));
        let Some(name) = name.strip_prefix("demo-") else { continue };
        let cells = [packets, events, of("journey"), of("fate"), of("injury"), of("fill")];
        let cells = cells.map(cell).join(" | ");
        writeln!(table, "| `{name}` | {cells} | {width} |").unwrap();
    }
    table
}

/// The captures in `fixtures/`, of the taps of a demo, against the truth of the run with taps at every port.
#[test]
fn all_that_the_wire_tells_is_found_in_every_demo_and_at_every_port_of_it() {
    let scores: Vec<_> = EVERY_PORT
        .iter()
        .map(|(name, judged)| {
            let capture = corpus::file(&format!("fixtures/{name}/capture.pcapng"));
            let outcome = RunOutcome { capture, ..judged.outcome.clone() };
            (name.clone(), score::of(&corpus::scenario(name), &outcome).unwrap())
        })
        .collect();
    for (name, score) in &scores {
        check_but_journeys(name, score.clone());
    }
    let table = table(&scores);
    let doc = include_str!("../../../docs/measurements.md");
    assert!(doc.contains(&table), "docs/measurements.md is to have\n{table}");
    for (name, judged) in &*EVERY_PORT {
        check_but_journeys(name, judged.score().clone());
    }
}

/// Taps that begin in the middle see packets and stops without their beginning.
#[test]
fn in_a_part_of_a_demo_too() {
    for (name, mut scenario) in corpus::scenarios() {
        // In all but the first a link is open before the taps begin, which looks as if it opened then.
        if ["demo-ring", "demo-self-healing", "demo-unreachable"].contains(&&*name) {
            continue;
        }
        // What comes before the first selection belongs to no virtual channel. C-7
        let mut cables = scenario.topology.cables().iter();
        if cables.any(|cable| cable.link.ports.iter().any(|port| port.profile.is_some())) {
            continue;
        }
        scenario.taps = taps::at_every_port(&scenario);
        for tap in &mut scenario.taps {
            (tap.from, tap.to) = (scenario.duration / 3, scenario.duration / 3 * 2);
        }
        check_but_journeys(&name, scored(scenario));
    }
}

/// Scores count no more than a recording shows, wherever it begins and ends: before the GAP of a packet, behind its last
/// bytes, while a sender is stopped.
#[test]
fn what_the_ends_of_a_recording_hide_is_not_missed() {
    let scored = |mut scenario: Scenario, [from, to]: [u64; 2]| {
        scenario.taps = taps::at_every_cable(&scenario);
        scenario.taps.iter_mut().for_each(|tap| (tap.from, tap.to) = (from, to));
        check(&format!("{from} to {to}"), &scored(scenario));
    };
    for demo in ["demo-adversary", "demo-contention", "demo-ip", "demo-multicast"] {
        let scenario = corpus::scenario(demo);
        for twelfths in [[4, 8], [2, 3], [3, 5]] {
            scored(scenario.clone(), twelfths.map(|of| (scenario.duration / 12 + 1) * of));
        }
    }
    let text = "duration_us = 130\ntopology = { kind = 'switch', hosts = 4 }\n\
                fault = [{ at_us = 5, consume = 'h0', how = 'never', for_us = 110 }]\n\
                traffic = [{ from = 'h1', to = 'h0', payload = 4, every_us = 1 },\n\
                { from = 'h2', to = 'h3', payload = 100, saturate = true }]";
    for window in [[0, 7], [0, 8], [160, 744], [1600, 9000]] {
        scored(crate::read(text), window);
    }
}

/// An overflow gives no syndrome: no flipped bits are expected. F-9
#[test]
fn what_overflows_is_found_as_cut_and_not_as_flipped() {
    // Half of what is in transit does not fit above the threshold of STOP (F-4), and h1 is slow.
    let text = "seed = 1\nduration_us = 60\n[link]\nstop_slack = 14\n[[switch]]\nname = \"s0\"\n\
                [[host]]\nname = \"h0\"\nat = \"s0:0\"\n\
                [[host]]\nname = \"h1\"\nat = \"s0:1\"\nconsumption = 4\n\
                [[traffic]]\nfrom = \"h0\"\nto = \"h1\"\npayload = 200\nevery_us = 15\n\
                packets = 3\n[[tap]]\nall = true\n";
    let score = scored(crate::read(text));
    assert!(score.unseen.iter().any(|unseen| unseen.event == "overflow"), "{:?}", score.unseen);
    let injuries = score.of("injury").unwrap();
    assert_eq!((injuries.in_truth, injuries.found), (0, 0), "{:#?}", score.differences);
    assert_eq!(injuries.left_out.get("maimed"), Some(&3), "{injuries:?}");
    assert!(score.of("journey").unwrap().is_perfect(), "{:#?}", score.differences);
}

/// The relative bytes and the packets that are still open are read alike, however soon the capture ends. S-1, P-3
#[test]
fn packets_that_the_end_of_a_capture_cuts_are_followed() {
    for duration in [10, 30] {
        let stream = |from: &str, to: &str, payload| {
            format!(
                "[[traffic]]\nfrom = '{from}'\nto = '{to}'\npayload = {payload}\npackets = 1\n\
                 every_us = 100\n"
            )
        };
        let streams = [("h1", "h0", 4), ("h1", "h0", 1000), ("h0", "h1", 1000)];
        let streams: String =
            streams.iter().map(|(from, to, size)| stream(from, to, size)).collect();
        let text = format!(
            "duration_us = {duration}\n[[switch]]\nname = 's0'\n[[host]]\nname = 'h0'\n\
             at = 's0:4'\n[[host]]\nname = 'h1'\nat = 's0:2'\n{streams}[[tap]]\nall = true\n"
        );
        let score = scored(crate::read(&text));
        let rows = ["journey", "fate"].map(|kind| score.of(kind).unwrap());
        assert_eq!(rows.map(|row| (row.in_truth, row.found, row.right)), [(3, 3, 3); 2], "{text}");
    }
}

/// A packet that waits at the end, behind one of a host without a tap, has not grown to that one's length. S-3, F-9
#[test]
fn a_packet_that_waits_is_not_the_longer_one_in_front_of_it() {
    let text = "duration_us = 12\ntopology = { kind = 'switch', hosts = 4 }\n\
                tap = [{ port = 's0:0' }, { port = 's0:1' }]\n\
                traffic = [{ from = 'h2', to = 'h0', payload = 300, window = 1 },\n\
                { from = 'h3', to = 'h0', payload = 1000, window = 1, start_us = 2 },\n\
                { from = 'h1', to = 'h0', payload = 40, window = 1, start_us = 2 }]";
    check("waits", &scored(crate::read(text)));
}

/// Conversations are found exactly where no packet is lost in a switch.
#[test]
fn conversations_are_found_as_they_were() {
    let kinds = [
        &["data", "ack", "nack", "refused"][..],
        &["retransmission", "cause", "duplicate"],
        &["retransmission", "cause"],
        &["retransmission", "cause"],
        &["data"],
        &["nack"],
        &["retransmission", "cause", "gone"],
    ];
    for ((name, faults), kinds) in troubles().into_iter().zip(kinds) {
        let mut kinds = kinds.to_vec();
        for seed in [7, 8] {
            let score = scored(talking(seed, &faults, ALL));
            kinds.retain(|kind| score.of(kind).is_none_or(|it| it.right == 0));
            check_messages(&format!("{name}, seed {seed}"), &score);
        }
        assert!(kinds.is_empty(), "{name}: {kinds:?} is to be there");
    }
}

/// A cable is cut, a part is split off and joined again, the mapper loses its power and comes back; in
/// both designs. N-2, N-4, N-7
#[test]
fn mapping_is_found_as_it_was() {
    for (design, divisor) in [("map", 1), ("daemon", 1), ("map", 2)] {
        let text = format!(
            "duration_us = 30000\ntopology = {{ kind = 'ring', switches = 3, hosts_per_switch = 1 }}\n\
             routes.method = 'mapped'\nlink.rate_divisor = {divisor}\n\
             mapper = {{ design = '{design}', period_us = 500, timeout_us = 20, tries = 2 }}\n\
             traffic = [{{ to = 'shift', payload = 100, every_us = 500 }}]\ntap = [{{ all = true }}]\n\
             fault = [{{ cut = 's0:1', at_us = 6000, for_us = 10000 }}, {{ cut = 's0:0', at_us = 9000, for_us = 6000 }},
             {{ power_off = 'h1', at_us = 19000, for_us = 4000 }}]"
        );
        let score = scored(crate::read(&text));
        check_messages(&format!("{design}, {divisor}"), &score);
        let right = |kind| score.of(kind).map_or(0, |row| row.right);
        let kinds = ["mapping-probe", "installation", "map", "mapper", "resignation"].map(right);
        assert!(kinds.into_iter().zip([3000, 6, 4, 4, 1]).all(|(n, most)| n >= most), "{kinds:?}");
    }
}

/// Probes pile up before slow cables, reach hosts that do not answer in time with a route byte left, and are cut by the
/// end: nothing is wrong with that. N-2, I-2, B-1
#[test]
fn probes_of_a_mapper_that_waits_too_little_are_no_findings() {
    for (hosts, timeout) in [(2, 20), (2, 100), (3, 20)] {
        let text = format!(
            "duration_us = 3000\nroutes.method = 'mapped'\nlink.kind = 'handshake'\n\
             topology = {{ kind = 'line', switches = 2, hosts_per_switch = {hosts} }}\n\
             mapper = {{ who = 'h0', period_us = 2000, timeout_us = {timeout}, tries = 2 }}\n\
             [[traffic]]\nto = 'shift'\npayload = 16\nevery_us = 100\n[[tap]]\nall = true"
        );
        let judged = JudgedNetwork::of(crate::read(&text));
        check(&text, judged.score());
        let wrong = judged.analysis().set.found().find(|it| it.2.severity < Severity::Note);
        assert!(wrong.is_none(), "{text}: {wrong:?}");
    }
}

/// A packet of a connection is lost, and sent again; what the truth does not tell so is noticed. H-1
#[test]
fn ip_is_found_as_it_was() {
    let scenario = crate::read(include_str!("../../../cli/demos/ip.toml"));
    let mut outcome = RunOutcome::of(&scenario);
    let kinds = ["ip", "ip-conversation"];
    let score = score::of(&scenario, &outcome).unwrap();
    let rows = kinds.map(|kind| score.of(kind).unwrap());
    assert!(rows.iter().all(|row| row.is_perfect()), "{rows:?}\n{:#?}", score.differences);
    // Two directions of TCP; the first fragments of UDP, which have ports, and the later ones.
    assert_eq!(rows.map(|row| row.right).get(1), Some(&4));
    let again = |row: &TruthEvent| matches!(&row.kind, TruthEventKind::IpTransmitted(it) if it.segment.as_ref().is_some_and(|it| it.again));
    assert!(outcome.rows.iter().any(again));
    for row in &mut outcome.rows {
        if let TruthEventKind::IpTransmitted(label) = &mut row.kind
            && let Some(segment) = &mut label.segment
            && segment.again
        {
            (segment.again, label.data) = (false, label.data + 1);
        }
    }
    let score = score::of(&scenario, &outcome).unwrap();
    let wrong = kinds.map(|kind| score.of(kind).map(|row| row.in_truth - row.right));
    assert!(wrong.iter().all(|wrong| wrong.is_some_and(|it| it > 0)), "{wrong:?}");
}

/// A link that is tapped at both ends shows every packet twice; it was sent once.
#[test]
fn what_is_said_counts_once_however_many_taps_see_it() {
    let mut scenario = talking(7, "", ALL);
    scenario.taps = taps::at_every_port(&scenario);
    let score = scored(scenario);
    assert!(score.of("ack").is_some_and(|row| row.right > 20), "{score:?}");
    check_messages("both ends", &score);
}

/// The end of a silence is expected though nothing follows at its port, and before its event is dropped because others
/// go on.
#[test]
fn the_end_of_a_silence_is_expected_though_nothing_follows_it() {
    let text = "duration_us = 400\n[[switch]]\nname = \"s0\"\n[[switch]]\nname = \"s1\"\n\
                [[host]]\nname = \"h0\"\nat = \"s0:0\"\n[[host]]\nname = \"h1\"\nat = \"s1:0\"\n\
                [[host]]\nname = \"h2\"\nat = \"s1:1\"\n[[cable]]\nends = [\"s0:7\", \"s1:7\"]\n\
                [[fault]]\nat_us = 10\npower_off = \"s0\"\nfor_us = 20\n\
                [[traffic]]\nfrom = \"h1\"\nto = \"h2\"\npayload = 8\nevery_us = 1\nstart_us = 200\n\
                packets = 100\n[[tap]]\nport = \"s0:0\"\n[[tap]]\nport = \"s1:0\"\n";
    let score = scored(crate::read(text));
    let row = score.of("link-restored").unwrap();
    assert!(row.right > 0 && row.is_perfect(), "{row:?}\n{:#?}", score.differences);
}

/// A port without power receives nothing of what its tap shows, and a switch of which one link is known drops what may have come
/// to an interface.
#[test]
fn what_is_lost_behind_the_last_link_is_no_difference() {
    let away = "duration_us = 200\ntraffic = [{ to = 'uniform', payload = 8, load = 0.2 }]\n\
                fault = [{ power_off = 's0', at_us = 63, for_us = 20 }]\n[[host]]\nname = 'h2'\nat = 's0:1'\n";
    let leaf = "duration_us = 1500\ntraffic = [{ to = 'shift', payload = 100, every_us = 50 }]\n\
                mapper = { period_us = 1000, timeout_us = 200, tries = 2 }\nroutes.method = 'mapped'\n";
    for (kind, text) in [("journey", away), ("mapping-probe", leaf)] {
        for seed in [1, 2, 4, 5] {
            let text = format!(
                "seed = {seed}\n{text}[[switch]]\nname = 's0'\n[[switch]]\nname = 's1'\n\
                 [[cable]]\nends = ['s0:0', 's1:0']\n[[host]]\nname = 'h0'\nat = 's1:1'\n\
                 [[host]]\nname = 'h1'\nat = 's1:2'\n[[tap]]\nall = true"
            );
            let score = scored(crate::read(&text));
            check(&text, &score);
            assert!(score.of(kind).is_some_and(|row| row.right > 0), "{text}");
        }
    }
}

/// A packet that was cut or changed behind a node without a tap is not compared: it need not be recognized.
#[test]
fn what_left_an_uncaptured_node_need_not_be_what_came_to_it() {
    // All nine wires of a character: the packet is two behind it.
    let text = "duration_us = 60\ntopology = { kind = 'line', switches = 3 }\n\
                traffic = [{ from = 'h0', to = 'h2', payload = 40, every_us = 10 }]\n\
                fault = [{ at_us = 20.9, flip = 's0:0', bits = 511 }]\n\
                tap = [{ port = 'h0:0' }, { port = 'h2:0' }]\n";
    let score = scored(crate::read(text));
    check(text, &score);
    let row = score.of("journey").unwrap();
    assert_eq!((row.right, row.left_out["out-of-sight"]), (5, 1), "{row:?}");
}

/// A repeat lists its first iterations only: here a wire that is open while nothing is sent.
#[test]
fn what_a_repeat_brings_over_and_over_is_not_missed() {
    let text = "duration_us = 400\n[[switch]]\nname = \"s0\"\n[[host]]\nname = \"h0\"\nat = \"s0:0\"\n\
                [[fault]]\nat_us = 100\nopen_wire = \"h0:0\"\nwire = 1\nfor_us = 200\n\
                [[tap]]\nport = \"s0:0\"\n";
    let score = scored(crate::read(text));
    let row = score.of("corrected-code").unwrap();
    // GO in every other of 16000 periods, of which 4096 are listed and a few more: what was in transit
    // when the wire broke, and what comes when it is whole.
    let left_out = row.left_out.get("repeated").copied().unwrap_or_default();
    assert_eq!(row.in_truth + left_out, 8000, "{row:?}");
    assert!(row.in_truth >= 2048 && left_out > 5000 && row.is_perfect(), "{row:?}");
}
