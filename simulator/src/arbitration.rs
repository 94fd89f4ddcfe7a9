//! Policies by which an output chooses one of the inputs that request it. S-5
//!
//! A policy is a file beside this one with an implementation of [`OutputPolicy`], and a row in `policies!`.

use codec::route::PortId;

use crate::node::SWITCH_PORTS_MAX;

/// Ports, or virtual channels of ports, one bit each. C-7
pub(crate) type PortBits = u128;

/// Choice among inputs that request the same output.
pub(crate) trait OutputPolicy {
    /// An input requests the output.
    fn request(&mut self, _now: u64, _input: PortId) {}

    /// An input is served, or no longer requests the output: `inputs` has those left.
    fn withdraw(&mut self, inputs: &WaitingInputs);

    /// The output is free after the packet of an input, which is that of the opposite port at an end of a fibre.
    fn release(&mut self, next: u8);

    /// Does what it would have done in the periods before `now` of those in which it has chosen none.
    fn catch_up(&mut self, _now: u64, _inputs: &WaitingInputs) {}

    /// The period, from `next` on, in which it chooses an input, if nothing happens before.
    fn due(&self, next: u64, _inputs: &WaitingInputs) -> Option<u64> {
        Some(next)
    }

    /// The input that it chooses in a period.
    fn choose(&mut self, now: u64, inputs: &WaitingInputs) -> Option<PortId>;
}

macro_rules! policies {
    ($($(#[$doc:meta])* $file:ident $name:ident $state:ident $word:literal)*) => {
        $(mod $file;)*

        /// Policy by which the outputs of a switch choose among inputs. S-5
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum ArbitrationPolicy {
            $($(#[$doc])* $name,)*
        }

        /// A policy at an output.
        #[derive(Clone, Debug)]
        pub(crate) enum OutputState {
            $($name($file::$state),)*
        }

        impl ArbitrationPolicy {
            /// All policies, with their names in scenarios.
            pub const WORDS: &[(&str, Self)] = &[$(($word, Self::$name)),*];

            /// The policy at an output after power-up; a token begins at an input.
            pub(crate) fn start(self, input: u8) -> OutputState {
                match self {
                    $(Self::$name => OutputState::$name($file::$state::new(input)),)*
                }
            }
        }

        impl OutputState {
            pub(crate) fn get(&self) -> &dyn OutputPolicy {
                match self {
                    $(Self::$name(policy) => policy,)*
                }
            }

            pub(crate) fn get_mut(&mut self) -> &mut dyn OutputPolicy {
                match self {
                    $(Self::$name(policy) => policy,)*
                }
            }
        }
    };
}

policies! {
    /// A token that visits one input after the other.
    #[default]
    token Token TokenPolicy "token"
    /// The input whose packet has requested the output for the longest time. *Chosen*
    age Age AgePolicy "age"
}

/// The order in which a token visits inputs: the ports, then their next virtual channels, and so on. S-5 *Chosen*
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputOrder {
    pub(crate) ports: u8,
    pub(crate) channels: u8,
    /// Periods at each of them.
    pub(crate) step: u64,
}

/// The inputs that request an output, one bit each.
pub(crate) struct WaitingInputs {
    pub(crate) requests: PortBits,
    pub(crate) order: InputOrder,
}

impl InputOrder {
    /// The number behind the last one.
    pub(crate) const fn end(self) -> u8 {
        (self.channels - 1) * SWITCH_PORTS_MAX + self.ports
    }

    /// The input after another one.
    pub(crate) const fn after(self, input: u8) -> u8 {
        let (channel, port) = (input / SWITCH_PORTS_MAX, input % SWITCH_PORTS_MAX);
        if port + 1 < self.ports {
            input + 1
        } else if channel + 1 < self.channels {
            (channel + 1) * SWITCH_PORTS_MAX
        } else {
            0
        }
    }

    /// The steps from an input to the first one of some.
    fn steps(self, from: u8, to: PortBits) -> Option<u64> {
        let all = std::iter::successors(Some(from), |input| Some(self.after(*input)));
        let all = all.take(usize::from(self.ports) * usize::from(self.channels));
        (0..).zip(all).find(|(_, input)| to & bit(PortId(*input)) != 0).map(|(steps, _)| steps)
    }
}

pub(crate) const fn bit(port: PortId) -> PortBits {
    1 << (port.0 & 0x7f)
}
