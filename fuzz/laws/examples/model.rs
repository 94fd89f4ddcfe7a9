//! The large walks of the reliability protocol: `cargo run --release -p laws --example model`.
//!
//! Prints a line for each plan. With a number, walks only the plan of that line.

use std::io::{self, Write};

use laws::model::plan::{FaultBounds, LEFT, ModelPlan, PlannedMessage, RIGHT};
use laws::model::trace_text::trace_text;
use laws::model::walk::walk;

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
        let part = if walked.is_whole { "" } else { " (not all)" };
        let (states, steps, depth) = (walked.states, walked.steps, walked.depth);
        let patience = walked.patience;
        writeln!(out, "{states:>8} {steps:>10} {depth:>9} {patience:>5} µs  {name}{part}")?;
        if let Some(counterexample) = &walked.counterexample {
            writeln!(out, "{}", trace_text(&plan, counterexample))?;
            return Err(io::Error::other(counterexample.failure.to_string()));
        }
    }
    Ok(())
}

fn plans() -> Vec<(&'static str, ModelPlan)> {
    let none = FaultBounds::default();
    let of = |bounds| ModelPlan { bounds, ..ModelPlan::small() };
    let single = |bounds| ModelPlan { bounds, ..ModelPlan::single() };
    let refused =
        vec![PlannedMessage::bad(LEFT), PlannedMessage::good(LEFT), PlannedMessage::bad(RIGHT)];
    vec![
        ("4 packets lost", of(FaultBounds { losses: 4, ..none })),
        ("2 lost, 2 doubled", of(FaultBounds { losses: 2, duplicates: 2, ..none })),
        ("2 lost, a queue full", of(FaultBounds { losses: 2, fulls: 1, ..none })),
        ("2 lost, an unload", of(FaultBounds { losses: 2, unloads: 1, ..none })),
        ("2 lost, a restart", of(FaultBounds { losses: 2, restarts: 1, ..none })),
        ("a queue full, 2 unloads", of(FaultBounds { fulls: 1, unloads: 2, ..none })),
        (
            "2 lost, 1 doubled, 2 of 3 messages refused for good",
            ModelPlan { messages: refused, ..of(FaultBounds { losses: 2, duplicates: 1, ..none }) },
        ),
        (
            "one channel: 2 lost, a queue full, an unload, a restart",
            single(FaultBounds { losses: 2, fulls: 1, unloads: 1, restarts: 1, ..none }),
        ),
        (
            "one channel: 2 restarts, 1 lost, 1 doubled, a queue full",
            single(FaultBounds { losses: 1, duplicates: 1, fulls: 1, restarts: 2, ..none }),
        ),
        (
            "one channel, 4 messages: 4 lost, 2 doubled",
            ModelPlan {
                messages: vec![PlannedMessage::good(LEFT); 4],
                ..single(FaultBounds { losses: 4, duplicates: 2, ..none })
            },
        ),
        (
            "2 lost, a queue full, an unload beside an endpoint that stays",
            ModelPlan {
                messages: vec![PlannedMessage::good(LEFT), PlannedMessage::neighbours(LEFT)],
                ..of(FaultBounds { losses: 2, fulls: 1, unloads: 1, ..none })
            },
        ),
        (
            "a message each way: 1 lost, a queue full, an unload, a restart",
            ModelPlan {
                messages: vec![PlannedMessage::good(LEFT), PlannedMessage::good(RIGHT)],
                ..of(FaultBounds { losses: 1, fulls: 1, unloads: 1, restarts: 1, ..none })
            },
        ),
        (
            "1 lost, a queue full, an unload, a restart",
            of(FaultBounds { losses: 1, fulls: 1, unloads: 1, restarts: 1, ..none }),
        ),
    ]
}
