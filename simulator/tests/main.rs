//! Tests of whole simulated networks.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test reads files, and stops if it cannot go on"
)]

mod characters;
mod clocks;
mod comparisons;
mod ends;
mod extensions;
mod fibre;
mod figures;
mod flow_control;
mod ip;
mod mapping;
mod messages;
mod multicast;
mod network;
mod replay;
mod ring;
mod routers;
mod scenario_errors;
mod scenario_messages;
mod support;
mod virtual_channels;
mod wires;
