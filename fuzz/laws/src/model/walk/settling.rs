//! Tests whether every state comes to an end once nothing goes wrong any more: property 3.
//!
//! From each state the same fair steps are taken, so each has one that follows it, and states that
//! never end are those before a circle.

use super::{
    Counterexample, ModelAction, ModelClock, ModelState, ModelStep, ModelViolation, ModelWalk,
    NOWHERE,
};

/// Steps without faults in which a state that was not visited must come to its end. *Chosen*: some
/// ten times what it takes.
const STEPS_MAX: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettlingTime {
    Unknown,
    /// On the path of the state being followed: meeting it again is a cycle.
    Under,
    /// After this number of µs.
    In(u32),
}

impl ModelWalk<'_> {
    /// The longest time, in µs, that a state takes to come to its end.
    pub(super) fn ends(&self) -> Result<u32, Counterexample> {
        let mut known = vec![SettlingTime::Unknown; self.keys.len()];
        let mut longest = 0;
        let states = u32::try_from(self.keys.len()).unwrap_or(NOWHERE);
        for state in 0..states {
            let time = self.follow(state, &mut known).ok_or_else(|| self.endless(state))?;
            longest = longest.max(time);
        }
        Ok(longest)
    }

    /// Time that a state takes; none if it goes in circles.
    fn follow(&self, state: u32, known: &mut [SettlingTime]) -> Option<u32> {
        let mut way = Vec::new();
        let mut at = state;
        let mut time = loop {
            let place = known.get_mut(at as usize)?;
            match *place {
                SettlingTime::In(time) => break time,
                SettlingTime::Under => return None,
                SettlingTime::Unknown => *place = SettlingTime::Under,
            }
            let world = self.world(at)?;
            match (world.next_without_faults(self.plan), self.nexts.get(at as usize)) {
                (None, _) => set(known, at, SettlingTime::In(0)),
                (Some(action), Some(next)) if *next != NOWHERE => {
                    way.push((at, u32::from(action == ModelAction::Tick)));
                    at = *next;
                }
                (Some(_), _) => {
                    let time = self.run(world)?;
                    set(known, at, SettlingTime::In(time));
                }
            }
        };
        for (at, takes) in way.into_iter().rev() {
            time += takes;
            set(known, at, SettlingTime::In(time));
        }
        Some(time)
    }

    /// Determines it by running, for states beyond those that were visited.
    fn run(&self, world: ModelState) -> Option<u32> {
        let (mut world, mut time, mut events) = (world, 0, Vec::new());
        for _ in 0..STEPS_MAX {
            let Some(action) = world.next_without_faults(self.plan) else { return Some(time) };
            events.clear();
            let mut step =
                ModelStep { plan: self.plan, reckoning: ModelClock::Relative, events: &mut events };
            world = step.take(&world, action).ok()??;
            time += u32::from(action == ModelAction::Tick);
        }
        None
    }

    fn endless(&self, state: u32) -> Counterexample {
        let mut actions = self.way_to(state);
        let faulty = actions.len();
        let (mut world, mut seen) = (self.world(state), Vec::new());
        while let Some(here) = world {
            let Some(action) = here.next_without_faults(self.plan) else { break };
            if seen.contains(&here) || seen.len() > STEPS_MAX {
                break;
            }
            let mut events = Vec::new();
            let mut step =
                ModelStep { plan: self.plan, reckoning: ModelClock::Relative, events: &mut events };
            world = step.take(&here, action).ok().flatten();
            actions.push(action);
            seen.push(here);
        }
        Counterexample { breach: ModelViolation::Endless, actions, faulty }
    }
}

fn set(known: &mut [SettlingTime], at: u32, ends: SettlingTime) {
    if let Some(place) = known.get_mut(at as usize) {
        *place = ends;
    }
}
