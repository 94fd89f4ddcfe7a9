//! Damages one wire in each of many random networks: `cargo run --release -p laws --example wires -- 500`.
//!
//! Every cable is tapped at one end. Where packets were damaged between two taps, `check` must name the wire. With a
//! second number, prints the scenario of that network.

#![expect(clippy::print_stdout, reason = "it is run for what it prints")]

use laws::damaged_wire::{WireOutcome, damaged_wire, draft};

fn main() {
    let networks = std::env::args().nth(1).and_then(|it| it.parse::<u64>().ok()).unwrap_or(500);
    if let Some(number) = std::env::args().nth(2).and_then(|it| it.parse().ok()) {
        let text = draft(number).map(|it| it.text());
        return println!("{}", text.unwrap_or_default());
    }
    let mut missed = Vec::new();
    let (mut done, mut number) = (0, 0);
    while done < networks {
        match damaged_wire(number) {
            WireOutcome::NoDamage => {}
            WireOutcome::Named => done += 1,
            WireOutcome::Missed(why) => {
                done += 1;
                missed.push(format!("network {number}: {why}"));
            }
        }
        number += 1;
    }
    println!("{done} networks with a damaged wire between two taps ({number} drawn)");
    println!("named in {}", done - missed.len() as u64);
    missed.iter().for_each(|line| println!("{line}"));
    assert!(missed.is_empty());
}
