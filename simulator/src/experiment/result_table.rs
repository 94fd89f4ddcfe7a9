//! Tables of typed columns, and published figures compared with simulated ones.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

/// Fixed-point number in thousandths: sums and slopes are exact on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MilliValue(pub i64);

/// Table of results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultTable {
    /// File name part, unique within the experiment.
    pub name: &'static str,
    /// Title.
    pub title: String,
    /// Columns.
    pub columns: Vec<TableColumn>,
    /// Rows, one cell per column.
    pub rows: Vec<Vec<TableCell>>,
}

/// Row of a table, an object in JSON.
#[derive(Clone, Copy, Debug)]
pub struct TableRecord<'a> {
    columns: &'a [TableColumn],
    cells: &'a [TableCell],
}

/// Column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Name in CSV and JSON, with the unit: `round_trip_us`.
    pub name: Cow<'static, str>,
    /// Heading in text output: `round trip`.
    pub head: Cow<'static, str>,
    /// Unit in text output: `µs`; empty for words and counts.
    pub unit: &'static str,
    /// Decimals in text output, at most three.
    pub places: u8,
}

/// Cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TableCell {
    /// No value.
    #[default]
    Nothing,
    /// Text.
    Word(String),
    /// Number in the unit of the column.
    Number(MilliValue),
}

/// Published figure and its simulated counterpart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedFigure {
    /// Measured quantity.
    pub what: String,
    /// Unit; empty for a ratio.
    pub unit: &'static str,
    /// Published value, if there is one.
    pub published: Option<MilliValue>,
    /// Source, or the published statement in place of a number.
    pub source: String,
    /// Simulated value.
    pub ours: Option<MilliValue>,
    /// Origin of the simulated value.
    pub origin: FigureOrigin,
}

/// Origin of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FigureOrigin {
    /// A run, and nothing was chosen for this figure.
    Measured,
    /// A run with a parameter that was chosen so that the figure comes out.
    Set,
    /// Arithmetic on parameters.
    Computed,
    /// The publication alone: nothing here can be compared with it.
    Quoted,
}

/// Calibrated parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibratedSetting {
    /// Name.
    pub name: &'static str,
    /// Value.
    pub value: MilliValue,
    /// Unit.
    pub unit: &'static str,
    /// Figure that it was calibrated to, or another reason.
    pub why: String,
}

impl ResultTable {
    pub(super) fn new(
        name: &'static str,
        title: &str,
        columns: &[TableColumn],
        rows: Vec<Vec<TableCell>>,
    ) -> Self {
        Self { name, title: title.to_owned(), columns: columns.to_vec(), rows }
    }

    /// Rows with the names of their columns.
    pub fn records(&self) -> impl Iterator<Item = TableRecord<'_>> {
        self.rows.iter().map(|cells| TableRecord { columns: &self.columns, cells })
    }
}

impl Serialize for TableRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.columns.iter().map(|column| &column.name);
        serializer.collect_map(names.zip(self.cells))
    }
}

/// Rows as objects with their keys in the order of the columns.
impl Serialize for ResultTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.records())
    }
}

/// A number with the digits of its text form.
impl Serialize for MilliValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % 1000 == 0 {
            return serializer.serialize_i64(self.0 / 1000);
        }
        serializer.serialize_f64(self.0 as f64 / 1e3)
    }
}

impl PublishedFigure {
    /// Table of figures, as in CSV and JSON.
    pub fn table(figures: &[Self]) -> ResultTable {
        let names = ["figure", "unit", "published", "ours", "origin", "source"];
        let row = |figure: &Self| {
            let Self { what, unit, published, source, ours, origin } = figure;
            cells![&**what, *unit, *published, *ours, origin.name(), &**source]
        };
        let columns = names.map(|name| TableColumn::plain(name, name));
        ResultTable::new("figures", "", &columns, figures.iter().map(row).collect())
    }
}

impl FigureOrigin {
    /// Origin of a name; measured without one.
    pub(super) fn named(name: &str) -> Self {
        let origins = [Self::Set, Self::Computed, Self::Quoted];
        origins.into_iter().find(|origin| origin.name() == name).unwrap_or(Self::Measured)
    }

    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Set => "set",
            Self::Computed => "computed",
            Self::Quoted => "quoted",
        }
    }
}

impl CalibratedSetting {
    /// Table of parameters, as in CSV and JSON.
    pub fn table(settings: &[Self]) -> ResultTable {
        let row = |setting: &Self| cells![setting.name, setting.value, setting.unit, &*setting.why];
        let names = ["parameter", "value", "unit", "why"];
        let columns = names.map(|name| TableColumn::plain(name, name));
        ResultTable::new("settings", "", &columns, settings.iter().map(row).collect())
    }
}

impl TableColumn {
    /// Column of texts or integers.
    pub const fn plain(name: &'static str, head: &'static str) -> Self {
        Self::of(name, head, "", 0)
    }

    /// Column of numbers with a unit.
    pub const fn of(
        name: &'static str,
        head: &'static str,
        unit: &'static str,
        places: u8,
    ) -> Self {
        Self { name: Cow::Borrowed(name), head: Cow::Borrowed(head), unit, places }
    }
}

impl From<&str> for TableCell {
    fn from(text: &str) -> Self {
        Self::Word(text.to_owned())
    }
}

impl From<u64> for TableCell {
    fn from(count: u64) -> Self {
        Self::Number(count.into())
    }
}

impl From<Option<MilliValue>> for TableCell {
    fn from(number: Option<MilliValue>) -> Self {
        number.map_or(Self::Nothing, Self::Number)
    }
}

/// Row of a table, of everything that is a cell.
macro_rules! cells {
    ($($cell:expr),+ $(,)?) => { vec![$($crate::experiment::result_table::TableCell::from($cell)),+] };
}
pub(super) use cells;

impl From<u64> for MilliValue {
    fn from(count: u64) -> Self {
        Self::ratio(count.into(), 1)
    }
}

impl From<MilliValue> for TableCell {
    fn from(number: MilliValue) -> Self {
        Self::Number(number)
    }
}

impl MilliValue {
    /// Whole number.
    pub const fn whole(count: i64) -> Self {
        Self(count.saturating_mul(1000))
    }

    /// Quotient to the nearest thousandth; 0 for a division by zero.
    pub fn ratio(part: u128, whole: u128) -> Self {
        let scaled = part.saturating_mul(1000).saturating_add(whole / 2).checked_div(whole);
        Self(i64::try_from(scaled.unwrap_or(0)).unwrap_or(i64::MAX))
    }

    /// Microseconds, from periods of the full rate. §4.2
    pub fn microseconds(periods: u64) -> Self {
        Self::ratio(periods.into(), PERIODS_PER_US.into())
    }

    /// Text with `places` decimals (at most three), rounded half away from zero.
    pub fn with_places(self, places: u8) -> String {
        let (step, width) = match places {
            0 => (1000, 0),
            1 => (100, 1),
            2 => (10, 2),
            _ => (1, 3),
        };
        let steps = self.0.unsigned_abs().saturating_add(step / 2) / step;
        let sign = if self.0 < 0 && steps > 0 { "-" } else { "" };
        let (whole, part) = (steps / (1000 / step), steps % (1000 / step));
        if width == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part:0width$}") }
    }
}

impl fmt::Display for MilliValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.with_places(3);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Periods of the full rate in a microsecond. §4.2
pub const PERIODS_PER_US: u64 = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_half_away_from_zero() {
        let number = |milli: i64| [0, 1, 2, 3].map(|places| MilliValue(milli).with_places(places));
        assert_eq!(number(12_345), ["12", "12.3", "12.35", "12.345"]);
        assert_eq!(number(-12_500), ["-13", "-12.5", "-12.50", "-12.500"]);
        assert_eq!(number(-4), ["0", "0.0", "0.00", "-0.004"]);
        assert_eq!(number(i64::MIN)[0], "-9223372036854776");
        assert_eq!(
            [0, 1000, 1250, -7].map(|n| MilliValue(n).to_string()),
            ["0", "1", "1.25", "-0.007"]
        );
    }

    #[test]
    fn a_record_has_its_columns_in_order() {
        let columns =
            [TableColumn::plain("layer", "layer"), TableColumn::of("rate_mb_per_s", "rate", "", 1)];
        let rows = vec![cells!["raw", MilliValue(380_029)], cells![None, MilliValue::whole(640)]];
        assert_eq!(
            serde_json::to_string(&ResultTable::new("", "", &columns, rows)).unwrap(),
            r#"[{"layer":"raw","rate_mb_per_s":380.029},{"layer":null,"rate_mb_per_s":640}]"#
        );
    }

    #[test]
    fn a_microsecond_has_80_periods() {
        assert_eq!(MilliValue::microseconds(80), MilliValue::whole(1));
        assert_eq!(MilliValue::microseconds(1), MilliValue(13), "12.5 ns");
    }
}
