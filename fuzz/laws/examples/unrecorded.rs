//! Counts captures that are accused of what only the missing of a part of them makes: `cargo run --release -p laws
//! --example unrecorded -- 10000`, half of them fixtures, half random networks in which nothing is wrong, as
//! many that are broken, and more with a deadlock. A second number is the seed.

#![expect(clippy::print_stdout, reason = "it is run for what it prints")]

use laws::repair::SeededRng;
use laws::unrecorded::{
    RecordedChunks, broken_network, deadlocked_network, fixtures, judged, sound_network,
};

/// Draws of each network. *Chosen*: together they cost as much as its simulation.
const EACH: u64 = 10;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|it| it.parse::<u64>().ok());
    let (draws, seed) = (arguments.next().unwrap_or(1000), arguments.next().unwrap_or(1));
    let mut dice = SeededRng::new(&seed.to_le_bytes());
    let (mut done, mut accused) = (0, 0);
    let mut print = |name: &str, capture: &RecordedChunks, draws| {
        done += draws;
        for (part, found) in judged(capture, draws, &mut dice) {
            accused += 1;
            println!("{name} without {part:?}: {}", found.join(" "));
        }
    };
    let fixtures = fixtures();
    let each = draws.div_ceil(2 * fixtures.len().max(1) as u64);
    fixtures.iter().for_each(|(name, capture)| print(name, capture, each));
    let networks = (seed << 32..).filter_map(|number| Some((number, sound_network(number)?)));
    for (number, capture) in networks.take(usize::try_from(draws / 2 / EACH).unwrap_or(1)) {
        print(&format!("network {number}"), &capture, EACH);
        if let Some(capture) = deadlocked_network(number & 0xffff_ffff) {
            print(&format!("deadlock {number}"), &capture, 4 * EACH);
        }
        if let Some(capture) = broken_network(number) {
            print(&format!("broken {number}"), &capture, EACH);
        }
    }
    println!("{done} draws: {accused} accused");
}
