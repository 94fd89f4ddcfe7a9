//! A whole capture as one value: [`analyze`] and its [`Report`].

use std::collections::BTreeMap;
use std::io::Read;

use codec::capture::{CaptureError, CaptureFault, Channel, ChannelId, ReadExtent, decompress};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::blocking::trees::WaitTrees;
use crate::blocking::{BlockedRow, BlockingEvent};
use crate::conversation::{Conversation, ConversationRow, TransportEvent};
use crate::event::Picoseconds;
use crate::finding::{FindingSet, Severity};
use crate::finding_row::{FindingRow, ranked};
use crate::journey::{Journey, JourneyRow};
use crate::link::parameters::LinkAssumptions;
use crate::link_analysis::LinkAnalysis;
use crate::options::AnalysisScope;
use crate::pipeline::{AnalysisEvent, AnalysisEvents, CaptureAnalysis};
use crate::rules::{RuleVerdict, verdicts};
use crate::topology::Topology;

/// Faults of the file kept in a report. *Chosen*: a damaged file may have millions.
const FAULTS_MAX: usize = 1024;

/// Options of [`analyze`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisOptions {
    /// Link parameters for channels that declare none.
    pub assumptions: LinkAssumptions,
    /// Number of journeys kept; all are counted.
    pub journeys_max: usize,
    /// Number of conversations kept; all are counted.
    pub conversations_max: usize,
}

impl Default for AnalysisOptions {
    /// 1000 journeys, 1000 conversations, the default assumptions.
    fn default() -> Self {
        let assumptions = LinkAssumptions::default();
        Self { assumptions, journeys_max: 1000, conversations_max: 1000 }
    }
}

/// Result of [`analyze`]. Its size is bounded by the number of channels and by [`AnalysisOptions`].
///
/// It serialises to the rows of `docs/output.md`, in an object with the members `read`, `channels`,
/// `findings`, `verdicts`, `topology`, `journeys`, `waits` and `conversations`.
#[derive(Debug, Default)]
pub struct Report {
    /// The part of the file that was read.
    pub extent: ReadExtent,
    /// The error that ended the reading before the end of the file.
    pub error: Option<CaptureError>,
    /// Faults of the file, the first 1024.
    pub faults: Vec<CaptureFault>,
    /// The channels, by the number of their interface.
    pub channels: BTreeMap<ChannelId, Channel>,
    /// The links with their totals and parameters.
    pub links: Vec<LinkAnalysis>,
    /// The findings and the coverage of each rule.
    pub findings: FindingSet,
    /// The network.
    pub topology: Topology,
    /// The journeys.
    pub journeys: JourneySummary,
    /// The waits of stopped senders, as trees.
    pub waits: WaitTrees,
    /// The conversations of the reliability protocol.
    pub conversations: Vec<Conversation>,
    /// The number of conversations.
    pub conversation_count: u64,
}

/// Journeys, counted; the first of them in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JourneySummary {
    /// The number of journeys.
    pub count: u64,
    /// Number of journeys by [`JourneyFate::name`](crate::journey::JourneyFate::name).
    pub fates: BTreeMap<&'static str, u64>,
    /// Latency from the first captured channel to the last, of packets seen on two or more.
    pub latency: LatencySummary,
    /// The first [`AnalysisOptions::journeys_max`].
    pub first: Vec<Journey>,
}

/// Latencies in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LatencySummary {
    /// The number of packets.
    pub count: u64,
    /// The shortest.
    pub min_ps: Picoseconds,
    /// The sum.
    pub total_ps: Picoseconds,
    /// The longest.
    pub max_ps: Picoseconds,
}

/// Analyzes a capture, plain or compressed with gzip or Zstandard: findings, rules, topology, journeys, waits and conversations.
///
/// Faults of the file do not stop it: they, and the error that ended the reading, are in the
/// report.
pub fn analyze(capture: impl Read + Send, options: &AnalysisOptions) -> Report {
    let mut report = Report::default();
    let capture = match decompress(capture) {
        Ok(capture) => capture,
        Err(source) => {
            report.error = Some(CaptureError::Read { offset: 0, source });
            return report;
        }
    };
    let analysis = CaptureAnalysis::new(capture, AnalysisScope::Report, options.assumptions);
    let mut events = analysis.events();
    for event in &mut events {
        match event {
            Ok(event) => report.add(event, options),
            Err(error) => report.error = Some(error),
        }
    }
    report.complete(events)
}

impl Report {
    fn add(&mut self, event: AnalysisEvent, options: &AnalysisOptions) {
        if let AnalysisEvent::Journey(journey) = event {
            self.journeys.add(journey, options.journeys_max);
        } else if let AnalysisEvent::Blocked(event) = event {
            self.waits.add(event);
        } else if let AnalysisEvent::Conversation(TransportEvent::Conversation(conversation)) =
            event
        {
            self.conversation_count += 1;
            if self.conversations.len() < options.conversations_max {
                self.conversations.push(*conversation);
            }
        } else if let AnalysisEvent::Fault(fault) = event
            && self.faults.len() < FAULTS_MAX
        {
            self.faults.push(fault);
        }
    }

    fn complete<R: Read + Send>(self, events: AnalysisEvents<R>) -> Self {
        let analysis = events.into_analysis();
        Self {
            extent: analysis.extent(),
            channels: analysis.channels().map(|(id, channel)| (id, channel.clone())).collect(),
            findings: analysis.findings().set().clone(),
            topology: analysis.topology(),
            links: analysis.into_links(),
            ..self
        }
    }

    /// The name of a channel.
    pub fn channel_name(&self, id: ChannelId) -> &str {
        self.channels.get(&id).map_or("", |channel| channel.name.as_str())
    }

    /// The findings as rows, the worst first.
    pub fn finding_rows(&self) -> Vec<FindingRow<'_>> {
        let name = |id| self.channel_name(id);
        let ranked = ranked(&self.findings);
        ranked.into_iter().map(|(kind, id, finding)| finding.row(kind, id, &name)).collect()
    }

    /// The verdict on every rule.
    pub fn verdicts(&self) -> Vec<RuleVerdict> {
        verdicts(&self.findings)
    }

    /// True if the file was read completely, and no finding is an error or a warning.
    pub fn is_sound(&self) -> bool {
        let count = |severity| self.findings.count(severity);
        let clean = self.error.is_none() && self.extent.is_whole();
        clean && count(Severity::Error) + count(Severity::Warning) == 0
    }
}

impl JourneySummary {
    fn add(&mut self, journey: Journey, most: usize) {
        self.count += 1;
        *self.fates.entry(journey.fate.name()).or_default() += 1;
        if let [first, .., last] = journey.hops.as_slice() {
            self.latency.add(last.time.saturating_sub(first.time));
        }
        if self.first.len() < most {
            self.first.push(journey);
        }
    }
}

impl LatencySummary {
    /// Adds a packet.
    pub fn add(&mut self, latency: Picoseconds) {
        self.min_ps = if self.count == 0 { latency } else { self.min_ps.min(latency) };
        self.max_ps = self.max_ps.max(latency);
        self.total_ps = self.total_ps.saturating_add(latency);
        self.count += 1;
    }

    /// The mean; none without packets.
    pub fn mean_ps(&self) -> Option<Picoseconds> {
        self.total_ps.checked_div(self.count.into())
    }
}

/// The part of the file that was read.
#[derive(Serialize)]
struct ReadRow {
    whole: bool,
    stopped_at: Option<u64>,
    left_out: u64,
    faults: u64,
    error: Option<String>,
    messages: Vec<String>,
}

#[derive(Serialize)]
struct JourneySummaryRow<'a> {
    count: u64,
    fates: &'a BTreeMap<&'static str, u64>,
    latency: LatencySummary,
    first: Vec<JourneyRow<'a>>,
}

#[derive(Serialize)]
struct WaitSummaryRow<'a> {
    stops: u64,
    channels: usize,
    total_ps: Picoseconds,
    deadlocks: Vec<BlockedRow<'a>>,
}

#[derive(Serialize)]
struct ConversationSummaryRow {
    count: u64,
    first: Vec<ConversationRow>,
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = |id| self.channels.get(&id);
        let read = ReadRow {
            whole: self.extent.is_whole(),
            stopped_at: self.extent.stopped_at,
            left_out: self.extent.left_out,
            faults: self.extent.faults,
            error: self.error.as_ref().map(ToString::to_string),
            messages: self.faults.iter().map(ToString::to_string).collect(),
        };
        let channels = self.links.iter().flat_map(LinkAnalysis::reports);
        let channels: Vec<_> = channels.map(|report| report.row()).collect();
        let JourneySummary { count, fates, latency, first } = &self.journeys;
        let first = first.iter().map(|journey| journey.row(&known)).collect();
        let journeys = JourneySummaryRow { count: *count, fates, latency: *latency, first };
        let (stops, stopped, total_ps) = self.waits.sum();
        let deadlocks = self.waits.deadlocks().iter().cloned();
        let deadlocks = deadlocks.map(|it| BlockingEvent::Deadlock(it).row(&known)).collect();
        let waits = WaitSummaryRow { stops, channels: stopped, total_ps, deadlocks };
        let verdicts: Vec<_> = self.verdicts().iter().map(|it| it.row(&self.extent)).collect();
        let conversations = self.conversations.iter().map(Conversation::row).collect();
        let conversations =
            ConversationSummaryRow { count: self.conversation_count, first: conversations };
        let mut report = serializer.serialize_struct("Report", 8)?;
        report.serialize_field("read", &read)?;
        report.serialize_field("channels", &channels)?;
        report.serialize_field("findings", &self.finding_rows())?;
        report.serialize_field("verdicts", &verdicts)?;
        report.serialize_field("topology", &self.topology)?;
        report.serialize_field("journeys", &journeys)?;
        report.serialize_field("waits", &waits)?;
        report.serialize_field("conversations", &conversations)?;
        report.end()
    }
}
