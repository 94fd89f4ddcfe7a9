//! The program as people and scripts run it.

#![expect(clippy::unwrap_used, reason = "a test runs programs, and stops if it cannot go on")]

mod annotate_score;
mod answers;
mod arranged;
mod check;
mod compare;
mod copies;
mod cutting;
mod damaged;
mod errors;
mod examples;
mod export;
mod fixtures;
mod forms;
mod hostile;
mod import;
#[cfg(unix)]
mod live;
mod networks;
mod page_numbers;
mod pictures;
mod recount;
mod report;
mod schema;
mod selection;
mod show;
mod simulate;
mod support;
mod sweep;
#[cfg(feature = "parquet")]
mod tables;
mod view;
mod virtual_channels;
mod vita26;
mod wireshark;
