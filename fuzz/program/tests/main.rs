//! Tests of `storm` and `reproduce`, run as programs.

#![expect(clippy::unwrap_used, reason = "a test reads files, and stops if it cannot go on")]

mod reproduce;
mod storm;
