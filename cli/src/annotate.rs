//! `myriscope annotate`: findings as packet comments, which Wireshark shows.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;

use analyzer::analysis::{Told, Wanted};
use analyzer::comments::Comments;
use analyzer::finding::ranked;
use analyzer::link::slack::Assumptions;
use analyzer::text::{Line, Role};
use codec::capture::{AnnotateError, Annotated, annotate};

use crate::analysing::analyse;
use crate::args;
use crate::files;
use crate::output::Output;
use crate::report::{Failure, Report};
use crate::target::{Target, is_standard};

pub(crate) fn run(arguments: &args::Annotate, output: &mut Output) -> Result<Report, Failure> {
    let args::Annotate { file, output: copy } = arguments;
    if is_standard(file) {
        let what = "a capture is read twice to be annotated: name a file";
        return Err(Failure::reading(file, &what));
    }
    if is_standard(copy) && io::stdout().is_terminal() {
        let what = "a capture is not for a terminal: name a file, or a program after |";
        return Err(Failure::writing(copy, &what));
    }
    let mut report = Report::of(file);
    let mut comments = collect(arguments, &mut report)?;
    if report.is_damaged() {
        // What is wrong has been told; half a copy would hide it.
        return Ok(report);
    }
    let capture = files::open(file).map_err(|error| Failure::file(file, &error))?;
    let target = Target::create(copy).map_err(|error| Failure::writing(copy, &error))?;
    let unwritten = |error: &io::Error| Failure::writing(copy, error);
    let mut pen = BufWriter::with_capacity(64 << 10, target);
    let done = annotate(capture, &mut pen, |id, chunk| comments.take(id, chunk));
    let done = done.map_err(|error| match error {
        AnnotateError::Write(error) => unwritten(&error),
        AnnotateError::Read(_) | AnnotateError::NoComments => Failure::reading(file, &error),
    })?;
    pen.flush().map_err(|error| unwritten(&error))?;
    let mut target = pen.into_inner().map_err(|error| unwritten(error.error()))?;
    target.settle().and_then(|()| target.keep()).map_err(|error| unwritten(&error))?;
    if !is_standard(copy) {
        tell(&done, &comments, output);
    }
    Ok(report)
}

/// What there is to be said about a capture.
fn collect(arguments: &args::Annotate, report: &mut Report) -> Result<Comments, Failure> {
    let mut comments = Comments::default();
    let analysis = analyse(
        &arguments.file,
        Wanted::Everything,
        Assumptions::default(),
        report,
        &mut |analysis, told| {
            if let Told::Row(row) = told
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
fn tell(done: &Annotated, comments: &Comments, output: &mut Output) {
    let Annotated { written, present, left_out } = done;
    let plural = if *written == 1 { "" } else { "s" };
    let mut line = Line::of(Role::Plain, format!("{written} comment{plural} written"));
    if *present > 0 {
        line = line.and(Role::Dim, format!(", {present} were there before"));
    }
    let left_out = left_out + comments.left_out() + comments.len() as u64;
    if left_out > 0 {
        line = line.and(Role::Notice, format!(", {left_out} left out"));
    }
    output.line(&line);
}
