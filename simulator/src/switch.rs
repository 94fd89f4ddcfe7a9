//! A switch: connects the packets at its inputs to its outputs. S-1..S-7

pub(crate) mod cut_through;
pub(crate) mod extension;
pub(crate) mod multicast;

use codec::route::{PortId, RouteError};

use self::cut_through::CutThrough;
use self::extension::{ExtensionJob, SwitchExtension};
use crate::arbitration::{InputOrder, OutputState, PortBits, WaitingInputs, bit};
use crate::arena::{PartArena, PartNumber, SwitchId, UnitId};
use crate::link::tagged_char::PacketId;
use crate::topology::{ExtensionSupport, NodeId, SwitchParameters, SwitchRole};
use crate::truth::RuleId;

/// A switch, which has transient state only. S-7
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    node: NodeId,
    parameters: SwitchParameters,
    inputs: InputOrder,
    /// Index of the port unit at each port with a cable, and at each virtual channel of a port.
    units: PartArena<PortId, Option<UnitId>>,
    outputs: PartArena<PortId, OutputArbiter>,
    /// Inputs, one bit each, whose first byte is decoded.
    ready: PortBits,
    /// Free outputs, one bit each, with a request.
    contested: PortBits,
    /// Outputs, one bit each, whose input was reset. R-3
    severed: PortBits,
    /// Requests for outputs that were held or requested already.
    conflicts: u64,
    /// State of the extensions, if it has them. S-8, S-9
    extension: Option<Box<SwitchExtension>>,
}

/// The switches of a network.
pub(crate) type SwitchArena = PartArena<SwitchId, Switch>;

/// An output: the input connected to it, and those that request it. S-5
#[derive(Clone, Debug)]
struct OutputArbiter {
    /// The connected input.
    owner: Option<PortId>,
    /// Requesting inputs, one bit each.
    requests: PortBits,
    policy: OutputState,
}

/// State of an input. S-3
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SwitchInputState {
    Empty,
    /// Storing a packet as a whole. B-2
    Storing,
    /// Decoding the first byte, until this period. S-6
    Decoding(u64),
    /// The first byte is decoded.
    Ready,
    /// Waiting for an output. S-5
    Waiting(PortId),
    /// Connected to an output.
    Connected(PortId, CutThrough),
    /// Dropping a packet. S-1, S-2
    Discarding,
    /// Handled by the extensions. S-8, S-9
    Extended,
}

/// The rule by which a packet is dropped at a switch. S-1, S-2
pub(crate) const fn rule_of(error: RouteError) -> RuleId {
    match error {
        RouteError::Tag { .. } => RuleId("S-2"),
        RouteError::BitSix { .. } | RouteError::NoPort { .. } => RuleId("S-1"),
    }
}

impl Switch {
    /// A switch after power-up.
    pub(crate) fn new(node: NodeId, parameters: SwitchParameters, channels: u8) -> Self {
        let SwitchParameters { ports, token_step, .. } = parameters;
        let inputs = InputOrder { ports, channels, step: token_step.into() };
        let output = |port| {
            let first = parameters.opposite(PortId(port)).map_or(0, |input| input.0);
            OutputArbiter { owner: None, requests: 0, policy: parameters.arbitration.start(first) }
        };
        let outputs: PartArena<_, _> = (0..inputs.end()).map(output).collect();
        let units = outputs.iter().map(|_| None).collect();
        let extension = match parameters.extensions {
            ExtensionSupport::Off => None,
            ExtensionSupport::On | ExtensionSupport::Computer => Some(Box::default()),
        };
        let (ready, contested, severed) = (0, 0, 0);
        Self {
            node,
            parameters,
            inputs,
            units,
            outputs,
            ready,
            contested,
            severed,
            conflicts: 0,
            extension,
        }
    }
    pub(crate) const fn conflicts(&self) -> u64 {
        self.conflicts
    }
    pub(crate) const fn node(&self) -> NodeId {
        self.node
    }
    pub(crate) const fn parameters(&self) -> &SwitchParameters {
        &self.parameters
    }

    pub(crate) fn cable(&mut self, port: PortId, unit: UnitId) {
        self.units[port] = Some(unit);
    }

    /// The port unit at a port, if it has a cable.
    pub(crate) fn unit(&self, port: PortId) -> Option<UnitId> {
        self.units[port]
    }

    /// The port unit of an input with a packet, or of an output that it goes to.
    #[expect(
        clippy::expect_used,
        reason = "no packet comes from a port without a cable, or goes there"
    )]
    pub(crate) fn cabled(&self, port: PortId) -> UnitId {
        self.unit(port).expect("a port with a packet has a cable")
    }

    /// True if it has nothing to decide in a period.
    #[inline]
    pub(crate) const fn is_calm(&self) -> bool {
        self.ready | self.contested | self.severed == 0
    }

    /// Records that an input has decoded its first byte.
    pub(crate) const fn decoded(&mut self, input: PortId) {
        self.ready |= bit(input);
    }

    /// Inputs decoded and not taken yet, lowest first.
    pub(crate) fn ready(&self) -> impl Iterator<Item = PortId> + use<> {
        bits(self.ready)
    }

    /// Inputs decoded since the last call, lowest first.
    pub(crate) fn take_ready(&mut self) -> impl Iterator<Item = PortId> + use<> {
        bits(std::mem::take(&mut self.ready))
    }

    /// Outputs whose input was reset since the last call, lowest first; releases them. R-3
    pub(crate) fn take_severed(&mut self) -> impl Iterator<Item = PortId> + use<> {
        let severed = std::mem::take(&mut self.severed);
        bits(severed).for_each(|output| self.release(output));
        bits(severed)
    }

    /// Requests an output for an input. S-5
    pub(crate) fn request(&mut self, input: PortId, output: PortId, now: u64) {
        let arbiter = &mut self.outputs[output];
        arbiter.policy.get_mut().request(now, input);
        self.conflicts += u64::from(arbiter.owner.is_some() || arbiter.requests != 0);
        arbiter.requests |= bit(input);
        if arbiter.owner.is_none() {
            self.contested |= bit(output);
        }
    }

    /// Resets an input: withdraws its request or ends its connection; returns the packet whose
    /// first byte is lost. R-3
    pub(crate) fn reset(&mut self, port: PortId, input: &SwitchInputState) -> Option<PacketId> {
        self.ready &= !bit(port);
        match input {
            SwitchInputState::Waiting(output) => self.withdraw(port, *output),
            SwitchInputState::Connected(output, transit) => {
                self.sever(*output);
                return transit.head();
            }
            SwitchInputState::Extended => {
                let job = self.extension.as_mut()?.end(port)?;
                if let ExtensionJob::Copying(multicast) = &job {
                    multicast
                        .request()
                        .into_iter()
                        .for_each(|arbiter| self.withdraw(port, arbiter));
                    multicast.outputs().for_each(|output| self.sever(output));
                }
                return job.head();
            }
            SwitchInputState::Empty
            | SwitchInputState::Storing
            | SwitchInputState::Decoding(_)
            | SwitchInputState::Ready
            | SwitchInputState::Discarding => {}
        }
        None
    }

    /// Marks an output whose packet must be ended. R-3
    pub(crate) const fn sever(&mut self, output: PortId) {
        self.severed |= bit(output);
    }

    /// The input connected to an output.
    pub(crate) fn owner(&self, output: PortId) -> Option<PortId> {
        self.outputs[output].owner
    }

    pub(crate) fn extension(&self) -> Option<&SwitchExtension> {
        self.extension.as_deref()
    }

    pub(crate) fn extension_mut(&mut self) -> Option<&mut SwitchExtension> {
        self.extension.as_deref_mut()
    }

    fn withdraw(&mut self, input: PortId, output: PortId) {
        let arbiter = &mut self.outputs[output];
        arbiter.withdraw(input, self.inputs);
        if arbiter.requests == 0 {
            self.contested &= !bit(output);
        }
    }

    /// Frees an output after the framing mark. S-3, S-5
    pub(crate) fn release(&mut self, output: PortId) {
        let (inputs, role) = (self.inputs, self.parameters.role);
        let free = &mut self.outputs[output];
        if let Some(owner) = free.owner.take() {
            free.policy.get_mut().release(match role {
                SwitchRole::Crossbar => inputs.after(owner.0),
                SwitchRole::FibreEnd | SwitchRole::Router => owner.0,
            });
            if free.requests != 0 {
                self.contested |= bit(output);
            }
        }
    }

    /// Moves the tokens as in the periods before `now`, in which no input was served. S-5
    pub(crate) fn catch_up(&mut self, now: u64) {
        for output in bits(self.contested) {
            let arbiter = &mut self.outputs[output];
            let waiting = arbiter.waiting(self.inputs);
            arbiter.policy.get_mut().catch_up(now, &waiting);
        }
    }

    /// The period, from `next` on, in which it has something to decide, if nothing happens before.
    pub(crate) fn due(&self, next: u64) -> Option<u64> {
        if self.ready | self.severed != 0 {
            return Some(next);
        }
        let due = |output| {
            let arbiter: &OutputArbiter = &self.outputs[output];
            arbiter.policy.get().due(next, &arbiter.waiting(self.inputs))
        };
        bits(self.contested).filter_map(due).min()
    }

    /// Serves inputs in a period, and calls `granted` with each connection. S-5
    pub(crate) fn arbitrate(&mut self, now: u64, granted: &mut impl FnMut(PortId, PortId)) {
        for output in bits(self.contested) {
            if let Some(input) = self.outputs[output].step(now, self.inputs) {
                self.contested &= !bit(output);
                granted(input, output);
            }
        }
    }

    /// Loses all state. S-7
    pub(crate) fn power_off(&mut self) {
        let units = std::mem::take(&mut self.units);
        let mut extension = self.extension.take();
        // The packets that it holds end when its ports lose their power, each at its own.
        extension.iter_mut().for_each(|extension| extension.power_off());
        let conflicts = self.conflicts;
        *self = Self {
            units,
            extension,
            conflicts,
            ..Self::new(self.node, self.parameters, self.inputs.channels)
        };
    }
}

impl OutputArbiter {
    const fn waiting(&self, order: InputOrder) -> WaitingInputs {
        WaitingInputs { requests: self.requests, order }
    }

    fn withdraw(&mut self, input: PortId, order: InputOrder) {
        self.requests &= !bit(input);
        let waiting = self.waiting(order);
        self.policy.get_mut().withdraw(&waiting);
    }

    /// Serves an input in a period, if it chooses one.
    fn step(&mut self, now: u64, order: InputOrder) -> Option<PortId> {
        let waiting = self.waiting(order);
        let input = self.policy.get_mut().choose(now, &waiting)?;
        self.owner = Some(input);
        self.withdraw(input, order);
        Some(input)
    }
}

impl PartNumber for PortId {
    fn at(place: usize) -> Self {
        Self(u8::try_from(place).unwrap_or(u8::MAX))
    }

    /// The place of a port, or of a virtual channel of it. C-7
    fn place(self) -> usize {
        (self.0 & 0x7f).into()
    }
}

fn bits(mut set: PortBits) -> impl Iterator<Item = PortId> {
    std::iter::from_fn(move || {
        let lowest = set.checked_sub(1).map(|_| set.trailing_zeros())?;
        set &= set - 1;
        u8::try_from(lowest).ok().map(PortId)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use codec::route::RouteAddressing;

    fn switch(ports: u8) -> Switch {
        Switch::new(NodeId(0), SwitchParameters::new(ports, RouteAddressing::Absolute), 1)
    }

    /// The connections made in some periods: time, input, output.
    fn grants(switch: &mut Switch, periods: std::ops::Range<u64>) -> Vec<(u64, u8, u8)> {
        let mut grants = Vec::new();
        for now in periods {
            switch.arbitrate(now, &mut |input, output| grants.push((now, input.0, output.0)));
        }
        grants
    }

    #[test]
    fn the_token_stays_at_an_input_for_two_periods() {
        // S-5: parked at input 0, it reaches input n after 2·(n + 1) periods, 16 at most.
        for input in 0..8 {
            let mut switch = switch(8);
            switch.request(PortId(input), PortId(3), 0);
            let expected = vec![(100 + 2 * (u64::from(input) + 1), input, 3)];
            assert_eq!(grants(&mut switch, 100..140), expected);
        }
    }

    #[test]
    fn the_token_is_parked_behind_the_input_served_last() {
        // S-5: inputs 0, 1 and 2 ask at once and again; each gets its turn before any gets a second.
        let mut switch = switch(4);
        let mut now = 0;
        let mut served = Vec::new();
        for _ in 0..9 {
            (0..3).for_each(|input| switch.request(PortId(input), PortId(3), 0));
            let (at, input, _) = grants(&mut switch, now..now + 9)[0];
            served.push((at - now, input));
            switch.release(PortId(3));
            now = at + 1;
        }
        // From input 2 the token passes input 3 on its way back to input 0.
        let round = [(2, 0), (2, 1), (2, 2), (4, 0), (2, 1), (2, 2), (4, 0), (2, 1), (2, 2)];
        assert_eq!(served, round);
    }

    #[test]
    fn a_token_moved_at_once_is_where_single_periods_take_it() {
        // A second request comes at any time while the token is on its way to the first.
        for (first, second, at) in (0..8).flat_map(|first| {
            (0..8).flat_map(move |second| (1..20).map(move |at| (first, second, at)))
        }) {
            let mut stepped = switch(8);
            stepped.request(PortId(first), PortId(3), 0);
            let mut seldom = stepped.clone();
            let (mut expected, mut granted) = (Vec::new(), Vec::new());
            for now in 0..40 {
                let due = seldom.due(now).is_some_and(|due| due <= now);
                seldom.catch_up(if due || now == at { now } else { 0 });
                if now == at {
                    stepped.request(PortId(second), PortId(3), 0);
                    seldom.request(PortId(second), PortId(3), 0);
                }
                expected.extend(grants(&mut stepped, now..now + 1));
                if due || now == at {
                    granted.extend(grants(&mut seldom, now..now + 1));
                }
            }
            assert_eq!(granted, expected, "{first}, then {second} at {at}");
        }
    }

    #[test]
    fn outputs_are_arbitrated_at_once_and_held() {
        // S-4: any permutation; and an output that is held is not granted again.
        let mut switch = switch(4);
        [(0, 2), (1, 3), (2, 0), (3, 1)]
            .into_iter()
            .for_each(|(input, output)| switch.request(PortId(input), PortId(output), 0));
        let granted = grants(&mut switch, 0..100);
        assert_eq!(granted, [(2, 0, 2), (4, 1, 3), (6, 2, 0), (8, 3, 1)]);
        switch.request(PortId(1), PortId(2), 0);
        assert_eq!(grants(&mut switch, 100..200), []);
        switch.release(PortId(2));
        assert_eq!(grants(&mut switch, 200..300), [(202, 1, 2)]);
    }

    #[test]
    fn a_reset_input_withdraws_its_request_and_frees_its_output() {
        //
        let mut switch = switch(4);
        switch.request(PortId(1), PortId(2), 0);
        switch.reset(PortId(1), &SwitchInputState::Waiting(PortId(2)));
        assert!(switch.is_calm());
        switch.request(PortId(1), PortId(2), 0);
        assert_eq!(grants(&mut switch, 0..9), [(4, 1, 2)]);
        switch
            .reset(PortId(1), &SwitchInputState::Connected(PortId(2), CutThrough::new(0x82, None)));
        assert_eq!(switch.take_severed().collect::<Vec<_>>(), [PortId(2)]);
        switch.request(PortId(0), PortId(2), 0);
        // The token is behind input 1: it passes 2 and 3.
        assert_eq!(grants(&mut switch, 10..20), [(16, 0, 2)]);
    }

    #[test]
    fn a_request_that_is_withdrawn_leaves_the_token_on_its_way() {
        // S-5: from input 0 it comes to input 2 after four periods, and stays for two.
        let mut switch = switch(4);
        [1, 2].into_iter().for_each(|input| switch.request(PortId(input), PortId(3), 0));
        assert_eq!((switch.conflicts(), grants(&mut switch, 0..3)), (1, Vec::new()));
        switch.reset(PortId(1), &SwitchInputState::Waiting(PortId(3)));
        assert_eq!(grants(&mut switch, 3..9), [(6, 2, 3)]);
    }

    #[test]
    fn a_switch_is_calm_when_nothing_is_to_be_done() {
        let mut switch = switch(4);
        assert!(switch.is_calm());
        // The same bit in both sets.
        switch.decoded(PortId(2));
        switch.request(PortId(1), PortId(2), 0);
        assert!(!switch.is_calm());
        assert_eq!(switch.take_ready().collect::<Vec<_>>(), [PortId(2)]);
        switch.sever(PortId(2));
        assert!(!switch.is_calm());
    }
}
