//! Writer of scenario files: the order of their sections.

use super::toml_writer::{TomlKeys, TomlPage};
use super::{Scenario, ScenarioError, endpoints, faults, layout, messages, routes, taps, traffic};

/// Scenario that no file can express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnwritableScenario {
    /// The closest file is invalid.
    #[error("no scenario file can express it:\n{error}")]
    Refused {
        /// Text of the closest file.
        text: String,
        /// Its problems.
        error: ScenarioError,
    },
    /// The closest file describes another scenario.
    #[error("no scenario file can express its {part}")]
    Differs {
        /// Text of the closest file, which is valid.
        text: String,
        /// First part that differs.
        part: &'static str,
    },
}

impl UnwritableScenario {
    /// Text of the closest file.
    pub fn text(&self) -> &str {
        match self {
            Self::Refused { text, .. } | Self::Differs { text, .. } => text,
        }
    }
}

impl Scenario {
    /// Writes the file that [`Scenario::read`] parses to this scenario, all times in periods.
    ///
    /// Endpoint names known to a host are compared only as far as replies need them.
    ///
    /// # Errors
    /// No file expresses the scenario: for example a sender that is its own receiver, or hosts
    /// numbered between switches.
    pub fn write(&self) -> Result<String, UnwritableScenario> {
        let text = text(self);
        match Self::read("scenario.toml", &text) {
            Err(error) => Err(UnwritableScenario::Refused { text, error }),
            Ok(read) => match differing(self, &read) {
                None => Ok(text),
                Some(part) => Err(UnwritableScenario::Differs { text, part }),
            },
        }
    }
}

fn text(scenario: &Scenario) -> String {
    let topology = &scenario.topology;
    let mut page = TomlPage::default();
    let mut keys = TomlKeys::default();
    keys.value("seed", scenario.seed);
    keys.value("duration_periods", scenario.duration);
    page.keys(&keys);
    layout::write(&mut page, scenario);
    routes::write(&mut page, scenario);
    traffic::write(&mut page, scenario);
    endpoints::write(&mut page, scenario);
    messages::write(&mut page, scenario);
    faults::write(&mut page, &scenario.faults, topology);
    taps::write(&mut page, &scenario.taps, topology, scenario.duration);
    page.text()
}

fn differing(one: &Scenario, other: &Scenario) -> Option<&'static str> {
    let needed = |scenario: &Scenario| messages::replies(&scenario.messaging);
    [
        ("seeds", one.seed == other.seed),
        ("durations", one.duration == other.duration),
        ("nodes", one.topology.nodes() == other.topology.nodes()),
        ("cables", one.topology.cables() == other.topology.cables()),
        ("interfaces", one.interfaces == other.interfaces),
        ("routes", one.routes == other.routes),
        ("mapping", one.mapping == other.mapping),
        ("traffic", one.streams == other.streams),
        ("raw characters", one.raw == other.raw),
        ("replayed packets", one.replays == other.replays),
        ("endpoints and messages", needed(one) == needed(other)),
        ("faults", one.faults == other.faults),
        ("taps", one.taps == other.taps),
    ]
    .into_iter()
    .find_map(|(part, same)| (!same).then_some(part))
}

#[cfg(test)]
mod tests;
