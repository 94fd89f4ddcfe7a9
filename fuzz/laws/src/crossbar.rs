//! A switch between hosts: whatever comes in at its ports, what goes out is what its model sends,
//! character by character. It costs a hundredth of what the laws of whole networks do.
//!
//! The switch is not tapped, its hosts are: so it goes the short ways of the stepper.

mod model;

use std::collections::BTreeMap;
use std::convert::Infallible;

use codec::capture::ChannelId;
use codec::character::Character;
use codec::route::PortId;
use simulator::link::LinkParameters;
use simulator::network::{Network, VisitOrder};
use simulator::scenario::Scenario;
use simulator::topology::{ExtensionSupport, NodeKind, NodePort, SwitchParameters};
use simulator::truth::TraceLevel;

use self::model::SwitchModel;
use crate::chars::expansion;
use crate::network::draft::NetworkDraft;
use crate::network::input::{NetworkInput, SwitchInput};

/// The law, of a switch and hosts that some bytes stand for.
pub fn law(bytes: &[u8]) {
    if let Some(draft) = SwitchInput::from_bytes(bytes).and_then(draft) {
        check(&draft.scenario(), &mut |_, _| {});
    }
}

/// A few packets' time of what is planned, tapped at every host. The extensions are out of it.
pub(crate) fn draft(mut plan: SwitchInput) -> Option<NetworkDraft> {
    plan.crossbar.without_extensions();
    let moment = plan.run.moment();
    let mut draft = NetworkInput::from(plan).draft_of(moment)?;
    draft.remove(&["tap"]);
    for host in draft.hosts.clone() {
        draft.add_tap(NodePort { node: host, port: PortId(0) }, "");
    }
    Some(draft)
}

/// A cable of the switch, and what passed through it.
struct SwitchCable {
    link: LinkParameters,
    /// Characters that the host sends and receives, from the first period of the link on.
    sent: Vec<Character>,
    received: Vec<Character>,
}

impl SwitchCable {
    /// The character periods of what the switch sends and of what the host does.
    fn periods(&self) -> [u64; 2] {
        self.link.ports.map(|port| port.divisor.get().into())
    }

    /// Character received by the switch, if a period of the link begins.
    fn brings(&self, now: u64) -> Option<Character> {
        let ([_, divisor], delay) = (self.periods(), self.link.delay.0);
        if now % divisor != delay % divisor {
            return None;
        }
        let sent = now.checked_sub(delay).and_then(|age| usize::try_from(age / divisor).ok());
        // Before the first one is there, the channel is silent.
        Some(
            sent.map_or(Character::IDLE, |it| {
                self.sent.get(it).copied().unwrap_or(Character::IDLE)
            }),
        )
    }

    /// Character that the host received of those sent in a period of the link.
    fn took(&self, slot: usize) -> Option<Character> {
        let later = usize::try_from(self.link.delay.0 / self.periods()[0]).ok()?;
        self.received.get(slot + later).copied()
    }
}

/// `change` may damage what was recorded, for a test.
fn check(scenario: &Scenario, change: &mut dyn FnMut(usize, &mut Vec<Character>)) {
    let Some((parameters, mut cables)) = recorded(scenario) else { return };
    for (number, cable) in cables.iter_mut().enumerate() {
        change(number, &mut cable.received);
    }
    let links: Vec<_> = cables.iter().map(|cable| cable.link).collect();
    let mut model = SwitchModel::new(parameters, &links);
    let mut slots = vec![0; cables.len()];
    for now in 0..scenario.duration {
        let received = |port: usize| cables.get(port).and_then(|cable| cable.brings(now));
        model.step(now, received, &mut |port, character| {
            let (Some(cable), Some(slot)) = (cables.get(port), slots.get_mut(port)) else { return };
            if let Some(took) = cable.took(*slot) {
                assert_eq!(took, character, "port {port}, period {slot}: what a switch sends");
            }
            *slot += 1;
        });
    }
}

/// The switch, and what passed through its cables, in the order of its ports.
fn recorded(scenario: &Scenario) -> Option<(SwitchParameters, Vec<SwitchCable>)> {
    let switch = scenario.topology.switches().next()?;
    let NodeKind::Switch(parameters) = scenario.topology.node(switch)?.kind else { return None };
    assert_eq!(parameters.extensions, ExtensionSupport::Off, "the model knows none");
    let mut network = Network::new(scenario, TraceLevel::Nothing, VisitOrder::AsGiven);
    network.run(scenario.duration);
    network.finish();
    let mut channels: BTreeMap<ChannelId, Vec<Character>> = BTreeMap::new();
    let Ok(()) = network.flush_recorded::<Infallible>(&mut |id, chunk| {
        let channel = channels.entry(id).or_default();
        channel.extend(expansion(chunk).into_iter().map(|(_, character)| character));
        Ok(())
    });
    let mut cables = Vec::new();
    for tap in &scenario.taps {
        let name = scenario.topology.port_name(tap.port);
        let mut own = (0..).map(ChannelId).zip(network.channels());
        let is_own = |channel: &codec::capture::Channel| channel.tap.as_deref() == Some(&*name);
        let mut pair = [Vec::new(), Vec::new()];
        for (id, channel) in own.by_ref().filter(|(_, channel)| is_own(channel)) {
            let [sent, received] = &mut pair;
            let way = if channel.name.starts_with(&format!("{name}>")) { sent } else { received };
            *way = channels.remove(&id).unwrap_or_default();
        }
        let [sent, received] = pair;
        let peer = scenario.topology.peer(tap.port)?;
        let link = scenario.topology.link(peer)?;
        cables.push((peer.port, SwitchCable { link, sent, received }));
    }
    cables.sort_by_key(|(port, _)| *port);
    let in_order = (0..).zip(&cables).all(|(number, (port, _))| port.0 == number);
    assert!(in_order, "hosts are at the first ports");
    Some((parameters, cables.into_iter().map(|(_, cable)| cable).collect()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::canaries::two_hosts;
    use crate::repair::SeededRng;

    const MORE: &str = "
        [[host]]
        name = 'h2'
        at = 's0:2'
        [[traffic]]
        from = ['h0', 'h1']
        to = 'h2'
        payload = 20
        every_periods = 90
        [[tap]]
        port = 'h0:0'
        [[tap]]
        port = 'h1:0'
        [[tap]]
        port = 'h2:0'
    ";

    /// The law, after something has been done to what came out at the third port.
    fn changed(change: impl Fn(&mut Vec<Character>)) {
        let scenario = two_hosts("duration_periods = 400", MORE);
        check(&scenario, &mut |port, received| {
            if port == 2 {
                change(received);
            }
        });
    }

    fn bytes(received: &[Character]) -> Vec<usize> {
        let is_byte = |it: &usize| matches!(received[*it], Character::Data(_));
        (0..received.len()).filter(is_byte).collect()
    }

    #[test]
    fn the_canary_lives() {
        changed(|received| assert!(bytes(received).len() > 100, "packets came through"));
    }

    pub(crate) fn a_switch_that_mends_a_packet_is_caught() {
        changed(|received| {
            let byte = bytes(received)[30];
            received[byte] = Character::Data(0);
        });
    }

    pub(crate) fn a_switch_that_is_a_period_late_is_caught() {
        changed(|received| {
            let first = bytes(received)[0];
            received.insert(first, Character::Control(0x03));
        });
    }

    /// Some packets pass, wait, are cut and dropped.
    #[test]
    fn a_storm_of_switches_sends_what_the_model_does() {
        let mut dice = SeededRng::new(b"switches and their model");
        for number in 0..1000 {
            let bytes = dice.bytes(400);
            let held = std::panic::catch_unwind(|| law(&bytes));
            assert!(held.is_ok(), "{number}");
        }
    }
}
