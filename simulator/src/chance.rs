//! The seeded dice: one stream for each host and each channel, so that no part's chances depend on
//! another's. The generator is written down here, because golden captures must not move.
