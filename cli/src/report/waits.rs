//! Waits of stopped senders: cycles as pictures, trees with bars.

use analyzer::blocking::trees::{BlockingRoot, WaitBranch, WaitTrees};
use analyzer::blocking::{Deadlock, StopEnd};
use analyzer::event::{Picoseconds, ResumeCause};
use analyzer::finding::ShellCommand;
use analyzer::render::{TimeUnit, count, deadlock_summary, wait_cause};
use codec::capture::Channel;

use super::text::{BoundedList, TEXT_MAX, clipped, duration, name};
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
/// Places and sizes of the boxes of a cycle, in pixels.
const COLUMNS: [usize; 2] = [10, 390];
const BOX: (usize, usize) = (270, 30);
const PITCH: usize = 58;

pub(super) struct WaitPicture {
    pub(super) summary: String,
    pub(super) cycles: BoundedList<CyclePicture>,
    pub(super) trees: BoundedList<WaitTree>,
}

/// A wait-for cycle: boxes down the left column and up the right one.
pub(super) struct CyclePicture {
    pub(super) summary: String,
    pub(super) height: usize,
    pub(super) boxes: Vec<CycleBox>,
    /// Lines with their heads.
    pub(super) arrows: Vec<String>,
    pub(super) more: usize,
}

pub(super) struct CycleBox {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) name: String,
}

pub(super) struct WaitTree {
    pub(super) cause: String,
    pub(super) lines: Vec<WaitLine>,
}

/// Waits of a channel.
pub(super) struct WaitLine {
    pub(super) depth: usize,
    pub(super) name: String,
    pub(super) stops: u64,
    pub(super) total: String,
    pub(super) longest: String,
    pub(super) since: String,
    /// Share of the longest total, in percent.
    pub(super) bar: u128,
    pub(super) remark: &'static str,
}

/// Draws the waits; none without a stop.
pub(super) fn picture(
    trees: &WaitTrees,
    analysis: &CliAnalysis,
    command: &ShellCommand,
) -> Option<WaitPicture> {
    let (stops, channels, total) = trees.sum();
    let deadlocks = trees.deadlocks();
    if stops == 0 && deadlocks.is_empty() {
        return None;
    }
    let roots = trees.roots();
    let most = roots.iter().map(|(_, branch)| longest_total(branch)).max().unwrap_or(0);
    let mut left = LINES_MAX;
    let trees = BoundedList::of(&roots, ROOTS_MAX, command, |(root, branch)| {
        tree(*root, branch, analysis, (most, &mut left))
    });
    let [stops, channels] = [count(stops, "stop"), count(channels, "channel")];
    let cycles = match deadlocks.len() {
        0 => "no deadlock".to_owned(),
        number => count(number, "deadlock"),
    };
    Some(WaitPicture {
        summary: format!("{stops} on {channels}, {} in all, {cycles}", duration(total)),
        cycles: BoundedList::of(deadlocks, CYCLES_MAX, command, |it| cycle(it, analysis)),
        trees,
    })
}

fn cycle(deadlock: &Deadlock, analysis: &CliAnalysis) -> CyclePicture {
    let known = |id| analysis.channel(id);
    let shown = deadlock.channels.iter().take(CYCLE_MAX);
    let names: Vec<String> = shown.map(|id| label(analysis.channel(*id))).collect();
    let left = names.len().div_ceil(2);
    let place = |number: usize| {
        let (column, row) =
            if number < left { (0, number) } else { (1, (2 * left - 1).saturating_sub(number)) };
        (COLUMNS.get(column).copied().unwrap_or(0), 10 + row * PITCH)
    };
    let arrows = (0..names.len()).filter(|_| names.len() > 1).map(|number| {
        let next = (number + 1) % names.len();
        arrow(place(number), place(next))
    });
    CyclePicture {
        summary: clipped(
            &deadlock_summary(deadlock, TimeUnit::Microseconds, &known).to_string(),
            TEXT_MAX,
        ),
        height: 10 + left * PITCH,
        arrows: arrows.collect(),
        more: deadlock.channels.len().saturating_sub(CYCLE_MAX),
        boxes: (0..).map(place).zip(names).map(|((x, y), name)| CycleBox { x, y, name }).collect(),
    }
}

/// A line from one box to another with a head at its end.
fn arrow(from: (usize, usize), to: (usize, usize)) -> String {
    let (width, height) = BOX;
    if from.0 == to.0 {
        let x = from.0 + width / 2;
        let (start, end, back) = if from.1 < to.1 {
            (from.1 + height, to.1, "l-5 -9h10z")
        } else {
            (from.1, to.1 + height, "l-5 9h10z")
        };
        return format!("M{x} {start}V{end}M{x} {end}{back}");
    }
    let (start, end, back) = if from.0 < to.0 {
        (from.0 + width, to.0, "l-9 -5v10z")
    } else {
        (from.0, to.0 + width, "l9 -5v10z")
    };
    let [y, to_y] = [from.1, to.1].map(|y| y + height / 2);
    format!("M{start} {y}L{end} {to_y}M{end} {to_y}{back}")
}

fn label(channel: Option<&Channel>) -> String {
    channel.map_or_else(String::new, |channel| name(&channel.label()))
}

fn longest_total(branch: &WaitBranch) -> Picoseconds {
    branch.behind.values().map(longest_total).fold(branch.total, Picoseconds::max)
}

fn tree(
    root: BlockingRoot,
    branch: &WaitBranch,
    analysis: &CliAnalysis,
    (most, left): (Picoseconds, &mut usize),
) -> WaitTree {
    let known = |id| analysis.channel(id);
    let cause = clipped(&wait_cause(root, branch, &known).to_string(), TEXT_MAX);
    let mut lines = Vec::new();
    // The next branch is the last; so a tree of any depth needs no recursion.
    let mut open: Vec<_> = branch.branches().into_iter().rev().map(|it| (1, it)).collect();
    while let Some((depth, (id, branch))) = open.pop() {
        let Some(rest) = left.checked_sub(1) else { break };
        *left = rest;
        let longest = branch.longest;
        lines.push(WaitLine {
            depth: usize::min(depth, DEPTH_MAX),
            name: label(analysis.channel(id)),
            stops: branch.stops,
            total: duration(branch.total),
            longest: longest.map_or_else(|| "–".to_owned(), |it| duration(it.lasted)),
            since: longest.map_or_else(|| "–".to_owned(), |it| duration(it.since)),
            bar: (branch.total * 100).checked_div(most).unwrap_or(0),
            remark: remark(branch),
        });
        open.extend(branch.branches().into_iter().rev().map(|it| (depth + 1, it)));
    }
    WaitTree { cause, lines }
}

/// Unusual end of the longest wait.
fn remark(branch: &WaitBranch) -> &'static str {
    match branch.longest.map(|longest| longest.ended) {
        _ if branch.timeouts > 0 => "blocked-packet timeout (R-4)",
        Some(StopEnd::CaptureEnd) => "stopped to the end",
        Some(StopEnd::Resumed(ResumeCause::Reset)) => "ended by a reset",
        Some(StopEnd::Resumed(ResumeCause::OpenLink)) => "ended as the link was open",
        Some(StopEnd::Resumed(ResumeCause::Go) | StopEnd::Hole) | None => "",
    }
}
