//! `via` of `[[route]]`: a route by the switches on its way. P-2, S-1

use codec::route::{PortId, RouteAddressing};
use codec::words::shortened;

use crate::scenario::limits::ROUTE_MAX;
use crate::scenario::names::{NameLookup, NetworkCompleteness};
use crate::scenario::toml_reader::{TomlItem, TomlText};
use crate::topology::{NodeId, NodeKind, NodePort, Topology};

/// The network that routes are given for; of bridging fibres only the links that they act as.
pub(super) struct RouteWay<'a> {
    pub(super) map: NameLookup<'a>,
    pub(super) topology: &'a Topology,
}

/// A switch on the way, and its output, if that is given.
struct RouteStop<'t> {
    text: TomlText<'t>,
    node: NodeId,
    addressing: RouteAddressing,
    output: Option<PortId>,
}

/// Where a way does not go on: message, and expected text.
type WayProblem = (String, &'static str);

impl RouteWay<'_> {
    /// The route bytes from a host through the named switches to another host.
    pub(super) fn bytes(
        &self,
        via: &TomlItem<'_>,
        from: Option<NodeId>,
        to: Option<NodeId>,
    ) -> Option<Vec<u8>> {
        let texts = via
            .as_list()
            .filter(|list| list.len() <= ROUTE_MAX)
            .and_then(|list| list.iter().map(TomlItem::as_text).collect::<Option<Vec<_>>>());
        let Some(texts) = texts else {
            let expected = "switches, or their ports that send, like `[\"s0\", \"s1:7\"]`";
            via.report(format!("expected at most {ROUTE_MAX} {expected}"));
            return None;
        };
        // All of them are looked up, so that each problem is reported.
        let stops: Vec<_> = texts.into_iter().map(|text| self.stop(text)).collect();
        let stops = stops.into_iter().collect::<Option<Vec<_>>>()?;
        let (mut at, to) = (NameLookup::host_port(from?), to?);
        if self.map.whole == NetworkCompleteness::Incomplete {
            return None;
        }
        let targets = stops.iter().skip(1).map(|stop| stop.node).chain([to]);
        let mut bytes = Vec::new();
        for (stop, target) in stops.iter().zip(targets) {
            let step = self.arrive(at, stop.node).and_then(|input| {
                let output = self.output(stop, target)?;
                let none =
                    || ("no route byte selects the port".to_owned(), "expected another port");
                let byte = stop.addressing.byte(input, output).ok_or_else(none)?;
                Ok((byte, NodePort { node: stop.node, port: output }))
            });
            match step {
                Ok((byte, next)) => {
                    bytes.push(byte);
                    at = next;
                }
                Err((message, expected)) => {
                    self.map.problems.add(&stop.text.span, message, expected);
                    return None;
                }
            }
        }
        let arrived = self.arrive(at, to);
        arrived.map_err(|(message, expected)| via.add(message, expected)).ok()?;
        Some(bytes)
    }

    fn stop<'t>(&self, text: TomlText<'t>) -> Option<RouteStop<'t>> {
        let port = if text.text.contains(':') { Some(self.map.port(&text)?) } else { None };
        let node = port.map_or_else(|| self.map.node(&text), |port| Some(port.node))?;
        let Some(NodeKind::Switch(switch)) = self.topology.node(node).map(|node| node.kind) else {
            let message = format!("`{}` is not a switch", shortened(text.text));
            self.map.problems.add(&text.span, message, "expected a switch, or a port of one");
            return None;
        };
        let (addressing, output) = (switch.addressing, port.map(|port| port.port));
        Some(RouteStop { text, node, addressing, output })
    }

    /// The input of a node that the cable of a sending port leads to.
    fn arrive(&self, sent: NodePort, node: NodeId) -> Result<PortId, WayProblem> {
        let port = self.topology.port_name(sent);
        match self.topology.peer(sent) {
            Some(input) if input.node == node => Ok(input.port),
            Some(input) => {
                let [there, node] = [input.node, node].map(|node| self.map.name(node));
                let message = format!("`{port}` leads to `{there}`, not to `{node}`");
                Err((message, "expected the switches in the order of the way"))
            }
            None => Err((format!("`{port}` has no cable"), "expected one with a cable")),
        }
    }

    /// The output that is given, or the only one with a cable to the next node.
    fn output(&self, stop: &RouteStop<'_>, target: NodeId) -> Result<PortId, WayProblem> {
        if let Some(output) = stop.output {
            return Ok(output);
        }
        let leads = |port: &NodePort| self.topology.peer(*port).is_some_and(|it| it.node == target);
        let ports: Vec<NodePort> = self.topology.ports(stop.node).filter(leads).collect();
        let [node, target] = [stop.node, target].map(|node| self.map.name(node));
        match ports.as_slice() {
            [port] => Ok(port.port),
            [] => Err((
                format!("`{node}` has no cable to `{target}`"),
                "expected the switches in the order of the way",
            )),
            several => Err((
                format!("`{node}` has {} cables to `{target}`", several.len()),
                "expected the port that sends, like `s0:4`",
            )),
        }
    }
}
