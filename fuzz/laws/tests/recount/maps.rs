//! Maps of `mapping`, by the answers to their pieces.

use std::collections::BTreeMap;

use analyzer::mapping::{DistributedMap, MappingEvent, ProbeOutcome};
use codec::mapping::{AnswerStatus, InterfaceAddress};

/// Compares maps with the requests and answers by which they were distributed; returns the number of maps that were
/// complete at several interfaces.
pub(crate) fn check(events: &[MappingEvent]) -> usize {
    let key = |map: &DistributedMap| (map.mapper, map.version.0, map.kind);
    let maps = events.iter().enumerate().filter_map(|(place, event)| {
        if let MappingEvent::Map(map) = event { Some((place, &**map)) } else { None }
    });
    let maps: Vec<(usize, &DistributedMap)> = maps.collect();
    // A version that a mapper uses once more is another map.
    let is_single = |map| maps.iter().filter(|(_, other)| key(other) == key(map)).count() == 1;
    let single = maps.iter().filter(|(_, map)| is_single(map));
    single.clone().for_each(|(place, map)| check_map(map, &events[..*place]));
    single.filter(|(_, map)| map.complete > 1).count()
}

fn check_map(map: &DistributedMap, before: &[MappingEvent]) {
    let probes = before.iter().filter_map(|event| {
        if let MappingEvent::Probe(probe) = event { Some(&**probe) } else { None }
    });
    let answered = probes.filter(|it| {
        (it.source, it.version) == (map.mapper, Some(map.version))
            && it.outcome == ProbeOutcome::Answered
    });
    let mut times: BTreeMap<(AnswerStatus, InterfaceAddress), u128> = BTreeMap::new();
    for probe in answered {
        let (Some(answer), Some(trip)) = (probe.answer, probe.round_trip) else { continue };
        times.entry((answer.status, answer.source)).or_insert(probe.place.time + trip);
    }
    let of = |status| times.iter().filter(move |((it, _), _)| *it == status).map(|(_, time)| *time);
    let counted = |status| (of(status).count() as u64, of(status).max());
    let told = [(map.complete, map.complete_time), (map.installed, map.installed_time)];
    let expected = [AnswerStatus::Complete, AnswerStatus::Installed].map(counted);
    assert_eq!(told, expected, "{map:?}");
    assert_eq!(map.refused, of(AnswerStatus::Refused).count() as u64, "{map:?}");
}
