//! Published figures, measured on the reference network (`docs/measurements.md`).

use crate::support;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use myriscope_simulator::truth::TruthEventKind;
use support::TestRun;

/// Two hosts on one cable. h0 is saturated; h1 consumes as given.
fn pair(link: &str, consumption: &str, payload: u32) -> String {
    format!(
        "duration_periods = 4000\n[link]\n{link}\n\
         [[host]]\nname = \"h0\"\n[[host]]\nname = \"h1\"\nconsumption = \"{consumption}\"\n\
         [[cable]]\nends = [\"h0:0\", \"h1:0\"]\n\
         [[traffic]]\nfrom = \"h0\"\nto = \"h1\"\nsaturate = true\npayload = {payload}\n"
    )
}

/// An absolute switch with a host at each port.
fn star(ports: u32, more: &str) -> String {
    format!(
        "duration_periods = 100_000\n[switch_defaults]\naddressing = \"absolute\"\n\
         [topology]\nkind = \"switch\"\nports = {ports}\n{more}"
    )
}

const fn is_overflow(what: &TruthEventKind) -> bool {
    matches!(what, TruthEventKind::Overflow)
}

/// Characters lost when a host stops consuming.
fn lost(link: &str, payload: u32) -> usize {
    TestRun::whole(&pair(link, "never", payload)).count(is_overflow)
}

/// §4.5.2, Micro, `HotI`: 2·D·B = 23. Here 25 m are 12 periods: the character with which STOP is
/// raised is heard in the period in which the STOP leaves; the 12 behind it are under way, and 11
/// more are sent until the STOP is heard.
#[test]
fn twenty_three_characters_are_in_flight_on_the_round_trip_of_25_m() {
    let link = "length_m = 25\ngeneration_periods = 0\ninterpretation_periods = 0";
    let run = TestRun::whole(&pair(link, "never", 2000));
    assert_eq!(run.passed("h1:0").fill_max - (32 + 16), 23);
}

/// F-4: 23 for the round trip, and 2 periods each to generate and to interpret STOP.
#[test]
fn twenty_seven_cells_above_the_threshold_are_enough_at_25_m_and_one_less_overflows() {
    assert_eq!(lost("stop_slack = 27", 2000), 0);
    assert_eq!(lost("stop_slack = 26", 2000), 1);
}

/// 2·D − 1, the delay in periods of the link rounded up, and the latencies. F-4 (§4.2)
#[test]
fn the_least_slack_above_the_threshold_follows_the_delay_the_latencies_and_the_rate() {
    for (delay, generation, interpretation, divisor) in [
        (1, 0, 0, 1),
        (1, 2, 2, 1),
        (2, 1, 0, 1),
        (3, 0, 5, 1),
        (12, 15, 15, 1),
        (40, 2, 2, 1),
        (12, 2, 2, 2),
        (12, 2, 2, 5),
        (12, 2, 2, 12),
        (12, 0, 0, 13),
        (37, 1, 2, 4),
    ] {
        let enough = 2 * u32::div_ceil(delay, divisor) - 1 + generation + interpretation;
        for (stop_slack, expected) in [(enough, 0), (enough - 1, 1)] {
            let link = format!(
                "delay_periods = {delay}\nrate_divisor = {divisor}\ngo_slack = 8\n\
                 hysteresis = 4\nstop_slack = {stop_slack}\n\
                 generation_periods = {generation}\ninterpretation_periods = {interpretation}"
            );
            assert_eq!(lost(&link, 2000), expected, "{link}");
        }
    }
}

/// Control symbols are exempt from flow control: the GAP behind the last byte before the stop comes
/// too, and takes a cell. F-1, F-5. After 48 and 27 cells it is the 76th: that ends a packet where
/// tag, payload, CRC byte and GAP take a divisor of 76.
#[test]
fn one_cell_more_is_needed_for_the_gap_of_a_packet_that_ends_with_the_stop() {
    let payloads = |stop_slack: &str| -> Vec<u32> {
        (0..80).filter(|payload| lost(stop_slack, *payload) > 0).collect()
    };
    assert_eq!(payloads("stop_slack = 27"), [1, 16, 35, 73]);
    assert!(payloads("stop_slack = 28").is_empty());
}

/// §4.5.2: 6 % at most for h = 16. A round of STOP and GO takes 2 · (h + 2·D − 1 + latencies)
/// periods; `flow_control.rs` finds that no sink makes more of them.
#[test]
fn the_worst_sink_takes_less_than_6_percent_for_stop_and_go() {
    let none = "generation_periods = 0\ninterpretation_periods = 0";
    for (link, half) in [
        (format!("delay_periods = 1\n{none}"), 16 + 1),
        (format!("delay_periods = 12\n{none}"), 16 + 23),
        ("delay_periods = 1".to_owned(), 16 + 1 + 4),
        ("delay_periods = 12".to_owned(), 16 + 23 + 4),
    ] {
        let run = TestRun::whole(&pair(&link, "adversary", 55_000));
        let times = run.times("h1:0", |what| matches!(what, TruthEventKind::Threshold { .. }));
        assert!(times.len() > 80, "{times:?}");
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == half), "{times:?}");
    }
}

/// Periods from the arrival of a packet's head at an input of an 8-port switch to its first byte
/// at output 0, whose token is at a port.
fn path_formation(input: u32, token: u32) -> usize {
    let before = (token + 7) % 8;
    let more = format!(
        "[[raw]]\nfrom = \"h{before}\"\nchars = \"80 00 00 GAP\"\n\
         [[raw]]\nfrom = \"h{input}\"\nat_periods = 200\nchars = \"80 00 00 GAP\"\n\
         [[tap]]\nport = \"s0:0\"\n"
    );
    let tap = if input == 0 { String::new() } else { format!("[[tap]]\nport = \"s0:{input}\"\n") };
    let run = TestRun::until(&star(8, &(more + &tap)), 300);
    let first = |channel: &str| run.data(channel).into_iter().find(|place| *place > 200);
    let (heard, sent) = (first(&format!("s0:{input} receives")), first("s0:0 sends"));
    sent.zip(heard).map_or(0, |(sent, heard)| sent - heard)
}

/// Micro, `HotI`: 550 ns at worst, which are 44 periods. S-6: 28, and 2 for each port that the token
/// looks at, from the one behind the port served last.
#[test]
fn a_path_through_an_8_port_switch_forms_within_550_ns() {
    let mut histogram: BTreeMap<usize, u32> = BTreeMap::new();
    for input in 0..8 {
        for token in 0..8 {
            let periods = path_formation(input, token);
            let ports = (input + 8 - token) % 8 + 1;
            assert_eq!(periods, 28 + 2 * ports as usize, "input {input}, token at {token}");
            *histogram.entry(periods).or_default() += 1;
        }
    }
    let expected = [30, 32, 34, 36, 38, 40, 42, 44].map(|periods| (periods, 8));
    assert!(histogram.into_iter().eq(expected));
    assert_eq!(44 * 12_500, 550_000, "picoseconds");
}

/// All orders of the numbers below 4.
fn permutations() -> Vec<[usize; 4]> {
    let all = (0..256).map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6]);
    all.filter(|order| (0..4).all(|port| order.contains(&port))).collect()
}

/// Micro, `HotI`: 2.56 Gb/s. S-4: in every period each of the four outputs sends a byte, 640 Mb/s
/// each, whatever the permutation. Heads arrive in period 12, and paths are formed by 12 + 36.
#[test]
fn every_permutation_of_a_4_port_switch_runs_at_full_rate() {
    let orders = permutations();
    assert_eq!(orders.len(), 24);
    for order in orders {
        let mut more = String::new();
        for (input, output) in order.iter().enumerate() {
            let _ = write!(
                more,
                "[[raw]]\nfrom = \"h{input}\"\nchars = \"{:02x} 00×1000 GAP\"\n\
                 [[tap]]\nport = \"s0:{input}\"\n",
                0x80 + output
            );
        }
        let run = TestRun::until(&star(4, &more), 900);
        let sent: usize = (0..4)
            .map(|port| {
                let places = run.data(&format!("s0:{port} sends"));
                places.into_iter().filter(|place| (50..850).contains(place)).count()
            })
            .sum();
        assert_eq!(sent, 4 * 800, "{order:?}");
    }
    assert_eq!(4 * 640, 2_560, "Mb/s");
}

/// Micro: "recirculating-token arbitration assures fairness". S-5: of inputs that always have a
/// packet none is ahead of another by more than one, at any time. S-3
#[test]
fn inputs_share_an_output_within_one_packet() {
    for inputs in 2..=7 {
        for payload in ["0", "20", "200", "[0, 300]"] {
            let from: Vec<_> = (1..=inputs).map(|host| format!("\"h{host}\"")).collect();
            let more = format!(
                "[[traffic]]\nfrom = [{}]\nto = \"h0\"\nsaturate = true\npayload = {payload}\n",
                from.join(", ")
            );
            let run = TestRun::until(&star(8, &more), 8_000);
            let mut counts = vec![0_u32; inputs];
            for row in &run.happened {
                if let TruthEventKind::Forwarded { input } = row.kind {
                    counts[usize::from(input.0) - 1] += 1;
                    let (most, least) = (counts.iter().max(), counts.iter().min());
                    assert!(most <= least.map(|least| least + 1).as_ref(), "{counts:?}");
                }
            }
            assert!(counts.iter().all(|count| *count >= 4), "{counts:?}");
        }
    }
}

/// §4.2, §4.5.3, §4.6.2: every timeout counts the link's own periods. The cable is cut in 101: on a
/// link of divisor 4 the characters of 104, 108, … are missing, the 16th in 164; at the full rate
/// those of 101 to 116. A packet without GAP is ended after 64 periods of 1 or 4.
#[test]
fn timeouts_count_the_periods_of_the_link() {
    let cut = "[[fault]]\nat_periods = 101\ncut = \"h0:0\"\n";
    let raw = "[[raw]]\nfrom = \"h0\"\nchars = \"05 00\"\n";
    let hosts = "[[host]]\nname = \"h0\"\n[[host]]\nname = \"h1\"\n\
                 [[cable]]\nends = [\"h0:0\", \"h1:0\"]\n";
    for (divisor, open, blocked) in [(1, 116, 64), (4, 164, 256)] {
        let text = format!(
            "duration_periods = 1000\n[link]\nrate_divisor = {divisor}\nblocked_periods = 64\n\
             {hosts}"
        );
        let run = TestRun::whole(&(text.clone() + cut));
        for port in ["h0:0", "h1:0"] {
            assert_eq!(
                run.times(port, |what| *what == TruthEventKind::LinkOpen),
                [open],
                "{divisor}"
            );
        }
        let run = TestRun::whole(&(text + raw));
        let escapes = run.times("h0:0", |what| matches!(what, TruthEventKind::Blocked(_)));
        assert_eq!(escapes, [blocked], "{divisor}");
    }
}

/// Micro, Table 1: 444 Mb/s between host memory and interface on a 20 MHz `SBus`. Here bursts of 16
/// words of 4 bytes take 23 clocks of 50 ns, 4 periods each: 8 KB in 128 · 92 periods.
#[test]
fn the_sbus_moves_445_megabits_in_a_second() {
    let run = TestRun::until(&pair("[interface]\nbus = \"sbus\"", "always", 8192), 90_000);
    let times = run.times("h1:0", |what| matches!(what, TruthEventKind::Consumed { .. }));
    assert!(times.len() > 5);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 128 * 92), "{times:?}");
    assert_eq!(8192 * 8 * 80 / (128 * 92), 445, "Mb/s");
}
