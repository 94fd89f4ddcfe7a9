//! A reference simulator of Myrinet networks: links, switches and interfaces, character by
//! character, with the truth about every event.
//!
//! | module | contents |
//! |---|---|
//! | [`scenario`] | TOML files that describe a network, its traffic, faults and taps |
//! | [`network`] | [`Network`]: a scenario being simulated, period by period |
//! | [`truth`] | the events of a run, and their rows in truth files |
//! | [`node`], [`topology`] | numbers of nodes, ports and packets; nodes and cables |
//! | [`generate`], [`routes`] | generated networks, route computation |
//! | [`link`], [`port`] | wires, slack buffers, flow control; counters and LEDs of a port |
//! | [`wires`] | the nine wires of a channel: skew, types of cables, faults of levels |
//! | [`clock`] | clocks of nodes, which may differ |
//! | [`interface`], [`traffic`] | host interfaces, and the packets that hosts send |
//! | [`fault`] | faults and control actions at given times |
//! | [`mapping`] | mapping, election and route distribution as a pure state machine |
//! | [`transport`], [`messaging`] | the reliability protocol as a pure state machine; endpoints of hosts |
//! | [`statistics`], [`experiment`] | totals of a run; reproductions of published measurements |
//!
//! The same scenario and seed give the same characters on every machine. The simulator is one of two
//! witnesses: it implements the rules of `docs/rules.md` and shares only the codec with the analyzer.
//!
//! ```
//! use myriscope_simulator::{Network, Scenario, TraceLevel, TruthEventKind, VisitOrder};
//!
//! let text = r#"
//!     duration_us = 100
//!     topology = { kind = "switch", ports = 8, hosts = 2 }
//!     traffic = [{ from = "h0", to = "h1", payload = 64, every_us = 10 }]
//! "#;
//! let scenario = Scenario::read("two_hosts.toml", text)?;
//! let mut network = Network::new(&scenario, TraceLevel::Everything, VisitOrder::AsGiven);
//! network.run(scenario.duration);
//! network.finish();
//! let consumed = |kind: &TruthEventKind| matches!(kind, TruthEventKind::Consumed { .. });
//! assert_eq!(network.drain_events().filter(|event| consumed(&event.kind)).count(), 10);
//! # Ok::<(), myriscope_simulator::ScenarioError>(())
//! ```
//!
//! `examples/two_hosts.rs` writes a capture and the truth; `examples/transport_machine.rs` steps the
//! reliability protocol without a network.

mod arbitration;
mod arena;
pub mod clock;
pub mod experiment;
pub mod fault;
pub mod generate;
mod histogram;
pub mod interface;
pub mod ip;
pub mod link;
pub mod mapping;
pub mod messaging;
pub mod network;
pub mod node;
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
pub mod wires;

pub use fault::{FaultKind, FaultSpec};
pub use network::{Network, SimulationEngine, VisitOrder};
pub use routes::RouteTable;
pub use scenario::{Scenario, ScenarioError};
pub use topology::{NodeId, NodePort, Topology};
pub use transport::Transport;
pub use truth::{TraceLevel, TruthEvent, TruthEventKind};
