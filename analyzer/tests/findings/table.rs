//! Every kind of finding, with a capture that has it and one that nearly has it. Written by hand:
//! the first are shipped as `fixtures/findings`.

// The example that writes the captures has this file by its path too.
#[path = "table/mapping.rs"]
mod mapping;
#[path = "table/messages.rs"]
pub(crate) mod messages;

use codec::CharBuf;
use codec::capture::{ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent};
use codec::notation::parse;
use codec::time::Tick;
use myriscope_analyzer::finding::FindingKind;

/// A kind of finding, and two captures.
pub(crate) struct PlannedCase {
    kind: FindingKind,
    /// The channels of the captures.
    pub(crate) wires: &'static [WireBuilder],
    /// Characters of the capture that has it, see [`capture`].
    has: &'static [&'static str],
    /// Characters of the capture that nearly has it.
    nearly: &'static [&'static str],
}

/// A channel: its name and its comment.
pub(crate) type WireBuilder = (&'static str, &'static str);

/// The link a ⇄ b, tapped at a.
const LINK: [WireBuilder; 2] = [
    ("a:0>b:0", "myrinet-channel v=1 tap=a:0 delay=1 h=16 int=2"),
    ("b:0>a:0", "myrinet-channel v=1 tap=a:0 delay=1 h=16 int=2"),
];

/// The hosts h0, h1 and h2 at the ports 0, 1 and 2 of a switch, tapped at the switch.
const SWITCH: [WireBuilder; 6] = [
    ("h0:0>s0:0", "myrinet-channel v=1 tap=s0:0 delay=1"),
    ("s0:0>h0:0", "myrinet-channel v=1 tap=s0:0 delay=1"),
    ("h1:0>s0:1", "myrinet-channel v=1 tap=s0:1 delay=1"),
    ("s0:1>h1:0", "myrinet-channel v=1 tap=s0:1 delay=1"),
    ("h2:0>s0:2", "myrinet-channel v=1 tap=s0:2 delay=1"),
    ("s0:2>h2:0", "myrinet-channel v=1 tap=s0:2 delay=1"),
];

/// Two of them, with the longest path formation of the switch.
const SLOW: [WireBuilder; 4] = [
    ("h0:0>s0:0", "myrinet-channel v=1 tap=s0:0 delay=1 path=44"),
    SWITCH[1],
    ("h1:0>s0:1", "myrinet-channel v=1 tap=s0:1 delay=1 path=44"),
    SWITCH[3],
];

/// Two links between the switches s0 and s1.
const RING: [WireBuilder; 4] = [
    ("s0:1>s1:1", "myrinet-channel v=1 tap=s0:1 delay=1"),
    ("s1:1>s0:1", "myrinet-channel v=1 tap=s0:1 delay=1"),
    ("s1:2>s0:2", "myrinet-channel v=1 tap=s1:2 delay=1"),
    ("s0:2>s1:2", "myrinet-channel v=1 tap=s1:2 delay=1"),
];

/// A link with all parameters of its slack buffers declared.
const DECLARED: [WireBuilder; 2] = [
    ("a:0>b:0", "myrinet-channel v=1 tap=a:0 kg=4 h=4 ks=8 delay=1 gen=0 int=0"),
    ("b:0>a:0", "myrinet-channel v=1 tap=a:0 kg=4 h=4 ks=8 delay=1 gen=0 int=0"),
];

/// A link with a sender at a that is declared to be as Myricom's chips.
const CHIP: [WireBuilder; 2] =
    [("a:0>b:0", "myrinet-channel v=1 tap=a:0 reset=own-gap fill=chip"), LINK[1]];

/// A link whose transitions were recorded, one direction with a fault.
const TRANSITIONS: [WireBuilder; 2] = [
    ("a:0>b:0", "myrinet-channel v=2 tap=b:0 glitches=3 still_wires=032"),
    ("b:0>a:0", "myrinet-channel v=2 tap=b:0 glitches=0 still_wires=000"),
];

/// A link of which one direction was imported by force.
const FORCED: [WireBuilder; 2] = [
    ("a:0>b:0", "myrinet-channel v=2 tap=b:0 forced=1"),
    ("b:0>a:0", "myrinet-channel v=2 tap=b:0 forced=0"),
];

/// A channel with too much skew and too slow a clock, and one of which neither is certain.
const MEASURED: [WireBuilder; 2] = [
    (
        "a:0>b:0",
        "myrinet-channel v=2 period_fs=12501280 tap=b:0 skew_fs=5650000 skew_at=1 sample_fs=20000 window_fs=6250000 nominal_fs=12500000 period_error_fs=12",
    ),
    (
        "b:0>a:0",
        "myrinet-channel v=2 period_fs=12501280 tap=b:0 skew_fs=5650000 skew_at=1 sample_fs=30000 window_fs=6250000 nominal_fs=12500000 period_error_fs=38",
    ),
];

/// A packet from h0 to h1: at the input of [`SWITCH`], and at its output.
const SENT: &str = "0: (GO GAP)×50 | 81 05 aa 7e GAP | (GO GAP)×500";
const FORWARDED: &str = "3: (GO GAP)×65 | 05 aa 1e GAP | (GO GAP)×500";

/// Two packets from h0 to ports 1 and 2 of [`SWITCH`], and two that leave by port 2.
const TWO_CAME: [&str; 2] = [
    "0: (GO GAP)×50 | 81 05 aa 7e GAP | 82 05 bb cc 6f GAP | (GO GAP)×50",
    "0: 82 05 bb cc 6f GAP | (GO GAP)×500",
];
const TWO_LEFT: &str =
    "5: (GO GAP)×70 | 05 bb cc 72 GAP | (GO GAP)×50 | 05 bb cc 72 GAP | (GO GAP)×500";

/// Three packets to port 1 of [`SWITCH`] and one to port 2, and the same behind the switch: the three before they came,
/// or only the first of them.
const EARLY_CAME: &str = "0: (GO GAP)×50 | 81 05 aa (00)×5 cc GAP | 81 05 ab (00)×5 e5 GAP | 81 05 ac (00)×5 3a GAP | \
     82 05 bb cc 6f GAP | (GO GAP)×500";
const EARLY_LEFT: &str = "3: (GO GAP)×20 | 05 aa (00)×5 60 GAP | 05 ab (00)×5 49 GAP | 05 ac (00)×5 96 GAP | (GO GAP)×500";
const FIRST_LEFT: &str = "3: (GO GAP)×20 | 05 aa (00)×5 60 GAP | (GO GAP)×70 | 05 ab (00)×5 49 GAP | 05 ac (00)×5 96 GAP | (GO GAP)×500";
const OTHER_LEFT: &str = "5: (GO GAP)×90 | 05 bb cc 72 GAP | (GO GAP)×500";

/// They agree by chance.
#[test]
fn packets_of_fewer_than_eight_bytes_are_no_evidence_of_unlike_clocks() {
    let came = "0: (GO GAP)×50 | 81 05 aa 7e GAP | 81 05 ab 79 GAP | 81 05 ac 6c GAP | 82 05 bb cc 6f GAP | (GO GAP)×500";
    let left = "3: (GO GAP)×20 | 05 aa 1e GAP | 05 ab 19 GAP | 05 ac 0c GAP | (GO GAP)×500";
    let file = capture(&SWITCH, &[came, REST[1], REST[2], left, OTHER_LEFT]);
    assert_eq!(super::findings(&*file).set().total(FindingKind::ClocksApart), 0);
}

/// Packets in a circle of [`RING`], and STOP to one of their senders.
const CIRCLE: [&str; 3] = [
    "0: GO GAP 82 81 82 81 | (GO)×300",
    "1: (GO GAP)×5 | (STOP GAP)×150",
    "2: GO GAP 81 82 81 82 | (GO)×300",
];

/// Channels without a packet.
const REST: [&str; 4] =
    ["0: (GO GAP)×500", "1: (GO GAP)×500", "2: (GO GAP)×500", "3: (GO GAP)×500"];

const fn case(
    kind: FindingKind,
    wires: &'static [WireBuilder],
    has: &'static [&'static str],
    nearly: &'static [&'static str],
) -> PlannedCase {
    PlannedCase { kind, wires, has, nearly }
}

/// All cases, in order of kinds. The CRC of 83 05 is 92, of 83 it is 80, of 05 it is 1b.
pub(crate) const CASES: &[PlannedCase] = &[
    // C-4: 04 is 0C without a 1.
    case(FindingKind::CorrectedCode, &LINK, &["0: GO GAP!04"], &["0: GO GAP"]),
    // C-5
    case(FindingKind::InvalidCode, &LINK, &["0: GO !a6 GAP"], &["0: GO IDLE GAP"]),
    // W-3: 5.65 ns, less 20 ps of resolution, are more than nine tenths of 6.25 ns, which are 5.625 ns; or with 30 ps
    // they are less.
    case(FindingKind::SkewMargin, &MEASURED, &["0: GO GAP"], &["1: GO GAP"]),
    // W-5: 32 GAPs lack the 1 on wire 2; or one has it.
    case(
        FindingKind::WireOpen,
        &LINK,
        &["0: GAP | (GO GAP!08)×32"],
        &["0: (GO GAP!08)×31 | GAP | (GO GAP!08)×31"],
    ),
    case(FindingKind::StillWire, &TRANSITIONS, &["0: GO GAP"], &["1: GO GAP"]),
    // W-6: data continues for 2, 4 and 6 periods after the latest time at which STOPs at 20 000,
    // 40 000 and 60 000 take effect: 100 ppm; or for 2 periods once.
    case(
        FindingKind::ClockDrift,
        &LINK,
        &[
            "0: (GAP GO)×9990 | (00)×25 | (GAP GO)×9987 | (00)×28 | (GAP GO)×9986 | (00)×30",
            "0: (GAP GO)×100",
            "1: (GO GAP)×10000 | (STOP GAP)×50 | (GO GAP)×9950 | (STOP GAP)×50 | (GO GAP)×9950",
            "1: (STOP GAP)×50 | (GO GAP)×50",
        ],
        &["0: (GAP GO)×9990 | (00)×25 | (GAP GO)×40", "1: (GO GAP)×10000 | (STOP GAP)×50"],
    ),
    // W-6: a period of 12.50128 ns is 102 ppm slow, and known to within 1 ppm; or only to within 3 ppm.
    case(FindingKind::ClockOutOfTolerance, &MEASURED, &["0: GO GAP"], &["1: GO GAP"]),
    // Three packets leave by port 1 before they come from h0; or one, in place of which another one may have come.
    case(
        FindingKind::ClocksApart,
        &SWITCH,
        &[EARLY_CAME, REST[1], REST[2], EARLY_LEFT, OTHER_LEFT],
        &[EARLY_CAME, REST[1], REST[2], FIRST_LEFT, OTHER_LEFT],
    ),
    case(FindingKind::WireGlitches, &TRANSITIONS, &["0: GO GAP"], &["1: GO GAP"]),
    // W-8: bit 0 of two bytes; or bits of two wires.
    case(
        FindingKind::DoubleError,
        &SWITCH,
        &[SENT, REST[1], "3: (GO GAP)×65 | 04 ab 1e GAP | (GO GAP)×500"],
        &[SENT, REST[1], "3: (GO GAP)×65 | 04 a8 1e GAP | (GO GAP)×500"],
    ),
    // W-8: 00 was not sent; or another byte is different too.
    case(
        FindingKind::InsertedCharacter,
        &SWITCH,
        &[SENT, REST[1], "3: (GO GAP)×65 | 05 00 aa 1e GAP | (GO GAP)×500"],
        &[SENT, REST[1], "3: (GO GAP)×65 | 05 00 ab 1e GAP | (GO GAP)×500"],
    ),
    // P-1: 81 05 aa 7e is complete before the IDLE, which the chips' fill does not have; 81 05 is
    // not.
    case(
        FindingKind::LostGap,
        &CHIP,
        &["0: GAP 81 05 aa 7e IDLE 81 05 aa 7e GAP"],
        &["0: GAP 81 05 IDLE aa 7e GAP", "1: GAP 81 05 aa 7e IDLE 81 05 aa 7e GAP"],
    ),
    case(
        FindingKind::MayBeTwo,
        &LINK,
        &["0: GAP 81 05 aa 7e IDLE 81 05 aa 7e GAP"],
        &["0: GAP 81 05 IDLE aa 7e GAP"],
    ),
    // P-1: of the two packets that arrive one leaves, as long as both.
    case(
        FindingKind::Merged,
        &SWITCH,
        &[
            "0: (GO GAP)×50 | 81 05 aa 7e GAP | 81 05 aa 7e GAP | (GO GAP)×500",
            REST[1],
            "3: (GO GAP)×65 | 05 aa 7e 81 05 aa 2b GAP | (GO GAP)×500",
        ],
        &[
            "0: (GO GAP)×50 | 81 05 aa 7e GAP | 81 05 aa 7e GAP | (GO GAP)×500",
            REST[1],
            "3: (GO GAP)×65 | 05 aa 1e GAP | (GO GAP)×15 | 05 aa 1e GAP | (GO GAP)×500",
        ],
    ),
    // P-1: aa is missing.
    case(
        FindingKind::TruncatedInTransit,
        &SWITCH,
        &[SENT, REST[1], "3: (GO GAP)×65 | 05 1e GAP | (GO GAP)×500"],
        &[SENT, REST[1], FORWARDED],
    ),
    // P-2
    case(FindingKind::NoTag, &LINK, &["0: GAP 83 80 GAP"], &["0: GAP 83 05 92 GAP"]),
    // P-4
    case(FindingKind::CrcBad, &LINK, &["0: GAP 83 05 93 GAP"], &["0: GAP 83 05 92 GAP"]),
    // P-5: aa has become ab; or what was sent leads back only if the addressing, which is not known, is relative.
    case(
        FindingKind::CorruptedInTransit,
        &SWITCH,
        &[SENT, REST[1], "3: (GO GAP)×65 | 05 ab 1e GAP | (GO GAP)×500"],
        &[
            "2: (GO GAP)×50 | 80 05 aa 15 GAP | (GO GAP)×500",
            "3: (GO GAP)×65 | 05 ab 1e GAP | (GO GAP)×500",
        ],
    ),
    // P-7: after a GAP its CRC is bad.
    case(FindingKind::PartialAtStart, &LINK, &["0: 05 93 GAP"], &["0: GAP 05 93 GAP"]),
    // P-9
    case(FindingKind::Runt, &LINK, &["0: GAP 05 GAP"], &["0: GAP 05 1b GAP"]),
    // F-1: stopped for 9000 periods to the end of the recording, or up to its last character.
    case(
        FindingKind::Standstill,
        &LINK,
        &["0: GO GAP 05 1b GAP | (GO)×9015", "1: (GO GAP)×10 | (STOP GAP)×4500"],
        &["0: GO GAP 05 1b GAP | (GO)×9016", "1: (GO GAP)×10 | (STOP GAP)×4500 | GO"],
    ),
    // F-1, S-3: stopped for 4098 periods, or for 4094, by an output that is not captured; the sender of h0 is not either.
    case(
        FindingKind::HeldUp,
        &[SWITCH[2], SWITCH[3], SWITCH[1]],
        &[
            "0: GO GAP 82 05 | (GO)×6096",
            "1: (GO GAP)×100 | (STOP GAP)×2049 | (GO GAP)×901",
            "2: (GO GAP)×100 | (STOP GAP)×2049 | (GO GAP)×901",
        ],
        &[
            "0: GO GAP 82 05 | (GO)×6096",
            "1: (GO GAP)×100 | (STOP GAP)×2047 | (GO GAP)×903",
            "2: (GO GAP)×100 | (STOP GAP)×2047 | (GO GAP)×903",
        ],
    ),
    // F-1
    case(FindingKind::OneWay, &[LINK[0]], &["0: GAP GO"], &["0: GAP GO", "1: GAP GO"]),
    // F-1, F-4: STOP arrives at 0 and takes effect at 2; a byte at 3 is too late.
    case(
        FindingKind::DataWhileStopped,
        &LINK,
        &["0: GAP 83 05 92 GAP", "1: STOP GAP STOP GAP STOP"],
        &["0: 83 05 92 GAP GO", "1: STOP GAP STOP GAP STOP"],
    ),
    // F-3: STOP without data; with declared buffers, then with assumed ones.
    case(
        FindingKind::UnexpectedStopGo,
        &DECLARED,
        &["0: (GO GAP)×50", "1: (GO GAP)×10 | (STOP GAP)×40"],
        &["0: (GO GAP)×50", "1: (GO GAP)×50"],
    ),
    case(
        FindingKind::UnlikeAssumed,
        &LINK,
        &["0: (GO GAP)×50", "1: (GO GAP)×10 | (STOP GAP)×40"],
        &["0: (GO GAP)×50", "1: (GO GAP)×50"],
    ),
    // F-4: STOP at 1, GO at 2, and STOP again 29 periods after the first, or 30 = 2h − 1 and one
    // less for the cell that a switch may take at once with a route byte (S-3).
    case(
        FindingKind::CommandsTooOften,
        &LINK,
        &["0: GO STOP GO×28 STOP", "1: (GO)×31"],
        &["0: GO STOP GO×29 STOP", "1: (GO)×32"],
    ),
    // F-4: data continues for 30 periods after STOP, or for none.
    case(
        FindingKind::StopTooLate,
        &DECLARED,
        &["0: GO GAP 05 | (05)×37 | (GO)×60", "1: (GO GAP)×6 | (STOP GAP)×40"],
        &["0: GO GAP 05 | (05)×9 | (GO)×60", "1: (GO GAP)×6 | (STOP GAP)×40"],
    ),
    // F-7
    case(FindingKind::OpenLink, &LINK, &["0: GAP IDLE×16"], &["0: GAP IDLE×15 GAP"]),
    case(
        FindingKind::TruncatedByOpenLink,
        &LINK,
        &["0: GAP 83 05 IDLE×16"],
        &["0: GAP 83 05 92 GAP IDLE×16"],
    ),
    case(FindingKind::SilentAtFirst, &LINK, &["0: IDLE×16 GAP"], &["0: GAP | @5 IDLE×16"]),
    // F-8
    case(
        FindingKind::UnexpectedFill,
        &CHIP,
        &["0: GAP IDLE×2 GO"],
        &["0: GAP IDLE GO", "1: GAP IDLE×15 GO"],
    ),
    // F-9
    case(FindingKind::OverrunAlarm, &LINK, &["0: GAP ORUN GO"], &["0: GAP STOP GO"]),
    // F-9: 28 bytes after STOP do not fit into 8 cells; or none follows.
    case(
        FindingKind::OverrunRisk,
        &DECLARED,
        &["0: GO GAP 05 | (05)×37 | (GO)×60", "1: (GO GAP)×6 | (STOP GAP)×40"],
        &["0: GO GAP 05 | (05)×9 | (GO)×60", "1: (GO GAP)×6 | (STOP GAP)×40"],
    ),
    // one STOP or GO may come first, and an undeclared ending may be any.
    case(
        FindingKind::ResetNotEnded,
        &CHIP,
        &["0: FRES IDLE GAP"],
        &["0: FRES STOP GAP", "1: FRES 83 05 GAP"],
    ),
    //
    case(FindingKind::ForwardReset, &LINK, &["0: GO FRES GAP"], &["0: GO BRES GAP"]),
    case(FindingKind::DataInReset, &LINK, &["0: FRES 83 GAP"], &["0: FRES GAP 83"]),
    //
    case(
        FindingKind::CutByReset,
        &LINK,
        &["0: GAP 83 05 FRES GAP"],
        &["0: GAP 83 05 92 GAP FRES GAP"],
    ),
    // stopped from 0 on without reset or GO, for 2²² + 2¹² periods and 2 more, or not.
    case(
        FindingKind::MissingTimeout,
        &LINK,
        &["0: (GAP GO)×2099201", "1: (STOP GAP)×2099201"],
        &["0: (GAP GO)×2099200", "1: (STOP GAP)×2099200"],
    ),
    // FRES one period after 2²², or at once.
    case(
        FindingKind::BlockedTimeout,
        &LINK,
        &["0: (GAP GO)×2097152 | GAP FRES GAP", "1: (STOP GAP)×2097154"],
        &["0: (GAP GO)×2097152 | FRES GAP", "1: (STOP GAP)×2097154"],
    ),
    //
    case(FindingKind::BackwardReset, &LINK, &["0: GO BRES GAP"], &["0: GO FRES GAP"]),
    case(
        FindingKind::ResetNotAnswered,
        &LINK,
        &["0: BRES | (GAP GO)×2048", "1: (GAP GO)×2049"],
        &["0: BRES | (GAP GO)×2048", "1: (GAP GO)×40 | FRES GAP | (GO GAP)×2000"],
    ),
    //
    case(
        FindingKind::ProbeNotAnswered,
        &LINK,
        &["0: PRB3 | (GAP GO)×2048", "1: (GAP GO)×2049"],
        &["0: PRB3 | (GAP GO)×2048", "1: (GAP GO)×40 | REPL2 | (GO GAP)×2000"],
    ),
    case(
        FindingKind::UnsolicitedReply,
        &LINK,
        &["0: (GAP GO)×9", "1: GAP GO REPL2"],
        &["0: PRB3 GO GAP", "1: GAP GO REPL2"],
    ),
    // S-1: no packet leaves by port 1, and then the next one by port 2; or both leave.
    case(
        FindingKind::NoSuchPort,
        &SWITCH,
        &[TWO_CAME[0], TWO_CAME[1], REST[1], "2: (IDLE)×1000", REST[3], TWO_LEFT],
        &[TWO_CAME[0], TWO_CAME[1], REST[1], REST[2], FORWARDED, TWO_LEFT],
    ),
    // Nor does it although the link of port 1 is alive.
    case(
        FindingKind::LostInSwitch,
        &SWITCH,
        &[TWO_CAME[0], TWO_CAME[1], REST[1], REST[2], REST[3], TWO_LEFT],
        &[SENT, REST[1], REST[2], FORWARDED],
    ),
    // S-2
    case(
        FindingKind::NoRoute,
        &SWITCH,
        &["0: (GO GAP)×50 | 05 aa 1e GAP | (GO GAP)×500", REST[1], REST[2], REST[3]],
        &[SENT, REST[1], REST[2], FORWARDED],
    ),
    // S-3: h0 is stopped while a packet of h2 has the output that its own packet selects.
    case(
        FindingKind::Busy,
        &SWITCH,
        &[
            "0: (GO GAP)×50 | 81 | (05)×60 | (GO)×400",
            "1: (GO GAP)×75 | (STOP GAP)×200 | (GO GAP)×50",
            REST[2],
            "3: (GO GAP)×20 | (05)×600",
            "4: GO GAP 81 | (05)×600",
            "5: (GO GAP)×400",
        ],
        &[
            "0: (GO GAP)×50 | 81 | (05)×40 | (GO)×400",
            REST[1],
            "3: (GO GAP)×20 | (05)×600",
            "4: GO GAP 81 | (05)×600",
            "5: (GO GAP)×400",
        ],
    ),
    // S-6: 45 periods from before the switch to after it are one too many; the taps are at it.
    case(
        FindingKind::SlowPath,
        &SLOW,
        &[SENT, REST[1], REST[2], "3: (GO GAP)×100 | 05 aa 1e GAP | (GO GAP)×500"],
        &[SENT, REST[1], REST[2], FORWARDED],
    ),
    // I-2: sound packets show a host, or damaged ones, which show nothing.
    case(
        FindingKind::Misrouted,
        &SWITCH,
        &[REST[2], "3: (05 aa 1e GAP)×2 | 81 05 aa 7e GAP | (GO GAP)×500"],
        &[REST[2], "3: 05 GAP (05 aa 1f GAP)×2 | 81 05 aa 7e GAP | (GO GAP)×500"],
    ),
    // I-4: stopped for 402 periods, which is more than 5 µs, or for 398.
    case(
        FindingKind::SlowHost,
        &SWITCH,
        &["2: (GO GAP)×10 | (STOP GAP)×201 | (GO GAP)×80", "3: GO GAP 05 | (GO)×600"],
        &["2: (GO GAP)×10 | (STOP GAP)×199 | (GO GAP)×80", "3: GO GAP 05 | (GO)×600"],
    ),
    // N-2: what arrived at s1 is routed to s0 and the reverse, and both are stopped; or one.
    case(
        FindingKind::Deadlock,
        &RING,
        &[CIRCLE[0], CIRCLE[1], CIRCLE[2], "3: (GO GAP)×5 | (STOP GAP)×150"],
        &[CIRCLE[0], CIRCLE[1], CIRCLE[2], "3: (GO GAP)×155"],
    ),
    // N-2: a packet goes on from link 1 to link 2 at s1, and long after it another the reverse at s0, each to a
    // host that is not captured; or the other one is a packet of mapping.
    case(
        FindingKind::RouteCycle,
        &RING,
        &[
            "0: (GO GAP)×50 | 82 83 05 (aa)×5 bf GAP | (GO GAP)×150 | 83 05 (bb)×5 fb GAP | (GO GAP)×50",
            "1: (GO GAP)×300",
            "2: (GO GAP)×65 | 83 05 (aa)×5 26 GAP | (GO GAP)×120 | 81 83 05 (bb)×5 57 GAP | (GO GAP)×50",
            "3: (GO GAP)×300",
        ],
        &[
            "0: (GO GAP)×50 | 82 83 05 (aa)×5 bf GAP | (GO GAP)×150 | 83 02 (bb)×5 24 GAP | (GO GAP)×50",
            "1: (GO GAP)×300",
            "2: (GO GAP)×65 | 83 05 (aa)×5 26 GAP | (GO GAP)×120 | 81 83 02 (bb)×5 88 GAP | (GO GAP)×50",
            "3: (GO GAP)×300",
        ],
    ),
];

/// The kinds that concern the recording.
const RECORDING: &[PlannedCase] = &[
    case(FindingKind::ForcedImport, &FORCED, &["0: GO GAP"], &["1: GO GAP"]),
    case(FindingKind::Hole, &LINK, &["0: GAP GO | @5 GAP GO"], &["0: GAP GO | GAP GO"]),
    case(FindingKind::Repeats, &LINK, &["0: (!a6 GAP)×1048576"], &["0: (GO GAP)×1048576"]),
];

/// A kind, a capture that has it, and one that nearly has it.
pub(crate) struct MadeCapture {
    pub(crate) kind: FindingKind,
    /// The capture that has it.
    pub(crate) has: Vec<u8>,
    /// The capture that nearly has it.
    pub(crate) nearly: Vec<u8>,
}

/// H-1: a UDP datagram from 10.0.0.1 to 10.0.0.2 without data, its checksum one too small, or right.
const IP: [PlannedCase; 1] = [case(
    FindingKind::IpChecksum,
    &LINK,
    &[concat!(
        "0: GAP 83 08 45 00 00 1c 00 01 00 00 40 11 66 ce 0a 00 00 01 0a 00 00 02 ",
        "80 00 04 00 00 08 67 da f3 GAP",
    )],
    &[concat!(
        "0: GAP 83 08 45 00 00 1c 00 01 00 00 40 11 66 ce 0a 00 00 01 0a 00 00 02 ",
        "80 00 04 00 00 08 67 db f4 GAP",
    )],
)];

/// All of them, in order of kinds.
pub(crate) fn all() -> impl Iterator<Item = MadeCapture> {
    let made = |case: &PlannedCase| {
        // Only the missing channel makes a channel one-way.
        let wires = if case.kind == FindingKind::OneWay { &LINK } else { case.wires };
        let (has, nearly) = (capture(case.wires, case.has), capture(wires, case.nearly));
        MadeCapture { kind: case.kind, has, nearly }
    };
    let talks = messages::TALKS.iter().map(|(kind, has, nearly)| MadeCapture {
        kind: *kind,
        has: messages::capture(has),
        nearly: messages::capture(nearly),
    });
    let maps = mapping::CASES.iter().map(|(kind, has, nearly)| MadeCapture {
        kind: *kind,
        has: mapping::capture(has),
        nearly: mapping::capture(nearly),
    });
    let ip = IP.iter().map(made);
    CASES.iter().map(made).chain(maps).chain(ip).chain(talks).chain(RECORDING.iter().map(made))
}

/// The capture of channels with these characters. A line is a channel's index and its chunks in
/// notation, `0: GAP | (GO GAP)×500 | @1005 GO`: with parentheses a repeat, and each directly after
/// the one before unless `@` gives its place.
pub(crate) fn capture(wires: &[WireBuilder], lines: &[&str]) -> Vec<u8> {
    let channels = described(wires);
    let mut chunks = Vec::new();
    let mut next = vec![0; channels.len()];
    for line in lines {
        let (index, texts) = line.split_once(": ").unwrap();
        let index: u32 = index.parse().unwrap();
        let next = next.get_mut(index as usize).unwrap();
        for mut text in texts.split(" | ") {
            if let Some((place, rest)) =
                text.strip_prefix('@').and_then(|text| text.split_once(' '))
            {
                (*next, text) = (place.parse().unwrap(), rest);
            }
            let repeat = text.strip_prefix('(').and_then(|text| text.split_once(")×"));
            let (text, count) =
                repeat.map_or((text, None), |(text, count)| (text, Some(count.parse().unwrap())));
            let chars = parse(text).unwrap();
            let first = *next;
            *next += chars.len() as u64 * count.unwrap_or(1);
            chunks.push((first, index, chars, count));
        }
    }
    // All channels of a network are recorded to its end.
    let end = next.iter().copied().max().unwrap_or_default();
    for (index, next) in (0..).zip(next).filter(|(_, next)| *next < end && wires.len() > 2) {
        chunks.push((next, index, parse("GAP").unwrap(), Some(end - next)));
    }
    write(&channels, chunks)
}

fn described(wires: &[WireBuilder]) -> Vec<Channel> {
    let channel = |(name, comment): &WireBuilder| {
        let mut channel = Channel::named(*name);
        channel.apply_description(comment, &mut |field, fault| panic!("{field} {fault}"));
        channel
    };
    wires.iter().map(channel).collect()
}

/// A chunk: its first character, the index of its channel, its characters, and how often they
/// repeat.
type WireChunk = (u64, u32, CharBuf, Option<u64>);

fn write(channels: &[Channel], mut chunks: Vec<WireChunk>) -> Vec<u8> {
    // Chunks are in order of time, and of channels at the same time.
    chunks.sort_by_key(|(first, channel, ..)| (*first, *channel));
    let mut file = CaptureWriter::new(Vec::new(), ByteOrder::Little, channels).unwrap();
    for (first, channel, chars, count) in &chunks {
        let content = match count {
            None => ChunkContent::Literal(chars.chars()),
            Some(count) => ChunkContent::Repeat { pattern: chars.chars(), count: *count },
        };
        file.write(ChannelId(*channel), &Chunk { first: Tick(*first), content }).unwrap();
    }
    file.finish().unwrap()
}
