//! Fields of findings, in the order of their JSON.

use super::CAPTURE;
use crate::filter::field::FieldShape::{List, Number, Place, Ranks, Text, Time, Words};
use crate::filter::field::RowField;
use crate::finding::{ALL, Severity};

const SEVERITY: &[&str] =
    &[Severity::Note.name(), Severity::Warning.name(), Severity::Error.name()];

/// Names of all kinds of finding.
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
pub(in crate::filter) const FINDINGS: &[RowField] = &[
    RowField::new("severity", Ranks(SEVERITY), "", "", "how bad it is"),
    RowField::new("finding", Words(FINDING), "", "", "what was found"),
    RowField::new("rule", Text, "", "", "the rule that says so"),
    RowField::new("clause", Text, "", "", "the rule's clause"),
    RowField::new("channel", Text, "", "", "name of the channel"),
    RowField::new("at", Place, "characters", "", "place of the first"),
    RowField::new("time_ps", Time, "ps", "", "time of the first"),
    RowField::new("count", Number(u64::MAX), "", "", "how many there are"),
    RowField::new("first", List, "facts", "", "what is to be said about the first"),
    RowField::new("last_at", Place, "characters", "", "place of the last"),
    RowField::new("last_time_ps", Time, "ps", "", "time of the last"),
    RowField::new("text", Text, "", "", "what it means"),
    CAPTURE,
];
