//! The fill of every slack buffer of a tapped link is always within what the analyzer makes of the
//! capture alone.
//!
//! Not compared, because it does not reach the tap, from as long before on as a later STOP or GO tells
//! of a fill:
//! - From the moment that the receiver whose buffer it is first loses its power: if that is soon
//!   back, its GO looks like one for a buffer that has been emptied.
//! - Where the tap is at the sender's end, from the first fault on that may change characters
//!   between the ends of the cable, in either direction.
//!
//! Nor at all:
//! - Where the receiver's host is made to send STOP or GO that its slack buffer did not command.
//! - At a switch that takes no time to decode, or with extensions: it may take more than a cell in a
//!   period from its slack buffer (S-6 leaves it 28 periods for each packet).

#![expect(clippy::wildcard_enum_match_arm, reason = "it is about a few kinds of rows")]

use analyzer::link::slack::FillBounds;
use codec::capture::ChannelId;
use codec::character::{Character, Symbol, decode_control};
use codec::time::Tick;
use simulator::fault::FaultKind;
use simulator::link::LinkParameters;
use simulator::scenario::Scenario;
use simulator::topology::{ExtensionSupport, NodeKind, NodePort};
use simulator::truth::{TruthEvent, TruthEventKind};

use super::analyzed::AnalyzedCapture;
use super::facts::power_lost;
use super::run::RunOutcome;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoundsWidth {
    pub periods: u64,
    /// Twice the sum of hi − lo over them.
    pub doubled: u64,
    /// Contradictions on links in order.
    pub contradictions: u64,
}

/// A channel at a tap: whose buffer it fills.
struct TappedChannel<'a> {
    scenario: &'a Scenario,
    tap: NodePort,
    sender: NodePort,
    receiver: NodePort,
}

pub fn check(scenario: &Scenario, outcome: &RunOutcome, reading: &AnalyzedCapture) -> BoundsWidth {
    let AnalyzedCapture { fills, contradictions, .. } = reading;
    let rows = outcome.rows_by_port();
    let mut width = BoundsWidth::default();
    for (id, channel) in (0..).map(ChannelId).zip(&outcome.channels) {
        let named = |name: &str| {
            let ends = scenario.topology.cables().iter().flat_map(|cable| cable.ends);
            ends.into_iter().find(|port| scenario.topology.port_name(*port) == name)
        };
        let tap = channel.tap.as_deref().and_then(named);
        let ends = channel.name.split_once('>');
        let ends = ends.and_then(|(from, to)| Some((named(from)?, named(to)?)));
        let (Some(tap), Some((sender, receiver))) = (tap, ends) else { continue };
        let way = TappedChannel { scenario, tap, sender, receiver };
        let until = way.until();
        let fills = fills.get(&id).map_or(&[][..], Vec::as_slice);
        for pair in fills.windows(2) {
            assert_eq!(pair.first().map(|it| it.end), pair.last().map(|it| it.start));
        }
        let rows = rows.get(&receiver).map_or(&[][..], Vec::as_slice);
        way.compare(rows, fills, until, &mut width);
        if until == u64::MAX {
            width.contradictions += contradictions.get(&id).copied().unwrap_or(0);
        }
    }
    width
}

impl TappedChannel<'_> {
    /// Periods of the full rate before which it is compared.
    fn until(&self) -> u64 {
        let Self { scenario, tap, sender, receiver } = self;
        let slow = match scenario.topology.node(receiver.node).map(|node| node.kind) {
            Some(NodeKind::Switch(switch)) => {
                switch.routing > 0 && switch.extensions == ExtensionSupport::Off
            }
            Some(NodeKind::Host) => true,
            None => false,
        };
        let commands = |character: Character| {
            matches!(character, Character::Control(code)
                if matches!(decode_control(code).symbol(), Some(Symbol::Go | Symbol::Stop)))
        };
        let mut raw = scenario.raw.iter().filter(|raw| raw.from == receiver.node);
        if !slow || raw.any(|raw| raw.chars.chars().iter().any(commands)) {
            return 0;
        }
        let damaged = scenario.faults.iter().filter(|fault| match fault.kind {
            FaultKind::Noise { .. }
            | FaultKind::Flip { .. }
            | FaultKind::OpenWire { .. }
            | FaultKind::Wires(_)
            | FaultKind::LoseGap
            | FaultKind::Cut => fault.place == *sender || fault.place == *receiver,
            FaultKind::DeadPort
            | FaultKind::PowerOff
            | FaultKind::SupplyOff
            | FaultKind::ForwardReset
            | FaultKind::BackwardReset
            | FaultKind::Probe(_)
            | FaultKind::Consume(_)
            | FaultKind::Restart => false,
        });
        let damaged = damaged.map(|fault| fault.at).filter(|_| tap == sender);
        let first = damaged.chain(power_lost(scenario, *receiver)).min();
        first.map_or(u64::MAX, |first| first.saturating_sub(self.reach()))
    }

    /// For how many periods of the full rate before it is heard a command tells of a fill: it was
    /// decided a cable and its generation earlier; and see `docs/decisions.md`, "What bounds a fill".
    fn reach(&self) -> u64 {
        self.link().map_or(0, |link| {
            let [own, far] = link.ports;
            let back = (2 * u64::from(own.slack.cells())).clamp(1024, 8192);
            let periods = back + u64::from(own.generation) + 1;
            periods * u64::from(own.divisor.max(far.divisor).get()) + link.delay.0
        })
    }

    fn divisor(&self) -> u32 {
        self.link().map_or(1, |link| link.ports[1].divisor.get())
    }

    fn link(&self) -> Option<LinkParameters> {
        self.scenario.topology.link(self.receiver)
    }

    fn compare(
        &self,
        rows: &[&TruthEvent],
        fills: &[FillBounds],
        until: u64,
        width: &mut BoundsWidth,
    ) {
        let divisor = u64::from(self.divisor());
        let until = until.min(self.scenario.duration) / divisor;
        let truth = rows.iter().filter_map(|row| match row.kind {
            TruthEventKind::Fill { fill, slope } => Some((row.at / divisor, fill, slope)),
            _ => None,
        });
        let truth: Vec<_> = truth.collect();
        let ends = truth.iter().skip(1).map(|(at, ..)| *at).chain([u64::MAX]);
        let mut fills = fills.iter().peekable();
        // Both are lines: where they are within each other at both ends they are so between.
        for ((at, full, slope), next) in truth.iter().zip(ends) {
            let next = next.min(until);
            while let Some(fill) = fills.peek() {
                let (start, end) = ((*at).max(fill.start.0), next.min(fill.end.0));
                if start < end {
                    for place in [start, end - 1] {
                        let periods = i64::try_from(place - at).unwrap_or(i64::MAX);
                        let full = i64::from(*full) + i64::from(*slope) * periods;
                        self.inside(fill, place, full);
                    }
                    width.add(fill, start, end);
                }
                if fill.end.0 > next {
                    break;
                }
                fills.next();
            }
        }
    }

    fn inside(&self, fill: &FillBounds, place: u64, full: i64) {
        let (lo, hi) = fill.at(Tick(place)).unwrap_or_default();
        let name = |port| self.scenario.topology.port_name(port);
        let [tap, from, to] = [self.tap, self.sender, self.receiver].map(name);
        assert!(
            (i64::from(lo)..=i64::from(hi)).contains(&full),
            "tap {tap}, {from}>{to}, period {place}: {full} is not in {lo}..={hi}: {fill:?}"
        );
    }
}

impl BoundsWidth {
    /// Takes in what there is between two periods.
    fn add(&mut self, fill: &FillBounds, start: u64, end: u64) {
        let ends = [start, end - 1].map(|place| fill.at(Tick(place)).unwrap_or_default());
        let doubled: u64 = ends.iter().map(|(lo, hi)| u64::from(hi - lo)).sum();
        self.periods += end - start;
        self.doubled += doubled * (end - start);
    }

    /// Mean of hi − lo, in thousandths of a cell.
    pub fn mean(&self) -> u64 {
        self.doubled * 500 / self.periods.max(1)
    }
}
