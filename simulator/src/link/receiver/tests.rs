use super::stored::StoredFront;
use super::*;
use crate::link::SlackSize;
use crate::node::{NodeId, NodePort};
use crate::truth::{TraceLevel, TruthLog};
use codec::packet::CrcCheck;
use codec::route::PortId;

/// A receiver with `k_g` = 2, h = 2, `k_s` = 2, and its truth log.
struct ReceiverBench {
    receiver: PortReceiver,
    log: TruthLog,
    slot: u64,
}

impl ReceiverBench {
    fn new(symbols: SymbolSet) -> Self {
        let slack = SlackSize { go_slack: 2, hysteresis: 2, stop_slack: 2 };
        let link = PortParameters { slack, symbols, ..PortParameters::default() };
        let receiver = PortReceiver::new(&link, Some(Box::default()));
        Self { receiver, log: TruthLog::new(TraceLevel::Everything), slot: 0 }
    }

    /// Receives characters; returns their effects other than none.
    fn receive(&mut self, text: &str) -> Vec<(u64, PortRequest)> {
        let mut requests = Vec::new();
        for character in codec::notation::parse(text).unwrap().chars().iter() {
            let cell = TaggedChar::of(character);
            let quick = self.receiver.receive_simple(cell, StopGo::Go);
            let request = quick.unwrap_or_else(|| {
                self.at(self.slot, |receiver, trace| receiver.receive(cell, None, trace))
            });
            if request != PortRequest::Nothing && request != PortRequest::Command(StopGo::Go) {
                requests.push((self.slot, request));
            }
            self.slot += 1;
        }
        requests
    }

    /// Calls the receiver in a period.
    fn at<T>(
        &mut self,
        now: u64,
        act: impl FnOnce(&mut PortReceiver, &mut TraceContext<'_>) -> T,
    ) -> T {
        let place = NodePort { node: NodeId(0), port: PortId(0) };
        let log = &mut self.log;
        act(&mut self.receiver, &mut TraceContext { now, slot: now, place, log })
    }

    /// Receives the first character of a packet.
    fn receive_head(&mut self, now: u64, cell: TaggedChar, id: PacketId) {
        self.at(now, |receiver, trace| receiver.receive(cell.as_head(), Some(id), trace));
    }

    /// Takes characters from the slack buffer.
    fn take(&mut self, cells: usize) -> String {
        let taken = std::iter::from_fn(|| self.receiver.take()).take(cells);
        taken.map(|(cell, _)| cell.character()).collect::<codec::CharBuf>().to_string()
    }

    fn events(&mut self) -> Vec<(u64, &'static str)> {
        self.log.drain().map(|row| (row.at, row.kind.name())).collect()
    }

    fn commands(&mut self, periods: usize) -> Vec<Option<StopGo>> {
        (0..periods).map(|_| self.receiver.due()).collect()
    }
}

#[test]
fn the_mark_follows_its_data_and_redundant_gaps_take_no_cell() {
    // F-5, P-7, P-8
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    assert_eq!(bench.receive("GAP GAP 83 GO 05 IDLE GAP GAP GO GAP"), []);
    assert_eq!(bench.receiver.fill(), 3);
    assert_eq!(bench.take(9), "83 05 GAP");
}

#[test]
fn a_rise_to_the_upper_threshold_is_stop_and_a_fall_to_the_lower_go() {
    // F-3: r − k_s = 4, k_g = 2; out two periods later, F-4.
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    bench.receive("83 05 01");
    assert_eq!(bench.commands(3), [None; 3]);
    bench.receive("02");
    assert_eq!(bench.commands(4), [None, None, Some(StopGo::Stop), None]);
    // Down to 3 and up to 4 again: no STOP is said twice.
    bench.take(1);
    bench.receive("03");
    assert_eq!(bench.commands(4), [None; 4]);
    bench.take(2);
    assert_eq!(bench.receiver.fill(), 2);
    bench.receive("GO");
    assert_eq!(bench.commands(4), [None, None, Some(StopGo::Go), None]);
    assert_eq!(bench.events(), [(3, "threshold"), (5, "threshold")]);
}

/// F-3: STOP at 4, GO at 2. Behind a whole packet the sender is stopped with 3 bytes of the next one there, which it goes on
/// with only when there are fewer. B-2
#[test]
fn a_packet_that_cannot_be_stored_whole_is_told_from_one_that_comes() {
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    bench.receive("83 05 01");
    assert_eq!(bench.receiver.stored(), StoredFront::Part);
    bench.receive("02");
    assert_eq!(bench.receiver.stored(), StoredFront::TooLong);
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    bench.receive("83 GAP 05 01 02");
    assert_eq!(bench.receiver.stored(), StoredFront::Whole(CrcCheck::Runt));
    assert_eq!(bench.take(2), "83 GAP");
    assert_eq!(bench.receiver.stored(), StoredFront::TooLong);
    bench.take(1);
    assert_eq!(bench.receiver.stored(), StoredFront::Part);
}

#[test]
fn characters_that_meet_a_full_slack_buffer_are_lost_and_reported() {
    // F-9: six cells. A lost mark joins two packets.
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    assert_eq!(
        bench.receive("83 01 02 03 04 05 06 GAP"),
        [(6, PortRequest::Overflow), (7, PortRequest::Overflow)]
    );
    assert_eq!(
        bench.events(),
        [(3, "threshold"), (6, "overflow"), (7, "overflow"), (7, "received")]
    );
    assert_eq!(bench.take(9), "83 01 02 03 04 05");
}

#[test]
fn sixteen_silent_periods_end_the_packet_and_open_the_link() {
    // F-7: the 16th in a row, periods 2 to 17.
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    assert_eq!(bench.receive("83 05 IDLE×15"), []);
    assert_eq!(bench.receive("IDLE×20"), [(17, PortRequest::LinkOpen)]);
    assert!(bench.receiver.is_open());
    assert_eq!(bench.take(9), "83 05 GAP");
    bench.receive("GAP");
    assert_eq!((bench.receiver.is_open(), bench.receiver.fill()), (false, 0), "F-5");
    let events = bench.events();
    assert_eq!(
        events,
        [(17, "truncated"), (17, "received"), (17, "open-link"), (37, "link-restored")]
    );
}

/// W-6: of 15 own periods the first had a character, so the second one after them is the 16th without.
#[test]
fn a_silence_that_was_slept_is_counted_from_the_last_character() {
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    bench.receiver = bench.receiver.clone().with_own_time();
    bench.receiver.pass_time(1, 15);
    let ticks = [20, 21].map(|now| bench.at(now, PortReceiver::tick));
    assert_eq!(ticks, [PortRequest::Nothing, PortRequest::LinkOpen]);
}

#[test]
fn a_reset_empties_the_buffer_and_drops_data_up_to_a_gap() {
    // STOP and GO are heard all the same; f falls to 0, so GO is due.
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    bench.receive("83 01 02 03");
    assert_eq!(bench.commands(3), [None, None, Some(StopGo::Stop)]);
    assert_eq!(
        bench.receive("FRES 04 STOP 05 GAP 83 GAP"),
        [(4, PortRequest::Reset), (6, PortRequest::Command(StopGo::Stop))]
    );
    assert_eq!(bench.commands(3), [None, None, Some(StopGo::Go)]);
    assert_eq!(bench.take(9), "83 GAP");
}

#[test]
fn optional_symbols_are_reported_but_take_effect_only_where_supported() {
    // C-3, C-4, C-5
    let text = "BRES PRB3 REPL5 ORUN GO!01 !a6 BRES!1c";
    let reply = PortRequest::Reply(ReplyStatus::new(5).unwrap());
    assert_eq!(ReceiverBench::new(SymbolSet::Mandatory).receive(text), [(2, reply)]);
    let mut bench = ReceiverBench::new(SymbolSet::All);
    let probe = PortRequest::Probe(ProbeNumber::new(3).unwrap());
    assert_eq!(
        bench.receive(text),
        [(0, PortRequest::BackwardReset), (1, probe), (2, reply), (6, PortRequest::BackwardReset)]
    );
    assert_eq!(
        bench.events(),
        [
            (0, "backward-reset"),
            (1, "probe"),
            (3, "overrun-alarm"),
            (4, "corrected-code"),
            (5, "invalid-code"),
            (6, "corrected-code"),
            (6, "backward-reset")
        ]
    );
}

#[test]
fn a_packet_whose_first_byte_is_lost_begins_with_the_next() {
    let id = PacketId { host: NodeId(7), number: 0 };
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    // Its wire d was open: a control code came, and then the rest.
    bench.receive_head(0, TaggedChar::control(0x83), id);
    bench.receive("05 GAP");
    assert_eq!(bench.receiver.take(), Some((TaggedChar::data(5).as_head(), Some(id))));
    // If all of it is lost, the packet is.
    bench.receive_head(9, TaggedChar::control(0x83), id);
    bench.events();
    bench.receive("GAP");
    assert_eq!(bench.events().last(), Some(&(2, "dropped")));
}

/// A receiver without trace, after some characters.
fn after(text: &str) -> ReceiverBench {
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    bench.receiver.trace = Box::default();
    bench.receiver.trace_need = TraceNeed::Nothing;
    bench.receive(text);
    bench
}

/// GO, STOP, GAP, IDLE, a byte, the first byte of a packet, BRES, a weakened GO, an invalid code.
const ALL: [(&str, TaggedChar); 9] = [
    ("GO", TaggedChar::control(0x03)),
    ("STOP", TaggedChar::control(0x0f)),
    ("GAP", TaggedChar::GAP),
    ("IDLE", TaggedChar::IDLE),
    ("byte", TaggedChar::data(7)),
    ("head", TaggedChar::data(7).as_head()),
    ("BRES", TaggedChar::control(0x3c)),
    ("weak", TaggedChar::control(0x01)),
    ("none", TaggedChar::control(0xa6)),
];

/// The characters that the simple path handles, with the same result as the full one.
fn passing(bench: &ReceiverBench, command: StopGo) -> String {
    let simple = |(name, cell): &(&'static str, TaggedChar)| {
        let (mut quick, mut slow) = (bench.receiver.clone(), bench.receiver.clone());
        quick.receive_simple(*cell, command)?;
        let place = NodePort { node: NodeId(0), port: PortId(0) };
        let mut log = TruthLog::new(TraceLevel::Everything);
        slow.receive(*cell, None, &mut TraceContext { now: 0, slot: 0, place, log: &mut log });
        assert_eq!((format!("{quick:?}"), log.drain().count()), (format!("{slow:?}"), 0));
        Some(*name)
    };
    ALL.iter().filter_map(simple).collect::<Vec<_>>().join(" ")
}

#[test]
fn fill_and_bytes_within_a_packet_take_the_simple_path() {
    use StopGo::{Go, Stop};
    // Between packets; the command that was heard last is only said again. F-8
    assert_eq!([passing(&after(""), Go), passing(&after(""), Stop)], ["GO GAP", "STOP GAP"]);
    assert_eq!(passing(&after("IDLE×15"), Go), "GO GAP");
    // Within a packet, while there is ease: STOP is due at four cells. F-3
    assert_eq!(passing(&after("83 05"), Go), "GO byte");
    assert_eq!(passing(&after("83 05 IDLE×3"), Stop), "STOP byte");
    assert_eq!(passing(&after("83 05 06"), Go), "GO");
    assert_eq!(passing(&after("83 05 06 07"), Go), "GO");
    // GO is due in the period after the buffer has fallen to two. F-3
    let mut fallen = after("83 05 06 07");
    fallen.take(2);
    assert_eq!(passing(&fallen, Go), "");
    // In a reset GAP ends it. R-2
    assert_eq!(passing(&after("FRES"), Go), "GO");
    // On an open link all but silence is news. F-7
    assert_eq!(passing(&after("IDLE×16"), Go), "IDLE");
    // Bytes that are accounted for are not, nor GAP where a packet has lost its first byte.
    let mut accounting = ReceiverBench::new(SymbolSet::Mandatory);
    accounting.receive("83 05");
    assert_eq!(passing(&accounting, Go), "GO");
    let mut headless = after("");
    headless.receiver.trace_need = TraceNeed::Framing;
    assert_eq!(passing(&headless, Go), "");
}

fn ignores(
    receiver: &PortReceiver,
    pair: [TaggedChar; 2],
    command: StopGo,
    level: TraceLevel,
) -> bool {
    receiver.stays_calm(pair.into_iter())
        && pair.iter().all(|cell| receiver.ignores(*cell, command, level))
}

/// The characters that are ignored when they alternate with this one.
fn ignored(bench: &ReceiverBench, one: &str, command: StopGo, level: TraceLevel) -> String {
    let one = ALL.iter().find(|(name, _)| *name == one).unwrap().1;
    let ignored = |(name, cell): &(&'static str, TaggedChar)| {
        let pairs = [[one, *cell], [*cell, one]];
        let ignores = |pair: &[TaggedChar; 2]| ignores(&bench.receiver, *pair, command, level);
        pairs.iter().any(ignores).then_some(*name)
    };
    ALL.iter().filter_map(ignored).collect::<Vec<_>>().join(" ")
}

#[test]
fn only_fill_and_unreported_characters_are_ignored() {
    use StopGo::{Go, Stop};
    use TraceLevel::{Everything, Nothing};
    let fresh = after("");
    assert_eq!(ignored(&fresh, "GO", Go, Everything), "GO GAP IDLE");
    assert_eq!(ignored(&fresh, "STOP", Stop, Everything), "STOP GAP IDLE");
    assert_eq!(ignored(&fresh, "STOP", Go, Everything), "");
    assert_eq!(ignored(&fresh, "GO", Stop, Everything), "");
    // Codes that are weakened, or none, are told. C-4, C-5
    assert_eq!(ignored(&fresh, "GAP", Go, Nothing), "GO GAP IDLE weak none");
    assert_eq!(ignored(&fresh, "GAP", Stop, Nothing), "STOP GAP IDLE none");
    // Within a packet and in a reset GAP ends it.
    assert_eq!(ignored(&after("83 05"), "GO", Go, Everything), "GO IDLE");
    assert_eq!(ignored(&after("FRES"), "GO", Go, Everything), "GO IDLE");
    // GO is due. F-3
    let mut fallen = after("83 05 06 07");
    assert_eq!(ignored(&fallen, "GO", Go, Everything), "GO IDLE");
    fallen.take(2);
    assert_eq!(ignored(&fallen, "GO", Go, Everything), "");
    let mut headless = after("");
    headless.receiver.trace_need = TraceNeed::Framing;
    assert_eq!(ignored(&headless, "GO", Go, Everything), "GO IDLE");
}

#[test]
fn a_silence_under_way_is_not_ignored() {
    // F-7: 16 silent periods in a row are news, and so is what ends them.
    let silence = |text, one| ignored(&after(text), one, StopGo::Go, TraceLevel::Everything);
    assert_eq!(silence("IDLE GO", "GO"), "GO GAP IDLE");
    // Another one right behind it would be the second of two.
    assert_eq!(silence("IDLE", "GO"), "IDLE");
    let [go, idle] = [TaggedChar::control(3), TaggedChar::IDLE];
    let next = |pair| ignores(&after("IDLE").receiver, pair, StopGo::Go, TraceLevel::Everything);
    assert_eq!([next([go, idle]), next([idle, go])], [true, false]);
    assert_eq!(silence("IDLE IDLE", "GO"), "");
    assert_eq!(silence("IDLE IDLE", "IDLE"), "");
    assert_eq!(silence("IDLE×16", "GO"), "");
    assert_eq!(silence("IDLE×16", "IDLE"), "IDLE");
}

#[test]
fn the_last_ignored_period_counts() {
    // F-7
    let open_after = |last: TaggedChar| {
        let mut bench = after("IDLE");
        bench.receiver.skip_ignored(last);
        bench.receive("IDLE×20").first().copied()
    };
    assert_eq!(open_after(TaggedChar::GAP), Some((16, PortRequest::LinkOpen)));
    assert_eq!(open_after(TaggedChar::IDLE), Some((15, PortRequest::LinkOpen)));
    let mut open = after("IDLE×16");
    open.receiver.skip_ignored(TaggedChar::IDLE);
    assert!(open.receiver.is_open());
}

#[test]
fn power_on_resets_the_receiver() {
    let mut bench = ReceiverBench::new(SymbolSet::All);
    bench.receive("83 05 06 07 08");
    let receiver = &bench.receiver;
    assert_eq!((receiver.last_command(), receiver.is_calm()), (StopGo::Stop, false));
    assert_eq!((receiver.fill(), receiver.fill_max()), (5, 5));
    assert!(receiver.is_receiving() && receiver.symbols() == SymbolSet::All);
    assert_eq!(receiver.peek(4), Some(TaggedChar::data(8)));
    bench.events();
    bench.at(9, PortReceiver::power_up);
    let receiver = &bench.receiver;
    assert_eq!((receiver.last_command(), receiver.is_calm()), (StopGo::Go, true));
    assert_eq!((receiver.fill(), receiver.fill_max(), receiver.is_receiving()), (0, 5, false));
    assert_eq!(bench.events(), [(9, "received")]);
    // The silence begins anew, too. F-7
    assert_eq!(bench.receive("IDLE×20"), [(20, PortRequest::LinkOpen)]);
}

#[test]
fn the_frame_being_received_is_reported_at_the_end_of_the_run() {
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    bench.receive("83 05");
    bench.at(2, PortReceiver::finish);
    assert_eq!(bench.events(), [(2, "received")]);
}

#[test]
fn packets_are_counted_by_where_they_begin() {
    let mut bench = ReceiverBench::new(SymbolSet::Mandatory);
    for number in 0..3 {
        // Of the last one the first byte is lost.
        let cell = if number < 2 { TaggedChar::data(5) } else { TaggedChar::control(0x05) };
        bench.receive_head(0, cell, PacketId { host: NodeId(7), number });
    }
    assert_eq!(bench.receiver.heads(), 3);
    bench.take(1);
    assert_eq!(bench.receiver.heads(), 2);
}
