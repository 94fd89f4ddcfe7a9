//! Random networks: how they are drawn and run, and the laws of what then happens.

pub mod analyzed;
pub mod draft;
pub mod facts;
pub mod findings;
pub mod input;
pub mod link_input;
pub mod rules;
pub mod run;
pub mod slack;
pub mod traffic_input;
pub mod undeclared;
pub mod waits;
