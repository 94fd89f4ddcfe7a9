//! Every kind of finding, with a capture that has it and one that nearly has it. Written by hand:
//! the first are shipped as `fixtures/findings`.

use analyzer::finding::Kind;
use codec::capture::{ByteOrder, Channel, ChannelId, Chunk, Content, Writer};
use codec::notation::parse;
use codec::tick::Tick;

/// A chunk: channel, first character, characters, and how often they repeat (0: literal).
pub(crate) type Piece = (u32, u64, &'static str, u64);

/// A kind of finding, and what it takes.
pub(crate) struct Case {
    /// The kind.
    pub(crate) kind: Kind,
    /// The channels of the captures.
    pub(crate) wires: &'static [Wire],
    /// What they carry that has it.
    pub(crate) has: &'static [Piece],
    /// What they carry that nearly has it.
    pub(crate) nearly: &'static [Piece],
}

/// A channel: its name, and what its comment says.
pub(crate) type Wire = (&'static str, &'static str);

/// The link a ⇄ b, tapped at a.
const LINK: [Wire; 2] = [
    ("a:0>b:0", "myrinet-channel v=1 tap=a:0 delay=1 h=16 int=2"),
    ("b:0>a:0", "myrinet-channel v=1 tap=a:0 delay=1 h=16 int=2"),
];

const fn link(kind: Kind, has: &'static [Piece], nearly: &'static [Piece]) -> Case {
    Case { kind, wires: &LINK, has, nearly }
}

/// Half of 2²²: rounds of two characters that a stop may last.
const BLOCKED: u64 = 1 << 21;
/// Half of 2¹² more: rounds after which an escape is overdue.
const OVERDUE: u64 = BLOCKED + (1 << 11);

/// All of them, in order of kinds. The CRC of 83 05 is 92, of 83 it is 80, of 05 it is 1b.
pub(crate) const CASES: &[Case] = &[
    // C-4: 04 is 0C without a 1.
    link(Kind::CorrectedCode, &[(0, 0, "GO GAP!04", 0)], &[(0, 0, "GO GAP", 0)]),
    // C-5
    link(Kind::InvalidCode, &[(0, 0, "GO !a6 GAP", 0)], &[(0, 0, "GO IDLE GAP", 0)]),
    // P-2
    link(Kind::NoTag, &[(0, 0, "GAP 83 80 GAP", 0)], &[(0, 0, "GAP 83 05 92 GAP", 0)]),
    // P-4
    link(Kind::CrcBad, &[(0, 0, "GAP 83 05 93 GAP", 0)], &[(0, 0, "GAP 83 05 92 GAP", 0)]),
    // P-7: with a GAP before it, it is bad.
    link(Kind::BegunBefore, &[(0, 0, "05 93 GAP", 0)], &[(0, 0, "GAP 05 93 GAP", 0)]),
    // P-9
    link(Kind::Runt, &[(0, 0, "GAP 05 GAP", 0)], &[(0, 0, "GAP 05 1b GAP", 0)]),
    // F-1
    Case {
        kind: Kind::OneWay,
        wires: &[LINK[0]],
        has: &[(0, 0, "GAP GO", 0)],
        nearly: &[(0, 0, "GAP GO", 0)],
    },
    // F-1, F-4: STOP is heard at 0 and obeyed at 2; a byte at 3 is too late.
    link(
        Kind::DataWhileStopped,
        &[(0, 0, "GAP 83 05 92 GAP", 0), (1, 0, "STOP GAP STOP GAP STOP", 0)],
        &[(0, 0, "83 05 92 GAP GO", 0), (1, 0, "STOP GAP STOP GAP STOP", 0)],
    ),
    // F-4: STOP at 1, GO at 2, and STOP again 30 periods after the first, or 31 = 2h − 1.
    link(
        Kind::CommandsTooOften,
        &[(0, 0, "GO STOP GO×29 STOP", 0)],
        &[(0, 0, "GO STOP GO×30 STOP", 0)],
    ),
    // F-7
    link(Kind::OpenLink, &[(0, 0, "GAP IDLE×16", 0)], &[(0, 0, "GAP IDLE×15 GAP", 0)]),
    link(
        Kind::CutBySilence,
        &[(0, 0, "GAP 83 05 IDLE×16", 0)],
        &[(0, 0, "GAP 83 05 92 GAP IDLE×16", 0)],
    ),
    link(Kind::SilentAtFirst, &[(0, 0, "IDLE×16 GAP", 0)], &[(0, 0, "GAP IDLE×16", 0)]),
    // F-8
    link(Kind::UnlikeFill, &[(0, 0, "GAP IDLE×2 GO", 0)], &[(0, 0, "GAP IDLE GO", 0)]),
    // F-9
    link(Kind::OverrunAlarm, &[(0, 0, "GAP ORUN GO", 0)], &[(0, 0, "GAP STOP GO", 0)]),
    // one STOP or GO may come first.
    link(Kind::ResetNotEnded, &[(0, 0, "FRES IDLE GAP", 0)], &[(0, 0, "FRES STOP GAP", 0)]),
    //
    link(Kind::ForwardReset, &[(0, 0, "GO FRES GAP", 0)], &[(0, 0, "GO BRES GAP", 0)]),
    link(Kind::DataInReset, &[(0, 0, "FRES 83 GAP", 0)], &[(0, 0, "FRES GAP 83", 0)]),
    //
    link(
        Kind::CutByReset,
        &[(0, 0, "GAP 83 05 FRES GAP", 0)],
        &[(0, 0, "GAP 83 05 92 GAP FRES GAP", 0)],
    ),
    // stopped from 0 on, and neither reset nor GO.
    link(
        Kind::NoEscape,
        &[(0, 0, "GAP GO", OVERDUE + 1), (1, 0, "STOP GAP", OVERDUE + 1)],
        &[(0, 0, "GAP GO", OVERDUE), (1, 0, "STOP GAP", OVERDUE)],
    ),
    // FRES one period after 2²², or at once.
    link(
        Kind::BlockedTimeout,
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
    link(Kind::BackwardReset, &[(0, 0, "GO BRES GAP", 0)], &[(0, 0, "GO FRES GAP", 0)]),
    link(
        Kind::ResetNotAnswered,
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
        Kind::ProbeNotAnswered,
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
        Kind::ReplyUnasked,
        &[(0, 0, "GAP GO", 9), (1, 0, "GAP GO REPL2", 0)],
        &[(0, 0, "PRB3 GO GAP", 0), (1, 0, "GAP GO REPL2", 0)],
    ),
    // The recording.
    link(
        Kind::Hole,
        &[(0, 0, "GAP GO", 0), (0, 5, "GAP GO", 0)],
        &[(0, 0, "GAP GO", 0), (0, 2, "GAP GO", 0)],
    ),
    link(Kind::Repeats, &[(0, 0, "!a6 GAP", 1 << 20)], &[(0, 0, "GO GAP", 1 << 20)]),
];

/// Kinds that the network's storey finds.
pub(crate) const BY_NETWORK: &[Kind] = &[
    Kind::Merged,
    Kind::CutOnTheWay,
    Kind::HurtOnTheWay,
    Kind::NoSuchPort,
    Kind::NoRoute,
    Kind::Busy,
    Kind::SlowPath,
    Kind::Misrouted,
    Kind::SlowHost,
    Kind::Deadlock,
];

/// The capture of some channels that carry this.
pub(crate) fn capture(wires: &[Wire], pieces: &[Piece]) -> Vec<u8> {
    let channels: Vec<Channel> = wires
        .iter()
        .map(|(name, comment)| {
            let mut channel = Channel::named(*name);
            channel.describe(comment, &mut |field, fault| panic!("{field} {fault}"));
            channel
        })
        .collect();
    let mut file = Writer::new(Vec::new(), ByteOrder::Little, &channels).unwrap();
    // Chunks come in time, and of the same time in order of channels.
    let mut pieces = pieces.to_vec();
    pieces.sort_by_key(|(channel, first, ..)| (*first, *channel));
    for (channel, first, text, count) in &pieces {
        let chars = parse(text).unwrap();
        let content = match count {
            0 => Content::Literal(chars.chars()),
            _ => Content::Repeat { pattern: chars.chars(), count: *count },
        };
        file.write(ChannelId(*channel), &Chunk { first: Tick(*first), content }).unwrap();
    }
    file.finish().unwrap()
}
