//! Every state that a world can come into within bounds, and from each of them the way to rest, once
//! nothing goes wrong any more.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};

use crate::failure::{LawFailure, catch_failure};

/// Steps without faults in which a state that was not visited must come to rest. *Chosen*: some ten
/// times what it takes.
const STEPS_MAX: usize = 1000;

/// A world whose states are explored. Its laws panic.
pub trait ExploredWorld {
    type State;
    type Action: Clone + Debug + PartialEq;
    /// A state by the numbers of its parts.
    type Key: Clone + Debug + Eq + Hash;

    fn start(&self) -> Self::State;

    fn key(&mut self, state: &Self::State) -> Self::Key;

    /// The state that has a key.
    fn state(&self, key: &Self::Key) -> Self::State;

    /// All that can happen in a state, in a fixed order.
    fn actions(&self, state: &Self::State) -> Vec<Self::Action>;

    /// Cost of an action, 0 or 1. The cheapest way to a state counts.
    fn cost(&self, action: &Self::Action) -> u32;

    /// States that cost more are not explored.
    fn cost_max(&self) -> u32;

    /// The state after an action, and the time that passes; none if it may not happen.
    fn after(&self, state: &Self::State, action: &Self::Action) -> Option<(Self::State, u64)>;

    /// The action that happens if nothing goes wrong any more, which is one of all; none at the end.
    fn without_faults(&self, state: &Self::State) -> Option<Self::Action>;

    /// Law of a state that comes again and again, though nothing goes wrong.
    fn check_rest(&self, state: &Self::State);
}

#[derive(Clone, Debug)]
pub struct ExploredStates<A> {
    pub states: usize,
    /// Steps from one to another, or to itself.
    pub steps: u64,
    /// Cost of the state that costs most.
    pub depth: u32,
    /// True if these are all that there are within the bounds. Otherwise they are as many as were
    /// allowed, or as it took to find a counterexample.
    pub is_whole: bool,
    /// Time that passes, once nothing goes wrong any more, until rest: in the worst of the states.
    pub patience: u64,
    /// Counterexample to the laws, of the lowest possible cost.
    pub counterexample: Option<Counterexample<A>>,
}

/// A history at whose end a law is broken.
#[derive(Clone, Debug)]
pub struct Counterexample<A> {
    pub failure: LawFailure,
    pub actions: Vec<A>,
    /// Number of the actions that happen before nothing goes wrong any more.
    pub faulty: usize,
}

#[derive(Clone, Debug)]
struct StateVisit<A> {
    /// The state before, and what happened there; none at the start.
    origin: Option<(usize, A)>,
    cost: u32,
    next: NextState,
}

/// State that follows if nothing goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextState {
    /// The state is still to be visited.
    Unvisited,
    End,
    /// Its number, and the time until then.
    After(u32, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettlingTime {
    Unknown,
    /// On the path of the state being followed: meeting it again is a cycle.
    Underway,
    After(u64),
}

#[derive(Debug)]
struct StateExplorer<'a, W: ExploredWorld> {
    world: &'a mut W,
    visits: IndexMap<W::Key, StateVisit<W::Action>, BuildHasherDefault<WordHasher>>,
    /// States to be visited, with their cost when they were found.
    queue: VecDeque<(usize, u32)>,
    steps: u64,
    /// State that is looked at, and what happens in it.
    at: (usize, Option<W::Action>),
}

/// Visits all states of a world, at most `states_max`.
pub fn explore<W: ExploredWorld>(world: &mut W, states_max: usize) -> ExploredStates<W::Action> {
    let start = world.start();
    let mut explorer = StateExplorer {
        visits: IndexMap::default(),
        queue: VecDeque::new(),
        steps: 0,
        at: (0, None),
        world,
    };
    explorer.find(&start, None, 0);
    let visited = catch_failure(|| explorer.visit(states_max));
    let is_whole = visited.is_ok() && explorer.queue.is_empty();
    let settled = visited
        .map_err(|failure| explorer.counterexample(failure))
        .and_then(|()| catch_failure(|| explorer.settle()).map_err(|it| explorer.endless(it)));
    ExploredStates {
        states: explorer.visits.len(),
        steps: explorer.steps,
        depth: explorer.visits.values().map(|visit| visit.cost).max().unwrap_or(0),
        is_whole,
        patience: *settled.as_ref().unwrap_or(&0),
        counterexample: settled.err(),
    }
}

impl<W: ExploredWorld> StateExplorer<'_, W> {
    /// Number of a state that was found, which is queued if it is new or has become cheaper.
    fn find(&mut self, state: &W::State, origin: Option<(usize, W::Action)>, cost: u32) -> usize {
        let key = self.world.key(state);
        let before = origin.as_ref().map_or(0, |(before, _)| self.visited(*before).cost);
        let entry = self.visits.entry(key);
        let number = entry.index();
        let visit = entry.or_insert(StateVisit {
            origin: None,
            cost: u32::MAX,
            next: NextState::Unvisited,
        });
        if cost < visit.cost {
            (visit.cost, visit.origin, visit.next) = (cost, origin, NextState::Unvisited);
            if cost == before {
                self.queue.push_front((number, cost));
            } else {
                self.queue.push_back((number, cost));
            }
        }
        number
    }

    fn visited(&self, number: usize) -> &StateVisit<W::Action> {
        match self.visits.get_index(number) {
            Some((_, visit)) => visit,
            None => unreachable!("a number is that of a state that was found: {number}"),
        }
    }

    fn state(&self, number: usize) -> W::State {
        match self.visits.get_index(number) {
            Some((key, _)) => self.world.state(key),
            None => unreachable!("a number is that of a state that was found: {number}"),
        }
    }

    /// Visits the cheapest states first.
    fn visit(&mut self, states_max: usize) {
        while self.visits.len() < states_max
            && let Some((number, cost)) = self.queue.pop_front()
        {
            let visit = self.visited(number);
            if visit.cost < cost || visit.next != NextState::Unvisited {
                continue;
            }
            let state = self.state(number);
            let without_faults = self.world.without_faults(&state);
            // A state whose next action cannot happen is no end: it is run, and must be at rest.
            let mut next =
                if without_faults.is_some() { NextState::Unvisited } else { NextState::End };
            for action in self.world.actions(&state) {
                let cost = cost + self.world.cost(&action);
                if cost > self.world.cost_max() {
                    continue;
                }
                self.at = (number, Some(action.clone()));
                let Some((after, time)) = self.world.after(&state, &action) else { continue };
                self.steps += 1;
                let is_next = without_faults.as_ref() == Some(&action);
                let found = self.find(&after, Some((number, action)), cost);
                if is_next {
                    next = NextState::After(u32::try_from(found).unwrap_or(u32::MAX), time);
                }
            }
            if let Some((_, visit)) = self.visits.get_index_mut(number) {
                visit.next = next;
            }
        }
    }

    /// Longest time until rest, from any state. Where states follow each other in a circle, the world
    /// must be at rest in all of them.
    fn settle(&mut self) -> u64 {
        let mut times = vec![SettlingTime::Unknown; self.visits.len()];
        let mut longest = 0;
        for begin in 0..self.visits.len() {
            self.at = (begin, None);
            longest = longest.max(self.follow(begin, &mut times));
        }
        longest
    }

    fn follow(&self, begin: usize, times: &mut [SettlingTime]) -> u64 {
        let (mut way, mut at) = (Vec::new(), begin);
        let mut time = loop {
            let Some(known) = times.get_mut(at) else { unreachable!("every state has a place") };
            match *known {
                SettlingTime::After(time) => break time,
                SettlingTime::Underway => {
                    let place = way.iter().position(|before| *before == at).unwrap_or(0);
                    for again in way.drain(place..) {
                        self.world.check_rest(&self.state(again));
                        set(times, again, 0);
                    }
                    break 0;
                }
                SettlingTime::Unknown => *known = SettlingTime::Underway,
            }
            way.push(at);
            match self.visited(at).next {
                NextState::After(next, _) => at = next as usize,
                NextState::End => break 0,
                NextState::Unvisited => break self.run(at),
            }
        };
        for at in way.into_iter().rev() {
            if let NextState::After(_, wait) = self.visited(at).next {
                time += wait;
            }
            set(times, at, time);
        }
        time
    }

    /// Time until rest by running, for a state that was not visited.
    fn run(&self, number: usize) -> u64 {
        let (mut state, mut time) = (self.state(number), 0);
        for _ in 0..STEPS_MAX {
            let Some(action) = self.world.without_faults(&state) else { return time };
            let Some((next, wait)) = self.world.after(&state, &action) else { break };
            (state, time) = (next, time + wait);
        }
        self.world.check_rest(&state);
        time
    }

    fn counterexample(&self, failure: LawFailure) -> Counterexample<W::Action> {
        let (mut number, last) = self.at.clone();
        let mut actions = Vec::from_iter(last);
        while let Some((before, action)) = &self.visited(number).origin {
            actions.push(action.clone());
            number = *before;
        }
        actions.reverse();
        Counterexample { failure, faulty: actions.len(), actions }
    }

    /// History of a state that comes to no rest, up to where it begins anew.
    fn endless(&mut self, failure: LawFailure) -> Counterexample<W::Action> {
        let mut history = self.counterexample(failure);
        let (mut state, mut seen) = (self.state(self.at.0), IndexSet::new());
        while seen.insert(self.world.key(&state))
            && seen.len() <= STEPS_MAX
            && let Some(action) = self.world.without_faults(&state)
        {
            let after = catch_failure(|| self.world.after(&state, &action));
            history.actions.push(action);
            let Ok(Some((next, _))) = after else { break };
            state = next;
        }
        history
    }
}

fn set(times: &mut [SettlingTime], at: usize, time: u64) {
    if let Some(place) = times.get_mut(at) {
        *place = SettlingTime::After(time);
    }
}

/// Different parts of states, numbered in the order in which they were found.
#[derive(Debug)]
pub struct PartNumbers<T> {
    parts: IndexSet<Rc<T>, BuildHasherDefault<WordHasher>>,
    /// Numbers by address: most parts of a state are those of the state before.
    numbers: IndexMap<*const T, u32, BuildHasherDefault<WordHasher>>,
}

impl<T> Default for PartNumbers<T> {
    fn default() -> Self {
        Self { parts: IndexSet::default(), numbers: IndexMap::default() }
    }
}

impl<T: Eq + Hash> PartNumbers<T> {
    pub fn number(&mut self, part: &Rc<T>) -> u32 {
        if let Some(number) = self.numbers.get(&Rc::as_ptr(part)) {
            return *number;
        }
        let (number, is_new) = self.parts.insert_full(Rc::clone(part));
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        if is_new {
            self.numbers.insert(Rc::as_ptr(part), number);
        }
        number
    }

    pub fn part(&self, number: u32) -> Rc<T> {
        match self.parts.get_index(number as usize) {
            Some(part) => Rc::clone(part),
            None => unreachable!("a number is that of a part: {number}"),
        }
    }
}

/// Multiplies and folds each word into the next; an exploration takes a third longer with the standard
/// hasher. The factor is 2⁶⁴ divided by the golden ratio.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts to three, from where the next step cannot happen.
    struct StuckWorld;

    impl ExploredWorld for StuckWorld {
        type State = u64;
        type Action = ();
        type Key = u64;

        fn start(&self) -> u64 {
            0
        }

        fn key(&mut self, state: &u64) -> u64 {
            *state
        }

        fn state(&self, key: &u64) -> u64 {
            *key
        }

        fn actions(&self, _: &u64) -> Vec<()> {
            vec![()]
        }

        fn cost(&self, (): &()) -> u32 {
            0
        }

        fn cost_max(&self) -> u32 {
            0
        }

        fn after(&self, state: &u64, (): &()) -> Option<(u64, u64)> {
            (*state < 3).then_some((*state + 1, 1))
        }

        fn without_faults(&self, _: &u64) -> Option<()> {
            Some(())
        }

        fn check_rest(&self, state: &u64) {
            assert!(*state != 3, "no rest");
        }
    }

    #[test]
    fn a_state_whose_next_action_cannot_happen_is_no_end() {
        let found = explore(&mut StuckWorld, 100);
        assert_eq!((found.states, found.steps), (4, 3));
        let broken = found.counterexample.unwrap();
        assert!(broken.failure.text.contains("no rest"), "{broken:?}");
    }
}
