//! The fields of findings, in the order of their JSON.

use super::CAPTURE;
use crate::filter::field::Field;
use crate::filter::field::Shape::{List, Number, Place, Ranks, Text, Time, Words};
use crate::finding::{ALL, Severity};

const SEVERITY: &[&str] =
    &[Severity::Note.name(), Severity::Warning.name(), Severity::Error.name()];

/// The names of all kinds of finding.
const FINDING: &[&str] = &{
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

#[rustfmt::skip]
pub(in crate::filter) const FINDINGS: &[Field] = &[
    Field::new("severity", Ranks(SEVERITY), "", "", "how bad it is"),
    Field::new("finding", Words(FINDING), "", "", "what was found"),
    Field::new("rule", Text, "", "", "the rule that says so"),
    Field::new("clause", Text, "", "", "the rule's clause"),
    Field::new("channel", Text, "", "", "name of the channel"),
    Field::new("at", Place, "characters", "", "place of the first"),
    Field::new("time_ps", Time, "ps", "", "time of the first"),
    Field::new("count", Number(u64::MAX), "", "", "how many there are"),
    Field::new("first", List, "facts", "", "what is to be said about the first"),
    Field::new("last_at", Place, "characters", "", "place of the last"),
    Field::new("last_time_ps", Time, "ps", "", "time of the last"),
    Field::new("text", Text, "", "", "what it means"),
    CAPTURE,
];
