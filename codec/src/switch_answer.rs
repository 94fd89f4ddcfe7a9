//! Answers of switches to packets addressed to their port 0x7F. S-8
//!
//! §3.4 names the function without a format: all of it is *chosen*. A packet that asks may have any type.

use nom::Parser;
use nom::bytes::complete::take;
use nom::error::context;
use nom::number::complete::{be_u32, u8 as byte};

use crate::error::{DecodeError, cut_short, unexpected};
use crate::route::{PortId, RouteAddressing};

/// Type of packets that only ask: behind it are answers alone, so that they can be read. *Chosen*: the next
/// one behind those that the simulator uses.
pub const TAG: u8 = 0x13;
/// Most ports of a switch. S-1
pub const SWITCH_PORTS_MAX: u8 = 32;
/// Whole of a share: parts per million.
pub const SHARE_WHOLE: u32 = 1_000_000;

/// Version of an answer with the identity alone, and of one with the state of each port.
const IDENTITY: u8 = 1;
const STATE: u8 = 2;
/// Bytes of an identity.
const IDENTITY_LEN: usize = 8;

/// Identity and configuration of a switch, and the state of its ports if a computer watches them. S-8
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchAnswer {
    /// Its ports.
    pub ports: AnsweredPorts,
    /// Meaning of its route bytes.
    pub addressing: RouteAddressing,
    /// The port at which the packet that asks came in.
    pub input: PortId,
    /// Number of its node.
    pub node: u32,
}

/// Ports of a switch in its answer: 1 to [`SWITCH_PORTS_MAX`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnsweredPorts {
    /// Their number: version 1.
    Counted(u8),
    /// The state of each: version 2.
    Watched(Vec<SwitchPortState>),
}

/// State of a port of a switch. Shares are of all character periods of its link since the start, in parts
/// per million, rounded down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchPortState {
    /// Periods in which it sent a byte.
    pub utilisation: u32,
    /// Periods in which STOP held its sender. F-2
    pub stopped: u32,
    /// Packets dropped that had come in at it.
    pub drops: u32,
}

impl SwitchAnswer {
    /// Number of ports.
    pub fn port_count(&self) -> u8 {
        match &self.ports {
            AnsweredPorts::Counted(count) => *count,
            AnsweredPorts::Watched(ports) => u8::try_from(ports.len()).unwrap_or(u8::MAX),
        }
    }

    /// Parses the answer that begins at a place of a payload; also returns the place behind it.
    ///
    /// # Errors
    /// The field that is cut short or invalid, and its place in the payload.
    pub fn parse(payload: &[u8], at: usize) -> Result<(Self, usize), DecodeError> {
        let identity = take(IDENTITY_LEN).and_then((byte, byte, byte, byte, be_u32));
        let (mut rest, (version, count, addressing, input, node)) =
            context("identity of a switch", identity)
                .parse(payload.get(at..).unwrap_or_default())
                .map_err(|stop| cut_short(payload, &stop))?;
        if !(1..=SWITCH_PORTS_MAX).contains(&count) {
            return Err(unexpected(at + 1, "number of ports", count, "1 to 32"));
        }
        let known = RouteAddressing::from_number(addressing);
        let addressing =
            known.ok_or_else(|| unexpected(at + 2, "addressing", addressing, "0 or 1"))?;
        if input >= count {
            return Err(unexpected(at + 3, "input", input, "a port of the switch"));
        }
        let ports = match version {
            IDENTITY => AnsweredPorts::Counted(count),
            STATE => {
                let mut ports = Vec::with_capacity(count.into());
                for _ in 0..count {
                    let (behind, port) = SwitchPortState::parse(payload, rest)?;
                    ports.push(port);
                    rest = behind;
                }
                AnsweredPorts::Watched(ports)
            }
            _ => return Err(unexpected(at, "version of an answer", version, "1 or 2")),
        };
        let answer = Self { ports, addressing, input: PortId(input), node };
        Ok((answer, payload.len() - rest.len()))
    }

    /// Parses the answers of which a payload consists; also returns the fault behind the last of them.
    pub fn parse_all(payload: &[u8]) -> (Vec<Self>, Option<DecodeError>) {
        let (mut answers, mut at) = (Vec::new(), 0);
        while at < payload.len() {
            match Self::parse(payload, at) {
                Ok((answer, end)) => {
                    answers.push(answer);
                    at = end;
                }
                Err(fault) => return (answers, Some(fault)),
            }
        }
        (answers, None)
    }

    /// Writes what [`Self::parse`] reads.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (version, states) = match &self.ports {
            AnsweredPorts::Counted(_) => (IDENTITY, &[][..]),
            AnsweredPorts::Watched(ports) => (STATE, ports.as_slice()),
        };
        out.extend([version, self.port_count(), self.addressing.number(), self.input.0]);
        out.extend(self.node.to_be_bytes());
        states.iter().for_each(|state| state.emit(out));
    }
}

impl SwitchPortState {
    /// Bytes of a port in an answer.
    const LEN: usize = 12;

    /// Parses the state at the head of what is left of a payload; also returns what is behind it.
    fn parse<'a>(payload: &[u8], rest: &'a [u8]) -> Result<(&'a [u8], Self), DecodeError> {
        let state = take(Self::LEN).and_then((be_u32, be_u32, be_u32));
        let (behind, (utilisation, stopped, drops)) = context("state of a port", state)
            .parse(rest)
            .map_err(|stop| cut_short(payload, &stop))?;
        let at = payload.len() - rest.len();
        for (place, field, share) in
            [(at, "utilisation", utilisation), (at + 4, "share of STOP", stopped)]
        {
            if share > SHARE_WHOLE {
                return Err(unexpected(place, field, share, "at most 1000000"));
            }
        }
        Ok((behind, Self { utilisation, stopped, drops }))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend([self.utilisation, self.stopped, self.drops].map(u32::to_be_bytes).concat());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn an_answer_has_eight_bytes_and_twelve_for_each_watched_port() {
        let state = SwitchPortState { utilisation: 500_000, stopped: 1_000_000, drops: 258 };
        let identity = SwitchAnswer {
            ports: AnsweredPorts::Counted(8),
            addressing: RouteAddressing::Relative,
            input: PortId(3),
            node: 0x0102_0304,
        };
        let watched = SwitchAnswer {
            ports: AnsweredPorts::Watched(vec![state]),
            addressing: RouteAddressing::Absolute,
            input: PortId(0),
            node: 9,
        };
        let mut bytes = Vec::new();
        identity.emit(&mut bytes);
        assert_eq!(bytes, [1, 8, 1, 3, 1, 2, 3, 4]);
        watched.emit(&mut bytes);
        // 500 000 is 07 a1 20, 1 000 000 is 0f 42 40.
        let state = [0, 7, 0xa1, 0x20, 0, 0x0f, 0x42, 0x40, 0, 0, 1, 2];
        assert_eq!(bytes[8..], [&[2, 1, 0, 0, 0, 0, 0, 9][..], &state].concat());
        assert_eq!(SwitchAnswer::parse_all(&bytes), (vec![identity, watched], None));
    }

    #[test]
    fn a_fault_has_its_place_and_leaves_what_is_before_it() {
        let good = [1, 8, 1, 3, 1, 2, 3, 4];
        let cases: [(&[u8], &str); 8] = [
            (&[1, 8, 1, 3, 1, 2, 3], "byte 8: identity of a switch is cut short"),
            (&[3, 8, 1, 3, 1, 2, 3, 4], "byte 8: version of an answer is 3, not 1 or 2"),
            (&[1, 0, 1, 3, 1, 2, 3, 4], "byte 9: number of ports is 0, not 1 to 32"),
            (&[1, 33, 1, 3, 1, 2, 3, 4], "byte 9: number of ports is 33, not 1 to 32"),
            (&[1, 8, 2, 3, 1, 2, 3, 4], "byte 10: addressing is 2, not 0 or 1"),
            (&[1, 8, 1, 8, 1, 2, 3, 4], "byte 11: input is 8, not a port of the switch"),
            (&[2, 1, 1, 0, 1, 2, 3, 4, 5], "byte 16: state of a port is cut short"),
            (
                &[2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0f, 0x42, 0x41, 0, 0, 0, 0],
                "byte 20: share of STOP is 1000001, not at most 1000000",
            ),
        ];
        for (bytes, expected) in cases {
            let (answers, fault) = SwitchAnswer::parse_all(&[&good, bytes].concat());
            assert_eq!(answers.len(), 1);
            assert_eq!(fault.map(|fault| fault.to_string()).as_deref(), Some(expected));
        }
    }

    fn ports() -> impl Strategy<Value = AnsweredPorts> {
        let share = 0..=SHARE_WHOLE;
        let state = (share.clone(), share, any::<u32>());
        let state = state.prop_map(|(utilisation, stopped, drops)| SwitchPortState {
            utilisation,
            stopped,
            drops,
        });
        prop_oneof![
            (1..=SWITCH_PORTS_MAX).prop_map(AnsweredPorts::Counted),
            vec(state, 1..=SWITCH_PORTS_MAX.into()).prop_map(AnsweredPorts::Watched),
        ]
    }

    proptest! {
        #[test]
        fn parsing_undoes_emitting(
            ports in ports(),
            input in any::<u8>(),
            node in any::<u32>(),
            is_relative in any::<bool>(),
        ) {
            let addressing = [RouteAddressing::Absolute, RouteAddressing::Relative][usize::from(is_relative)];
            let mut answer = SwitchAnswer { ports, addressing, input: PortId(0), node };
            answer.input = PortId(input % answer.port_count());
            let mut bytes = Vec::new();
            answer.emit(&mut bytes);
            prop_assert_eq!(SwitchAnswer::parse(&bytes, 0), Ok((answer, bytes.len())));
        }

        #[test]
        fn any_bytes_are_read_and_answers_written_again(
            heads in vec((1..3_u8, 0..4_u8, 0..2_u8, 0..2_u8), 0..4),
            rest in vec(prop_oneof![Just(0), any::<u8>()], 0..60),
        ) {
            // Heads that are nearly right, and arbitrary bytes.
            let heads = heads.iter().flat_map(|(a, b, c, d)| [*a, *b, *c, *d, 0, 0, 0, 7]);
            let payload: Vec<u8> = heads.chain(rest.iter().copied()).collect();
            for payload in [payload, rest] {
                let (answers, fault) = SwitchAnswer::parse_all(&payload);
                let mut again = Vec::new();
                answers.iter().for_each(|answer| answer.emit(&mut again));
                prop_assert_eq!(&again, &payload[..again.len()]);
                prop_assert_eq!(fault.is_none(), again.len() == payload.len());
            }
        }
    }
}
