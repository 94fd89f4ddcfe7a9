//! A page to print: the result, the network, figures of hosts, and what to do next.

use analyzer::comparison::CaptureFigures;
use analyzer::finding::ShellCommand;
use analyzer::render::check::unseen;
use analyzer::render::{count, held_up};
use askama::Template;

use super::findings::{FindingCard, cards};
use super::network::{self, NetworkPicture};
use super::text::{BoundedList, filters};
use super::{ReportInput, channel_facts, channel_reports, class, doubts, result};

/// Hosts and kinds of findings on the page. *Chosen*: with the picture they fill a sheet of A4.
const HOSTS_MAX: usize = 64;
const STEPS_MAX: usize = 4;

/// Decimals of a figure. *Chosen*: they fit a column.
const DECIMALS_MAX: usize = 7;

/// Sentences about who held up whom.
const SENTENCES_MAX: usize = 3;

#[derive(Template)]
#[template(path = "brief.html")]
struct BriefPage<'a> {
    input: &'a ReportInput<'a>,
    sentences: Vec<String>,
    network: Option<NetworkPicture<'a>>,
    hosts: BoundedList<(String, [String; 5])>,
    steps: BoundedList<FindingCard<'a>>,
}

/// Draws the page to print.
pub(crate) fn brief(input: &ReportInput<'_>) -> Result<String, askama::Error> {
    let ReportInput { capture, part, analysis, findings, recorded, scope, .. } = *input;
    let selects = |channel: &_| part.channels().selects(channel);
    let links = channel_reports(analysis, |it| selects(it.channel));
    let (topology, facts) = (analysis.topology(), channel_facts(&links, findings));
    let command = |name| ShellCommand::of(name, capture);
    let figures = CaptureFigures::of(analysis, &recorded.flows, &selects);
    let hosts =
        figures.hosts().into_iter().map(|(host, figures)| (host.to_owned(), shown(figures)));
    let found = analysis.findings();
    let sentences = held_up(found.set(), &|id| analysis.channel(id));
    let sentences = sentences.iter().take(SENTENCES_MAX).map(ToString::to_string);
    let sentences = sentences.chain(unseen(found.set()).filter(|_| !scope.is_wrong()));
    let sentences = sentences.chain(doubts(input));
    let page = BriefPage {
        input,
        sentences: sentences.collect(),
        network: network::picture(&topology, &facts, &command("topology")),
        hosts: BoundedList::of(hosts, HOSTS_MAX, &command("compare")),
        steps: BoundedList::of(cards(findings, capture), STEPS_MAX, &command("check")),
    };
    page.render()
}

/// Texts of the figures of a host, in one decimal, or as many as two digits take.
fn shown([sent, received, median, most, harmed]: [Option<f64>; 5]) -> [String; 5] {
    let text = |value: Option<f64>, unit: f64, name: &str| {
        let Some(value) = value.map(|value| value / unit) else { return "–".to_owned() };
        let (mut decimals, mut digits) = (1, value * 10.0);
        while 0.0 < digits && digits < 9.5 && decimals < DECIMALS_MAX {
            (decimals, digits) = (decimals + 1, digits * 10.0);
        }
        format!("{value:.decimals$}{name}")
    };
    [
        text(sent, 1e6, ""),
        text(received, 1e6, ""),
        text(median, 1.0, ""),
        text(most, 1.0, ""),
        text(harmed, 0.01, " %"),
    ]
}
