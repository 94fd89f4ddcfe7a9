//! The reference network: Myrinet links, switches and interfaces at character accuracy, and the
//! truth about what happened in them.
//!
//! It is one of two witnesses: it goes by the rules (`docs/rules.md`) and knows nothing of the
//! analyzer. Everything is a step: state and inputs in, new state out; the same scenario and seed
//! give the same characters everywhere.

pub mod experiment;
pub mod fault;
pub mod generate;
pub mod interface;
pub mod link;
pub mod messaging;
pub mod network;
mod packet_types;
pub mod port;
mod recorder;
mod rng;
pub mod routes;
pub mod scenario;
pub mod statistics;
mod switch;
pub mod topology;
pub mod traffic;
pub mod transport;
pub mod truth;
