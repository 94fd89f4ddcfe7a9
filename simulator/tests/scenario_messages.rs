//! Endpoints and messages of scenario files.

use codec::transport::{EndpointId, EndpointKey, Nic};
use myriscope_simulator::messaging::{
    MessageCosts, MessageKind, MessageStream, MessagingPlan, ProtocolLayers, ReturnHandler,
    TransferMode, WakeMode,
};
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::topology::NodeId;
use myriscope_simulator::traffic::{ArrivalProcess, PayloadSize};
use myriscope_simulator::transport::Micros;

/// A switch, node 0, with three hosts, nodes 1 to 3: lines 1 to 5.
const STAR: &str = "duration_us = 500\n[topology]\nkind = \"switch\"\nports = 3\n\n";

fn read(text: &str) -> Scenario {
    Scenario::read("net.toml", &format!("{STAR}{text}")).unwrap_or_else(|error| panic!("{error}"))
}

fn plan(text: &str, host: u32) -> MessagingPlan {
    read(text).messaging[&NodeId(host)].clone()
}

/// Two endpoints: lines 6 to 12.
const PAIR: &str = "[[endpoint]]\nname = \"a\"\nhost = \"h0\"\n[[endpoint]]\nname = \"b\"\n\
                    host = \"h1\"\nsegment = 5000\n";

fn pair(text: &str) -> MessageStream {
    plan(&format!("{PAIR}[[messages]]\nfrom = \"a\"\nto = \"b\"\n{text}"), 1).streams[0].clone()
}

#[test]
fn a_file_without_endpoints_has_no_messaging() {
    assert!(read("[transport]\nchannels = 4\n[costs]\npreset = \"gam\"").messaging.is_empty());
}

#[test]
fn a_pair_of_endpoints_is_a_plan_for_each_host() {
    let read = read(&format!(
        "{PAIR}[[messages]]\nfrom = \"a\"\nto = \"b\"\nwords = 3\nevery_us = 10\nstart_us = 2\ncount = 5"
    ));
    assert_eq!(read.messaging.keys().copied().collect::<Vec<_>>(), [NodeId(1), NodeId(2)]);
    let plan = &read.messaging[&NodeId(1)];
    assert_eq!((plan.nic, plan.transport.nics, plan.costs), (Nic(1), 256, MessageCosts::AM_II));
    assert_eq!(
        plan.streams,
        [MessageStream {
            from: EndpointId(0),
            to: (Nic(2), EndpointId(0)),
            key: EndpointKey(2),
            kind: MessageKind::Short,
            size: PayloadSize::Fixed(12),
            arrivals: ArrivalProcess::Constant(codec::time::Ticks(800)),
            start: 160,
            count: Some(5),
            returned: ReturnHandler::Drop,
        }]
    );
    let plan = &read.messaging[&NodeId(2)];
    assert!(plan.streams.is_empty());
    // To reply to, with its key.
    assert_eq!(plan.names, [((Nic(1), EndpointId(0)), EndpointKey(1))]);
}

#[test]
fn endpoints_of_one_name_go_round_the_hosts() {
    let text = "[[endpoint]]\nname = \"v\"\nhost = [\"h2\", \"h0\"]\ncount = 5\nwake = \"event\"\n\
                [[endpoint]]\nname = \"all\u{2019}\"\nhost = \"all\"\nkey = 0xbeef";
    let ids = |host| -> Vec<_> {
        plan(text, host).endpoints.iter().map(|plan| (plan.id.0, plan.key.0, plan.wake)).collect()
    };
    let (event, poll) = (WakeMode::Event, WakeMode::Poll);
    assert_eq!(ids(3), [(0, 1, event), (1, 3, event), (2, 5, event), (3, 0xbeef, poll)]);
    assert_eq!(ids(1), [(0, 2, event), (1, 4, event), (2, 0xbeef, poll)]);
    assert_eq!(ids(2), [(0, 0xbeef, poll)]);
}

#[test]
fn all_send_to_one_or_each_to_its_own() {
    let ends = "[[endpoint]]\nname = \"c\"\nhost = \"h0\"\ncount = 3\n\
                [[endpoint]]\nname = \"s\"\nhost = \"h1\"\ncount = 3\n";
    let to = |to: &str| -> Vec<(u16, u16)> {
        let text =
            format!("{ends}[[messages]]\nfrom = \"c\"\nto = {to}\nwords = 1\nsaturate = true");
        let streams = plan(&text, 1).streams;
        streams.iter().map(|stream| (stream.from.0, stream.to.1.0)).collect()
    };
    assert_eq!(to("\"s\""), [(0, 0), (1, 1), (2, 2)]);
    assert_eq!(to("\"s2\""), [(0, 2), (1, 2), (2, 2)]);
    assert_eq!(to("[\"s2\", \"s1\", \"s2\"]"), [(0, 2), (1, 1), (2, 2)]);
}

#[test]
fn a_key_or_a_number_may_be_wrong_on_purpose() {
    // T-6
    let law = "words = 1\nevery_us = 1";
    assert_eq!(pair(&format!("{law}\nkey = 77")).key, EndpointKey(77));
    let to = |to: &str| {
        let text = format!("{PAIR}[[messages]]\nfrom = \"a\"\nto = {to}\n{law}");
        let stream = plan(&text, 1).streams[0].clone();
        (stream.to.0.0, stream.to.1.0, stream.key.0)
    };
    assert_eq!(to("{ host = \"h1\", number = 0 }"), (2, 0, 2));
    assert_eq!(to("{ host = \"h1\", number = 9 }"), (2, 9, 0));
    // There is no endpoint at all, and no firmware.
    assert_eq!(to("{ host = \"h2\", number = 0 }"), (3, 0, 0));
}

#[test]
fn a_load_counts_what_goes_with_each_packet() {
    let mean = |text: &str| pair(&format!("{text}\nload = 0.5")).arrivals;
    let poisson = |periods| ArrivalProcess::Poisson(codec::time::Ticks(periods));
    // A route byte, a tag, 38 bytes of header, CRC byte and GAP: 42, and 8 bytes.
    assert_eq!(mean("words = 2"), poisson(100));
    assert_eq!(mean("kind = \"medium\"\nbytes = 1000"), poisson(2084));
    assert_eq!(mean("kind = \"bulk\"\nbytes = 5000"), poisson(10_084));
}

#[test]
fn the_protocol_has_its_parameters() {
    let text = "[transport]\nchannels = 2\nscan_us = 10\ntimeout_us = 40\nunreachable_us = 900\n\
                nics = 17\nframes = 3\ncredits = 5\nburst_log2 = 0\nload_us = 7\n\
                dma = 2\nmappings = 6\nmap_us = 2\n\
                patience_periods = 9\nlayers = \"reliability\"\n";
    let plan = plan(&format!("{text}{PAIR}"), 1);
    let transport = plan.transport;
    assert_eq!((transport.channels, transport.nics), (2, 17));
    assert_eq!([transport.scan, transport.timeout], [10, 40].map(Micros));
    // 22 timeouts fit into 900 µs.
    assert_eq!(transport.retries, 22);
    let parameters = plan.parameters;
    assert_eq!((parameters.frames, parameters.credits, parameters.request_queue), (3, 5, 20));
    assert_eq!((parameters.burst_log2, parameters.load), (0, 560));
    let memory = (parameters.dma, parameters.mappings, parameters.map);
    assert_eq!(memory, (Some(2), Some(6), 160));
    assert_eq!((parameters.patience, parameters.layers), (9, ProtocolLayers::Reliability));
}

#[test]
fn messages_that_come_back_are_dropped_or_sent_again_or_elsewhere() {
    let handler = |text: &str| pair(&format!("words = 1\nevery_us = 1\n{text}")).returned;
    assert_eq!(handler(""), ReturnHandler::Drop);
    assert_eq!(handler("returned = \"drop\""), ReturnHandler::Drop);
    assert_eq!(handler("returned = \"again\""), ReturnHandler::SendAgain);
    let other = |id, key| ReturnHandler::SendElsewhere((Nic(2), EndpointId(id)), EndpointKey(key));
    assert_eq!(handler("returned = { to = \"b\" }"), other(0, 2));
    assert_eq!(handler("returned = { to = { host = \"h1\", number = 9 } }"), other(9, 0));
}

#[test]
fn the_bus_moves_data_by_streaming_or_consistent_transfers() {
    let bus = |text: &str| {
        let costs = plan(&format!("[costs]\n{text}\n{PAIR}"), 1).costs;
        [costs.bus_setup, costs.bus_burst]
    };
    assert_eq!([bus(""), bus("bus = \"streaming\"")], [[640, 92]; 2]);
    assert_eq!(bus("bus = \"consistent\""), [160, 133]);
    assert_eq!(bus("bus = \"consistent\"\nbus_setup_us = 1"), [80, 133]);
}

#[test]
fn each_host_may_have_its_own_costs() {
    let text = "[costs]\npreset = \"gam\"\nhost_send_us = 2\ntransfers = \"store-and-forward\"\n\
                [[host]]\nname = \"x\"\ncosts = \"nothing\"\n\
                [[host]]\nname = \"y\"\ncosts = { page = 1, send_periods = 7 }\n\
                [[cable]]\nends = [\"x:0\", \"y:0\"]\n";
    let ends = "[[endpoint]]\nname = \"e\"\nhost = [\"h0\", \"x\", \"y\"]\n";
    let costs = |host| plan(&format!("{text}{ends}"), host).costs;
    let transfers = TransferMode::StoreAndForward;
    let all = MessageCosts { host_send: 160, transfers, ..MessageCosts::GAM };
    assert_eq!(costs(1), all);
    assert_eq!(costs(4), MessageCosts::NOTHING);
    assert_eq!(costs(5), MessageCosts { page: 1, send: 7, ..all });
}
