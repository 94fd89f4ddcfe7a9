//! Inputs that are texts, and those of which no picture is known.

use crate::failure::catch_failure;
use codec::notation::parse;
use simulator::scenario::Scenario;

use super::text_page::{alone, byte_test, call, path, test};
use super::{ReproductionDraft, networks};

/// Most periods of all channels of a scenario that is run. *Chosen*: some seconds.
const SIZE_MAX: u64 = 10_000_000;
/// Most bytes of a text that is printed. *Chosen*: a screen.
const TEXT_MAX: usize = 2000;

/// An input of `filter`.
pub(super) fn filter(target: &str, input: &[u8]) -> ReproductionDraft {
    ReproductionDraft::nothing("an expression has no characters", text(target, input))
}

/// An input of `recordings` or `wires`.
pub(super) fn recording(target: &str, input: &[u8]) -> ReproductionDraft {
    let why = "levels of wires are characters only once they are imported";
    ReproductionDraft::nothing(why, text(target, input))
}

/// An input of `notation`: the characters that it stands for, if it does.
pub(super) fn notation(target: &str, input: &[u8]) -> ReproductionDraft {
    let chars = parse(&String::from_utf8_lossy(input));
    let capture = match chars {
        Ok(chars) if chars.is_empty() => Err("it stands for no characters".to_owned()),
        Ok(chars) => alone("wire", chars),
        Err(error) => Err(format!("it stands for no characters: {error}")),
    };
    ReproductionDraft::of_capture(capture, "characters were not simulated", text(target, input))
}

/// An input of `scenario`: the file, and what it runs to.
pub(super) fn scenario(target: &str, input: &[u8]) -> ReproductionDraft {
    let notation = text(target, input);
    let Ok(text) = str::from_utf8(input) else {
        return ReproductionDraft::nothing("it is no text (UTF-8)", notation);
    };
    let read = catch_failure(|| Scenario::read("scenario.toml", text));
    let why = match read {
        Ok(Ok(scenario)) if size(&scenario) <= SIZE_MAX => {
            return ReproductionDraft { notation, ..networks::drawn(text.to_owned(), &scenario) };
        }
        Ok(Ok(_)) => {
            "so large a network is not run for a picture: `myriscope simulate` does it".to_owned()
        }
        Ok(Err(error)) => format!("it is no scenario:\n{error}"),
        Err(breach) => format!("it could not be read: {breach}"),
    };
    let scenario = Ok(text.to_owned());
    ReproductionDraft { scenario, ..ReproductionDraft::nothing(&why, notation) }
}

fn size(scenario: &Scenario) -> u64 {
    scenario.duration.saturating_mul(1 + scenario.topology.cables().len() as u64)
}

/// An input of a target without a draft function.
pub(super) fn unknown(target: &str, input: &[u8]) -> ReproductionDraft {
    let why = "nobody draws the inputs of this target";
    ReproductionDraft::nothing(why, byte_test(target, &[], input))
}

fn text(target: &str, input: &[u8]) -> String {
    let is_plain = |text: &str| !text.contains(|c: char| c.is_control() && c != '\n');
    match str::from_utf8(input) {
        Ok(text)
            if text.len() <= TEXT_MAX
                && text.contains('\n')
                && is_plain(text)
                && !text.contains("\"##") =>
        {
            let mut lines = vec![format!("let input = r##\"{text}\"##;")];
            lines.push(format!("{}(input.as_bytes());", path(target)));
            test(target, &[], &lines)
        }
        Ok(text) if text.len() <= TEXT_MAX && !text.contains(char::is_control) => {
            let mut lines = call("let input = String::from", text, ";");
            lines.push(format!("{}(input.as_bytes());", path(target)));
            test(target, &[], &lines)
        }
        Ok(_) | Err(_) => byte_test(target, &["The text:".to_owned(), shown(input)], input),
    }
}

/// A text without what harms a terminal.
fn shown(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input);
    text.chars().take(TEXT_MAX).flat_map(char::escape_debug).collect()
}
