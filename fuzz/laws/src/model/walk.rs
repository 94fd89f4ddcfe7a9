//! The walk through all states of a plan.

use super::plan::{FaultBounds, ModelPlan};
use super::state::{ModelAction, ModelState};
use crate::explorer::{ExploredStates, ExploredWorld, PartNumbers, explore};
use crate::transport::checker::{NicRecord, TransportRecord};
use crate::transport::world::{TransportPath, WorldHost};

#[derive(Debug)]
struct ModelWalk<'a> {
    plan: &'a ModelPlan,
    start: ModelState,
    hosts: PartNumbers<WorldHost>,
    paths: PartNumbers<TransportPath>,
    sides: PartNumbers<NicRecord>,
    accounts: PartNumbers<Vec<TransportRecord>>,
}

/// Visits all states of a plan, at most `states_max`.
pub fn walk(plan: &ModelPlan, states_max: usize) -> ExploredStates<ModelAction> {
    let mut walk = ModelWalk {
        plan,
        start: ModelState::new(plan),
        hosts: PartNumbers::default(),
        paths: PartNumbers::default(),
        sides: PartNumbers::default(),
        accounts: PartNumbers::default(),
    };
    explore(&mut walk, states_max)
}

impl ExploredWorld for ModelWalk<'_> {
    type State = ModelState;
    type Action = ModelAction;
    /// Hosts, their sides of the ledger, the paths between them, and the accounts; what may go wrong.
    type Key = ([u32; 7], FaultBounds);

    fn start(&self) -> ModelState {
        self.start.clone()
    }

    fn key(&mut self, ModelState { world, left }: &ModelState) -> Self::Key {
        let hosts = world.hosts.iter().map(|host| self.hosts.number(host));
        let sides = world.checker.sides.iter().map(|side| self.sides.number(side));
        // A NIC sends nothing to itself.
        let paths = [1, 2].into_iter().filter_map(|place| world.paths.get(place));
        let paths = paths.map(|path| self.paths.number(path));
        let accounts = self.accounts.number(&world.checker.accounts);
        let mut key = [0; 7];
        let numbers = hosts.chain(sides).chain(paths).chain([accounts]);
        key.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
        (key, *left)
    }

    fn state(&self, (numbers, left): &Self::Key) -> ModelState {
        let [left_host, right_host, left_side, right_side, to_right, to_left, accounts] = *numbers;
        let mut world = self.start.world.clone();
        world.hosts = vec![self.hosts.part(left_host), self.hosts.part(right_host)];
        world.checker.sides = vec![self.sides.part(left_side), self.sides.part(right_side)];
        if let [_, right, left, ..] = world.paths.as_mut_slice() {
            (*right, *left) = (self.paths.part(to_right), self.paths.part(to_left));
        }
        world.checker.accounts = self.accounts.part(accounts);
        ModelState { world, left: *left }
    }

    fn actions(&self, state: &ModelState) -> Vec<ModelAction> {
        state.actions()
    }

    fn cost(&self, _: &ModelAction) -> u32 {
        1
    }

    fn cost_max(&self) -> u32 {
        u32::MAX
    }

    fn after(&self, state: &ModelState, action: &ModelAction) -> Option<(ModelState, u64)> {
        let mut next = state.after(self.plan, *action)?;
        next.world.rewind();
        Some((next, u64::from(*action == ModelAction::Tick)))
    }

    fn without_faults(&self, state: &ModelState) -> Option<ModelAction> {
        state.without_faults()
    }

    fn check_rest(&self, state: &ModelState) {
        let is_over = state.without_faults().is_none();
        assert!(is_over, "nothing goes wrong any more, and it never ends (property 3)");
    }
}
