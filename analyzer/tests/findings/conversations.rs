//! Text of conversations of packets written by hand.

use codec::capture::ReadProgress;
use myriscope_analyzer::conversation::TransportEvent;
use myriscope_analyzer::link::parameters::LinkAssumptions;
use myriscope_analyzer::options::AnalysisScope;
use myriscope_analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use myriscope_analyzer::render::{self, ConversationText, StyledLine};

use crate::table::messages::capture;

/// The text of `conversations`, followed by that of `conversations --events`.
fn printed(packets: &str) -> String {
    let file = capture(packets);
    let assumptions = LinkAssumptions::default();
    let mut analysis =
        CaptureAnalysis::new(file.as_slice(), AnalysisScope::Conversations, assumptions);
    let mut told = Vec::new();
    while analysis.step(&mut |it| told.push(it)).unwrap() == ReadProgress::More {}
    let (mut conversed, mut events) = (ConversationText::default(), String::new());
    let known = |id| analysis.channel(id);
    let add = |text: &mut String, line: StyledLine| *text += &format!("{line}\n");
    add(&mut events, render::remark_head());
    for it in told {
        match it {
            AnalysisEvent::Spoken(TransportEvent::Conversation(it)) => conversed.add(0, *it),
            AnalysisEvent::Spoken(TransportEvent::Noticed(it)) => {
                render::remark_line(&it, &known, &mut |line| add(&mut events, line));
            }
            AnalysisEvent::Spoken(TransportEvent::Malformed(it)) => {
                conversed.malformed(&it);
                render::malformed_line(&it, &known, &mut |line| add(&mut events, line));
            }
            AnalysisEvent::Row(_)
            | AnalysisEvent::Interval(_)
            | AnalysisEvent::Slack(_)
            | AnalysisEvent::Case(_)
            | AnalysisEvent::Fault(_) => {}
            AnalysisEvent::Journey(_) | AnalysisEvent::Blocked(_) => {}
        }
    }
    let mut summary = String::new();
    render::conversations(&conversed, &mut |line| add(&mut summary, line));
    summary + &events
}

#[test]
fn messages_and_their_answers_are_followed() {
    let packets = "10 S 7.0 10 | 30 A 7.0 10 | 40 D 7.1 40 =1 | 60 N2 7.1 40 | 4040 D 7.1 4040 =1 | \
                   4065 A 7.1 4040 | 4100 M 7.0 4100 | 4200 D 7.1 4200 =2";
    insta::assert_snapshot!(printed(packets), @"
    NIC 0 → NIC 1   3 messages, 12 bytes   2 acknowledged   1 open
              sent again: 1 nack
              NACKs: 1 queue-full
              must not be: 1 sequence-not-flipped
      ch messages   data resent   acks  nacks dup late stale   rtt min     mean   max µs  history
       2        3      4      1      2      1   0    0     0      20.0     22.5     25.0  SA DNRA! D?

    2 round trips of 20.0 to 25.0 µs
            16 µs  ████████████████████████████████████████ 2

    1 packet malformed (T-7)
           1× byte 8: timestamp is cut short
           time µs  channel         conversation     message  event                  inc.seq  timestamp  what
           10.0000  h0:0>h1:0       0→1.2                  0  data                       7.0         10  SYNC short request 3→4, 4 bytes
           30.0000  h1:0>h0:0       0→1.2                  0  ack                        7.0         10  after 20.0 µs
         4099.9875  h0:0>h1:0                                 malformed              byte 8: timestamp is cut short
           39.9875  h0:0>h1:0       0→1.2                  1  data                       7.1         40  short request 3→4, 4 bytes
           59.9875  h1:0>h0:0       0→1.2                  1  nack                       7.1         40  queue-full
         4040.0000  h0:0>h1:0       0→1.2                  1  retransmission             7.1       4040  short request 3→4, 4 bytes: nack
         4065.0000  h1:0>h0:0       0→1.2                  1  ack                        7.1       4040  after 25.0 µs
         4199.9875  h0:0>h1:0       0→1.2                  1  sequence-not-flipped       7.1       4200
         4199.9875  h0:0>h1:0       0→1.2                  2  data                       7.1       4200  short request 3→4, 4 bytes
         4199.9875  h0:0>h1:0       0→1.2                  2  gone                       7.1       4200  open
    ");
}
