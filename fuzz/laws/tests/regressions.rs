//! Minimized bugs that fuzzing and storms have found.

use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::packet::ByteRetention;
use analyzer::timeline::EventFilter;
use codec::capture::{ByteOrder, Channel, ChannelId, ReadProgress};
use codec::notation::parse;
use codec::time::Tick;
use codec::transport::{EndpointId, EndpointKey, Nic};
use laws::capture_input::{OwnedChunk, write};
use laws::endpoints::held;
use laws::endpoints::input::MessagingSetup;
use simulator::messaging::{
    EndpointParameters, EndpointPlan, MICROSECOND, MessageCosts, MessageKind, MessageStream,
    MessagingPlan, ReturnHandler, WakeMode,
};
use simulator::traffic::{ArrivalProcess, PayloadSize};
use simulator::transport::{Micros, TransportParameters};

/// A capture of the two channels of a link; the rows of it as `channel at what`.
fn check(want: EventFilter, lines: &[(u32, u64, &str, Option<u64>)]) -> Vec<String> {
    let channels = [Channel::named("a:0>b:0"), Channel::named("b:0>a:0")];
    let chunk = |(id, first, text, count): &(u32, u64, &str, Option<u64>)| {
        let chars = parse(text).unwrap_or_default();
        (ChannelId(*id), OwnedChunk { first: Tick(*first), chars, count: *count })
    };
    let chunks: Vec<_> = lines.iter().map(chunk).collect();
    let file = write(ByteOrder::Little, &channels, &chunks).unwrap_or_default();
    let mut rows = EventReader::new(file.as_slice(), want, ByteRetention::Forget);
    let mut shown = Vec::new();
    let mut step = || {
        rows.step(&mut |said| {
            if let ReadItem::Row(_, row) = said {
                shown.push(format!("{} {} {}", row.channel, row.at, row.body.name()));
            }
        })
    };
    while matches!(step(), Ok(ReadProgress::More)) {}
    shown
}

/// A repeat was taken for settled after its first round, whose GO said nothing new; the GO of every
/// further round follows a STOP, and does. F-2
#[test]
fn go_counts_in_every_round_that_a_stop_ends() {
    assert_eq!(
        check(EventFilter::Events, &[(0, 0, "GO", None), (0, 1, "GO STOP", Some(3))]),
        [
            "1 2 sender-stopped",
            "1 3 sender-resumed",
            "1 4 sender-stopped",
            "1 5 sender-resumed",
            "1 6 sender-stopped"
        ]
    );
}

/// A STOP of a round still on its way came behind one of a round that was passed over. R-1, F-2
#[test]
fn after_a_reset_the_next_stop_counts() {
    let opposite = [(1, 0, "STOP", None), (1, 1, "IDLE×5 STOP", Some(5))];
    let events = [&[(0, 0, "GAP×3 FRES GAP", None)][..], &opposite].concat();
    let expected = [
        "0 0 sender-stopped",
        "0 3 forward-reset",
        "0 3 sender-resumed",
        "0 4 reset-ended",
        "0 6 sender-stopped",
    ];
    assert_eq!(check(EventFilter::Events, &events), expected);
}

/// The row of a packet that the end cut off came before or behind rows of other channels,
/// depending on how those were cut into chunks.
#[test]
fn the_order_of_rows_does_not_depend_on_chunks() {
    let (head, packet) = ((0, 0, "83", None), "83 05 92 GAP");
    let whole = [head, (1, 0, &[packet; 2].join(" "), None)];
    let cut = [head, (1, 0, packet, None), (1, 4, packet, None)];
    assert_eq!(check(EventFilter::Packets, &whole), check(EventFilter::Packets, &cut));
}

/// Two equal hosts with this number of endpoints each.
fn hosts(endpoints: u16, parameters: EndpointParameters, timeout: u64) -> Vec<MessagingPlan> {
    let times = TransportParameters {
        nics: 2,
        channels: 2,
        scan: Micros(70),
        timeout: Micros(timeout),
        retries: 10,
    };
    let endpoint = |id| EndpointPlan {
        id: EndpointId(id),
        key: EndpointKey(5),
        segment: 1 << 15,
        wake: WakeMode::Poll,
    };
    let host = |nic| MessagingPlan {
        nic: Nic(nic),
        transport: times,
        parameters,
        costs: MessageCosts::AM_II,
        endpoints: (0..endpoints).map(endpoint).collect(),
        streams: Vec::new(),
        names: (0..2)
            .flat_map(|nic| (0..endpoints).map(move |id| (Nic(nic), EndpointId(id))))
            .map(|place| (place, EndpointKey(5)))
            .collect(),
    };
    vec![host(0), host(1)]
}

/// A stream without pauses to an endpoint of the other host.
fn stream(from: u16, (nic, to): (u16, u16)) -> MessageStream {
    MessageStream {
        from: EndpointId(from),
        to: (Nic(nic), EndpointId(to)),
        key: EndpointKey(5),
        kind: MessageKind::Short,
        size: PayloadSize::Fixed(8),
        arrivals: ArrivalProcess::Saturating,
        start: 0,
        count: Some(8),
        returned: ReturnHandler::Drop,
    }
}

/// Two endpoints that were wanted took turns in the only frame, each made to leave as soon as it had been loaded; two hosts
/// asked each for the endpoint that the other had just taken out, and none stayed for as long as it took to bring another
/// in. No message ever came. T-15
#[test]
fn an_endpoint_stays_in_its_frame_for_a_while() {
    for (load, timeout, streams) in [(240, 150, [(1, 0), (0, 0)]), (1000, 60, [(0, 1), (0, 1)])] {
        let load = load * MICROSECOND;
        let one = EndpointParameters { frames: 1, load, ..EndpointParameters::default() };
        let mut hosts = hosts(2, one, timeout);
        for (nic, (host, (from, to))) in (0..).zip(hosts.iter_mut().zip(streams)) {
            host.streams = vec![stream(from, (1 - nic, to))];
        }
        held(&MessagingSetup { hosts, latency: 100, seed: 1, faults: Vec::new() });
    }
}

/// Requests that were refused for full queues held all logical channels in both directions, and no
/// reply could go out, so that no queue was ever emptied. T-2, T-9
#[test]
fn a_channel_is_left_to_replies() {
    let small = EndpointParameters { request_queue: 1, ..EndpointParameters::default() };
    let mut hosts = hosts(3, small, 300);
    for (nic, host) in (0..).zip(&mut hosts) {
        host.streams = (0..3).map(|id| stream(id, (1 - nic, id))).collect();
    }
    held(&MessagingSetup { hosts, latency: 100, seed: 1, faults: Vec::new() });
}
