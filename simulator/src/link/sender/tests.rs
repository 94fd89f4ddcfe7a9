use super::*;
use crate::node::{NodeId, NodePort};
use crate::truth::{TraceLevel, TruthLog};
use codec::route::PortId;
use codec::time::Ticks;
use codec::{CharBuf, Character};

/// An input of the sender.
#[derive(Clone, Copy)]
enum NextAction {
    Hear(StopGo),
    Due(StopGo),
    Order(Symbol),
    Sever,
    PowerUp,
}

/// The characters sent, with a source that has `text` from period `from` on.
fn check(periods: u64, text: &str, from: u64, script: &[(u64, NextAction)]) -> String {
    check_as(PortParameters::default(), periods, (text, from), script)
}

/// Checks a sender with other variants than Myricom's.
fn check_as(
    port: PortParameters,
    periods: u64,
    (text, from): (&str, u64),
    script: &[(u64, NextAction)],
) -> String {
    let port = PortParameters { blocked: Ticks(10), ..port };
    let mut sender = PortSender::new(&port, None);
    let text = codec::notation::parse(text).unwrap();
    let mut source = text.chars().iter().peekable();
    let mut log = TruthLog::new(TraceLevel::Everything);
    let mut sent = CharBuf::new();
    let place = NodePort { node: NodeId(0), port: PortId(0) };
    for slot in 0..periods {
        let trace = &mut TraceContext { now: slot, slot, place, log: &mut log };
        let mut due = None;
        for (_, then) in script.iter().filter(|(at, _)| *at == slot) {
            match then {
                NextAction::Hear(command) => sender.command(*command, trace),
                NextAction::Due(command) => due = Some(*command),
                NextAction::Order(symbol) => sender.queue_symbol(*symbol),
                NextAction::Sever => sender.sever(),
                NextAction::PowerUp => sender.power_up(trace),
            }
        }
        let quick = if due.is_none() && slot < from { sender.idle(slot) } else { None };
        let cell = quick.unwrap_or_else(|| match sender.decide(due, trace) {
            SendDecision::Send(cell) => cell,
            SendDecision::Request(mode) => {
                let item = match (source.peek().copied(), mode) {
                    _ if slot < from => SourceItem::Nothing,
                    (Some(Character::Data(_)), AcceptMode::Framing) | (None, _) => {
                        SourceItem::Nothing
                    }
                    (Some(_), AcceptMode::Nothing) => SourceItem::Nothing,
                    (Some(Character::Data(byte)), AcceptMode::All | AcceptMode::Discard) => {
                        SourceItem::Data(TaggedChar::data(byte), None)
                    }
                    // IDLE stands for a period in which the source has nothing.
                    (Some(Character::IDLE), _) => SourceItem::Nothing,
                    (Some(Character::Control(_)), _) => SourceItem::Mark,
                };
                if item != SourceItem::Nothing || source.peek() == Some(&Character::IDLE) {
                    source.next();
                }
                sender.send(item, trace)
            }
        });
        sender.note_sent(cell, trace);
        sent.push(cell.character());
    }
    sent.to_string()
}

#[test]
fn fill_is_go_and_gap_in_turn_and_go_inside_a_packet() {
    // F-8. Power-up counts as after a GAP, so GO comes first; so it does after a packet's GAP.
    assert_eq!(check(6, "", 0, &[]), "(GO GAP)×3");
    assert_eq!(check(8, "83 05 92 GAP", 2, &[]), "GO GAP 83 05 92 GAP GO GAP");
    assert_eq!(check(8, "83 IDLE IDLE 05 92 GAP", 1, &[]), "GO 83 GO GO 05 92 GAP GO");
}

#[test]
fn stop_holds_data_two_periods_later_but_not_the_gap() {
    use StopGo::{Go, Stop};
    // Heard in period 2, obeyed in period 4; GO heard in 6, obeyed in 8. F-1, F-4
    let script = [(2, NextAction::Hear(Stop)), (6, NextAction::Hear(Go))];
    assert_eq!(check(11, "83 05 01 02 92 GAP", 0, &script), "83 05 01 02 GO×4 92 GAP GO");
    // All bytes are out when STOP is obeyed: framing is not data.
    assert_eq!(check(6, "83 05 01 92 GAP", 0, &script), "83 05 01 92 GAP GO");
}

#[test]
fn commands_go_before_symbols_and_symbols_before_data() {
    // F-6. The fill after it repeats the command that was sent. F-8
    let script = [
        (1, NextAction::Due(StopGo::Stop)),
        // Ordered again while it waits, it says nothing new.
        (1, NextAction::Order(Symbol::OverrunAlarm)),
        (1, NextAction::Order(Symbol::OverrunAlarm)),
        (6, NextAction::Due(StopGo::Go)),
    ];
    assert_eq!(check(10, "83 05 IDLE 92 GAP", 0, &script), "83 STOP ORUN 05 STOP 92 GO GAP GO GAP");
}

#[test]
fn a_forward_reset_drops_the_rest_of_the_packet() {
    // FRES, GAP, then nothing of 05 92; the next packet is whole.
    let reset = [(2, NextAction::Order(Symbol::ForwardReset))];
    assert_eq!(
        check(12, "83 01 02 05 92 GAP 83 07 GAP", 0, &reset),
        // 02 05 92 GAP are consumed in periods 4 to 7, while fill goes out.
        "83 01 FRES GAP GO GAP GO GAP 83 07 GAP GO"
    );
    // Between packets too; and the GAP waits for a STOP or GO that is due.
    let script = [(1, NextAction::Order(Symbol::ForwardReset)), (2, NextAction::Due(StopGo::Stop))];
    assert_eq!(check(6, "", 0, &script), "GO FRES STOP GAP STOP GAP");
}

#[test]
fn a_reset_releases_a_stopped_sender() {
    // stopped from period 3 on, it sends FRES in period 5, and is in GO.
    let script =
        [(1, NextAction::Hear(StopGo::Stop)), (5, NextAction::Order(Symbol::ForwardReset))];
    assert_eq!(
        check(11, "83 01 02 92 GAP 83 GAP", 0, &script),
        "83 01 02 GO GO FRES GAP GO GAP 83 GAP"
    );
    // A STOP that it has heard and not obeyed yet is forgotten: it would stop in period 6.
    let script =
        [(4, NextAction::Hear(StopGo::Stop)), (5, NextAction::Order(Symbol::ForwardReset))];
    assert_eq!(
        check(11, "83 01 02 03 04 92 GAP 83 GAP", 0, &script),
        "83 01 02 03 04 FRES GAP GO GAP 83 GAP"
    );
}

#[test]
fn a_sender_that_is_stopped_for_too_long_resets() {
    // R-4 with 10 periods: it has been sending this packet since period 0, so in period 10 that
    // is too long; and it is stopped, so it resets. Data would go on in period 3.
    let script = [(1, NextAction::Hear(StopGo::Stop))];
    assert_eq!(check(14, "83 01 02 92 GAP", 0, &script), "83 01 02 GO×7 FRES GAP GO GAP");
    // Without a packet it has been stopped in periods 3 to 12, whatever is said again.
    let script = [1, 2, 9].map(|at| (at, NextAction::Hear(StopGo::Stop)));
    assert_eq!(check(14, "", 0, &script), "(GO GAP)×6 GO FRES");
}

#[test]
fn a_packet_that_takes_too_long_ends_with_a_gap() {
    // R-4 with 10 periods: its first byte goes out in period 1, the GAP in period 11; the rest,
    // which comes at last, is consumed and not sent, the next packet is.
    let idle = "IDLE ".repeat(13);
    assert_eq!(
        check(21, &format!("83 05 {idle} 92 GAP 83 07 GAP"), 1, &[]),
        "GO 83 05 GO×8 (GAP GO)×4 83 07"
    );
}

#[test]
fn a_sender_without_its_source_ends_what_it_has_sent() {
    // R-3, at the output of a switch whose input was reset.
    assert_eq!(check(5, "83 05", 0, &[(2, NextAction::Sever)]), "83 05 GAP GO GAP");
    assert_eq!(check(3, "", 0, &[(1, NextAction::Sever)]), "GO GAP GO");
}

#[test]
fn power_that_comes_back_ends_what_was_cut_short() {
    let script = [(1, NextAction::Hear(StopGo::Stop)), (5, NextAction::PowerUp)];
    assert_eq!(check(8, "83 01 02 92 GAP", 0, &script[..1]), "83 01 02 GO×5");
    assert_eq!(check(8, "83 01 02", 0, &script), "83 01 02 GO GO GAP GO GAP");
}

/// The events of a sender with a frame tracker, after one byte of a packet.
fn events(after: impl FnOnce(&mut PortSender, &mut TraceContext<'_>)) -> Vec<String> {
    let mut sender = PortSender::new(&PortParameters::default(), Some(Box::default()));
    let mut log = TruthLog::new(TraceLevel::Everything);
    let place = NodePort { node: NodeId(0), port: PortId(0) };
    let trace = &mut TraceContext { now: 5, slot: 5, place, log: &mut log };
    sender.send(SourceItem::Data(TaggedChar::data(0x83), None), trace);
    after(&mut sender, trace);
    let what = |what| {
        if let TruthEventKind::Sent(frame) = what {
            format!("{}..{} {}", frame.start, frame.end, frame.ended_by.name())
        } else if let TruthEventKind::Commanded(command) = what {
            format!("{command:?}").to_uppercase()
        } else {
            what.name().to_owned()
        }
    };
    log.drain().map(|row| what(row.kind)).collect()
}

#[test]
fn the_frame_being_sent_is_reported_at_the_end_of_the_run_or_without_power() {
    assert_eq!(events(PortSender::finish), ["5..5 capture-end"]);
    let silent = events(|sender, trace| {
        sender.fell_silent(trace);
        assert_eq!(sender.sending(), SendState::Between);
    });
    assert_eq!(silent, ["5..5 open-link"]);
    // The GAP behind FRES ends the reset, and no further one does. R-1
    let reset = events(|sender, trace| {
        sender.queue_symbol(Symbol::ForwardReset);
        for _ in 0..2 {
            let SendDecision::Send(cell) = sender.decide(None, trace) else { return };
            sender.note_sent(cell, trace);
        }
        sender.note_sent(TaggedChar::END, trace);
    });
    assert_eq!(reset, ["truncated", "5..5 reset", "symbol-sent", "reset-closed"]);
}

#[test]
fn other_fills_leave_16_periods_without_a_sign_of_life_nowhere() {
    // F-8. Between packets, within one, and between packets again.
    let filled = |fill| {
        let port = PortParameters { fill, ..PortParameters::default() };
        check_as(port, 16, ("83 IDLE×6 GAP", 5), &[(8, NextAction::Due(StopGo::Stop))])
    };
    assert_eq!(filled(FillMode::Commands), "GO×5 83 GO GO STOP×5 GAP STOP STOP");
    assert_eq!(filled(FillMode::Gaps), "GAP×5 83 GO GO STOP×5 GAP GAP GAP");
    // Of periods 0, 4, 8 and 12.
    assert_eq!(
        filled(FillMode::Idle(4)),
        "GO IDLE IDLE IDLE GO 83 IDLE IDLE STOP IDLE IDLE IDLE STOP GAP IDLE IDLE"
    );
    for every in 2..=15 {
        let port = PortParameters { fill: FillMode::Idle(every), ..PortParameters::default() };
        let text = codec::notation::parse(&check_as(port, 200, ("", 200), &[])).unwrap();
        let silent = text.chars().iter().fold((0, 0), |(now, most), character| match character {
            Character::IDLE => (now + 1, most.max(now + 1)),
            Character::Control(_) | Character::Data(_) => (0, most),
        });
        assert_eq!(silent.1, every - 1);
    }
}

#[test]
fn a_sender_may_go_on_after_fres() {
    // R-1 (a): FRES within a packet, whose own GAP ends the reset; the sender is in GO.
    let port = PortParameters { reset: ResetEnding::NextGap, ..PortParameters::default() };
    let fres = |at| [(at, NextAction::Order(Symbol::ForwardReset))];
    assert_eq!(check_as(port, 7, ("83 05 92 GAP", 1), &fres(3)), "GO 83 05 FRES 92 GAP GO");
    // (b): between packets, where fill has a GAP next, or a packet comes first.
    assert_eq!(check_as(port, 6, ("", 9), &fres(2)), "GO GAP FRES GAP GO GAP");
    assert_eq!(check_as(port, 6, ("83 92 GAP", 1), &fres(1)), "GO FRES 83 92 GAP GO");
    // stopped, and ten periods in its packet, it resets, and goes on with the packet.
    let stopped = [(0, NextAction::Hear(StopGo::Stop))];
    let text = ("83 05 92 GAP", 1);
    assert_eq!(check_as(port, 15, text, &stopped), "GO 83 GO×9 FRES 05 92 GAP");
    // After ten periods more GAP ends it, and the rest is discarded.
    let slow = ("83 IDLE×20 05 GAP 06 GAP", 1);
    let text = check_as(port, 28, slow, &stopped);
    assert_eq!(text, "GO 83 GO×9 FRES GO×9 GAP GO GAP GO GAP 06 GAP");
}

#[test]
fn the_gap_of_a_packet_may_wait_for_go_too() {
    // F-1: STOP is obeyed from period 2 to 6, STOP and GO of its own port and symbols go out.
    let script = [
        (0, NextAction::Hear(StopGo::Stop)),
        (3, NextAction::Due(StopGo::Stop)),
        (4, NextAction::Hear(StopGo::Go)),
        (4, NextAction::Order(Symbol::OverrunAlarm)),
    ];
    let sent = |framing| {
        let port = PortParameters { framing, ..PortParameters::default() };
        check_as(port, 8, ("83 92 GAP", 0), &script)
    };
    assert_eq!(sent(FramingMode::Free), "83 92 GAP STOP ORUN STOP GAP STOP");
    assert_eq!(sent(FramingMode::Waits), "83 92 GO STOP ORUN STOP GAP STOP");
}

#[test]
fn a_command_is_reported_when_it_changes() {
    // Starting from GO. After a FRES from there the far sender is in GO again. R-1
    let (go, stop) = (command_code(StopGo::Go), command_code(StopGo::Stop));
    let commands = events(|sender, trace| {
        [go, stop, stop, go, stop].into_iter().for_each(|cell| sender.note_sent(cell, trace));
        sender.far_reset();
        [stop, stop].into_iter().for_each(|cell| sender.note_sent(cell, trace));
    });
    assert_eq!(commands, ["STOP", "GO", "STOP", "STOP"]);
}

/// The spontaneous characters of a sender with a timeout of 10 periods, after an action in period
/// 0: fill of one period, bytes of a packet, permanent fill.
fn own(slot: u64, after: impl FnOnce(&mut PortSender, &mut TraceContext<'_>)) -> String {
    let link = PortParameters { blocked: Ticks(10), ..PortParameters::default() };
    let mut sender = PortSender::new(&link, None);
    let mut log = TruthLog::new(TraceLevel::Everything);
    let place = NodePort { node: NodeId(0), port: PortId(0) };
    after(&mut sender, &mut TraceContext { now: 0, slot: 0, place, log: &mut log });
    let show = |cells: &[TaggedChar]| {
        cells.iter().map(|cell| cell.character()).collect::<CharBuf>().to_string()
    };
    let idle = sender.idle(slot).map(|cell| format!("fill {}", show(&[cell])));
    let streams = sender.streams(slot).then(|| "streams".to_owned());
    let rhythm = sender.steady_pattern(slot).map(|pair| format!("ever {}", show(&pair)));
    [idle, streams, rhythm].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn begin(sender: &mut PortSender, trace: &mut TraceContext<'_>) {
    sender.send(SourceItem::Data(TaggedChar::data(0x83), None), trace);
}

/// Receives STOP, and waits for its effect.
fn stop(sender: &mut PortSender, trace: &mut TraceContext<'_>) {
    sender.command(StopGo::Stop, trace);
    (0..3).for_each(|_| take_turn(sender, None, trace));
}

fn take_turn(sender: &mut PortSender, due: Option<StopGo>, trace: &mut TraceContext<'_>) {
    sender.decide(due, trace);
}

#[test]
fn a_sender_fills_between_packets() {
    // F-8. Power-up counts as after a GAP.
    assert_eq!(own(2, |_, _| {}), "fill GO, ever GO GAP");
    assert_eq!(own(3, |_, _| {}), "fill GAP, ever GO GAP");
    // Not while a STOP is on its way (F-4), a symbol waits (F-6), or what was said last is not
    // yet on the wire.
    assert_eq!(own(2, |sender, trace| sender.command(StopGo::Stop, trace)), "");
    assert_eq!(own(2, |sender, _| sender.queue_symbol(Symbol::OverrunAlarm)), "");
    assert_eq!(own(2, |sender, trace| take_turn(sender, Some(StopGo::Stop), trace)), "");
    // Stopped, for as long as R-4 allows.
    assert_eq!(own(9, stop), "ever GO GAP");
    assert_eq!(own(10, stop), "");
}

#[test]
fn within_a_packet_a_sender_streams_until_something_else_is_due() {
    assert_eq!(own(9, begin), "streams, ever GO GO");
    //
    assert_eq!(own(10, begin), "");
    let within = |then: fn(&mut PortSender, &mut TraceContext<'_>)| {
        own(9, |sender, trace| {
            begin(sender, trace);
            then(sender, trace);
        })
    };
    assert_eq!(within(|sender, trace| sender.command(StopGo::Stop, trace)), "");
    assert_eq!(within(|sender, _| sender.queue_symbol(Symbol::OverrunAlarm)), "");
    assert_eq!(within(|sender, _| sender.sever()), "");
    assert_eq!(within(stop), "ever GO GO");
    // A command that is due goes between the bytes, and is fill from then on.
    let due = within(|sender, trace| take_turn(sender, Some(StopGo::Stop), trace));
    assert_eq!(due, "streams");
    let accounts = |sender: &mut PortSender, _: &mut TraceContext<'_>| {
        sender.account = Some(Box::default());
    };
    assert_eq!(within(accounts), "ever GO GO");
}

#[test]
fn a_sender_exposes_its_last_command_and_its_current_packet() {
    let id = PacketId { host: NodeId(3), number: 1 };
    own(0, |sender, trace| {
        assert_eq!((sender.current(), sender.deadline()), (None, u64::MAX));
        sender.send(SourceItem::Data(TaggedChar::data(0x83).as_head(), Some(id)), trace);
        assert_eq!((sender.current(), sender.sending()), (Some(id), SendState::Packet));
        assert_eq!(sender.deadline(), 10);
        sender.command(StopGo::Stop, trace);
        // Obeyed two periods later. F-4
        assert_eq!((sender.last_received(), sender.flow()), (StopGo::Stop, StopGo::Go));
        (0..3).for_each(|_| take_turn(sender, None, trace));
        assert_eq!((sender.last_received(), sender.flow()), (StopGo::Stop, StopGo::Stop));
    });
}

#[test]
fn symbols_of_a_host_are_reported_except_fill_and_commands() {
    let codes = [0x00, 0x03, 0x0f, 0x30, 0xa6, 0x33];
    let symbols = events(|sender, trace| {
        for code in codes {
            assert_eq!(sender.send(SourceItem::Symbol(code), trace), TaggedChar::control(code));
        }
    });
    assert_eq!(symbols, ["symbol-sent", "symbol-sent"]);
}

#[test]
fn a_repeated_command_of_the_slack_buffer_is_reported() {
    // The GAP of a reset must wait for it. R-1, F-6
    let commands = events(|sender, trace| {
        for command in [StopGo::Stop, StopGo::Stop, StopGo::Go] {
            if let SendDecision::Send(cell) = sender.decide(Some(command), trace) {
                sender.note_sent(cell, trace);
            }
        }
    });
    assert_eq!(commands, ["STOP", "STOP", "GO"]);
}
