//! Unmapped host memory and exhausted DMA resources: NACKs of reason 3. T-6, T-15

use codec::transport::{EndpointId, NackReason};

use super::{MessagingNetwork, SECOND, plan, stream};
use crate::messaging::counters::reason_class;
use crate::messaging::{
    EndpointParameters, HostMessaging, MessageKind, MessageStream, MessagingEvent, MessagingPlan,
};
use crate::traffic::PayloadSize;

/// Two hosts send to a third: number of NACKs of reason 3, and of mapped pages.
fn refused(
    parameters: EndpointParameters,
    kind: MessageKind,
    bytes: u32,
    count: u64,
) -> (u64, u64) {
    let size = PayloadSize::Fixed(bytes);
    let client = |nic| MessagingPlan {
        streams: vec![MessageStream { kind, size, ..stream(0, (0, nic - 1), count) }],
        ..plan(nic, 1)
    };
    let mut net = MessagingNetwork::new(vec![
        MessagingPlan { parameters, ..plan(0, 2) },
        client(1),
        client(2),
    ]);
    net.run(60 * SECOND);
    let pieces = usize::try_from(count * u64::from(bytes.div_ceil(8192))).unwrap();
    net.assert_exactly_once(2 * 2 * pieces);
    assert!(net.hosts.iter().all(HostMessaging::is_quiet));
    let statistics = net.hosts[0].statistics();
    let mapped = net.count(|event| matches!(event, MessagingEvent::Mapped(_)));
    assert_eq!(mapped as u64, statistics.mappings);
    if kind == MessageKind::Bulk {
        assert!(
            net.hosts[0].segment(EndpointId(0), 0, bytes).unwrap().iter().any(|byte| *byte != 0)
        );
    }
    (statistics.nacks_sent[reason_class(NackReason::NoResource)], statistics.mappings)
}

#[test]
fn all_memory_is_mapped_and_what_finds_no_dma_resource_waits_by_default() {
    for kind in [MessageKind::Medium, MessageKind::Bulk] {
        assert_eq!(refused(EndpointParameters::default(), kind, 8000, 20), (0, 0));
    }
}

#[test]
fn a_page_without_a_mapping_is_refused_and_mapped_and_then_written() {
    let parameters = EndpointParameters { mappings: Some(64), ..EndpointParameters::default() };
    // One message at a time needs one place of either staging area.
    assert_eq!(refused(parameters, MessageKind::Medium, 4000, 1), (2, 2));
    // 30 000 bytes lie on four pages of either segment, and each is refused once at least.
    let (nacks, mapped) = refused(parameters, MessageKind::Bulk, 30_000, 3);
    assert!(mapped == 8 && nacks >= mapped, "{nacks} {mapped}");
}

#[test]
fn few_mappings_go_round_among_the_pages() {
    let parameters = EndpointParameters { mappings: Some(2), ..EndpointParameters::default() };
    let (nacks, mapped) = refused(parameters, MessageKind::Bulk, 60_000, 2);
    // Eight pages of either segment, twice, two at a time.
    assert!(mapped >= 2 * 2 * 6 && nacks >= mapped, "{nacks} {mapped}");
}

#[test]
fn what_finds_no_dma_resource_is_refused_and_comes_again() {
    let parameters = EndpointParameters { dma: Some(1), ..EndpointParameters::default() };
    let (nacks, mapped) = refused(parameters, MessageKind::Medium, 8000, 20);
    assert!(nacks > 0 && mapped == 0, "{nacks} {mapped}");
    let parameters = EndpointParameters { dma: Some(200), ..EndpointParameters::default() };
    assert_eq!(refused(parameters, MessageKind::Medium, 8000, 20), (0, 0));
}
