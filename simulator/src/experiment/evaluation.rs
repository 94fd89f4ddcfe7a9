//! Tables, plots and figures of the measurements of a part of an experiment.

use std::borrow::Cow;

use super::description::{
    ExperimentPart, FigureDescription, FigureScope, NamedTexts, PlotDescription, PlotScale,
    constant,
};
use super::formula::{self, ExactNumber};
use super::measure::PointMeasurement;
use super::plot::{AxisScale, CurvePoint, PlotAxis, PlotCurve, PlotMark, PlotSpec};
use super::reduction;
use super::result_table::{
    FigureOrigin, MilliValue, PublishedFigure, ResultTable, TableCell, TableColumn,
};
use super::{ExperimentEffort, ExperimentResult};

/// Rows of a part, and the measurements of their networks.
pub(super) struct PartEvaluation<'a> {
    part: &'static ExperimentPart,
    /// Place of the series, and words.
    rows: Vec<(usize, NamedTexts)>,
    readings: &'a [PointMeasurement],
}

impl<'a> PartEvaluation<'a> {
    /// The evaluation of a part to which the first of these measurements belong, and those behind them.
    pub(super) fn new(
        part: &'static ExperimentPart,
        effort: ExperimentEffort,
        readings: &'a [PointMeasurement],
    ) -> (Self, &'a [PointMeasurement]) {
        let rows = part.rows(effort);
        let count = rows.len() * part.cases().count();
        let (readings, rest) = readings.split_at(count.min(readings.len()));
        (Self { part, rows, readings }, rest)
    }

    /// Adds everything to the results.
    pub(super) fn conclude(&self, result: &mut ExperimentResult) {
        result.tables.extend(self.part.tables.iter().map(|table| {
            let columns = table.columns.iter().map(|(name, head, unit, places, _)| TableColumn {
                name: Cow::Borrowed(name),
                head: Cow::Borrowed(head),
                unit,
                places: *places,
            });
            let is_shown = |row: &usize| table.rows.is_empty() || table.rows.contains(row);
            let rows = (0..self.rows.len()).filter(is_shown);
            let cells = |row| table.columns.iter().map(|(.., it)| self.cell(row, it)).collect();
            ResultTable {
                name: &table.name,
                title: table.title.clone(),
                columns: columns.collect(),
                rows: rows.map(cells).collect(),
            }
        }));
        result.plots.extend(self.part.plots.iter().map(|plot| self.plot(plot)));
        for group in &self.part.figures {
            for rows in self.scopes(group.each) {
                result.figures.extend(group.list.iter().filter_map(|it| self.figure(&rows, it)));
            }
        }
    }

    /// Groups of rows.
    fn scopes(&self, each: FigureScope) -> Vec<Vec<usize>> {
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        let series = |row: &usize| self.rows.get(*row).map(|(series, _)| *series);
        match each {
            FigureScope::Part => vec![rows],
            FigureScope::Series => {
                rows.chunk_by(|one, next| series(one) == series(next)).map(<[_]>::to_vec).collect()
            }
            FigureScope::Row => rows.iter().map(|row| vec![*row]).collect(),
        }
    }

    fn word(&self, row: usize, name: &str) -> Option<&str> {
        self.rows.get(row)?.1.get(name).map(String::as_str)
    }

    /// Text of a template; empty if it has no value.
    fn text(&self, row: usize, template: &str) -> String {
        let word = |name: &str| self.word(row, name).map(str::to_owned);
        formula::fill(template, &word).unwrap_or_default()
    }

    fn value(&self, row: usize, formula: &str) -> Option<ExactNumber> {
        formula::evaluate(formula, &|name| self.number(row, name))
    }

    fn milli(&self, row: usize, formula: &str) -> Option<MilliValue> {
        self.value(row, formula)?.rounded()
    }

    /// Number of a name: a word of the row, a measurement, a column as it is printed, or a constant. Before a dot is
    /// another row, or the network.
    fn number(&self, row: usize, name: &str) -> Option<ExactNumber> {
        let (case, inner) = name.split_once('.').unwrap_or(("", name));
        match case {
            "first" => return self.number(0, inner),
            "before" => return self.number(row.checked_sub(1)?, inner),
            _ => {}
        }
        if let Some(word) = self.word(row, name) {
            return self.value(row, word);
        }
        let reading = self.part.cases().position(|it| it == case);
        let reading = reading.map(|at| row * self.part.cases().count() + at);
        let measured = reading.and_then(|at| self.readings.get(at)?.number(inner));
        measured.or_else(|| self.column(row, name)).or_else(|| constant(name).map(Into::into))
    }

    fn column(&self, row: usize, name: &str) -> Option<ExactNumber> {
        let mut columns = self.part.tables.iter().flat_map(|table| &table.columns);
        let (.., formula) = columns.find(|(own, .., formula)| own == name && formula != name)?;
        self.milli(row, formula).map(Into::into)
    }

    fn cell(&self, row: usize, formula: &str) -> TableCell {
        if formula.contains('{') {
            return TableCell::Word(self.text(row, formula));
        }
        self.milli(row, formula).into()
    }

    /// Values of a formula along the rows.
    fn curve(&self, rows: &[usize], along: &str, formula: &str) -> Vec<CurvePoint> {
        let point = |row: &usize| {
            let place = if along == "row" {
                ExactNumber::from(*row as u64).rounded()
            } else {
                self.milli(*row, along)
            };
            place.zip(self.milli(*row, formula))
        };
        rows.iter().filter_map(point).collect()
    }

    fn plot(&self, plot: &'static PlotDescription) -> PlotSpec {
        let [x, y] = plot.axes.each_ref().map(|(label, scale)| PlotAxis {
            label: Cow::Borrowed(label),
            scale: match scale {
                PlotScale::Linear => AxisScale::Linear,
                PlotScale::Doubling => AxisScale::Doubling,
                PlotScale::Names => AxisScale::Names(&plot.names),
            },
        });
        let (mut curves, mut marks) = (Vec::new(), Vec::new());
        for rows in self.scopes(FigureScope::Series) {
            let Some(first) = rows.first().copied() else { continue };
            for (name, formulas) in &plot.curves {
                if let [formula] = formulas.as_slice() {
                    let points = self.curve(&rows, &plot.place, formula);
                    curves.push(PlotCurve::new(&self.text(first, name), points));
                    continue;
                }
                curves.extend(rows.iter().map(|row| {
                    let values = formulas.iter().filter_map(|it| self.milli(*row, it));
                    PlotCurve::new(&self.text(*row, name), (0..).map(MilliValue::whole).zip(values))
                }));
            }
            marks.extend(plot.marks.iter().filter_map(|[name, x, y]| {
                let (name, x) = (name.clone(), self.milli(first, x));
                Some(PlotMark { name, x, y: self.milli(first, y)? })
            }));
        }
        PlotSpec { name: &plot.name, title: plot.title.clone(), x, y, curves, marks }
    }

    /// A figure of these rows; none without any number.
    fn figure(&self, rows: &[usize], it: &'static FigureDescription) -> Option<PublishedFigure> {
        let first = *rows.first()?;
        if it.requires.as_ref().is_some_and(|name| self.word(first, name).is_none()) {
            return None;
        }
        let number = |formula: &str| {
            let value = formula::evaluate(formula, &|name| match name.split_once('@') {
                Some((column, selection)) => self.selected(rows, column, selection).map(Into::into),
                None => self.number(first, name),
            });
            value?.rounded()
        };
        let (published, ours) = (number(&it.published), number(&it.ours));
        let text = |template| self.text(first, template);
        let origin = text(&it.origin);
        (published.is_some() || ours.is_some()).then(|| PublishedFigure {
            what: text(&it.what),
            unit: &it.unit,
            published,
            source: text(&it.source),
            ours,
            origin: FigureOrigin::named(&origin),
        })
    }

    /// Value of a column in one of these rows, or one of its curve.
    fn selected(&self, rows: &[usize], column: &str, selection: &str) -> Option<MilliValue> {
        let along = self.part.along();
        let curve = |rows: &[usize]| self.curve(rows, along, column);
        let values = rows.iter().filter_map(|row| self.milli(*row, column));
        match selection {
            "last" => self.milli(*rows.last()?, column),
            "most" => values.max(),
            "least" => values.min(),
            "half" => reduction::half(&curve(rows)),
            "rise" => reduction::rise(&curve(rows)),
            "crossing" => match self.scopes(FigureScope::Series).as_slice() {
                [one, other, ..] => reduction::crossing(&curve(one), &curve(other)),
                [] | [_] => None,
            },
            word => match word.split_once("..") {
                Some((least, most)) => {
                    let ends = [least.parse().ok()?, most.parse().unwrap_or(u64::MAX)];
                    let [least, most] = ends.map(MilliValue::from);
                    let mut points = curve(rows);
                    points.retain(|(x, _)| (least..=most).contains(x));
                    reduction::slope(&points)
                }
                None => {
                    let mut rows = rows.iter();
                    let row = rows.find(|row| self.word(**row, along) == Some(word))?;
                    self.milli(*row, column)
                }
            },
        }
    }
}
