//! Waits of stopped senders: cycles as pictures, trees with bars.

use std::borrow::Cow;

use analyzer::blocking::trees::{WaitBranch, WaitTrees};
use analyzer::blocking::{Deadlock, StopEnd};
use analyzer::event::{Picoseconds, ResumeCause};
use analyzer::finding::ShellCommand;
use analyzer::render::{TimeUnit, count, deadlock_count, deadlock_summary, wait_cause};
use codec::capture::{Channel, ChannelId};

use super::text::{BoundedList, duration};
use crate::analyze::CliAnalysis;

/// Pictures of cycles. *Chosen*: a capture has one or two; more are of one kind.
const CYCLES_MAX: usize = 4;
/// Channels in the picture of a cycle.
const CYCLE_MAX: usize = 16;
/// Causes, and lines of all trees. *Chosen*: a few screens.
const ROOTS_MAX: usize = 10;
const LINES_MAX: usize = 120;
/// Greatest indentation.
const DEPTH_MAX: usize = 24;
/// Places of the boxes of a cycle, in pixels: down the left column and up the right one.
const COLUMNS: [usize; 2] = [10, 390];
const PITCH: usize = 58;

pub(super) struct WaitPicture<'a> {
    pub(super) summary: String,
    pub(super) cycles: BoundedList<CyclePicture>,
    pub(super) trees: BoundedList<WaitTree<'a>>,
}

pub(super) struct CyclePicture {
    pub(super) summary: String,
    pub(super) height: usize,
    /// Channels, each with its place and that of the next.
    pub(super) boxes: Vec<(String, [(usize, usize); 2])>,
    pub(super) more: usize,
}

pub(super) struct WaitTree<'a> {
    pub(super) cause: String,
    pub(super) lines: Vec<WaitLine<'a>>,
}

pub(super) struct WaitLine<'a> {
    pub(super) depth: usize,
    pub(super) name: Cow<'a, str>,
    pub(super) branch: &'a WaitBranch,
    pub(super) longest: [Option<Picoseconds>; 2],
    /// Share of the longest total, in percent.
    pub(super) bar: u128,
    pub(super) note: &'static str,
}

/// Draws the waits; none without a stop.
pub(super) fn picture<'a>(
    trees: &'a WaitTrees,
    analysis: &'a CliAnalysis,
    command: &ShellCommand,
) -> Option<WaitPicture<'a>> {
    let (stops, channels, total) = trees.sum();
    let deadlocks = trees.deadlocks();
    if stops == 0 && deadlocks.is_empty() {
        return None;
    }
    let roots = trees.roots();
    let known = |id| analysis.channel(id);
    let cycles = deadlock_count(trees, &known).to_string();
    let most = roots.iter().map(|(_, branch)| longest_total(branch)).max().unwrap_or(0);
    let mut left = LINES_MAX;
    let trees = BoundedList::of(roots, ROOTS_MAX, command).map(|(root, branch)| WaitTree {
        cause: wait_cause(root, branch, &known).to_string(),
        lines: lines(branch, analysis, (most, &mut left)),
    });
    let [stops, channels] = [count(stops, "stop"), count(channels, "channel")];
    Some(WaitPicture {
        summary: format!("{stops} on {channels}, {} in all, {cycles}", duration(total)),
        cycles: BoundedList::of(deadlocks, CYCLES_MAX, command).map(|it| cycle(it, analysis)),
        trees,
    })
}

fn cycle(deadlock: &Deadlock, analysis: &CliAnalysis) -> CyclePicture {
    let shown = deadlock.channels.iter().take(CYCLE_MAX).enumerate();
    let count = shown.len();
    let boxes = shown.map(|(number, id)| {
        (
            name(analysis, *id).into_owned(),
            [number, (number + 1) % count].map(|it| place(it, count)),
        )
    });
    let known = |id| analysis.channel(id);
    CyclePicture {
        summary: deadlock_summary(deadlock, TimeUnit::Microseconds, &known).to_string(),
        height: 10 + count.div_ceil(2) * PITCH,
        boxes: boxes.collect(),
        more: deadlock.channels.len().saturating_sub(CYCLE_MAX),
    }
}

/// Place of a box of a cycle: down on the left, and up on the right.
fn place(number: usize, count: usize) -> (usize, usize) {
    let (left, [down, up]) = (count.div_ceil(2), COLUMNS);
    let (x, row) =
        if number < left { (down, number) } else { (up, (2 * left - 1).saturating_sub(number)) };
    (x, 10 + row * PITCH)
}

fn name(analysis: &CliAnalysis, id: ChannelId) -> Cow<'_, str> {
    analysis.channel(id).map(Channel::label).unwrap_or_default()
}

fn longest_total(branch: &WaitBranch) -> Picoseconds {
    branch.behind.values().map(longest_total).fold(branch.total, Picoseconds::max)
}

fn lines<'a>(
    branch: &'a WaitBranch,
    analysis: &'a CliAnalysis,
    (most, left): (Picoseconds, &mut usize),
) -> Vec<WaitLine<'a>> {
    let mut lines = Vec::new();
    // The next branch is the last; so a tree of any depth needs no recursion.
    let mut open: Vec<_> = branch.branches().into_iter().rev().map(|it| (1, it)).collect();
    while let Some((depth, (id, branch))) = open.pop() {
        let Some(rest) = left.checked_sub(1) else { break };
        *left = rest;
        lines.push(WaitLine {
            depth: usize::min(depth, DEPTH_MAX),
            name: name(analysis, id),
            branch,
            longest: [branch.longest.map(|it| it.lasted), branch.longest.map(|it| it.since)],
            bar: (branch.total * 100).checked_div(most).unwrap_or(0),
            note: note(branch),
        });
        open.extend(branch.branches().into_iter().rev().map(|it| (depth + 1, it)));
    }
    lines
}

/// Unusual end of the longest wait.
fn note(branch: &WaitBranch) -> &'static str {
    match branch.longest.map(|longest| longest.ended) {
        _ if branch.timeouts > 0 => "blocked-packet timeout (R-4)",
        Some(StopEnd::CaptureEnd) => "stopped to the end",
        Some(StopEnd::Resumed(ResumeCause::Reset)) => "ended by a reset",
        Some(StopEnd::Resumed(ResumeCause::OpenLink)) => "ended as the link was open",
        Some(StopEnd::Resumed(ResumeCause::Go) | StopEnd::Hole) | None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_box_of_a_cycle_has_a_place_of_its_own() {
        for count in 1..=CYCLE_MAX {
            let places: Vec<_> = (0..count).map(|number| place(number, count)).collect();
            let is_first = |(at, it)| places.iter().position(|other| other == it) == Some(at);
            assert!(places.iter().enumerate().all(is_first), "{places:?}");
        }
    }
}
