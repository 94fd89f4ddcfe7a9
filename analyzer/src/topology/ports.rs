//! Addressing of a switch and the numbers of its ports, derived from packets. S-1 (§3.2)

use std::collections::BTreeMap;

use codec::route::{PortId, RouteAddressing};

use super::PortNumber;

pub(super) type PortIndex = usize;

/// Passage of packets from one port to another by a route byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RouteTurn {
    pub(super) input: PortIndex,
    pub(super) byte: u8,
    pub(super) output: PortIndex,
    pub(super) packets: u64,
}

/// Addressing and port numbers of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PortSolution {
    pub(super) addressing: Option<RouteAddressing>,
    pub(super) numbers: BTreeMap<PortIndex, PortNumber>,
    /// Turns that contradict the solution.
    pub(super) wrong: Vec<RouteTurn>,
}

/// Assumed port numbers, and the number of packets that confirm them.
#[derive(Debug, Default)]
struct PortGuess {
    at: BTreeMap<PortIndex, i16>,
    right: u64,
    wrong: Vec<RouteTurn>,
}

/// Ports of the largest switch considered. *Chosen*: four times that of the documents.
const PORTS: i16 = 32;
/// Maximum of examined turns of one switch. *Chosen*: twice the number of pairs of 32 ports.
const TURNS_MAX: usize = 2048;

/// Determines the addressing and port numbers of a switch. Earlier turns take precedence.
///
/// Reading: if both addressings explain the same number of packets, neither is chosen. An
/// addressing that requires a port number of 32 or more, or below 0, is excluded: no switch has
/// such ports.
pub(super) fn solve(known: &BTreeMap<PortIndex, PortId>, turns: &[RouteTurn]) -> PortSolution {
    let turns = turns.get(..TURNS_MAX).unwrap_or(turns);
    let absolute = PortGuess::new(known).absolute(turns);
    let relative = PortGuess::new(known).relative(turns);
    let anchored = !known.is_empty();
    let first = if anchored { 0 } else { relative.at.values().min().copied().unwrap_or(0) };
    let scores = [absolute.score(0), relative.score(first)];
    let (addressing, best, anchored) = match scores {
        [one, other] if one > other => (RouteAddressing::Absolute, absolute, true),
        [one, other] if one < other => (RouteAddressing::Relative, relative, anchored),
        _ => {
            let numbers = known.iter().map(|(port, id)| (*port, PortNumber::Known(*id))).collect();
            let both = absolute.wrong.into_iter().filter(|turn| relative.wrong.contains(turn));
            return PortSolution { addressing: None, numbers, wrong: both.collect() };
        }
    };
    let least = best.at.values().min().copied().unwrap_or(0);
    let number = |at: i16| {
        if anchored {
            u8::try_from(at).map_or(PortNumber::Unknown, |port| PortNumber::Known(PortId(port)))
        } else {
            u16::try_from(at - least).map_or(PortNumber::Unknown, PortNumber::Offset)
        }
    };
    let numbers = best.at.iter().map(|(port, at)| (*port, number(*at))).collect();
    PortSolution { addressing: Some(addressing), numbers, wrong: best.wrong }
}

/// Offset of a relative route byte. S-1
fn step(byte: u8) -> Option<i16> {
    let up = i16::from(byte & 0x1f) - i16::from(byte & 0x20);
    (byte & 0x40 == 0).then_some(up)
}

impl PortGuess {
    fn new(known: &BTreeMap<PortIndex, PortId>) -> Self {
        let at = known.iter().map(|(port, id)| (*port, i16::from(id.0))).collect();
        Self { at, ..Self::default() }
    }

    fn absolute(mut self, turns: &[RouteTurn]) -> Self {
        turns.iter().for_each(|turn| self.put(turn, turn.output, i16::from(turn.byte & 0x7f)));
        self
    }

    /// Propagates numbers from port to port, starting at ports with known numbers.
    fn relative(mut self, turns: &[RouteTurn]) -> Self {
        let mut left: Vec<&RouteTurn> = turns.iter().collect();
        if let (true, Some(first)) = (self.at.is_empty(), left.first()) {
            self.at.insert(first.input, 0);
        }
        loop {
            let near = |turn: &&RouteTurn| {
                self.at.contains_key(&turn.input) || self.at.contains_key(&turn.output)
            };
            let Some(next) = left.iter().position(near) else { return self };
            let turn = left.remove(next);
            let Some(step) = step(turn.byte) else {
                self.wrong.push(*turn);
                continue;
            };
            match (self.at.get(&turn.input), self.at.get(&turn.output)) {
                (Some(input), _) => self.put(turn, turn.output, input + step),
                (None, Some(output)) => self.put(turn, turn.input, output - step),
                (None, None) => {}
            }
        }
    }

    /// Records that a turn gives a port this number.
    fn put(&mut self, turn: &RouteTurn, port: PortIndex, number: i16) {
        let taken = self.at.iter().any(|(other, at)| *other != port && *at == number);
        match self.at.get(&port) {
            Some(known) if *known == number => self.right += turn.packets,
            None if !taken => {
                self.at.insert(port, number);
                self.right += turn.packets;
            }
            Some(_) | None => self.wrong.push(*turn),
        }
    }

    /// Number of explained packets; 0 if port numbers, counted from `first`, are impossible.
    fn score(&self, first: i16) -> u64 {
        let (Some(min), Some(max)) = (self.at.values().min(), self.at.values().max()) else {
            return 0;
        };
        let possible = *min >= first && *max < first + PORTS;
        if possible { self.right } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves turns given as (input, byte, output), one packet each, with some known ports.
    fn check(known: &[(PortIndex, u8)], turns: &[(PortIndex, u8, PortIndex)]) -> String {
        let known = known.iter().map(|(port, id)| (*port, PortId(*id))).collect();
        let turns = turns.iter().map(|(input, byte, output)| RouteTurn {
            input: *input,
            byte: *byte,
            output: *output,
            packets: 1,
        });
        let PortSolution { addressing, numbers, wrong } = solve(&known, &turns.collect::<Vec<_>>());
        let numbers: Vec<_> = numbers.iter().map(|(port, at)| format!("{port}={at}")).collect();
        let wrong: Vec<_> = wrong.iter().map(|turn| format!("{:02x}", turn.byte)).collect();
        format!("{addressing:?} {} wrong {}", numbers.join(" "), wrong.join(" "))
    }

    #[test]
    fn ports_that_are_known_tell_how_bytes_are_read() {
        // From 2 by +1 to 3, from 3 by -1 to 2; or to ports 3 and 2 by their numbers.
        assert_eq!(
            check(&[(0, 2), (1, 3)], &[(0, 0x81, 1), (1, 0xbf, 0)]),
            "Some(Relative) 0=2 1=3 wrong "
        );
        assert_eq!(
            check(&[(0, 2), (1, 3)], &[(0, 0x83, 1), (1, 0x82, 0)]),
            "Some(Absolute) 0=2 1=3 wrong "
        );
        assert_eq!(check(&[(0, 0), (1, 3)], &[(0, 0x83, 1)]), "None 0=0 1=3 wrong ");
    }

    #[test]
    fn relative_bytes_alone_tell_differences_and_absolute_ones_numbers() {
        // From a by -2 to b, from b by +1 to c: b is lowest, c is b + 1, a is b + 2.
        assert_eq!(
            check(&[], &[(0, 0xbe, 1), (1, 0x81, 2)]),
            "Some(Relative) 0=+2 1=+0 2=+1 wrong "
        );
        // Two inputs reach port 5 by the same byte, and each other: relative addressing would need
        // one port for both.
        assert_eq!(
            check(&[], &[(0, 0x85, 2), (1, 0x85, 2), (0, 0x81, 1)]),
            "Some(Absolute) 1=1 2=5 wrong "
        );
        assert_eq!(
            check(&[(0, 1), (1, 3), (2, 4)], &[(0, 0x82, 1), (1, 0x81, 2), (0, 0x82, 2)]),
            "Some(Relative) 0=1 1=3 2=4 wrong 82"
        );
    }
}
