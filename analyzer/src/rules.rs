//! The rules as data: their text, what a capture can show of them, and how that is judged.

mod characters;
mod explain;
mod flow;
mod network;
mod packets;
mod resets;
mod transport;
mod verdict;

pub use self::explain::{FindingInfoRow, RuleRow};
pub use self::verdict::{RuleOutcome, RuleVerdict, VerdictRow, verdicts};
use crate::finding::{CheckCoverage, FindingInfo, FindingSet, ParameterCheck};
use crate::link::parameters::UnknownParameters;

/// A rule of Myrinet, as `docs/rules.md` has it.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its id: `F-3`.
    pub id: &'static str,
    /// Place at which it comes from: sections of the link specification, or another source; – if nowhere.
    pub clause: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Part of it that a capture shows.
    pub shows: RuleVisibility,
    /// Evidence needed to judge it.
    pub evidence: &'static str,
    /// A fixture that shows it.
    pub example: Option<&'static str>,
}

/// Part of a rule that a capture shows.
#[derive(Clone, Copy, Debug)]
pub enum RuleVisibility {
    /// All that matters.
    All(RuleTest),
    /// Something; and what not.
    Part(RuleTest, &'static str),
    /// Nothing, and why.
    Nothing(&'static str),
}

/// Test of a rule by a capture.
#[derive(Clone, Copy, Debug)]
pub struct RuleTest {
    /// Evidence that the capture must contain for a judgement.
    pub needs: RuleEvidence,
    /// Number of tested things.
    pub times: fn(&FindingSet) -> u64,
    /// Name of the tested things, in the plural.
    pub what: &'static str,
}

/// Evidence that a capture must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleEvidence {
    /// One channel is enough.
    Channel,
    /// Both channels of a link.
    Link,
    /// A packet on two links, one behind the other.
    Way,
    /// Both channels of a link, and the parameters that a judgement rests on.
    Parameters(ParameterCheck),
    /// A packet on two links, one behind the other, the cables of these, and the longest path formation
    /// of the switch between.
    Bound,
}

/// The groups of rules, each with its letter and its name.
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

/// The rule of an id, in capitals or not.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

impl Rule {
    /// The findings that come from it.
    pub fn findings(&self) -> impl Iterator<Item = &'static FindingInfo> {
        crate::finding::ALL.iter().filter(|about| about.rule == Some(self.id))
    }

    /// Its letter.
    #[must_use]
    pub fn group(&self) -> &'static str {
        self.id.split('-').next().unwrap_or(self.id)
    }
}

impl RuleEvidence {
    /// True if a capture has it; if not, what it lacks.
    #[must_use]
    pub const fn lacking(self, ledger: &FindingSet) -> Option<&'static str> {
        let seen = ledger.seen();
        match self {
            Self::Channel if seen.characters == 0 => Some("nothing was captured"),
            Self::Link | Self::Parameters(_) if seen.paired == 0 => {
                Some("no channel was captured together with its opposite")
            }
            Self::Way | Self::Bound if seen.travelled == 0 => {
                Some("no packet was captured on two links, one behind the other")
            }
            Self::Bound if seen.timed == 0 => Some(
                "the longest path formation of switches is not known (path=, or --assume path=N), or the delay of cables is not (delay=)",
            ),
            Self::Channel | Self::Link | Self::Way | Self::Bound | Self::Parameters(_) => None,
        }
    }

    /// The parameters for want of which nothing could be judged.
    fn unknown(self, ledger: &FindingSet) -> Option<UnknownParameters> {
        let Self::Parameters(judgement) = self else { return None };
        let CheckCoverage { times, unknown } = ledger.seen().check_coverage(judgement);
        (times == 0 && !unknown.is_empty()).then_some(unknown)
    }
}

/// A test of what parameters of links decide.
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
