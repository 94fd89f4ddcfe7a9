//! Sentences before all counts: who held up whom, and for how much of the time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use codec::capture::{Channel, ChannelId};
use codec::time::LinkTimeout;

use super::{StyledLine, TextStyle, count};
use crate::blocking::WaitRoot;
use crate::channel_name::ChannelEnds;
use crate::finding::{FactValue, Finding, FindingKind, FindingSet, NOTHING_FOLLOWS, Severity};

/// Names in a sentence; more are counted. *Chosen*: a line.
const NAMES_SHOWN: usize = 4;

/// Cause that held up senders.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HoldUpCause {
    /// A circle of channels, by the first of them; none if it is the cause of another time.
    Deadlock(Option<ChannelId>),
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

/// Senders that were held up by one cause.
#[derive(Clone, Debug)]
struct HeldUpSenders {
    severity: Severity,
    senders: BTreeSet<String>,
    /// Nodes that received what other senders of the group sent: links on the way.
    between: BTreeSet<String>,
    share: u64,
    /// Number of channels in the circle.
    circle: usize,
    lasts: bool,
}

/// Who held up whom, the worst first; none where no sender was held up for a tenth of the time.
pub fn held_up<'a>(
    set: &FindingSet,
    known: &dyn Fn(ChannelId) -> Option<&'a Channel>,
) -> Vec<StyledLine> {
    let mut groups: BTreeMap<HoldUpCause, HeldUpSenders> = BTreeMap::new();
    for (kind, id, found) in set.found() {
        let Some(share) = number(found, "share") else { continue };
        let Some(ends) = known(id).and_then(ChannelEnds::of) else { continue };
        let Some(cause) = cause(set, (kind, id, found), known) else { continue };
        let group = groups.entry(cause).or_insert_with(|| HeldUpSenders {
            severity: found.severity,
            senders: BTreeSet::new(),
            between: BTreeSet::new(),
            share: 0,
            circle: 0,
            lasts: false,
        });
        group.severity = group.severity.min(found.severity);
        group.share = group.share.max(share);
        group.lasts |= fact(found, "until").is_some();
        if kind == FindingKind::Deadlock {
            group.circle = channels(found, "circle").map_or(0, <[ChannelId]>::len);
            continue;
        }
        let (sender, receiver) = if unrecorded(found, "opposite") {
            (ends.to.node, ends.from.node)
        } else {
            (ends.from.node, ends.to.node)
        };
        group.senders.insert(sender);
        group.between.insert(receiver);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| (group.severity, Reverse(group.share)));
    groups.into_iter().map(|(cause, group)| group.sentence(&cause)).collect()
}

fn cause<'a>(
    set: &FindingSet,
    (kind, id, found): (FindingKind, ChannelId, &Finding),
    known: &dyn Fn(ChannelId) -> Option<&'a Channel>,
) -> Option<HoldUpCause> {
    let ends = |id: ChannelId| ChannelEnds::of(known(id)?);
    let node = |id: ChannelId| {
        let ends = ends(id)?;
        Some(if unrecorded(found, "opposite") { ends.from.node } else { ends.to.node })
    };
    let named = |name| {
        if let FactValue::Channel(id) = fact(found, name)? { Some(*id) } else { None }
    };
    let channel = |name| node(named(name)?);
    let is_word = |word| fact(found, "cause") == Some(&FactValue::Word(word));
    if kind == FindingKind::Deadlock {
        return Some(HoldUpCause::Deadlock(Some(id)));
    } else if kind == FindingKind::SlowHost {
        return channel("by").map(HoldUpCause::Host);
    } else if kind == FindingKind::HeldUp && unrecorded(found, "commands") {
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
    let end = channels(found, "waits_for").and_then(<[ChannelId]>::last).copied().unwrap_or(id);
    let last = node(end)?;
    Some(if is_word(WaitRoot::Cycle.name()) {
        let circles = set.found().filter(|(kind, ..)| *kind == FindingKind::Deadlock);
        let mut circles = circles.filter(|(_, _, found)| {
            channels(found, "circle").is_some_and(|circle| circle.contains(&end))
        });
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

/// True if this was not recorded: of the channel's sender the commands, or of the one that got those on the channel all
/// else.
fn unrecorded(found: &Finding, what: &'static str) -> bool {
    fact(found, "unrecorded") == Some(&FactValue::Word(what))
}

fn fact<'f>(found: &'f Finding, name: &str) -> Option<&'f FactValue> {
    found.facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value)
}

fn number(found: &Finding, name: &str) -> Option<u64> {
    if let FactValue::Number(number) = fact(found, name)? { Some(*number) } else { None }
}

fn channels<'f>(found: &'f Finding, name: &str) -> Option<&'f [ChannelId]> {
    if let FactValue::Channels(channels) = fact(found, name)? { Some(channels) } else { None }
}

impl HeldUpSenders {
    fn sentence(&self, cause: &HoldUpCause) -> StyledLine {
        let first: Vec<_> = self.senders.difference(&self.between).collect();
        let senders = if first.is_empty() { self.senders.iter().collect() } else { first };
        let senders = names(&senders);
        let time = match (self.share, self.lasts) {
            (100, _) => "all the time".to_owned(),
            (0, true) => "to the end".to_owned(),
            (0, false) => "for less than 1 % of the time".to_owned(),
            (share, true) => format!("for {share} % of the time, to the end"),
            (share, false) => format!("for {share} % of the time"),
        };
        let text = match cause {
            HoldUpCause::Deadlock(None) => {
                format!("a deadlock held up {senders} {time}")
            }
            HoldUpCause::Deadlock(Some(_)) if senders.is_empty() => {
                format!("a deadlock of {} lasted {time}", count(self.circle, "channel"))
            }
            HoldUpCause::Deadlock(Some(_)) => {
                let circle = count(self.circle, "channel");
                format!("a deadlock of {circle} held up {senders} {time}")
            }
            HoldUpCause::Host(host) => format!("{host} held up {senders} {time}"),
            HoldUpCause::Sight(node) if self.severity == Severity::Note => {
                format!("something out of sight behind {node} held up {senders} {time}")
            }
            HoldUpCause::Sight(node) => {
                format!("{senders} stood still {time}: deadlock or dead sink behind {node}")
            }
            HoldUpCause::Turns(node) => {
                format!("packets of others at {node} held up {senders} {time}")
            }
            HoldUpCause::Unexplained(node) => {
                format!("{node} held up {senders} {time}, and nothing recorded explains it")
            }
            HoldUpCause::NoCommands => format!(
                "it cannot be told whether {senders} stood still {time}: no STOP or GO was recorded there"
            ),
            HoldUpCause::Nothing => {
                format!("{senders} stopped in the middle of a packet {time}")
            }
            HoldUpCause::Unknown => {
                format!("{senders} stood in a packet {time}: a handshake cable shows no cause")
            }
            HoldUpCause::Node(node) => {
                format!("{senders} stood still {time}, held up at {node}")
            }
        };
        let role = match self.severity {
            Severity::Error => TextStyle::Bad,
            Severity::Warning | Severity::Note => TextStyle::Notice,
        };
        StyledLine::of(role, text)
    }
}

/// Names in words: `a, b and c`.
fn names(all: &[&String]) -> String {
    let shown = all.get(..NAMES_SHOWN).unwrap_or(all);
    let more = all.len() - shown.len();
    let mut words: Vec<String> = shown.iter().map(|name| (*name).clone()).collect();
    words.extend((more > 0).then(|| format!("{more} more")));
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
