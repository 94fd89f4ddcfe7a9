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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproduction {
    pub verdict: Result<(), LawFailure>,
    /// A capture file: the input itself, or what was on the wire while it ran.
    pub capture: ReproductionPart<Vec<u8>>,
    /// The simulated scenario.
    pub scenario: ReproductionPart<String>,
    /// Truth of the run, one JSON object per line: `docs/truth.md`.
    pub truth: ReproductionPart<Vec<u8>>,
    pub report: ReproductionPart<String>,
    /// A test in Rust that runs the law on it, with the input in notation.
    pub notation: String,
}

/// Parts of a reproduction before the law and the analyzer have run.
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

    /// A capture and a test, and a reason why there is nothing else.
    fn of_capture(capture: ReproductionPart<Vec<u8>>, why: &str, notation: String) -> Self {
        Self { capture, ..Self::nothing(why, notation) }
    }
}

/// Drafts the reproduction of an input.
type DraftFunction = fn(&str, &[u8]) -> ReproductionDraft;

/// Draft functions by mode, or by the target's name before the hyphen.
const DRAFTS: &[(&str, DraftFunction)] = &[
    ("analyze", networks::analyze),
    (CANARY, wire::canary),
    ("capture", captures::draw),
    ("capture-plans", captures::planned),
    ("chars", wire::chars),
    ("crossbar", networks::crossbar),
    ("endpoints", schedules::endpoints),
    ("engines", networks::network),
    ("filter", texts::filter),
    ("link", schedules::link),
    ("mapping", wire::mapping),
    ("message", wire::message),
    ("network", networks::network),
    ("network-switch", networks::switch),
    ("network-talk", networks::talk),
    ("notation", texts::notation),
    ("packet", wire::packet),
    ("receiver", schedules::receiver),
    ("recordings", texts::recording),
    ("recordings-trip", networks::network),
    ("scenario", texts::scenario),
    ("states", schedules::states),
    ("transport", schedules::transport),
    ("wires", texts::recording),
];

/// Target for demonstration, which is not fuzzed: its law is wrong on purpose, to show the output for a broken
/// law.
pub const CANARY: &str = "canary";

/// No byte 09 comes before a byte 07.
fn canary(input: &[u8]) {
    let nine = input.iter().position(|byte| *byte == 9);
    let seven = input.iter().rposition(|byte| *byte == 7);
    if let (Some(nine), Some(seven)) = (nine, seven) {
        assert!(seven < nine, "no 09 comes before a 07: {nine}, {seven}");
    }
}

/// Law of a target, or of a mode, whose inputs have no mode byte.
pub fn law(name: &str) -> Option<LawFunction> {
    if name == CANARY {
        return Some(canary);
    }
    let modes = TARGETS.iter().flat_map(|target| target.modes);
    let mode = || modes.copied().find(|(mode, _)| *mode == name).map(|(_, law)| law);
    crate::target(name).map(|target| target.law).or_else(mode)
}

fn draft(name: &str) -> DraftFunction {
    let family = name.split('-').next().unwrap_or(name);
    let named = |wanted: &str| DRAFTS.iter().find(|(name, _)| *name == wanted);
    named(name).or_else(|| named(family)).map_or(texts::unknown, |(_, draft)| *draft)
}

/// Reproduction of an input of a target or mode, if there is one of that name.
pub fn picture(target: &str, input: &[u8]) -> Option<Reproduction> {
    let (mut name, mut body) = (target, input);
    if let Some(target) = crate::target(target) {
        let (mode, rest) = target.select(input);
        body = rest;
        name = target.modes.get(mode).map_or(target.name, |(name, _)| *name);
    }
    let law = law(name)?;
    let ReproductionDraft { capture, scenario, truth, notation } = draft(name)(name, body);
    let report = match &capture {
        Ok(capture) => catch_failure(|| report(capture))
            .map_err(|broken| format!("the analyzer did not come to its end: {broken}")),
        Err(_) => Err("there is no capture to report of".to_owned()),
    };
    let verdict = catch_failure(|| law(body));
    Some(Reproduction { verdict, capture, scenario, truth, report, notation })
}
