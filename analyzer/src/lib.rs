//! Analysis of Myrinet captures: framing, flow control, routes through switches, the reliability
//! protocol, and findings judged by the rules of the specification.
//!
//! | module | contents |
//! |---|---|
//! | [`report`] | [`analyze`]: a whole capture as one [`Report`] |
//! | [`pipeline`] | [`CaptureAnalysis`]: the events of a capture, by call-back or as an iterator |
//! | [`event_reader`], [`counters`] | packets, link events and counts of channels, without the network |
//! | [`receiver`], [`packet`], [`packet::transport`] | frames of one channel, packets, headers of the reliability protocol |
//! | [`event`], [`timeline`] | link events in order of time |
//! | [`link`], [`link_analysis`] | state, totals, parameters and slack buffers of a link; its analysis |
//! | [`journey`] | packets matched across links: latency, waiting, corruption |
//! | [`blocking`] | stopped senders, wait chains, deadlocks |
//! | [`conversation`] | messages of the reliability protocol, retransmissions, violations |
//! | [`mapping`] | probes, maps and mappers of a network that maps itself |
//! | [`topology`] | nodes, ports and links |
//! | [`channel_selector`], [`window`] | selection of channels and of a range of time |
//! | [`diff`] | comparison of two captures, packet by packet |
//! | [`finding`], [`rules`] | findings, and the verdict on each rule |
//! | [`render`], [`snapshot`], [`show`] | results as text |
//! | `filter` | filter expressions and columns (feature `filter`) |
//! | `score` | comparison with a simulation's truth (feature `score`) |
//!
//! Every stage is fed and emits; memory does not grow with the length of a capture. A capture may
//! contain anything: analysis reports, it does not fail.
//!
//! ```
//! use myriscope_analyzer::codec::capture::{
//!     ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent,
//! };
//! use myriscope_analyzer::codec::{Tick, notation};
//! use myriscope_analyzer::{AnalysisOptions, analyze};
//!
//! let channels = [Channel::named("h0:0>s0:3")];
//! let mut capture = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels)?;
//! // The CRC byte of 83 05 is 92.
//! let chars = notation::parse("GAP 83 05 93 GAP")?;
//! let content = ChunkContent::Literal(chars.chars());
//! capture.write(ChannelId(0), &Chunk { first: Tick(0), content })?;
//! let capture = capture.finish()?;
//!
//! let report = analyze(capture.as_slice(), &AnalysisOptions::default());
//! let findings = report.finding_rows();
//! assert!(findings.iter().any(|row| row.finding == "crc-bad" && row.rule == Some("P-4")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/library.md` shows more, `examples/` has programs to start from.

pub mod annotations;
pub mod blocking;
mod capture_network;
pub mod captured;
pub mod channel_name;
pub mod channel_selector;
mod channel_table;
mod clock;
pub mod comparison;
pub mod conversation;
pub mod counters;
pub mod damage_table;
pub mod diff;
pub mod distribution;
pub mod event;
pub mod event_reader;
#[cfg(feature = "filter")]
pub mod filter;
pub mod finding;
pub mod finding_row;
mod flow_control;
pub mod flow_table;
pub mod ip;
pub mod ip_conversation;
pub mod journey;
pub mod link;
pub mod link_analysis;
pub mod link_shard;
pub mod mapping;
mod named_enum;
mod node_kind;
pub mod options;
pub mod packet;
pub mod pipeline;
pub mod receiver;
mod recorded;
pub mod render;
pub mod report;
pub mod row;
pub mod rules;
#[cfg(feature = "score")]
pub mod score;
pub mod series;
pub mod show;
pub mod snapshot;
mod time_queue;
pub mod timeline;
pub mod topology;
mod totals;
pub mod window;
mod wire_recordings;

pub use codec;

pub use counters::ChannelCounters;
pub use event::{ChannelEvent, LinkEvent, TimedEvent};
pub use event_reader::{EventReader, ReadItem};
pub use finding::{FindingKind, Severity};
pub use journey::Journey;
pub use link::parameters::LinkAssumptions;
pub use options::AnalysisScope;
pub use packet::transport::ParsedTransport;
pub use packet::{ByteRetention, ReceivedPacket};
pub use pipeline::{AnalysisEvent, CaptureAnalysis};
pub use receiver::ChannelReceiver;
pub use report::{AnalysisOptions, Report, analyze};
pub use timeline::{EventFilter, EventTimeline};
pub use topology::Topology;

/// The examples of the documentation, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/library.md")]
#[doc = include_str!("../../docs/snapshots.md")]
#[doc = include_str!("../../README.md")]
struct LibraryPage;
