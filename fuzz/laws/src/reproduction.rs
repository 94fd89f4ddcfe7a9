//! A fuzz input looked at with our own tools: whether its law holds, and the capture, the scenario, the
//! truth, the report and the test that belong to it, as far as its target has them.

mod captures;
mod minimize;
mod networks;
mod report;
mod schedules;
mod text_page;
mod texts;
mod wire;

pub use self::minimize::{MinimizedInput, minimal};
pub use self::report::report;
pub use self::text_page::bytes;
use crate::failure::{LawFailure, catch_failure};
use crate::{LawFunction, TARGETS};

/// A part of a picture, or in words why it has none.
pub type ReproductionPart<T> = Result<T, String>;

/// What an input shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproduction {
    /// Whether the law of its target holds of it.
    pub verdict: Result<(), LawFailure>,
    /// A capture file: the input itself, or what was on the wire while it ran.
    pub capture: ReproductionPart<Vec<u8>>,
    /// The file that says what was simulated.
    pub scenario: ReproductionPart<String>,
    /// What happened, a JSON object a line, as `docs/truth.md` has it.
    pub truth: ReproductionPart<Vec<u8>>,
    /// What the analyzer says of the capture.
    pub report: ReproductionPart<String>,
    /// A test in Rust that runs the law on it, with the input in notation.
    pub notation: String,
}

/// What is drawn of an input before it is judged and analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReproductionDraft {
    capture: ReproductionPart<Vec<u8>>,
    scenario: ReproductionPart<String>,
    truth: ReproductionPart<Vec<u8>>,
    notation: String,
}

impl ReproductionDraft {
    /// A test, and one reason why there is nothing else.
    fn nothing(why: &str, notation: String) -> Self {
        let why = || why.to_owned();
        Self { capture: Err(why()), scenario: Err(why()), truth: Err(why()), notation }
    }
}

/// Draws an input.
type DraftFunction = fn(&str, &[u8]) -> ReproductionDraft;

/// Who draws the inputs of which targets, and of those that are called so up to a hyphen.
const PAINTERS: &[(&str, DraftFunction)] = &[
    ("analyze", networks::analyze),
    (CANARY, wire::canary),
    ("capture", captures::draw),
    ("capture-plans", captures::planned),
    ("chars", wire::chars),
    ("crossbar", networks::crossbar),
    ("endpoints", schedules::endpoints),
    ("filter", texts::filter),
    ("link", schedules::link),
    ("message", wire::message),
    ("network", networks::network),
    ("notation", texts::notation),
    ("packet", wire::packet),
    ("receiver", schedules::receiver),
    ("scenario", texts::scenario),
    ("states", schedules::states),
    ("switch", networks::switch),
    ("talk", networks::talk),
    ("threads", networks::analyze),
    ("transport", schedules::transport),
];

/// A target that is fuzzed by nobody: its law is broken on purpose, so that one can see what becomes of
/// an input that breaks one.
pub const CANARY: &str = "canary";

/// No byte 09 comes before a byte 07.
fn canary(input: &[u8]) {
    let nine = input.iter().position(|byte| *byte == 9);
    let seven = input.iter().rposition(|byte| *byte == 7);
    if let (Some(nine), Some(seven)) = (nine, seven) {
        assert!(seven < nine, "no 09 comes before a 07: {nine}, {seven}");
    }
}

/// The law of a target.
#[must_use]
pub fn law(target: &str) -> Option<LawFunction> {
    if target == CANARY {
        return Some(canary);
    }
    TARGETS.iter().find(|(name, _)| *name == target).map(|(_, law)| *law)
}

/// Who draws the inputs of a target: its own painter, or that of its family.
fn painter(target: &str) -> DraftFunction {
    let family = target.split('-').next().unwrap_or(target);
    let named = |wanted: &str| PAINTERS.iter().find(|(name, _)| *name == wanted);
    named(target).or_else(|| named(family)).map_or(texts::unknown, |(_, painter)| *painter)
}

/// The picture of an input of a target, if there is such a target.
#[must_use]
pub fn picture(target: &str, input: &[u8]) -> Option<Reproduction> {
    let law = law(target)?;
    let ReproductionDraft { capture, scenario, truth, notation } = painter(target)(target, input);
    let report = match &capture {
        Ok(capture) => catch_failure(|| report(capture))
            .map_err(|broken| format!("the analyzer did not come to its end: {broken}")),
        Err(_) => Err("there is no capture to report of".to_owned()),
    };
    let verdict = catch_failure(|| law(input));
    Some(Reproduction { verdict, capture, scenario, truth, report, notation })
}
