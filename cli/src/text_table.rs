//! Tables of styled text, whose columns are as wide as their cells.

use analyzer::render::{StyledLine, TextStyle};

/// Longest text that others are padded to. *Chosen*: a name in a capture may have 64 KiB.
const WIDTH_MAX: usize = 64;

/// A column, with one or two lines of heading.
pub(crate) struct TextColumn {
    pub(crate) head: [String; 2],
    cells: Vec<(TextStyle, String)>,
    side: ColumnAlignment,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnAlignment {
    Left,
    Right,
}

impl TextColumn {
    /// Column of a cell of each item, at the right.
    pub(crate) fn styled<T>(
        head: &str,
        items: &[T],
        cell: impl Fn(&T) -> (TextStyle, String),
    ) -> Self {
        let head = [head.to_owned(), String::new()];
        Self { head, cells: items.iter().map(cell).collect(), side: ColumnAlignment::Right }
    }

    /// Column of plain texts, at the right.
    pub(crate) fn of<T>(head: &str, items: &[T], text: impl Fn(&T) -> String) -> Self {
        Self::styled(head, items, |item| (TextStyle::Plain, text(item)))
    }

    pub(crate) fn left(self) -> Self {
        Self { side: ColumnAlignment::Left, ..self }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    fn width(&self) -> usize {
        let texts = self.head.iter().chain(self.cells.iter().map(|(_, text)| text));
        let widths = texts.map(|text| text.chars().count());
        widths.filter(|width| *width <= WIDTH_MAX).max().unwrap_or(0)
    }
}

/// Prints columns side by side.
pub(crate) fn print_columns(columns: &[TextColumn], out: &mut impl FnMut(StyledLine)) {
    let widths: Vec<usize> = columns.iter().map(TextColumn::width).collect();
    let mut print = |cell: &dyn Fn(&TextColumn) -> (TextStyle, String)| {
        let mut line = StyledLine::default();
        for (place, (column, width)) in columns.iter().zip(&widths).enumerate() {
            let (role, text) = cell(column);
            let text = match column.side {
                ColumnAlignment::Left if place + 1 == columns.len() => text,
                ColumnAlignment::Left => format!("{text:<width$}"),
                ColumnAlignment::Right => format!("{text:>width$}"),
            };
            line = line.and(TextStyle::Plain, if place == 0 { "" } else { "  " }).and(role, text);
        }
        out(line);
    };
    for (n, role) in [TextStyle::Head, TextStyle::Dim].into_iter().enumerate() {
        let head = |column: &TextColumn| column.head.get(n).cloned().unwrap_or_default();
        if columns.iter().any(|column| !head(column).is_empty()) {
            print(&|column| (role, head(column)));
        }
    }
    let rows = columns.iter().map(|column| column.cells.len()).max();
    for row in 0..rows.unwrap_or(0) {
        let nothing = || (TextStyle::Plain, String::new());
        print(&|column| column.cells.get(row).cloned().unwrap_or_else(nothing));
    }
}
