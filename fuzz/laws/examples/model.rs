//! The large walks of the reliability protocol: `cargo run --release -p laws --example model`.
//!
//! Prints a line for each plan. With a number, walks only the plan of that line.

use std::io::{self, Write};

use laws::model::plan::{Bounds, Mail, Plan, Side};
use laws::model::story::story;
use laws::model::walk::{Extent, walk};

/// States of a walk at most: some 100 bytes each.
const STATES_MAX: usize = 50_000_000;

fn main() -> io::Result<()> {
    let only: Option<usize> = std::env::args().nth(1).and_then(|line| line.parse().ok());
    let mut out = io::stdout().lock();
    writeln!(out, "  states      steps  furthest  ends in  plan")?;
    for (at, (name, plan)) in (1..).zip(plans()) {
        if only.is_some_and(|only| only != at) {
            continue;
        }
        let walked = walk(&plan, STATES_MAX);
        let part = match walked.extent {
            Extent::Whole => "",
            Extent::Part => " (not all)",
        };
        let (states, steps, depth) = (walked.states, walked.steps, walked.depth);
        let patience = walked.patience;
        writeln!(out, "{states:>8} {steps:>10} {depth:>9} {patience:>5} µs  {name}{part}")?;
        if let Some(counterexample) = &walked.counterexample {
            writeln!(out, "{}", story(&plan, counterexample))?;
        }
    }
    Ok(())
}

fn plans() -> Vec<(&'static str, Plan)> {
    let none = Bounds::default();
    let of = |bounds| Plan { bounds, ..Plan::small() };
    let refused = vec![Mail::bad(Side::Left), Mail::good(Side::Left), Mail::bad(Side::Right)];
    vec![
        ("4 packets lost", of(Bounds { losses: 4, ..none })),
        ("2 lost, 2 doubled", of(Bounds { losses: 2, duplicates: 2, ..none })),
        ("2 lost, a queue full", of(Bounds { losses: 2, fulls: 1, ..none })),
        ("2 lost, an unload", of(Bounds { losses: 2, unloads: 1, ..none })),
        ("2 lost, a restart", of(Bounds { losses: 2, restarts: 1, ..none })),
        ("a queue full, 2 unloads", of(Bounds { fulls: 1, unloads: 2, ..none })),
        (
            "2 lost, 1 doubled, 2 of 3 messages refused for good",
            Plan { messages: refused, ..of(Bounds { losses: 2, duplicates: 1, ..none }) },
        ),
        (
            "one channel: 2 lost, a queue full, an unload, a restart",
            Plan {
                bounds: Bounds { losses: 2, fulls: 1, unloads: 1, restarts: 1, ..none },
                ..Plan::single()
            },
        ),
        (
            "one channel: 2 restarts, 1 lost, 1 doubled, a queue full",
            Plan {
                bounds: Bounds { losses: 1, duplicates: 1, fulls: 1, restarts: 2, ..none },
                ..Plan::single()
            },
        ),
        (
            "one channel, 4 messages: 4 lost, 2 doubled",
            Plan {
                messages: vec![Mail::good(Side::Left); 4],
                bounds: Bounds { losses: 4, duplicates: 2, ..none },
                ..Plan::single()
            },
        ),
        (
            "2 lost, a queue full, an unload beside an endpoint that stays",
            Plan {
                messages: vec![Mail::good(Side::Left), Mail::neighbours(Side::Left)],
                ..of(Bounds { losses: 2, fulls: 1, unloads: 1, ..none })
            },
        ),
        (
            "a message each way: 1 lost, a queue full, an unload, a restart",
            Plan {
                messages: vec![Mail::good(Side::Left), Mail::good(Side::Right)],
                ..of(Bounds { losses: 1, fulls: 1, unloads: 1, restarts: 1, ..none })
            },
        ),
        (
            "1 lost, a queue full, an unload, a restart",
            of(Bounds { losses: 1, fulls: 1, unloads: 1, restarts: 1, ..none }),
        ),
    ]
}
