//! Text of a history: packets sent, received and written, and what becomes of messages.

use super::plan::ModelPlan;
use super::state::{ModelAction, ModelState};
use crate::explorer::Counterexample;
use crate::failure::LawFailure;
use crate::trace::{LawTraceEntry, traced};

/// A counterexample as numbered lines, with clocks that run from 0.
///
/// The history is replayed in absolute time, so that the text does not depend on how the walk
/// counts time.
pub fn trace_text(plan: &ModelPlan, counterexample: &Counterexample<ModelAction>) -> String {
    let mut told = String::new();
    let mut state = ModelState::new(plan);
    for (at, action) in counterexample.actions.iter().enumerate() {
        if at == counterexample.faulty {
            told.push_str("   from here on nothing goes wrong any more\n");
        }
        let (stepped, entries) = traced(|| state.after(plan, *action));
        let line = step_text(*action, state.world.now(), &entries);
        told.push_str(&format!("{:<3}{line}\n", at + 1));
        match stepped {
            Ok(Some(next)) => state = next,
            Ok(None) => told.push_str("   (this cannot happen)\n"),
            Err(failure) => return told + &format!("   {}\n", law(&failure)),
        }
    }
    told + &format!("   and so on. {}\n", law(&counterexample.failure))
}

/// The law, without the details of the case.
fn law(failure: &LawFailure) -> &str {
    failure.text.lines().next().unwrap_or_default()
}

fn step_text(action: ModelAction, now: u64, entries: &[LawTraceEntry]) -> String {
    let mut happened = entries.iter().filter_map(|entry| {
        if let LawTraceEntry::Happened(text) = entry { Some(text.to_owned()) } else { None }
    });
    let mut first = || happened.next().unwrap_or_default();
    let begin = match action {
        ModelAction::Send(_) | ModelAction::Deliver(_) | ModelAction::Lose(_) => first(),
        ModelAction::Overtake(_, 1) => first() + " before the one ahead of it",
        ModelAction::Overtake(_, place) => first() + &format!(" before {place} ahead of it"),
        ModelAction::Double(_) => first() + ", and is doubled",
        ModelAction::Leave(nic, _) => format!("a packet leaves NIC {}", nic.0),
        ModelAction::Tick => format!("time passes: it is {}", now + 1),
        ModelAction::Fill(nic) => format!("the receive queue at NIC {} is full", nic.0),
        ModelAction::Empty(nic) => format!("the receive queue at NIC {} has room again", nic.0),
        ModelAction::Unload(nic) => format!("the endpoint of NIC {} is to leave its frame", nic.0),
        ModelAction::Load(nic) => format!("the endpoint of NIC {} is loaded", nic.0),
        ModelAction::Restart(nic) => format!("NIC {} is started anew", nic.0),
    };
    [begin].into_iter().chain(happened).collect::<Vec<_>>().join("; ")
}
