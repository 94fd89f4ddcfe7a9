//! What must hold whatever the bytes: laws that panic where they are broken.
//!
//! Fuzz targets, the replay of `corpus/` and seeded storms all run these. Inputs are wire format:
//! chunk payloads, frames, notation, capture files.

pub mod alone;
pub mod analyze;
#[cfg(test)]
mod canaries;
pub mod capture;
pub mod caught;
pub mod chars;
pub mod crossbar;
pub mod endpoints;
pub mod filter;
pub mod heard;
mod journal;
pub mod link;
pub mod message;
pub mod messages;
pub mod model;
pub mod network;
pub mod notation;
pub mod one_by_one;
pub mod packet;
pub mod picture;
pub mod plan;
pub mod receiver;
pub mod reference;
pub mod repair;
pub mod scenario;
pub mod score;
pub mod seeds;
pub mod shrink;
pub mod states;
pub mod storm;
mod tape;
pub mod transport;

/// A law, of bytes of its target's format.
pub type Law = fn(&[u8]);

/// The targets, by the names of their directories in `corpus/`.
pub const TARGETS: &[(&str, Law)] = &[
    ("analyze", analyze::law),
    ("capture", capture::law),
    ("capture-blocks", capture::blocks::law),
    ("capture-cuts", capture::cuts::law),
    ("capture-plans", capture::plans::law),
    ("capture-rows", capture::rows::law),
    ("chars", chars::law),
    ("chars-one-by-one", one_by_one::law),
    ("crossbar", crossbar::law),
    ("endpoints", endpoints::law),
    ("filter", filter::law),
    ("filter-rows", filter::rows),
    ("filter-shown", filter::shown),
    ("link", link::law),
    ("message", message::law),
    ("message-heard", heard::law),
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
    ("talk", messages::law),
    ("threads", analyze::threads),
    ("transport", transport::law),
];
