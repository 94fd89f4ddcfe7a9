//! Tables of figures, which stand for their captures.

use serde_json::Value;

use super::{CaptureFigures, FigureSubject, rounded, unit};
use crate::finding::FindingKind;

impl CaptureFigures {
    /// The figures in a table of one capture, as `compare FILE --format jsonl` prints it.
    ///
    /// # Errors
    /// The number of the line that is none of such a table, or that misses in one of which rows were selected.
    pub fn of_table(table: &str) -> Result<Self, usize> {
        let (mut figures, mut all) = (Self::default(), 0);
        for (number, line) in table.lines().enumerate() {
            all = figures.add_row(line).ok_or(number + 1)?;
        }
        let own = figures.figures.len();
        if usize::try_from(all) == Ok(own) { Ok(figures) } else { Err(own + 1) }
    }

    /// Adds a row; returns the number of rows of its table.
    fn add_row(&mut self, line: &str) -> Option<u64> {
        let row: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| row.get(name).and_then(Value::as_str);
        // Rounded again, as reading may miss the last bit.
        let number = |name: &str| row.get(name)?.as_f64().filter(|it| *it >= 0.0).map(rounded);
        let subject =
            FigureSubject::ALL.into_iter().find(|it| Some(it.name()) == text("subject"))?;
        let (name, measure) = (text("name")?, text("measure")?);
        let (value, recorded) = (number("a")?, number("recorded_a_s")?);
        let is_known = match subject {
            FigureSubject::Finding => FindingKind::named(measure).is_some(),
            FigureSubject::Link | FigureSubject::Host => unit(measure).is_some(),
        };
        if subject == FigureSubject::Link && measure == "utilisation" {
            self.recorded.insert(name.to_owned(), recorded);
        }
        let around = if subject == FigureSubject::Finding { number("around_s")? } else { 0.0 };
        self.add((subject, name), measure, [value, recorded, around]);
        let all = row.get("figures")?.as_u64()?;
        (is_known && row.get("b")?.is_null()).then_some(all)
    }
}
