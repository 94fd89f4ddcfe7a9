//! Measurements on the wires of a channel, as its description keeps them. W-3, W-4, W-6

use super::channel::Channel;
use crate::time::{CharacterPeriod, Tick};

/// Keys in a description.
const WINDOW: &str = "window_fs";
const SAMPLE: &str = "sample_fs";
const SKEW: &str = "skew_fs";
const SKEW_AT: &str = "skew_at";
const NOMINAL: &str = "nominal_fs";
const PERIOD_ERROR: &str = "period_error_fs";
const GLITCHES: &str = "glitches";
const STILL_WIRES: &str = "still_wires";
const FORCED: &str = "forced";
/// All nine wires, as a set. W-1
const ALL_WIRES: u16 = 0x1ff;

/// Measurements on a channel that was recorded from its wires, as far as they are known. Times are
/// femtoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireMeasurement {
    /// Sampling window of the receiver, where it is not half a period. W-3
    pub window_fs: Option<u64>,
    /// Longest character, from its first transition to its last, and its place if known. W-3, W-4
    pub skew: Option<(u64, Option<Tick>)>,
    /// Resolution of the recording: the distance of two transitions is known to within it.
    pub sample_fs: Option<u64>,
    /// Nominal period, as the user declared it. W-6
    pub nominal: Option<CharacterPeriod>,
    /// Greatest error of the channel's period, which was recovered from the transitions: the clock
    /// of the recorder aside. W-6
    pub period_error_fs: Option<u64>,
    /// Second transitions of a wire within a character. W-8
    pub glitches: Option<u64>,
    /// Wires, as a set, that never changed although packets were bad. W-5
    pub still_wires: Option<u16>,
    /// True if the recording was imported although it speaks against the characters.
    pub forced: Option<bool>,
}

impl WireMeasurement {
    /// The measurements in a channel's description. An impossible value counts as missing: nothing
    /// within a character takes longer than its period.
    pub fn of(channel: &Channel) -> Self {
        let word = |key: &str| channel.more.iter().find(|(name, _)| name == key);
        let number = |key: &str| word(key)?.1.parse::<u64>().ok();
        let period = channel.period.fs();
        let part = |key: &str| number(key).filter(|fs| *fs <= period);
        Self {
            window_fs: part(WINDOW).filter(|window| *window > 0),
            skew: part(SKEW).map(|skew| (skew, number(SKEW_AT).map(Tick))),
            sample_fs: part(SAMPLE),
            nominal: number(NOMINAL).and_then(CharacterPeriod::from_fs),
            period_error_fs: part(PERIOD_ERROR),
            glitches: number(GLITCHES),
            still_wires: number(STILL_WIRES)
                .and_then(|wires| u16::try_from(wires).ok())
                .filter(|wires| *wires <= ALL_WIRES),
            forced: number(FORCED).filter(|forced| *forced <= 1).map(|forced| forced == 1),
        }
    }

    /// Sets the measurements in a description. Numbers have a fixed width, so that those of a whole
    /// recording can replace those of its beginning in a file that has been written.
    pub fn describe(&self, channel: &mut Channel) {
        let Self { window_fs, skew, sample_fs, nominal, period_error_fs, .. } = *self;
        let words = [
            (WINDOW, window_fs, 13),
            (SAMPLE, sample_fs, 13),
            (SKEW, skew.map(|(skew, _)| skew), 13),
            (SKEW_AT, skew.and_then(|(_, at)| at).map(|at| at.0), 20),
            (NOMINAL, nominal.map(CharacterPeriod::fs), 13),
            (PERIOD_ERROR, period_error_fs, 13),
            (GLITCHES, self.glitches, 20),
            (STILL_WIRES, self.still_wires.map(u64::from), 3),
            (FORCED, self.forced.map(u64::from), 1),
        ];
        channel.more.retain(|(name, _)| words.iter().all(|(key, ..)| name != key));
        let words = words.into_iter().filter_map(|(key, value, width)| Some((key, value?, width)));
        channel
            .more
            .extend(words.map(|(key, value, width)| (key.to_owned(), format!("{value:0width$}"))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(description: &str) -> WireMeasurement {
        let mut channel = Channel::named("a:0>b:0");
        channel.apply_description(description, &mut |field, fault| panic!("{field} {fault}"));
        WireMeasurement::of(&channel)
    }

    #[test]
    fn measurements_are_read_back_and_their_text_has_one_length() {
        let whole = WireMeasurement {
            window_fs: Some(6_250_000),
            skew: Some((4_800_000, Some(Tick(1190)))),
            sample_fs: Some(2_000_000),
            nominal: CharacterPeriod::from_fs(12_500_000),
            period_error_fs: Some(17),
            glitches: Some(3),
            still_wires: Some(0x20),
            forced: Some(true),
        };
        let longest = WireMeasurement {
            window_fs: Some(12_500_000),
            skew: Some((12_500_000, Some(Tick(u64::MAX)))),
            glitches: Some(u64::MAX),
            still_wires: Some(ALL_WIRES),
            ..whole
        };
        let mut lengths = Vec::new();
        for known in [whole, longest, WireMeasurement::default()] {
            let mut channel = Channel::named("a:0>b:0");
            longest.describe(&mut channel);
            known.describe(&mut channel);
            assert_eq!(read(&channel.description()), known);
            lengths.push(channel.description().len());
        }
        assert_eq!(lengths[0], lengths[1]);
    }

    #[test]
    fn impossible_values_count_as_missing() {
        // A period is 12.5 ns.
        let keys = "window_fs=0 skew_fs=12500001 skew_at=3 sample_fs=-1 nominal_fs=0 still_wires=512 forced=2";
        let text = format!("myrinet-channel v=1 {keys} period_error_fs=99999999999999999999");
        assert_eq!(read(&text), WireMeasurement::default());
        assert_eq!(read("myrinet-channel skew_fs=7 skew_at=x").skew, Some((7, None)));
    }
}
