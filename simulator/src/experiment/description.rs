//! Descriptions of experiments, the files `simulator/experiments/NAME.toml`. Formulas and templates are those of [`super::formula`].

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ExperimentEffort;
use super::formula::{self, ExactNumber};
use super::measure::ExperimentPoint;
use super::result_table::{CalibratedSetting, PERIODS_PER_US};
use crate::mapping::MapperParameters;
use crate::messaging::{EndpointParameters, MessageCosts, ProtocolLayers};

/// Networks that are alike but for some words, and their results.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExperimentPart {
    /// Words and formulas for all rows.
    #[serde(default)]
    define: NamedWords,
    /// Series of rows: a curve each.
    series: Option<ExperimentAxis>,
    /// Rows of a series, along its curve.
    x: Option<ExperimentAxis>,
    /// Networks of a row; `NAME.` begins the names of their numbers. Without any a row has one network.
    #[serde(default)]
    cases: BTreeMap<String, NamedWords>,
    /// Template of the scenario, without its duration.
    scenario: String,
    /// Formulas of the end of the warm-up and of the duration, in periods.
    times: EffortValues<[String; 2]>,
    pub(super) tables: Vec<TableDescription>,
    #[serde(default)]
    pub(super) plots: Vec<PlotDescription>,
    #[serde(default)]
    pub(super) figures: Vec<FigureGroup>,
}

/// Words and formulas by name.
pub(super) type NamedTexts = BTreeMap<String, String>;

type NamedWords = BTreeMap<String, PlainWord>;

/// Integer or text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PlainWord {
    Number(u64),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EffortValues<T> {
    full: T,
    /// None if they are those of the full effort.
    quick: Option<T>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperimentAxis {
    name: String,
    values: EffortValues<Vec<AxisValue>>,
}

/// Word of the axis, or words of several names.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum AxisValue {
    Own(PlainWord),
    Several(NamedWords),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableDescription {
    pub(super) name: String,
    pub(super) title: String,
    /// Places of the rows that it has; without any it has all.
    #[serde(default)]
    pub(super) rows: Vec<usize>,
    /// Name, head, unit, places, and the formula, or a template if it has a brace.
    pub(super) columns: Vec<(String, String, String, u8, String)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlotDescription {
    pub(super) name: String,
    pub(super) title: String,
    /// Label and scale of each axis.
    pub(super) axes: [(String, PlotScale); 2],
    /// Categories along the first axis.
    #[serde(default)]
    pub(super) names: Vec<String>,
    /// Formula of a row's place along the first axis.
    #[serde(default)]
    pub(super) place: String,
    /// Names and formulas of the curves of each series.
    pub(super) curves: Vec<(String, Vec<String>)>,
    /// Names of published values, and the formulas of both coordinates; a line without the first one.
    #[serde(default)]
    pub(super) marks: Vec<[String; 3]>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PlotScale {
    Linear,
    Doubling,
    Names,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureGroup {
    #[serde(default)]
    pub(super) each: FigureScope,
    pub(super) list: Vec<FigureDescription>,
}

/// Rows for which the figures of a group are listed in turn.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FigureScope {
    #[default]
    Part,
    Series,
    Row,
}

/// Templates and formulas of a figure.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FigureDescription {
    /// Name without which a series has no such figure.
    pub(super) requires: Option<String>,
    pub(super) what: String,
    pub(super) unit: String,
    pub(super) published: String,
    pub(super) ours: String,
    pub(super) origin: String,
    pub(super) source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingDescription {
    name: String,
    /// Formula.
    value: String,
    #[serde(default)]
    unit: String,
    why: String,
}

impl SettingDescription {
    pub(super) fn setting(&'static self) -> CalibratedSetting {
        let value = formula::evaluate(&self.value, &|name| constant(name).map(Into::into));
        let value = value.and_then(ExactNumber::rounded).unwrap_or_default();
        CalibratedSetting { name: &self.name, value, unit: &self.unit, why: self.why.clone() }
    }
}

impl PlainWord {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl<T> EffortValues<T> {
    fn choose(&self, effort: ExperimentEffort) -> &T {
        match effort {
            ExperimentEffort::Full => &self.full,
            ExperimentEffort::Quick => self.quick.as_ref().unwrap_or(&self.full),
        }
    }
}

/// Adds words to those that there are.
fn with(words: &NamedTexts, more: &NamedWords) -> NamedTexts {
    let more = more.iter().map(|(name, word)| (name.clone(), word.text()));
    words.clone().into_iter().chain(more).collect()
}

impl ExperimentAxis {
    /// Words with those of each value.
    fn vary(axis: Option<&Self>, words: &NamedTexts, effort: ExperimentEffort) -> Vec<NamedTexts> {
        let Some(Self { name, values }) = axis else { return vec![words.clone()] };
        let vary = |value: &AxisValue| match value {
            AxisValue::Own(word) => {
                words.clone().into_iter().chain([(name.clone(), word.text())]).collect()
            }
            AxisValue::Several(more) => with(words, more),
        };
        values.choose(effort).iter().map(vary).collect()
    }
}

impl ExperimentPart {
    /// Name of the words along the curves.
    pub(super) fn along(&self) -> &str {
        self.x.as_ref().map_or("", |axis| &axis.name)
    }

    /// Names of the networks of a row.
    pub(super) fn cases(&self) -> impl Iterator<Item = &str> {
        let none = self.cases.is_empty().then_some("");
        none.into_iter().chain(self.cases.keys().map(String::as_str))
    }

    /// Words of each row, with the place of its series.
    pub(super) fn rows(&self, effort: ExperimentEffort) -> Vec<(usize, NamedTexts)> {
        let series = ExperimentAxis::vary(
            self.series.as_ref(),
            &with(&NamedTexts::new(), &self.define),
            effort,
        );
        let rows = series.iter().enumerate().flat_map(|(at, words)| {
            ExperimentAxis::vary(self.x.as_ref(), words, effort).into_iter().map(move |it| (at, it))
        });
        rows.collect()
    }

    /// Networks of all rows.
    #[expect(clippy::expect_used, reason = "the descriptions are part of the program")]
    pub(super) fn points(&self, effort: ExperimentEffort) -> Vec<ExperimentPoint> {
        let none = NamedWords::new();
        let mut points = Vec::new();
        for (_, words) in self.rows(effort) {
            for case in self.cases() {
                let words = with(&words, self.cases.get(case).unwrap_or(&none));
                let word = |name: &str| {
                    let number = || constant(name).map(|number| number.to_string());
                    words.get(name).cloned().or_else(number)
                };
                let scenario = formula::fill(&self.scenario, &word);
                let times = self.times.choose(effort).each_ref();
                let [warm_up, duration] = times.map(|time| {
                    formula::integer(time, &word).expect("the words of all points are known")
                });
                points.push(ExperimentPoint {
                    scenario: scenario.expect("the words of all points are known"),
                    warm_up,
                    duration,
                });
            }
        }
        points
    }
}

/// Numbers of the program that descriptions name, times in periods.
pub(super) fn constant(name: &str) -> Option<u64> {
    let endpoints = EndpointParameters::default();
    let mapper = MapperParameters::default();
    let (_, number) = [
        ("us", PERIODS_PER_US),
        ("ms", 1_000 * PERIODS_PER_US),
        ("second", 1_000_000 * PERIODS_PER_US),
        ("gap", MessageCosts::AM_II.gap(ProtocolLayers::Protection)),
        ("frames", endpoints.frames.into()),
        ("credits", endpoints.credits.into()),
        ("burst", 1 << endpoints.burst_log2),
        ("load_time", endpoints.load),
        ("mapper_tries", mapper.tries.into()),
        ("mapper_period", mapper.period),
    ]
    .into_iter()
    .find(|(own, _)| *own == name)?;
    Some(number)
}
