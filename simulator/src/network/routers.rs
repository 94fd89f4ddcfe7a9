//! Routers: nodes with two interfaces, which hand packets over to each other. N-5

use codec::mapping::InterfaceRole;

use super::{HostUnit, Network, NodePart, TakenChannel};
use crate::arena::HostId;
use crate::interface::{
    AddressTable, ConsumptionMode, HostInterface, InterfaceParameters, RouterCounters, RouterPort,
};
use crate::rng::Rng;
use crate::scenario::Scenario;
use crate::topology::{NodeId, NodePort};

impl Network {
    /// Adds an interface, and returns its index.
    pub(super) fn add_host(
        &mut self,
        interface: HostInterface,
        consumption: ConsumptionMode,
    ) -> HostId {
        self.hosts.push(HostUnit {
            unit: None,
            interface,
            consumption,
            taken: TakenChannel::Between(0),
            scheduled: 0,
            share: None,
            twin: None,
            decided: 0,
        })
    }

    /// Adds the two interfaces of a router. *Chosen*: their parameters are those by default. N-5
    pub(super) fn build_router(
        &mut self,
        scenario: &Scenario,
        id: NodeId,
        table: &AddressTable,
    ) -> [HostId; 2] {
        let ports = [RouterPort::Network, RouterPort::Fibre].map(|port| {
            let (parameters, rng) = (InterfaceParameters::default(), Rng::new(scenario.seed, 0));
            let new = HostInterface::new;
            let interface = new(id, parameters, rng, Vec::new(), Vec::new(), Vec::new());
            let interface = interface.with_router(port);
            let interface = match (port, &scenario.mapping) {
                (RouterPort::Network, Some(plan)) => {
                    let how = plan.machine_of(id, &scenario.topology);
                    interface.with_mapping(table, InterfaceRole::Router, how)
                }
                (RouterPort::Network | RouterPort::Fibre, _) => interface,
            };
            self.add_host(interface, parameters.consumption)
        });
        for (one, other) in ports.into_iter().zip(ports.into_iter().rev()) {
            self.hosts[one].twin = Some(other);
        }
        ports
    }

    /// Hands the packets that a router's interface has received over to that of the other port, for the
    /// next period.
    pub(super) fn pass_packets(&mut self, number: HostId) {
        let HostUnit { interface, twin: Some(twin), .. } = &mut self.hosts[number] else { return };
        let (packets, twin) = (interface.take_passed(), *twin);
        if !packets.is_empty() {
            self.hosts[twin].interface.pass(self.now + 1, packets);
            self.schedule_host(twin);
        }
    }

    /// Counters of the interface of a router's port. N-5
    pub fn router(&self, port: NodePort) -> Option<RouterCounters> {
        let Some(NodePart::Router(ports)) = self.index.nodes.get(&port.node) else { return None };
        self.hosts[*ports.get(usize::from(port.port.0))?].interface.router()
    }
}
