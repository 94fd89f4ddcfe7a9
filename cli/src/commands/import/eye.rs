//! Eye of each wire as SVG: its transitions by their place in the character period.

use std::fmt::Write;

use codec::wires::WIRES;

use super::quality::{ChannelReport, wire_name};
use crate::plot::{STYLE, escaped};

/// Sizes in pixels: a row, the picture of a period, and what stands left of it.
const ROW: usize = 44;
const BAR: usize = 10;
const LEFT: usize = 64;

/// Draws the wires of all channels below each other. The bars of a wire are relative to its highest.
pub(super) fn draw(channels: &[ChannelReport]) -> String {
    let bins = channels
        .first()
        .map_or(0, |channel| channel.quality.wires.eyes.first().map_or(0, |eye| eye.0.len()));
    let (width, height) = (LEFT + bins * BAR + 20, 20 + channels.len() * (WIRES + 2) * ROW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n<title>transitions of each wire in the character \
         period</title>\n<style>{STYLE}</style>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let mut top = 20;
    for channel in channels {
        draw_channel(channel, top, &mut svg);
        top += (WIRES + 2) * ROW;
    }
    svg + "</svg>\n"
}

fn draw_channel(channel: &ChannelReport, top: usize, svg: &mut String) {
    let (wires, name) = (&channel.quality.wires, escaped(&channel.name));
    let half_ns = channel.quality.clock.period_fs as f64 / 2e6;
    let mut line = |text: String| {
        // Writing to a string does not fail.
        let _ = writeln!(svg, "{text}");
    };
    line(format!("<text class=\"title\" x=\"{LEFT}\" y=\"{}\">{name}</text>", top + 16));
    for (row, (wire, eye)) in (1..).zip(wires.eyes.iter().enumerate().rev()) {
        let base = top + row * ROW + ROW - 8;
        let right = LEFT + eye.0.len() * BAR;
        line(format!(
            "<text x=\"{}\" y=\"{base}\" text-anchor=\"end\">{}</text><path class=\"grid\" d=\"M{LEFT} {base}H{right}\"/>",
            LEFT - 10,
            wire_name(wire)
        ));
        let most = eye.0.iter().max().copied().unwrap_or_default().max(1);
        for (bin, count) in eye.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            let high = (count * (ROW as u64 - 8)).div_ceil(most);
            line(format!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{high}\" fill=\"#0072b2\"/>",
                LEFT + bin * BAR,
                base as u64 - high,
                BAR - 1
            ));
        }
    }
    // The edge of the earliest wire stands at the end of the first eighth; a receiver waits half a period.
    let bins = wires.eyes.first().map_or(0, |eye| eye.0.len());
    let (from, to) = (top + ROW, top + (WIRES + 1) * ROW);
    for (at, text) in
        [(bins / 8, "0".to_owned()), (bins / 8 + bins / 2, format!("{half_ns:.2} ns (W-3)"))]
    {
        let x = LEFT + at * BAR;
        line(format!(
            "<path class=\"level\" d=\"M{x} {from}V{to}\"/><text class=\"tick\" x=\"{x}\" y=\"{}\" \
             text-anchor=\"middle\">{text}</text>",
            to + 16
        ));
    }
}
