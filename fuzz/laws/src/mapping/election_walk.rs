//! The walk through an election: all states within the bounds of a plan, and from each of them the
//! way to rest, once nothing goes wrong any more.

use std::collections::VecDeque;
use std::rc::Rc;

use indexmap::IndexSet;
use simulator::mapping::{MappedRoutes, NetworkMapper};
use simulator::topology::NodeId;

use super::election::{ElectionAction, ElectionPlan, ElectionState, PacketFlight};
use super::mapped_network::MappedNetwork;

/// States that were visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElectionStates {
    pub states: usize,
    /// Steps from one to another, or to itself.
    pub steps: usize,
    /// Different states of interfaces, of which the states are made.
    pub machines: usize,
    /// Periods that pass, once nothing goes wrong any more, until the network is at rest: in the
    /// worst of the states.
    pub patience: u64,
    /// True if these are all that there are within the bounds.
    pub is_whole: bool,
}

/// Numbers of machines and routes by hosts, cut cables, packets.
type ElectionKey = Box<[u32]>;

const NOWHERE: u32 = u32::MAX;

#[derive(Debug)]
struct ElectionWalk<'a> {
    plan: &'a ElectionPlan,
    start: ElectionState<'a>,
    machines: IndexSet<Rc<NetworkMapper>>,
    routes: IndexSet<Rc<MappedRoutes>>,
    packets: IndexSet<Rc<PacketFlight>>,
    keys: IndexSet<ElectionKey>,
    visits: Vec<StateVisit>,
}

#[derive(Debug)]
struct StateVisit {
    origin: (u32, ElectionAction),
    faults: u8,
    /// State that follows if nothing goes wrong, and the time until then.
    next: Option<(u32, u64)>,
}

/// Visits all states of a plan, at most `states_max`.
///
/// # Errors
/// The law that is broken, and how.
pub fn walk(plan: &ElectionPlan, states_max: usize) -> Result<ElectionStates, String> {
    let start = ElectionState::new(plan).ok_or("a plan has hosts")?;
    let mut walk = ElectionWalk {
        plan,
        start,
        machines: IndexSet::new(),
        routes: IndexSet::new(),
        packets: IndexSet::new(),
        keys: IndexSet::new(),
        visits: Vec::new(),
    };
    let mut found = walk.visit(states_max)?;
    found.patience = walk.ends()? / plan.parameters.period;
    (found.states, found.machines) = (walk.keys.len(), walk.machines.len());
    Ok(found)
}

fn number<T: std::hash::Hash + Eq>(values: &mut IndexSet<T>, value: T) -> u32 {
    u32::try_from(values.insert_full(value).0).unwrap_or(NOWHERE)
}

impl<'a> ElectionWalk<'a> {
    fn number(&mut self, state: &ElectionState<'_>) -> u32 {
        let mut key = Vec::new();
        for (machine, routes) in state.network.machines.values().zip(state.network.routes.values())
        {
            key.push(number(&mut self.machines, Rc::clone(machine)));
            key.push(number(&mut self.routes, Rc::clone(routes)));
        }
        key.push(state.network.cut.iter().fold(0, |cut, cable| cut | 1 << cable));
        key.push(u32::try_from(state.held.len()).unwrap_or(NOWHERE));
        for packet in state.held.iter().chain(&state.path) {
            key.push(number(&mut self.packets, Rc::clone(packet)));
        }
        number(&mut self.keys, key.into())
    }

    fn state(&self, number: u32) -> Option<ElectionState<'a>> {
        let mut state = self.start.clone();
        let mut numbers = self.keys.get_index(number as usize)?.iter().map(|it| *it as usize);
        let hosts: Vec<NodeId> = state.network.topology.hosts().collect();
        for host in hosts {
            let machine = self.machines.get_index(numbers.next()?)?;
            state.network.machines.insert(host, Rc::clone(machine));
            let routes = self.routes.get_index(numbers.next()?)?;
            state.network.routes.insert(host, Rc::clone(routes));
        }
        let cut = numbers.next()?;
        state.network.cut = (0..32).filter(|cable| cut >> cable & 1 == 1).collect();
        let held = numbers.next()?;
        let packet = |number: usize| self.packets.get_index(number).map(Rc::clone);
        state.held = numbers.by_ref().take(held).filter_map(packet).collect();
        state.path = numbers.filter_map(packet).collect();
        Some(state)
    }

    /// Visits the states with the fewest faults first.
    fn visit(&mut self, states_max: usize) -> Result<ElectionStates, String> {
        let mut found = ElectionStates::default();
        let start = self.start.clone();
        let first = self.number(&start);
        self.visits.push(StateVisit {
            origin: (NOWHERE, ElectionAction::GoOn),
            faults: 0,
            next: None,
        });
        let mut queue = VecDeque::from([(first, 0)]);
        while let Some((number, faults)) = queue.pop_front() {
            let visit = self.visits.get(number as usize);
            if visit.is_none_or(|visit| visit.faults < faults || visit.next.is_some()) {
                continue;
            }
            if self.keys.len() > states_max {
                return Ok(found);
            }
            let Some(state) = self.state(number) else { continue };
            let others = state.actions(self.plan).into_iter();
            for action in std::iter::once(ElectionAction::GoOn).chain(others) {
                let cost = u8::from(matches!(action, ElectionAction::Fault(_)));
                if faults + cost > self.plan.faults {
                    continue;
                }
                let (after, time) = state.after(&action, self.plan).map_err(|wrong| {
                    format!("{wrong}, after {:#?} and {action:?}", self.way_to(number))
                })?;
                found.steps += 1;
                let known = self.keys.len();
                let next = self.number(&after);
                if action == ElectionAction::GoOn
                    && let Some(visit) = self.visits.get_mut(number as usize)
                {
                    visit.next = Some((next, time));
                }
                let origin = (number, action);
                let faults = faults + cost;
                if self.keys.len() > known {
                    self.visits.push(StateVisit { origin, faults, next: None });
                } else if let Some(visit) = self.visits.get_mut(next as usize)
                    && visit.faults > faults
                {
                    (visit.faults, visit.origin) = (faults, origin);
                } else {
                    continue;
                }
                if cost == 0 {
                    queue.push_front((next, faults));
                } else {
                    queue.push_back((next, faults));
                }
            }
        }
        found.is_whole = true;
        Ok(found)
    }

    /// Longest time until rest, from any state. Where states follow each other in a circle, the
    /// network must be at rest in all of them.
    fn ends(&self) -> Result<u64, String> {
        let mut times: Vec<Option<u64>> = vec![None; self.visits.len()];
        let mut longest = 0;
        for begin in 0..self.visits.len() {
            let (mut way, mut at) = (IndexSet::new(), begin);
            while times.get(at) == Some(&None) && way.insert(at) {
                let next = self.visits.get(at).and_then(|visit| visit.next);
                let Some((next, _)) = next else { break };
                at = next as usize;
            }
            // The end of the way may be unvisited: then nothing is known of it.
            let circle = way.get_index_of(&at).unwrap_or(way.len());
            let mut time = times.get(at).copied().flatten().unwrap_or(0);
            for (place, at) in way.iter().enumerate().rev() {
                let next = self.visits.get(*at).and_then(|visit| visit.next);
                let Some((_, wait)) = next else { continue };
                if place >= circle {
                    self.is_at_rest(*at)?;
                } else {
                    time += wait;
                }
                if let Some(known) = times.get_mut(*at) {
                    *known = Some(time);
                }
            }
            longest = longest.max(time);
        }
        Ok(longest)
    }

    fn is_at_rest(&self, at: usize) -> Result<(), String> {
        let number = u32::try_from(at).unwrap_or(NOWHERE);
        let Some(state) = self.state(number) else { return Ok(()) };
        MappedNetwork::check(&state.network, |_| ())
            .map_err(|wrong| format!("{wrong}, for ever after {:#?}", self.way_to(number)))
    }

    fn way_to(&self, mut number: u32) -> Vec<&ElectionAction> {
        let mut actions = Vec::new();
        while let Some(visit) = self.visits.get(number as usize)
            && visit.origin.0 != NOWHERE
        {
            actions.push(&visit.origin.1);
            number = visit.origin.0;
        }
        actions.reverse();
        actions
    }
}
