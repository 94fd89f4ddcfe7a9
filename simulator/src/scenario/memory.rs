//! Refusal of hosts of which more is asked than their interfaces' memory holds. I-5

use std::collections::{BTreeMap, BTreeSet};

use codec::words::shortened;

use super::error::ProblemList;
use super::network::ScenarioNetwork;
use crate::interface::MemoryLayout;
use crate::messaging::MessagingPlan;
use crate::topology::NodeId;

impl ScenarioNetwork {
    /// Reports the first of several hosts of which more is asked than their interfaces' memory
    /// holds. I-5
    pub(super) fn check_memory(
        &self,
        messaging: &BTreeMap<NodeId, MessagingPlan>,
        problems: &ProblemList<'_>,
    ) {
        let mut seen = BTreeSet::new();
        for (host, parameters) in &self.interfaces {
            let layout = MemoryLayout::of(parameters, messaging.get(host));
            if layout.sum() <= parameters.memory || !seen.insert((layout, parameters.memory)) {
                continue;
            }
            let name = self.topology.node(*host).map_or("", |node| &node.name);
            let parts = layout.parts().into_iter().filter(|(_, bytes)| *bytes > 0);
            let parts: Vec<String> = parts.map(|(part, bytes)| format!("{bytes} {part}")).collect();
            let sum = layout.sum();
            let message = format!(
                "the interface of `{}` needs {sum} bytes of memory: {}",
                shortened(name),
                parts.join(" + ")
            );
            let span = self.places.get(name).cloned().unwrap_or(0..0);
            problems.add(&span, message, format!("expected {} at most", parameters.memory));
        }
    }
}
