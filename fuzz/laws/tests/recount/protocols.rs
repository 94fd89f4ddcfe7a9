//! Totals of the reliability protocol and of mapping: `conversations` and the maps of `mapping`.

use std::collections::BTreeMap;

use analyzer::conversation::{
    Conversation, ConversationKey, ConversationTotals, Observation, ObservationKind, RoundTrips,
    TransportEvent,
};
use analyzer::mapping::{DistributedMap, MappingEvent, ProbeOutcome};
use codec::mapping::{AnswerStatus, InterfaceAddress};

/// Compares the totals of conversations with their observations.
pub(crate) fn check_conversations(spoken: &[TransportEvent]) {
    let mut open: BTreeMap<ConversationKey, Vec<&Observation>> = BTreeMap::new();
    for event in spoken {
        match event {
            TransportEvent::Noticed(noticed) => open.entry(noticed.key).or_default().push(noticed),
            TransportEvent::Malformed(_) => {}
            TransportEvent::Conversation(ended) => {
                let Conversation { key, sums, .. } = &**ended;
                let noticed = open.remove(key).unwrap_or_default();
                assert_eq!(*sums, totals(&noticed, sums.incarnations));
            }
        }
    }
    assert!(open.is_empty(), "every conversation ends");
}

fn totals(noticed: &[&Observation], incarnations: u64) -> ConversationTotals {
    let all = || noticed.iter().map(|it| it.remark);
    let lost = |is: fn(ObservationKind) -> bool| {
        noticed.iter().filter(|it| is(it.remark) && it.fate.is_lost()).count() as u64
    };
    let is_data = |it| matches!(it, ObservationKind::Data(_) | ObservationKind::Resent(..));
    let is_answer = |it| matches!(it, ObservationKind::Ack(_) | ObservationKind::Nack(_));
    let is_ack = |it| matches!(it, ObservationKind::Ack(_));
    let count = |is: fn(ObservationKind) -> bool| all().filter(|it| is(*it)).count() as u64;
    let messages = count(|it| matches!(it, ObservationKind::Data(_)));
    let gone = tally(
        all().filter_map(|it| if let ObservationKind::Gone(gone) = it { Some(gone) } else { None }),
    );
    let trips =
        all().filter_map(|it| if let ObservationKind::Ack(trip) = it { trip } else { None });
    ConversationTotals {
        messages,
        acknowledged: messages - gone.values().sum::<u64>(),
        bytes: all()
            .map(|it| if let ObservationKind::Data(data) = it { data.bytes } else { 0 })
            .sum(),
        data: count(is_data),
        data_lost: lost(is_data),
        resent: tally(all().filter_map(|it| {
            if let ObservationKind::Resent(_, cause) = it { Some(cause) } else { None }
        })),
        acks: count(is_ack),
        nacks: tally(all().filter_map(|it| {
            if let ObservationKind::Nack(reason) = it { Some(reason) } else { None }
        })),
        answers_lost: lost(is_answer),
        duplicates: count(|it| it == ObservationKind::Duplicate),
        late: count(|it| it == ObservationKind::Late),
        stale: count(|it| it == ObservationKind::Stale),
        incarnations,
        broken: tally(all().filter_map(|it| {
            if let ObservationKind::Broken(broken) = it { Some(broken) } else { None }
        })),
        trips: round_trips(trips.collect()),
        gone,
    }
}

fn tally<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts
}

fn round_trips(mut trips: Vec<u128>) -> RoundTrips {
    trips.sort_unstable();
    let mut expected = RoundTrips {
        count: trips.len() as u64,
        total: trips.iter().sum(),
        bounds: trips.first().copied().zip(trips.last().copied()),
        ..RoundTrips::default()
    };
    for trip in trips {
        // Classes end at 1, 2, 4, … µs.
        let class = (0..).find(|class| trip < 1_000_000 << class).unwrap();
        expected.classes[class.min(expected.classes.len() - 1)] += 1;
    }
    expected
}

/// Compares maps with the requests and answers by which they were distributed; returns how many of the answers
/// repeated another.
pub(crate) fn check_maps(events: &[MappingEvent]) -> usize {
    let key = |map: &DistributedMap| (map.mapper, map.version.0, map.kind);
    let maps = events.iter().enumerate().filter_map(|(place, event)| {
        if let MappingEvent::Map(map) = event { Some((place, &**map)) } else { None }
    });
    let maps: Vec<(usize, &DistributedMap)> = maps.collect();
    let keys = tally(maps.iter().map(|(_, map)| key(map)));
    // A version that a mapper uses once more is another map.
    let single = maps.into_iter().filter(|(_, map)| keys[&key(map)] == 1);
    single.map(|(place, map)| check_map(map, &events[..place])).sum()
}

fn check_map(map: &DistributedMap, before: &[MappingEvent]) -> usize {
    let probes = before.iter().filter_map(|event| {
        if let MappingEvent::Probe(probe) = event { Some(&**probe) } else { None }
    });
    let answered = probes.filter(|it| {
        (it.source, it.version) == (map.mapper, Some(map.version))
            && it.outcome == ProbeOutcome::Answered
    });
    let mut times: BTreeMap<(AnswerStatus, InterfaceAddress), u128> = BTreeMap::new();
    let mut repeated = 0;
    for probe in answered {
        let (Some(answer), Some(trip)) = (probe.answer, probe.round_trip) else { continue };
        let known = times.len();
        times.entry((answer.status, answer.source)).or_insert(probe.place.time + trip);
        repeated += usize::from(times.len() == known && answer.status == AnswerStatus::Complete);
    }
    let of = |status| times.iter().filter(move |((it, _), _)| *it == status).map(|(_, time)| *time);
    let counted = |status| (of(status).count() as u64, of(status).max());
    assert_eq!(
        [(map.complete, map.complete_time), (map.installed, map.installed_time)],
        [counted(AnswerStatus::Complete), counted(AnswerStatus::Installed)],
        "{map:?}"
    );
    assert_eq!(map.refused, of(AnswerStatus::Refused).count() as u64, "{map:?}");
    repeated
}
