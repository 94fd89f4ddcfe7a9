//! Sentences before all counts: who held up whom, and for how much of the time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, ChannelId};
use codec::time::LinkTimeout;
use codec::words::in_sentence;

use super::{StyledLine, TextStyle, count};
use crate::blocking::WaitRoot;
use crate::channel_name::ChannelEnds;
use crate::finding::{FactValue, Finding, FindingKind, FindingSet, NOTHING_FOLLOWS, Severity};

/// Names in a sentence; more are counted. *Chosen*: a line.
const NAMES_SHOWN: usize = 4;
/// Longest way on which a circle is looked for, in channels. *Chosen*: more than a packet passes.
const CIRCLE_MAX: usize = 64;

/// Channels stopped to the end by the nodes that they come from, with the ends of those of whose packets nothing was seen.
type StoppedOutputs<'a> = BTreeMap<&'a str, BTreeMap<ChannelId, Option<&'a ChannelEnds>>>;

/// Cause that held up senders.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HoldUpCause {
    /// A circle of channels, by the first of them; none if it is the cause of another time.
    Deadlock(Option<ChannelId>),
    /// Channels of which each leads to the next, the only one that was stopped there, if their packets do. S-3
    Circle(BTreeSet<ChannelId>),
    Host(String),
    /// A node behind which nothing was captured.
    Sight(String),
    /// A switch at which it was the turn of others' packets.
    Turns(String),
    /// A switch at which nothing that was recorded explains it.
    Unexplained(String),
    /// No STOP or GO to the sender was recorded: it may have been stopped. F-1
    NoCommands,
    /// A packet that nothing follows.
    Nothing,
    /// A packet that nothing follows on a handshake cable: it may wait for an acknowledge. B-1
    Unknown,
    /// A node; neither a host nor others' packets.
    Node(String),
}

#[derive(Clone, Debug, Default)]
struct HeldUpSenders {
    severity: Severity,
    senders: BTreeMap<String, HeldUpTime>,
    /// Nodes that received what other senders of the group sent: links on the way.
    between: BTreeSet<String>,
    /// Longest of all channels.
    longest: HeldUpTime,
    /// Number of channels in the circle.
    circle: usize,
}

/// Time for which a sender was held up: that of the channel that was held up longest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct HeldUpTime {
    /// Percentage of the recorded time.
    share: u64,
    lasts: bool,
}

/// Who held up whom, the worst first; none where no sender was held up for a tenth of the time.
pub fn held_up<'a>(
    set: &FindingSet,
    known: &dyn Fn(ChannelId) -> Option<&'a Channel>,
) -> Vec<StyledLine> {
    let mut groups: BTreeMap<HoldUpCause, HeldUpSenders> = BTreeMap::new();
    let judged = set
        .found()
        .filter_map(|it| Some((ChannelEnds::of(known(it.1)?)?, cause(set, it, known)?, it)));
    let judged: Vec<_> = judged.collect();
    let leads = |ends: &ChannelEnds, cause: &_, found| {
        matches!(cause, HoldUpCause::Sight(node) if *node == ends.to.node) && is_unseen(found)
    };
    let mut stopped = StoppedOutputs::new();
    let lasting = judged.iter().filter(|(.., it)| it.2.fact("until").is_some());
    for (ends, cause, (_, id, found)) in lasting {
        let next = leads(ends, cause, found).then_some(ends);
        stopped.entry(&ends.from.node).or_default().insert(*id, next);
    }
    for (ends, cause, (kind, _, found)) in &judged {
        let Some(share) = found.fact("share").and_then(FactValue::number) else { continue };
        let circle = leads(ends, cause, found).then(|| circle(ends, &stopped)).flatten();
        let cause = circle.map_or_else(|| cause.clone(), HoldUpCause::Circle);
        let group = groups.entry(cause).or_default();
        let time = HeldUpTime { share, lasts: found.fact("until").is_some() };
        group.severity = group.severity.min(found.severity);
        group.longest.extend(time);
        if *kind == FindingKind::Deadlock {
            group.circle = found.channels("circle").len();
            continue;
        }
        let (sender, receiver) = if found.has_word("unrecorded", "opposite") {
            (&ends.to.node, &ends.from.node)
        } else {
            (&ends.from.node, &ends.to.node)
        };
        group.senders.entry(sender.clone()).or_default().extend(time);
        group.between.insert(receiver.clone());
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| (group.severity, Reverse(group.longest.share)));
    groups.into_iter().map(|(cause, group)| group.sentence(&cause)).collect()
}

/// True if a channel was stopped to the end, and nothing was seen of the packet that waits behind it.
fn is_unseen(found: &Finding) -> bool {
    let has = |name| found.fact(name).is_some();
    has("until") && !has("packet") && !has("unrecorded")
}

/// The circle to which the only stopped output of the node behind a channel leads, and the only one of each node behind it.
/// Nobody sends a packet back over the link on which it came.
fn circle(ends: &ChannelEnds, outputs: &StoppedOutputs<'_>) -> Option<BTreeSet<ChannelId>> {
    let (mut came, mut way) = (ends, Vec::new());
    while way.len() < CIRCLE_MAX {
        let stopped = outputs.get(came.to.node.as_str()).filter(|stopped| stopped.len() == 1)?;
        let (id, next) = stopped.first_key_value()?;
        if let Some(begin) = way.iter().position(|other| other == id) {
            return Some(way.drain(begin..).collect());
        }
        way.push(*id);
        came = next.filter(|next| next.from != came.to)?;
    }
    None
}

fn cause<'a>(
    set: &FindingSet,
    (kind, id, found): (FindingKind, ChannelId, &Finding),
    known: &dyn Fn(ChannelId) -> Option<&'a Channel>,
) -> Option<HoldUpCause> {
    let ends = |id: ChannelId| ChannelEnds::of(known(id)?);
    let node = |id: ChannelId| {
        let ends = ends(id)?;
        Some(if found.has_word("unrecorded", "opposite") { ends.from.node } else { ends.to.node })
    };
    let named = |name| found.channels(name).first().copied();
    let channel = |name| node(named(name)?);
    let is_word = |word| found.has_word("cause", word);
    if kind == FindingKind::Deadlock {
        return Some(HoldUpCause::Deadlock(Some(id)));
    } else if kind == FindingKind::SlowHost {
        return channel("by").map(HoldUpCause::Host);
    } else if kind == FindingKind::HeldUp && found.has_word("unrecorded", "commands") {
        return Some(HoldUpCause::NoCommands);
    } else if kind == FindingKind::HeldUp {
        let node = || Some(ends(named("behind")?)?.from.node);
        return if is_word(WaitRoot::Busy.name()) {
            node().map(HoldUpCause::Turns)
        } else if is_word(WaitRoot::Unknown.name()) {
            node().map(HoldUpCause::Unexplained)
        } else if is_word(NOTHING_FOLLOWS) {
            Some(HoldUpCause::Unknown)
        } else {
            channel("behind").map(HoldUpCause::Sight)
        };
    } else if kind != FindingKind::Standstill {
        return None;
    }
    let end = found.channels("waits_for").last().copied().unwrap_or(id);
    let last = node(end)?;
    Some(if is_word(WaitRoot::Cycle.name()) {
        let circles = set.found().filter(|(kind, ..)| *kind == FindingKind::Deadlock);
        let mut circles = circles.filter(|(_, _, found)| found.channels("circle").contains(&end));
        HoldUpCause::Deadlock(circles.next().map(|(_, first, _)| first))
    } else if is_word(WaitRoot::Host.name()) {
        HoldUpCause::Host(last)
    } else if is_word(WaitRoot::OutOfSight.name()) {
        HoldUpCause::Sight(last)
    } else if is_word(NOTHING_FOLLOWS) {
        let timeout = known(id)?.link_timeout();
        if timeout == LinkTimeout::Never { HoldUpCause::Unknown } else { HoldUpCause::Nothing }
    } else {
        HoldUpCause::Node(last)
    })
}

impl HeldUpTime {
    fn extend(&mut self, other: Self) {
        self.share = self.share.max(other.share);
        self.lasts |= other.lasts;
    }
}

impl HeldUpSenders {
    fn sentence(&self, cause: &HoldUpCause) -> StyledLine {
        let is_first = |sender: &String| !self.between.contains(sender);
        let has_first = self.senders.keys().any(is_first);
        let shown = self.senders.iter().filter(|(sender, _)| !has_first || is_first(sender));
        let (names_shown, times): (Vec<_>, Vec<_>) = shown.unzip();
        let times = if times.is_empty() { vec![&self.longest] } else { times };
        let time = time_in_words(&names_shown, &times);
        let senders = names(&names_shown);
        let held = format!("held up {senders} {time}");
        let circle = count(self.circle, "channel");
        let text = match cause {
            HoldUpCause::Circle(channels) => format!(
                "a circle of {} {held}: a deadlock, unless the first byte of a packet there, not recorded, leads elsewhere",
                count(channels.len(), "stopped channel")
            ),
            HoldUpCause::Deadlock(None) => format!("a deadlock {held}"),
            HoldUpCause::Deadlock(Some(_)) if names_shown.is_empty() => {
                format!("a deadlock of {circle} lasted {time}")
            }
            HoldUpCause::Deadlock(Some(_)) => format!("a deadlock of {circle} {held}"),
            HoldUpCause::Host(host) => format!("{host} {held}"),
            HoldUpCause::Sight(node) if self.severity == Severity::Note => {
                format!("something out of sight behind {node} {held}")
            }
            HoldUpCause::Sight(node) => {
                format!("{senders} stood still {time}: deadlock or dead sink behind {node}")
            }
            HoldUpCause::Turns(node) => format!("packets of others at {node} {held}"),
            HoldUpCause::Unexplained(node) => {
                format!("{node} {held}, and nothing recorded explains it")
            }
            HoldUpCause::NoCommands => format!(
                "it cannot be told whether {senders} stood still {time}: no STOP or GO was recorded there"
            ),
            HoldUpCause::Nothing => format!("{senders} stopped in the middle of a packet {time}"),
            HoldUpCause::Unknown => {
                format!("{senders} stood in a packet {time}: a handshake cable shows no cause")
            }
            HoldUpCause::Node(node) => format!("{senders} stood still {time}, held up at {node}"),
        };
        let role = match self.severity {
            Severity::Error => TextStyle::Bad,
            Severity::Warning | Severity::Note => TextStyle::Notice,
        };
        StyledLine::of(role, text)
    }
}

/// Words for the times of senders: the least and the greatest share, and who was held up to the end.
fn time_in_words(senders: &[&String], times: &[&HeldUpTime]) -> String {
    let shares = || times.iter().map(|time| time.share);
    let (least, most) = (shares().min().unwrap_or(0), shares().max().unwrap_or(0));
    let last = times.iter().all(|time| time.lasts);
    let share = match (least, most) {
        (100, _) => return "all the time".to_owned(),
        (_, 0) if last => return "to the end".to_owned(),
        (_, 0) => "for less than 1 % of the time".to_owned(),
        (0, _) => format!("for up to {most} % of the time"),
        _ if least == most => format!("for {most} % of the time"),
        _ => format!("for {least} to {most} % of the time"),
    };
    let lasting = senders.iter().zip(times).filter(|(_, time)| time.lasts);
    let lasting: Vec<_> = lasting.map(|(sender, _)| *sender).collect();
    if last {
        format!("{share}, to the end")
    } else if lasting.is_empty() {
        share
    } else {
        format!("{share}, {} to the end", names(&lasting))
    }
}

/// Names in words: `a, b and c`.
fn names(all: &[&String]) -> String {
    let shown = all.get(..NAMES_SHOWN).unwrap_or(all);
    let more = all.len() - shown.len();
    let mut words: Vec<String> = shown.iter().map(|name| (*name).clone()).collect();
    words.extend((more > 0).then(|| format!("{more} more")));
    in_sentence(&words, "and")
}
