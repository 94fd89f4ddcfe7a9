//! The page of `myriscope report`: HTML and SVG, drawn from what an analysis found. The template escapes
//! all text; all lists have a maximum, so that the page is small whatever the capture.

mod decimate;
mod findings;
mod lanes;
mod messages;
mod network;
mod numbers;
mod recorded;
mod text;
mod waits;

use std::collections::BTreeMap;
use std::path::Path;

use analyzer::finding::{Severity, ShellCommand};
use analyzer::link::LinkAnalysis;
use analyzer::link::interval::ChannelActivity;
use analyzer::link::report::ChannelReport;
use analyzer::render::check::CheckScope;
use analyzer::render::count;
use analyzer::rules::{Rule, RuleOutcome, verdicts};
use analyzer::window::TimeWindow;
use askama::Template;
use codec::time::Tick;

use self::findings::{FindingCard, VerdictCount};
use self::lanes::{LANES_MAX, LaneGroup, PictureTime, StatePath};
use self::messages::SequenceDiagram;
use self::network::{ChannelFacts, NetworkPicture};
use self::numbers::{BufferPicture, KnownBuffer, LatencyPicture};
use self::text::{BoundedList, DataCell, DataTable, TEXT_MAX, clipped, duration};
use self::waits::WaitPicture;
use crate::analyze::CliAnalysis;
use crate::args::ViewArgs;

pub(crate) use self::findings::SelectedFinding;
pub(crate) use self::recorded::RecordedEvents;

/// SHA-256 of the script in base64: the only script that the page permits.
const SCRIPT_HASH: &str = "xXp7n7IzJLkCLYOKC0x1sAb10sPEiolv8k6h4V7yKC0=";

/// Bytes of the page.
const PAGE_MAX: usize = 2_000_000;

/// Rows of a table. *Chosen*: more are for a program.
const ROWS_MAX: usize = 250;

/// Everything that the page shows.
pub(crate) struct ReportInput<'a> {
    pub(crate) file: &'a Path,
    pub(crate) view: &'a ViewArgs,
    pub(crate) analysis: &'a CliAnalysis,
    pub(crate) scope: &'a CheckScope,
    pub(crate) findings: &'a [SelectedFinding<'a>],
    pub(crate) recorded: &'a RecordedEvents,
    /// Day of the report, if the environment fixes it.
    pub(crate) date: Option<String>,
}

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage {
    css: &'static str,
    script_hash: &'static str,
    script: &'static str,
    head: PageHead,
    cards: Vec<FindingCard>,
    outcomes: Vec<VerdictCount>,
    failed: Vec<&'static Rule>,
    rules: DataTable,
    network: Option<NetworkPicture>,
    lanes: LanePicture,
    buffers: BoundedList<BufferPicture>,
    buffer_table: DataTable,
    waits: Option<WaitPicture>,
    latency: Option<LatencyPicture>,
    conversations: DataTable,
    diagrams: BoundedList<SequenceDiagram>,
    channels: DataTable,
}

/// Heading of the page.
struct PageHead {
    title: String,
    class: &'static str,
    /// The result in a few words.
    result: String,
    unread: Option<String>,
    selection: Option<String>,
    /// Number of findings that are not selected.
    elsewhere: Option<String>,
    facts: Vec<(&'static str, String)>,
    version: &'static str,
    date: Option<String>,
}

/// The lanes, and the time that they cover.
struct LanePicture {
    groups: BoundedList<LaneGroup>,
    legend: Vec<StatePath>,
    labels: Vec<String>,
    from: u128,
    length: u128,
}

/// Result in words of the selected findings.
pub(crate) fn result(scope: &CheckScope) -> String {
    let all = [Severity::Error, Severity::Warning, Severity::Note];
    let counts = all.map(|severity| {
        let found = scope.selected.iter().filter(|other| **other == severity).count();
        (found, severity.name())
    });
    let found: Vec<String> = counts
        .into_iter()
        .filter(|(found, _)| *found > 0)
        .map(|(n, name)| count(n, name))
        .collect();
    match (scope.is_wrong(), scope.unread.is_some(), found.is_empty()) {
        (true, _, _) => found.join(", "),
        (false, true, _) => "No error or warning in what was read".to_owned(),
        (false, false, true) => "Nothing wrong".to_owned(),
        (false, false, false) => format!("Nothing wrong, {}", found.join(", ")),
    }
}

/// Draws the page.
pub(crate) fn page(input: &ReportInput<'_>) -> Result<String, askama::Error> {
    let ReportInput { file, view, analysis, findings, recorded, .. } = *input;
    let verdicts = verdicts(analysis.findings().ledger());
    let links: Vec<Vec<ChannelReport<'_>>> = analysis
        .links()
        .map(|link| {
            let selects = |it: &ChannelReport<'_>| view.channels().selects(it.channel);
            LinkAnalysis::reports(link).filter(selects).collect()
        })
        .filter(|link: &Vec<_>| !link.is_empty())
        .collect();
    let buffers = analysis.links().flat_map(|link| {
        let channels = LinkAnalysis::reports(link).map(|report| report.id);
        channels.zip(LinkAnalysis::slack(link))
    });
    let selects = |(_, slack): &KnownBuffer<'_>| view.channels().selects(slack.channel());
    let buffers = numbers::known_buffers(buffers.filter(selects));
    let time = picture_time(&links, view.window());
    let topology = ShellCommand::of("topology", file);
    let facts = channel_facts(&links, findings);
    let failed = verdicts.iter().filter(|verdict| verdict.outcome == RuleOutcome::Fail);
    let page = ReportPage {
        css: include_str!("../templates/report.css"),
        script_hash: SCRIPT_HASH,
        script: include_str!("../templates/report.js"),
        head: head(input, time),
        cards: findings::cards(findings, file),
        outcomes: findings::outcomes(&verdicts),
        failed: failed.map(|verdict| verdict.rule).collect(),
        rules: findings::rule_table(&verdicts, file),
        network: network::picture(&analysis.topology(), &facts, &topology),
        lanes: lane_picture(input, &links, time),
        buffers: numbers::buffers(&buffers, &recorded.fills, time, file),
        buffer_table: numbers::buffer_table(&buffers, file),
        waits: waits::picture(&recorded.waits, analysis, &ShellCommand::of("blocking", file)),
        latency: recorded.journeys.picture(),
        conversations: recorded.messages.table(file),
        diagrams: recorded.messages.diagrams(file),
        channels: channel_table(&links, file),
    };
    page.bounded()
}

impl ReportPage {
    /// The page, with shorter lists if it would be too long: names whose characters are escaped may be.
    fn bounded(mut self) -> Result<String, askama::Error> {
        let mut html = self.render()?;
        while html.len() > PAGE_MAX && self.is_long() {
            self.cards.iter_mut().for_each(|card| card.places.halve());
            self.network.iter_mut().for_each(|it| it.links.halve());
            self.lanes.groups.halve();
            self.buffers.halve();
            self.diagrams.halve();
            let tables = [&mut self.buffer_table, &mut self.conversations, &mut self.channels];
            tables.into_iter().for_each(|table| table.rows.halve());
            html = self.render()?;
        }
        Ok(html)
    }

    fn is_long(&self) -> bool {
        let lists = [self.lanes.groups.items.len(), self.channels.rows.items.len()];
        lists.iter().any(|len| *len > 0)
    }
}

fn head(input: &ReportInput<'_>, time: PictureTime) -> PageHead {
    let ReportInput { file, scope, analysis, date, .. } = input;
    let findings = analysis.findings();
    let seen = findings.ledger().seen();
    let class = match scope.selected.iter().min() {
        Some(severity) if *severity != Severity::Note => severity.name(),
        _ if scope.unread.is_some() => Severity::Warning.name(),
        _ => "good",
    };
    PageHead {
        title: clipped(&file.display().to_string(), 120),
        class,
        result: result(scope),
        unread: scope.unread.as_deref().map(|text| clipped(text, TEXT_MAX)),
        selection: scope.selection.as_deref().map(|text| clipped(text, TEXT_MAX)),
        elsewhere: (!scope.elsewhere.is_empty()).then(|| count(scope.elsewhere.len(), "finding")),
        facts: vec![
            ("channels", seen.channels.to_string()),
            ("characters", seen.characters.to_string()),
            ("packets", seen.packets.to_string()),
            ("from", duration(time.from)),
            ("duration", duration(time.to - time.from)),
        ],
        version: env!("CARGO_PKG_VERSION"),
        date: date.clone(),
    }
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

fn channel_facts<'a>(
    links: &[Vec<ChannelReport<'a>>],
    findings: &[SelectedFinding<'_>],
) -> BTreeMap<&'a str, ChannelFacts> {
    let worst = lanes::worst(findings);
    let facts = links.iter().flatten().map(|report| {
        let counters = &report.totals.counters;
        let permille = |part: u64| {
            let share = (u128::from(part) * 1000).checked_div(counters.characters().into());
            share.and_then(|share| u64::try_from(share).ok()).unwrap_or(0).min(1000)
        };
        let facts = ChannelFacts {
            severity: worst.get(&report.id).copied(),
            use_permille: permille(counters.data()),
            stopped_permille: permille(report.totals.stops.periods),
        };
        (report.channel.name.as_str(), facts)
    });
    facts.collect()
}

/// The lanes of the links; of many, those with the worst findings and the longest stops.
fn lane_picture(
    input: &ReportInput<'_>,
    links: &[Vec<ChannelReport<'_>>],
    time: PictureTime,
) -> LanePicture {
    let worst = lanes::worst(input.findings);
    let mut order: Vec<&Vec<ChannelReport<'_>>> = links.iter().collect();
    if links.iter().map(Vec::len).sum::<usize>() > LANES_MAX {
        order.sort_by_cached_key(|link| {
            let worst = link.iter().filter_map(|it| worst.get(&it.id)).min().copied();
            let stopped = link.iter().map(|it| it.totals.stops.periods).max();
            // Without a finding comes last.
            (worst.is_none(), worst, std::cmp::Reverse(stopped))
        });
    }
    let mut lanes = 0;
    let fitting = order.iter().take_while(|link| {
        lanes += link.len();
        lanes <= LANES_MAX
    });
    let fitting = fitting.count();
    let shown = order.iter().take(fitting).map(|link| link.len()).sum();
    let command = ShellCommand::of("links", input.file).with("--details");
    let groups = BoundedList::of(&order, fitting, &command, |link| {
        lanes::group(link, &input.recorded.lanes, input.findings, (time, shown))
    });
    LanePicture {
        groups,
        legend: lanes::legend(),
        labels: time.labels(),
        from: time.from,
        length: time.length(),
    }
}

/// Totals of the channels.
fn channel_table(links: &[Vec<ChannelReport<'_>>], file: &Path) -> DataTable {
    let channels: Vec<&ChannelReport<'_>> = links.iter().flatten().collect();
    let command = ShellCommand::of("links", file).with("--format csv");
    let rows = BoundedList::of(&channels, ROWS_MAX, &command, |report| {
        let totals = report.totals;
        let (counters, packets) = (&totals.counters, &totals.packets);
        let open = totals.times.periods().get(ChannelActivity::Open.index()).copied().unwrap_or(0);
        let all = totals.times.periods().iter().copied().fold(0, u64::saturating_add);
        let wrong = packets.count() - packets.good;
        let longest = report.channel.period.time(totals.stops.longest);
        vec![
            DataCell { class: "name", ..DataCell::text(text::name(&report.channel.label())) },
            DataCell::number(report.channel.bits_per_second() / 1_000_000),
            DataCell::number(counters.characters()),
            DataCell::share(counters.data(), counters.characters()),
            DataCell::number(packets.count()),
            DataCell::number(wrong).alarming(wrong),
            DataCell::number(totals.stops.count),
            DataCell::share(totals.stops.periods, all),
            DataCell::time((totals.stops.count > 0).then_some(longest)),
            DataCell::share(open, all).alarming(open),
            DataCell::number(counters.invalid()).alarming(counters.invalid()),
            DataCell::number(counters.holes()),
        ]
    });
    let heads = &[
        "channel",
        "Mb/s",
        "characters",
        "data",
        "packets",
        "not good",
        "stops",
        "stopped",
        "longest stop",
        "open",
        "invalid",
        "holes",
    ];
    DataTable { id: "channel-table", heads, rows }
}
