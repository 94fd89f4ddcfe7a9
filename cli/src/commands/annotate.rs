//! `myriscope annotate`: findings as packet comments for Wireshark.

use std::io::{self, BufWriter};
use std::ops::ControlFlow;

use analyzer::annotations::CommentSet;
use analyzer::finding::FindingCase;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{StyledLine, TextStyle, count};
use codec::capture::{AnnotateError, AnnotationCounts, annotate};

use crate::analyze::{CliAnalysis, analyze};
use crate::args::AnnotateArgs;
use crate::atomic_file::{AtomicFile, commit_all};
use crate::exit::{CliError, CommandResult, RunReport, is_standard, is_standard_input};
use crate::input::InputFile;
use crate::output::StandardOutput;
use crate::run_simulation::check_output;

pub(crate) fn run(arguments: &AnnotateArgs, output: &mut StandardOutput) -> CommandResult {
    let AnnotateArgs { file, output: copy, profile } = arguments;
    if is_standard_input(file) {
        return Err(CliError::reading(file, &"annotate reads the capture twice: name a file"));
    }
    check_output("capture", std::iter::once(file.as_path()), copy)?;
    let mut report = RunReport::of(file);
    let mut comments =
        collect(InputFile { profile: profile.value(), ..InputFile::whole(file) }, &mut report)?;
    if report.is_damaged() {
        // The errors are in the report; a partial copy would hide them.
        return Ok(report);
    }
    let capture = InputFile::whole(file).open()?;
    let mut out = BufWriter::with_capacity(64 << 10, AtomicFile::create(copy)?);
    let writing = |error: &io::Error| CliError::writing(copy, error);
    let annotated = annotate(capture, &mut out, |id, chunk| comments.take_all(id, chunk));
    let done = annotated.map_err(|error| match error {
        AnnotateError::Write(error) => writing(&error),
        AnnotateError::Read(_) | AnnotateError::NoComments => CliError::reading(file, &error),
    })?;
    commit_all(vec![out.into_inner().map_err(|error| writing(error.error()))?])?;
    if !is_standard(copy) {
        print_counts(&done, &comments, output);
    }
    Ok(report)
}

/// The comments for a capture.
pub(super) fn collect(file: InputFile<'_>, report: &mut RunReport) -> Result<CommentSet, CliError> {
    let (scope, assumptions) = (AnalysisScope::Cases, LinkAssumptions::default());
    let mut comments = CommentSet::default();
    let mut add = |analysis: &CliAnalysis, case: &FindingCase| {
        comments.add(case, &|id| analysis.channel(id).map_or("", |channel| channel.name.as_str()));
    };
    let analysis = analyze(file, scope, assumptions, report, &mut |analysis, event| {
        if let AnalysisEvent::Case(case) = event {
            add(analysis, &case);
        }
        ControlFlow::Continue(())
    })?;
    let mut findings = analysis.findings();
    findings.take_cases().iter().for_each(|case| add(&analysis, case));
    // Clock drift, which is known at the end only, explains some findings.
    comments.keep(findings.set());
    Ok(comments)
}

/// Prints the numbers of comments written, present and left out.
fn print_counts(done: &AnnotationCounts, comments: &CommentSet, output: &mut StandardOutput) {
    let AnnotationCounts { written, present, left_out } = done;
    let mut line =
        StyledLine::of(TextStyle::Plain, format!("{} written", count(written, "comment")));
    if *present > 0 {
        line = line.and(TextStyle::Dim, format!(", {present} were there before"));
    }
    let left_out = left_out + comments.left_out() + comments.remaining() as u64;
    if left_out > 0 {
        line = line.and(TextStyle::Notice, format!(", {left_out} left out"));
    }
    output.line(&line);
}
