//! Eye of each wire as SVG: its transitions by their place in the character period.

use askama::Template;
use codec::wires::{EyeHistogram, WIRES};

use super::quality::{ChannelReport, wire_name};

/// Sizes in pixels, as in the template: a row, the picture of a period, and what stands left of it.
const ROW: usize = 44;
const BAR: usize = 10;
const LEFT: usize = 64;

#[derive(Template)]
#[template(path = "eye.svg")]
struct EyePicture<'a> {
    width: usize,
    height: usize,
    height_each: usize,
    channels: &'a [ChannelReport],
}

pub(super) fn draw(channels: &[ChannelReport]) -> String {
    let bins = channels.first().map_or(0, bins);
    let height_each = (WIRES + 2) * ROW;
    let (width, height) = (LEFT + bins * BAR + 20, 20 + channels.len() * height_each);
    // Writing to a string does not fail.
    EyePicture { width, height, height_each, channels }.render().unwrap_or_default()
}

fn bins(channel: &ChannelReport) -> usize {
    channel.quality.wires.eyes.first().map_or(0, |eye| eye.0.len())
}

/// Places and heights of the bars of a wire, relative to its highest.
fn bars(eye: &EyeHistogram) -> impl Iterator<Item = (usize, usize)> {
    let most = eye.0.iter().max().copied().unwrap_or_default().max(1);
    let high = move |count: u64| usize::try_from((count * (ROW as u64 - 8)).div_ceil(most));
    let bars = eye.0.iter().enumerate().filter(|(_, count)| **count > 0);
    bars.map(move |(bin, count)| (LEFT + bin * BAR, high(*count).unwrap_or(ROW)))
}

/// Places and names of the earliest edge, at the end of the first eighth, and of the end of a receiver's
/// window, half a period later.
fn edges(channel: &ChannelReport) -> [(usize, String); 2] {
    let half_ns = channel.quality.clock.period_fs as f64 / 2e6;
    let bins = bins(channel);
    [(bins / 8, "0".to_owned()), (bins / 8 + bins / 2, format!("{half_ns:.2} ns (W-3)"))]
        .map(|(bin, text)| (LEFT + bin * BAR, text))
}
