//! Selection of rows and fields: --filter, --fields, --sort and --group.

use analyzer::filter::{ColumnList, Filter, RowKind, SortDirection, SortOrder};
use analyzer::row::ListRow;
use codec::capture::Channel;
use codec::time::CharacterPeriod;

use super::arrangement::{RowArrangement, RowGroups, SortedRows};
use crate::args::{ListFormat, ViewArgs};
use crate::exit::CliError;
use crate::output::StandardOutput;
use crate::selection::SelectedRow;

/// Capture and time base of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowSource {
    /// Number of the capture in the file.
    pub(crate) capture: u32,
    /// Character period of the row's channel; 1 if its positions are on several channels.
    pub(crate) period: CharacterPeriod,
}

impl RowSource {
    /// Source of a row whose positions are on one channel.
    pub(crate) const fn on(channel: &Channel) -> Self {
        Self { capture: channel.capture, period: channel.period }
    }

    /// Source of a row whose positions are on several channels of a capture.
    pub(crate) const fn of_capture(capture: u32) -> Self {
        Self { capture, period: CharacterPeriod::PICOSECOND }
    }

    /// Source of a row of an analysis.
    pub(crate) const fn of(row: &SelectedRow<'_>) -> Self {
        Self { capture: row.channel.capture, period: row.period }
    }
}

/// The options that select rows, their fields and their order.
#[derive(Debug)]
pub(crate) struct RowSelection {
    pub(crate) kind: RowKind,
    filter: Option<Filter>,
    pub(super) columns: Option<ColumnList>,
    pub(super) arrangement: RowArrangement,
}

impl RowSelection {
    /// Parses the options for rows of a kind; with --list-fields prints the fields and returns none.
    /// To be called before any file is opened.
    pub(crate) fn of(
        view: &ViewArgs,
        kind: RowKind,
        output: &mut StandardOutput,
    ) -> Result<Option<Self>, CliError> {
        if view.list_fields {
            list_fields(kind, view.format, output);
            return Ok(None);
        }
        view.part.check_window()?;
        let columns = view.fields.as_deref().map(|list| ColumnList::parse(list, kind));
        let columns = columns.transpose().map_err(|error| CliError::filter(&error))?;
        Ok(Some(Self {
            kind,
            filter: parse_filter(view.filter.as_deref(), kind)?,
            columns: columns.map(|columns| columns.in_unit(view.units)),
            arrangement: arrangement(view, kind)?,
        }))
    }

    /// True if the filter, the columns or the order use a field.
    pub(crate) fn needs(&self, name: &str) -> bool {
        self.filter.as_ref().is_some_and(|filter| filter.uses_field(name))
            || self.shows(name)
            || self.arrangement.uses_field(name)
    }

    pub(crate) fn shows(&self, name: &str) -> bool {
        self.columns.as_ref().is_some_and(|columns| columns.have(name))
    }

    pub(crate) fn keeps(&mut self, row: &dyn ListRow, period: CharacterPeriod) -> bool {
        self.filter.as_mut().is_none_or(|filter| filter.keeps(row, period))
    }

    pub(crate) const fn filter(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }

    /// True if rows are printed as they are read, with all their fields.
    pub(super) const fn is_everything(&self) -> bool {
        self.columns.is_none() && matches!(self.arrangement, RowArrangement::AsRead)
    }

    /// Sets the columns unless --fields names them.
    pub(super) fn set_columns(&mut self, columns: impl FnOnce(RowKind) -> ColumnList) {
        let kind = self.kind;
        self.columns.get_or_insert_with(|| columns(kind));
    }
}

pub(crate) fn parse_filter(text: Option<&str>, kind: RowKind) -> Result<Option<Filter>, CliError> {
    let filter = text.map(|text| Filter::parse(text, kind)).transpose();
    filter.map_err(|error| CliError::filter(&error))
}

fn arrangement(view: &ViewArgs, kind: RowKind) -> Result<RowArrangement, CliError> {
    let options = &view.arrange;
    let max = options.top.or(view.limit);
    if options.count && options.group.is_none() {
        return Ok(RowArrangement::Count(0));
    }
    let usual =
        if options.top.is_some() { SortDirection::Descending } else { SortDirection::Ascending };
    match (&options.group, &options.sort) {
        (Some(group), sort) => {
            let columns = ColumnList::of_option("--group", group, kind)
                .map_err(|error| CliError::filter(&error))?;
            let by_count = match sort.as_deref() {
                None => options.top.map(|_| SortDirection::Descending),
                Some("count") => Some(usual),
                Some("count:asc") => Some(SortDirection::Ascending),
                Some("count:desc") => Some(SortDirection::Descending),
                Some(_) => {
                    let error = "--sort with --group takes count or count:desc; without it groups \
                                 are in the order of their fields";
                    return Err(CliError::Message(error.to_owned()));
                }
            };
            Ok(RowArrangement::Groups(RowGroups::new(columns, by_count, max)))
        }
        (None, Some(sort)) => {
            let order =
                SortOrder::parse(sort, kind, usual).map_err(|error| CliError::filter(&error))?;
            Ok(RowArrangement::Sorted(SortedRows::new(order, max)))
        }
        (None, None) if options.top.is_some() => {
            let error = "--top needs an order: --sort FIELD or --group FIELDS";
            Err(CliError::Message(error.to_owned()))
        }
        (None, None) => Ok(RowArrangement::AsRead),
    }
}

fn list_fields(kind: RowKind, format: ListFormat, output: &mut StandardOutput) {
    match format {
        ListFormat::Text | ListFormat::Csv | ListFormat::Tsv => {
            analyzer::filter::list_fields(kind, &mut |line| output.line(&line));
        }
        ListFormat::Json => {
            output.text("{\"fields\":");
            output.json(&kind.fields(), "}\n");
        }
        ListFormat::Jsonl => kind.fields().iter().for_each(|field| output.json(field, "\n")),
    }
}
