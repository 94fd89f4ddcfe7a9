//! The walk: breadth first over exact states, all of them or a limited number.

use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::rc::Rc;

use indexmap::IndexSet;

use super::plan::{FaultBounds, ModelPlan, SidePair};
use super::violation::ModelViolation;
use super::world::apply::ModelStep;
use super::world::time::ModelClock;
use super::world::{ModelAction, ModelPath, ModelState, ModelStation};

mod settling;

/// A state by the numbers of its parts: NICs, paths, what may still go wrong.
type StateKey = [u32; 5];

const NOWHERE: u32 = u32::MAX;

/// Different values, numbered in the order in which they were found.
type ValueInterner<T> = IndexSet<T, BuildHasherDefault<WordHasher>>;

/// Number of a value, and true if it is new.
fn number<T: Hash + Eq>(values: &mut ValueInterner<T>, value: T) -> (u32, bool) {
    let (index, is_new) = values.insert_full(value);
    (u32::try_from(index).unwrap_or(NOWHERE), is_new)
}

/// Number of a part of a state: the one before, where the step left the part as it was.
fn part<T: Hash + Eq>(
    values: &mut ValueInterner<Rc<T>>,
    part: &Rc<T>,
    before: Option<(&Rc<T>, u32)>,
) -> u32 {
    match before {
        Some((same, number)) if Rc::ptr_eq(part, same) => number,
        _ => number(values, Rc::clone(part)).0,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkResult {
    pub states: usize,
    /// Steps from one to another, or to itself.
    pub steps: u64,
    /// Different states of NICs with their ledgers, of which the states are made.
    pub stations: usize,
    pub paths: usize,
    /// Steps from the beginning to the state that is furthest away.
    pub depth: usize,
    pub extent: WalkExtent,
    /// µs that pass, once nothing goes wrong any more, until all messages have come to their ends: in
    /// the worst of the states.
    pub patience: u32,
    /// Counterexample to the laws, with the fewest possible steps.
    pub counterexample: Option<Counterexample>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkExtent {
    /// All that there are within the bounds.
    Whole,
    /// So many as were allowed, or as it took to find a counterexample.
    Part,
}

/// A history at whose end a law is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    pub breach: ModelViolation,
    pub actions: Vec<ModelAction>,
    /// For [`ModelViolation::Endless`]: how many of the actions happen before nothing goes wrong any more.
    pub faulty: usize,
}

/// Visits all states of a plan, at most `states_max`.
pub fn walk(plan: &ModelPlan, states_max: usize) -> WalkResult {
    let mut walk = ModelWalk::new(plan);
    let breach = walk.visit(states_max);
    let mut walked = WalkResult {
        states: walk.keys.len(),
        steps: walk.steps,
        stations: walk.stations.len(),
        paths: walk.paths.len(),
        depth: walk.depth(),
        extent: if walk.visited == walk.keys.len() { WalkExtent::Whole } else { WalkExtent::Part },
        patience: 0,
        counterexample: breach,
    };
    if walked.counterexample.is_none() {
        match walk.ends() {
            Ok(patience) => walked.patience = patience,
            Err(counterexample) => walked.counterexample = Some(counterexample),
        }
    }
    walked
}

#[derive(Debug)]
struct ModelWalk<'a> {
    plan: &'a ModelPlan,
    stations: ValueInterner<Rc<ModelStation>>,
    paths: ValueInterner<Rc<ModelPath>>,
    bounds: ValueInterner<FaultBounds>,
    keys: ValueInterner<StateKey>,
    origins: Vec<(u32, ModelAction)>,
    /// Position where each state goes if nothing goes wrong any more.
    nexts: Vec<u32>,
    visited: usize,
    steps: u64,
}

impl<'a> ModelWalk<'a> {
    fn new(plan: &'a ModelPlan) -> Self {
        let mut walk = Self {
            plan,
            stations: ValueInterner::default(),
            paths: ValueInterner::default(),
            bounds: ValueInterner::default(),
            keys: ValueInterner::default(),
            origins: vec![(NOWHERE, ModelAction::Tick)],
            nexts: Vec::new(),
            visited: 0,
            steps: 0,
        };
        walk.number(&ModelState::new(plan), None);
        walk
    }

    /// Number of a state, and true if it is new, after a step from another one with its key.
    fn number(
        &mut self,
        ModelState { stations, paths, left, .. }: &ModelState,
        before: Option<(&ModelState, StateKey)>,
    ) -> (u32, bool) {
        let before = before.map(|(world, key)| (&world.stations, &world.paths, key));
        let left_station = before.map(|(its, _, [number, ..])| (&its.left, number));
        let right_station = before.map(|(its, _, [_, number, ..])| (&its.right, number));
        let left_path = before.map(|(_, its, [.., number, _, _])| (&its.left, number));
        let right_path = before.map(|(_, its, [.., number, _])| (&its.right, number));
        let key = [
            part(&mut self.stations, &stations.left, left_station),
            part(&mut self.stations, &stations.right, right_station),
            part(&mut self.paths, &paths.left, left_path),
            part(&mut self.paths, &paths.right, right_path),
            number(&mut self.bounds, *left).0,
        ];
        number(&mut self.keys, key)
    }

    fn world(&self, index: u32) -> Option<ModelState> {
        let [left, right, to_left, to_right, bounds] = *self.keys.get_index(index as usize)?;
        let station = |index| self.stations.get_index(index as usize).map(Rc::clone);
        let path = |index| self.paths.get_index(index as usize).map(Rc::clone);
        Some(ModelState {
            stations: SidePair { left: station(left)?, right: station(right)? },
            paths: SidePair { left: path(to_left)?, right: path(to_right)? },
            left: *self.bounds.get_index(bounds as usize)?,
            now: ModelState::ORIGIN,
        })
    }

    /// Visits states in the order in which they were found.
    fn visit(&mut self, states_max: usize) -> Option<Counterexample> {
        let mut events = Vec::new();
        let mut actions = Vec::new();
        while self.keys.len() < states_max {
            let index = u32::try_from(self.visited).unwrap_or(NOWHERE);
            let Some(key) = self.keys.get_index(self.visited).copied() else { break };
            let Some(world) = self.world(index) else { break };
            let fault_free = world.next_without_faults(self.plan);
            let mut next = NOWHERE;
            actions.clear();
            world.actions(&mut |action| actions.push(action));
            for action in &actions {
                events.clear();
                let mut step = ModelStep {
                    plan: self.plan,
                    reckoning: ModelClock::Relative,
                    events: &mut events,
                };
                match step.take(&world, *action) {
                    Ok(None) => {}
                    Ok(Some(after)) => {
                        self.steps += 1;
                        let (number, is_new) = self.number(&after, Some((&world, key)));
                        if is_new {
                            self.origins.push((index, *action));
                        }
                        if fault_free == Some(*action) {
                            next = number;
                        }
                    }
                    Err(breach) => return Some(self.counterexample(index, *action, breach)),
                }
            }
            self.nexts.push(next);
            self.visited += 1;
        }
        None
    }

    fn counterexample(
        &self,
        index: u32,
        action: ModelAction,
        breach: ModelViolation,
    ) -> Counterexample {
        let mut actions = self.way_to(index);
        actions.push(action);
        Counterexample { breach, faulty: actions.len(), actions }
    }

    fn way_to(&self, index: u32) -> Vec<ModelAction> {
        let mut actions = Vec::new();
        let mut index = index;
        while let Some((from, action)) = self.origins.get(index as usize)
            && *from != NOWHERE
        {
            actions.push(*action);
            index = *from;
        }
        actions.reverse();
        actions
    }

    /// The last state that was found is as far away as any.
    fn depth(&self) -> usize {
        self.way_to(u32::try_from(self.keys.len()).unwrap_or(NOWHERE).saturating_sub(1)).len()
    }
}

/// Multiplies and folds each word into the next; a walk takes a third longer with the standard hasher.
/// The factor is 2⁶⁴ divided by the golden ratio.
#[derive(Debug, Default)]
struct WordHasher(u64);

impl WordHasher {
    const fn mix(&mut self, word: u64) {
        let mixed = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(8) {
            self.mix(bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.mix(word.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.mix(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }
}
