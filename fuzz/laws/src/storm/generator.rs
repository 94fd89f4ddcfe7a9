//! A network of a storm, drawn from a seed and its number: what it is, what is sent in it, what breaks, and
//! when it is calm again.

use std::iter;

use arbitrary::{Arbitrary, Unstructured};
use codec::route::RouteAddressing;
use simulator::fault::FaultSpec;
use simulator::generate::{GeneratedShape, LatticeEdge, generate};
use simulator::link::FillMode;
use simulator::messaging::MICROSECOND;
use simulator::routes::RoutingMethod;
use simulator::scenario::Scenario;
use simulator::topology::{ExtensionSupport, NodePort, SwitchParameters, Topology};

use super::mapped::mapping;
use super::quiescence::calm_time;
use crate::endpoints::input::MessagingInput as Talk;
use crate::network::draft::NetworkDraft;
use crate::network::facts;
use crate::network::input::HostInput;
use crate::network::link_input::{CableInput, LinkEndsInput};
use crate::network::rules::stop_slack;
use crate::network::traffic_input;
use crate::repair::SeededRng;
use crate::variety::{self, LinkRates};

/// Most switches of a network. *Chosen*: more make a storm slower, not fiercer.
pub const SWITCHES_MAX: u8 = 8;
/// Periods of the full rate in a millisecond. C-1
pub(super) const MILLISECOND: u64 = 1000 * MICROSECOND;
/// From packet to packet of a roll call.
const CALL: u64 = MILLISECOND;
/// Time that the longest burst of traffic goes on beginning new streams. *Chosen*
const BURST: u64 = 2 * MILLISECOND;

/// The network of a number: the same for the same seed, on every machine.
pub fn planned(seed: u64, number: u64, switches: Option<u8>) -> Option<Scenario> {
    draft(seed, number, switches).map(|draft| draft.scenario())
}

/// The file of a network.
pub fn draft(seed: u64, number: u64, switches: Option<u8>) -> Option<NetworkDraft> {
    let mut dice = SeededRng::new(&[seed.to_le_bytes(), number.to_le_bytes()].concat());
    // What is drawn may be no network, as a random one may have too few ports.
    (0..100).find_map(|_| {
        let mut draft = network(&mut dice, switches)?;
        fill(&mut draft, &mut dice)?;
        Some(draft)
    })
}

/// A value decoded from random bytes.
fn drawn<T: for<'a> Arbitrary<'a>>(dice: &mut SeededRng, bytes: usize) -> Option<T> {
    T::arbitrary(&mut Unstructured::new(&dice.bytes(bytes))).ok()
}

fn number(dice: &mut SeededRng, least: u32, most: u32) -> u32 {
    least + u32::try_from(dice.below(u64::from(most - least) + 1)).unwrap_or(0)
}

/// Network without traffic and faults.
fn network(dice: &mut SeededRng, switches: Option<u8>) -> Option<NetworkDraft> {
    let most = u32::from(SWITCHES_MAX);
    let switches = match switches {
        Some(switches) => u32::from(switches),
        None => number(dice, 1, most),
    };
    let topology = joined(dice, switches)?;
    let method = if dice.below(4) == 0 { RoutingMethod::Shortest } else { RoutingMethod::UpDown };
    let mut draft = NetworkDraft::new(topology, method)?;
    let kinds: [HostInput; 3] = [drawn(dice, 16)?, drawn(dice, 16)?, drawn(dice, 16)?];
    // Who does not take what comes would keep all from coming to rest; for a time some do not, see
    // `FaultKind::Consume`.
    let own = kinds.iter().map(|kind| kind.consuming().keys());
    draft.set_each("host", own.cycle());
    let memory = "send_memory = 16384\nreceive_memory = 16384";
    draft.set_each("host", iter::repeat(memory.to_owned()));
    Some(draft)
}

fn joined(dice: &mut SeededRng, switches: u32) -> Option<Topology> {
    let few = 1 + 2 / switches;
    let shape = match (dice.below(6), switches) {
        (0, _) => {
            let hosts = number(dice, few, 2.max(few));
            GeneratedShape::lattice(LatticeEdge::Open, &[switches], hosts)
        }
        (1, 2..) => GeneratedShape::lattice(LatticeEdge::Closed, &[switches], number(dice, 1, 2)),
        (2, 4 | 6 | 8) => {
            GeneratedShape::lattice(LatticeEdge::Open, &[switches / 2, 2], number(dice, 1, 2))
        }
        _ => GeneratedShape::Random {
            seed: dice.roll(),
            switches,
            ports: 8,
            hosts: number(dice, 2, 2 + switches),
            links: number(dice, 0, switches),
        },
    };
    let addressing =
        if dice.below(2) == 0 { RouteAddressing::Relative } else { RouteAddressing::Absolute };
    let prototype = SwitchParameters {
        routing: u8::try_from(number(dice, 1, 40)).unwrap_or(28),
        token_step: u8::try_from(number(dice, 1, 3)).unwrap_or(2),
        extensions: if dice.below(4) == 0 { ExtensionSupport::On } else { ExtensionSupport::Off },
        ..SwitchParameters::new(8, addressing)
    };
    let kinds: [CableInput; 3] = [drawn(dice, 16)?, drawn(dice, 16)?, drawn(dice, 16)?];
    // From a generator of their own, so that all else is as it was without them.
    let aside = &mut SeededRng::new(&dice.clone().bytes(16));
    let ends: [LinkEndsInput; 3] = [drawn(aside, 16)?, drawn(aside, 16)?, drawn(aside, 16)?];
    let (enough, slow) = (dice.below(8) > 0, dice.below(16) == 0);
    let mut links: Vec<_> = kinds.iter().zip(&ends).map(|(kind, ends)| ends.of(kind)).collect();
    for link in &mut links {
        if !slow {
            // Nor is one still that fills with IDLE.
            for port in &mut link.ports {
                port.divisor = std::num::NonZeroU32::MIN;
                port.fill = facts::without_idle(port.fill);
            }
        }
        if enough {
            let least = [stop_slack(link), stop_slack(&link.turned())];
            for (port, least) in link.ports.iter_mut().zip(least) {
                port.slack.stop_slack = port.slack.stop_slack.max(least);
            }
        }
    }
    let (nodes, mut cables) = generate(&shape, prototype, *links.first()?).ok()?;
    let all = cables.iter_mut().zip(links.iter().cycle());
    all.for_each(|(cable, link)| cable.link = *link);
    let rates = if slow { LinkRates::Any } else { LinkRates::Full };
    variety::varied(&Topology::new(nodes, cables).ok()?, rates, dice)
}

/// Adds traffic, faults and taps.
fn fill(draft: &mut NetworkDraft, dice: &mut SeededRng) -> Option<()> {
    draft.set(&mapping(&draft.topology, dice));
    let mut ports = draft.topology.cables().iter().flat_map(|cable| cable.link.ports);
    let slow = ports.any(|it| it.divisor.get() > 1 || matches!(it.fill, FillMode::Idle(_)));
    // A link of another rate than the full one is never still.
    let bursts = if slow { 1 } else { u64::from(number(dice, 1, 4)) };
    let apart = if slow { 4 } else { u64::from(number(dice, 20, 600)) } * MILLISECOND;
    let mut begins = Vec::new();
    for burst in 0..bursts {
        let begin = burst * apart + dice.below(apart / 2);
        begins.push(begin);
        traffic(draft, begin, dice)?;
        breakage(draft, begin, dice)?;
    }
    talk(draft, &begins, dice)?;
    variety::add_multicast(draft, (&begins, BURST), dice);
    let mended = draft.faults.iter().filter_map(|fault| fault.until).max().unwrap_or(0);
    let last = begins.last().copied().unwrap_or(0);
    let duration = roll_call(draft, mended.max(last + 2 * BURST));
    variety::add_ip(draft, (&begins, BURST), dice);
    variety::fit(draft, dice);
    variety::spare_handshakes(draft);
    taps(draft, &begins, duration, dice);
    draft.set(&format!("seed = {}\nduration_periods = {duration}", dice.roll() >> 1));
    Some(())
}

/// Time when it is calm each host sends a packet, one after the other; and again, which must arrive.
/// When the run ends.
fn roll_call(draft: &mut NetworkDraft, last: u64) -> u64 {
    let calm = last + calm_time(&draft.topology);
    let mut at = calm - 50 * MILLISECOND;
    let hosts = draft.hosts.clone();
    for round in 0..2 {
        at = at.max(calm + round);
        for (from, to) in hosts.iter().zip(hosts.iter().cycle().skip(1)) {
            let [from, to] = [from, to].map(|host| draft.name(*host));
            let keys = format!(
                "from = '{from}'\nto = '{to}'\npayload = 32\nevery_periods = {CALL}\nstart_periods = {at}\npackets = 1"
            );
            draft.add("traffic", &keys);
            at += CALL;
        }
    }
    at + 50 * MILLISECOND
}

/// Every cable at one end, some of them, or all at both, all the time or around some bursts; one network of six not
/// at all.
fn taps(draft: &mut NetworkDraft, begins: &[u64], duration: u64, dice: &mut SeededRng) {
    let ends = dice.below(6);
    let is_silent = draft.tables("endpoint").next().is_none();
    let ports = draft.topology.cables().iter().flat_map(|cable| match (ends, cable.ends) {
        (0, _) => vec![],
        (1 | 2, [one, _]) | (3, [_, one]) => vec![one],
        (4, both) if is_silent => both.to_vec(),
        (_, [one, other]) => match dice.below(4) {
            0 => vec![one],
            1 => vec![other],
            _ => vec![],
        },
    });
    let ports: Vec<NodePort> = ports.collect();
    let mut windows = vec![(0, duration)];
    if dice.below(2) == 0 {
        let starts = begins.iter().map(|begin| begin.saturating_sub(MILLISECOND));
        let ends = starts.clone().skip(1).chain([duration]);
        windows = starts.zip(ends).filter(|_| dice.below(3) > 0).collect();
    }
    for port in ports {
        for (from, to) in &windows {
            draft.add_tap(port, &format!("from_periods = {from}\nto_periods = {to}"));
        }
    }
}

fn traffic(draft: &mut NetworkDraft, begin: u64, dice: &mut SeededRng) -> Option<()> {
    for _ in 0..dice.below(6) {
        let stream: traffic_input::StreamInput = drawn(dice, 32)?;
        if !stream.is_to_itself(&draft.hosts)
            && let Some(keys) = stream.keys(draft, (begin, BURST))
        {
            draft.add("traffic", &format!("{keys}packets = {}", 2 + dice.below(30)));
        }
    }
    // Light traffic, into the quiet time.
    if dice.below(2) == 0
        && let [from, to, ..] = *draft.hosts.as_slice()
    {
        let [from, to] = [from, to].map(|host| draft.name(host));
        let every = 5 * MILLISECOND;
        let keys = format!(
            "from = '{from}'\nto = '{to}'\npayload = [0, 200]\nevery_periods = {every}\nlaw = 'poisson'\n\
             start_periods = {begin}\npackets = 10"
        );
        draft.add("traffic", &keys);
    }
    for _ in 0..dice.below(12).saturating_sub(8) {
        let text: traffic_input::RawTextInput = drawn(dice, 64)?;
        if let Some(keys) = text.keys(draft, (begin, BURST)) {
            draft.add("raw", &keys);
        }
    }
    Some(())
}

fn breakage(draft: &mut NetworkDraft, begin: u64, dice: &mut SeededRng) -> Option<()> {
    // One burst of four passes in good order.
    let most = if dice.below(4) == 0 { 0 } else { 6 };
    for _ in 0..dice.below(most) {
        let fault: traffic_input::FaultInput = drawn(dice, 16)?;
        let Some(fault) = fault.fault(&draft.topology, BURST) else { continue };
        let lasts = 1 + match dice.below(8) {
            0..=3 => dice.below(1024),
            4..=6 => dice.below(MILLISECOND),
            _ => dice.below(10 * MILLISECOND),
        };
        let at = begin + fault.at;
        let until = fault.kind.lasts().then_some(at + lasts);
        draft.faults.push(FaultSpec { at, until, ..fault });
    }
    if most > 0 {
        draft.faults.extend(variety::supply_faults(&draft.topology, (begin, BURST), dice));
    }
    Some(())
}

/// Endpoints, and their messages at each burst.
fn talk(draft: &mut NetworkDraft, begins: &[u64], dice: &mut SeededRng) -> Option<()> {
    if dice.below(5) == 0 {
        return Some(());
    }
    let first: Talk = drawn(dice, 120)?;
    first.shape.add_endpoints(draft);
    for begin in begins {
        let said: Talk = drawn(dice, 200)?;
        said.add_messages(&first.shape, draft, *begin);
    }
    variety::wait_for_answers(draft);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::facts::switches;

    #[test]
    fn a_network_is_drawn_alike_each_time_and_has_as_many_switches_as_are_asked_for() {
        for number in 0..40 {
            let drawn = || planned(7, number, Some(8)).unwrap();
            assert_eq!(drawn(), drawn());
            assert_eq!(switches(&drawn().topology), 8);
        }
    }

    #[test]
    fn what_breaks_is_mended_long_before_the_end() {
        for number in 0..100 {
            let scenario = planned(8, number, None).unwrap();
            for fault in &scenario.faults {
                assert_eq!(fault.until.is_some(), fault.kind.lasts(), "{fault:?}");
                let end = fault.until.unwrap_or(fault.at);
                assert!(end + calm_time(&scenario.topology) < scenario.duration, "{fault:?}");
            }
        }
    }
}
