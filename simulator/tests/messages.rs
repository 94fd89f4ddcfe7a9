//! Messages between two hosts on one switch, at character accuracy: the published times come out of
//! the stages' costs and the network's. T-1, T-9

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use codec::transport::EndpointId;
use simulator::endpoint::{EndpointStatistics, MICROSECOND};
use simulator::network::{Layout, Network};
use simulator::scenario::Scenario;
use simulator::topology::NodeId;
use simulator::truth::Wanted;

/// What the endpoint of the first host has done after so many µs.
fn pair(microseconds: u64, settings: &str, messages: &str) -> EndpointStatistics {
    let scenario = format!(
        "duration_us = {microseconds}\n[topology]\nkind = \"switch\"\nports = 2\n{settings}\n\
         [[endpoint]]\nname = \"a\"\nhost = \"h0\"\n[[endpoint]]\nname = \"b\"\nhost = \"h1\"\n\
         segment = 65536\n[[messages]]\nfrom = \"a\"\nto = \"b\"\n{messages}\n"
    );
    let scenario = Scenario::read("pair.toml", &scenario).unwrap();
    let mut network = Network::new(&scenario, Wanted::Nothing, Layout::default());
    network.run(microseconds * MICROSECOND);
    let messaging = network.interface(NodeId(1)).unwrap().messaging().unwrap();
    assert!(messaging.agrees());
    *messaging.endpoint_statistics(EndpointId(0)).unwrap()
}

/// Tenths of a microsecond.
fn round_trip(settings: &str) -> u64 {
    let trips = pair(20_000, settings, "words = 4\nwindow = 1").round_trips;
    trips.mean().unwrap() * 10 / MICROSECOND
}

/// Tenths of a MB/s: what is answered in a fifth of a second, the filling of the pipe included.
fn bandwidth(settings: &str, bytes: u64) -> u64 {
    let messages = format!("kind = \"medium\"\nbytes = {bytes}\nsaturate = true");
    pair(200_000, settings, &messages).completed * bytes * 10 / 200_000
}

const AM_II: &str = "[costs]\npreset = \"am-ii\"";
const GAM: &str = "[transport]\nlayers = \"baseline\"\n[costs]\npreset = \"gam\"";

#[test]
fn am_ii_has_a_round_trip_of_42_microseconds_and_31_mb_per_second() {
    assert_eq!((round_trip(AM_II), bandwidth(AM_II, 8192)), (420, 310));
}

#[test]
fn gam_has_a_round_trip_of_20_microseconds_and_38_mb_per_second() {
    assert_eq!((round_trip(GAM), bandwidth(GAM, 8192)), (200, 380));
}

/// Tenths of a microsecond from request to request, as fast as they go, once they do; with credits
/// enough that nobody waits for them.
fn gap(layers: &str) -> u64 {
    let settings = format!(
        "[transport]\nlayers = \"{layers}\"\ncredits = 16\nchannels = 32\n[costs]\nhost_send_us = 1"
    );
    let [early, late] = [10_000, 30_000]
        .map(|microseconds| pair(microseconds, &settings, "words = 4\nsaturate = true").completed);
    (20_000 * 10 + (late - early) / 2) / (late - early)
}

#[test]
fn each_layer_adds_to_the_gap_between_messages() {
    // The NIC's processor is the bottleneck: it sends a message and takes one in, without and with an
    // ACK each way.
    assert_eq!(["baseline", "reliability", "protection"].map(gap), [92, 116, 128]);
}
