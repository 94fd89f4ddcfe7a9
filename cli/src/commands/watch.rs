//! `myriscope watch`: links and findings of a capture while it is written, refreshed in place.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::thread;
use std::time::{Duration, Instant};

use analyzer::channel_selector::ChannelSelector;
use analyzer::finding::Severity;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::link::report::ChannelReport;
use analyzer::link_analysis::LinkAnalysis;
use analyzer::options::AnalysisScope;
use analyzer::pipeline::CaptureAnalysis;
use analyzer::render::{StyledLine, TextStyle, activity_style, count, mark, microseconds};
use codec::capture::{ChannelId, ReadProgress};
use codec::time::Picoseconds;

use crate::analyze::{CliAnalysis, read_all};
use crate::args::WatchArgs;
use crate::exit::{CommandResult, RunReport};
use crate::input::{self, InputEnd, InputFile};
use crate::output::StandardOutput;
use crate::text_table::{TextColumn, print_columns};

/// Time between two pictures. *Chosen*: a person sees movement, and can read it.
const REFRESH: Duration = Duration::from_millis(250);
/// Shortest time between two pictures, also if each piece of the input is awaited. *Chosen*: a reader is no quicker.
const REFRESH_MIN: Duration = Duration::from_millis(20);
const FINDINGS_MAX: usize = 8;
/// Lines of a picture besides channels and findings.
const OTHER_LINES: usize = 7;
/// Lines of a terminal that does not say how many it has.
const LINES: usize = 24;
const BAR: u64 = 10;

/// Moves the cursor to the first line, and clears the rest of a line or of the screen.
const HOME: &str = "\x1b[H";
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_SCREEN: &str = "\x1b[2J";
const CLEAR_BELOW: &str = "\x1b[J";

/// A picture of the capture, and what was there at the picture before.
#[derive(Debug, Default)]
struct WatchPicture {
    /// Data bytes and characters of each channel.
    before: BTreeMap<ChannelId, (u64, u64)>,
}

/// A channel with the use of its link since the picture before.
struct WatchedChannel<'a> {
    report: ChannelReport<'a>,
    /// Thousandths of the characters that were data.
    use_permille: u64,
    findings: u64,
}

pub(crate) fn run(arguments: &WatchArgs, output: &mut StandardOutput) -> CommandResult {
    let mut report = RunReport::of(&arguments.file);
    let is_terminal = io::stdout().is_terminal();
    // Nobody watches a pipe, which would get nothing from a file that is complete.
    let end = if is_terminal { InputEnd::Interrupt } else { InputEnd::EndOfFile };
    let profile = arguments.profile.value();
    let input = InputFile { end, profile, ..InputFile::whole(&arguments.file) };
    let assumptions = LinkAssumptions::default();
    let mut analysis =
        CaptureAnalysis::of_reader(input.channels()?, AnalysisScope::Report, assumptions);
    analysis.emit_when(input::is_waiting);
    let (mut picture, mut shown) = (WatchPicture::default(), Instant::now());
    if is_terminal {
        output.text(CLEAR_SCREEN);
    }
    read_all(&mut report, |_| {
        let progress = analysis.step(&mut |_| {})?;
        let is_due = input::is_waiting() || shown.elapsed() >= REFRESH;
        if is_terminal && is_due && progress == ReadProgress::More {
            thread::sleep(REFRESH_MIN.saturating_sub(shown.elapsed()));
            picture.show(&analysis, arguments, "live", output);
            shown = Instant::now();
        }
        Ok(if output.is_open() { progress } else { ReadProgress::Done })
    })?;
    let channels: Vec<_> = analysis.channels().map(|(_, channel)| channel).collect();
    if let Err(missing) = arguments.channels().check(&channels.into_iter()) {
        report.error(&missing);
        return Ok(report);
    }
    // The last picture is of the whole capture.
    picture.before.clear();
    picture.show(&analysis, arguments, "ended", output);
    Ok(report)
}

impl WatchPicture {
    fn show(
        &mut self,
        analysis: &CliAnalysis,
        arguments: &WatchArgs,
        state: &str,
        output: &mut StandardOutput,
    ) {
        let is_terminal = io::stdout().is_terminal();
        let height = is_terminal.then(screen_lines);
        let lines = self.lines(analysis, &arguments.channels(), state, height);
        if is_terminal {
            output.text(HOME);
        }
        for line in lines {
            if is_terminal {
                output.text(CLEAR_LINE);
            }
            output.fitted(line);
        }
        if is_terminal {
            output.text(CLEAR_BELOW);
            crate::output::flush();
        }
    }

    fn lines(
        &mut self,
        analysis: &CliAnalysis,
        selector: &ChannelSelector<'_>,
        state: &str,
        height: Option<usize>,
    ) -> Vec<StyledLine> {
        let set = analysis.findings().set().clone();
        let mut by_channel = BTreeMap::<_, u64>::new();
        set.found().for_each(|(_, id, _)| *by_channel.entry(id).or_default() += 1);
        let reports = analysis.links().flat_map(LinkAnalysis::reports);
        let mut channels = Vec::new();
        let (mut characters, mut end) = (0, 0);
        for report in reports.filter(|it| selector.selects(it.channel)) {
            let counters = &report.totals.counters;
            let (data, all) = (counters.data(), counters.characters());
            let last = counters.span().map_or(0, |(_, last)| last.0.saturating_add(1));
            let before = self.before.insert(report.id, (data, all)).unwrap_or_default();
            characters += all;
            let (data, all) = (data.saturating_sub(before.0), all.saturating_sub(before.1));
            end = report.channel.period.time(last).max(end);
            let use_permille = data.saturating_mul(1000).checked_div(all).unwrap_or(0);
            let findings = by_channel.get(&report.id).copied().unwrap_or(0);
            channels.push(WatchedChannel { report, use_permille, findings });
        }
        let selected = |id| analysis.channel(id).is_some_and(|it| selector.selects(it));
        let mut found: Vec<_> = set.found().filter(|(_, id, _)| selected(*id)).collect();
        found.sort_by_key(|(kind, id, finding)| (Reverse(finding.last.time), *id, *kind));
        let others = OTHER_LINES + found.len().min(FINDINGS_MAX);
        let fits = height.map_or(usize::MAX, |height| height.saturating_sub(others).max(1));
        let hidden = keep_busiest(&mut channels, fits);
        let mut lines = vec![head(channels.len() + hidden, (characters, end), state)];
        print_columns(&columns(&channels), &mut |line| lines.push(line));
        if hidden > 0 {
            let text = format!("… {hidden} more channels, less busy");
            lines.push(StyledLine::of(TextStyle::Dim, text));
        }
        lines.push(StyledLine::default());
        let title = match found.len() {
            0 => "no findings".to_owned(),
            count if count > FINDINGS_MAX => format!("newest {FINDINGS_MAX} of {count} findings"),
            _ => "findings, the newest first".to_owned(),
        };
        lines.push(StyledLine::of(TextStyle::Head, title));
        for (kind, id, finding) in found.iter().take(FINDINGS_MAX) {
            let about = kind.about();
            let (sign, style) = mark(finding.severity);
            let channel = analysis.channel(*id).map_or("".into(), |channel| channel.label());
            let time = microseconds(finding.last.time);
            let text = format!(" {:<22} {time:>14} µs  {channel}  {}×", about.name, finding.count);
            lines.push(StyledLine::of(style, sign).and(TextStyle::Plain, text));
        }
        let errors = found.iter().filter(|(.., finding)| finding.severity == Severity::Error);
        if errors.count() > 0 {
            let text = "details: myriscope check FILE";
            lines.push(StyledLine::of(TextStyle::Dim, text));
        }
        lines
    }
}

/// Removes the least busy channels, down to `most`; returns how many.
fn keep_busiest(channels: &mut Vec<WatchedChannel<'_>>, most: usize) -> usize {
    let hidden = channels.len().saturating_sub(most);
    if hidden > 0 {
        channels.sort_by_key(|it| (Reverse(it.use_permille), it.report.id));
        channels.truncate(most);
        channels.sort_by_key(|it| it.report.id);
    }
    hidden
}

fn screen_lines() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(LINES, |(_, terminal_size::Height(lines))| lines.into())
}

fn head(channels: usize, (characters, end): (u64, Picoseconds), state: &str) -> StyledLine {
    let (channels, characters) = (count(channels, "channel"), count(characters, "character"));
    let text = format!("{channels}, {characters}, {} µs", microseconds(end));
    StyledLine::of(TextStyle::Head, text).and(TextStyle::Dim, format!("  {state}"))
}

fn columns(channels: &[WatchedChannel<'_>]) -> [TextColumn; 7] {
    let bar = |permille: u64| {
        let full = (permille * BAR).div_ceil(1000).min(BAR);
        let cells = (0..BAR).map(|cell| if cell < full { '█' } else { '·' });
        format!("{} {:>3}.{} %", cells.collect::<String>(), permille / 10, permille % 10)
    };
    let count = |head: &str, count: &dyn Fn(&ChannelReport<'_>) -> Option<u64>| {
        let text = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |it| it.to_string());
        TextColumn::of(head, channels, |it| text(count(&it.report)))
    };
    [
        TextColumn::of("channel", channels, |it| it.report.channel.label().into_owned()).left(),
        TextColumn::styled("now", channels, |it| match it.report.now {
            Some(now) => (activity_style(now.state), now.state.name().to_owned()),
            None => (TextStyle::Dim, "-".to_owned()),
        })
        .left(),
        TextColumn::of("data", channels, |it| bar(it.use_permille)).left(),
        count("stops", &|report| report.row().stops.count),
        count("packets", &|report| Some(report.totals.packets.count())),
        count("not good", &|report| Some(report.totals.packets.not_good())),
        TextColumn::styled("findings", channels, |it| match it.findings {
            0 => (TextStyle::Dim, "0".to_owned()),
            count => (TextStyle::Notice, count.to_string()),
        }),
    ]
}
