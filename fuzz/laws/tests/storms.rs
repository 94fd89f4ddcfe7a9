//! Random networks, ports and switches keep the laws; and all that can happen happens to them.

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use laws::capture_input::CaptureInput;
use laws::delivery::ConversationInput;
use laws::journeys::NetworkClass;
use laws::network::input::{NetworkInput, SwitchInput};
use laws::network::{findings, run::RunOutcome, slack::BoundsWidth};
use laws::repair::{SeededRng, draws};
use laws::standstill::{self, TappedPart};
use laws::storm::generator;
use laws::{analyze, filter, judged_network, link};
use simulator::scenario::Scenario;
use simulator::traffic::TrafficStream;
use simulator::truth::{TruthEvent, TruthEventKind};

/// So many inputs, as long as a plan may need.
fn storm(name: &str, count: u64) -> impl Iterator<Item = Vec<u8>> {
    crate::storm(name, count, [60, 240])
}

/// Every network that is drawn is a scenario, with the nodes, cables and faults that its generator has in mind.
#[test]
fn drawn_networks_are_scenarios() {
    let bytes = storm("drawn networks", draws(100)).enumerate();
    let drafts = bytes.flat_map(|(number, bytes)| {
        let number = number as u64;
        let switch = NetworkInput::from(SwitchInput::from_bytes(&bytes).unwrap());
        let [sound, starved, blocked] = NetworkClass::ALL.map(|class| class.draft(number));
        [
            NetworkInput::from_bytes(&bytes).unwrap().draft(),
            switch.draft(),
            ConversationInput::from_bytes(&bytes).unwrap().draft(),
            generator::draft(3, number, None),
            standstill::draft(number, TappedPart::Some),
            sound,
            starved,
            blocked,
        ]
    });
    let mut drawn = 0;
    for mut draft in drafts.flatten() {
        let Scenario { topology, faults, .. } = draft.scenario();
        assert_eq!(topology, draft.topology, "{}", draft.text());
        draft.faults.sort_by_key(|fault| fault.at);
        for fault in draft.faults.iter_mut().filter(|fault| !fault.kind.lasts()) {
            fault.until = None;
        }
        assert_eq!(faults, draft.faults, "{}", draft.text());
        drawn += 1;
    }
    assert!(drawn > draws(700), "{drawn}");
}

/// F-3, F-4: networks as they were drawn, and without their faults, each simulated and analysed once and held to all laws. In one
/// that is in order nothing is found wrong, and many are. Everything that can happen happens: storms that missed
/// something would prove little.
#[test]
fn a_storm_of_networks_keeps_the_laws() {
    let (mut kinds, mut in_order, mut width) = (BTreeSet::new(), 0, BoundsWidth::default());
    for bytes in storm("networks", draws(160)) {
        let mut plan = NetworkInput::from_bytes(&bytes).unwrap();
        for _ in 0..2 {
            let held = catch_unwind(|| {
                let judged = judged_network::planned(&plan)?;
                Some((judged_network::check(&judged), judged))
            });
            let Some((bounds, judged)) =
                held.unwrap_or_else(|_| panic!("{}", crate::file(plan.draft())))
            else {
                continue;
            };
            kinds.extend(judged.outcome.rows.iter().map(|row| row.kind.name()));
            in_order += u64::from(findings::is_in_order(&judged.scenario, &judged.outcome));
            width.periods += bounds.periods;
            width.doubled += bounds.doubled;
            (plan.faults, plan.texts) = (Vec::new(), Vec::new());
        }
    }
    assert!(in_order > 60, "{in_order}");
    assert!(width.periods > 500_000 && width.mean() < 24_000, "{width:?}");
    assert_eq!(missed(kinds), [""; 0]);
}

#[test]
fn a_storm_of_switches_keeps_the_laws() {
    for bytes in storm("switches", draws(160)) {
        let plan = NetworkInput::from(SwitchInput::from_bytes(&bytes).unwrap());
        assert!(
            catch_unwind(|| judged_network::planned(&plan)).is_ok(),
            "{}",
            crate::file(plan.draft())
        );
    }
}

#[test]
fn a_storm_over_a_port_keeps_the_law() {
    for (number, bytes) in storm("a port", draws(800)).enumerate() {
        assert!(catch_unwind(|| link::law(&bytes)).is_ok(), "{number}");
    }
}

#[test]
fn a_storm_of_words_keeps_the_law_of_filters() {
    let words: Vec<&str> = "packets|events|info|journeys|hops.channel|hops.start|check|severity|warning|tag|crc|crc.bad|channel|length|route|bytes|start|event|\
        control.GAP|==|!=|<=|>=|<|>|in|contains|~|..|{|}|(|)|[0:2]|[-1]|!|not|&&|and|or|10us|12.5\u{b5}s|\
        4096ch|0x10|83:05|open-link|bad|\"s0:*\"|,|\u{1b}|=|'|\"|5|18446744073709551616"
        .split('|')
        .collect();
    let mut dice = SeededRng::new(b"a storm of words");
    for _ in 0..draws(5000) {
        let count = 1 + dice.below(12);
        let mut word = || words[usize::try_from(dice.below(words.len() as u64)).unwrap()];
        let text: Vec<&str> = (0..count).map(|_| word()).collect();
        let text = text.join(" ");
        assert!(catch_unwind(|| filter::law(text.as_bytes())).is_ok(), "{text}");
    }
}

fn rows(scenario: &Scenario) -> Vec<TruthEvent> {
    RunOutcome::of(scenario).rows
}

/// Kinds of truth rows that storms hardly ever reach: they need a host that breaks the protocol, a path that
/// reorders packets, the loss of an ACK, or a restart in a rare moment (a reply in transit, a message unread). Tests of the
/// machine and of endpoints have them.
pub(crate) const HARDLY_EVER: &str = "message-damaged message-dropped message-given-up message-lost transport-duplicate transport-late \
     transport-overrun transport-stale transport-unknown";

/// Kinds of truth rows of networks that these storms do not have: their cables have no skew, and their routes are
/// given. Tests of the simulator have them: `wires`, `mapping` and `routers`.
const IN_NO_STORM: &str = "map-version mapper-elected mapper-resigned mapping-transmitted routed routes-installed \
     wire-error";

/// Kinds of truth rows that neither these storms nor those of whole networks have.
fn missed(mut kinds: BTreeSet<&'static str>) -> Vec<&'static str> {
    kinds.extend(HARDLY_EVER.split(' '));
    kinds.extend(IN_NO_STORM.split(' '));
    // Storms over whole networks also draw traffic that fuzz inputs of networks do not have. The
    // first of it will do.
    for number in 0..12 {
        let mut scenario = generator::planned(1, number, Some(2)).unwrap();
        let added =
            |stream: &&TrafficStream| stream.multicast.is_some() || stream.protocol.is_some();
        let Some(first) = scenario.streams.iter().filter(added).map(|stream| stream.start).min()
        else {
            continue;
        };
        scenario.duration = first + 200_000;
        scenario.taps.clear();
        kinds.extend(rows(&scenario).into_iter().map(|row| row.kind.name()));
    }
    crate::truth_kinds().filter(|kind| !kinds.contains(kind)).collect()
}

/// Hosts all send to one, as much as they can. S-5
#[test]
fn shares_of_a_contended_output_differ_by_one_packet_at_most() {
    let mut dice = SeededRng::new(b"shares of a contended output");
    for _ in 0..draws(24) {
        let (hosts, payload) = (3 + dice.below(5), 40 + dice.below(200));
        let [routing, token_step] = [28, 3].map(|most| 1 + dice.below(most));
        let traffic = (1..hosts).map(|host| {
            format!("{{ from = 'h{host}', to = 'h0', payload = {payload}, saturate = true }},")
        });
        let text = format!(
            "duration_periods = 12000\ntopology = {{ kind = 'switch', hosts = {hosts} }}\n\
             switch_defaults = {{ routing_periods = {routing}, token_step_periods = {token_step} }}\n\
             traffic = [{}]\n",
            traffic.collect::<String>()
        );
        let scenario = crate::read(&text);
        let mut served = vec![0_u64; usize::try_from(hosts).unwrap()];
        for row in rows(&scenario) {
            if let TruthEventKind::Forwarded { input } = row.kind {
                served[usize::from(input.0)] += 1;
                let (least, most) = (served[1..].iter().min(), served[1..].iter().max());
                let most = most.unwrap() - least.unwrap();
                assert!(most <= 1, "{served:?} at {}: {text}", row.at);
            }
        }
        assert!(served[1] > 5, "{served:?}");
    }
}

#[test]
fn a_storm_of_captures_is_analysed_alike_however_cut_and_by_however_many() {
    let law = |plan: &CaptureInput| {
        plan.file().map(|file| {
            analyze::capture(&file);
            analyze::threads(&file);
        })
    };
    for bytes in storm("captures", draws(150)) {
        crate::hold(&bytes, CaptureInput::from_bytes, law);
    }
}
