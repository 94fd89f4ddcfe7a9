//! The reliability protocol, walked through: every state that two NICs can come into, within bounds
//! that are stated. T-1..T-13
//!
//! The NICs are the real machines of `simulator::transport`. Around them stand two FIFO paths that
//! lose and double packets, hosts that fill and empty their queues and load and unload their
//! endpoints, and a ledger of what happened to every message, which the machines do not see.

pub mod delivery_record;
pub mod plan;
pub mod trace_text;
pub mod violation;
pub mod walk;
pub mod world;
