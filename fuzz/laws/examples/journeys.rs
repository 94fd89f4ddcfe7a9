//! Counts the journeys that are as they were, over networks in which nothing is ordered to break:
//! `cargo run -p laws --example journeys -- 2000`.

#![expect(clippy::print_stdout, reason = "it is run for what it prints")]

use laws::journeys::{JourneyTally, NetworkClass};

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(300);
    for class in NetworkClass::ALL {
        println!("{class:?}, {count} networks: {:?}", JourneyTally::of(class, 0..count));
    }
}
