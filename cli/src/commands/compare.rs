//! `myriscope compare`: figures of two captures side by side: links, hosts and findings.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use analyzer::comparison::{CaptureFigures, ComparisonRow, compare};
use analyzer::filter::RowKind;
use analyzer::flow_table::FlowTable;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{StyledLine, TextStyle, count, wrapped};
use askama::Template;
use codec::words::{LISTED_MAX, listed};

use crate::analyze::{CliAnalysis, analyze_opened, check_channel_exists};
use crate::args::{CompareArgs, ViewArgs};
use crate::atomic_file::write_files;
use crate::exit::{
    CliError, CommandResult, FoundProblem, RunReport, is_standard, is_standard_input,
};
use crate::input::{InputFile, read_to_limit};
use crate::output::StandardOutput;
use crate::report::filters;
use crate::rows::{RowSource, RowWriter, list_rows};
use crate::run_simulation::check_output;
use crate::text_table::{TextColumn, print_columns};

/// Largest table of figures, in bytes. *Chosen*: those of 10 000 channels have 10 MB.
const TABLE_MAX: usize = 1 << 26;

/// Rows of a table of the page. *Chosen*: more are for a program.
const ROWS_MAX: usize = 1000;

/// Heads of the columns of a comparison.
const HEADS: [&str; 7] = ["subject", "name", "figure", "A", "B", "change", "verdict"];

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparisonPage<'a> {
    files: [String; 2],
    headline: &'a str,
    tables: [(&'static str, Vec<&'a ComparisonRow>); 3],
}

pub(crate) fn run(arguments: &CompareArgs, output: &mut StandardOutput) -> CommandResult {
    let CompareArgs { view, threshold, output: page } = arguments;
    if view.part.from.is_some() || view.part.to.is_some() {
        let error = "--from and --to are for lists: cut the captures with `myriscope slice`";
        return Err(CliError::Message(error.to_owned()));
    }
    view.refuse_lists()?;
    if let Some(page) = page {
        check_output("capture", view.files.iter().map(|file| &**file), page)?;
    }
    // The list is of both files, not of each.
    let files = view.files.iter().take(1).cloned().collect();
    let one = ViewArgs { files, ..view.clone() };
    list_rows(&one, RowKind::Comparison, output, |writer| {
        let (a, b) = match view.files.as_slice() {
            [a] => (a, None),
            [a, b] if is_standard_input(a) && is_standard_input(b) => {
                let error = "standard input can be one of the captures only";
                return Err(CliError::Message(error.to_owned()));
            }
            [a, b] => (a, Some(b)),
            _ => return Err(CliError::Message("expected two captures: compare A B".to_owned())),
        };
        if page.is_some() && b.is_none() {
            return Err(CliError::Message("-o expects two captures: compare A B".to_owned()));
        }
        let (figures, mut report) = figures(a, view, writer.input())?;
        let other = b.map(|b| self::figures(b, view, InputFile { path: b, ..writer.input() }));
        let other = other.transpose()?;
        let mut rows = compare(&figures, other.as_ref().map(|(figures, _)| figures), *threshold);
        rows.retain(|row| writer.keeps(row, RowSource::of_capture(0)));
        if let Some(path) = page {
            let name = |file: &PathBuf| file.display().to_string();
            let files = [name(a), b.map(name).unwrap_or_default()];
            let html = html(&rows, &headline(&rows, *threshold).1, files);
            let html = html.map_err(|error| CliError::writing(path, &error))?;
            write_files([(path.as_path(), html.as_bytes())])?;
        }
        if other.is_some() && rows.iter().any(ComparisonRow::differs) {
            report.found = FoundProblem::Something;
        }
        // Without a row the errors say why.
        let is_told = report.is_clean() || !rows.is_empty();
        if is_told && page.as_deref().is_none_or(|page| !is_standard(page)) {
            print(&rows, (other.is_some(), *threshold), writer);
        }
        let Some((_, other)) = other else { return Ok(report) };
        let mut both = RunReport::default();
        both.add(Ok(report));
        both.add(Ok(other));
        Ok(both)
    })
}

/// Figures of a capture, or of a table of them.
fn figures(
    path: &Path,
    view: &ViewArgs,
    input: InputFile<'_>,
) -> Result<(CaptureFigures, RunReport), CliError> {
    let mut report = RunReport::of(path);
    let mut capture = input.open()?;
    // A table begins as JSON does, and no capture so.
    if capture.peek().map_err(|error| CliError::reading(path, &error))? == Some(b'{') {
        let text = read_to_limit(capture, path, TABLE_MAX, "table")?;
        let figures =
            CaptureFigures::of_table(&String::from_utf8_lossy(&text)).map_err(|line| {
                let what = "expected all rows of `compare FILE --format jsonl` of one capture";
                CliError::reading(path, &format!("line {line}: {what}"))
            })?;
        return Ok((figures, report));
    }
    let mut flows = FlowTable::default();
    let (part, scope) = (&view.part, RowKind::Comparison.scope());
    let reader = input.channels_of(capture);
    let assumptions = LinkAssumptions::default();
    let add = &mut |analysis: &CliAnalysis, event| {
        let known = |id| analysis.channel(id);
        if let AnalysisEvent::Journey(journey) = &event
            && part.channel_of(&event, &known).is_some()
        {
            flows.add(journey, &known);
        }
        ControlFlow::Continue(())
    };
    let analysis = analyze_opened((input, reader), scope, assumptions, &mut report, add)?;
    check_channel_exists((part, view.unit()), &analysis, &mut report);
    let selects = |channel: &_| part.channels().selects(channel);
    Ok((CaptureFigures::of(&analysis, &flows, &selects), report))
}

fn print(rows: &[ComparisonRow], (are_two, threshold): (bool, f64), writer: &mut RowWriter<'_>) {
    if !are_two {
        // The figures of one capture are a list.
        writer.list_instead();
    }
    let Some(output) = writer.report() else {
        return rows.iter().for_each(|row| writer.row(row, RowSource::of_capture(0), |_| {}));
    };
    let (style, text) = headline(rows, threshold);
    output.line(&StyledLine::of(style, text));
    let differing: Vec<&ComparisonRow> = rows.iter().filter(|row| row.differs()).collect();
    if !differing.is_empty() {
        let column = |at: usize| {
            let head = HEADS.get(at).copied().unwrap_or_default();
            let cell = |row: &&ComparisonRow| cells(row).into_iter().nth(at).unwrap_or_default();
            let column = TextColumn::of(head, &differing, cell);
            if (3..6).contains(&at) { column } else { column.left() }
        };
        let columns: Vec<TextColumn> = (0..HEADS.len()).map(column).collect();
        print_columns(&columns, &mut |line| output.fitted(line));
    }
    let not_told = rows.iter().filter(|row| row.verdict == "not-told");
    let named = |row: &ComparisonRow| {
        let of = if row.subject == "finding" { "on" } else { "of" };
        format!("{} {of} {}", row.measure, row.name)
    };
    let names: BTreeSet<String> = not_told.map(named).collect();
    if !names.is_empty() {
        let names = listed(names.iter().map(String::as_str), LISTED_MAX);
        let width = output.width().unwrap_or(usize::MAX);
        for line in wrapped(format!("not told of both: {names}").split(' '), " ", width) {
            output.line(&StyledLine::of(TextStyle::Dim, line));
        }
    }
}

/// The page of a comparison.
fn html(
    rows: &[ComparisonRow],
    headline: &str,
    files: [String; 2],
) -> Result<String, askama::Error> {
    let with = |is_kept: fn(&ComparisonRow) -> bool| rows.iter().filter(|it| is_kept(it)).collect();
    let tables = [
        ("What differs", with(ComparisonRow::differs)),
        ("What one of them does not tell", with(|row| row.verdict == "not-told")),
        ("What is the same", with(|row| row.verdict == "same")),
    ];
    ComparisonPage { files, headline, tables }.render()
}

/// Sentence that counts the differences.
fn headline(rows: &[ComparisonRow], threshold: f64) -> (TextStyle, String) {
    let of = |verdict: &str| rows.iter().filter(|row| row.verdict == verdict).count();
    let [changed, new, gone] = ["changed", "new", "gone"].map(of);
    let compared = rows.len() - of("not-told");
    let limit = format!("{} %", threshold * 100.0);
    if rows.is_empty() {
        return (TextStyle::Notice, "? no figure is selected".to_owned());
    }
    if compared == 0 {
        let text = "? nothing can be compared: no figure is told of both";
        return (TextStyle::Notice, text.to_owned());
    }
    if changed + new + gone == 0 {
        return (
            TextStyle::Good,
            format!("✓ none of {compared} figures differs by more than {limit}"),
        );
    }
    let findings = [(new, "new"), (gone, "gone")].into_iter().filter(|(number, _)| *number > 0);
    let mut parts: Vec<String> =
        findings.map(|(number, what)| format!("{} {what}", count(number, "finding"))).collect();
    parts.push(format!("{changed} of {compared} figures differ by more than {limit}"));
    (TextStyle::Bad, format!("✗ {}", parts.join(", ")))
}

/// Texts of a row, in the order of the heads.
fn cells(row: &ComparisonRow) -> [String; HEADS.len()] {
    let text =
        |value: Option<f64>, show: &dyn Fn(f64) -> String| value.map_or("–".to_owned(), show);
    let number = |value| match row.unit {
        "" => text(value, &|it| format!("{:.1} %", it * 100.0)),
        "us" => text(value, &|it| format!("{it} µs")),
        "cases" => text(value, &|it| it.to_string()),
        unit => text(value, &|it| format!("{it:.0} {unit}")),
    };
    let ComparisonRow { subject, name, measure, a, b, change, verdict, .. } = row;
    // No sign of a change that rounds to nothing.
    let percent = |share: f64| (share * 1000.0).round() / 10.0 + 0.0;
    let change = text(*change, &|it| format!("{:+.1} %", percent(it)));
    let [subject, verdict] = [subject, verdict].map(|word| word.replace('-', " "));
    [subject, name.clone(), measure.clone(), number(*a), number(*b), change, verdict]
}
