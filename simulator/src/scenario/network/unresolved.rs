//! Cables whose ends are given by name, which are laid when all nodes are known.

use std::collections::BTreeMap;
use std::ops::Range;

use super::NetworkBuilder;
use crate::link::LinkParameters;
use crate::scenario::link_keys::LinkKeys;
use crate::scenario::names::{NameLookup, NetworkCompleteness};
use crate::scenario::toml_reader::TomlText;
use crate::topology::{CableSpec, NodeId, NodePort};

pub(super) struct UnresolvedCable<'a> {
    pub(super) span: Range<usize>,
    /// A host (at its port 0) and the other end, or both ends.
    pub(super) ends: Result<(NodeId, TomlText<'a>), [TomlText<'a>; 2]>,
    pub(super) link: LinkKeys,
}

impl<'a> NetworkBuilder<'a> {
    /// Adds cables. One between two ports that the generated network has joined gives that cable its
    /// keys.
    pub(super) fn lay(
        &mut self,
        loose: Vec<UnresolvedCable<'a>>,
        base: LinkParameters,
        map: NameLookup<'_>,
    ) {
        let generated = self.cables.iter().take(self.generated).zip(0..);
        let mut generated: BTreeMap<[NodePort; 2], usize> =
            generated.map(|(cable, at)| (sorted(cable.ends), at)).collect();
        for UnresolvedCable { span, ends, link } in loose {
            let (ends, texts) = match ends {
                Ok((host, at)) => ([Some(NameLookup::host_port(host)), map.port(&at)], vec![at]),
                Err([a, b]) => ([map.port(&a), map.port(&b)], vec![a, b]),
            };
            let [Some(a), Some(b)] = ends else {
                self.whole = NetworkCompleteness::Incomplete;
                continue;
            };
            let ends = [a, b];
            let known = generated.remove(&sorted(ends));
            self.keys.cables.insert(known.unwrap_or(self.cables.len()), link.clone());
            let known = known.and_then(|at| self.cables.get_mut(at).zip(self.places.get_mut(at)));
            if let Some((cable, place)) = known {
                let own = if cable.ends == ends { cable.link } else { cable.link.turned() };
                (*cable, *place) = (CableSpec { ends, link: link.over(own) }, (span, texts));
            } else {
                let link = link.over(self.link_between(ends, base));
                self.cables.push(CableSpec { ends, link });
                self.places.push((span, texts));
            }
        }
    }
}

fn sorted([a, b]: [NodePort; 2]) -> [NodePort; 2] {
    [a.min(b), a.max(b)]
}
