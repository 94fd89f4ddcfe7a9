//! `myriscope blocking`: deadlocks, and trees of what waited for what.

use codec::capture::{Channel, ChannelId};

use super::{Line, Role, count, microseconds};
use crate::blocking::trees::{Branch, Culprit, Longest, Trees};
use crate::blocking::{BLOCKED, Broken, Deadlock, Ended};
use crate::event::By;
use crate::place::Way;

/// The least width of the tree beside which the numbers stand: room for its head.
const TREE: usize = 20;

/// Looks up a channel.
type Known<'a> = &'a dyn Fn(ChannelId) -> Option<&'a Channel>;

/// All waits of a capture, the worst first; at most so many trees.
pub fn blocking(trees: &Trees, most: usize, known: Known<'_>, out: &mut impl FnMut(Line)) {
    let (stops, channels, total) = trees.sum();
    if stops == 0 {
        return out(Line::of(Role::Good, "no sender was stopped"));
    }
    let sum = format!(
        "{} on {}, {} µs in all",
        count(stops, "stop"),
        count(channels, "channel"),
        microseconds(total)
    );
    let line = Line::of(Role::Plain, sum);
    out(match trees.deadlocks().len() {
        0 => line.and(Role::Good, ", no deadlock"),
        deadlocks => line.and(Role::Bad, format!(", {}", count(deadlocks, "deadlock"))),
    });
    for deadlock in trees.deadlocks().iter().take(most) {
        out(Line::default());
        deadlock_lines(deadlock, known, out);
    }
    let roots = trees.roots();
    let shown = roots.iter().take(most);
    let width = shown.map(|(_, branch)| width(branch, 0, known)).fold(TREE, usize::max);
    if !roots.is_empty() {
        out(Line::default());
        let head = format!(
            "{:<width$} {:>7} {:>12} {:>12} {:>12}  packet",
            "what held up what", "stops", "in all µs", "longest µs", "since µs"
        );
        out(Line::of(Role::Head, head));
    }
    for (culprit, branch) in roots.iter().take(most) {
        out(culprit_line(*culprit, branch, known));
        branches((*culprit, branch), &Stem { text: "", width }, known, out);
    }
    let more = roots.len().saturating_sub(most);
    if more > 0 {
        out(Line::of(Role::Dim, format!("and {}", count(more, "more tree"))));
    }
    if trees.left_out() > 0 {
        let left_out = count(trees.left_out(), "stop");
        out(Line::of(Role::Dim, format!("{left_out} left out: there are too many ways")));
    }
}

fn name(id: ChannelId, known: Known<'_>) -> String {
    known(id).map_or_else(|| format!("#{id}"), |channel| channel.label().into_owned())
}

fn node(id: ChannelId, known: Known<'_>) -> String {
    let way = known(id).and_then(Way::of);
    way.map_or_else(|| format!("the far end of {}", name(id, known)), |way| way.to.node)
}

fn deadlock_lines(deadlock: &Deadlock, known: Known<'_>, out: &mut impl FnMut(Line)) {
    let lasted = deadlock.until.saturating_sub(deadlock.since);
    let line = Line::of(Role::Bad, "deadlock").and(
        Role::Plain,
        format!("  since {} µs, for {} µs", microseconds(deadlock.since), microseconds(lasted)),
    );
    let line = line.and(Role::Plain, format!(" = {}", of_timeout(deadlock.periods)));
    let how = match deadlock.broken {
        None => return circle(deadlock, line.and(Role::Bad, "; not broken"), known, out),
        Some((by, how)) => (name(by, known), how),
    };
    let how = match how {
        (by, Broken::Resumed(By::Reset)) => format!("; broken by a forward reset of {by} (R-4)"),
        (by, Broken::Resumed(By::Go)) => format!("; broken by GO for {by}"),
        (by, Broken::Resumed(By::OpenLink)) => format!("; broken as {by} lost its link (F-7)"),
        (by, Broken::Dropped) => format!("; broken as the packet at the end of {by} went"),
        (by, Broken::Hole) => format!("; lost from sight in a hole beside {by}"),
    };
    circle(deadlock, line.and(Role::Notice, how), known, out);
}

/// The line, and below it the channels in their order.
fn circle(deadlock: &Deadlock, line: Line, known: Known<'_>, out: &mut impl FnMut(Line)) {
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
        let line = Line::of(Role::Dim, format!("   {left}")).and(Role::Plain, channel);
        out(line.and(Role::Dim, right));
    }
}

/// Periods, and what share of the blocked-packet timeout they are, to a ten-thousandth.
fn of_timeout(periods: u64) -> String {
    let share = u128::from(periods) * 10_000 / u128::from(BLOCKED);
    format!("{periods} periods, {}.{:04} of 2²²", share / 10_000, share % 10_000)
}

fn culprit_line(culprit: Culprit, branch: &Branch, known: Known<'_>) -> Line {
    let (role, text) = match culprit {
        Culprit::Deadlock => (Role::Bad, "deadlock".to_owned()),
        Culprit::Host(id) => (Role::Notice, format!("{} takes too little", node(id, known))),
        Culprit::OpenLink(id) => (Role::Bad, format!("{} has no link", name(id, known))),
        Culprit::OutOfSight(id) => (Role::Dim, format!("out of sight, behind {}", node(id, known))),
        Culprit::Busy(id) => (Role::Plain, format!("{} is busy", name(id, known))),
        Culprit::Switch(id) => {
            (Role::Plain, format!("path formation to {}, no other packets", name(id, known)))
        }
    };
    let line = Line::of(role, text);
    let mut holders: Vec<_> =
        branch.behind.values().flat_map(|branch| &branch.holders).copied().collect();
    holders.sort_unstable();
    holders.dedup();
    match culprit {
        Culprit::Busy(_) if !holders.is_empty() => {
            let holders: Vec<_> = holders.into_iter().map(|id| name(id, known)).collect();
            line.and(Role::Dim, format!(" with packets from {}", holders.join(", ")))
        }
        Culprit::Busy(_) | Culprit::Deadlock | Culprit::Host(_) => line,
        Culprit::Switch(_) | Culprit::OpenLink(_) | Culprit::OutOfSight(_) => line,
    }
}

/// How wide the names behind a branch are with the forks before them.
fn width(branch: &Branch, depth: usize, known: Known<'_>) -> usize {
    let behind = branch.behind.iter().map(|(id, branch)| {
        let own = 3 * (depth + 1) + name(*id, known).chars().count();
        own.max(width(branch, depth + 1, known))
    });
    behind.max().unwrap_or(0)
}

/// What stands before the forks of a tree, and where its numbers begin.
struct Stem<'a> {
    text: &'a str,
    width: usize,
}

/// The channels behind a branch, each with those behind it.
fn branches(
    (culprit, branch): (Culprit, &Branch),
    stem: &Stem<'_>,
    known: Known<'_>,
    out: &mut impl FnMut(Line),
) {
    let behind = branch.branches();
    let last = behind.len().saturating_sub(1);
    for (place, (id, branch)) in behind.into_iter().enumerate() {
        let (fork, more) = if place == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let name = name(id, known);
        let Stem { text, width } = stem;
        let room = width.saturating_sub(text.chars().count() + 3);
        let line = Line::of(Role::Dim, format!("{text}{fork}"))
            .and(Role::Plain, format!("{name:<room$} "));
        out(remark(culprit, branch, numbers(line, branch)));
        let text = format!("{text}{more}");
        branches((culprit, branch), &Stem { text: &text, width: *width }, known, out);
    }
}

fn numbers(line: Line, branch: &Branch) -> Line {
    // A channel that is busy was not stopped itself.
    let Some(longest) = branch.longest else { return line };
    let Longest { since, lasted, packet, .. } = longest;
    let packet = packet.map_or_else(|| "-".to_owned(), |packet| packet.to_string());
    let text = format!(
        "{:>7} {:>12} {:>12} {:>12}  {packet:>6}",
        branch.stops,
        microseconds(branch.total),
        microseconds(lasted),
        microseconds(since)
    );
    line.and(Role::Plain, text)
}

/// How the longest wait of a branch ended, if that is worth a word.
fn remark(culprit: Culprit, branch: &Branch, line: Line) -> Line {
    let Some(longest) = branch.longest else { return line };
    let timeouts = count(branch.timeouts, "timeout");
    match (branch.timeouts, longest.ended, culprit) {
        (0, Ended::CaptureEnd, _) => line.and(Role::Notice, "  stopped to the end"),
        (0, Ended::Resumed(By::Reset), _) => line.and(Role::Notice, "  ended by a reset"),
        (0, Ended::Resumed(By::Go | By::OpenLink) | Ended::Hole, _) => line,
        (_, _, Culprit::OutOfSight(_)) => {
            let text = format!("  {timeouts} (R-4): deadlock or dead sink ahead");
            line.and(Role::Bad, text)
        }
        (_, _, _) => line.and(Role::Bad, format!("  {timeouts} (R-4)")),
    }
}
