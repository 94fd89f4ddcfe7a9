//! Points of a sweep: all combinations of the values of its keys.

use crate::args::KeySetting;
use crate::exit::CliError;

/// Maximum number of runs. *Chosen*
const RUNS_MAX: u64 = 10_000;

/// Values of the varied keys, in the order of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SweepPoint(pub(super) Vec<KeySetting>);

impl SweepPoint {
    pub(super) fn settings(&self) -> &[KeySetting] {
        &self.0
    }
}

/// All points, the last key varied fastest.
pub(super) fn points(vary: &[KeySetting], seeds: u64) -> Result<Vec<SweepPoint>, CliError> {
    let mut points = vec![SweepPoint::default()];
    for KeySetting { key, value } in vary {
        if key == "seed" {
            let expected = "expected another key: --seeds gives the number of seeds at each point";
            return Err(CliError::Message(format!("--vary {key}={value}: {expected}")));
        }
        let values = values(value)
            .map_err(|expected| CliError::Message(format!("--vary {key}={value}: {expected}")))?;
        let count = (points.len() as u64).saturating_mul(values.len() as u64);
        if count.saturating_mul(seeds) > RUNS_MAX {
            let message = format!(
                "--vary {key}={value}: more than {RUNS_MAX} runs; expected fewer points or seeds"
            );
            return Err(CliError::Message(message));
        }
        let with = |point: &SweepPoint, value: &String| {
            let setting = KeySetting { key: key.clone(), value: value.clone() };
            SweepPoint(point.0.iter().cloned().chain([setting]).collect())
        };
        points = points
            .iter()
            .flat_map(|point| values.iter().map(move |value| with(point, value)))
            .collect();
    }
    Ok(points)
}

/// The values of a range, `0.05..0.6:0.05`, or of a list, `64,512,1500`.
fn values(text: &str) -> Result<Vec<String>, String> {
    let Some((from, rest)) = text.split_once("..") else {
        let values: Vec<String> = text.split(',').map(|value| value.trim().to_owned()).collect();
        let is_empty = values.iter().any(String::is_empty);
        return if is_empty { Err(expected()) } else { Ok(values) };
    };
    let (to, step) = rest.split_once(':').unwrap_or((rest, "1"));
    let [from, to, step] = [from, to, step].map(DecimalNumber::parse);
    let (Some(from), Some(to), Some(step)) = (from, to, step) else { return Err(expected()) };
    let places = from.places.max(to.places).max(step.places);
    let [from, to, step] = [from, to, step].map(|number| number.scaled(places));
    if step == 0 || from > to {
        return Err(expected());
    }
    let count = (to - from) / step + 1;
    if count > RUNS_MAX {
        return Err(format!("{count} values; expected {RUNS_MAX} at most"));
    }
    Ok((0..count)
        .map(|at| DecimalNumber { digits: from + at * step, places }.to_string())
        .collect())
}

fn expected() -> String {
    "expected a range with a step, like `0.05..0.6:0.05`, or a list, like `64,512,1500`".to_owned()
}

/// Exact decimal number: digits, and how many of them are behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DecimalNumber {
    digits: u64,
    places: u32,
}

impl DecimalNumber {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        // No product of two such numbers overflows.
        let is_short = whole.len() <= 9 && part.len() <= 9;
        if !is_short || !are_digits(whole) || !are_digits(part) {
            return None;
        }
        let digits = format!("{whole}{part}").parse().ok()?;
        Some(Self { digits, places: u32::try_from(part.len()).ok()? })
    }

    /// The digits with so many behind the point, at least its own.
    const fn scaled(self, places: u32) -> u64 {
        self.digits * 10_u64.pow(places - self.places)
    }
}

impl std::fmt::Display for DecimalNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = 10_u64.pow(self.places);
        let (whole, part, width) = (self.digits / unit, self.digits % unit, self.places as usize);
        if width == 0 { write!(f, "{whole}") } else { write!(f, "{whole}.{part:0width$}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_have_exact_values() {
        for (text, expected) in [
            ("0.1..0.3:0.1", "0.1 0.2 0.3"),
            ("0.05..0.2:0.1", "0.05 0.15"),
            ("1..3", "1 2 3"),
            ("7", "7"),
            ("64, 512", "64 512"),
            ("uniform,shift", "uniform shift"),
            ("0.3..0.1:0.1", "expected a range"),
            ("0..1:0", "expected a range"),
            ("0..x", "expected a range"),
            ("1,,2", "expected a range"),
            ("0..999999999:0.000000001", "999999999000000001 values; expected 10000 at most"),
        ] {
            let found = values(text).map_or_else(|message| message, |values| values.join(" "));
            assert!(found.starts_with(expected), "{text}: {found}");
        }
    }

    #[test]
    fn the_last_key_varies_fastest_and_runs_are_limited() {
        let setting = |key: &str, value: &str| KeySetting { key: key.into(), value: value.into() };
        let vary = [setting("a", "1,2"), setting("b", "3..4")];
        let all = points(&vary, 5).unwrap();
        let shown =
            all.iter().map(|point| point.0.iter().map(|one| &*one.value).collect::<String>());
        assert_eq!(shown.collect::<Vec<_>>(), ["13", "14", "23", "24"]);
        assert!(points(&vary, 2_501).is_err());
    }
}
