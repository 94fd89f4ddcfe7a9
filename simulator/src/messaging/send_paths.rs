//! Availability of paths for messages: logical channels, table rows, memory. T-2, T-3

use std::collections::BTreeSet;

use codec::transport::{MessageRole, Nic};

use super::costs::ProtocolLayers;
use super::endpoint_queues::SendPath;
use super::message::SharedMessage;
use crate::transport::Transport;

pub(super) struct SendPaths<'a> {
    pub(super) nic: Nic,
    pub(super) nics: u16,
    pub(super) channels: u8,
    /// Reachable NICs, if known.
    pub(super) routes: Option<&'a BTreeSet<Nic>>,
    pub(super) layers: ProtocolLayers,
    pub(super) transport: &'a Transport<SharedMessage>,
    pub(super) buffers: u8,
}

impl SendPaths<'_> {
    /// T-2, T-3, T-11. Reading: a NIC has no path to itself, and the last free of several logical
    /// channels is reserved for replies. Otherwise requests refused for full queues at both ends
    /// could occupy all channels, and no reply could empty a queue.
    pub(super) fn path(&self, to: Nic, letter: &SharedMessage) -> SendPath {
        let channel = match self.layers {
            ProtocolLayers::Baseline => true,
            ProtocolLayers::Reliability | ProtocolLayers::Protection => {
                if to.0 >= self.nics {
                    return SendPath::None;
                }
                match letter.role {
                    MessageRole::Request if self.channels > 1 => {
                        self.transport.free_channels(to) > 1
                    }
                    MessageRole::Request | MessageRole::Reply => self.transport.has_channel(to),
                }
            }
        };
        if to == self.nic || self.routes.is_some_and(|routes| !routes.contains(&to)) {
            SendPath::None
        } else if channel && (self.buffers > 0 || !letter.is_transferred()) {
            SendPath::Open
        } else {
            SendPath::Blocked
        }
    }
}
