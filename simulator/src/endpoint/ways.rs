//! Where a NIC's messages can go now: logical channels, rows of the tables, memory. T-2, T-3

use std::collections::BTreeSet;

use codec::transport::{Nic, Role};

use super::costs::Layers;
use super::parcel::Letter;
use super::queue::Way;
use crate::transport::Transport;

/// Which NICs a message can be sent to now.
pub(super) struct Ways<'a> {
    pub(super) nic: Nic,
    pub(super) nics: u16,
    pub(super) channels: u8,
    /// The NICs that routes lead to, if that is known.
    pub(super) routes: Option<&'a BTreeSet<Nic>>,
    pub(super) layers: Layers,
    pub(super) transport: &'a Transport<Letter>,
    pub(super) buffers: u8,
}

impl Ways<'_> {
    /// T-2, T-3, T-11. Reading: a NIC has no way to itself. And the last free logical channel is for replies:
    /// were all taken by requests that are refused for full queues, here and at the other end, no
    /// reply could leave, and no queue be emptied. A single one cannot be kept.
    pub(super) fn way(&self, to: Nic, letter: &Letter) -> Way {
        let channel = match self.layers {
            Layers::Baseline => true,
            Layers::Reliability | Layers::Protection => {
                if to.0 >= self.nics {
                    return Way::None;
                }
                match letter.role {
                    Role::Request if self.channels > 1 => self.transport.free_channels(to) > 1,
                    Role::Request | Role::Reply => self.transport.has_channel(to),
                }
            }
        };
        if to == self.nic || self.routes.is_some_and(|routes| !routes.contains(&to)) {
            Way::None
        } else if channel && (self.buffers > 0 || !letter.is_transferred()) {
            Way::Open
        } else {
            Way::Blocked
        }
    }
}
