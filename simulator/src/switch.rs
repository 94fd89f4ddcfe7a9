//! A switch: how packets at its inputs get their outputs. S-1..S-7

use codec::route::{PortId, RouteError};

use crate::cut_through::CutThrough;
use crate::extension::{ExtensionJob, SwitchExtension, SwitchIdentity};
use crate::tagged_char::PacketId;
use crate::topology::{ExtensionSupport, NodeId, SwitchParameters};
use crate::truth::RuleId;

/// A switch: transient state only. S-7
#[derive(Clone, Debug)]
pub struct Switch {
    node: NodeId,
    parameters: SwitchParameters,
    /// The circuit at each port, where there is a cable.
    circuits: Vec<Option<u32>>,
    outputs: Vec<OutputArbiter>,
    /// Inputs, a bit each, whose first byte has been decoded.
    ready: u32,
    /// Outputs, a bit each, that are free and asked for.
    contested: u32,
    /// Outputs, a bit each, whose input has been reset. R-3
    severed: u32,
    /// What it keeps for the extensions, if it has them. S-8, S-9
    extension: Option<Box<SwitchExtension>>,
}

/// An output's arbitration by a token that goes from input to input. S-5
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OutputArbiter {
    /// The input that it is connected to.
    owner: Option<u8>,
    /// Inputs, a bit each, that ask for it.
    requests: u32,
    /// The input at which the token is.
    token: u8,
    /// Since when it looks at that input; it is parked otherwise.
    since: Option<u64>,
}

/// What an input is doing. S-3
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchInputState {
    /// Nothing.
    Empty,
    /// Its first byte is being decoded, until this period. S-6
    Decoding(u64),
    /// Its first byte has been decoded.
    Ready,
    /// It waits for an output. S-5
    Waiting(PortId),
    /// It is connected to an output.
    Connected(PortId, CutThrough),
    /// Its packet is being dropped. S-1, S-2
    Discarding,
    /// Its packet is for the switch itself, or for several outputs. S-8, S-9
    Extended,
}

/// Why a packet is dropped at a switch, by rule. S-1, S-2
#[must_use]
pub const fn rule_of(error: RouteError) -> RuleId {
    match error {
        RouteError::Tag { .. } => RuleId("S-2"),
        RouteError::BitSix { .. } | RouteError::NoPort { .. } => RuleId("S-1"),
    }
}

impl Switch {
    /// A switch after power-up.
    #[must_use]
    pub fn new(node: NodeId, parameters: SwitchParameters) -> Self {
        let ports = usize::from(parameters.ports);
        let output = OutputArbiter { owner: None, requests: 0, token: 0, since: None };
        let (circuits, outputs) = (vec![None; ports], vec![output; ports]);
        let extension = match parameters.extensions {
            ExtensionSupport::Off => None,
            ExtensionSupport::On => Some(Box::default()),
        };
        let (ready, contested, severed) = (0, 0, 0);
        Self { node, parameters, circuits, outputs, ready, contested, severed, extension }
    }

    /// Its node.
    #[must_use]
    pub const fn node(&self) -> NodeId {
        self.node
    }

    /// Its parameters.
    #[must_use]
    pub const fn parameters(&self) -> &SwitchParameters {
        &self.parameters
    }

    /// Puts a circuit at a port.
    pub fn cable(&mut self, port: PortId, circuit: u32) {
        if let Some(place) = self.circuits.get_mut(usize::from(port.0)) {
            *place = Some(circuit);
        }
    }

    /// The circuit at a port, if there is a cable.
    #[must_use]
    pub fn circuit(&self, port: PortId) -> Option<u32> {
        self.circuits.get(usize::from(port.0)).copied().flatten()
    }

    /// Whether it has nothing to decide in a period.
    #[inline]
    #[must_use]
    pub const fn is_calm(&self) -> bool {
        self.ready | self.contested | self.severed == 0
    }

    /// Whether no free output is asked for.
    #[inline]
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.contested == 0
    }

    /// An input has decoded its first byte.
    pub const fn decoded(&mut self, input: PortId) {
        self.ready |= bit(input);
    }

    /// Inputs that have decoded their first byte since the last time, lowest first.
    pub fn take_ready(&mut self) -> impl Iterator<Item = PortId> + use<> {
        bits(std::mem::take(&mut self.ready))
    }

    /// Outputs whose input was reset since the last time, lowest first; they are free now. R-3
    pub fn take_severed(&mut self) -> impl Iterator<Item = PortId> + use<> {
        let severed = std::mem::take(&mut self.severed);
        bits(severed).for_each(|output| self.release(output));
        bits(severed)
    }

    /// An input asks for an output. S-5
    pub fn request(&mut self, input: PortId, output: PortId) {
        if let Some(asked) = self.outputs.get_mut(usize::from(output.0)) {
            asked.requests |= bit(input);
            if asked.owner.is_none() {
                self.contested |= bit(output);
            }
        }
    }

    /// An input is reset: it asks for nothing, and what it was connected to is to end. Hands back
    /// the packet whose first byte is lost. R-3
    pub fn reset(&mut self, port: PortId, input: &SwitchInputState) -> Option<PacketId> {
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
                    multicast.request().into_iter().for_each(|asked| self.withdraw(port, asked));
                    multicast.outputs().for_each(|output| self.sever(output));
                }
                return job.head();
            }
            SwitchInputState::Empty
            | SwitchInputState::Decoding(_)
            | SwitchInputState::Ready
            | SwitchInputState::Discarding => {}
        }
        None
    }

    /// An output is to end what it has sent of a packet, and to be free. R-3
    pub const fn sever(&mut self, output: PortId) {
        self.severed |= bit(output);
    }

    /// The input that an output is connected to.
    #[must_use]
    pub fn owner(&self, output: PortId) -> Option<PortId> {
        self.outputs.get(usize::from(output.0)).and_then(|output| output.owner).map(PortId)
    }

    /// Who it says it is to a packet that came in at a port. S-8
    #[must_use]
    pub const fn identity(&self, input: PortId) -> SwitchIdentity {
        SwitchIdentity::new(self.node, &self.parameters, input)
    }

    /// What it keeps for the extensions. S-8, S-9
    #[must_use]
    pub fn extension(&self) -> Option<&SwitchExtension> {
        self.extension.as_deref()
    }

    /// The same, to be changed.
    pub fn extension_mut(&mut self) -> Option<&mut SwitchExtension> {
        self.extension.as_deref_mut()
    }

    fn withdraw(&mut self, input: PortId, output: PortId) {
        if let Some(asked) = self.outputs.get_mut(usize::from(output.0)) {
            asked.requests &= !bit(input);
            if asked.requests == 0 {
                asked.since = None;
                self.contested &= !bit(output);
            }
        }
    }

    /// The framing mark has passed: the output is free, and its token parked. S-3, S-5
    pub fn release(&mut self, output: PortId) {
        let ports = self.parameters.ports;
        if let Some(free) = self.outputs.get_mut(usize::from(output.0))
            && let Some(owner) = free.owner.take()
        {
            free.token = (owner + 1) % ports;
            free.since = None;
            if free.requests != 0 {
                self.contested |= bit(output);
            }
        }
    }

    /// Moves the tokens for a period; hands back the inputs that have got their outputs. S-5
    pub fn arbitrate(&mut self, now: u64, granted: &mut impl FnMut(PortId, PortId)) {
        for output in bits(self.contested) {
            let Some(asked) = self.outputs.get_mut(usize::from(output.0)) else { continue };
            if let Some(input) = asked.step(now, &self.parameters) {
                self.contested &= !bit(output);
                granted(input, output);
            }
        }
    }

    /// The power goes: nothing is left. S-7
    pub fn power_off(&mut self) {
        let circuits = std::mem::take(&mut self.circuits);
        let mut extension = self.extension.take();
        // The packets that it holds end when its ports lose their power, each at its own.
        extension.iter_mut().for_each(|extension| extension.power_off());
        *self = Self { circuits, extension, ..Self::new(self.node, self.parameters) };
    }
}

impl OutputArbiter {
    fn step(&mut self, now: u64, parameters: &SwitchParameters) -> Option<PortId> {
        let since = *self.since.get_or_insert(now);
        if now - since < u64::from(parameters.token_step) {
            return None;
        }
        let input = PortId(self.token);
        if self.requests & bit(input) == 0 {
            self.token = (self.token + 1) % parameters.ports;
            self.since = Some(now);
            return None;
        }
        self.requests &= !bit(input);
        self.owner = Some(self.token);
        self.since = None;
        Some(input)
    }
}

const fn bit(port: PortId) -> u32 {
    1 << (port.0 & 31)
}

fn bits(mut set: u32) -> impl Iterator<Item = PortId> {
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
        Switch::new(NodeId(0), SwitchParameters::new(ports, RouteAddressing::Absolute))
    }

    /// Runs arbitration over some periods; who got which output when.
    fn grants(switch: &mut Switch, periods: std::ops::Range<u64>) -> Vec<(u64, u8, u8)> {
        let mut grants = Vec::new();
        for now in periods {
            switch.arbitrate(now, &mut |input, output| grants.push((now, input.0, output.0)));
        }
        grants
    }

    #[test]
    fn the_token_looks_at_one_input_in_two_periods() {
        // S-5: parked at input 0, it reaches input n after 2·(n + 1) periods, 16 at most.
        for input in 0..8 {
            let mut switch = switch(8);
            switch.request(PortId(input), PortId(3));
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
            (0..3).for_each(|input| switch.request(PortId(input), PortId(3)));
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
    fn outputs_are_arbitrated_at_once_and_held() {
        // S-4: any permutation; and an output that is held is not granted again.
        let mut switch = switch(4);
        [(0, 2), (1, 3), (2, 0), (3, 1)]
            .into_iter()
            .for_each(|(input, output)| switch.request(PortId(input), PortId(output)));
        let granted = grants(&mut switch, 0..100);
        assert_eq!(granted, [(2, 0, 2), (4, 1, 3), (6, 2, 0), (8, 3, 1)]);
        switch.request(PortId(1), PortId(2));
        assert_eq!(grants(&mut switch, 100..200), []);
        switch.release(PortId(2));
        assert_eq!(grants(&mut switch, 200..300), [(202, 1, 2)]);
    }

    #[test]
    fn a_reset_input_asks_no_more_and_frees_its_output() {
        //
        let mut switch = switch(4);
        switch.request(PortId(1), PortId(2));
        switch.reset(PortId(1), &SwitchInputState::Waiting(PortId(2)));
        assert!(switch.is_calm());
        switch.request(PortId(1), PortId(2));
        assert_eq!(grants(&mut switch, 0..9), [(4, 1, 2)]);
        switch
            .reset(PortId(1), &SwitchInputState::Connected(PortId(2), CutThrough::new(0x82, None)));
        assert_eq!(switch.take_severed().collect::<Vec<_>>(), [PortId(2)]);
        switch.request(PortId(0), PortId(2));
        // The token is behind input 1: it passes 2 and 3.
        assert_eq!(grants(&mut switch, 10..20), [(16, 0, 2)]);
    }

    #[test]
    fn a_switch_is_calm_when_nothing_is_to_be_done() {
        let mut switch = switch(4);
        assert!(switch.is_calm());
        // The same bit in both sets.
        switch.decoded(PortId(2));
        switch.request(PortId(1), PortId(2));
        assert!(!switch.is_calm());
        assert_eq!(switch.take_ready().collect::<Vec<_>>(), [PortId(2)]);
        switch.sever(PortId(2));
        assert!(!switch.is_calm());
    }
}
