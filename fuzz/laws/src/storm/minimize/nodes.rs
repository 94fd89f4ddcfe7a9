//! A scenario without one of its nodes or cables, and without all that was there.

use codec::transport::Nic;
use simulator::fault::{FaultPlace, FaultSpec};
use simulator::messaging::MessagingPlan;
use simulator::routes::{RouteTable, RoutingMethod, channels};
use simulator::scenario::{MappingPlan, PortTap, Scenario};
use simulator::topology::{CableSpec, NodeId, NodePort, NodeSpec, Topology};
use simulator::traffic::{RawText, StreamDestination, TrafficStream};

use crate::storm::generator::acquainted;

/// A node less, the last first, with all that is at it.
pub(super) fn fewer_nodes(scenario: &Scenario, number: usize) -> Option<Option<Scenario>> {
    let gone = scenario.topology.nodes().len().checked_sub(number + 1)?;
    let gone = NodeId(u32::try_from(gone).ok()?);
    let cables = scenario.topology.cables().iter();
    let cables = cables.filter(|cable| cable.ends.iter().all(|end| end.node != gone)).copied();
    Some(ReducedNetwork::new(scenario, Some(gone), cables).and_then(|left| left.scenario()))
}

pub(super) fn fewer_cables(scenario: &Scenario, number: usize) -> Option<Option<Scenario>> {
    let cables = scenario.topology.cables();
    cables.get(number)?;
    let others = cables.iter().enumerate().filter(|(at, _)| *at != number).map(|(_, it)| *it);
    Some(ReducedNetwork::new(scenario, None, others).and_then(|left| left.scenario()))
}

/// Network without a node or cable; nodes behind a removed one have other numbers.
struct ReducedNetwork<'a> {
    scenario: &'a Scenario,
    gone: Option<NodeId>,
    topology: Topology,
    routes: RouteTable,
}

impl<'a> ReducedNetwork<'a> {
    fn new(
        scenario: &'a Scenario,
        gone: Option<NodeId>,
        cables: impl Iterator<Item = CableSpec>,
    ) -> Option<Self> {
        let routes = RouteTable::default();
        let mut left = Self { scenario, gone, topology: Topology::default(), routes };
        let nodes = (0..).map(NodeId).zip(scenario.topology.nodes());
        let nodes = nodes.filter(|(id, _)| left.id(*id).is_some()).map(|(_, node)| node.clone());
        let nodes: Vec<NodeSpec> = nodes.collect();
        let cables = cables.map(|cable| {
            let [a, b] = cable.ends;
            Some(CableSpec { ends: [left.moved(a)?, left.moved(b)?], ..cable })
        });
        let cables: Option<Vec<CableSpec>> = cables.collect();
        left.topology = Topology::new(nodes, cables?).ok()?;
        left.routes = left.routes()?;
        Some(left)
    }

    fn id(&self, node: NodeId) -> Option<NodeId> {
        match self.gone {
            Some(gone) if node == gone => None,
            Some(gone) if node > gone => Some(NodeId(node.0 - 1)),
            Some(_) | None => Some(node),
        }
    }

    fn moved(&self, port: NodePort) -> Option<NodePort> {
        Some(NodePort { node: self.id(port.node)?, ..port })
    }

    fn port(&self, port: NodePort) -> Option<NodePort> {
        self.moved(port).filter(|port| self.topology.peer(*port).is_some())
    }

    fn host(&self, node: NodeId) -> Option<NodeId> {
        let cabled = |port: NodePort| self.topology.peer(port).is_some();
        self.id(node).filter(|node| self.topology.ports(*node).any(cabled))
    }

    fn nic(&self, nic: Nic) -> Option<Nic> {
        self.host(NodeId(nic.0.into())).and_then(|node| u16::try_from(node.0).ok()).map(Nic)
    }

    /// Those that are still possible, as they were; new ones for the others.
    fn routes(&self) -> Option<RouteTable> {
        let mut routes = RouteTable::compute(&self.topology, RoutingMethod::UpDown).ok()?;
        for (from, to, bytes) in self.scenario.routes.iter() {
            let (Some(new_from), Some(new_to)) = (self.id(from), self.id(to)) else { continue };
            let before = channels(&self.scenario.topology, from, bytes).into_iter();
            let before: Option<Vec<NodePort>> = before.map(|port| self.moved(port)).collect();
            if before.is_some_and(|it| it == channels(&self.topology, new_from, bytes)) {
                routes.set(new_from, new_to, bytes.to_vec());
            }
        }
        Some(routes)
    }

    /// Mapping, without a removed mapper that was chosen.
    fn mapping(&self) -> Option<MappingPlan> {
        let old = self.scenario.mapping.as_ref()?;
        let addresses = old.addresses.iter();
        let addresses = addresses.filter_map(|(host, own)| Some((self.id(*host)?, *own)));
        let who = old.who.and_then(|who| self.id(who));
        Some(MappingPlan { who, addresses: addresses.collect(), ..*old })
    }

    fn scenario(self) -> Option<Scenario> {
        let old = self.scenario;
        // The routes of a mapped network are not in its scenario.
        let is_given = |_: &&RouteTable| old.mapping.is_none();
        let streams = old.streams.iter().filter_map(|stream| self.stream(stream)).collect();
        let raw = |raw: &RawText| Some(RawText { from: self.host(raw.from)?, ..raw.clone() });
        let tap = |tap: &PortTap| Some(PortTap { port: self.port(tap.port)?, ..*tap });
        let fault = |fault: &FaultSpec| self.fault(fault);
        let plan = |(node, plan): (&NodeId, &MessagingPlan)| {
            let mut plan = MessagingPlan { nic: self.nic(plan.nic)?, ..plan.clone() };
            plan.streams.retain(|stream| self.nic(stream.to.0).is_some());
            for stream in &mut plan.streams {
                stream.to.0 = self.nic(stream.to.0)?;
            }
            Some((self.host(*node)?, plan))
        };
        let interfaces = old.interfaces.iter().filter_map(|(it, own)| Some((self.id(*it)?, *own)));
        let mut new = Scenario {
            streams,
            raw: old.raw.iter().filter_map(raw).collect(),
            // A storm names no files.
            replays: Vec::new(),
            taps: old.taps.iter().filter_map(tap).collect(),
            faults: old.faults.iter().filter_map(fault).collect(),
            messaging: old.messaging.iter().filter_map(plan).collect(),
            interfaces: interfaces.collect(),
            routes: Some(&self.routes).filter(is_given).cloned().unwrap_or_default(),
            mapping: self.mapping(),
            topology: self.topology.clone(),
            ..*old
        };
        acquainted(&mut new.messaging);
        Some(new)
    }

    fn stream(&self, stream: &TrafficStream) -> Option<TrafficStream> {
        let from = self.host(stream.from)?;
        let to = |to: NodeId| {
            let to = self.host(to)?;
            (to == from || self.routes.get(from, to).is_some()).then_some(to)
        };
        let to = match &stream.to {
            StreamDestination::One(one) => StreamDestination::One(to(*one)?),
            StreamDestination::Among(all) => {
                let all: Vec<NodeId> = all.iter().filter_map(|one| to(*one)).collect();
                all.iter().find(|to| **to != from)?;
                StreamDestination::Among(all)
            }
        };
        Some(TrafficStream { from, to, ..stream.clone() })
    }

    fn fault(&self, fault: &FaultSpec) -> Option<FaultSpec> {
        let is_node = matches!(fault.kind.acts_on(), FaultPlace::Node | FaultPlace::Host);
        let place = if is_node { self.moved(fault.place) } else { self.port(fault.place) };
        Some(FaultSpec { place: place?, ..fault.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// N-2, N-3
    #[test]
    fn a_mapper_and_addresses_keep_their_hosts() {
        let text = "duration_us = 5\ntopology = { kind = 'switch', hosts = 4 }\n\
                    routes.method = 'mapped'\n[mapper]\nwho = 'h3'\n\
                    [mapper.addresses]\nh1 = '00:60:dd:00:00:01'\nh2 = '00:60:dd:00:00:02'\n\
                    [[traffic]]\nto = 'shift'\npayload = 8\nevery_us = 1\n";
        let scenario = Scenario::read("mapped.toml", text).unwrap();
        let name = |left: &Scenario, host| left.topology.node(host).unwrap().name.clone();
        let all = ["h0", "h1", "h2", "h3"];
        let number = (0..5).map(|number| fewer_nodes(&scenario, number).unwrap());
        for left in number.flatten() {
            let nodes = left.topology.nodes();
            let is_left = |host: &&str| nodes.iter().any(|node| node.name == **host);
            let plan = left.mapping.as_ref().unwrap();
            let who = plan.who.map(|who| name(&left, who));
            assert_eq!(who.as_deref(), ["h3"].iter().find(|it| is_left(it)).copied());
            let own = plan.addresses.iter();
            let own: Vec<_> = own.map(|(host, own)| (name(&left, *host), own.value())).collect();
            let expected = all.iter().zip(0x0060_dd00_0000_u64..);
            let expected = expected.filter(|(host, own)| is_left(host) && matches!(own & 3, 1 | 2));
            let expected: Vec<_> = expected.map(|(host, own)| ((*host).to_owned(), own)).collect();
            assert_eq!(own, expected);
            let again = Scenario::read("left.toml", &left.write().unwrap()).unwrap();
            assert_eq!(again, left);
        }
    }
}
