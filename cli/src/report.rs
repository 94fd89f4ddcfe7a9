//! The page of `myriscope report`: HTML and SVG, drawn from what an analysis found. The template escapes
//! all text; all lists have a maximum, so that the page is small whatever the capture.

mod brief;
mod decimate;
mod findings;
mod lanes;
mod messages;
mod moments;
mod network;
mod numbers;
mod recorded;
mod spans;
mod text;
mod waits;

use std::borrow::Cow;
use std::collections::BTreeMap;

use analyzer::channel_name::link_name;
use analyzer::conversation::ConversationRow;
use analyzer::finding::{CaptureArgument, Severity, ShellCommand};
use analyzer::finding_row::ShownFact;
use analyzer::link::interval::ChannelActivity;
use analyzer::link::report::ChannelReport;
use analyzer::link::slack::{SlackRow, SlackTracker};
use analyzer::link_analysis::LinkAnalysis;
use analyzer::render::check::{CheckScope, counted, unseen};
use analyzer::render::{ReportLayout, StyledLine, count, held_up, mapping};
use analyzer::rules::verdicts;
use analyzer::window::TimeWindow;
use askama::Template;
use codec::time::{Picoseconds, Tick};

use self::findings::{FindingCard, ShownVerdict};
use self::lanes::{ActivityLane, PictureTime};
use self::messages::SequenceDiagram;
use self::moments::NetworkMoments;
use self::network::{ChannelFacts, NetworkPicture};
use self::numbers::{BufferPicture, LatencyPicture};
use self::text::{BoundedList, ShrinkingList};
use self::waits::WaitPicture;
use crate::analyze::{CliAnalysis, compared_maps, import_texts};
use crate::args::CapturePart;

pub(crate) use self::brief::brief;
pub(crate) use self::findings::SelectedFinding;
pub(crate) use self::recorded::RecordedEvents;
pub(crate) use self::text::filters;

const PAGE_MAX: usize = 2_000_000;

/// Rows of a table. *Chosen*: more are for a program.
const ROWS_MAX: usize = 250;

/// Lines about mapping, and their width. *Chosen*: a screen or two.
const MAPPING_MAX: usize = 100;
const MAPPING_WIDTH: usize = 120;

/// Everything that the page shows.
pub(crate) struct ReportInput<'a> {
    pub(crate) capture: CaptureArgument<'a>,
    pub(crate) part: &'a CapturePart,
    pub(crate) analysis: &'a CliAnalysis,
    pub(crate) scope: &'a CheckScope,
    pub(crate) findings: &'a [SelectedFinding<'a>],
    pub(crate) recorded: &'a RecordedEvents,
    /// Day of the report, if the environment fixes it.
    pub(crate) date: Option<String>,
}

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    input: &'a ReportInput<'a>,
    time: PictureTime,
    held_up: Vec<String>,
    /// Line that names what was not captured, where nothing is wrong.
    unseen: Option<String>,
    cards: Vec<FindingCard<'a>>,
    verdicts: Vec<ShownVerdict>,
    network: Option<NetworkPicture<'a>>,
    moments: Option<NetworkMoments<'a>>,
    lanes: BoundedList<Vec<ActivityLane<'a>>>,
    buffers: BoundedList<BufferPicture<'a>>,
    buffer_rows: BoundedList<(&'a SlackTracker, SlackRow<'a>)>,
    waits: Option<WaitPicture<'a>>,
    latency: Option<LatencyPicture<'a>>,
    mapping: BoundedList<StyledLine>,
    conversations: BoundedList<ConversationRow>,
    diagrams: BoundedList<SequenceDiagram<'a>>,
    channels: BoundedList<&'a ChannelReport<'a>>,
}

/// Result in words of the selected findings, with the number of the others.
pub(crate) fn result(scope: &CheckScope) -> String {
    let counts = |severities| counted(severities).map(|(it, found)| count(found, it.name()));
    let on = scope.selection.as_deref().map_or_else(String::new, |on| format!(" {on}"));
    let sound = match (scope.unread.is_some(), scope.is_beyond_sight) {
        _ if scope.is_wrong() => None,
        (true, _) => Some("No error or warning in what was read"),
        (false, true) => Some("Cannot tell"),
        (false, false) => Some("Nothing wrong"),
    };
    let sound = sound.map(|text| format!("{text}{on}"));
    let found = counts(&scope.selected).filter(|_| scope.is_wrong() || scope.unread.is_none());
    let parts: Vec<String> = sound.into_iter().chain(found).collect();
    let elsewhere: Vec<String> = counts(&scope.elsewhere).collect();
    if scope.selection.is_none() || elsewhere.is_empty() {
        return parts.join(", ");
    }
    format!("{} ({} elsewhere)", parts.join(", "), elsewhere.join(", "))
}

#[derive(Template)]
#[template(path = "network_file.svg")]
struct NetworkFile<'a> {
    net: NetworkPicture<'a>,
}

/// Draws the network alone.
pub(crate) fn network_file(
    analysis: &CliAnalysis,
    findings: &[SelectedFinding<'_>],
    capture: CaptureArgument<'_>,
) -> Result<String, askama::Error> {
    let links = channel_reports(analysis, |_| true);
    let (topology, facts) = (analysis.topology(), channel_facts(&links, findings));
    let command = ShellCommand::of("topology", capture);
    let Some(net) = network::picture(&topology, &facts, &command) else { return Ok(String::new()) };
    // The template engine leaves out the last end of a line.
    Ok(NetworkFile { net }.render()? + "\n")
}

pub(crate) fn page(input: &ReportInput<'_>) -> Result<String, askama::Error> {
    let ReportInput { capture, part, analysis, findings, recorded, .. } = *input;
    let links = channel_reports(analysis, |it| part.channels().selects(it.channel));
    let buffers = analysis.links().flat_map(|link| {
        let channels = LinkAnalysis::reports(link).map(|report| report.id);
        channels.zip(LinkAnalysis::slack(link))
    });
    // A link without characters has no bounds.
    let buffers = buffers.filter_map(|(id, slack)| match slack {
        Cow::Borrowed(slack) => Some((id, slack)),
        Cow::Owned(_) => None,
    });
    let buffers = buffers.filter(|(_, slack)| part.channels().selects(slack.channel()));
    let buffers = numbers::known_buffers(buffers);
    let time = picture_time(&links, part.window());
    let (topology, facts) = (analysis.topology(), channel_facts(&links, findings));
    let command = |name| ShellCommand::of(name, capture);
    let findings_so_far = analysis.findings();
    let held_up = held_up(findings_so_far.set(), &|id| analysis.channel(id));
    let unseen = unseen(findings_so_far.set()).filter(|_| !input.scope.is_wrong());
    let network = network::picture(&topology, &facts, &command("topology"));
    let page = ReportPage {
        moments: moments::picture(network.as_ref(), &links, input, time),
        input,
        time,
        held_up: held_up.iter().map(ToString::to_string).chain(doubts(input)).collect(),
        unseen,
        cards: findings::cards(findings, capture),
        verdicts: findings::verdicts(verdicts(analysis.findings().set())),
        network,
        lanes: lanes::picture(input, &links, time),
        buffers: numbers::buffers(&buffers, &recorded.fills, time, capture),
        buffer_rows: numbers::buffer_table(&buffers, capture),
        waits: waits::picture(&recorded.waits, analysis, &command("blocking")),
        latency: recorded.journeys.picture(),
        mapping: mapping_lines(input),
        conversations: recorded.messages.table(capture),
        diagrams: recorded.messages.diagrams(capture),
        channels: {
            let command = command("links").with("--format csv");
            BoundedList::of(links.iter().flatten(), ROWS_MAX, &command)
        },
    };
    page.bounded()
}

/// Doubts of an import that are shown, of seven channels. *Chosen*
const DOUBTS_MAX: usize = 32;

/// Texts of the doubts that the import of the selected channels left.
fn doubts<'c>(input: &ReportInput<'c>) -> impl Iterator<Item = String> + use<'c> {
    let ReportInput { analysis, part, .. } = *input;
    let channels = analysis.channels().map(|(_, channel)| channel);
    import_texts(channels.filter(|channel| part.channels().selects(channel))).take(DOUBTS_MAX)
}

impl ReportPage<'_> {
    /// The page, with shorter lists if it would be too long: names whose characters are escaped may be.
    fn bounded(mut self) -> Result<String, askama::Error> {
        loop {
            let html = self.render()?;
            let mut lists: Vec<&mut dyn ShrinkingList> = vec![
                &mut self.lanes,
                &mut self.buffers,
                &mut self.buffer_rows,
                &mut self.mapping,
                &mut self.conversations,
                &mut self.diagrams,
                &mut self.channels,
            ];
            lists.extend(self.cards.iter_mut().map(|card| &mut card.places as _));
            lists.extend(self.network.iter_mut().map(|network| &mut network.links as _));
            if let Some(NetworkMoments { packets, stops, scenes, ways, .. }) = &mut self.moments {
                lists.extend([packets as &mut dyn ShrinkingList, stops, scenes, ways]);
            }
            let shorter = lists.into_iter().filter_map(|list| list.halve().then_some(())).count();
            if html.len() <= PAGE_MAX || shorter == 0 {
                return Ok(html);
            }
        }
    }

    /// Number of a channel in the network over time.
    fn track(&self, report: &ChannelReport<'_>) -> Option<usize> {
        self.moments.as_ref()?.track(report.id)
    }

    fn class(&self) -> &'static str {
        class(self.input.scope)
    }

    /// The kinds of verdicts that there are, with their numbers.
    fn outcomes(&self) -> Vec<(&ShownVerdict, usize)> {
        let kinds = ["failed", "passed", "not exercised", "cannot tell here", "on no wire"];
        let alike = kinds.iter().filter_map(|kind| {
            let mut alike = self.verdicts.iter().filter(|it| it.kind == *kind);
            Some((alike.next()?, 1 + alike.count()))
        });
        alike.collect()
    }
}

/// Results of the selected channels, link by link.
fn channel_reports(
    analysis: &CliAnalysis,
    selects: impl Fn(&ChannelReport<'_>) -> bool,
) -> Vec<Vec<ChannelReport<'_>>> {
    let links = analysis.links().map(|it| LinkAnalysis::reports(it).filter(&selects).collect());
    links.filter(|link: &Vec<_>| !link.is_empty()).collect()
}

fn class(scope: &CheckScope) -> &'static str {
    match scope.selected.iter().min() {
        Some(severity) if *severity != Severity::Note => severity.name(),
        _ if scope.unread.is_some() || scope.is_beyond_sight => Severity::Warning.name(),
        _ => "good",
    }
}

fn open_time(report: &ChannelReport<'_>) -> (u64, u64) {
    let periods = report.totals.times.periods();
    let open = periods.get(ChannelActivity::Open.index()).copied().unwrap_or(0);
    (open, periods.iter().copied().fold(0, u64::saturating_add))
}

fn longest_stop(report: &ChannelReport<'_>) -> Option<Picoseconds> {
    let stops = &report.totals.stops;
    (stops.count > 0).then(|| report.channel.period.time(stops.longest))
}

/// The text of `myriscope mapping`; none without packets of mapping.
fn mapping_lines(input: &ReportInput<'_>) -> BoundedList<StyledLine> {
    let ReportInput { analysis, recorded, .. } = *input;
    let (text, mut lines) = (&recorded.mapping, Vec::new());
    if !text.is_empty() {
        let layout = ReportLayout { width: Some(MAPPING_WIDTH), ..ReportLayout::default() };
        mapping(text, &compared_maps(analysis, text), layout, &mut |line| lines.push(line));
    }
    BoundedList::of(lines, MAPPING_MAX, &ShellCommand::of("mapping", input.capture))
}

/// The part of the window that was recorded.
fn picture_time(links: &[Vec<ChannelReport<'_>>], window: TimeWindow) -> PictureTime {
    let spans = links.iter().flatten().filter_map(|report| {
        let (first, last) = report.totals.counters.span()?;
        let (from, to) = window.on(report.channel);
        let (first, last) = (first.max(from), Tick(last.0.saturating_add(1)).min(to));
        let time = |at: Tick| report.channel.period.time(at.0);
        (first < last).then(|| (time(first), time(last)))
    });
    let from = spans.clone().map(|(from, _)| from).min().unwrap_or(0);
    PictureTime { from, to: spans.map(|(_, to)| to).max().unwrap_or(from) }
}

/// Facts about the channels of links, by name.
fn channel_facts<'a>(
    links: &[Vec<ChannelReport<'a>>],
    findings: &[SelectedFinding<'_>],
) -> BTreeMap<Cow<'a, str>, ChannelFacts> {
    let worst = lanes::worst(findings);
    // A deadlock is found on one channel, and is on all of its cycle.
    let circles: BTreeMap<&str, Severity> = findings
        .iter()
        .flat_map(|it| it.row.first.0.iter().map(|fact| (fact, it.row.severity)))
        .filter_map(|(fact, severity)| match fact {
            ("circle", ShownFact::Texts(names)) => {
                Some(names.iter().map(move |it| (*it, severity)))
            }
            _ => None,
        })
        .flatten()
        .collect();
    let mut facts: BTreeMap<Cow<'_, str>, ChannelFacts> = BTreeMap::new();
    for link in links {
        let mut own: BTreeMap<Cow<'_, str>, ChannelFacts> = BTreeMap::new();
        for report in link {
            let counters = &report.totals.counters;
            let permille = |part: u64| {
                let share = (u128::from(part) * 1000).checked_div(counters.characters().into());
                share.and_then(|share| u64::try_from(share).ok()).unwrap_or(0).min(1000)
            };
            let known = own.entry(link_name(&report.channel.name)).or_default();
            *known = known.worse(ChannelFacts {
                severity: {
                    let all = [worst.get(&report.id), circles.get(&*report.channel.name)];
                    all.into_iter().flatten().min().copied()
                },
                // Virtual channels share the characters of their link. C-7
                use_permille: (known.use_permille + permille(counters.data())).min(1000),
                stopped_permille: report
                    .shows_stops()
                    .then(|| permille(report.totals.stops.periods)),
            });
        }
        for (name, own) in own {
            let known = facts.entry(name).or_default();
            *known = known.worse(own);
        }
    }
    facts
}
