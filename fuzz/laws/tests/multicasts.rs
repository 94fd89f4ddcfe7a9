//! Multicasts by interfaces against the truth: journeys of copies form the tree that the truth tells of. N-6

use std::collections::{BTreeMap, BTreeSet};

use laws::journeys;
use laws::network::run::RunOutcome;
use simulator::truth::TruthEventKind;

/// N-6
#[test]
fn the_copies_of_a_multicast_are_joined_to_its_tree() {
    for (fanout, payload, hosts) in [(1, 30, 4), (2, 500, 7), (3, 8, 9)] {
        let text = format!(
            "seed = 5\nduration_us = 2000\n[topology]\nkind = 'mesh'\nwidth = 3\nheight = 3\n\
             [[traffic]]\nfrom = 'h0'\nto = {:?}\npayload = {payload}\npackets = 5\nevery_us = 100\nmulticast = {fanout}\n\
             [[traffic]]\nto = 'uniform'\npayload = [8, 200]\nload = 0.05\n",
            (1..hosts).map(|host| format!("h{host}")).collect::<Vec<_>>()
        );
        let scenario = crate::tapped(&text);
        let outcome = RunOutcome::of(&scenario);
        let name = |node| scenario.topology.node(node).map_or("", |node| node.name.as_str());
        let notices = outcome.rows.iter().filter_map(|row| {
            let TruthEventKind::Multicast(notice) = row.kind else { return None };
            Some((name(row.place.node), notice))
        });
        // Number of copies that each host sent of all five, and of deliveries.
        let mut copies = BTreeMap::<_, usize>::new();
        notices.for_each(|(host, notice)| *copies.entry(host).or_default() += notice.copies);
        assert_eq!(copies.len(), hosts, "{text}");

        let journeys = journeys::journeys(&outcome.capture);
        let end =
            |channel: &str, part| channel.split([':', '>']).nth(part).unwrap_or("").to_owned();
        let channel = |id: codec::capture::ChannelId| {
            outcome.channels.get(id.0 as usize).map_or("", |it| &it.name)
        };
        let ends = |journey: &analyzer::journey::Journey| {
            let (first, last) = (journey.hops.first(), journey.hops.last());
            let [from, to] = [first, last].map(|hop| hop.map_or("", |hop| channel(hop.channel)));
            (end(from, 0), end(to, 2))
        };
        let by_number: BTreeMap<_, _> = journeys.iter().map(|it| (it.number, it)).collect();
        let (mut sent, mut roots) = (BTreeMap::<String, usize>::new(), BTreeSet::new());
        for journey in &journeys {
            let is_multicast = journey.tag.is_some_and(|tag| tag.value() == 0x12);
            let (from, _) = ends(journey);
            assert!(is_multicast || journey.relayed.is_none(), "{journey:?}");
            match journey.relayed.map(|relayed| by_number.get(&relayed.journey)) {
                Some(parent) => assert_eq!(parent.map(|parent| ends(parent).1), Some(from.clone())),
                None if is_multicast => drop(roots.insert(from.clone())),
                None => {}
            }
            *sent.entry(from).or_default() += usize::from(is_multicast);
        }
        assert_eq!(roots.into_iter().collect::<Vec<_>>(), ["h0"], "{text}");
        for (host, copies) in copies {
            assert_eq!(sent.get(host).copied().unwrap_or(0), copies, "{host}: {text}");
        }
    }
}
