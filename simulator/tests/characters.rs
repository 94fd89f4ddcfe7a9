//! Characters on the wires of small networks: every snapshot was worked out by hand, as the comment
//! above it explains, from the rules that it names.
//!
//! Between directly connected hosts a character is in transit for 2 periods, and a slack buffer has
//! 4 + 4 + 8 cells; the cables of switches are 25 m long, 12 periods. A STOP or GO leaves 2 periods
//! after the threshold, and takes effect 2 periods after it is received. F-3, F-4

use crate::support;

use insta::assert_snapshot;
use support::TestRun;

const SMALL: &str = "delay_periods = 2\ngo_slack = 4\nhysteresis = 4\nstop_slack = 8\n";

/// h0 and h1 on one cable.
fn pair(link: &str, more: &str) -> String {
    format!(
        "duration_periods = 1000\n[link]\n{link}\n\
         [[host]]\nname = \"h0\"\n[[host]]\nname = \"h1\"\n\
         [[cable]]\nends = [\"h0:0\", \"h1:0\"]\n{more}\n\
         [[tap]]\nport = \"h0:0\"\n[[tap]]\nport = \"h1:0\"\n"
    )
}

/// h0 at port 0 and h1 at port 1 of an absolute switch that needs 1 period to decode a route byte
/// and 1 to look at an input.
fn star(link: &str, more: &str) -> String {
    format!(
        "duration_periods = 1000\n[link]\n{link}\n[switch_defaults]\n\
         addressing = \"absolute\"\nrouting_periods = 1\ntoken_step_periods = 1\n\
         [[switch]]\nname = \"s0\"\n[[host]]\nname = \"h0\"\nat = \"s0:0\"\n\
         [[host]]\nname = \"h1\"\nat = \"s0:1\"\n{more}\n\
         [[tap]]\nport = \"h0:0\"\n[[tap]]\nport = \"s0:0\"\n[[tap]]\nport = \"s0:1\"\n"
    )
}

/// A host sends this from a period on.
fn raw(host: &str, at: u32, chars: &str) -> String {
    format!("[[raw]]\nfrom = \"{host}\"\nat_periods = {at}\nchars = \"{chars}\"\n")
}

/// Fault table at a time.
fn fault(at: u32, what: &str) -> String {
    format!("[[fault]]\nat_periods = {at}\n{what}\n")
}

/// h1 consumes nothing before period 30.
fn held() -> String {
    fault(0, "consume = \"h1\"\nhow = \"never\"\nfor_periods = 30")
}

/// 19 bytes of payload and the CRC byte.
const TWENTY_ONE: &str = "05 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 bb GAP";

/// Channels up to a period, and events of some kinds.
fn show(scenario: &str, until: usize, channels: &[&str], kinds: &[&str]) -> String {
    // What begins in the last period is not handed out yet.
    let run = TestRun::until(scenario, until as u64 + 1);
    run.notation(channels, until) + &run.rows(kinds)
}

/// F-8: between packets GAP and GO in turn; power-up counts as after a GAP, so GO comes first.
/// Nothing has been sent before, so the first 12 periods of 25 m are silent: that is no open link.
#[test]
fn from_power_up_on_go_and_gap_fill_a_channel() {
    let text = pair("length_m = 25", "");
    assert_snapshot!(show(&text, 40, &["h0:0 sends", "h1:0 receives"], &["open-link"]), @"
    h0:0 sends  0: (GO GAP)×20
    h1:0 receives  0: IDLE×12 (GO GAP)×14
    ");
}

/// The head is received in period 12 and is decoded 28 periods later (S-6), in 40. The token of the
/// output is at input 0, at which it looks for 2 periods: the packet moves on in 42, 30 after it
/// came. On 10 m (5 periods) it comes to s1:2 in 47; 28 periods and three inputs more it goes on in
/// 81. The second packet's head is at the front of s0:0 in 48, after the mark has passed in 47; it
/// is decoded in 76, and the token, at input 1 now, looks at all eight: 92. So it is at s1: 97, 125,
/// 141. Port 5 from port 2 is 3 on: route byte 83. P-3, S-1
///
/// Of 87 83 05 aa bb the CRC is c7, without the 87 it is 79, without the 83 72. That of the second
/// packet is wrong by 01 (ce is right), and stays so: 9d ⊕ 01, 2b ⊕ 01. P-5
#[test]
fn two_switches_strip_route_bytes_and_mend_crc_bytes() {
    let chars = "87 83 05 aa bb c7 GAP 87 83 05 cc cf GAP";
    let text = format!(
        "duration_periods = 1000\n[[switch]]\nname = \"s0\"\naddressing = \"absolute\"\n\
         [[switch]]\nname = \"s1\"\naddressing = \"relative\"\n\
         [[host]]\nname = \"h0\"\nat = \"s0:0\"\n[[host]]\nname = \"h1\"\nat = \"s1:5\"\n\
         [[cable]]\nends = [\"s0:7\", \"s1:2\"]\nlength_m = 10\n{}\
         [[tap]]\nport = \"h0:0\"\n[[tap]]\nport = \"s0:7\"\n[[tap]]\nport = \"s1:5\"\n",
        raw("h0", 0, chars)
    );
    let channels = ["h0:0 sends", "s0:7 sends", "s1:5 sends"];
    assert_snapshot!(show(&text, 160, &channels, &["forwarded", "consumed"]), @"
    h0:0 sends  0: 87 83 05 aa bb c7  6: GAP  7: 87 83 05 cc cf  12: (GAP GO)×74
    s0:7 sends  0: (GO GAP)×21  42: 83 05 aa bb 79  47: (GAP GO)×22 GAP  92: 83 05 cc 9c  96: (GAP GO)×32
    s1:5 sends  0: (GO GAP)×40 GO  81: 05 aa bb 72  85: (GAP GO)×28  141: 05 cc 2a  144: (GAP GO)×8
    42 s0:7 h0#0 forwarded input:0
    81 s1:5 h0#0 forwarded input:2
    92 s0:7 h0#1 forwarded input:0
    97 h1:0 h0#0 consumed length:4 crc:good syndrome:0 handling:delivered
    141 s1:5 h0#1 forwarded input:2
    156 h1:0 h0#1 consumed length:3 crc:bad syndrome:1 handling:corrupt
    ");
}

/// With byte 07, sent in period 7 and received in 9, f rises to 8: STOP leaves in 11, is received in 13
/// and takes effect in 15. So 0e is the last byte: 7 = 2·2 − 1 + 4 after the 07. GO fills, inside the
/// packet (F-8). h1 takes from 30 on: 11 of 15 bytes up to 40, so f falls to 4, which is seen in 41:
/// GO leaves in 43, is received in 45 and takes effect in 47. Of h1's fill the even periods are GO or STOP.
#[test]
fn stop_and_go_take_effect_to_the_period() {
    let text = pair(SMALL, &(held() + &raw("h0", 0, TWENTY_ONE)));
    let kinds = ["threshold", "sender-stopped", "sender-resumed", "consumed"];
    assert_snapshot!(show(&text, 60, &["h0:0 sends", "h1:0 sends"], &kinds), @"
    h0:0 sends  0: 05 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e  15: GO×32  47: 0f 10 11 12 13 bb  53: (GAP GO)×3 GAP
    h1:0 sends  0: (GO GAP)×5 GO STOP STOP (GAP STOP)×15 GO GO (GAP GO)×7 GAP
    9 h1:0 threshold command:STOP fill:8
    13 h0:0 sender-stopped
    41 h1:0 threshold command:GO fill:4
    45 h0:0 sender-resumed by:go
    55 h1:0 h0#0 consumed length:21 crc:good syndrome:0 handling:delivered
    ");
}

/// As h1 sends a packet too, STOP goes out in 11, and 0b one period later. F-6
#[test]
fn stop_punches_a_hole_into_a_packet() {
    let more = held() + &raw("h0", 0, TWENTY_ONE) + &raw("h1", 0, TWENTY_ONE);
    let kinds = ["consumed"];
    assert_snapshot!(show(&pair(SMALL, &more), 48, &["h1:0 sends", "h0:0 receives"], &kinds), @"
    h1:0 sends  0: 05 01 02 03 04 05 06 07 08 09 0a  11: STOP  12: 0b 0c 0d 0e 0f 10 11 12 13 bb  22: (GAP STOP)×10 (GAP GO)×3
    h0:0 receives  0: IDLE IDLE  2: 05 01 02 03 04 05 06 07 08 09 0a  13: STOP  14: 0b 0c 0d 0e 0f 10 11 12 13 bb  24: (GAP STOP)×10 GAP GO GAP GO
    24 h0:0 h1#0 consumed length:21 crc:good syndrome:0 handling:delivered
    ");
}

/// The cable is cut in 60: what is on it is lost. 48 characters have come to s0:0, in 12 to 59; 75
/// is the 16th silent period (F-7), at either end. The head, received in 12, had its path in 14, so
/// byte n goes out in 13 + n; the last of the 48 has to wait, as it might be the CRC byte (P-5), and
/// GO fills from 60 on. In 75 a GAP ends the packet: the byte is taken for the CRC byte. 81 05 07×45
/// has CRC 98, 05 07×45 has 46; 98 ⊕ 07 ⊕ 46 = d9. The cable is mended in 80, the next character is
/// received in 92: it is taken for a head, and dropped, as its MSB is 0 (S-2).
#[test]
fn a_cut_cable_ends_a_packet_downstream_after_16_periods() {
    let cut = fault(60, "cut = \"h0:0\"\nfor_periods = 20");
    let text = star("", &(raw("h0", 0, "81 05 07×200 00 GAP") + &cut));
    let channels = ["h0:0 sends", "s0:0 receives", "s0:1 sends", "h0:0 receives"];
    let kinds = ["open-link", "link-restored", "truncated", "dropped"];
    assert_snapshot!(show(&text, 100, &channels, &kinds), @"
    h0:0 sends  0: 81 05 07×98
    s0:0 receives  0: IDLE×12  12: 81 05 07×46  60: IDLE×32  92: 07×8
    s0:1 sends  0: (GO GAP)×7  14: 05 07×45  60: GO×15  75: d9  76: (GAP GO)×12
    h0:0 receives  0: IDLE×12 (GO GAP)×24 IDLE×32 (GO GAP)×4
    75 h0:0 open-link
    75 s0:0 h0#0 truncated rule:F-7
    75 s0:0 open-link
    92 h0:0 link-restored
    92 s0:0 link-restored
    93 s0:0 dropped rule:S-2
    ");
}

/// FRES leaves in 40 and GAP in 41, and the rest of the packet is gone. In 52 the slack buffer
/// of s0:0 is emptied, and output 1, which has sent 38 bytes up to 51, ends with GAP. The
/// GAP received in 53 ends the reset, and the next packet arrives: its head is received in 56 and decoded
/// in 57, and the token, behind input 0 again, comes round in 65. 81 05 99 has CRC e7, 05 99 has 87.
#[test]
fn a_forward_reset_ends_a_packet_here_and_downstream() {
    let more = raw("h0", 0, "81 05 07×200 00 GAP")
        + &fault(40, "forward_reset = \"h0:0\"")
        + &raw("h0", 44, "81 05 99 e7 GAP");
    let kinds = ["truncated", "forward-reset", "reset-ended"];
    let channels = ["h0:0 sends", "s0:1 sends"];
    assert_snapshot!(show(&star("", &more), 75, &channels, &kinds), @"
    h0:0 sends  0: 81 05 07×38  40: FRES  41: GAP GO GAP  44: 81 05 99 e7  48: (GAP GO)×13 GAP
    s0:1 sends  0: (GO GAP)×7  14: 05 07×37  52: (GAP GO)×6 GAP  65: 05 99 87  68: (GAP GO)×3 GAP
    40 h0:0 h0#0 truncated rule:R-1
    52 s0:0 forward-reset
    52 s0:1 h0#0 truncated rule:R-3
    53 s0:0 reset-ended
    ");
}

/// FRES leaves in 10, STOP is due in 11, so the GAP follows in 12. R-1. h0 receives FRES in 12,
/// and starts anew: it ends its own packet. R-3
#[test]
fn a_stop_that_is_due_comes_between_fres_and_its_gap() {
    let more = held()
        + &raw("h0", 0, TWENTY_ONE)
        + &raw("h1", 0, TWENTY_ONE)
        + &fault(10, "forward_reset = \"h1:0\"");
    let kinds = ["truncated", "forward-reset", "reset-ended"];
    let channels = ["h1:0 sends", "h0:0 sends"];
    assert_snapshot!(show(&pair(SMALL, &more), 24, &channels, &kinds), @"
    h1:0 sends  0: 05 01 02 03 04 05 06 07 08 09  10: FRES  11: (STOP GAP)×6 STOP
    h0:0 sends  0: 05 01 02 03 04 05 06 07 08 09 0a 0b  12: (GAP GO)×6
    10 h1:0 h1#0 truncated rule:R-1
    12 h0:0 forward-reset
    12 h0:0 h0#0 truncated rule:R-3
    14 h0:0 reset-ended
    ");
}

/// A packet without GAP has been under way for 64 periods in period 64: a GAP ends it, as its sender
/// is in GO. It is received in 76; until then the switch holds back the aa. 81 05 99 has CRC e7,
/// 05 99 has 87; e7 ⊕ aa ⊕ 87 = ca.
#[test]
fn a_packet_that_does_not_end_is_ended_after_the_blocked_packet_timeout() {
    let text = star("blocked_periods = 64", &raw("h0", 0, "81 05 99 aa"));
    let kinds = ["blocked", "truncated", "consumed"];
    assert_snapshot!(show(&text, 100, &["h0:0 sends", "s0:1 sends"], &kinds), @"
    h0:0 sends  0: 81 05 99 aa  4: GO×60 (GAP GO)×18
    s0:1 sends  0: (GO GAP)×7  14: 05 99  16: GO×60  76: ca  77: (GAP GO)×11 GAP
    64 h0:0 h0#0 blocked by:gap
    64 h0:0 h0#0 truncated rule:R-4
    89 h1:0 h0#0 consumed length:3 crc:bad syndrome:77 handling:corrupt
    ");
}

/// As above, STOP takes effect in 15. The packet's last byte left in 14, and its GAP goes in 15, as
/// flow control holds data only (F-1); but the next packet waits. 64 periods later FRES leaves,
/// and GAP behind it. The sender is in GO then, and the next packet begins in 81; but fill repeats
/// STOP, that of 78 is received in 80, and takes effect in 82. FRES, received in 81, empties the slack buffer:
/// GO leaves in 83, is received in 85 and takes effect in 87.
#[test]
fn a_stopped_sender_resets_its_link_after_the_blocked_packet_timeout() {
    let first = "05 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d a8 GAP";
    let more = fault(0, "consume = \"h1\"\nhow = \"never\"")
        + &raw("h0", 0, first)
        + &raw("h0", 20, TWENTY_ONE);
    let link = format!("{SMALL}blocked_periods = 64");
    let kinds = ["blocked", "forward-reset", "reset-ended", "sender-stopped", "sender-resumed"];
    let channels = ["h0:0 sends", "h1:0 sends"];
    assert_snapshot!(show(&pair(&link, &more), 96, &channels, &kinds), @"
    h0:0 sends  0: 05 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d a8  15: (GAP GO)×32  79: FRES  80: GAP  81: 05  82: GO×5  87: 01 02 03 04 05 06 07 08 09
    h1:0 sends  0: (GO GAP)×5 GO STOP STOP (GAP STOP)×35 GO GO (GAP GO)×5 GAP
    13 h0:0 sender-stopped
    79 h0:0 blocked by:reset
    79 h0:0 sender-resumed by:reset
    80 h0:0 sender-stopped
    81 h1:0 forward-reset
    82 h1:0 reset-ended
    85 h0:0 sender-resumed by:go
    ");
}

/// PRB3 leaves in 20 and is received in 32; the answer leaves at once: REPL2, as the port's lamp is
/// green. R-6. 24 periods are the round trip.
#[test]
fn a_probe_is_answered_and_times_the_round_trip() {
    let text = pair("symbols = \"all\"", &fault(20, "probe = \"h0:0\"\nnumber = 3"));
    let channels = ["h0:0 sends", "h1:0 sends"];
    assert_snapshot!(show(&text, 50, &channels, &["probe", "reply"]), @"
    h0:0 sends  0: (GO GAP)×10  20: PRB3  21: (GAP GO)×14 GAP
    h1:0 sends  0: (GO GAP)×16  32: REPL2  33: (GAP GO)×8 GAP
    32 h1:0 probe number:3
    44 h0:0 reply status:2 round_trip:24
    ");
}

/// As in the exchange of STOP and GO, 15 bytes come, but there are only 4 + 4 + 6 cells: byte 0e,
/// received in 16, is lost, and ORUN leaves at once. F-9
#[test]
fn a_byte_that_is_lost_for_want_of_room_is_reported_with_orun() {
    let link = SMALL.replace("stop_slack = 8", "stop_slack = 6\nsymbols = \"all\"");
    let text = pair(&link, &(held() + &raw("h0", 0, TWENTY_ONE)));
    let channels = ["h0:0 sends", "h1:0 sends"];
    assert_snapshot!(show(&text, 24, &channels, &["overflow", "overrun-alarm"]), @"
    h0:0 sends  0: 05 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e  15: GO×9
    h1:0 sends  0: (GO GAP)×5 GO STOP STOP GAP STOP GAP  16: ORUN  17: (GAP STOP)×3 GAP
    16 h1:0 h0#0 overflow
    18 h0:0 overrun-alarm
    ");
}

/// BRES leaves in 8 and is received in 10; h0 starts a forward reset at once.
#[test]
fn a_backward_reset_is_answered_with_a_forward_reset() {
    let more = raw("h0", 0, TWENTY_ONE) + &fault(8, "backward_reset = \"h1:0\"");
    let text = pair(&format!("{SMALL}symbols = \"all\""), &more);
    let kinds = ["backward-reset", "truncated", "forward-reset", "reset-ended"];
    assert_snapshot!(show(&text, 24, &["h1:0 sends", "h0:0 sends"], &kinds), @"
    h1:0 sends  0: (GO GAP)×4  8: BRES  9: (GAP GO)×7 GAP
    h0:0 sends  0: 05 01 02 03 04 05 06 07 08 09  10: FRES  11: (GAP GO)×6 GAP
    10 h0:0 backward-reset
    10 h0:0 h0#0 truncated rule:R-1
    12 h1:0 forward-reset
    13 h1:0 reset-ended
    ");
}

/// h0's link runs at half the rate. It sends in 0, 2, …, so byte n is received in 12 + 2n, and the path
/// is there in 14. Each byte waits for the next one (P-5): 05 goes out in 16, when aa is received, and
/// GO fills the odd periods. The GAP is received in 22, so the CRC byte leaves in 22 (55, without the 81
/// it is 72), and GAP in 23.
#[test]
fn a_slow_packet_on_a_fast_channel_is_filled_with_go() {
    let text = format!(
        "duration_periods = 1000\n[switch_defaults]\n\
         addressing = \"absolute\"\nrouting_periods = 1\ntoken_step_periods = 1\n\
         [[switch]]\nname = \"s0\"\n\
         [[host]]\nname = \"h0\"\nat = \"s0:0\"\nrate_divisor = 2\n\
         [[host]]\nname = \"h1\"\nat = \"s0:1\"\n{}\
         [[tap]]\nport = \"h0:0\"\n[[tap]]\nport = \"s0:1\"\n",
        raw("h0", 0, "81 05 aa bb 55 GAP")
    );
    let show = |channel, until| show(&text, until, &[channel], &[]);
    assert_snapshot!(show("h0:0 sends", 15) + &show("s0:1 sends", 30), @"
    h0:0 sends  0: 81 05 aa bb 55  5: GAP GO GAP
    s0:1 sends  0: (GO GAP)×8  16: 05  17: GO  18: aa  19: GO  20: bb  21: GO  22: 72  23: (GAP GO)×3 GAP
    ");
}

/// The cable is cut in 30, while h0 is stopped as above. In 45 nothing has been received for 16 periods,
/// and the sender goes on: no link blocks on one that is dead. F-7
#[test]
fn a_stopped_sender_goes_on_when_its_link_is_open() {
    let cut = fault(30, "cut = \"h0:0\"");
    let text = pair(
        SMALL,
        &(fault(0, "consume = \"h1\"\nhow = \"never\"") + &raw("h0", 0, TWENTY_ONE) + &cut),
    );
    let kinds = ["open-link", "sender-stopped", "sender-resumed", "truncated"];
    assert_snapshot!(show(&text, 56, &["h0:0 sends", "h0:0 receives"], &kinds), @"
    h0:0 sends  0: 05 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e  15: GO×30  45: 0f 10 11 12 13 bb  51: GAP GO GAP GO GAP
    h0:0 receives  0: IDLE IDLE (GO GAP)×5 GO STOP STOP (GAP STOP)×7 GAP IDLE×26
    13 h0:0 sender-stopped
    45 h0:0 open-link
    45 h0:0 sender-resumed by:open-link
    45 h1:0 h0#0 truncated rule:F-7
    45 h1:0 open-link
    ");
}

/// Wire 2 is open (W-5): GAP, 0c, arrives as 08 and is mended (C-4); 06 arrives as 02, and the CRC
/// of 02 aa is 75, not 21: 75 ⊕ 21 = 54, which is 84.
#[test]
fn weakened_symbols_are_mended_and_weakened_data_is_not() {
    let more = raw("h0", 0, "06 aa 21 GAP") + &fault(0, "open_wire = \"h0:0\"\nwire = 2");
    let text = pair(SMALL, &more);
    assert_snapshot!(show(&text, 16, &["h0:0 sends", "h1:0 receives"], &["consumed"]), @"
    h0:0 sends  0: 06 aa 21  3: (GAP GO)×6 GAP
    h1:0 receives  0: IDLE IDLE  2: 02 aa 21  5: (GAP!08 GO)×5 GAP!08
    5 h1:0 h0#0 consumed length:3 crc:bad syndrome:84 handling:corrupt
    ");
}

/// The GAP of the first packet is lost, and no fill follows it: two packets are one. Its CRC is
/// good: that of 05 01 and its CRC byte is 0, where the next one begins. P-4
#[test]
fn a_lost_gap_makes_one_packet_of_two() {
    let more = raw("h0", 0, "05 01 46 GAP 05 02 4f GAP") + &fault(0, "lose_gap = \"h0:0\"");
    let text = pair(SMALL, &more);
    let kinds = ["merged", "consumed"];
    assert_snapshot!(show(&text, 16, &["h0:0 sends", "h1:0 receives"], &kinds), @"
    h0:0 sends  0: 05 01 46  3: GAP  4: 05 02 4f  7: (GAP GO)×4 GAP
    h1:0 receives  0: IDLE IDLE  2: 05 01 46  5: IDLE  6: 05 02 4f  9: (GAP GO)×3 GAP
    6 h1:0 h0#1 merged
    9 h1:0 h0#0 consumed length:6 crc:good syndrome:0 handling:delivered
    ");
}

/// C-3: a link that has only the mandatory symbols ignores a probe, and BRES.
#[test]
fn optional_symbols_are_ignored_where_they_are_unknown() {
    let more = fault(4, "probe = \"h0:0\"") + &fault(7, "backward_reset = \"h0:0\"");
    let kinds = ["probe", "backward-reset", "reply"];
    assert_snapshot!(show(&pair(SMALL, &more), 16, &["h0:0 sends", "h1:0 sends"], &kinds), @"
    h0:0 sends  0: GO GAP GO GAP  4: PRB0  5: GAP GO  7: BRES  8: (GO GAP)×4
    h1:0 sends  0: (GO GAP)×8
    6 h1:0 probe number:0
    9 h1:0 backward-reset
    ");
}
