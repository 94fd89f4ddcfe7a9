//! What must hold whatever the bytes: laws that panic where they are broken.
//!
//! Fuzz targets, the replay of `corpus/` and seeded storms all run these. Inputs are wire format:
//! chunk payloads, frames, notation, capture files.

pub mod analyze;
#[cfg(test)]
mod canaries;
pub mod capture;
pub mod capture_input;
pub mod char_by_char;
pub mod chars;
pub mod crossbar;
pub mod delivery;
pub mod endpoints;
pub mod failure;
pub mod filter;
pub mod link;
pub mod model;
pub mod network;
pub mod notation;
pub mod packet;
pub mod receiver;
mod record_ops;
pub mod reference;
pub mod repair;
pub mod reproduction;
pub mod scenario;
pub mod score;
pub mod seeds;
pub mod shrink;
pub mod single_thread;
pub mod states;
pub mod storm;
mod trace;
pub mod transport;
pub mod transport_framing;
pub mod transport_packet;

/// A law, of bytes of its target's format.
pub type LawFunction = fn(&[u8]);

/// The targets, by the names of their directories in `corpus/`.
pub const TARGETS: &[(&str, LawFunction)] = &[
    ("analyze", analyze::law),
    ("capture", capture::law),
    ("capture-blocks", capture::blocks::law),
    ("capture-cuts", capture::cuts::law),
    ("capture-plans", capture::plans::law),
    ("capture-rows", capture::rows::law),
    ("chars", chars::law),
    ("chars-one-by-one", char_by_char::law),
    ("crossbar", crossbar::law),
    ("endpoints", endpoints::law),
    ("filter", filter::law),
    ("filter-rows", filter::rows),
    ("filter-shown", filter::shown),
    ("link", link::law),
    ("message", transport_packet::law),
    ("message-heard", transport_framing::law),
    ("network", network::law),
    ("notation", notation::law),
    ("notation-long", notation::long),
    ("packet", packet::law),
    ("receiver", receiver::law),
    ("scenario", scenario::law),
    ("scenario-shown", scenario::shown),
    ("scenario-tried", scenario::tried),
    ("states", states::law),
    ("switch", network::switch),
    ("talk", delivery::law),
    ("threads", analyze::threads),
    ("transport", transport::law),
];
