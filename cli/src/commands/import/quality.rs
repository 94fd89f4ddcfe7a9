//! Quality of a recorded channel: its clock, the eye of each wire, and causes of bad characters.

use codec::recording::import::RecordedQuality;
use codec::wires::{EyeHistogram, GuessedMap, PlacedCharacter, WIRES, WireMap, WiringFault};
use codec::words::in_sentence;

use super::doubt::ChannelDoubts;

/// Fault of a recording without changes.
pub(super) const SILENT: &str = "no wire changes: the clips are on another pair, the sender is off, or the cable is \
                                 straight and joins senders to senders (W-7)";

pub(super) struct ChannelReport {
    pub(super) name: String,
    /// Character period of --rate.
    pub(super) nominal_fs: u64,
    pub(super) quality: RecordedQuality,
    pub(super) doubts: ChannelDoubts,
}

/// Data characters without a good packet that are suspicious.
const DATA_MAX: u64 = 256;

/// True if there are too many bad characters: three of four packets, 2 % of the characters, or data without a packet.
pub(super) fn is_bad(RecordedQuality { content, wires, .. }: &RecordedQuality) -> bool {
    let data = wires.eyes.last().map_or(0, EyeHistogram::count);
    content.frames >= 4 && content.good * 4 < content.frames
        || content.invalid * 50 > wires.characters
        || content.good == 0 && data > DATA_MAX
}

/// Cause of bad characters, if there are too many; of a few packets without a good one, only what would repair them.
pub(super) fn fault(
    sample: &[PlacedCharacter],
    quality: &RecordedQuality,
    proved: &[WireMap],
) -> Option<WiringFault> {
    let is_bad = is_bad(quality);
    let is_doubtful = quality.content.frames > 0 && quality.content.good == 0;
    let found = (is_bad || is_doubtful).then(|| WiringFault::find(sample, &quality.wires, proved));
    found.filter(|found| is_bad || matches!(found, WiringFault::Order(_)))
}

/// Result of a search for the order of the wires.
pub(super) fn guess_text(guess: Option<GuessedMap>) -> String {
    let Some(GuessedMap { map, good, packets, bits, ties }) = guess else {
        return "no order of the wires gives four packets a good CRC; taken as given".to_owned();
    };
    let order = match map {
        WireMap::SAME => "the wires are in order".to_owned(),
        map => order_text(&map),
    };
    let others = if ties > 0 { format!("; {ties} other orders do as well") } else { String::new() };
    format!(
        "{order}: CRC good in {good} of {packets} packets, by chance once in {}{others}",
        once_in(bits)
    )
}

/// Two to a power.
fn once_in(bits: u32) -> String {
    match bits {
        0..=13 => (1_u32 << bits).to_string(),
        _ => format!("10^{}", bits * 3 / 10),
    }
}

fn order_text(map: &WireMap) -> String {
    let wires = map.wires().map(|wire| wire_name(wire.into())).join(" ");
    format!("signals, in the given order from 0 to d, are wires {wires}")
}

pub(super) fn wire_name(wire: usize) -> String {
    if wire == WIRES - 1 { "d".to_owned() } else { wire.to_string() }
}

/// Wires of a set: `wire 5`, `wires 5 and 3`.
pub(super) fn wire_names(set: u16) -> String {
    let names: Vec<String> =
        (0..WIRES).rev().filter(|wire| set >> wire & 1 == 1).map(wire_name).collect();
    let wires = if names.len() > 1 { "wires" } else { "wire" };
    format!("{wires} {}", in_sentence(&names, "and"))
}

/// Statement that wires never do something, for one and for several.
pub(super) fn never_text(set: u16, [one, several]: [&str; 2]) -> String {
    format!("{} never {}", wire_names(set), if set.is_power_of_two() { one } else { several })
}

impl ChannelReport {
    /// Faults of the recording, each with the step that repairs it.
    pub(super) fn fault_texts(&self) -> Vec<String> {
        let RecordedQuality { wires, line, .. } = &self.quality;
        let mut texts = Vec::new();
        if wires.characters == 0 && self.doubts.hidden == 0 {
            texts.push(SILENT.to_owned());
        }
        texts.extend(self.doubts.refusal.clone());
        texts.extend(self.doubts.warnings.iter().cloned());
        if line.lost > 0 {
            let text = "characters left out, as there are more of them than periods: give the --rate of the sender";
            texts.push(format!("{} {text}", line.lost));
        }
        let named = |text| format!("{}: {text}", self.name);
        texts.into_iter().map(named).collect()
    }

    /// Lines about clock, wires and characters.
    pub(super) fn lines(&self) -> Vec<String> {
        let RecordedQuality { clock, wires, content, line } = &self.quality;
        let (period_fs, characters) = (clock.period_fs, wires.characters);
        let (rate, ppm) = (1e9 / period_fs as f64, ppm(self.nominal_fs, period_fs));
        let drift = self::ppm(period_fs, self.quality.mean_period_fs());
        let mut lines = vec![
            format!(
                "{}: {characters} characters other than IDLE, {rate:.4} M/s ({ppm:+.1} ppm), then drift of {drift:+.1} ppm",
                self.name
            ),
            "  wire  transitions  their place in the character period, latest in ns behind the edge"
                .to_owned(),
        ];
        let eyes = wires.eyes.iter().enumerate().rev();
        lines.extend(eyes.map(|(wire, eye)| eye_line(wire, eye, period_fs)));
        let (window, spread) = (nanoseconds(period_fs / 2), nanoseconds(wires.spread_fs));
        lines.push(format!(
            "  longest character {spread:.2} ns of {window:.2} ns that a receiver waits (W-3); beyond it: {}",
            wires.beyond_window
        ));
        if wires.doubled + wires.off_phase > 0 {
            lines.push(format!(
                "  {} second transitions of a wire in a character (W-8), {} far from their wire's others",
                wires.doubled, wires.off_phase
            ));
        }
        let (good, frames, invalid) = (content.good, content.frames, content.invalid);
        lines.push(format!(
            "  {good} of {frames} packets with a good CRC (P-4), {invalid} codes outside the table (C-5)"
        ));
        lines.extend(self.doubts.notes.iter().map(|text| format!("  {text}")));
        if line.adjusted > 0 {
            let far = line.farthest_fs as f64 / period_fs as f64;
            lines.push(format!(
                "  {} silent periods added or left out to follow the clock; characters at most {far:.1} periods off their times",
                line.adjusted
            ));
        }
        lines
    }
}

pub(super) fn nanoseconds(femtoseconds: u64) -> f64 {
    femtoseconds as f64 / 1e6
}

/// Parts in a million that the rate of one period is above that of another.
pub(super) fn ppm(than_fs: u64, period_fs: u64) -> f64 {
    (than_fs as f64 / period_fs as f64 - 1.0) * 1e6
}

/// Line of a wire: its transitions by their place in the period.
fn eye_line(wire: usize, eye: &EyeHistogram, period_fs: u64) -> String {
    let most = eye.0.iter().max().copied().unwrap_or_default().max(1);
    let bar = |count: &u64| match count * 7 / most {
        0 if *count == 0 => '·',
        level => char::from_u32(0x2581 + u32::try_from(level).unwrap_or_default()).unwrap_or('█'),
    };
    let (wire, bins) = (wire_name(wire), eye.0.len());
    // The edge stands at the end of the first eighth.
    let latest = eye.0.iter().rposition(|count| *count > 0);
    let latest = latest.map(|bin| (bin + 1).saturating_sub(bins / 8));
    match latest.map(|bin| nanoseconds(period_fs * bin as u64 / bins as u64)) {
        Some(latest) => {
            let picture: String = eye.0.iter().map(bar).collect();
            format!("  {wire:>4} {:>12}  {picture} {latest:>5.2}", eye.count())
        }
        None => format!(
            "  {wire:>4}            0  never changes: open, not connected, or not used (W-5)"
        ),
    }
}

pub(super) fn fault_text(fault: WiringFault) -> String {
    match fault {
        WiringFault::Order(GuessedMap { map, good, packets, bits, .. }) => {
            let what = match (map, map.swapped()) {
                (WireMap::REVERSED, _) => {
                    "the wires are in the opposite order, as at the other end of a cable (W-7)".to_owned()
                }
                (WireMap::LOW_REVERSED, _) => "the wires 7 to 0 are in the opposite order".to_owned(),
                (_, Some((first, second))) => {
                    format!("{} are swapped", wire_names(1 << first | 1 << second))
                }
                (map, None) => order_text(&map),
            };
            format!(
                "{what}: so read, {good} of {packets} packets have a good CRC, by chance once in {}; correct --wires or give --guess",
                once_in(bits)
            )
        }
        WiringFault::LateWires(late, good, packets) => format!(
            "{} recorded a character too late: moved, {good} of {packets} packets have a good CRC; \
             take samples farther from the edges of the character",
            wire_names(late)
        ),
        WiringFault::OneEdge => {
            "two characters look like one, as samples of one edge of sendclk do (W-2): record without that clock, or \
             at both edges"
                .to_owned()
        }
        WiringFault::Open(wires) => format!(
            "{} and characters are bad: open (W-5), or the clip is off",
            never_text(wires, ["changes", "change"])
        ),
        WiringFault::Spread => {
            "transitions of a wire are spread over half a period: raise the sample rate, set the threshold to the middle \
             of the swing, or give the --rate of the sender"
                .to_owned()
        }
        WiringFault::Unknown => {
            "too many packets or codes are bad, and no order of the wires makes them good: check clips, threshold and --rate"
                .to_owned()
        }
    }
}
