//! The reference network: Myrinet links, switches and interfaces at character accuracy, and the
//! truth about what happened in them.
//!
//! It is one of two witnesses: it goes by the rules (`docs/rules.md`) and knows nothing of the
//! analyzer. Everything is a step: state and inputs in, new state out; the same scenario and seed
//! give the same characters everywhere.

mod active_set;
pub mod control;
pub mod cut_through;
pub mod experiment;
pub mod extension;
pub mod fault;
mod faults;
pub mod fill_trace;
pub mod generate;
pub mod interface;
pub mod link;
pub mod messaging;
pub mod multicast;
pub mod network;
pub mod port;
pub mod receiver;
pub mod recorder;
pub mod rng;
pub mod routes;
mod rx_trace;
pub mod scenario;
pub mod sender;
pub mod slack;
pub mod source_item;
pub mod statistics;
mod stepper;
pub mod switch;
pub mod tagged_char;
pub mod topology;
pub mod traffic;
pub mod transport;
pub mod truth;
pub mod wire;
