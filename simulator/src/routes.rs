//! Routes from host to host, computed from the topology. P-2, S-1

use std::collections::BTreeMap;

use crate::topology::NodeId;

/// The route bytes from each host to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes(BTreeMap<(NodeId, NodeId), Vec<u8>>);

impl Routes {
    /// The route bytes from one host to another, if there is a way.
    #[must_use]
    pub fn get(&self, from: NodeId, to: NodeId) -> Option<&[u8]> {
        self.0.get(&(from, to)).map(Vec::as_slice)
    }
}
