//! Clocks of recorded channels: near the nominal rate, or near the one that the changes show.

use codec::recording::SignalChange;
use codec::recording::import::{RecordedChannel, RecordedQuality};
use codec::wires::{PlacedCharacter, WIRES, WireEvidence, WireMap};

use super::doubt::is_off_rate;
use crate::exit::CliError;

/// Characters from which the order of the wires and the causes of bad characters are found.
const SAMPLE: usize = 100_000;

/// Times that a rate of changes may be above the nominal one, and below it. *Chosen*
const FASTEST: u64 = 4;
const SLOWEST: u64 = 16;

/// Units of time that a distance of samples rounded to them exceeds: shorter ones fit by chance. *Chosen*
const ROUNDED: u128 = 6;

/// Femtoseconds of a rate in MHz.
pub(super) fn period_fs(megahertz: f64) -> Result<u64, CliError> {
    let femtoseconds = 1e9 / megahertz;
    if !(1000.0..=1e12).contains(&femtoseconds) {
        let text = format!("--rate: {megahertz} MHz is not from 0.001 to 1000000");
        return Err(CliError::Message(text));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1000 to 1e12")]
    Ok(femtoseconds.round() as u64)
}

/// A channel with the quality and the characters of its beginning.
pub(super) struct LearnedChannel {
    pub(super) channel: RecordedChannel,
    pub(super) quality: RecordedQuality,
    pub(super) sample: Vec<PlacedCharacter>,
    /// True without changes too.
    pub(super) has_clock: bool,
}

impl LearnedChannel {
    /// Learns the clock of a channel, near another rate if the changes show one at which more packets are good, or no fewer at a
    /// lower one, and half of them. `None` if there is no clock.
    pub(super) fn of(
        head: &[SignalChange],
        first_signal: u32,
        map: WireMap,
        nominal_fs: u64,
    ) -> Option<Self> {
        let learn = |period_fs| {
            let channel = RecordedChannel::learn(head, first_signal, map, period_fs)?;
            let (sample, quality) = channel.preview(head, SAMPLE);
            Some(Self { channel, quality, sample, has_clock: true })
        };
        let nominal = learn(nominal_fs);
        let slower_fs = nominal.as_ref().and_then(Self::slower_period);
        let near = nominal_fs / FASTEST..=nominal_fs.saturating_mul(SLOWEST);
        let shown = slower_fs.into_iter().chain(shortest_distances(head, first_signal));
        let mut shown = shown
            .filter(|shown_fs| near.contains(shown_fs) && is_off_rate(nominal_fs, *shown_fs))
            .filter_map(learn);
        let given = nominal.as_ref().map_or(0, |nominal| nominal.evidence().good);
        let is_better = |shown: &Self| {
            let is_lower = shown.quality.clock.period_fs > nominal_fs;
            let least = if is_lower { given.max(1) } else { given + 1 };
            let WireEvidence { good, packets, .. } = shown.evidence();
            good >= least && good * 2 >= packets
        };
        shown.find(is_better).or(nominal)
    }

    /// Evidence of the sample, in the order of the wires in which it was learned.
    pub(super) fn evidence(&self) -> WireEvidence {
        WireEvidence::of(&PlacedCharacter::bits(&self.sample), &WireMap::SAME)
    }

    /// The period in which all characters have their places, if that is several of the learned ones.
    fn slower_period(&self) -> Option<u64> {
        let places = self.sample.iter().map(|placed| placed.place);
        let later = places.clone().skip(1);
        let count =
            places.zip(later).fold(0, |all, (one, other)| divisor(all, other.abs_diff(one)));
        (count > 1).then(|| self.quality.clock.period_fs.saturating_mul(count))
    }
}

/// Means of the shortest distances of two changes of a channel, and of one wire, which skew leaves as they are. W-4
fn shortest_distances(head: &[SignalChange], first_signal: u32) -> impl Iterator<Item = u64> + '_ {
    let of =
        move |mask: u64| distances(head.iter().filter(move |change| change.certain() & mask != 0));
    let wires = (first_signal..).take(WIRES).flat_map(move |signal| of(1 << signal));
    shortest(of(channel_mask(first_signal))).into_iter().chain(shortest(wires))
}

/// Mean of the shortest of some distances. Times may be rounded.
fn shortest(distances: impl Iterator<Item = u64> + Clone) -> Option<u64> {
    let least = distances.clone().min()?;
    let short = distances.filter(|distance| *distance < least.saturating_add(least / 2 + 1));
    let (sum, count) =
        short.fold((0_u128, 0), |(sum, count), it| (sum + u128::from(it), count + 1));
    u64::try_from(sum.checked_div(count)?).ok()
}

/// Time of the first change of a channel.
pub(super) fn begin_fs(changes: &[SignalChange], channel: u32) -> Option<u64> {
    let begin = changes.iter().find(|it| channel_signals(it, channel * 9) != 0);
    begin.map(|it| it.time_fs)
}

/// The nine signals of a channel, as a set.
pub(super) const fn channel_mask(first_signal: u32) -> u64 {
    ((1 << WIRES) - 1_u64).unbounded_shl(first_signal)
}

pub(super) fn channel_signals(change: &SignalChange, first_signal: u32) -> u64 {
    (change.certain() & channel_mask(first_signal)) >> first_signal
}

fn distances<'a>(
    changes: impl Iterator<Item = &'a SignalChange> + Clone,
) -> impl Iterator<Item = u64> + Clone {
    let pairs = changes.clone().zip(changes.skip(1));
    pairs.map(|(one, other)| other.time_fs - one.time_fs)
}

/// Distance of the samples: the largest of which all changes are whole multiples apart. Samples whose distance is no whole
/// number of the unit of times are rounded to it. `None` without changes at two times.
pub(super) fn sample_distance(changes: &[SignalChange]) -> Option<u64> {
    let changed = changes.iter().filter(|it| it.certain() != 0);
    let mut distances: Vec<u64> = distances(changed).filter(|it| *it > 0).collect();
    distances.sort_unstable();
    let unit = distances.iter().copied().fold(0, divisor);
    let least = (*distances.first()?, unit);
    let (shared, _) = distances.iter().fold(least, |it, one| rounded_divisor((*one, unit), it));
    Some(rounded_distance(&distances, unit, shared).unwrap_or(unit))
}

/// Mean of the samples that some distances hold, the shortest first, given about what it is: rounding is that of the whole
/// distance, so that longer ones tell it better. `None` if one is no whole multiple but for rounding.
fn rounded_distance(distances: &[u64], unit: u64, about: u64) -> Option<u64> {
    let (unit, about) = (u128::from(unit), u128::from(about));
    let distances = distances.iter().map(|it| u128::from(*it));
    let count = |distance: u128, (time, samples): (u128, u128)| {
        (2 * distance * samples + time).checked_div(2 * time).unwrap_or_default()
    };
    let add = |all: (u128, u128), it: u128| (all.0 + it, all.1 + count(it, all));
    let (time, samples) = distances.clone().fold((about, 1), add);
    let (time, samples) = (time - about, samples - 1);
    let is_multiple = |it: u128| {
        let whole = count(it, (time, samples)) * time;
        2 * whole.abs_diff(it * samples) <= 3 * unit * samples
    };
    // Units of rounding are decimal: one of 2 ns is the distance of samples itself.
    let is_decimal = unit.checked_ilog10().is_some_and(|power| unit == 10_u128.pow(power));
    let is_rounded =
        is_decimal && time > ROUNDED * unit * samples && distances.clone().all(is_multiple);
    is_rounded.then(|| time.checked_div(samples))?.and_then(|it| u64::try_from(it).ok())
}

/// Largest common divisor. Euclid
const fn divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Largest common divisor of two distances, each with its greatest error, and its error. The second one if the errors hide
/// what is left.
fn rounded_divisor(mut one: (u64, u64), mut other: (u64, u64)) -> (u64, u64) {
    loop {
        let (count, left) = (one.0 / other.0, one.0 % other.0);
        let error = count.saturating_mul(other.1).saturating_add(one.1);
        let hidden = error.saturating_mul(4) >= other.0;
        if hidden || left <= error || other.0 - left <= error {
            return other;
        }
        (one, other) = (other, (left, error));
    }
}
