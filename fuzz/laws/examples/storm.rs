//! A storm over networks of hosts that talk, for so many seconds of the clock that the system shows:
//! `cargo run --release -p laws --example storm -- SECONDS SEED`. It says how long that was for the
//! networks.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a report on the terminal")]

use std::time::{Duration, Instant};

use laws::messages::{Plan, planned};
use laws::repair::Dice;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(60);
    let seed = arguments.next().unwrap_or_else(|| "1".to_owned());
    let mut dice = Dice::new(seed.as_bytes());
    let (begin, [mut networks, mut messages, mut periods]) = (Instant::now(), [0; 3]);
    while begin.elapsed() < Duration::from_secs(seconds) {
        let plan = Plan::from_bytes(&dice.bytes(500));
        // A law that is broken ends it, and says the seed and the number of the network.
        println!("network {networks} of seed {seed}");
        if let Some(summary) = plan.as_ref().and_then(planned) {
            networks += 1;
            messages += summary.messages as u64;
            periods += summary.periods;
        }
    }
    println!("{networks} networks, {messages} messages, {} simulated ms", periods / 80_000);
}
