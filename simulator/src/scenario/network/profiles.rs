//! Links that cannot have virtual channels. C-7 *Chosen*

use super::NetworkBuilder;
use crate::link::FillMode;
use crate::scenario::names::NetworkCompleteness;
use crate::topology::{
    CableSpec, ExtensionSupport, NodeKind, NodePort, SwitchParameters, SwitchRole, Topology,
};
use crate::wires::CableFlow;

impl NetworkBuilder<'_> {
    /// Reports the cables with a profile that does not fit.
    pub(super) fn check_profiles(&mut self, topology: &Topology) {
        for (cable, (span, _)) in topology.cables().iter().zip(&self.places) {
            let Some((message, expected)) = problem(topology, cable) else { continue };
            let [a, b] = cable.ends.map(|end| topology.port_name(end));
            let message = format!("cable {a} to {b}: {message}");
            self.problems.add(span, message, expected);
            self.whole = NetworkCompleteness::Incomplete;
        }
    }
}

/// Problem of a cable's profiles: message, and expected text.
fn problem(topology: &Topology, cable: &CableSpec) -> Option<(&'static str, &'static str)> {
    let [one, other] = cable.link.ports;
    let fill = cable.link.ports.iter().any(|port| port.fill != FillMode::Chip);
    match (one.profile, other.profile) {
        (None, None) => None,
        (Some(one), Some(other)) if one != other => Some((
            "its ends have different codes of virtual channels",
            "expected one profile, or one at a single end",
        )),
        _ if cable.link.wires.flow == CableFlow::Handshake => {
            Some(("a handshake cable has no virtual channels", "expected no profile"))
        }
        (Some(_), Some(_)) if fill => Some((
            "virtual channels have a fill of their own",
            "expected no `fill` beside a profile",
        )),
        _ => cable.ends.iter().find_map(|end| excluded(topology, *end)),
    }
}

/// Problem of a profile at a port of a node.
fn excluded(topology: &Topology, port: NodePort) -> Option<(&'static str, &'static str)> {
    match topology.node(port.node)?.kind {
        NodeKind::Switch(SwitchParameters {
            role: SwitchRole::FibreEnd | SwitchRole::Router,
            ..
        }) => Some(("an end of a fibre has no virtual channels", "expected no profile")),
        NodeKind::Switch(SwitchParameters {
            extensions: ExtensionSupport::On | ExtensionSupport::Computer,
            ..
        }) => Some((
            "a switch with extensions has no virtual channels",
            "expected no profile, or a switch without extensions",
        )),
        NodeKind::Switch(_) | NodeKind::Host => None,
    }
}
