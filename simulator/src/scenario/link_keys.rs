//! Keys of a link: its cable, and the ports at its ends.

use codec::time::{FULL_RATE_PERIOD_PS, Ticks};

use super::cables::CABLE;
use super::error::{KeyUse, ProblemList};
use super::keys::{GivenKeys, ScenarioUse};
use super::limits::{DELAY_MAX, FIBRE_KM_MAX};
use super::parameters::PORT;
use super::toml_reader::{NANO, TomlItem, TomlTable};
use crate::link::{DELAY_PS_PER_M, FIBRE_PERIODS_PER_KM, LinkParameters, PortParameters as Port};
use crate::wires::CableWires;

/// Link parameters given in a table: delay, and parameters of both ends or of one.
#[derive(Clone, Default)]
pub(super) struct LinkKeys {
    /// Delay of the cable, and the length that it is given by.
    delay: Option<(Ticks, Option<u64>)>,
    delay_use: Option<KeyUse>,
    wires: GivenKeys<CableWires>,
    both: GivenKeys<Port>,
    ends: [GivenKeys<Port>; 2],
}

impl LinkKeys {
    /// Reads the table of a cable, or of a host with its cable.
    pub(super) fn read(table: &mut TomlTable<'_>) -> Self {
        let ends = ["a", "b"].map(|end| {
            let Some(mut table) = table.table(end) else { return GivenKeys::default() };
            let keys = GivenKeys::read(PORT, &mut table);
            table.finish();
            keys
        });
        Self { ends, ..Self::read_both(table) }
    }

    pub(super) fn read_both(table: &mut TomlTable<'_>) -> Self {
        let delay = delay(table);
        Self {
            delay,
            delay_use: delay.and_then(|_| table.leave()),
            wires: GivenKeys::read(CABLE, table),
            both: GivenKeys::read(PORT, table),
            ..Self::default()
        }
    }

    /// Notes the keys that decide a cable, and its ports with those of their nodes.
    pub(super) fn note_use(
        layers: [&Self; 2],
        nodes: [&[&GivenKeys<Port>]; 2],
        cable: LinkParameters,
        scope: &ScenarioUse,
        problems: &ProblemList<'_>,
    ) {
        let delay = layers.iter().rev().find(|layer| layer.delay.is_some());
        if let Some(delay) = delay.and_then(|layer| layer.delay_use) {
            problems.note_use(delay);
        }
        GivenKeys::note_use(&layers.map(|layer| &layer.wires), cable.wires, scope, problems);
        let [link, own] = layers;
        for ((nodes, end), port) in nodes.into_iter().zip(&own.ends).zip(cable.ports) {
            let layers: Vec<_> = [&link.both]
                .into_iter()
                .chain(nodes.iter().copied())
                .chain([&own.both, end])
                .collect();
            GivenKeys::note_use(&layers, port, scope, problems);
        }
    }

    pub(super) fn over(&self, base: LinkParameters) -> LinkParameters {
        let [a, b] = base.ports.map(|port| self.both.over(port));
        let [own, other] = &self.ends;
        let ports = [own.over(a), other.over(b)];
        let (delay, length) = self.delay.unwrap_or((base.cable_delay(), base.wires.length_nm));
        let wires = self.wires.over(base.wires);
        LinkParameters { ports, wires, ..base }.with_cable(delay, length)
    }
}

fn delay(table: &mut TomlTable<'_>) -> Option<(Ticks, Option<u64>)> {
    let length = table.item("length_m");
    match (length, table.time("delay", 1..=DELAY_MAX)) {
        (Some(length), Some(_)) => {
            length.report("expected a length or a delay, not both".to_owned());
            None
        }
        (Some(length), None) => {
            let nanometres = length.as_nanos();
            let delay = nanometres.and_then(delay_of_nanometres);
            if delay.is_none() {
                let metres = DELAY_MAX * u64::from(FULL_RATE_PERIOD_PS) / DELAY_PS_PER_M;
                length.report(format!("expected a length from 0 to {metres} m"));
            }
            Some((delay?, nanometres.and_then(|length| u64::try_from(length).ok())))
        }
        (None, delay) => delay.map(|delay| (Ticks(delay.periods), None)),
    }
}

/// Delay of a length in nanometres, in whole periods of the full rate, at least 1. §4.2
fn delay_of_nanometres(nanometres: u128) -> Option<Ticks> {
    let period = NANO * u128::from(FULL_RATE_PERIOD_PS);
    let periods = nanometres.checked_mul(DELAY_PS_PER_M.into())?.div_ceil(period).max(1);
    u64::try_from(periods).ok().filter(|periods| *periods <= DELAY_MAX).map(Ticks)
}

/// Delay of a length of fibre in kilometres. N-5
pub(super) fn fibre_delay(length: &TomlItem<'_>) -> Option<Ticks> {
    let most = u128::from(FIBRE_KM_MAX) * NANO;
    let delay = length
        .as_nanos()
        .filter(|km| *km <= most)
        .and_then(|km| u64::try_from((km * u128::from(FIBRE_PERIODS_PER_KM)).div_ceil(NANO)).ok());
    if delay.is_none() {
        length.report(format!("expected a length from 0 to {FIBRE_KM_MAX} km"));
    }
    delay.map(|delay| Ticks(delay.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cable_delays_by_whole_periods_and_by_one_at_least() {
        // 25 m are 140 ns (§4.2), of 12.5 ns each.
        for (metres, periods) in [(0, 1), (1, 1), (2, 1), (3, 2), (25, 12), (1_000, 448)] {
            assert_eq!(delay_of_nanometres(metres * NANO), Some(Ticks(periods)));
        }
        // 2.5 m: 14 ns, 1.12 periods.
        assert_eq!(delay_of_nanometres(2_500_000_000), Some(Ticks(2)));
        assert_eq!(delay_of_nanometres(u128::MAX), None);
    }
}
