//! Text of `myriscope blocking`: deadlocks, and trees of waits by cause.

use std::fmt::Display;

use codec::capture::{Channel, ChannelId};

use super::{ColumnRank, ReportLayout, StyledLine, TextStyle, TimeUnit, count};
use crate::blocking::trees::{BlockingRoot, LongestWait, WaitBranch, WaitTrees};
use crate::blocking::{BLOCKED_TIMEOUT, Deadlock, DeadlockRelease, StopEnd};
use crate::channel_name::ChannelEnds;
use crate::event::ResumeCause;

/// Minimum width of the trees, for their heading.
const TREE: usize = 20;

type ChannelLookup<'a> = &'a dyn Fn(ChannelId) -> Option<&'a Channel>;

/// Waits of a capture, the longest first; at most `most` trees and deadlocks.
pub fn blocking(
    trees: &WaitTrees,
    (most, layout): (usize, ReportLayout),
    known: ChannelLookup<'_>,
    out: &mut impl FnMut(StyledLine),
) {
    let (stops, channels, total) = trees.sum();
    if stops == 0 {
        return out(StyledLine::of(TextStyle::Plain, "no stop was seen at a recorded sender"));
    }
    let unit = layout.unit.of_times();
    let sum = format!(
        "{} on {}, {} {} in all",
        count(stops, "stop"),
        count(channels, "channel"),
        unit.elapsed(total),
        unit.name()
    );
    let line = StyledLine::of(TextStyle::Plain, format!("{sum}, "));
    out(line.followed_by(deadlock_count(trees, known)));
    for deadlock in trees.deadlocks().iter().take(most) {
        out(StyledLine::default());
        circle(deadlock, deadlock_summary(deadlock, unit, known), known, out);
    }
    let roots = trees.roots();
    let shown = roots.iter().take(most);
    let width = shown.map(|(_, branch)| width(branch, 0, known)).fold(TREE, usize::max);
    let heads = ["in all", "longest", "since"].map(|name| format!("{name} {}", unit.name()));
    let line = StyledLine::of(TextStyle::Head, format!("{:<width$} ", "what held up what"));
    let head = columns(line, "stops", &heads, "packet");
    let rank = layout.rank(&head);
    if !roots.is_empty() {
        out(StyledLine::default());
        out(head.without(rank));
    }
    for (culprit, branch) in roots.iter().take(most) {
        out(wait_cause(*culprit, branch, known));
        branches((*culprit, branch), &BranchStem { text: "", width, unit, rank }, known, out);
    }
    let more = roots.len().saturating_sub(most);
    if more > 0 {
        out(StyledLine::of(TextStyle::Dim, format!("and {}", count(more, "more tree"))));
    }
    if trees.left_out() > 0 {
        let left_out = count(trees.left_out(), "stop");
        out(StyledLine::of(
            TextStyle::Dim,
            format!("{left_out} left out: there are too many ways"),
        ));
    }
}

/// Number of deadlocks in words; where sight ends, none can be excluded.
pub fn deadlock_count(trees: &WaitTrees, known: ChannelLookup<'_>) -> StyledLine {
    let roots = trees.roots();
    let ends = roots.iter().filter_map(|(root, branch)| {
        let BlockingRoot::OutOfSight(id) = root else { return None };
        // A sender that GO released was in no deadlock.
        (!branch.is_released()).then_some((*id, branch))
    });
    let behind = |ends: &mut dyn Iterator<Item = ChannelId>| {
        let mut nodes: Vec<_> = ends.map(|id| node(id, known)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.join(", ")
    };
    let standing = behind(&mut ends.clone().filter(|(_, it)| it.stands()).map(|(id, _)| id));
    let unseen = behind(&mut ends.map(|(id, _)| id));
    match (trees.deadlocks().len(), standing.is_empty(), unseen.is_empty()) {
        (0, false, _) => {
            StyledLine::of(TextStyle::Bad, format!("deadlock or dead sink behind {standing}"))
        }
        (0, true, false) => {
            let text = format!("sight ends behind {unseen}: a deadlock there is not excluded");
            StyledLine::of(TextStyle::Notice, text)
        }
        (0, true, true) if roots.iter().any(|(root, _)| *root == BlockingRoot::Deadlock) => {
            StyledLine::of(TextStyle::Bad, "behind a deadlock of other channels")
        }
        (0, true, true) => StyledLine::of(TextStyle::Good, "no deadlock"),
        (deadlocks, ..) => StyledLine::of(TextStyle::Bad, count(deadlocks, "deadlock")),
    }
}

fn name(id: ChannelId, known: ChannelLookup<'_>) -> String {
    known(id).map_or_else(|| format!("#{id}"), |channel| channel.label().into_owned())
}

fn node(id: ChannelId, known: ChannelLookup<'_>) -> String {
    let way = known(id).and_then(ChannelEnds::of);
    way.map_or_else(|| format!("the far end of {}", name(id, known)), |way| way.to.node)
}

/// Begin, duration and end of a deadlock.
pub fn deadlock_summary(
    deadlock: &Deadlock,
    unit: TimeUnit,
    known: ChannelLookup<'_>,
) -> StyledLine {
    let lasted = deadlock.until.saturating_sub(deadlock.since);
    let [since, lasted] =
        [deadlock.since, lasted].map(|time| format!("{} {}", unit.elapsed(time), unit.name()));
    // First, where no narrow terminal cuts it off.
    let is_broken = deadlock.broken.is_some();
    let line =
        StyledLine::of(TextStyle::Bad, if is_broken { "deadlock" } else { "deadlock, not broken" })
            .and(TextStyle::Plain, format!("  since {since}, for {lasted}"));
    let line = line.and(TextStyle::Plain, format!(" = {}", of_timeout(deadlock.periods)));
    let how = match deadlock.broken {
        None => return line,
        Some((by, how)) => (name(by, known), how),
    };
    let how = match how {
        (by, DeadlockRelease::Resumed(ResumeCause::Reset)) => {
            format!("; broken by a forward reset of {by} (R-4)")
        }
        (by, DeadlockRelease::Resumed(ResumeCause::Go)) => format!("; broken by GO for {by}"),
        (by, DeadlockRelease::Resumed(ResumeCause::OpenLink)) => {
            format!("; broken as {by} lost its link (F-7)")
        }
        (by, DeadlockRelease::Dropped) => format!("; broken as the packet at the end of {by} went"),
        (by, DeadlockRelease::Hole) => format!("; lost from sight in a hole beside {by}"),
    };
    line.and(TextStyle::Notice, how)
}

/// Prints a line, and below it the channels of a deadlock in order.
fn circle(
    deadlock: &Deadlock,
    line: StyledLine,
    known: ChannelLookup<'_>,
    out: &mut impl FnMut(StyledLine),
) {
    out(line);
    let channels: Vec<_> = deadlock.channels.iter().map(|id| name(*id, known)).collect();
    let last = channels.len().saturating_sub(1);
    for (place, channel) in channels.iter().enumerate() {
        let (left, right) = match place {
            0 if last == 0 => ("╶► ", " ─╴ waits for itself"),
            0 => ("╭► ", " waits for"),
            _ if place == last => ("╰─ ", " waits for the first"),
            _ => ("│  ", " waits for"),
        };
        let line =
            StyledLine::of(TextStyle::Dim, format!("   {left}")).and(TextStyle::Plain, channel);
        out(line.and(TextStyle::Dim, right));
    }
}

/// Periods, and their share of the blocked-packet timeout to a ten-thousandth.
fn of_timeout(periods: u64) -> String {
    let share = u128::from(periods) * 10_000 / u128::from(BLOCKED_TIMEOUT);
    format!("{periods} periods, {}.{:04} of 2²²", share / 10_000, share % 10_000)
}

/// Cause of the waits of a tree, with the inputs whose packets held a busy channel.
pub fn wait_cause(
    culprit: BlockingRoot,
    branch: &WaitBranch,
    known: ChannelLookup<'_>,
) -> StyledLine {
    let (role, text) = match culprit {
        BlockingRoot::Deadlock => (TextStyle::Bad, "deadlock".to_owned()),
        BlockingRoot::Host(id) => {
            (TextStyle::Notice, format!("{} takes too little", node(id, known)))
        }
        BlockingRoot::OpenLink(id) => (TextStyle::Bad, format!("{} has no link", name(id, known))),
        BlockingRoot::OutOfSight(id) => {
            (TextStyle::Dim, format!("out of sight, behind {}", node(id, known)))
        }
        BlockingRoot::Busy(id) => (TextStyle::Plain, format!("{} is busy", name(id, known))),
        BlockingRoot::Switch(id) => {
            (TextStyle::Plain, format!("path formation to {}, no other packets", name(id, known)))
        }
        BlockingRoot::SlowOutput(id) => {
            (TextStyle::Plain, format!("{} is slower than what comes to it", name(id, known)))
        }
        BlockingRoot::Unknown(id) => {
            let text = format!("not known what delays packets to {}", name(id, known));
            (TextStyle::Dim, text)
        }
    };
    let line = StyledLine::of(role, text);
    let mut holders: Vec<_> =
        branch.behind.values().flat_map(|branch| &branch.holders).copied().collect();
    holders.sort_unstable();
    holders.dedup();
    if !matches!(culprit, BlockingRoot::Busy(_)) || holders.is_empty() {
        return line;
    }
    let holders: Vec<_> = holders.into_iter().map(|id| name(id, known)).collect();
    line.and(TextStyle::Dim, format!(" with packets from {}", holders.join(", ")))
}

/// Width of the names of a branch, with indentation.
fn width(branch: &WaitBranch, depth: usize, known: ChannelLookup<'_>) -> usize {
    let behind = branch.behind.iter().map(|(id, branch)| {
        let own = 3 * (depth + 1) + name(*id, known).chars().count();
        own.max(width(branch, depth + 1, known))
    });
    behind.max().unwrap_or(0)
}

/// Prefix of the branches of a tree, and the column of its numbers.
struct BranchStem<'a> {
    text: &'a str,
    width: usize,
    unit: TimeUnit,
    rank: ColumnRank,
}

/// Prints the channels that waited for a branch, and recursively those that waited for them.
fn branches(
    (culprit, branch): (BlockingRoot, &WaitBranch),
    stem: &BranchStem<'_>,
    known: ChannelLookup<'_>,
    out: &mut impl FnMut(StyledLine),
) {
    let behind = branch.branches();
    let last = behind.len().saturating_sub(1);
    for (place, (id, branch)) in behind.into_iter().enumerate() {
        let (fork, more) = if place == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let name = name(id, known);
        let BranchStem { text, width, .. } = stem;
        let room = width.saturating_sub(text.chars().count() + 3);
        let line = StyledLine::of(TextStyle::Dim, format!("{text}{fork}"))
            .and(TextStyle::Plain, format!("{name:<room$} "));
        out(note(culprit, branch, numbers(line, branch, stem.unit)).without(stem.rank));
        let text = format!("{text}{more}");
        branches((culprit, branch), &BranchStem { text: &text, ..*stem }, known, out);
    }
}

/// Columns of numbers behind a name.
fn columns(line: StyledLine, stops: impl Display, times: &[String; 3], packet: &str) -> StyledLine {
    let [all, longest, since] = times;
    line.and(TextStyle::Plain, format!("{stops:>7} {all:>12} {longest:>12}"))
        .and_ranked(2, TextStyle::Plain, format!(" {since:>12}"))
        .and_ranked(1, TextStyle::Plain, format!("  {packet:>6}"))
}

fn numbers(line: StyledLine, branch: &WaitBranch, unit: TimeUnit) -> StyledLine {
    // A busy channel was not stopped itself.
    let Some(longest) = branch.longest else { return line };
    let LongestWait { since, lasted, packet, .. } = longest;
    let packet = packet.map_or_else(|| "-".to_owned(), |packet| packet.to_string());
    let times = [branch.total, lasted, since].map(|time| unit.elapsed(time));
    columns(line, branch.stops, &times, &packet)
}

/// Remark on the end of the longest wait of a branch, if it is unusual.
fn note(culprit: BlockingRoot, branch: &WaitBranch, line: StyledLine) -> StyledLine {
    let Some(longest) = branch.longest else { return line };
    let timeouts = count(branch.timeouts, "timeout");
    match (branch.timeouts, longest.ended, culprit) {
        (0, StopEnd::CaptureEnd, _) => line.and(TextStyle::Notice, "  stopped to the end"),
        (0, StopEnd::Resumed(ResumeCause::Reset), _) => {
            line.and(TextStyle::Notice, "  ended by a reset")
        }
        (0, StopEnd::Resumed(ResumeCause::Go | ResumeCause::OpenLink) | StopEnd::Hole, _) => line,
        (_, _, BlockingRoot::OutOfSight(_)) => {
            let text = format!("  {timeouts} (R-4): deadlock or dead sink ahead");
            line.and(TextStyle::Bad, text)
        }
        (_, _, _) => line.and(TextStyle::Bad, format!("  {timeouts} (R-4)")),
    }
}
