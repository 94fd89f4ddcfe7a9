//! `[[fibre]]`: two ends, and the fibre between them. N-5

use codec::route::PortId;

use super::{NetworkBuilder, PortKeys, name_of};
use crate::link::LinkParameters;
use crate::scenario::link_keys::fibre_delay;
use crate::scenario::parameters::PORT;
use crate::scenario::toml_reader::TomlTable;
use crate::topology::{CableSpec, NodeKind, NodePort, SwitchParameters};

const FIBRE_MODES: [(&str, SwitchParameters); 2] =
    [("bridge", SwitchParameters::FIBRE_END), ("router", SwitchParameters::ROUTER)];

impl<'a> NetworkBuilder<'a> {
    /// Adds the two ends of a fibre, and the fibre between their ports 1. N-5
    pub(super) fn fibre(&mut self, mut table: TomlTable<'a>, base: LinkParameters) {
        let name = table.needed("name").and_then(|item| item.text("a name"));
        let delay = table.needed("length_km").and_then(|length| fibre_delay(&length));
        let end = table.word("mode", &FIBRE_MODES).unwrap_or(SwitchParameters::FIBRE_END);
        let keys = PortKeys::read(PORT, &mut table);
        let span = table.span();
        table.finish();
        let [a, b] = [0, 1].map(|index| {
            let name = name.as_ref().map(|name| name_of(name, (index, 2)));
            let name = name.as_ref().map(|(name, span)| (&**name, span));
            let node = self.node(name, NodeKind::Switch(end))?;
            self.keys.ports.insert(node, keys.clone());
            Some(NodePort { node, port: PortId(1) })
        });
        if let (Some(a), Some(b), Some(delay)) = (a, b, delay) {
            let link = base.fibre(delay);
            let link = LinkParameters { ports: link.ports.map(|port| keys.over(port)), ..link };
            self.cables.push(CableSpec { ends: [a, b], link });
            self.places.push((span, Vec::new()));
        }
    }
}
