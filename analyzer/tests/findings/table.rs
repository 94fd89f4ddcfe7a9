//! Every kind of finding, with a capture that has it and one that nearly has it. Written by hand:
//! the first are shipped as `fixtures/findings`.

// The example that writes the captures has this file by its path too.
#[path = "table/messages.rs"]
mod messages;

use codec::capture::{ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent};
use codec::notation::parse;
use codec::time::Tick;
use myriscope_analyzer::finding::FindingKind;

/// A chunk: channel, first character, characters, and how often they repeat (0: literal).
pub(crate) type WirePiece = (u32, u64, &'static str, u64);

/// A kind of finding, and what it takes.
pub(crate) struct FindingCase {
    /// The kind.
    pub(crate) kind: FindingKind,
    /// The channels of the captures.
    pub(crate) wires: &'static [WireBuilder],
    /// What they carry that has it.
    pub(crate) has: &'static [WirePiece],
    /// What they carry that nearly has it.
    pub(crate) nearly: &'static [WirePiece],
}

/// A channel: its name, and what its comment says.
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

/// Two of them, and how long the switch takes at most.
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

const fn switch(
    kind: FindingKind,
    has: &'static [WirePiece],
    nearly: &'static [WirePiece],
) -> FindingCase {
    FindingCase { kind, wires: &SWITCH, has, nearly }
}

/// Fill of 500 rounds on a channel, from a place on.
const fn fill(channel: u32, first: u64) -> WirePiece {
    (channel, first, "GO GAP", 500)
}

/// The packet 81 05 aa on the channel of h0, at 100.
const SENT: WirePiece = (0, 100, "81 05 aa 7e GAP", 0);
/// Fill before and behind it, and on the way back.
const FILL: [WirePiece; 3] = [(0, 0, "GO GAP", 50), fill(0, 105), fill(1, 0)];

/// The same link, with all that there is to be told of its slack buffers.
const TOLD: [WireBuilder; 2] = [
    ("a:0>b:0", "myrinet-channel v=1 tap=a:0 kg=4 h=4 ks=8 delay=1 gen=0 int=0"),
    ("b:0>a:0", "myrinet-channel v=1 tap=a:0 kg=4 h=4 ks=8 delay=1 gen=0 int=0"),
];

/// The same link, with a sender at a that is declared to be as Myricom's chips.
const CHIP: [WireBuilder; 2] =
    [("a:0>b:0", "myrinet-channel v=1 tap=a:0 reset=own-gap fill=chip"), LINK[1]];

const fn link(
    kind: FindingKind,
    has: &'static [WirePiece],
    nearly: &'static [WirePiece],
) -> FindingCase {
    FindingCase { kind, wires: &LINK, has, nearly }
}

/// Half of 2²²: rounds of two characters that a stop may last.
const BLOCKED: u64 = 1 << 21;
/// Half of 2¹² more: rounds after which an escape is overdue.
const OVERDUE: u64 = BLOCKED + (1 << 11);

/// All of them, in order of kinds. The CRC of 83 05 is 92, of 83 it is 80, of 05 it is 1b.
pub(crate) const CASES: &[FindingCase] = &[
    // C-4: 04 is 0C without a 1.
    link(FindingKind::CorrectedCode, &[(0, 0, "GO GAP!04", 0)], &[(0, 0, "GO GAP", 0)]),
    // C-5
    link(FindingKind::InvalidCode, &[(0, 0, "GO !a6 GAP", 0)], &[(0, 0, "GO IDLE GAP", 0)]),
    // W-6: data goes on for 2, 4 and 6 periods after it must have obeyed a STOP at 20 000, 40 000 and
    // 60 000: 100 ppm; or for 2 once.
    link(
        FindingKind::ClockDrift,
        &[
            (0, 0, "GAP GO", 9990),
            (0, 19980, "00", 25),
            (0, 20005, "GAP GO", 9987),
            (0, 39979, "00", 28),
            (0, 40007, "GAP GO", 9986),
            (0, 59979, "00", 30),
            (0, 60009, "GAP GO", 100),
            (1, 0, "GO GAP", 10000),
            (1, 20000, "STOP GAP", 50),
            (1, 20100, "GO GAP", 9950),
            (1, 40000, "STOP GAP", 50),
            (1, 40100, "GO GAP", 9950),
            (1, 60000, "STOP GAP", 50),
            (1, 60100, "GO GAP", 50),
        ],
        &[
            (0, 0, "GAP GO", 9990),
            (0, 19980, "00", 25),
            (0, 20005, "GAP GO", 40),
            (1, 0, "GO GAP", 10000),
            (1, 20000, "STOP GAP", 50),
        ],
    ),
    // P-1: 81 05 aa 7e is whole before the IDLE, which the chip's fill would not be; not so 81 05.
    FindingCase {
        kind: FindingKind::LostGap,
        wires: &CHIP,
        has: &[(0, 0, "GAP 81 05 aa 7e IDLE 81 05 aa 7e GAP", 0)],
        nearly: &[
            (0, 0, "GAP 81 05 IDLE aa 7e GAP", 0),
            (1, 0, "GAP 81 05 aa 7e IDLE 81 05 aa 7e GAP", 0),
        ],
    },
    link(
        FindingKind::MayBeTwo,
        &[(0, 0, "GAP 81 05 aa 7e IDLE 81 05 aa 7e GAP", 0)],
        &[(0, 0, "GAP 81 05 IDLE aa 7e GAP", 0)],
    ),
    // P-1: of the two packets that come, one goes on, as long as both.
    switch(
        FindingKind::Merged,
        &[
            FILL[0],
            SENT,
            (0, 105, "81 05 aa 7e GAP", 0),
            fill(0, 110),
            FILL[2],
            (3, 0, "GO GAP", 65),
            (3, 130, "05 aa 7e 81 05 aa 2b GAP", 0),
            fill(3, 138),
        ],
        &[
            FILL[0],
            SENT,
            (0, 105, "81 05 aa 7e GAP", 0),
            fill(0, 110),
            FILL[2],
            (3, 0, "GO GAP", 65),
            (3, 130, "05 aa 1e GAP", 0),
            (3, 134, "GO GAP", 15),
            (3, 164, "05 aa 1e GAP", 0),
            fill(3, 168),
        ],
    ),
    // P-1: aa is missing.
    switch(
        FindingKind::TruncatedInTransit,
        &[
            FILL[0],
            SENT,
            FILL[1],
            FILL[2],
            (3, 0, "GO GAP", 65),
            (3, 130, "05 1e GAP", 0),
            fill(3, 133),
        ],
        &[
            FILL[0],
            SENT,
            FILL[1],
            FILL[2],
            (3, 0, "GO GAP", 65),
            (3, 130, "05 aa 1e GAP", 0),
            fill(3, 134),
        ],
    ),
    // P-2
    link(FindingKind::NoTag, &[(0, 0, "GAP 83 80 GAP", 0)], &[(0, 0, "GAP 83 05 92 GAP", 0)]),
    // P-4
    link(FindingKind::CrcBad, &[(0, 0, "GAP 83 05 93 GAP", 0)], &[(0, 0, "GAP 83 05 92 GAP", 0)]),
    // P-5: aa has become ab.
    switch(
        FindingKind::CorruptedInTransit,
        &[
            FILL[0],
            SENT,
            FILL[1],
            FILL[2],
            (3, 0, "GO GAP", 65),
            (3, 130, "05 ab 1e GAP", 0),
            fill(3, 134),
        ],
        &[
            FILL[0],
            SENT,
            FILL[1],
            FILL[2],
            (3, 0, "GO GAP", 65),
            (3, 130, "05 aa 1e GAP", 0),
            fill(3, 134),
        ],
    ),
    // P-7: with a GAP before it it is bad.
    link(FindingKind::PartialAtStart, &[(0, 0, "05 93 GAP", 0)], &[(0, 0, "GAP 05 93 GAP", 0)]),
    // P-9
    link(FindingKind::Runt, &[(0, 0, "GAP 05 GAP", 0)], &[(0, 0, "GAP 05 1b GAP", 0)]),
    // F-1
    FindingCase {
        kind: FindingKind::OneWay,
        wires: &[LINK[0]],
        has: &[(0, 0, "GAP GO", 0)],
        nearly: &[(0, 0, "GAP GO", 0)],
    },
    // F-1, F-4: STOP is heard at 0 and obeyed at 2; a byte at 3 is too late.
    link(
        FindingKind::DataWhileStopped,
        &[(0, 0, "GAP 83 05 92 GAP", 0), (1, 0, "STOP GAP STOP GAP STOP", 0)],
        &[(0, 0, "83 05 92 GAP GO", 0), (1, 0, "STOP GAP STOP GAP STOP", 0)],
    ),
    // F-3: STOP, and no data has come; or the buffer of which that is not told is assumed.
    FindingCase {
        kind: FindingKind::UnexpectedStopGo,
        wires: &TOLD,
        has: &[(0, 0, "GO GAP", 50), (1, 0, "GO GAP", 10), (1, 20, "STOP GAP", 40)],
        nearly: &[(0, 0, "GO GAP", 50), (1, 0, "GO GAP", 50)],
    },
    link(
        FindingKind::UnlikeAssumed,
        &[(0, 0, "GO GAP", 50), (1, 0, "GO GAP", 10), (1, 20, "STOP GAP", 40)],
        &[(0, 0, "GO GAP", 50), (1, 0, "GO GAP", 50)],
    ),
    // F-4: STOP at 1, GO at 2, and STOP again 29 periods after the first, or 30 = 2h − 1 and one
    // less for the cell that a switch may take at once with a route byte (S-3).
    link(
        FindingKind::CommandsTooOften,
        &[(0, 0, "GO STOP GO×28 STOP", 0)],
        &[(0, 0, "GO STOP GO×29 STOP", 0)],
    ),
    // F-4: data goes on for 30 periods after STOP; or for none.
    FindingCase {
        kind: FindingKind::StopTooLate,
        wires: &TOLD,
        has: &[
            (0, 0, "GO GAP 05", 0),
            (0, 3, "05", 37),
            (0, 40, "GO", 60),
            (1, 0, "GO GAP", 6),
            (1, 12, "STOP GAP", 40),
        ],
        nearly: &[
            (0, 0, "GO GAP 05", 0),
            (0, 3, "05", 9),
            (0, 12, "GO", 60),
            (1, 0, "GO GAP", 6),
            (1, 12, "STOP GAP", 40),
        ],
    },
    // F-7
    link(FindingKind::OpenLink, &[(0, 0, "GAP IDLE×16", 0)], &[(0, 0, "GAP IDLE×15 GAP", 0)]),
    link(
        FindingKind::TruncatedByOpenLink,
        &[(0, 0, "GAP 83 05 IDLE×16", 0)],
        &[(0, 0, "GAP 83 05 92 GAP IDLE×16", 0)],
    ),
    link(FindingKind::SilentAtFirst, &[(0, 0, "IDLE×16 GAP", 0)], &[(0, 0, "GAP IDLE×16", 0)]),
    // F-8
    FindingCase {
        kind: FindingKind::UnexpectedFill,
        wires: &CHIP,
        has: &[(0, 0, "GAP IDLE×2 GO", 0)],
        nearly: &[(0, 0, "GAP IDLE GO", 0), (1, 0, "GAP IDLE×15 GO", 0)],
    },
    // F-9
    link(FindingKind::OverrunAlarm, &[(0, 0, "GAP ORUN GO", 0)], &[(0, 0, "GAP STOP GO", 0)]),
    // F-9: 28 bytes after STOP do not fit into 8 cells; or none comes.
    FindingCase {
        kind: FindingKind::OverrunRisk,
        wires: &TOLD,
        has: &[
            (0, 0, "GO GAP 05", 0),
            (0, 3, "05", 37),
            (0, 40, "GO", 60),
            (1, 0, "GO GAP", 6),
            (1, 12, "STOP GAP", 40),
        ],
        nearly: &[
            (0, 0, "GO GAP 05", 0),
            (0, 3, "05", 9),
            (0, 12, "GO", 60),
            (1, 0, "GO GAP", 6),
            (1, 12, "STOP GAP", 40),
        ],
    },
    // one STOP or GO may come first, and what is not declared may be any of the endings.
    FindingCase {
        kind: FindingKind::ResetNotEnded,
        wires: &CHIP,
        has: &[(0, 0, "FRES IDLE GAP", 0)],
        nearly: &[(0, 0, "FRES STOP GAP", 0), (1, 0, "FRES 83 05 GAP", 0)],
    },
    //
    link(FindingKind::ForwardReset, &[(0, 0, "GO FRES GAP", 0)], &[(0, 0, "GO BRES GAP", 0)]),
    link(FindingKind::DataInReset, &[(0, 0, "FRES 83 GAP", 0)], &[(0, 0, "FRES GAP 83", 0)]),
    //
    link(
        FindingKind::CutByReset,
        &[(0, 0, "GAP 83 05 FRES GAP", 0)],
        &[(0, 0, "GAP 83 05 92 GAP FRES GAP", 0)],
    ),
    // stopped from 0 on, and neither reset nor GO.
    link(
        FindingKind::MissingTimeout,
        &[(0, 0, "GAP GO", OVERDUE + 1), (1, 0, "STOP GAP", OVERDUE + 1)],
        &[(0, 0, "GAP GO", OVERDUE), (1, 0, "STOP GAP", OVERDUE)],
    ),
    // FRES one period after 2²², or at once.
    link(
        FindingKind::BlockedTimeout,
        &[
            (0, 0, "GAP GO", BLOCKED),
            (1, 0, "STOP GAP", BLOCKED + 2),
            (0, 2 * BLOCKED, "GAP FRES GAP", 0),
        ],
        &[
            (0, 0, "GAP GO", BLOCKED),
            (1, 0, "STOP GAP", BLOCKED + 2),
            (0, 2 * BLOCKED, "FRES GAP", 0),
        ],
    ),
    //
    link(FindingKind::BackwardReset, &[(0, 0, "GO BRES GAP", 0)], &[(0, 0, "GO FRES GAP", 0)]),
    link(
        FindingKind::ResetNotAnswered,
        &[(0, 0, "BRES", 0), (0, 1, "GAP GO", 2048), (1, 0, "GAP GO", 2049)],
        &[
            (0, 0, "BRES", 0),
            (0, 1, "GAP GO", 2048),
            (1, 0, "GAP GO", 40),
            (1, 80, "FRES GAP", 0),
            (1, 82, "GO GAP", 2000),
        ],
    ),
    //
    link(
        FindingKind::ProbeNotAnswered,
        &[(0, 0, "PRB3", 0), (0, 1, "GAP GO", 2048), (1, 0, "GAP GO", 2049)],
        &[
            (0, 0, "PRB3", 0),
            (0, 1, "GAP GO", 2048),
            (1, 0, "GAP GO", 40),
            (1, 80, "REPL2", 0),
            (1, 81, "GO GAP", 2000),
        ],
    ),
    link(
        FindingKind::UnsolicitedReply,
        &[(0, 0, "GAP GO", 9), (1, 0, "GAP GO REPL2", 0)],
        &[(0, 0, "PRB3 GO GAP", 0), (1, 0, "GAP GO REPL2", 0)],
    ),
    // S-1: nothing comes out of port 1, and then the next packet out of port 2; or both come out.
    switch(
        FindingKind::NoSuchPort,
        &[
            FILL[0],
            SENT,
            (0, 105, "82 05 bb cc 6f GAP", 0),
            (0, 111, "GO GAP", 50),
            (0, 211, "82 05 bb cc 6f GAP", 0),
            fill(0, 217),
            FILL[2],
            (2, 0, "IDLE", 1000),
            fill(3, 0),
            (5, 0, "GO GAP", 70),
            (5, 140, "05 bb cc 72 GAP", 0),
            (5, 145, "GO GAP", 50),
            (5, 245, "05 bb cc 72 GAP", 0),
            fill(5, 250),
        ],
        &[
            FILL[0],
            SENT,
            (0, 105, "82 05 bb cc 6f GAP", 0),
            (0, 111, "GO GAP", 50),
            (0, 211, "82 05 bb cc 6f GAP", 0),
            fill(0, 217),
            FILL[2],
            fill(2, 0),
            (3, 0, "GO GAP", 65),
            (3, 130, "05 aa 1e GAP", 0),
            fill(3, 134),
            (5, 0, "GO GAP", 70),
            (5, 140, "05 bb cc 72 GAP", 0),
            (5, 145, "GO GAP", 50),
            (5, 245, "05 bb cc 72 GAP", 0),
            fill(5, 250),
        ],
    ),
    // S-2
    switch(
        FindingKind::NoRoute,
        &[FILL[0], (0, 100, "05 aa 1e GAP", 0), fill(0, 104), FILL[2], fill(2, 0), fill(3, 0)],
        &[
            FILL[0],
            SENT,
            FILL[1],
            FILL[2],
            fill(2, 0),
            (3, 0, "GO GAP", 65),
            (3, 130, "05 aa 1e GAP", 0),
            fill(3, 134),
        ],
    ),
    // S-3: h0 is stopped while a packet of h2 has the output that its own asks for.
    switch(
        FindingKind::Busy,
        &[
            (4, 0, "GO GAP 81", 0),
            (4, 3, "05", 600),
            (5, 0, "GO GAP", 400),
            (3, 0, "GO GAP", 20),
            (3, 40, "05", 600),
            (0, 0, "GO GAP", 50),
            (0, 100, "81", 0),
            (0, 101, "05", 60),
            (0, 161, "GO", 400),
            (1, 0, "GO GAP", 75),
            (1, 150, "STOP GAP", 200),
            (1, 550, "GO GAP", 50),
        ],
        &[
            (4, 0, "GO GAP 81", 0),
            (4, 3, "05", 600),
            (5, 0, "GO GAP", 400),
            (3, 0, "GO GAP", 20),
            (3, 40, "05", 600),
            (0, 0, "GO GAP", 50),
            (0, 100, "81", 0),
            (0, 101, "05", 40),
            (0, 141, "GO", 400),
            fill(1, 0),
        ],
    ),
    // S-6: 45 periods from before the switch to behind it are one too many; the taps are at it.
    FindingCase {
        kind: FindingKind::SlowPath,
        wires: &SLOW,
        has: &[
            FILL[0],
            SENT,
            FILL[1],
            FILL[2],
            fill(2, 0),
            (3, 0, "GO GAP", 100),
            (3, 200, "05 aa 1e GAP", 0),
            fill(3, 204),
        ],
        nearly: &[
            FILL[0],
            SENT,
            FILL[1],
            FILL[2],
            fill(2, 0),
            (3, 0, "GO GAP", 65),
            (3, 130, "05 aa 1e GAP", 0),
            fill(3, 134),
        ],
    },
    // I-2
    switch(
        FindingKind::Misrouted,
        &[(3, 0, "05 aa 1e GAP", 2), (3, 8, "81 05 aa 7e GAP", 0), fill(3, 13), fill(2, 0)],
        &[(3, 0, "05 aa 1e GAP", 3), fill(3, 12), fill(2, 0)],
    ),
    // I-4: stopped for 402 periods, which is more than 5 µs, or for 398.
    switch(
        FindingKind::SlowHost,
        &[
            (3, 0, "GO GAP 05", 0),
            (3, 3, "GO", 600),
            (2, 0, "GO GAP", 10),
            (2, 20, "STOP GAP", 201),
            (2, 422, "GO GAP", 80),
        ],
        &[
            (3, 0, "GO GAP 05", 0),
            (3, 3, "GO", 600),
            (2, 0, "GO GAP", 10),
            (2, 20, "STOP GAP", 199),
            (2, 418, "GO GAP", 80),
        ],
    ),
    // N-2: what came to s1 wants to s0, what came to s0 wants to s1, and both are stopped; or one.
    FindingCase {
        kind: FindingKind::Deadlock,
        wires: &RING,
        has: &[
            (0, 0, "GO GAP 82 81 82 81", 0),
            (0, 6, "GO", 300),
            (2, 0, "GO GAP 81 82 81 82", 0),
            (2, 6, "GO", 300),
            (1, 0, "GO GAP", 5),
            (1, 10, "STOP GAP", 150),
            (3, 0, "GO GAP", 5),
            (3, 10, "STOP GAP", 150),
        ],
        nearly: &[
            (0, 0, "GO GAP 82 81 82 81", 0),
            (0, 6, "GO", 300),
            (2, 0, "GO GAP 81 82 81 82", 0),
            (2, 6, "GO", 300),
            (1, 0, "GO GAP", 5),
            (1, 10, "STOP GAP", 150),
            (3, 0, "GO GAP", 155),
        ],
    },
];

/// Those about the recording.
const RECORDING: &[FindingCase] = &[
    link(
        FindingKind::Hole,
        &[(0, 0, "GAP GO", 0), (0, 5, "GAP GO", 0)],
        &[(0, 0, "GAP GO", 0), (0, 2, "GAP GO", 0)],
    ),
    link(FindingKind::Repeats, &[(0, 0, "!a6 GAP", 1 << 20)], &[(0, 0, "GO GAP", 1 << 20)]),
];

/// A kind, a capture that has it, and one that nearly has it.
pub(crate) struct MadeCapture {
    /// The kind.
    pub(crate) kind: FindingKind,
    /// The capture that has it.
    pub(crate) has: Vec<u8>,
    /// The capture that nearly has it.
    pub(crate) nearly: Vec<u8>,
}

/// All of them, in order of kinds.
pub(crate) fn all() -> impl Iterator<Item = MadeCapture> {
    let made = |case: &FindingCase| {
        // What makes one way of two is that a channel is missing, whatever it carries.
        let wires = if case.kind == FindingKind::OneWay { &LINK } else { case.wires };
        let (has, nearly) = (capture(case.wires, case.has), capture(wires, case.nearly));
        MadeCapture { kind: case.kind, has, nearly }
    };
    let talks = messages::TALKS.iter().map(|(kind, has, nearly)| MadeCapture {
        kind: *kind,
        has: messages::capture(has),
        nearly: messages::capture(nearly),
    });
    CASES.iter().map(made).chain(talks).chain(RECORDING.iter().map(made))
}

/// The capture of some channels that carry this.
pub(crate) fn capture(wires: &[WireBuilder], pieces: &[WirePiece]) -> Vec<u8> {
    let channels: Vec<Channel> = wires
        .iter()
        .map(|(name, comment)| {
            let mut channel = Channel::named(*name);
            channel.apply_description(comment, &mut |field, fault| panic!("{field} {fault}"));
            channel
        })
        .collect();
    let mut file = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels).unwrap();
    // Chunks come in time, and of the same time in order of channels.
    let mut pieces = pieces.to_vec();
    pieces.sort_by_key(|(channel, first, ..)| (*first, *channel));
    for (channel, first, text, count) in &pieces {
        let chars = parse(text).unwrap();
        let content = match count {
            0 => ChunkContent::Literal(chars.chars()),
            _ => ChunkContent::Repeat { pattern: chars.chars(), count: *count },
        };
        file.write(ChannelId(*channel), &Chunk { first: Tick(*first), content }).unwrap();
    }
    file.finish().unwrap()
}
