//! Search for the load from which on a network is saturated.

use std::collections::BTreeMap;

use simulator::experiment::result_table::{MilliValue, ResultTable, TableCell, TableColumn};

use super::SweepPlan;
use super::report::{ACCEPTED, RunNumbers, key_column, mean_with_interval};
use crate::args::{KeySetting, SweepArgs};
use crate::exit::CliError;

/// A network is saturated whose mean latency is more than so many times that of the least load. *Chosen*
const LATENCY: u32 = 3;

/// Search over the values of a key, for each combination of the other keys.
pub(super) struct SaturationSearch<'a> {
    plan: &'a SweepPlan,
    key: &'a str,
    /// Combinations of the other keys, which vary faster.
    groups: usize,
}

/// A range that is being halved: its last value that is not saturated, and the first that is.
#[derive(Clone, Copy, Default)]
struct SaturationRange {
    below: Option<usize>,
    above: Option<usize>,
}

/// Points that were run, with their runs, and a row for each search.
type SearchResult = (Vec<Vec<KeySetting>>, Vec<RunNumbers>, Option<ResultTable>);

/// Runs of points, by the points' indices.
type PointRuns = BTreeMap<usize, Vec<RunNumbers>>;

impl<'a> SaturationSearch<'a> {
    /// The search that is asked for, if there is one.
    pub(super) fn of(
        arguments: &'a SweepArgs,
        plan: &'a SweepPlan,
    ) -> Result<Option<Self>, CliError> {
        let Some(searched) = &arguments.saturation else { return Ok(None) };
        let groups = plan.points.len() / searched.values.len().max(1);
        let search = Self { plan, key: &searched.key, groups };
        search.check_order()?;
        Ok(Some(search))
    }

    /// Runs both ends of all ranges, and then halves them together until neighbours are left.
    pub(super) fn run(
        &self,
        run: &mut impl FnMut(&[usize]) -> Result<Vec<RunNumbers>, CliError>,
    ) -> Result<SearchResult, CliError> {
        let last = self.plan.points.len() - self.groups;
        let mut requested: Vec<usize> = (0..self.groups).flat_map(|at| [at, last + at]).collect();
        let mut known = PointRuns::new();
        while !requested.is_empty() {
            requested.sort_unstable();
            requested.dedup();
            let runs = run(&requested)?;
            let seeds = runs.len() / requested.len();
            known.extend(requested.iter().copied().zip(runs.chunks(seeds).map(<[_]>::to_vec)));
            requested.clear();
            for group in 0..self.groups {
                requested.extend(self.middle(&self.range(&known, group)?));
            }
        }
        let rows = (0..self.groups).map(|group| self.row(&known, group));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let columns = self.columns();
        let table = ResultTable { name: "saturation", title: String::new(), columns, rows };
        let points = known.keys().filter_map(|at| self.plan.points.get(*at)).cloned().collect();
        Ok((points, known.into_values().flatten().collect(), Some(table)))
    }

    /// Mean over the runs of a point; none where one has none.
    fn mean(runs: &[RunNumbers], of: fn(&RunNumbers) -> Option<f64>) -> Option<MilliValue> {
        let values: Option<Vec<f64>> = runs.iter().map(of).collect();
        let [mean, _] = mean_with_interval(&values?);
        mean
    }

    /// Error if a number is not greater than the one before it.
    fn check_order(&self) -> Result<(), CliError> {
        let points = self.plan.points.iter().step_by(self.groups.max(1));
        let values = points.filter_map(|point| point.first());
        let numbers = values.filter_map(|it| Some((it.value.parse::<f64>().ok()?, &it.value)));
        let numbers: Vec<_> = numbers.collect();
        let falls = numbers.iter().zip(numbers.iter().skip(1)).find(|(one, next)| one.0 >= next.0);
        falls.map_or(Ok(()), |((_, one), (_, next))| {
            let what =
                format!("{next} is not greater than {one}: expected values in order of load");
            Err(CliError::Message(format!("--saturation {}: {what}", self.key)))
        })
    }

    /// Latency at the least load of a group, which must not be saturated: in a short run packets that are under way
    /// at its end look like that.
    fn least(&self, known: &PointRuns, group: usize) -> Result<MilliValue, CliError> {
        let runs = known.get(&group).map(Vec::as_slice).unwrap_or_default();
        let latency = match Self::mean(runs, RunNumbers::latency) {
            Some(_) if RunNumbers::are_saturated(runs) => {
                Err(format!("less than {ACCEPTED} % of what is offered arrives before the end"))
            }
            Some(latency) => Ok(latency),
            None => Err("there is no latency, as no packet arrives or not all do".to_owned()),
        };
        latency.map_err(|what| {
            let value = self.plan.points.get(group).and_then(|point| point.first());
            let value = value.map_or("", |setting| &setting.value);
            let what = format!("at {value} {what}: expected another begin or a longer run");
            CliError::Message(format!("--saturation {}: {what}", self.key))
        })
    }

    /// Neighbours among the points of a group that are known: saturated is all behind the first that is.
    fn range(&self, known: &PointRuns, group: usize) -> Result<SaturationRange, CliError> {
        let most = self.least(known, group)?.0.saturating_mul(LATENCY.into());
        let is_saturated = |runs: &[RunNumbers]| {
            let latency = Self::mean(runs, RunNumbers::latency);
            RunNumbers::are_saturated(runs) || latency.is_none_or(|latency| latency.0 > most)
        };
        let mut range = SaturationRange::default();
        for (at, runs) in known.iter().filter(|(at, _)| *at % self.groups == group) {
            if is_saturated(runs) {
                range.above = Some(*at);
                break;
            }
            range.below = Some(*at);
        }
        Ok(range)
    }

    fn middle(&self, range: &SaturationRange) -> Option<usize> {
        let (below, above) = range.below.zip(range.above)?;
        let steps = (above - below) / self.groups;
        (steps > 1).then(|| below + steps / 2 * self.groups)
    }

    fn columns(&self) -> Vec<TableColumn> {
        let others = self.plan.points.first().into_iter().flatten().skip(1);
        let ends = ["below", "from"].map(|end| key_column(format!("{}_{end}", self.key)));
        others
            .map(|setting| key_column(setting.key.clone()))
            .chain(ends)
            .chain([
                TableColumn::of("accepted_mbit_s", "accepted", "Mb/s", 2),
                TableColumn::of("latency_mean_us", "latency", "µs", 2),
                TableColumn::of("least_latency_us", "at least load", "µs", 2),
                TableColumn::of("accepted_limit_percent", "limit: accepted", "%", 0),
                TableColumn::of("latency_limit_factor", "limit: latency", "times", 0),
                TableColumn::plain("seeds", "seeds"),
                TableColumn::plain("first_seed", "from seed"),
            ])
            .collect()
    }

    fn row(&self, known: &PointRuns, group: usize) -> Result<Vec<TableCell>, CliError> {
        let SaturationRange { below, above } = self.range(known, group)?;
        let setting = |at: usize| self.plan.points.get(at).and_then(|point| point.first());
        let value = |at: Option<usize>| at.and_then(setting).map(|it| TableCell::from(&*it.value));
        let runs = below.and_then(|at| known.get(&at)).map(Vec::as_slice).unwrap_or_default();
        let others = self.plan.points.get(group).into_iter().flatten().skip(1);
        let mut row: Vec<TableCell> = others.map(|it| TableCell::from(&*it.value)).collect();
        row.extend([below, above].map(|at| value(at).unwrap_or_default()));
        let mean = [RunNumbers::accepted, RunNumbers::latency].map(|of| Self::mean(runs, of));
        row.extend(mean.map(TableCell::from));
        row.push(self.least(known, group)?.into());
        row.extend([ACCEPTED, LATENCY.into(), self.plan.seeds].map(TableCell::from));
        // A word, as a seed may have more digits than a number.
        row.push(TableCell::from(&*self.plan.first_seed.to_string()));
        Ok(row)
    }
}
