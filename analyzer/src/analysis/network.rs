//! The storey above the links: it takes what they saw, in order of time.

use std::collections::BTreeMap;

use codec::capture::ChannelId;

use super::batch::Then;
use super::links::Worked;
use super::merge::merged;
use super::{Told, Wanted};
use crate::blocking::Blocking;
use crate::conversation::{Conversations, Spoken};
use crate::event::Event;
use crate::finding::Findings;
use crate::link::Seen;
use crate::link::slack::Assumptions;
use crate::path::Paths;
use crate::timeline::{Detail, Row, Time, What};
use crate::topology::{Evidence, Topology};

/// Rows that are held back. *Chosen*: some milliseconds of a large network.
const HELD_MAX: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Network {
    wanted: Wanted,
    assumptions: Assumptions,
    paths: Paths,
    blocking: Blocking,
    conversations: Conversations,
    evidence: Evidence,
    findings: Findings,
    periods_ps: BTreeMap<ChannelId, u64>,
    /// Whether the next channel begins a section.
    next: Then,
    /// When the last row was.
    now: Time,
    /// Rows whose times were corrected, until all of before them have come.
    held: BTreeMap<(Time, ChannelId, u64), Row>,
    /// Number of rows held so far: tells apart rows of one channel and time.
    held_rows: u64,
}

impl Network {
    pub(super) fn new(wanted: Wanted, assumptions: Assumptions) -> Self {
        Self {
            wanted,
            assumptions,
            paths: Paths::default(),
            blocking: Blocking::default(),
            conversations: Conversations::default(),
            evidence: Evidence::default(),
            findings: Findings::default(),
            periods_ps: BTreeMap::new(),
            next: Then::More,
            now: 0,
            held: BTreeMap::new(),
            held_rows: 0,
        }
    }

    pub(super) const fn findings(&self) -> &Findings {
        &self.findings
    }

    /// What the network is, as far as sections have ended.
    pub(super) fn topology(&self) -> Topology {
        self.evidence.topology()
    }

    pub(super) const fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Takes what the links made of a batch.
    pub(super) fn take(&mut self, worked: Worked) -> Vec<Told> {
        if self.next == Then::End && !worked.channels.is_empty() {
            (self.paths, self.blocking) = (Paths::default(), Blocking::default());
            (self.conversations, self.now) = (Conversations::default(), 0);
            self.next = Then::More;
        }
        for (id, channel) in &worked.channels {
            self.periods_ps.insert(*id, channel.period_ps.get());
            self.findings.know(*id, channel);
            self.paths.declare(*id, channel, &self.assumptions);
            self.blocking.declare(*id, channel);
        }
        for (one, other) in &worked.joined {
            self.blocking.join(*one, *other);
            self.conversations.join(*one, *other);
        }
        let mut told = Vec::new();
        let (mut rows, mut intervals, mut slack) = (Vec::new(), Vec::new(), Vec::new());
        for seen in worked.seen {
            let Seen { rows: own, intervals: states, slack: said } = seen;
            rows.push(own);
            intervals.push(states);
            slack.push(said);
        }
        self.rows(rows, &mut told);
        self.blocking.pass(worked.until);
        let Self { periods_ps, findings, wanted, .. } = self;
        let time = |channel, at| time(periods_ps, channel, at);
        merged(intervals, |(known, it)| (*known, it.channel), &mut |(_, interval)| {
            told.push(Told::Interval(interval));
        });
        let fills = wanted.fills();
        merged(slack, |said| (time(said.channel(), said.at().0), said.channel()), &mut |said| {
            findings.slack(&said, |id| period_ps(periods_ps, id));
            if fills {
                told.push(Told::Slack(said));
            }
        });
        if worked.then == Then::End {
            self.finish(worked.until, &mut told);
        } else if self.conversations.is_waiting() {
            let Self { wanted, conversations, findings, paths, now, .. } = self;
            let until = paths.oldest().unwrap_or(*now);
            conversations.pass(until, &mut |spoken| speak(*wanted, spoken, findings, &mut told));
        }
        told
    }

    fn rows(&mut self, rows: Vec<Vec<Row>>, told: &mut Vec<Told>) {
        merged(rows, |row| (row.time, row.channel), &mut |mut row: Row| {
            let clocks = &mut self.paths.clocks;
            if clocks.rates().next().is_none() && self.held.is_empty() {
                return self.row(row, told);
            }
            // What is told keeps the order of the file.
            told.extend(self.wanted.rows().then(|| Told::Row(row.clone())));
            let complete = clocks.complete(row.time);
            row.time = clocks.corrected(row.channel, row.time);
            self.held_rows += 1;
            self.held.insert((row.time, row.channel, self.held_rows), row);
            self.release(complete, told);
        });
    }

    /// Takes rows of before a time that were held back for want of others.
    fn release(&mut self, complete: Time, told: &mut Vec<Told>) {
        while let Some(((time, ..), _)) = self.held.first_key_value() {
            if *time >= complete && self.held.len() < HELD_MAX {
                break;
            }
            if let Some((_, row)) = self.held.pop_first() {
                self.understand(&row, told);
            }
        }
    }

    fn row(&mut self, row: Row, told: &mut Vec<Told>) {
        self.understand(&row, told);
        told.extend(self.wanted.rows().then_some(Told::Row(row)));
    }

    fn understand(&mut self, row: &Row, told: &mut Vec<Told>) {
        let Self { wanted, paths, blocking, conversations, findings, periods_ps, now, .. } = self;
        let (all, wanted) = (*wanted, wanted.network());
        *now = row.time.max(*now);
        paths.row(row, &mut |journey| {
            findings.journey(&journey);
            conversations.journey(&journey, &mut |it| speak(all, it, findings, told));
            told.extend(wanted.then_some(Told::Journey(journey)));
        });
        blocking.row(row, paths, &mut |blocked| {
            findings.blocked(&blocked, |id| period_ps(periods_ps, id));
            told.extend(wanted.then_some(Told::Blocked(blocked)));
        });
        if is_doubtful(&row.what) {
            conversations.hole(row.time, &mut |it| speak(all, it, findings, told));
        }
    }

    /// The section ends, recorded up to a time.
    fn finish(&mut self, end: Time, told: &mut Vec<Told>) {
        self.release(Time::MAX, told);
        let Self { wanted, paths, blocking, conversations, evidence, findings, .. } = self;
        let (all, wanted, periods_ps) = (*wanted, wanted.network(), &self.periods_ps);
        blocking.finish(&mut |blocked| {
            findings.blocked(&blocked, |id| period_ps(periods_ps, id));
            told.extend(wanted.then_some(Told::Blocked(blocked)));
        });
        paths.finish(end, &mut |journey| {
            findings.journey(&journey);
            conversations.journey(&journey, &mut |it| speak(all, it, findings, told));
            told.extend(wanted.then_some(Told::Journey(journey)));
        });
        conversations.finish(&mut |spoken| speak(all, spoken, findings, told));
        evidence.section(blocking.nodes(), paths.implied());
        findings.clocks(&paths.clocks, |id| period_ps(periods_ps, id));
        findings.end_section();
        self.next = Then::End;
    }
}

/// Whether something before it was not recorded, or is not told.
const fn is_doubtful(what: &What) -> bool {
    match what {
        What::Event(Event::Hole { .. }) | What::Detail(Detail::Begins) => true,
        What::Omitted { .. } => true,
        What::Packet(_) | What::Event(_) | What::Detail(_) => false,
    }
}

/// Takes what is said in the reliability protocol.
fn speak(wanted: Wanted, spoken: Spoken, findings: &mut Findings, told: &mut Vec<Told>) {
    findings.spoken(&spoken);
    told.extend(wanted.conversations().then_some(Told::Spoken(spoken)));
}

/// When a place of a channel is.
fn time(periods_ps: &BTreeMap<ChannelId, u64>, channel: ChannelId, at: u64) -> Time {
    Time::from(at) * Time::from(period_ps(periods_ps, channel))
}

fn period_ps(periods_ps: &BTreeMap<ChannelId, u64>, channel: ChannelId) -> u64 {
    periods_ps.get(&channel).copied().unwrap_or(1)
}
