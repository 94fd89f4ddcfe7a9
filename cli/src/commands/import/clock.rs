//! Clocks of recorded channels: near the nominal rate, or near the one that the changes show.

use codec::recording::SignalChange;
use codec::recording::import::{RecordedChannel, RecordedQuality};
use codec::wires::{PlacedCharacter, WireMap};

use super::doubt::is_off_rate;

/// Characters from which the order of the wires and the causes of bad characters are found.
const SAMPLE: usize = 100_000;

/// Times that a rate of changes may be above the nominal one, and below it. *Chosen*
const FASTEST: u64 = 4;
const SLOWEST: u64 = 16;

/// Units of time from which on times between changes may be rounded samples: shorter ones count in samples. *Chosen*
const ROUNDED: u64 = 50;

/// A channel with the quality and the characters of its beginning.
pub(super) struct LearnedChannel {
    pub(super) channel: RecordedChannel,
    pub(super) quality: RecordedQuality,
    pub(super) sample: Vec<PlacedCharacter>,
}

impl LearnedChannel {
    /// Learns the clock of a channel, near another rate if the changes show one at which no fewer packets are good, and half of
    /// them. `None` if there is no clock.
    pub(super) fn of(
        head: &[SignalChange],
        first_signal: u32,
        map: WireMap,
        nominal_fs: u64,
    ) -> Option<Self> {
        let learn = |period_fs| {
            let channel = RecordedChannel::learn(head, first_signal, map, period_fs)?;
            let (sample, quality) = channel.preview(head, SAMPLE);
            Some(Self { channel, quality, sample })
        };
        let nominal = learn(nominal_fs);
        let shown_fs = nominal
            .as_ref()
            .and_then(Self::slower_period)
            .or_else(|| shortest_distance(head, first_signal));
        let near = nominal_fs / FASTEST..=nominal_fs.saturating_mul(SLOWEST);
        let shown = shown_fs
            .filter(|shown_fs| near.contains(shown_fs) && is_off_rate(nominal_fs, *shown_fs))
            .and_then(learn);
        let good = |learned: &Self| learned.quality.content.good;
        let least = nominal.as_ref().map_or(0, good).max(1);
        let is_better =
            |shown: &Self| good(shown) >= least && good(shown) * 2 >= shown.quality.content.frames;
        shown.filter(is_better).or(nominal)
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

/// Mean of the shortest distances of two changes of a channel. Times may be rounded.
fn shortest_distance(head: &[SignalChange], first_signal: u32) -> Option<u64> {
    let own = head.iter().filter(|change| channel_signals(change, first_signal) != 0);
    let distances = distances(own);
    let least = distances.clone().min()?;
    let short = distances.filter(|distance| *distance < least.saturating_add(least / 2 + 1));
    let (sum, count) =
        short.fold((0_u128, 0), |(sum, count), it| (sum + u128::from(it), count + 1));
    u64::try_from(sum.checked_div(count)?).ok()
}

/// True if two channels change alike in every transition.
pub(super) fn is_same(head: &[SignalChange], one: u32, other: u32) -> bool {
    head.iter().all(|it| channel_signals(it, one * 9) == channel_signals(it, other * 9))
}

/// The nine signals of a channel that change.
fn channel_signals(change: &SignalChange, first_signal: u32) -> u64 {
    change.signals.unbounded_shr(first_signal) & 0x1ff
}

fn distances<'a>(
    changes: impl Iterator<Item = &'a SignalChange> + Clone,
) -> impl Iterator<Item = u64> + Clone {
    let pairs = changes.clone().zip(changes.skip(1));
    pairs.map(|(one, other)| other.time_fs - one.time_fs)
}

/// Distance of the samples: the largest of which all changes are whole multiples apart. Samples whose distance is no whole
/// number of the unit of times are rounded to it. `None` with fewer than two changes.
pub(super) fn sample_distance(changes: &[SignalChange]) -> Option<u64> {
    let distances = distances(changes.iter());
    let (unit, least) = (distances.clone().fold(0, divisor), distances.clone().min()?);
    if unit.saturating_mul(ROUNDED) >= least {
        return Some(unit);
    }
    let shared = distances.fold((least, unit), |shared, it| rounded_divisor((it, unit), shared));
    Some(if shared.0 > shared.1.saturating_mul(8) { shared.0 } else { unit })
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
