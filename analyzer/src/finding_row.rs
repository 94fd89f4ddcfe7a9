//! Findings as the rows of `docs/output.md`, the worst first.

use crate::event::Picoseconds;
use std::cmp::Reverse;

use codec::capture::{Channel, ChannelId};
use serde::{Serialize, Serializer};

use crate::finding::{
    ALL, CaptureArgument, EvidenceView, FactValue, Finding, FindingCase, FindingFact, FindingKind,
    FindingSet, Severity, ShellCommand,
};
use crate::row::FieldShape::{List, Place, Ranks, Text, Words};
use crate::row::row;
use crate::rules;

row! {
    /// A row of `myriscope check`: the contract of `docs/output.md`.
    #[derive(Eq)]
    pub struct FindingRow<'a> {
        row: &'static str as Words(&["finding"]), "", "", "finding; in JSONL verdict for the rows of rules";
        severity: Severity as Ranks(SEVERITIES), "", "", "how bad it is";
        finding: &'static str as Words(FINDINGS), "", "", "what was found";
        rule: Option<&'static str>, "", "", "the rule that says so";
        clause: Option<&'static str>, "", "", "the rule's clause";
        channel: &'a str, "", "", "name of the channel";
        at: u64 as Place, "characters", "", "place of the first";
        time_ps: Picoseconds, "ps", "", "time of the first";
        count: u64, "", "", "how many there are";
        first: FirstOccurrence<'a> as List, "facts", "", "what is to be said about the first";
        last_at: u64 as Place, "characters", "", "place of the last";
        last_time_ps: Picoseconds, "ps", "", "time of the last";
        text: &'static str, "", "", "what it means";
        see: Option<ShellCommand> ["Option::is_none"] as Text, "", "", "command that shows the first";
    }
}

row! {
    /// A row of `myriscope check --each`: the contract of `docs/output.md`.
    #[derive(Eq)]
    pub struct CaseRow<'a> {
        row: &'static str as Words(&["case"]), "", "", "kind of the row";
        severity: Severity as Ranks(SEVERITIES), "", "", "how bad it is";
        finding: &'static str as Words(FINDINGS), "", "", "what was found";
        rule: Option<&'static str>, "", "", "the rule that says so";
        channel: &'a str, "", "", "name of the channel";
        at: u64 as Place, "characters", "", "place";
        time_ps: Picoseconds, "ps", "", "time";
        packet: Option<u64>, "", "", "number of the packet on the channel";
        count: u64, "", "", "1; of a long repetition: how many there are";
        facts: FirstOccurrence<'a> as List, "facts", "", "what is to be said about it";
    }
}

pub(crate) const SEVERITIES: &[&str] =
    &[Severity::Note.name(), Severity::Warning.name(), Severity::Error.name()];

const FINDINGS: &[&str] = &{
    let mut names = [""; ALL.len()];
    let mut at = 0;
    while at < ALL.len() {
        #[expect(clippy::indexing_slicing, reason = "what is outside does not compile")]
        {
            names[at] = ALL[at].name;
        }
        at += 1;
    }
    names
};

/// Facts about an occurrence, names of channels filled in.
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
    /// Address of an interface.
    Address(String),
    /// Names of channels.
    Texts(Vec<&'a str>),
}

impl Serialize for FirstOccurrence<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, said)| (name, said)))
    }
}

/// The findings: by severity, rule, and number, the most first.
pub fn ranked(set: &FindingSet) -> Vec<(FindingKind, ChannelId, &Finding)> {
    let mut all: Vec<_> = set.found().collect();
    all.sort_by_key(|(kind, channel, found)| {
        (found.severity, *kind, Reverse(found.count), *channel)
    });
    all
}

/// The findings on known channels as rows, the worst first, each with its kind, its channel, and the command
/// that shows its first occurrence in a capture.
pub fn finding_rows<'a>(
    set: &'a FindingSet,
    known: &'a (impl Fn(ChannelId) -> Option<&'a Channel> + 'a),
    capture: CaptureArgument<'a>,
) -> impl Iterator<Item = (FindingKind, ChannelId, &'a Channel, FindingRow<'a>)> {
    let name = |id| known(id).map_or("", |channel| channel.name.as_str());
    ranked(set).into_iter().filter_map(move |(kind, id, found)| {
        let channel = known(id)?;
        let see = Some(found.view(kind).command(capture, channel, found.first.at));
        Some((kind, id, channel, FindingRow { see, ..found.row(kind, id, &name) }))
    })
}

impl Finding {
    /// The view that shows its first occurrence. Of a sender that was not recorded, there are the commands to it alone.
    fn view(&self, kind: FindingKind) -> EvidenceView {
        if self.fact("unrecorded").is_some() { EvidenceView::Characters } else { kind.about().view }
    }

    /// The finding as the row of `docs/output.md`; `name` is that of a channel.
    pub fn row<'a>(
        &'a self,
        kind: FindingKind,
        channel: ChannelId,
        name: &impl Fn(ChannelId) -> &'a str,
    ) -> FindingRow<'a> {
        let about = kind.about();
        FindingRow {
            row: "finding",
            severity: self.severity,
            finding: about.name,
            rule: about.rule,
            clause: about.rule.and_then(rules::rule).map(rules::Rule::clause),
            channel: name(channel),
            at: self.first.at.0,
            time_ps: self.first.time,
            count: self.count,
            first: FirstOccurrence(self.facts.iter().map(|fact| shown_fact(fact, name)).collect()),
            last_at: self.last.at.0,
            last_time_ps: self.last.time,
            text: about.text,
            see: None,
        }
    }
}

impl FindingCase {
    /// The case as the row of `docs/output.md`; `name` is that of a channel.
    pub fn row<'a>(&'a self, name: &impl Fn(ChannelId) -> &'a str) -> CaseRow<'a> {
        let about = self.kind.about();
        let packet = self.facts.iter().find(|fact| fact.name == "packet");
        CaseRow {
            row: "case",
            severity: self.severity,
            finding: about.name,
            rule: about.rule,
            channel: name(self.channel),
            at: self.place.at.0,
            time_ps: self.place.time,
            packet: packet.and_then(|fact| fact.value.number()),
            count: self.count,
            facts: FirstOccurrence(self.facts.iter().map(|fact| shown_fact(fact, name)).collect()),
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
        FactValue::Address(address) => ShownFact::Address(address.to_string()),
        FactValue::Channel(channel) => ShownFact::Text(name(*channel)),
        FactValue::Channels(channels) => {
            ShownFact::Texts(channels.iter().map(|channel| name(*channel)).collect())
        }
    };
    (fact.name, said)
}
