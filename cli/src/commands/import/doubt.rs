//! Doubts about a recorded channel: what speaks against the result, and what could not be seen.

use codec::recording::import::RecordedQuality;
use codec::recording::{ReadSummary, SignalChange};
use codec::wires::{
    GuessedMap, PlacedCharacter, WIRES, WireEvidence, WireMap, WiringFault, find_order,
};

use super::clock::{channel_mask, channel_signals};
use super::quality::{fault, fault_text, is_bad, nanoseconds, never_text, ppm, wire_names};

/// Parts in a million that a rate may be off without a warning: hundred times the tolerance of an oscillator. *Chosen*
const RATE_PPM: f64 = 10_000.0;

/// Part of a period by which samples that a `sendclk` has clocked may seem to be off it, as a divisor. *Chosen*
const CLOCKED: u64 = 50;

/// Fewest symbols without a GAP that are taken for an idle link. *Chosen*
const IDLE_CODES: usize = 64;

/// Characters, for each that is in no table, that samples of whole periods give if a `sendclk` has clocked them. *Chosen*
const INVALID_SHARE: u64 = 500;

/// Fewest changes whose times show the distance of samples. *Chosen*
pub(super) const CHANGES_MIN: usize = 16;

/// Fewest packets that show whether the order of the wires is right. *Chosen*
const ORDER_PACKETS: usize = 2;

pub(super) const CUT_LINE: &str = "the last line of the recording has no end: it may be cut there";

/// Explanation of samples of a `sendclk` that are no Myrinet, and too few to tell why.
pub(super) const CLOCKED_TEXT: &str = "by --sample-rate state each sample is a character: those of one edge of sendclk are two characters each (W-2), \
     which nothing parts again; more packets tell that from another order of the wires";

/// Other explanation of changes that are whole periods apart, and what follows from it if characters are no Myrinet.
const CHARACTERS_TEXT: &str =
    "; unless each change is a character without skew, or clocked by sendclk";
const OTHERS_TEXT: &str =
    ": then the signals are others, or in another order, which more packets tell";

/// Recording as a whole.
#[derive(Default)]
pub(super) struct RecordingContext {
    /// Distance of the samples, as the times show it; 0 if they do not, or if a `sendclk` has clocked them, as the user says.
    pub(super) sample_fs: u64,
    /// Explanation of characters that are no Myrinet, if a `sendclk` has clocked the samples, as the user says.
    pub(super) clocked_text: Option<&'static str>,
    /// Character period of --rate.
    pub(super) nominal_fs: u64,
    /// Orders of wires that are proved on a channel.
    pub(super) proved: Vec<WireMap>,
    pub(super) channels: usize,
    /// True if codes of a link profile occur, which are no symbols of others.
    pub(super) has_profile: bool,
    /// Channels with packets whose CRC is good: others may be idle, with symbols alone.
    pub(super) sound_channels: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ChannelDoubts {
    pub(super) warnings: Vec<String>,
    /// What could not be checked.
    pub(super) notes: Vec<String>,
    /// No sign of Myrinet, or other characters than were sent: what speaks for that.
    pub(super) refusal: Option<String>,
    /// Damage at which the recording ends.
    pub(super) damage: Option<String>,
    /// True if the cause of all faults is known.
    pub(super) is_explained: bool,
    /// Wires, as a set, whose level was unknown at times, so that transitions may be missing.
    pub(super) hidden: u16,
}

/// True if a period is more than 1 % off the nominal one.
pub(super) fn is_off_rate(nominal_fs: u64, period_fs: u64) -> bool {
    ppm(nominal_fs, period_fs).abs() > RATE_PPM
}

/// The order of the wires that is proved by characters, if the given one is not.
pub(super) fn proved_order(bits: &[u16]) -> Option<GuessedMap> {
    let given = WireEvidence::of(bits, &WireMap::SAME);
    if given.is_myrinet() { None } else { find_order(bits, &[]) }
}

/// Share of the periods of some characters in which nothing changes.
fn idle_share(sample: &[PlacedCharacter]) -> f64 {
    let span = sample.first().zip(sample.last()).map(|(first, last)| last.place - first.place + 1);
    span.map_or(0.0, |span| 1.0 - sample.len() as f64 / span as f64)
}

impl RecordingContext {
    /// True if samples are too far apart to tell characters. Those that a `sendclk` has clocked give good ones, in some order of
    /// the wires.
    fn is_undersampled(&self, bits: &[u16], quality: &RecordedQuality) -> bool {
        let RecordedQuality { content, wires, .. } = quality;
        let is_good = !is_bad(quality)
            && content.invalid * INVALID_SHARE <= wires.characters
            && (self.is_whole() || content.good > 0 && content.good * 10 >= content.frames * 9);
        let is_proved = |map| {
            let WireEvidence { good, packets, .. } = WireEvidence::of(bits, map);
            good * 4 >= packets * 3
        };
        let is_far = self.sample_fs.saturating_mul(2) >= self.nominal_fs;
        is_far && !is_good && !self.proved.iter().any(is_proved)
    }

    /// True if samples are whole periods apart, as a `sendclk` clocks them.
    fn is_whole(&self) -> bool {
        let off = self.sample_fs % self.nominal_fs;
        self.sample_fs.saturating_mul(2) > self.nominal_fs
            && off.min(self.nominal_fs - off) * CLOCKED <= self.nominal_fs
    }

    /// Warning of fewer than two and a half samples in a character: skew takes its part of the window. *Chosen*
    fn coarse_text(&self, what: &str, limit_fs: u64) -> String {
        format!(
            "samples are {} ns apart, {what} a character period ({} ns): characters run into each other; a sample rate \
             of {} MS/s or more is needed",
            (nanoseconds(self.sample_fs) * 100.0).round() / 100.0,
            nanoseconds(limit_fs),
            (2.5e9 / self.nominal_fs as f64).ceil()
        )
    }

    /// Warning of a rate that is more than 1 % off the nominal one, and more than its own error.
    fn rate_text(&self, sample: &[PlacedCharacter], quality: &RecordedQuality) -> Option<String> {
        let clock = &quality.clock;
        let (off, error) = (ppm(self.nominal_fs, clock.period_fs), clock.period_error_fs as f64);
        (off.abs() > RATE_PPM + 1e6 * error / clock.period_fs as f64).then(|| {
            let rate = 1e9 / clock.period_fs as f64;
            // A character in each sample: those of a slower sender that come twice are IDLE, which harms no packet.
            let is_clocked = clock.period_fs.abs_diff(self.sample_fs) * CLOCKED <= self.sample_fs;
            let twice = 1.0 - clock.period_fs as f64 / self.nominal_fs as f64;
            if is_clocked && twice > 0.0 && idle_share(sample) * 2.0 > twice {
                let samples = self.coarse_text("not less than half", self.nominal_fs / 2);
                return format!("{samples}; or the sender has {rate:.2} M characters/s: then give that --rate");
            }
            format!(
                "{rate:.2} M characters/s are {:.1} % off the {:.2} M/s of --rate: give the rate of the sender, or \
                 correct the times of the recording",
                off / 1e4,
                1e9 / self.nominal_fs as f64
            )
        })
    }

    /// Takes samples that are too far apart: nothing else is judged. Those that are whole periods apart may be characters, and
    /// the distance may be skew, which keeps each wire whole.
    fn sample_doubts(&self, sample: &[PlacedCharacter], evidence: &WireEvidence) -> ChannelDoubts {
        let mut doubts = ChannelDoubts { is_explained: true, ..ChannelDoubts::default() };
        let text = self.coarse_text("not less than half", self.nominal_fs / 2);
        if let Some(late) = WiringFault::late(sample) {
            doubts.refusal = Some(format!("{text}; unless this is skew: {}", fault_text(late)));
        } else if !self.is_whole() {
            doubts.refusal = Some(text);
        } else if evidence.is_myrinet() {
            doubts.warnings.push(text + CHARACTERS_TEXT);
        } else {
            doubts.refusal = Some(text + CHARACTERS_TEXT + OTHERS_TEXT);
        }
        doubts
    }

    /// Doubts about a channel, from its beginning.
    pub(super) fn judge(
        &self,
        sample: &[PlacedCharacter],
        quality: &RecordedQuality,
    ) -> ChannelDoubts {
        let mut doubts = ChannelDoubts::default();
        if sample.is_empty() {
            return doubts;
        }
        let bits = PlacedCharacter::bits(sample);
        let evidence = WireEvidence::of(&bits, &WireMap::SAME);
        let mut is_proved = evidence.is_myrinet()
            || self.has_profile && evidence.gaps > 0
            || self.sound_channels > 0 && evidence.packets == 0 && evidence.is_in_code();
        // Symbols alone, which need not use all wires: nothing is bad.
        let is_idle = evidence.used >> 8 == 0 && evidence.symbols == evidence.codes;
        if self.is_undersampled(&bits, quality) {
            doubts = self.sample_doubts(sample, &evidence);
            let open = WiringFault::open(&quality.wires).filter(|_| !is_idle);
            doubts.warnings.extend(open.map(fault_text));
        } else {
            let is_damaged = evidence.good < evidence.packets || quality.wires.beyond_window > 0;
            let fit_fs = self.nominal_fs * 2 / 5;
            if is_damaged && self.sample_fs > fit_fs && !self.is_whole() {
                doubts.warnings.push(self.coarse_text("more than 0.4 of", fit_fs));
            }
            doubts.warnings.extend(self.rate_text(sample, quality));
            let found = fault(sample, quality, &self.proved).or_else(|| {
                (!is_proved).then(|| WiringFault::find(sample, &quality.wires, &self.proved))
            });
            let found = found.filter(|_| !is_idle);
            if is_idle && !is_proved && evidence.codes >= IDLE_CODES {
                is_proved = true;
                let text = "no packet, symbols alone: an idle link, or signals that look like one";
                doubts.warnings.push(text.to_owned());
            }
            is_proved |= matches!(found, Some(WiringFault::Order(_) | WiringFault::LateWires(..)));
            if let Some(found) = found.filter(|found| is_proved || *found != WiringFault::Unknown) {
                doubts.add_fault(found);
            }
        }
        if self.is_whole() && self.channels > 1 && !doubts.is_explained {
            doubts.notes.push(format!(
                "changes are whole multiples of {} ns apart: times are known to a character period only, beside another channel \
                 too (W-6)",
                nanoseconds(self.sample_fs)
            ));
        }
        let WireEvidence { packets, good, .. } = evidence;
        if is_proved && (packets < ORDER_PACKETS || good == 0) && !doubts.is_explained {
            // That none is good is more than what could not be seen.
            let texts = if good < packets { &mut doubts.warnings } else { &mut doubts.notes };
            texts.push(format!(
                "order of the wires not checked: that takes {ORDER_PACKETS} complete packets of three bytes or more, and a good \
                 CRC; there: {packets}, {good} of them good"
            ));
        }
        if !is_proved {
            let known = doubts.refusal.replace(missing(&evidence));
            let clocked = self.clocked_text.filter(|_| !doubts.is_explained).map(str::to_owned);
            doubts.warnings.splice(0..0, known.into_iter().chain(clocked));
        }
        doubts
    }
}

/// What Myrinet would have and characters have not.
fn missing(evidence: &WireEvidence) -> String {
    let WireEvidence { codes, symbols, gaps, packets, good, .. } = *evidence;
    let mut texts = Vec::new();
    if gaps == 0 {
        texts.push("no GAP".to_owned());
    }
    match packets {
        0 => texts.push("no complete packet".to_owned()),
        _ => texts.push(format!("{good} of {packets} packets with a good CRC")),
    }
    texts.push(match codes {
        0 => "no control symbol".to_owned(),
        _ => format!("{symbols} of {codes} control codes are symbols"),
    });
    format!("no Myrinet found: {}", texts.join(", "))
}

/// Warning of a channel that changes as one before it.
pub(super) fn same_text(head: &[SignalChange], names: &[String], number: u32) -> Option<String> {
    let signals = |it, number: u32| channel_signals(it, number * 9);
    let is_same = |other| head.iter().all(|it| signals(it, other) == signals(it, number));
    let (_, name) = (0..number).zip(names).find(|(other, _)| is_same(*other))?;
    Some(format!("changes as {name} does in every transition: their clips are on one pair (W-7)"))
}

/// Reason why a channel has no characters if its levels are unknown before each of its transitions.
pub(super) fn unknown_text(head: &[SignalChange], first: u32) -> Option<&'static str> {
    let own = channel_mask(first);
    let mut pairs = head.iter().zip(head.iter().skip(1)).filter(|(_, it)| it.certain() & own != 0);
    let all = pairs.clone().all(|(before, _)| before.unknown & own != 0);
    (all && pairs.next().is_some()).then_some(
        "no character found: levels are unknown before each transition, which has no time if that takes more than a quarter of \
         a character period",
    )
}

/// Doubts about the levels of a channel's nine signals, from the first of them on.
pub(super) fn level_doubts(
    summary: &ReadSummary,
    first: u32,
    begin_fs: Option<u64>,
) -> ChannelDoubts {
    let mut doubts = ChannelDoubts::default();
    let own = |signals| u16::try_from((signals & channel_mask(first)) >> first).unwrap_or_default();
    let late = summary.late.iter().filter(|(signal, _)| (first..first + 9).contains(signal));
    let wires = late.clone().fold(0, |wires, (signal, _)| wires | 1_u64 << signal);
    if let Some(until_fs) = late.clone().map(|(_, until_fs)| *until_fs).max() {
        let text = format!(
            "level of {} unknown at first, until {} ns",
            wire_names(own(wires)),
            nanoseconds(until_fs)
        );
        // All known before anything changes: nothing is missing.
        if begin_fs.is_none_or(|begin_fs| until_fs < begin_fs) {
            doubts.notes.push(text);
        } else {
            doubts.warnings.push(format!("{text}: transitions at the first level may be missing"));
        }
    }
    let never = own(!summary.known);
    if never != 0 && never != (1 << WIRES) - 1 {
        doubts.warnings.push(never_text(never, ["has a level", "have a level"]));
    }
    let lost = own(summary.lost);
    doubts.hidden = lost;
    if lost != 0 {
        let text = "unknown (X, Z, U, W or -) at times: what lasts for more than a quarter of a character period is not recorded";
        doubts.warnings.push(format!("level of {} {text}", wire_names(lost)));
    }
    if summary.is_cut_line {
        doubts.warnings.push(CUT_LINE.to_owned());
    }
    doubts
}

impl ChannelDoubts {
    /// Takes a fault of the wires. One that is proved is a refusal: the characters are not those that were sent.
    pub(super) fn add_fault(&mut self, fault: WiringFault) {
        self.is_explained = true;
        match fault {
            WiringFault::Order(_) | WiringFault::LateWires(..) | WiringFault::OneEdge => {
                self.refusal = Some(fault_text(fault));
            }
            WiringFault::Open(_) | WiringFault::Spread | WiringFault::Unknown => {
                self.warnings.push(fault_text(fault));
            }
        }
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.warnings.extend(other.warnings);
        self.notes.extend(other.notes);
        self.hidden |= other.hidden;
    }

    /// Notes for the description of the channel.
    pub(super) fn all(&self) -> Vec<String> {
        let all = self.refusal.iter().chain(&self.damage).chain(&self.warnings).chain(&self.notes);
        all.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `sendclk` clocks a sample in each period or in some of them, and is known to 2 % of a period.
    #[test]
    fn samples_are_clocked_if_they_are_whole_periods_apart() {
        let is_whole = |sample_fs: &u64| {
            let (sample_fs, nominal_fs) = (*sample_fs, 12_500_000);
            RecordingContext { sample_fs, nominal_fs, ..RecordingContext::default() }.is_whole()
        };
        assert!([12_250_000, 12_500_000, 12_750_000, 25_000_000].iter().all(is_whole));
        assert!(![0, 6_250_000, 12_249_999, 12_750_001, 18_750_000].iter().any(is_whole));
    }

    #[test]
    fn a_level_that_is_known_before_all_changes_hides_none() {
        let summary = ReadSummary { late: vec![(1, 100)], known: 0x1ff, ..ReadSummary::default() };
        for (begin_fs, is_told) in [(None, false), (Some(101), false), (Some(100), true)] {
            let doubts = level_doubts(&summary, 0, begin_fs);
            assert_eq!(doubts.warnings.is_empty(), !is_told, "{begin_fs:?} {doubts:?}");
        }
    }
}
