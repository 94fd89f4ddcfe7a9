//! `myriscope check --each`: every case of every finding, in order of time.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use analyzer::event::Picoseconds;
use analyzer::filter::RowKind;
use analyzer::finding::{FindingCase, Severity};
use analyzer::pipeline::AnalysisEvent;
use analyzer::render;
use codec::capture::ChannelId;

use crate::analyze::{CliAnalysis, analyze, check_channel_exists};
use crate::args::CheckArgs;
use crate::exit::{CommandResult, FoundProblem};
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

/// Maximum number of cases held to bring them in order of time. *Chosen*: some ten megabytes.
const HELD_MAX: usize = 1 << 16;

/// Cases in order of capture, time and channel, held until earlier ones cannot be expected.
type HeldCases = BTreeMap<(u32, Picoseconds, ChannelId, u64), FindingCase>;

pub(super) fn run(arguments: &CheckArgs, output: &mut StandardOutput) -> CommandResult {
    list_rows(&arguments.view, RowKind::Cases, output, |writer| list_cases(arguments, writer))
}

fn list_cases(arguments: &CheckArgs, writer: &mut RowWriter<'_>) -> CommandResult {
    let CheckArgs { view, assume, .. } = arguments;
    let (mut held, mut count) = (HeldCases::new(), 0);
    let mut hold = |held: &mut HeldCases, analysis: &CliAnalysis, case: FindingCase| {
        let capture = analysis.channel(case.channel).map_or(0, |channel| channel.capture);
        count += 1;
        held.insert((capture, case.place.time, case.channel, count), case);
    };
    let mut is_problem_found = false;
    let mut print = |analysis: &CliAnalysis, case: &FindingCase, writer: &mut RowWriter<'_>| {
        let Some(channel) = analysis.channel(case.channel) else {
            return ControlFlow::Continue(());
        };
        let at = case.place.at;
        let name = |id| analysis.channel(id).map_or("", |channel| channel.name.as_str());
        let (row, source) = (case.row(&name), RowSource::on(channel));
        if view.part.has(channel, [at; 2]) && writer.keeps(&row, source) {
            is_problem_found |= row.severity != Severity::Note;
            writer.row(&row, source, |out| out(render::case_line(&row, view.unit())));
        }
        // The reading ends once the limit is reached and the status is known.
        if is_problem_found { writer.flow() } else { ControlFlow::Continue(()) }
    };
    let (mut report, input) = (writer.run_report(), writer.input());
    let assumptions = assume.unwrap_or_default();
    let emit = &mut |analysis: &CliAnalysis, event| {
        if let AnalysisEvent::Case(case) = event {
            hold(&mut held, analysis, case);
            if held.len() > HELD_MAX
                && let Some((_, case)) = held.pop_first()
            {
                return print(analysis, &case, writer);
            }
        }
        ControlFlow::Continue(())
    };
    let analysis = analyze(input, RowKind::Cases.scope(), assumptions, &mut report, emit)?;
    let mut findings = analysis.findings();
    findings.take_cases().into_iter().for_each(|case| hold(&mut held, &analysis, case));
    for case in held.values() {
        // Clock drift, which is known at the end only, explains some findings.
        if findings.set().has(case.kind, case.channel) && print(&analysis, case, writer).is_break()
        {
            break;
        }
    }
    check_channel_exists((&view.part, view.unit()), &analysis, &mut report);
    if is_problem_found {
        report.found = FoundProblem::Something;
    }
    Ok(report)
}
