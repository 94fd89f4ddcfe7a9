//! Laws held over demos, fixtures, and random networks with fixed seeds.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test reads files, and stops if it cannot go on"
)]

mod blocking;
mod clocks;
mod comparisons;
mod conversations;
mod demos;
mod endpoints;
mod journeys;
mod mapping;
mod model;
mod multicasts;
mod pictures;
mod recordings;
mod recount;
mod regressions;
mod replay;
mod routers;
mod routes;
mod rules;
mod score;
mod slices;
mod spellings;
mod standstill;
mod stillness;
mod storms;
mod transport;
mod undeclared;
mod variants;
mod wires;
