//! The network: its nodes, ports and links, from the names of channels and from the packets' ways. N-1, S-1

mod nodes;

pub use nodes::{Kind, Nodes};
