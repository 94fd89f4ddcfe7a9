//! State of links: parameters, activity, slack buffers and reports of their channels. F-1

pub mod activity;
pub mod interval;
pub mod led;
pub mod parameters;
mod possible;
pub mod report;
pub mod slack;
pub(crate) mod state;
pub mod totals;
