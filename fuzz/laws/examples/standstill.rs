//! Holds captures of random networks against what stands still in them, and names the circles of deadlocks:
//! `cargo run --release -p laws --example standstill -- 1000`. With a second number it prints the scenario of that
//! network with some links tapped, with a third one that of a circle of a shape and a start.

#![expect(clippy::print_stdout, reason = "it is run for what it prints")]

use laws::standstill::circle::{CircleNetwork, CircleShape};
use laws::standstill::{StandstillTally, TappedPart, draft};
use rayon::prelude::*;

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    let count = arguments.first().copied().unwrap_or(100);
    let circles = || CircleShape::ALL.into_iter().flat_map(CircleShape::starts);
    if let [_, place, number] = arguments[..] {
        let drawn = usize::try_from(place).ok().and_then(|place| circles().nth(place));
        let network = drawn.and_then(|(shape, start)| CircleNetwork::of(shape, start, number));
        return network.into_iter().for_each(|network| println!("{}", network.text));
    }
    if let [_, number] = arguments[..] {
        let text = draft(number, TappedPart::Some).map(|draft| draft.text());
        return println!("{}", text.unwrap_or_default());
    }
    for (shape, start) in circles() {
        let compared = (0..count / 5).into_par_iter().filter_map(|number| {
            Some((number, CircleNetwork::of(shape, start, number)?.compare()?))
        });
        let compared: Vec<(u64, Vec<String>)> = compared.collect();
        let wrong: Vec<_> = compared.iter().filter(|(_, wrong)| !wrong.is_empty()).collect();
        println!("{shape:?} {start:?}: {} deadlocks, {} not named", compared.len(), wrong.len());
        wrong.iter().take(5).for_each(|(number, wrong)| println!("  {number}: {wrong:?}"));
    }
    for part in TappedPart::ALL {
        println!("{part:?}: {:?}", StandstillTally::of(0..count, part));
    }
}
