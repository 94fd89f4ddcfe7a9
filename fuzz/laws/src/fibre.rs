//! Fibre: a pair of ends cannot be told from a cable of the same delay with enough slack. N-5

use std::collections::BTreeMap;

use codec::packet::CrcCheck;
use codec::route::PortId;
use codec::time::Ticks;
use simulator::link::LinkParameters;
use simulator::scenario::Scenario;
use simulator::topology::{
    CableSpec, NodeId, NodeKind, NodePort, NodeSpec, SwitchParameters, Topology,
};
use simulator::truth::TruthEventKind;

use crate::network::run::RunOutcome;

/// Packets of a host. *Chosen*: enough to fill all buffers of a path.
const PACKETS: usize = 20;

/// Packets that a host has received from another: time, number, length and CRC.
type ReceivedPackets = BTreeMap<(NodeId, NodeId), Vec<(u64, u64, u64, CrcCheck)>>;

/// The network with two cables like the given one, and a fibre between them, in its place. The fibre is
/// the first of the cables, as in a scenario file.
pub fn bridged(topology: &Topology, cable: usize, fibre: LinkParameters) -> Option<Topology> {
    let mut nodes = topology.nodes().to_vec();
    let mut cables = topology.cables().to_vec();
    let place = cables.get_mut(cable)?;
    let CableSpec { ends: [near, far], link } = *place;
    let first = u32::try_from(nodes.len()).ok()?;
    let end = |index, port| NodePort { node: NodeId(first + index), port: PortId(port) };
    place.ends = [near, end(0, 0)];
    cables.push(CableSpec { ends: [end(1, 0), far], link });
    cables.insert(0, CableSpec { ends: [end(0, 1), end(1, 1)], link: fibre });
    nodes.extend(["f.0", "f.1"].map(|name| {
        let kind = NodeKind::Switch(SwitchParameters::FIBRE_END);
        NodeSpec { name: name.to_owned(), kind }
    }));
    Topology::new(nodes, cables).ok()
}

/// The scenario with a fibre in the place of a cable.
pub fn with_fibre(scenario: &Scenario, cable: usize, delay: Ticks) -> Option<Scenario> {
    let fibre = LinkParameters::default().fibre(delay);
    let topology = bridged(&scenario.topology, cable, fibre)?;
    Some(Scenario { topology, ..scenario.clone() })
}

/// Checks the law for the network of a seed; true if no slack buffer at the fibre had to stop a sender.
pub fn law(seed: u64) -> bool {
    law_of(seed, |_| ())
}

fn law_of(seed: u64, change: fn(&mut Scenario)) -> bool {
    let scenario = network(seed);
    let count = scenario.topology.cables().len();
    let cable = usize::try_from(seed).unwrap_or_default() % count;
    let fibre = Ticks(1 + seed.wrapping_mul(0x9e37_79b9) % 2000);
    let mut cables = scenario.topology.cables().to_vec();
    for CableSpec { link, .. } in cables.iter_mut().skip(cable).take(1) {
        // Either end of the fibre takes one period.
        *link = link.fibre(Ticks(2 * (link.delay.0 + 1) + fibre.0));
    }
    let topology = Topology::new(scenario.topology.nodes().to_vec(), cables);
    let mut bridged = with_fibre(&scenario, cable, fibre);
    bridged.as_mut().into_iter().for_each(change);
    let (Ok(topology), Some(bridged)) = (topology, bridged) else { return false };
    let (expected, _) = deliveries(&Scenario { topology, ..scenario });
    let (found, is_free) = deliveries(&bridged);
    let untimed = |all: &ReceivedPackets| -> Vec<_> {
        let packets = |it: &Vec<(u64, u64, u64, CrcCheck)>| -> Vec<_> {
            it.iter().map(|(_, number, length, check)| (*number, *length, *check)).collect()
        };
        all.iter().map(|(pair, them)| (*pair, packets(them))).collect()
    };
    assert!(expected.values().all(|them| them.len() == PACKETS), "the cable loses nothing");
    assert_eq!(untimed(&found), untimed(&expected), "a fibre delivers what a cable delivers");
    assert!(!is_free || found == expected, "a fibre takes the time of a cable");
    is_free
}

/// The packets that hosts receive, and true if no slack buffer at the fibre or its cables generated
/// STOP.
fn deliveries(scenario: &Scenario) -> (ReceivedPackets, bool) {
    let rows = RunOutcome::of(scenario).rows;
    let fibre: Vec<_> = ["f.0", "f.1"].iter().map(|name| scenario.topology.find(name)).collect();
    let touches = |place| {
        let peer = scenario.topology.peer(place);
        [Some(place), peer].iter().any(|end| fibre.contains(&end.map(|end| end.node)))
    };
    let is_free = !rows
        .iter()
        .any(|row| matches!(row.kind, TruthEventKind::Threshold { .. }) && touches(row.place));
    let mut deliveries = ReceivedPackets::new();
    for row in rows {
        if let (TruthEventKind::Consumed { length, check, .. }, Some(id)) = (row.kind, row.packet) {
            let packets = deliveries.entry((id.host, row.place.node)).or_default();
            packets.push((row.at, u64::from(id.number), length, check));
        }
    }
    (deliveries, is_free)
}

/// Every host sends packets to one other.
fn network(seed: u64) -> Scenario {
    let any = |number: u64, of: u64| seed.wrapping_mul(2 * number + 3).rotate_right(7) % of;
    let kind = ["line", "ring", "line"].into_iter().nth(usize::try_from(any(0, 3)).unwrap_or(0));
    let eater = ["'always'", "9", "40"];
    let eater = eater.into_iter().nth(usize::try_from(any(1, 3)).unwrap_or(0)).unwrap_or("1");
    let pace = if any(2, 2) == 0 { "saturate = true" } else { "every_us = 30" };
    let text = format!(
        "seed = {seed}\nduration_us = 8000\n[topology]\nkind = '{}'\nswitches = {}\n\
         [link]\nlength_m = {}\ngo_slack = {}\n[interface]\nconsumption = {eater}\n\
         [[traffic]]\nto = 'shift'\nby = {}\npackets = {PACKETS}\npayload = [0, 400]\nstart_us = 60\n{pace}\n",
        kind.unwrap_or("ring"),
        3 + any(3, 3),
        any(4, 25),
        any(5, 80),
        1 + any(6, 2),
    );
    let scenario = Scenario::read("fibre", &text);
    scenario.unwrap_or_else(|error| unreachable!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judged_network::JudgedNetwork;
    use crate::taps::at_every_cable;
    use simulator::scenario::PortTap;

    #[test]
    fn a_pair_cannot_be_told_from_a_cable() {
        let free = (0..60).filter(|seed| law(*seed)).count();
        assert!((5..50).contains(&free), "{free} of 60 without back-pressure");
    }

    /// The cables of the fibre and all others are tapped; the fibre is not, or at one of its ends.
    #[test]
    fn journeys_cross_a_fibre() {
        for seed in 0..24 {
            let scenario = network(seed);
            let cable = usize::try_from(seed).unwrap() % scenario.topology.cables().len();
            let mut bridged = with_fibre(&scenario, cable, Ticks(1 + seed * 97 % 2000)).unwrap();
            bridged.taps = at_every_cable(&bridged);
            let fibre =
                bridged.topology.cables()[0].ends.into_iter().skip(usize::from(seed % 3 == 2));
            let tap = fibre.map(|port| PortTap { port, from: 0, to: bridged.duration });
            bridged.taps.extend(tap.take(usize::from(seed % 3 > 0)));
            let judged = JudgedNetwork::of(bridged);
            let score = judged.score();
            let wrong: Vec<_> = score.scores.iter().filter(|row| !row.is_perfect()).collect();
            assert!(wrong.is_empty(), "{seed}: {wrong:?}, {:?}", score.differences);
        }
    }

    #[test]
    #[should_panic(expected = "a fibre delivers what a cable delivers")]
    fn a_fibre_with_too_little_slack_is_caught() {
        let starved = |scenario: &mut Scenario| {
            let mut cables = scenario.topology.cables().to_vec();
            let fibre = cables.first_mut().unwrap();
            fibre.link.ports.iter_mut().for_each(|port| port.slack.stop_slack = 1);
            let nodes = scenario.topology.nodes().to_vec();
            scenario.topology = Topology::new(nodes, cables).unwrap();
        };
        (0..60).for_each(|seed| _ = law_of(seed, starved));
    }

    #[test]
    #[should_panic(expected = "a fibre takes the time of a cable")]
    fn a_longer_fibre_is_caught() {
        let longer = |scenario: &mut Scenario| {
            let mut cables = scenario.topology.cables().to_vec();
            cables.first_mut().unwrap().link.delay.0 += 1;
            let nodes = scenario.topology.nodes().to_vec();
            scenario.topology = Topology::new(nodes, cables).unwrap();
        };
        (0..60).for_each(|seed| _ = law_of(seed, longer));
    }
}
