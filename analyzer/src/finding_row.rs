//! Findings as the rows of `docs/output.md`, the worst first.

use crate::event::Picoseconds;
use std::cmp::Reverse;

use codec::capture::ChannelId;
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::finding::{FactValue, Finding, FindingFact, FindingKind, FindingSet, Severity};
use crate::rules;

/// A row of `myriscope check`: the contract of `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingRow<'a> {
    /// Severity.
    pub severity: Severity,
    /// The kind's name.
    pub finding: &'static str,
    /// The rule that says so; none if it is about the recording.
    pub rule: Option<&'static str>,
    /// The rule's clause.
    pub clause: Option<&'static str>,
    /// Name of the channel.
    pub channel: &'a str,
    /// The first one's place on it.
    pub at: u64,
    /// The same in picoseconds.
    pub time_ps: Picoseconds,
    /// The number.
    pub count: u64,
    /// Facts about the first.
    pub first: FirstOccurrence<'a>,
    /// The last one's place.
    pub last_at: u64,
    /// The same in picoseconds.
    pub last_time_ps: Picoseconds,
    /// Its meaning.
    pub text: &'static str,
}

/// Facts about the first occurrence, names of channels filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstOccurrence<'a>(pub Vec<(&'static str, ShownFact<'a>)>);

/// Value of a fact, for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ShownFact<'a> {
    /// A number.
    Number(u64),
    /// Bits; a number in JSON.
    Byte(u8),
    /// A word or a channel's name.
    Text(&'a str),
    /// Names of channels.
    Texts(Vec<&'a str>),
}

impl Serialize for FirstOccurrence<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, said)| map.serialize_entry(name, said))?;
        map.end()
    }
}

/// The findings: by severity, rule, and number, the most first.
#[must_use]
pub fn ranked(ledger: &FindingSet) -> Vec<(FindingKind, ChannelId, &Finding)> {
    let mut all: Vec<_> = ledger.found().collect();
    all.sort_by_key(|(kind, channel, found)| {
        (kind.about().severity, *kind, Reverse(found.count), *channel)
    });
    all
}

impl Finding {
    /// The finding as the row of `docs/output.md`; `name` is that of a channel.
    #[must_use]
    pub fn row<'a>(
        &'a self,
        kind: FindingKind,
        channel: ChannelId,
        name: &impl Fn(ChannelId) -> &'a str,
    ) -> FindingRow<'a> {
        let about = kind.about();
        FindingRow {
            severity: about.severity,
            finding: about.name,
            rule: about.rule,
            clause: about.rule.and_then(rules::rule).map(|rule| rule.clause),
            channel: name(channel),
            at: self.first.at.0,
            time_ps: self.first.time,
            count: self.count,
            first: FirstOccurrence(self.facts.iter().map(|fact| shown_fact(fact, name)).collect()),
            last_at: self.last.at.0,
            last_time_ps: self.last.time,
            text: about.text,
        }
    }
}

fn shown_fact<'a>(
    fact: &FindingFact,
    name: &impl Fn(ChannelId) -> &'a str,
) -> (&'static str, ShownFact<'a>) {
    let said = match &fact.value {
        FactValue::Number(number) => ShownFact::Number(*number),
        FactValue::Byte(byte) => ShownFact::Byte(*byte),
        FactValue::Word(word) => ShownFact::Text(word),
        FactValue::Channel(channel) => ShownFact::Text(name(*channel)),
        FactValue::Channels(channels) => {
            ShownFact::Texts(channels.iter().map(|channel| name(*channel)).collect())
        }
    };
    (fact.name, said)
}
