//! Text of conversations of packets written by hand.

use codec::time::CharacterPeriod;
use myriscope_analyzer::conversation::TransportEvent;
use myriscope_analyzer::filter::{ColumnList, RowKind};
use myriscope_analyzer::options::AnalysisScope;
use myriscope_analyzer::pipeline::AnalysisEvent;
use myriscope_analyzer::render::{self, ConversationText, ReportLayout, StyledLine, TimeUnit};

use super::table::messages::capture;
use crate::support::analysed;

/// The text of `conversations`, followed by that of `conversations --events`.
fn printed(packets: &str) -> String {
    let file = capture(packets);
    let (told, analysis) = analysed(file.as_slice(), AnalysisScope::Conversations);
    let (mut conversed, mut events) = (ConversationText::default(), String::new());
    let known = |id| analysis.channel(id);
    let add = |text: &mut String, line: StyledLine| *text += &format!("{line}\n");
    let names = "time_ps,channel,event,message,kind,bytes,cause,reason,gone,fate,field,fault";
    let columns = ColumnList::parse(names, RowKind::Remarks).unwrap();
    let mut columns = columns.in_unit(Some(TimeUnit::Microseconds));
    add(&mut events, columns.head());
    for it in told {
        let AnalysisEvent::Conversation(event) = it else { continue };
        match event {
            TransportEvent::Conversation(it) => conversed.add(0, *it),
            TransportEvent::Observed(it) => {
                add(&mut events, columns.line(&it.row(&known), CharacterPeriod::PICOSECOND));
            }
            TransportEvent::Malformed(it) => {
                conversed.malformed(&it);
                add(&mut events, columns.line(&it.row(&known), CharacterPeriod::PICOSECOND));
            }
        }
    }
    let mut summary = String::new();
    render::conversations(&conversed, ReportLayout::default(), &mut |line| add(&mut summary, line));
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
       time [µs]  channel          event                  message  kind      bytes  cause       reason            gone        fate          field            fault
         10.0000  h0:0>h1:0        data                         0  short         4  -           -                 -           arrived       -                -
         30.0000  h1:0>h0:0        ack                          0  -             -  -           -                 -           arrived       -                -
       4099.9875  h0:0>h1:0        malformed                    -  -             -  -           -                 -           -             timestamp        is cut short
         39.9875  h0:0>h1:0        data                         1  short         4  -           -                 -           arrived       -                -
         59.9875  h1:0>h0:0        nack                         1  -             -  -           queue-full        -           arrived       -                -
       4040.0000  h0:0>h1:0        retransmission               1  short         4  nack        -                 -           arrived       -                -
       4065.0000  h1:0>h0:0        ack                          1  -             -  -           -                 -           arrived       -                -
       4199.9875  h0:0>h1:0        sequence-not-flipped         1  -             -  -           -                 -           arrived       -                -
       4199.9875  h0:0>h1:0        data                         2  short         4  -           -                 -           arrived       -                -
       4199.9875  h0:0>h1:0        gone                         2  -             -  -           -                 open        arrived       -                -
    ");
}
