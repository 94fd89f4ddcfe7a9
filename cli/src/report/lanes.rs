//! Activity of channels over time, a lane each.

use std::collections::BTreeMap;

use analyzer::event::Picoseconds;
use analyzer::finding::Severity;
use analyzer::link::interval::ChannelActivity;
use analyzer::link::report::ChannelReport;
use analyzer::render::shown_activity;
use codec::capture::{Channel, ChannelId};

use super::decimate::{StretchList, StretchValue};
use super::findings::{SelectedFinding, severity_class};
use super::text::{duration, name};

/// Lanes on the page. *Chosen*: a few screens.
pub(super) const LANES_MAX: usize = 48;
/// Rectangles of all lanes. *Chosen*: some 20 bytes each, a quarter of the page.
const RECTANGLES_MAX: usize = 24_000;
/// Marks of findings on a lane. *Chosen*: more would cover each other.
const MARKS_MAX: usize = 40;
/// Units of the time axis: the coordinates of a zoomed page remain integers.
pub(super) const WIDTH: u128 = 100_000;

/// Periods in each activity.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ActivityTimes(pub(super) [u64; ChannelActivity::ALL.len()]);

impl StretchValue for ActivityTimes {
    fn merge(&mut self, later: &Self) {
        let Self(times) = later;
        self.0.iter_mut().zip(times).for_each(|(sum, time)| *sum = sum.saturating_add(*time));
    }
}

/// The time that pictures show.
#[derive(Clone, Copy, Debug)]
pub(super) struct PictureTime {
    pub(super) from: Picoseconds,
    pub(super) to: Picoseconds,
}

impl PictureTime {
    /// Coordinate of a time.
    pub(super) fn x(&self, time: Picoseconds) -> u128 {
        let (at, all) = (time.clamp(self.from, self.to) - self.from, self.length());
        // Computed in two parts, because the product may overflow.
        at / all * WIDTH + (at % all).saturating_mul(WIDTH) / all
    }

    pub(super) fn length(&self) -> Picoseconds {
        (self.to - self.from).max(1)
    }

    /// Coordinates of ticks `start..end` of a channel.
    pub(super) fn place(&self, channel: &Channel, start: u64, end: u64) -> (u128, u128) {
        let (from, to) = (self.x(channel.period.time(start)), self.x(channel.period.time(end)));
        (from, to.saturating_sub(from))
    }

    /// Times below the lanes.
    pub(super) fn labels(&self) -> Vec<String> {
        (0..=4).map(|part| duration(self.from + self.length() / 4 * part)).collect()
    }
}

/// A link of one or two lanes.
pub(super) struct LaneGroup {
    pub(super) lanes: Vec<ActivityLane>,
}

/// The activity of a channel over time.
pub(super) struct ActivityLane {
    pub(super) name: String,
    /// For readers that see no pictures.
    pub(super) label: String,
    pub(super) paths: Vec<StatePath>,
    pub(super) marks: Vec<LaneMark>,
}

/// All rectangles of one activity.
pub(super) struct StatePath {
    pub(super) state: &'static str,
    pub(super) d: String,
}

/// The first occurrence of a finding on a lane.
pub(super) struct LaneMark {
    pub(super) x: u128,
    /// Place in percent of the lane.
    pub(super) left: String,
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) finding: &'static str,
    pub(super) time: String,
}

/// Draws the lanes of a link.
pub(super) fn group(
    link: &[ChannelReport<'_>],
    lanes: &BTreeMap<ChannelId, StretchList<ActivityTimes>>,
    findings: &[SelectedFinding<'_>],
    (time, shown): (PictureTime, usize),
) -> LaneGroup {
    let lanes = link.iter().map(|report| {
        let list = lanes.get(&report.id).cloned().unwrap_or_default();
        let own = findings.iter().filter(|it| it.id == report.id);
        ActivityLane {
            name: name(&report.channel.label()),
            label: label(report),
            paths: paths(list, report.channel, (time, RECTANGLES_MAX / shown.max(1))),
            marks: own.take(MARKS_MAX).map(|it| mark(it, time)).collect(),
        }
    });
    LaneGroup { lanes: lanes.collect() }
}

/// The shares of activities in words.
fn label(report: &ChannelReport<'_>) -> String {
    let periods = report.totals.times.periods();
    let all = periods.iter().copied().fold(0, u64::saturating_add);
    let states = ChannelActivity::ALL.iter().zip(periods).filter(|(_, periods)| **periods > 0);
    let words: Vec<String> = states
        .map(|(state, part)| format!("{} {}", state.name(), super::text::percent(*part, all)))
        .collect();
    format!("{}: {}", name(&report.channel.label()), words.join(", "))
}

fn mark(found: &SelectedFinding<'_>, time: PictureTime) -> LaneMark {
    let x = time.x(found.row.time_ps);
    let (sign, _) = analyzer::render::check::mark(found.row.severity);
    LaneMark {
        x,
        left: format!("{}.{:03}", x / 1000, x % 1000),
        class: severity_class(found.row.severity),
        sign,
        finding: found.row.finding,
        time: duration(found.row.time_ps),
    }
}

/// The rectangles of a lane, one path for each activity.
fn paths(
    mut list: StretchList<ActivityTimes>,
    channel: &Channel,
    (time, most): (PictureTime, usize),
) -> Vec<StatePath> {
    list.reduce(most);
    let mut paths = ChannelActivity::ALL.map(|state| (state, String::new()));
    let mut draw = |(state, eighths): (ChannelActivity, usize), x: u128, width: u128| {
        if let Some((_, d)) = paths.get_mut(state.index()) {
            for (y, height) in bars(state, eighths) {
                *d += &format!("M{x} {y}h{width}v{height}h-{width}z");
            }
        }
    };
    let mut run: Option<((ChannelActivity, usize), u128, u128)> = None;
    for stretch in list.iter() {
        let ActivityTimes(times) = stretch.value;
        let Some(shown) = shown_activity(&times.map(u128::from)) else { continue };
        let (x, width) = time.place(channel, stretch.start, stretch.end);
        match &mut run {
            Some((before, start, end)) if *before == shown && x <= *start + *end + 1 => {
                *end = x + width - *start;
            }
            Some((before, start, end)) => {
                draw(*before, *start, *end);
                run = Some((shown, x, width));
            }
            None => run = Some((shown, x, width)),
        }
    }
    run.into_iter().for_each(|(state, x, width)| draw(state, x, width));
    let used = paths.into_iter().filter(|(_, d)| !d.is_empty());
    used.map(|(state, d)| StatePath { state: state.name(), d }).collect()
}

/// Positions and heights of the bars of an activity, in a lane of height 16: shapes differ, not only
/// colours.
fn bars(state: ChannelActivity, eighths: usize) -> Vec<(usize, usize)> {
    match state {
        ChannelActivity::Unknown => vec![(7, 2)],
        ChannelActivity::Open => vec![(0, 4), (12, 4)],
        ChannelActivity::Reset => vec![(0, 16)],
        ChannelActivity::Stopped => vec![(0, 9)],
        ChannelActivity::Sending => vec![(16 - 2 * eighths.clamp(1, 7), 2 * eighths.clamp(1, 7))],
        ChannelActivity::Starved => vec![(6, 3), (13, 3)],
        ChannelActivity::Idle => vec![(14, 2)],
    }
}

/// An entry of the legend.
pub(super) fn legend() -> Vec<StatePath> {
    let entry = |state: &ChannelActivity| {
        let bars = bars(*state, 6);
        let d = bars.iter().map(|(y, height)| format!("M0 {y}h24v{height}h-24z")).collect();
        StatePath { state: state.name(), d }
    };
    ChannelActivity::ALL.iter().map(entry).collect()
}

/// Severity of the worst finding about each channel.
pub(super) fn worst(findings: &[SelectedFinding<'_>]) -> BTreeMap<ChannelId, Severity> {
    let mut worst = BTreeMap::new();
    // The most severe come first.
    for it in findings {
        worst.entry(it.id).or_insert(it.row.severity);
    }
    worst
}
