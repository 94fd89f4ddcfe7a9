//! Ends of fibres, which pass packets on with all their bytes, and routers, which do so whole. N-5

use codec::capture::Channel;
use codec::route::PortId;

use super::network_map::{MappedChannel, MappedNode, NetworkMap};
use crate::channel_name::{fibre_to, router_behind};
use crate::node_kind::TopologyNodeKind;

impl NetworkMap {
    /// Joins the node behind a channel with the other end of its fibre, if the capture declares one.
    pub(super) fn join_fibre(&mut self, to: Option<(usize, PortId)>, channel: &Channel) {
        if let (Some((end, _)), Some(other)) = (to, fibre_to(channel)) {
            let other = self.node(other.to_owned(), PortId(0));
            for (end, other) in [(end, other), (other, end)] {
                self.nodes.get_mut(end).into_iter().for_each(|node| node.fibre = Some(other));
            }
        }
        if let (Some((end, _)), Some(other)) = (to, router_behind(channel)) {
            let other = self.node(other.to_owned(), PortId(0));
            for (end, other) in [(end, other), (other, end)] {
                self.nodes.get_mut(end).into_iter().for_each(|node| node.router = Some(other));
            }
        }
    }

    /// True if a channel comes from an end of a fibre.
    pub(super) fn is_from_fibre(&self, place: usize) -> bool {
        self.other_end(place).is_some()
    }

    /// Index of the node at the other end of the fibre from which a channel comes.
    fn other_end(&self, place: usize) -> Option<usize> {
        let (node, _) = self.node_at(self.lane(place)?.from)?;
        node.fibre
    }

    /// The channels into either end of the fibre from which a channel comes, or into which it leads.
    pub(super) fn inputs_of_fibre(&self, place: usize) -> impl Iterator<Item = &MappedChannel> {
        let from = self.lane(place).and_then(|lane| lane.from).map(|(node, _)| node);
        let ends = [from, self.other_end(place)].into_iter().flatten();
        let inputs = ends.filter_map(|end| self.nodes.get(end)).flat_map(|node| &node.inputs);
        let inputs = inputs.filter(move |input| self.is_fibre_between(**input, place));
        inputs.filter_map(|input| self.lane(*input))
    }

    /// True if packets go on from one channel to the other unchanged: through an end of a fibre, or, by
    /// the electrical ports, through both.
    pub(super) fn is_fibre_between(&self, came: usize, left: usize) -> bool {
        let ends = (self.lane(came).and_then(|it| it.to), self.lane(left).and_then(|it| it.from));
        let (Some((into, input)), Some((from, output))) = ends else { return false };
        let Some(other) = self.nodes.get(into).and_then(|node| node.fibre) else { return false };
        match input {
            _ if from == into => input != output,
            PortId(0) => from == other && output == PortId(0),
            PortId(_) => false,
        }
    }
}

impl MappedNode {
    /// True if the node counts as a switch, which strips a route byte of each packet.
    pub(super) const fn strips_routes(&self) -> bool {
        self.is_switch() && self.fibre.is_none()
    }

    /// True if the node is such a switch, or if only bytes can show whether it is one.
    pub(super) const fn may_strip_routes(&self) -> bool {
        let is_unknown = matches!(self.heads.kind(), TopologyNodeKind::Unknown);
        self.strips_routes() || (self.fibre.is_none() && is_unknown)
    }

    /// True if what comes over an input passes on unchanged, or may: a capture that does not declare the ends of its
    /// fibres has nodes of ports 0 and 1 that may be such. No fault of a route is one there. N-5
    pub(super) const fn may_be_fibre(&self, input: &MappedChannel) -> bool {
        let is_switch = self.port_max > 1 || self.stripped > 0 || input.path.is_some();
        self.fibre.is_some() || !is_switch
    }
}
