//! `myriscope slice`: a part of a capture, as a capture.

use analyzer::finding_row::ranked;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::render::{StyledLine, TextStyle};
use analyzer::window::{TimeWindow, WindowEdge};
use codec::capture::{Channel, SliceCounts, SliceError, slice};

use crate::analyze::analyze_all;
use crate::args::SliceArgs;
use crate::atomic_file::{AtomicFile, commit_all};
use crate::exit::{CliError, CommandResult, RunReport, is_standard, is_standard_input};
use crate::input::InputFile;
use crate::output::StandardOutput;
use crate::run_simulation::{is_same, refuse_terminal};

pub(crate) fn run(arguments: &SliceArgs, output: &mut StandardOutput) -> CommandResult {
    let SliceArgs { file, output: copy, .. } = arguments;
    refuse_terminal(copy)?;
    if is_same(file, copy) && !is_standard(copy) {
        return Err(CliError::writing(copy, &"the capture would be overwritten"));
    }
    let window = window(arguments)?;
    let mut report = RunReport::of(file);
    let (selector, mut channels) = (arguments.channels(), Vec::new());
    let mut select = |channel: &Channel| {
        channels.push(channel.clone());
        selector.selects(channel).then(|| window.on(channel))
    };
    let stream = AtomicFile::create(copy)?;
    let input = InputFile::whole(file).open()?;
    let sliced = slice(input, stream, &mut select, &mut |fault| report.fault(fault));
    let (stream, done) = sliced.map_err(|error| match error {
        SliceError::Read(error) => CliError::reading(file, &error),
        SliceError::Write(error) => CliError::writing(copy, &error),
    })?;
    selector.check(&channels.iter()).map_err(|error| CliError::reading(file, &error))?;
    if done.characters == 0 {
        let empty = "no character in this part of the capture; nothing was written";
        return Err(CliError::reading(file, &empty));
    }
    commit_all(vec![stream])?;
    if !is_standard(copy) {
        let SliceCounts { channels, characters } = done;
        let text = format!("{characters} characters of {channels} channels written");
        output.line(&StyledLine::of(TextStyle::Plain, text));
    }
    Ok(report)
}

/// The part to cut out: of --from and --to, or around a finding.
fn window(arguments: &SliceArgs) -> Result<TimeWindow, CliError> {
    let SliceArgs { file, from, to, finding, around, .. } = arguments;
    let Some(wanted) = finding else {
        return Ok(TimeWindow { from: from.unwrap_or(TimeWindow::ALL.from), to: *to });
    };
    let wrong = |text: String| CliError::reading(file, &text);
    if is_standard_input(file) {
        return Err(wrong("slice --finding reads the capture twice: name a file".to_owned()));
    }
    let mut report = RunReport::of(file);
    let scope = AnalysisScope::Findings;
    let analysis =
        analyze_all(InputFile::whole(file), scope, LinkAssumptions::default(), &mut report)?;
    let findings = analysis.findings();
    let ranked = ranked(findings.ledger());
    let number = wanted.parse::<usize>().ok();
    let mut listed = ranked.iter().zip(1..).filter(|((_, id, _), _)| {
        analysis.channel(*id).is_some_and(|channel| channel.capture == arguments.capture)
    });
    let found = listed.find(|((kind, ..), place)| match number {
        Some(number) => *place == number,
        None => kind.about().name == wanted,
    });
    let Some(((_, id, found), _)) = found else {
        let count = ranked.len();
        let expected = "expected a name or a number of the list of check";
        return Err(wrong(format!(
            "no finding {wanted:?} among the {count} of the capture: {expected}"
        )));
    };
    let period = analysis.channel(*id).map_or(1, |channel| channel.period_ps.get());
    let (at, around) = match around {
        WindowEdge::Picoseconds(time) => (found.first.time, *time),
        WindowEdge::Character(count) => {
            (found.first.time, u128::from(count.0) * u128::from(period))
        }
    };
    let edge = WindowEdge::Picoseconds;
    let behind = at.saturating_add(u128::from(period)).saturating_add(around);
    Ok(TimeWindow { from: edge(at.saturating_sub(around)), to: Some(edge(behind)) })
}
