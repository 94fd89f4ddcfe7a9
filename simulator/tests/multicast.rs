//! Multicast by the control programs of interfaces, in whole networks. N-6

use crate::support;

use std::collections::{BTreeMap, BTreeSet};

use myriscope_simulator::topology::NodeId;
use myriscope_simulator::truth::RelayNotice;
use myriscope_simulator::truth::TruthEventKind;
use proptest::prelude::*;
use support::TestRun;

/// A switch with its hosts at ports 0 and up.
fn star(hosts: usize, more: &str) -> String {
    format!(
        "duration_us = 4000\n[topology]\nkind = 'switch'\nports = 16\nhosts = {hosts}\n\
         [switch_defaults]\naddressing = 'absolute'\n{more}"
    )
}

/// Notices of each multicast, by root and number, with their hosts.
fn multicasts(run: &TestRun) -> BTreeMap<(NodeId, u32), Vec<(NodeId, RelayNotice)>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in &run.happened {
        if let TruthEventKind::Multicast(notice) = row.kind {
            all.entry((notice.root, notice.number)).or_default().push((row.place.node, notice));
        }
    }
    all
}

/// Checks that no host has a multicast twice; returns the numbers of multicasts, of deliveries, and of copies that
/// were lost.
fn counted(run: &TestRun) -> [usize; 3] {
    let all = multicasts(run);
    for (multicast, notices) in &all {
        let hosts: BTreeSet<_> = notices.iter().map(|(host, _)| host).collect();
        assert_eq!(hosts.len(), notices.len(), "{multicast:?}: {notices:?}");
        assert_eq!(notices.first().map(|(host, _)| *host), Some(multicast.0), "the root is first");
    }
    let notices = || all.values().flatten();
    let lost = notices().map(|(_, notice)| notice.lost).sum();
    [all.len(), notices().count() - all.len(), lost]
}

const ROOT: &str =
    "[[traffic]]\nfrom = 'h0'\nto = 'uniform'\npayload = 20\npackets = 1\nsaturate = true\n";

/// The root sends to the first `multicast` receivers, these to the next ones. N-6
#[test]
fn each_interface_sends_on_to_its_part_of_the_tree() {
    for (fanout, copies) in
        [(1, [1, 1, 1, 1, 1, 0]), (2, [2, 2, 1, 0, 0, 0]), (5, [5, 0, 0, 0, 0, 0])]
    {
        let run = TestRun::whole(&star(6, &format!("{ROOT}multicast = {fanout}\n")));
        let all = multicasts(&run);
        let sent: BTreeMap<_, _> =
            all.values().flatten().map(|(host, notice)| (host.0, notice.copies)).collect();
        assert_eq!(sent.into_values().collect::<Vec<_>>(), copies, "{fanout}");
        assert_eq!(run.statistics("h5").handled.delivered, 1);
    }
}

/// All hosts send to all others through 1200 bytes of send memory, which hold 2 packets.
fn crowd(fanout: u8, policy: &str) -> String {
    let interface =
        format!("[interface]\nsend_memory = 1200\nreceive_memory = 1200\nmulticast = '{policy}'\n");
    let traffic = format!(
        "[[traffic]]\nto = 'uniform'\npayload = 500\nsaturate = true\nmulticast = {fanout}\n"
    );
    star(6, &format!("{interface}{traffic}"))
}

/// Each interface waits for memory that is free when another has taken its packet, in a circle; without memory for
/// a copy, interfaces that drop it go on. N-6
#[test]
fn full_memory_in_a_circle_deadlocks_unless_copies_are_dropped() {
    let delivered = |policy, until| counted(&TestRun::until(&crowd(2, policy), until));
    let [early, late] = [16_000, 32_000].map(|until| delivered("wait", until));
    assert_eq!(early, late, "nothing moves");
    assert_eq!(late[2], 0, "nothing is lost");
    let [early, late] = [16_000, 32_000].map(|until| delivered("drop", until));
    assert!(late[1] > early[1] * 3 / 2 && late[2] > 0, "{early:?} {late:?}");
}

/// With 201 bytes h1 never has send memory for a packet, of a tag, 200 bytes and a CRC byte, that it should
/// send on; with 202 nothing is lost. N-6
#[test]
fn what_no_memory_would_be_enough_for_is_lost_and_holds_up_nothing() {
    for (memory, copies, lost) in [(201, 2, 2), (202, 4, 0)] {
        let hosts = [(0, 300), (1, memory), (2, 300)].map(|(at, memory)| {
            format!("[[host]]\nname = 'h{at}'\nat = 's0:{at}'\nsend_memory = {memory}\n")
        });
        let traffic = ROOT.replace("payload = 20\npackets = 1", "payload = 200\npackets = 2");
        let run = TestRun::whole(&format!(
            "duration_us = 100\n[[switch]]\nname = 's0'\n{}{traffic}multicast = 1\n",
            hosts.concat()
        ));
        assert_eq!(counted(&run), [2, copies, lost]);
        let delivered = ["h1", "h2"].map(|host| run.statistics(host).handled.delivered);
        assert_eq!(delivered, [2, 2 - lost as u64]);
    }
}

/// Packets of the type of multicasts that a host sends as others go to one host, also without a switch. P-2
#[test]
fn a_packet_of_that_type_is_no_multicast_without_a_group() {
    let traffic = "[[traffic]]\nfrom = 'h0'\nto = 'h1'\npayload = 20\npackets = 3\nsaturate = true\ntag = 18\n";
    let cable = "duration_us = 100\n[[host]]\nname = 'h0'\n[[host]]\nname = 'h1'\n[[cable]]\nends = ['h0:0', 'h1:0']\n";
    for text in [star(3, traffic), format!("{cable}{traffic}")] {
        let run = TestRun::whole(&text);
        assert_eq!((run.statistics("h1").handled.delivered, multicasts(&run).len()), (3, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every member has every multicast once, or the copy that led to it was lost and is counted. N-6
    #[test]
    fn every_member_has_a_multicast_once_or_its_loss_is_counted(
        (hosts, fanout, payload) in (2_usize..9, 1_u8..9, 8_u32..400),
        (drops, memory) in (any::<bool>(), 700_u32..3000),
        seed in 0_u64..1000,
    ) {
        let policy = if drops { "drop" } else { "wait" };
        let interface = format!("[interface]\nmulticast = '{policy}'\n");
        let interface = if drops { format!("{interface}send_memory = {memory}\n") } else { interface };
        let text = format!(
            "seed = {seed}\n{}[[traffic]]\nto = 'uniform'\npayload = {payload}\npackets = 6\nload = 0.1\n\
             multicast = {fanout}\n",
            star(hosts, &interface)
        );
        let run = TestRun::whole(&text);
        prop_assert_eq!(run.network.in_transit(), 0);
        let [all, delivered, lost] = counted(&run);
        prop_assert_eq!(all, 6 * hosts);
        // A lost copy leaves out its whole part of the tree.
        prop_assert!(lost > 0 || delivered == all * (hosts - 1), "{} of {}", delivered, all);
        prop_assert!(delivered + lost <= all * (hosts - 1));
        prop_assert!(drops || lost == 0);
    }
}
