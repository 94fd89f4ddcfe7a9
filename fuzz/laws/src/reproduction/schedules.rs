//! Operation lists: they are run once more, and their trace is written as it would go
//! over wires.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::Unstructured;
use codec::Character;
use codec::capture::{Channel, ChannelId};
use codec::chars::CharBuf;
use codec::packet::{CrcCheck, Packet, PacketTag};
use codec::route::PortId;
use codec::time::Tick;
use codec::transport::{Nic, TAG};
use simulator::topology::{NodeId, NodePort};
use simulator::truth::{TruthEvent, TruthEventKind};

use super::text_page::{self, byte_test};
use super::{ReproductionDraft, ReproductionPart, captures};
use crate::capture_input::OwnedChunk;
use crate::trace::{LawTraceEntry, traced};
use crate::{LawFunction, endpoints, link, record_ops, states, transport};

/// Most operations shown. *Chosen*: some screens.
const TOLD_MAX: usize = 400;

const NOTHING_RAN: &str = "what ran is a machine of its own, and no network";

/// An input of `link`: both channels of the port's cable.
pub(super) fn link(target: &str, input: &[u8]) -> ReproductionDraft {
    let (_, entries) = traced(|| link::law(input));
    let (mut heard, mut sent) = (CharBuf::new(), CharBuf::new());
    for entry in &entries {
        if let LawTraceEntry::Period(one, other) = entry {
            heard.push(*one);
            sent.push(*other);
        }
    }
    let channel = |name: &str, peer| Channel { peer: Some(peer), ..Channel::named(name) };
    let channels = [channel("far:0>near:0", 1), channel("near:0>far:0", 0)];
    let known = [format!("Heard: {heard}"), format!("Sent: {sent}")];
    let chunk = |chars| OwnedChunk { first: Tick(0), chars, count: None };
    let chunks = vec![(ChannelId(0), chunk(heard)), (ChannelId(1), chunk(sent))];
    let capture = match entries.is_empty() {
        true => Err("nothing is done".to_owned()),
        false => text_page::capture(&channels, chunks),
    };
    let mut all = did(&entries);
    all.extend(known);
    ReproductionDraft::of_capture(capture, NOTHING_RAN, byte_test(target, &all, input))
}

/// An input of `receiver`: two independent channels.
pub(super) fn receiver(target: &str, input: &[u8]) -> ReproductionDraft {
    let chunks = record_ops::record_chunks(&record_ops::ops(&mut Unstructured::new(input)));
    let channels = ["one", "other"].map(Channel::named);
    let own = |(id, chunks): (u32, Vec<OwnedChunk>)| {
        chunks.into_iter().map(move |chunk| (ChannelId(id), chunk))
    };
    let chunks = (0..).zip(chunks).flat_map(own).collect();
    recorded(target, input, text_page::capture(&channels, chunks))
}

/// An input of `states`: the two channels of a link, or of none.
pub(super) fn states(target: &str, input: &[u8]) -> ReproductionDraft {
    let Some((channels, chunks)) = states::recorded_pair(input) else {
        let why = "these bytes stand for no channels";
        return ReproductionDraft::nothing(why, byte_test(target, &[why.to_owned()], input));
    };
    recorded(target, input, text_page::capture(&channels, chunks))
}

fn recorded(target: &str, input: &[u8], capture: ReproductionPart<Vec<u8>>) -> ReproductionDraft {
    let known = capture.as_deref().map(captures::rows).unwrap_or_default();
    ReproductionDraft::of_capture(capture, NOTHING_RAN, byte_test(target, &known, input))
}

/// An input of `transport`: the packets between the NICs, as over a cable between each two.
pub(super) fn transport(target: &str, input: &[u8]) -> ReproductionDraft {
    let (entries, capture) = machines(transport::law, input);
    let known = match transport::input::TransportInput::from_bytes(input) {
        Some(plan) => format!("{} NICs: {:?}", plan.shape.nics(), plan.shape.parameters()),
        None => "These bytes stand for nothing that is done.".to_owned(),
    };
    let known: Vec<String> = [known].into_iter().chain(did(&entries)).collect();
    ReproductionDraft::of_capture(capture, NOTHING_RAN, byte_test(target, &known, input))
}

/// An input of `endpoints`: likewise; the events of hosts are the truth.
pub(super) fn endpoints(target: &str, input: &[u8]) -> ReproductionDraft {
    let (entries, capture) = machines(endpoints::law, input);
    let known = endpoints::input::MessagingInput::small(input).map(|plan| plan.setup());
    let mut told = Vec::new();
    for (host, plan) in (0..).zip(known.iter().flat_map(|setup| &setup.hosts)) {
        told.extend(plan.streams.iter().map(|stream| format!("Host {host}: {stream:?}")));
    }
    told.extend(known.iter().flat_map(|setup| &setup.faults).map(|fault| format!("{fault:?}")));
    let truth = match entries.is_empty() {
        true => Err("nothing was told".to_owned()),
        false => Ok(truth(&entries)),
    };
    let notation = byte_test(target, &told, input);
    ReproductionDraft { truth, ..ReproductionDraft::of_capture(capture, NOTHING_RAN, notation) }
}

/// Trace of a law, and its packets on wires.
fn machines(law: LawFunction, input: &[u8]) -> (Vec<LawTraceEntry>, ReproductionPart<Vec<u8>>) {
    let (_, entries) = traced(|| law(input));
    let capture = packets(&entries);
    (entries, capture)
}

/// Operations in words, each with its time.
fn did(entries: &[LawTraceEntry]) -> Vec<String> {
    let told = |entry: &LawTraceEntry| {
        if let LawTraceEntry::Did(at, what) = entry { Some(format!("{at}: {what}")) } else { None }
    };
    let mut did: Vec<String> = entries.iter().filter_map(told).collect();
    if did.len() > TOLD_MAX {
        let more = did.len() - TOLD_MAX;
        did.truncate(TOLD_MAX);
        did.push(format!("… {more} more"));
    }
    did
}

fn truth(entries: &[LawTraceEntry]) -> Vec<u8> {
    let mut lines = Vec::new();
    let names: Vec<String> = (0..=u8::MAX).map(|nic| format!("n{nic}")).collect();
    for entry in entries {
        let LawTraceEntry::Row(at, nic, told) = entry else { continue };
        let place = NodePort { node: NodeId(nic.0.into()), port: PortId(0) };
        let row = TruthEvent {
            at: *at,
            time_ps: None,
            place,
            packet: None,
            kind: TruthEventKind::Messaging(told.clone()),
        };
        let name = |node: NodeId| names.get(node.0 as usize).map_or("?", String::as_str);
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut lines, &row.row(name));
        lines.push(b'\n');
    }
    lines
}

/// Between two NICs: packets with the times at which they begin.
type NicPackets<'a> = BTreeMap<(Nic, Nic), Vec<(u64, &'a [u8])>>;

/// A capture of packets, each pair of NICs on a cable of its own that is filled as links are.
fn packets(entries: &[LawTraceEntry]) -> ReproductionPart<Vec<u8>> {
    let mut lanes = NicPackets::new();
    for entry in entries {
        if let LawTraceEntry::Packet(at, from, to, payload) = entry {
            lanes.entry((*from, *to)).or_default().push((*at, payload));
            lanes.entry((*to, *from)).or_default();
        }
    }
    if lanes.is_empty() {
        return Err("no packet was sent".to_owned());
    }
    let ways: BTreeSet<(Nic, Nic)> = lanes.keys().copied().collect();
    let place = |way| ways.iter().position(|other| *other == way);
    // A node for each cable: who has several ports is taken for a switch.
    let name = |Nic(own): Nic, Nic(other): Nic| format!("n{own}.{other}:0");
    let channel = |(from, to): &(Nic, Nic)| Channel {
        peer: place((*to, *from)).and_then(|peer| u32::try_from(peer).ok()),
        ..Channel::named(format!("{}>{}", name(*from, *to), name(*to, *from)))
    };
    let channels: Vec<Channel> = ways.iter().map(channel).collect();
    let carried: Vec<Vec<OwnedChunk>> = lanes.values().map(|lane| carried(lane)).collect();
    let end = carried.iter().flatten().map(|chunk| chunk.chunk().end().0).max().unwrap_or(0);
    let mut chunks = Vec::new();
    for (id, mut own) in (0..).map(ChannelId).zip(carried) {
        let last = own.last().map_or(0, |chunk| chunk.chunk().end().0);
        own.extend(fill(last, end));
        chunks.extend(own.into_iter().map(|chunk| (id, chunk)));
    }
    text_page::capture(&channels, chunks)
}

/// Packets one after the other on a channel: none before its time, none before the last has ended.
fn carried(lane: &[(u64, &[u8])]) -> Vec<OwnedChunk> {
    let mut chunks = Vec::new();
    let mut next = 0;
    for (at, payload) in lane {
        chunks.extend(fill(next, *at));
        let first = next.max(*at);
        let mut chars = CharBuf::new();
        let packet =
            Packet { route: &[], tag: PacketTag::new(TAG), payload, check: CrcCheck::Good };
        packet.emit(&mut chars);
        next = first + chars.len() as u64;
        chunks.push(OwnedChunk { first: Tick(first), chars, count: None });
    }
    chunks
}

/// GAP and GO in turn, as a link sends that has nothing else. F-6
fn fill(from: u64, to: u64) -> Vec<OwnedChunk> {
    let periods = to.saturating_sub(from);
    let go = Character::Control(0x03);
    let mut chunks = Vec::new();
    if periods >= 2 {
        let chars = [Character::GAP, go].into_iter().collect();
        chunks.push(OwnedChunk { first: Tick(from), chars, count: Some(periods / 2) });
    }
    if periods % 2 == 1 {
        let chars = [Character::GAP].into_iter().collect();
        chunks.push(OwnedChunk { first: Tick(to - 1), chars, count: None });
    }
    chunks
}
