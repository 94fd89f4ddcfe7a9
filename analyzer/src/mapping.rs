//! Mapping of the network by its interfaces, reconstructed from captured packets. N-2, N-7, N-8

mod captured_mapping;

pub use self::captured_mapping::{CapturedMapping, PAYLOAD_MAX};
