//! Links with different ends: declarations, clocks, buffer needs. F-4, F-7, W-6, §4.8.5

use crate::support;

use myriscope_simulator::truth::TruthEventKind;
use support::TestRun;

/// Two hosts on a cable with these keys at its second end, and further tables.
fn pair(ends: &str, more: &str) -> String {
    format!(
        "duration_us = 40\n[[host]]\nname = \"h0\"\n[[host]]\nname = \"h1\"\n\
         [[cable]]\nends = [\"h0:0\", \"h1:0\"]\n{ends}\n{more}\n"
    )
}

#[test]
fn a_channel_declares_the_slack_of_its_receiver_and_the_habits_of_its_sender() {
    let text = "duration_us = 1\n\
        [[switch]]\nname = \"s0\"\nports = 4\nrouting_periods = 20\nstop_slack = 40\ngeneration_periods = 5\n\
        interpretation_periods = 6\nfill = \"idle-9\"\n\
        [[host]]\nname = \"h0\"\nat = \"s0:3\"\nlength_m = 1\na = { hysteresis = 8, rate_divisor = 2, \
        reset = \"next-gap\", framing = \"waits\" }\n[[tap]]\nport = \"h0:0\"\n";
    let run = TestRun::whole(text);
    let declared = |name: &str| {
        let channel = run.network.channels().iter().find(|channel| channel.name == name).unwrap();
        let words = channel.more.iter().map(|(key, value)| format!("{key}={value}"));
        format!("{} {}", channel.period.ps(), words.collect::<Vec<_>>().join(" "))
    };
    // S-6: 20 periods, and 2 for each of 4 inputs.
    assert_eq!(
        declared("h0:0>s0:3"),
        "25000 kg=32 h=16 ks=40 delay=1 gen=5 int=2 reset=next-gap fill=chip framing=waits path=28 \
         start=power-up"
    );
    assert_eq!(
        declared("s0:3>h0:0"),
        "12500 kg=32 h=8 ks=32 delay=1 gen=2 int=6 reset=own-gap fill=idle-9 framing=free start=power-up"
    );
}

#[test]
fn silence_is_counted_in_periods_of_who_hears() {
    // Of a sender at a 16th of the rate a character comes after 15 silent periods of h0, of one at a
    // 17th after 16: the first is sent in period 0, heard in 1, and so on.
    let open = |divisor| {
        let run =
            TestRun::whole(&pair(&format!("length_m = 0\nb = {{ rate_divisor = {divisor} }}"), ""));
        let is_open = |what: &TruthEventKind| *what == TruthEventKind::LinkOpen;
        (run.times("h0:0", is_open), run.times("h1:0", is_open))
    };
    assert_eq!(open(16), (vec![], vec![]));
    let (slow, quick) = open(17);
    assert_eq!((slow.get(..3).unwrap(), quick), (&[17, 34, 51][..], vec![]));
}

/// h0 sends without end to h1, which consumes nothing.
#[test]
fn slack_covers_the_own_generation_and_the_far_interpretation() {
    // F-4: of 40 periods of delay there and back 80, of h1's generation 7 and of h0's interpretation 9;
    // the byte that crosses the threshold counts as one of them.
    let lost = |stop_slack: u32| {
        let ends = format!(
            "delay_periods = 40\na = {{ interpretation_periods = 9, stop_slack = 0 }}\n\
             b = {{ generation_periods = 7, interpretation_periods = 0, stop_slack = {stop_slack} }}"
        );
        let text = pair(
            &ends,
            "[interface]\nconsumption = \"never\"\n\
            [[traffic]]\nfrom = \"h0\"\nto = \"h1\"\npayload = 500\nsaturate = true\n",
        );
        TestRun::whole(&text).count(|what| *what == TruthEventKind::Overflow)
    };
    assert_eq!(lost(95), 0);
    assert!(lost(94) > 0);
}
