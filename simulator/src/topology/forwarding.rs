//! Switches that cut through, and switches that store packets. S-3, B-2

use super::SwitchParameters;
use crate::link::{PortParameters, SlackSize};

/// The time at which a switch sends a packet on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForwardingMode {
    /// The packet leaves as soon as its first byte is decoded. S-3
    #[default]
    CutThrough,
    /// The packet leaves when it is stored as a whole and its CRC is good. B-2
    StoreAndForward,
}

impl ForwardingMode {
    /// Names in scenarios.
    pub const WORDS: [(&str, Self); 2] =
        [("cut-through", Self::CutThrough), ("store-and-forward", Self::StoreAndForward)];
}

impl SwitchParameters {
    /// The parameters of a port with memory for whole packets, if it stores them: 16 KB, *chosen*, if no
    /// other slack is given. B-2
    pub fn packet_memory(&self, port: PortParameters) -> PortParameters {
        let slack = match self.forwarding {
            ForwardingMode::StoreAndForward if port.slack == SlackSize::default() => {
                SlackSize { go_slack: 16_384, ..port.slack }
            }
            ForwardingMode::StoreAndForward | ForwardingMode::CutThrough => port.slack,
        };
        PortParameters { slack, ..port }
    }
}
