//! Holds captures of random networks against what stands still in them, and names the circles of deadlocks:
//! `cargo run --release -p laws --example standstill -- 1000`. With a second number it prints the scenario of that
//! network with some links tapped, with a third one that of a circle of a shape.

#![expect(clippy::print_stdout, reason = "it is run for what it prints")]

use laws::standstill::circle::{CircleNetwork, CircleShape};
use laws::standstill::{StandstillTally, TappedPart, draft};
use rayon::prelude::*;

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    let count = arguments.first().copied().unwrap_or(100);
    if let [_, shape, number] = arguments[..] {
        let shape = usize::try_from(shape).ok().and_then(|shape| CircleShape::ALL.get(shape));
        let network = shape.and_then(|shape| CircleNetwork::of(*shape, number));
        return network.into_iter().for_each(|network| println!("{}", network.text));
    }
    if let [_, number] = arguments[..] {
        let text = draft(number, TappedPart::Some).map(|draft| draft.text());
        return println!("{}", text.unwrap_or_default());
    }
    for shape in CircleShape::ALL {
        let compared = (0..count / 5)
            .into_par_iter()
            .filter_map(|number| Some((number, CircleNetwork::of(shape, number)?.compare()?)));
        let compared: Vec<(u64, Vec<String>)> = compared.collect();
        let wrong: Vec<_> = compared.iter().filter(|(_, wrong)| !wrong.is_empty()).collect();
        println!("{shape:?}: {} deadlocks, {} not named", compared.len(), wrong.len());
        wrong.iter().take(5).for_each(|(number, wrong)| println!("  {number}: {wrong:?}"));
    }
    for part in TappedPart::ALL {
        println!("{part:?}: {:?}", StandstillTally::of(0..count, part));
    }
}
