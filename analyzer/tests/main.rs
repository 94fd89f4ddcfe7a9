//! Tests of the analysis of captures.

#![expect(
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test reads files, and stops if it cannot go on"
)]

mod analysis;
#[cfg(feature = "filter")]
mod fields;
#[cfg(feature = "filter")]
mod filter;
#[cfg(feature = "filter")]
mod filter_reference;
mod findings;
mod journeys;
mod links;
mod mapping;
mod rows;
mod show;
mod slack;
mod snapshots;
mod support;
mod topology;
mod vectors;
mod virtual_channels;
