//! Tests of the codec through its public interface.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test reads files, and stops if it cannot go on"
)]

mod capture;
mod laws;
mod vectors;
mod wires;
