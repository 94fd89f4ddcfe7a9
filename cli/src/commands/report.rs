//! `myriscope report`: the results of all views on one HTML page.

use std::ops::ControlFlow;

use analyzer::captured::CapturedRow;
use analyzer::filter::RowKind;
use analyzer::finding_row::finding_rows;
use analyzer::options::AnalysisScope;
use analyzer::render::check::{CheckScope, unread};
use analyzer::render::{StyledLine, TextStyle, TimeUnit};
use codec::time::Tick;

use super::check::selection_text;
use crate::analyze::{analyze, check_channel_exists, warn_of_import};
use crate::args::{ExportSelection, ReportArgs};
use crate::atomic_file::write_files;
use crate::exit::{CliError, CommandResult, RunReport, is_standard};
use crate::output::StandardOutput;
use crate::report::{self, RecordedEvents, ReportInput, SelectedFinding};
use crate::rows::parse_filter;

pub(crate) fn run(arguments: &ReportArgs, output: &mut StandardOutput) -> CommandResult {
    let ReportArgs { selection, brief, assume, filter } = arguments;
    let ExportSelection { files, output: page, part } = selection;
    part.check_window()?;
    let mut filter = parse_filter(filter.as_deref(), RowKind::Findings)?;
    files.check_output(page)?;
    let capture = files.argument();
    let date = source_date()?;
    let mut report = RunReport::of(&files.file);
    let mut recorded = RecordedEvents::default();
    let scope = AnalysisScope::Pictures;
    let assumptions = assume.unwrap_or_default();
    let analysis =
        analyze(files.input(), scope, assumptions, &mut report, &mut |analysis, event| {
            recorded.add(part, analysis, event);
            ControlFlow::Continue(())
        })?;
    if analysis.channels().next().is_none() {
        // Nothing to draw; the error is in the report.
        return Ok(report);
    }
    check_channel_exists((part, TimeUnit::default()), &analysis, &mut report);
    warn_of_import(analysis.channels().map(|(_, channel)| channel), &mut report);
    let set = analysis.findings();
    let known = |id| analysis.channel(id);
    let rows = finding_rows(set.set(), &known, capture).map(SelectedFinding::from);
    let (findings, others): (Vec<_>, Vec<_>) =
        rows.partition(|SelectedFinding { channel, row, .. }| {
            let captured = CapturedRow::new(row, channel.capture, channel.period);
            part.has(channel, [Tick(row.at), Tick(row.last_at)])
                && filter.as_mut().is_none_or(|filter| filter.keeps(&captured, channel.period))
        });
    let unread = unread(&analysis.extent(), TimeUnit::default(), &known);
    let judged = findings.iter().map(|it| (true, it)).chain(others.iter().map(|it| (false, it)));
    let judged = judged.map(|(is_selected, it)| (is_selected, it.kind, it.row.severity));
    let characters = set.set().seen().characters;
    let scope = CheckScope::of(unread, selection_text(part, filter.as_ref()), characters, judged);
    let (findings, recorded, scope) = (&findings[..], &recorded, &scope);
    let input = ReportInput { capture, part, analysis: &analysis, scope, findings, recorded, date };
    let html = if *brief { report::brief(&input) } else { report::page(&input) };
    let html = html.map_err(|error| CliError::writing(page, &error))?;
    write_files([(page.as_path(), html.as_bytes())])?;
    if !is_standard(page) {
        let text = format!("{}; {} kB written", report::result(scope), html.len().div_ceil(1000));
        output.line(&StyledLine::of(TextStyle::Plain, text));
    }
    Ok(report)
}

/// Day of `SOURCE_DATE_EPOCH`: without it a page has no date, so that equal captures give equal pages.
fn source_date() -> Result<Option<String>, CliError> {
    let Some(text) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(None) };
    let seconds = text.to_str().and_then(|text| text.parse::<u64>().ok());
    let day = seconds.map(|seconds| seconds / 86_400).filter(|day| *day < 3_000_000);
    let expected = "SOURCE_DATE_EPOCH: expected seconds since 1970";
    let day = day.ok_or_else(|| CliError::Message(expected.to_owned()))?;
    // Days since 1 March of year 0; eras of 400 years have 146 097 days.
    let (era, day) = ((day + 719_468) / 146_097, (day + 719_468) % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    Ok(Some(format!("{:04}-{month:02}-{day:02}", era * 400 + year + next)))
}
