//! What fuzzing and storms have found, each as small as it can be.

use analyzer::packet::Bytes;
use analyzer::reading::{Rows, Said};
use analyzer::timeline::{Want, What};
use codec::capture::{ByteOrder, Channel, ChannelId, Progress};
use codec::notation::parse;
use codec::tick::Tick;
use laws::plan::{Owned, write};

/// A capture of the two channels of a link; the rows of it as `channel at what`.
fn check(want: Want, lines: &[(u32, u64, &str, Option<u64>)]) -> Vec<String> {
    let channels = [Channel::named("a:0>b:0"), Channel::named("b:0>a:0")];
    let chunk = |(id, first, text, count): &(u32, u64, &str, Option<u64>)| {
        let chars = parse(text).unwrap_or_default();
        (ChannelId(*id), Owned { first: Tick(*first), chars, count: *count })
    };
    let chunks: Vec<_> = lines.iter().map(chunk).collect();
    let file = write(ByteOrder::Little, &channels, &chunks).unwrap_or_default();
    let mut rows = Rows::new(file.as_slice(), want, Bytes::Forget);
    let mut shown = Vec::new();
    let mut step = || {
        rows.step(&mut |said| {
            if let Said::Row(_, row) = said {
                let what = match &row.what {
                    What::Packet(packet) => packet.ended_by.name(),
                    What::Event(event) => event.kind(),
                    What::Detail(_) | What::Omitted { .. } => "omitted",
                };
                shown.push(format!("{} {} {what}", row.channel, row.at));
            }
        })
    };
    while matches!(step(), Ok(Progress::More)) {}
    shown
}

/// A repeat was taken for settled after its first round, whose GO said nothing new; the GO of every
/// further round follows a STOP, and does. F-2
#[test]
fn go_counts_in_every_round_that_a_stop_ends() {
    assert_eq!(
        check(Want::Events, &[(0, 0, "GO", None), (0, 1, "GO STOP", Some(3))]),
        [
            "1 2 sender-stopped",
            "1 3 sender-resumed",
            "1 4 sender-stopped",
            "1 5 sender-resumed",
            "1 6 sender-stopped"
        ]
    );
}

/// A STOP of a round still on its way came behind one of a round that was passed over. R-1, F-2
#[test]
fn after_a_reset_the_next_stop_counts() {
    assert_eq!(
        check(
            Want::Events,
            &[(0, 0, "GAP×3 FRES GAP", None), (1, 0, "STOP", None), (1, 1, "IDLE×5 STOP", Some(5)),]
        ),
        [
            "0 0 sender-stopped",
            "0 3 forward-reset",
            "0 3 sender-resumed",
            "0 4 reset-ended",
            "0 6 sender-stopped"
        ]
    );
}

/// The row of a packet that the end cut off came before or behind rows of other channels,
/// depending on how those were cut into chunks.
#[test]
fn the_order_of_rows_does_not_depend_on_chunks() {
    let packets = "83 05 92 GAP 83 05 92 GAP";
    let packet = "83 05 92 GAP";
    let whole = check(Want::Packets, &[(0, 0, "83", None), (1, 0, packets, None)]);
    let cut =
        check(Want::Packets, &[(0, 0, "83", None), (1, 0, packet, None), (1, 4, packet, None)]);
    assert_eq!(whole, cut);
}
