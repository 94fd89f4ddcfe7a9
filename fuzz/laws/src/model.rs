//! The reliability protocol, walked through: every state that two NICs can come into, within bounds
//! that are stated. T-1..T-13
//!
//! The world and its ledger are those of [`crate::transport`]: real machines, FIFO paths that lose and
//! double packets, hosts that fill and empty their queues and load and unload their endpoints.

pub mod plan;
pub mod state;
pub mod trace_text;
pub mod walk;
