//! `myriscope annotate`: findings as packet comments, which Wireshark shows.

use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;

use analyzer::annotations::CommentSet;
use analyzer::finding::ranked;

use analyzer::pipeline::AnalysisEvent;
use analyzer::render::{StyledLine, TextStyle};
use codec::capture::{AnnotateError, AnnotationCounts, annotate};

use crate::analyze::analyze;
use crate::args;
use crate::atomic_file::{AtomicFile, is_standard};
use crate::exit::{CliError, RunReport};
use crate::input;
use crate::output::StandardOutput;

pub(crate) fn run(
    arguments: &args::AnnotateArgs,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let args::AnnotateArgs { file, output: copy } = arguments;
    if is_standard(file) {
        let what = "a capture is read twice to be annotated: name a file";
        return Err(CliError::reading(file, &what));
    }
    if is_standard(copy) && io::stdout().is_terminal() {
        let what = "a capture is not for a terminal: name a file, or a program after |";
        return Err(CliError::writing(copy, &what));
    }
    let mut report = RunReport::of(file);
    let mut comments = collect(arguments, &mut report)?;
    if report.is_damaged() {
        // What is wrong has been told; half a copy would hide it.
        return Ok(report);
    }
    let capture = input::open(file).map_err(|error| CliError::file(file, &error))?;
    let target = AtomicFile::create(copy).map_err(|error| CliError::writing(copy, &error))?;
    let unwritten = |error: &io::Error| CliError::writing(copy, error);
    let mut pen = BufWriter::with_capacity(64 << 10, target);
    let done = annotate(capture, &mut pen, |id, chunk| comments.take(id, chunk));
    let done = done.map_err(|error| match error {
        AnnotateError::Write(error) => unwritten(&error),
        AnnotateError::Read(_) | AnnotateError::NoComments => CliError::reading(file, &error),
    })?;
    pen.flush().map_err(|error| unwritten(&error))?;
    let mut target = pen.into_inner().map_err(|error| unwritten(error.error()))?;
    target.sync().and_then(|()| target.commit()).map_err(|error| unwritten(&error))?;
    if !is_standard(copy) {
        print_counts(&done, &comments, output);
    }
    Ok(report)
}

/// What there is to be said about a capture.
fn collect(arguments: &args::AnnotateArgs, report: &mut RunReport) -> Result<CommentSet, CliError> {
    let mut comments = CommentSet::default();
    let analysis = analyze(
        &arguments.file,
        AnalysisScope::Everything,
        LinkAssumptions::default(),
        report,
        &mut |analysis, told| {
            if let AnalysisEvent::Row(row) = told
                && let Some(channel) = analysis.channel(row.channel)
            {
                comments.row(channel, &row);
            }
            ControlFlow::Continue(())
        },
    )?;
    let findings = analysis.findings();
    let name = |id| analysis.channel(id).map_or("", |channel| channel.name.as_str());
    for (kind, id, found) in ranked(findings.ledger()) {
        comments.finding(id, kind, &found.row(kind, id, &name));
    }
    Ok(comments)
}

/// How much there was to say.
fn print_counts(done: &AnnotationCounts, comments: &CommentSet, output: &mut StandardOutput) {
    let AnnotationCounts { written, present, left_out } = done;
    let plural = if *written == 1 { "" } else { "s" };
    let mut line = StyledLine::of(TextStyle::Plain, format!("{written} comment{plural} written"));
    if *present > 0 {
        line = line.and(TextStyle::Dim, format!(", {present} were there before"));
    }
    let left_out = left_out + comments.left_out() + comments.len() as u64;
    if left_out > 0 {
        line = line.and(TextStyle::Notice, format!(", {left_out} left out"));
    }
    output.line(&line);
}
