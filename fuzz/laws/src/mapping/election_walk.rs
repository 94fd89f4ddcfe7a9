//! The walk through an election: all states within the bounds of a plan, and from each of them the
//! way to rest, once nothing goes wrong any more.

use simulator::mapping::{MappedRoutes, NetworkMapper};

use super::election::{ElectionAction, ElectionPlan, ElectionState, PacketFlight};
use crate::explorer::{ExploredStates, ExploredWorld, PartNumbers, explore};

#[derive(Debug)]
struct ElectionWalk<'a> {
    plan: &'a ElectionPlan,
    start: ElectionState<'a>,
    machines: PartNumbers<NetworkMapper>,
    routes: PartNumbers<MappedRoutes>,
    packets: PartNumbers<PacketFlight>,
}

/// Visits all states of a plan, at most `states_max`; none if an interface has no address.
pub fn walk(plan: &ElectionPlan, states_max: usize) -> Option<ExploredStates<ElectionAction>> {
    let mut walk = ElectionWalk {
        plan,
        start: ElectionState::new(plan)?,
        machines: PartNumbers::default(),
        routes: PartNumbers::default(),
        packets: PartNumbers::default(),
    };
    Some(explore(&mut walk, states_max))
}

impl<'a> ExploredWorld for ElectionWalk<'a> {
    type State = ElectionState<'a>;
    type Action = ElectionAction;
    /// Numbers of machines and routes by hosts, cut cables, packets.
    type Key = Box<[u32]>;

    fn start(&self) -> Self::State {
        self.start.clone()
    }

    fn key(&mut self, state: &Self::State) -> Self::Key {
        let mut key = Vec::new();
        let network = &state.network;
        for (machine, routes) in network.machines.values().zip(network.routes.values()) {
            key.push(self.machines.number(machine));
            key.push(self.routes.number(routes));
        }
        key.push(network.cut.iter().fold(0, |cut, cable| cut | 1 << cable));
        key.push(u32::try_from(state.held.len()).unwrap_or(u32::MAX));
        key.extend(state.held.iter().chain(&state.path).map(|it| self.packets.number(it)));
        key.into()
    }

    fn state(&self, key: &Self::Key) -> Self::State {
        let mut state = self.start.clone();
        let network = &mut state.network;
        let mut numbers = key.iter().copied();
        let mut next =
            || numbers.next().unwrap_or_else(|| unreachable!("a key has a number for each part"));
        for (machine, routes) in network.machines.values_mut().zip(network.routes.values_mut()) {
            *machine = self.machines.part(next());
            *routes = self.routes.part(next());
        }
        let cut = next();
        network.cut = (0..32).filter(|cable| cut >> cable & 1 == 1).collect();
        let held = next() as usize;
        let packet = |number| self.packets.part(number);
        state.held = numbers.by_ref().take(held).map(packet).collect();
        state.path = numbers.map(packet).collect();
        state
    }

    fn actions(&self, state: &Self::State) -> Vec<ElectionAction> {
        state.actions(self.plan)
    }

    fn cost(&self, action: &ElectionAction) -> u32 {
        u32::from(matches!(action, ElectionAction::Fault(_)))
    }

    fn cost_max(&self) -> u32 {
        self.plan.faults.into()
    }

    fn after(&self, state: &Self::State, action: &ElectionAction) -> Option<(Self::State, u64)> {
        Some(state.after(action, self.plan))
    }

    fn without_faults(&self, _: &Self::State) -> Option<ElectionAction> {
        Some(ElectionAction::GoOn)
    }

    fn check_rest(&self, state: &Self::State) {
        assert_eq!(state.network.check(|_| ()), Ok(()), "the network is at rest for ever");
    }
}
