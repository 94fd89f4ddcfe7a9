//! Captures of what Myrinet is compared with: nothing is wrong with them. B-1, B-2

use analyzer::finding::{FindingKind, Severity};
use analyzer::journey::JourneyFate;
use codec::route::PortId;
use laws::journeys::{journeys, truth};
use laws::network::analyzed::AnalyzedCapture;
use laws::network::run::RunOutcome;
use laws::repair::{SeededRng, draws};
use simulator::scenario::Scenario;

/// A chain of three hosts and a switch that stores packets with two more, all of which send to all.
fn scenario(kind: &str) -> Scenario {
    let text = format!(
        "duration_us = 400\nlink = {{ kind = '{kind}', length_m = 2 }}\n\
         switch_defaults.forwarding = 'store-and-forward'\nswitch = [{{ name = 's0' }}]\n\
         chain = [{{ hosts = ['h0', 'h1', 'h2'] }}]\ncable = [{{ ends = ['h2.ports:2', 's0:0'] }}]\n\
         host = [{{ name = 'h3', at = 's0:1' }}, {{ name = 'h4', at = 's0:2' }}]\n\
         traffic = [{{ to = 'uniform', payload = [0, 200], every_us = 20, law = 'poisson' }}]\ntap = [{{ all = true }}]"
    );
    crate::read(&text)
}

#[test]
fn handshake_cables_are_read_as_what_they_are() {
    for kind in ["handshake", "myrinet"] {
        let outcome = RunOutcome::of(&scenario(kind));
        let set = AnalyzedCapture::of(&outcome.capture).set;
        let wrong = set.found().map(|(kind, ..)| kind.about());
        // Not even a note of the silence between any two characters.
        let is_wrong = |severity| kind != "myrinet" || severity != Severity::Note;
        let wrong: Vec<_> = wrong.filter(|about| is_wrong(about.severity)).collect();
        assert!(wrong.is_empty(), "{kind}: {wrong:#?}");
        let consumed: u64 = outcome.hosts.values().map(|host| host.received).sum();
        assert!(consumed > 60, "{kind}: {consumed}");
    }
}

/// A packet that waits to the end for its turn on slow cables does not stand still, wherever taps are. B-1, S-3
#[test]
fn what_waits_for_its_turn_on_handshake_cables_is_no_standstill() {
    let mut turns = 0;
    for number in 0..draws(30) {
        let mut dice = SeededRng::new(&number.to_le_bytes());
        let [seed, length, size] = [1000, 25, 1000].map(|most| 1 + dice.below(most));
        let hosts = (0..4).filter(|_| dice.below(3) > 0);
        let taps = hosts.map(|host| format!("[[tap]]\nport = 'h{host}:0'\n")).collect::<String>();
        let taps = if number % 3 == 0 { "[[tap]]\nall = true" } else { &taps };
        let text = format!(
            "seed = {seed}\nduration_us = 120\nlink = {{ kind = 'handshake', length_m = {length} }}\n\
             interface.clock_ppm = 'random'\n\
             topology = {{ kind = 'line', switches = 2, hosts_per_switch = 2 }}\n\
             [[traffic]]\nto = 'uniform'\npayload = {size}\nload = 0.7\n{taps}"
        );
        let scenario = crate::read(&text);
        let outcome = RunOutcome::untold(&scenario);
        let set = AnalyzedCapture::of(&outcome.capture).set;
        for (kind, _, found) in set.found() {
            assert_eq!(found.severity, Severity::Note, "{kind:?}\n{text}");
            turns += u32::from(kind == FindingKind::HeldUp);
        }
    }
    assert!(turns > 10, "{turns}");
}

/// A packet that such a switch has no memory for is lost, and nothing tells why; S-1 is told of a host that is off.
#[test]
fn what_a_switch_that_stores_packets_drops_is_lost_for_no_known_cause() {
    let mut found = [0, 0];
    for number in 0..draws(20) {
        let mut dice = SeededRng::new(&number.to_le_bytes());
        let [memory, longest, seed] = [20, 100, 1].map(|least| least + dice.below(200));
        let host = |name| {
            format!(
                "[[host]]\nname = 'h{name}'\nat = 's0:{name}'\ngo_slack = {memory}\nhysteresis = 8\n"
            )
        };
        let hosts = [0, 1, 2, 3].map(host).concat();
        let text = format!(
            "seed = {seed}\nduration_us = 400\n[switch_defaults]\nforwarding = 'store-and-forward'\n\
             [[switch]]\nname = 's0'\n{hosts}[[traffic]]\nto = 'uniform'\npayload = [0, {longest}]\n\
             every_us = 12\nlaw = 'poisson'\n[[fault]]\nat_us = 0\npower_off = 'h3'\n[[tap]]\nall = true\n"
        );
        let scenario = crate::read(&text);
        let outcome = RunOutcome::of(&scenario);
        let truth = truth(&scenario, &outcome);
        for journey in journeys(&outcome.capture) {
            let (JourneyFate::Dropped(rule), [.., hop]) = (journey.fate, &*journey.hops) else {
                continue;
            };
            let end = &truth.ends[&truth.frames[&(hop.channel, hop.start.0)]];
            // Of a packet that came before the switch's addressing is known, the port is not told.
            let is_off = hop.output.is_none_or(|port| port == PortId(3));
            assert!(rule.is_none() || is_off && rule == Some("S-1"), "{rule:?} {hop:?}: {text}");
            assert!(is_off || end == "B-2", "{end} {hop:?}: {text}");
            found[usize::from(rule.is_some())] += 1;
        }
    }
    assert!(found.iter().all(|found| *found > draws(20)), "{found:?}");
}
