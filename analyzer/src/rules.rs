//! Rules as data: their text, the part of each that a capture shows, and its test.

mod characters;
mod explain;
mod flow;
mod network;
mod packets;
mod resets;
mod transport;
mod verdict;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use self::explain::{FindingInfoRow, RuleRow};
pub use self::verdict::{RuleOutcome, RuleVerdict, VerdictRow, verdicts};
use crate::finding::{CheckCoverage, FindingInfo, FindingSet, ParameterCheck};
use crate::link::parameters::UnknownParameters;

/// Rule of Myrinet, as in `docs/rules.md`.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Id: `F-3`.
    pub id: &'static str,
    /// Part of the rule that a capture shows.
    pub shows: RuleVisibility,
    /// Evidence required to judge the rule; none if no capture shows it.
    pub evidence: Option<&'static str>,
    /// Demo whose capture tests the rule.
    pub example: Option<&'static str>,
}

/// Part of a rule that a capture shows.
#[derive(Clone, Copy, Debug)]
pub enum RuleVisibility {
    /// The complete rule.
    All(RuleTest),
    /// A part of the rule, and a description of the rest.
    Part(RuleTest, &'static str),
    /// Nothing, with the reason.
    Nothing(&'static str),
}

/// Test of a rule by a capture.
#[derive(Clone, Copy, Debug)]
pub struct RuleTest {
    /// Evidence that the capture must contain for a judgement.
    pub needs: RuleEvidence,
    /// Number of occasions on which the rule was tested.
    pub times: fn(&FindingSet) -> u64,
    /// Name of these occasions, in the plural.
    pub what: &'static str,
}

/// Evidence that a capture must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleEvidence {
    /// One channel.
    Channel,
    /// Both channels of a link.
    Link,
    /// A packet captured on two consecutive links.
    Way,
    /// Both channels of a link, and the parameters that a check requires.
    Parameters(ParameterCheck),
    /// A packet captured on two consecutive links, or a channel whose period was measured.
    Rates,
    /// A packet captured on two consecutive links, the delays of both, and the longest path
    /// formation of the switch between them.
    Bound,
}

/// Groups of rules, with letter and name.
pub const GROUPS: [(&str, &str); 12] = [
    ("C", "characters"),
    ("W", "wires"),
    ("P", "packets"),
    ("F", "flow control"),
    ("R", "resets"),
    ("L", "lamps"),
    ("S", "switches"),
    ("I", "interfaces"),
    ("N", "networks"),
    ("H", "host software"),
    ("B", "comparisons"),
    ("T", "reliability"),
];

/// Text and source of each rule, by its id: the tables of `docs/rules.md`.
static TEXTS: LazyLock<BTreeMap<&str, [&str; 2]>> = LazyLock::new(|| {
    let rows = include_str!("../rules.md").lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        Some((cells.next()?, [cells.next()?, cells.next()?]))
    });
    rows.collect()
});

/// All rules, in order.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let rooms: [&[Rule]; 6] = [
        &characters::RULES,
        &packets::RULES,
        &flow::RULES,
        &resets::RULES,
        &network::RULES,
        &transport::RULES,
    ];
    rooms.into_iter().flatten()
}

/// Rule with the given id, in upper or lower case.
pub fn rule(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

impl Rule {
    /// Rule of which no capture shows anything, with the reason.
    const fn hidden(id: &'static str, reason: &'static str) -> Self {
        Self { id, shows: RuleVisibility::Nothing(reason), evidence: None, example: None }
    }

    /// Rule of which a capture shows a part or all.
    const fn shown(id: &'static str, shows: RuleVisibility, evidence: &'static str) -> Self {
        Self { id, shows, evidence: Some(evidence), example: None }
    }

    /// The rule with the name of a demo whose capture tests it.
    const fn example(self, demo: &'static str) -> Self {
        Self { example: Some(demo), ..self }
    }

    /// Source: sections of the link specification, or another document; `–` if there is none.
    pub fn clause(&self) -> &'static str {
        TEXTS.get(self.id).map_or("–", |[_, clause]| clause)
    }

    /// Text of the rule.
    pub fn text(&self) -> &'static str {
        TEXTS.get(self.id).map_or("", |[text, _]| text)
    }

    /// Kinds of findings that belong to the rule.
    pub fn findings(&self) -> impl Iterator<Item = &'static FindingInfo> {
        crate::finding::ALL.iter().filter(|about| about.rule == Some(self.id))
    }

    /// Letter of the rule's group.
    pub fn group(&self) -> &'static str {
        self.id.split('-').next().unwrap_or(self.id)
    }
}

impl RuleEvidence {
    /// Evidence that the capture lacks, if any.
    pub const fn lacking(self, set: &FindingSet) -> Option<&'static str> {
        let seen = set.seen();
        match self {
            Self::Channel if seen.characters == 0 => Some("nothing was captured"),
            Self::Link | Self::Parameters(_) if seen.paired == 0 => {
                Some("no channel was captured together with its opposite")
            }
            Self::Rates if seen.wires.rates > 0 => None,
            Self::Way | Self::Bound | Self::Rates if seen.travelled == 0 => {
                Some("no packet was captured on two links, one behind the other")
            }
            Self::Bound if seen.timed == 0 => Some(
                "the longest path formation of switches is not known (path=, or --assume path=N), or the delay of cables is not (delay=)",
            ),
            Self::Channel | Self::Link | Self::Way | Self::Rates => None,
            Self::Bound | Self::Parameters(_) => None,
        }
    }

    /// Unknown parameters, if they prevented every check.
    fn unknown(self, set: &FindingSet) -> Option<UnknownParameters> {
        let Self::Parameters(judgement) = self else { return None };
        let CheckCoverage { times, unknown } = set.seen().check_coverage(judgement);
        (times == 0 && !unknown.is_empty()).then_some(unknown)
    }
}

/// Test that depends on link parameters.
const fn judged(
    judgement: ParameterCheck,
    times: fn(&FindingSet) -> u64,
    what: &'static str,
) -> RuleTest {
    RuleTest { needs: RuleEvidence::Parameters(judgement), times, what }
}

const fn test(needs: RuleEvidence, times: fn(&FindingSet) -> u64, what: &'static str) -> RuleTest {
    RuleTest { needs, times, what }
}
