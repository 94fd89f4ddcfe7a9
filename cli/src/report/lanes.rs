//! Activity of channels over time, a lane each.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use analyzer::event::Picoseconds;
use analyzer::finding::{Severity, ShellCommand};
use analyzer::link::interval::ChannelActivity;
use analyzer::link::report::ChannelReport;
use analyzer::render::shown_activity;
use codec::capture::{Channel, ChannelId};

use super::ReportInput;
use super::decimate::{StretchList, StretchValue};
use super::findings::SelectedFinding;
use super::text::{BoundedList, duration, percent};

/// Lanes on the page. *Chosen*: a few screens.
const LANES_MAX: usize = 48;
/// Rectangles of all lanes. *Chosen*: some 20 bytes each, a quarter of the page.
const RECTANGLES_MAX: usize = 24_000;
/// Rectangles of a lane. *Chosen*: more than a screen has columns.
const LANE_MAX: usize = 1024;
/// Marks of findings on a lane. *Chosen*: more would cover each other.
const MARKS_MAX: usize = 40;
/// Units of the time axis: the coordinates of a zoomed page remain integers.
const WIDTH: u128 = 100_000;

/// Periods in each activity.
pub(super) type ActivityTimes = [u64; ChannelActivity::ALL.len()];

impl StretchValue for ActivityTimes {
    fn merge(&mut self, later: &Self) {
        self.iter_mut().zip(later).for_each(|(sum, time)| *sum = sum.saturating_add(*time));
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

    pub(super) fn place(&self, channel: &Channel, start: u64, end: u64) -> (u128, u128) {
        let (from, to) = (self.x(channel.period.time(start)), self.x(channel.period.time(end)));
        (from, to.saturating_sub(from))
    }

    /// Times below the lanes.
    pub(super) fn labels(&self) -> Vec<String> {
        (0..=4).map(|part| duration(self.from + self.length() / 4 * part)).collect()
    }
}

/// The activity of a channel over time.
pub(super) struct ActivityLane<'a> {
    pub(super) report: &'a ChannelReport<'a>,
    pub(super) paths: Vec<StatePath>,
    /// First occurrences of findings, with their coordinates.
    pub(super) marks: Vec<(u128, &'a SelectedFinding<'a>)>,
}

/// An activity, and all its rectangles as a path.
pub(super) type StatePath = (&'static str, String);

/// The lanes of the links; of many, those with the worst findings and the longest stops.
pub(super) fn picture<'a>(
    input: &ReportInput<'a>,
    links: &'a [Vec<ChannelReport<'a>>],
    time: PictureTime,
) -> BoundedList<Vec<ActivityLane<'a>>> {
    let worst = worst(input.findings);
    let mut order: Vec<&Vec<ChannelReport<'_>>> = links.iter().collect();
    if links.iter().map(Vec::len).sum::<usize>() > LANES_MAX {
        order.sort_by_cached_key(|link| {
            let worst = link.iter().filter_map(|it| worst.get(&it.id)).min().copied();
            let stopped = link.iter().map(|it| it.totals.stops.periods).max();
            // Without a finding comes last.
            (worst.is_none(), worst, Reverse(stopped))
        });
    }
    let mut shown = 0;
    let fits = |link: &&&Vec<_>| {
        link.len() + shown <= LANES_MAX && {
            shown += link.len();
            true
        }
    };
    let fitting = order.iter().take_while(fits).count();
    let command = ShellCommand::of("links", input.capture).with("--details");
    BoundedList::of(order, fitting, &command).map(|link| {
        let lanes = link.iter().map(|report| {
            let mut list = input.recorded.lanes.get(&report.id).cloned().unwrap_or_default();
            list.reduce(LANE_MAX.min(RECTANGLES_MAX / shown.max(1)));
            let own = input.findings.iter().filter(|it| it.id == report.id);
            let marks = own.take(MARKS_MAX).map(|it| (time.x(it.row.time_ps), it));
            ActivityLane {
                report,
                paths: paths(&list, report.channel, time),
                marks: marks.collect(),
            }
        });
        lanes.collect()
    })
}

impl ActivityLane<'_> {
    /// The shares of activities in words, for readers that see no pictures.
    pub(super) fn label(&self) -> String {
        let periods = self.report.totals.times.periods();
        let all = periods.iter().copied().fold(0, u64::saturating_add);
        let states = ChannelActivity::ALL.iter().zip(periods).filter(|(_, periods)| **periods > 0);
        let words = states.map(|(state, part)| format!("{} {}", state.name(), percent(*part, all)));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// The rectangles of a lane, one path for each activity.
fn paths(
    list: &StretchList<ActivityTimes>,
    channel: &Channel,
    time: PictureTime,
) -> Vec<StatePath> {
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
        let Some(shown) = shown_activity(&stretch.value.map(u128::from)) else { continue };
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
    used.map(|(state, d)| (state.name(), d)).collect()
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

pub(super) fn legend() -> Vec<StatePath> {
    let entry = |state: &ChannelActivity| {
        let bars = bars(*state, 6).into_iter();
        (state.name(), bars.map(|(y, height)| format!("M0 {y}h24v{height}h-24z")).collect())
    };
    ChannelActivity::ALL.iter().map(entry).collect()
}

pub(super) fn worst(findings: &[SelectedFinding<'_>]) -> BTreeMap<ChannelId, Severity> {
    let mut worst = BTreeMap::new();
    // The most severe come first.
    for it in findings {
        worst.entry(it.id).or_insert(it.row.severity);
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::super::decimate::TimeStretch;
    use super::*;

    #[test]
    fn what_was_not_recorded_is_not_drawn() {
        let mut list = StretchList::default();
        let mut value = ActivityTimes::default();
        value[ChannelActivity::Idle.index()] = 8;
        for (start, end) in [(0, 8), (8, 16), (48, 56)] {
            list.add(TimeStretch { start, end, value }, LANE_MAX);
        }
        let time = PictureTime { from: 0, to: 64 * 12_500 };
        let drawn = paths(&list, &Channel::named("a>b"), time);
        let [(x, wide), (far, width)] = [(0, WIDTH / 4), (3 * WIDTH / 4, WIDTH / 8)];
        let expected = format!("M{x} 14h{wide}v2h-{wide}zM{far} 14h{width}v2h-{width}z");
        assert_eq!(drawn, [(ChannelActivity::Idle.name(), expected)]);
    }
}
