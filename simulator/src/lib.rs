//! The reference network: Myrinet links, switches and interfaces at character accuracy, and the
//! truth about what happened in them.
//!
//! It is one of two witnesses: it goes by the rules (`docs/rules.md`) and knows nothing of the
//! analyzer. Everything is a step: state and inputs in, new state out; the same scenario and seed
//! give the same characters everywhere.

mod attention;
pub mod cell;
pub mod chance;
pub mod circuit;
pub mod control;
pub mod endpoint;
pub mod experiment;
pub mod extension;
pub mod fault;
pub mod generate;
mod incoming;
pub mod interface;
pub mod link;
pub mod multicast;
pub mod network;
mod orders;
pub mod receiver;
pub mod routes;
pub mod scenario;
pub mod sender;
pub mod slack;
pub mod stats;
mod stepper;
pub mod supply;
pub mod switch;
pub mod tap;
pub mod topology;
pub mod traffic;
pub mod transit;
pub mod transport;
pub mod truth;
pub mod watch;
pub mod wire;
