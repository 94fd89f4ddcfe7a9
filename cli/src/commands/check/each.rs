//! `myriscope check --each`: every case of every finding, in order of time.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use analyzer::event::Picoseconds;
use analyzer::filter::RowKind;
use analyzer::finding::{FindingCase, Severity};
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render;
use codec::capture::ChannelId;

use crate::analyze::{CliAnalysis, analyze, check_channel_exists, is_selected};
use crate::args::CheckArgs;
use crate::exit::{CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::rows::{RowSource, RowWriter, list_rows};

/// Maximum number of cases held to bring them in order of time. *Chosen*: some ten megabytes.
const HELD_MAX: usize = 1 << 16;

/// Cases in order of capture, time and channel, held until earlier ones cannot be expected.
#[derive(Default)]
struct HeldCases {
    cases: BTreeMap<(u32, Picoseconds, ChannelId, u64), FindingCase>,
    count: u64,
}

/// The list of cases.
struct CaseList<'a, 'w, 'o> {
    arguments: &'a CheckArgs,
    writer: &'w mut RowWriter<'o>,
    width: Option<usize>,
    is_problem_found: bool,
}

pub(super) fn run(arguments: &CheckArgs, output: &mut StandardOutput) -> CommandResult {
    let (kind, width) = (RowKind::Cases, output.width());
    list_rows(&arguments.view, (kind, kind.name()), output, |writer| {
        writer.head(|out| out(render::case_head()));
        list_cases(CaseList { arguments, writer, width, is_problem_found: false })
    })
}

fn list_cases(mut list: CaseList<'_, '_, '_>) -> CommandResult {
    let CheckArgs { view, assume, .. } = list.arguments;
    let mut held = HeldCases::default();
    let mut report = RunReport::of(&view.file);
    let assumptions = assume.unwrap_or_default();
    let emit = &mut |analysis: &CliAnalysis, event| {
        let AnalysisEvent::Case(case) = event else { return ControlFlow::Continue(()) };
        if let Some(case) = held.replace(analysis, case) {
            list.print(analysis, &case);
        }
        list.flow()
    };
    let analysis = analyze(view.input(), AnalysisScope::Cases, assumptions, &mut report, emit)?;
    let mut findings = analysis.findings();
    for case in findings.take_cases() {
        held.add(&analysis, case);
    }
    for case in held.cases.values() {
        // Clock drift, which is known at the end only, explains some findings.
        if findings.ledger().has(case.kind, case.channel) {
            list.print(&analysis, case);
        }
    }
    check_channel_exists(view, &analysis, &mut report);
    if list.is_problem_found {
        report.problem_found();
    }
    Ok(report)
}

impl HeldCases {
    fn add(&mut self, analysis: &CliAnalysis, case: FindingCase) {
        let capture = analysis.channel(case.channel).map_or(0, |channel| channel.capture);
        self.count += 1;
        self.cases.insert((capture, case.place.time, case.channel, self.count), case);
    }

    /// Adds a case, and removes the earliest if there are too many.
    fn replace(&mut self, analysis: &CliAnalysis, case: FindingCase) -> Option<FindingCase> {
        self.add(analysis, case);
        if self.cases.len() <= HELD_MAX {
            return None;
        }
        self.cases.pop_first().map(|(_, case)| case)
    }
}

impl CaseList<'_, '_, '_> {
    /// Prints a case if it is selected.
    fn print(&mut self, analysis: &CliAnalysis, case: &FindingCase) {
        let Some(channel) = analysis.channel(case.channel) else { return };
        let at = case.place.at;
        let name = |id| analysis.channel(id).map_or("", |channel| channel.name.as_str());
        let (row, source) = (case.row(&name), RowSource::on(Some(channel)));
        if !is_selected(&self.arguments.view, channel, at, at) || !self.writer.keeps(&row, source) {
            return;
        }
        self.is_problem_found |= row.severity != Severity::Note;
        let width = self.width;
        self.writer.row(&row, source, |out| out(render::case_line(&row, width)));
    }

    /// Ends the reading once the limit is reached and the status is known.
    fn flow(&mut self) -> ControlFlow<()> {
        if self.is_problem_found { self.writer.flow() } else { ControlFlow::Continue(()) }
    }
}
