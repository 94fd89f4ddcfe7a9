//! A port's circuits: for any input and source they follow the rules, one
//! period after another, by the short ways of the stepper and by the long one.

pub(crate) mod model;

use arbitrary::{Arbitrary, Error, Unstructured};
use codec::character::{Character, ReplyStatus, Symbol};
use codec::route::PortId;
use codec::time::Ticks;
use simulator::link::receiver::{PortReceiver, PortRequest};
use simulator::link::sender::PortSender;
use simulator::link::source_item::{AcceptMode, SendDecision, SourceItem};
use simulator::link::tagged_char::TaggedChar;
use simulator::link::{PortParameters, SymbolSet};
use simulator::topology::{NodeId, NodePort};
use simulator::truth::{FrameTracker, ReleaseCause, StopGo, TraceContext, TraceLevel, TruthLog};

use self::model::{InputModel, OutputModel};
use crate::network::link_input::CableInput;
use crate::trace::{self, LawTraceEntry};

/// Most periods. *Chosen*: a few tens of microseconds.
const PERIODS_MAX: u64 = 4096;

/// A link, and what happens at one of its ports.
#[derive(Clone, Debug, Arbitrary)]
pub struct LinkScript {
    link: CableInput,
    patience: u8,
    #[arbitrary(with = to_the_end)]
    steps: Vec<LinkScriptStep>,
}

#[derive(Clone, Copy, Debug)]
pub struct LinkScriptStep {
    input: ScriptedInput,
    source: ScriptedSource,
    takes: u8,
    times: u8,
}

/// Four bytes each, so that what a fuzzer changes in one leaves the others as they are.
impl<'a> Arbitrary<'a> for LinkScriptStep {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self, Error> {
        let [kinds, heard, offered, times]: [u8; 4] = bytes.arbitrary()?;
        let hears = match kinds % 8 {
            0 | 1 => ScriptedInput::Data(heard),
            2 => ScriptedInput::Gap,
            3 => ScriptedInput::Go,
            4 => ScriptedInput::Stop,
            5 => ScriptedInput::Idle,
            6 => ScriptedInput::Reset,
            _ => ScriptedInput::Code(heard),
        };
        let has = match kinds / 8 % 8 {
            0 | 1 => ScriptedSource::Nothing,
            2..=4 => ScriptedSource::Data(offered),
            5 | 6 => ScriptedSource::Mark,
            _ => ScriptedSource::Reset,
        };
        // Long stretches are rarer, and enough to fill a slack buffer and to wait for a while.
        let periods = if times & 32 == 0 { times % 4 } else { times % 32 };
        Ok(Self { input: hears, source: has, takes: times / 64 % 3, times: periods })
    }
}

/// Steps until the bytes are used up.
fn to_the_end(bytes: &mut Unstructured<'_>) -> Result<Vec<LinkScriptStep>, Error> {
    std::iter::from_fn(|| (!bytes.is_empty()).then(|| bytes.arbitrary())).collect()
}

#[derive(Clone, Copy, Debug)]
enum ScriptedInput {
    Data(u8),
    Gap,
    Go,
    Stop,
    Idle,
    Reset,
    Code(u8),
}

#[derive(Clone, Copy, Debug)]
enum ScriptedSource {
    Nothing,
    Data(u8),
    Mark,
    /// Nothing; and the port is ordered to send FRES.
    Reset,
}

/// The law: an output circuit and an input circuit are their models.
pub fn law(bytes: &[u8]) {
    if let Ok(plan) = LinkScript::arbitrary(&mut Unstructured::new(bytes)) {
        check(&plan, &mut |character| character);
    }
}

impl LinkScript {
    /// Most time-outs are short, so that they end within a schedule.
    fn parameters(&self) -> PortParameters {
        let port = self.link.varied();
        match self.patience {
            0..32 => port,
            32.. => PortParameters { blocked: Ticks(self.patience.into()), ..port },
        }
    }
}

/// `wire` may change what goes out, for a test.
fn check(plan: &LinkScript, wire: &mut impl FnMut(Character) -> Character) {
    let link = plan.parameters();
    let mut ends =
        [PortCircuits::new(&link, StepperMode::Short), PortCircuits::new(&link, StepperMode::Long)];
    let (mut input, mut output) = (InputModel::new(&link), OutputModel::new(&link));
    let mut slot = 0;
    for step in &plan.steps {
        trace::record(|| LawTraceEntry::Did(slot, format!("{step:?}")));
        for _ in 0..=step.times {
            if slot == PERIODS_MAX {
                return;
            }
            if let ScriptedSource::Reset = step.source {
                ends.iter_mut().for_each(|end| end.sender.queue_symbol(Symbol::ForwardReset));
                output.order(Symbol::ForwardReset);
            }
            let character = step.input.character();
            let situations = input.receive(slot, character);
            output.answer(slot, situations, link.symbols);
            let taken = step.taken(|| input.take());
            let due = input.due(slot);
            let sent = output.send(slot, due, step.source.supply());
            trace::record(|| LawTraceEntry::Period(character, sent));
            for end in &mut ends {
                assert_eq!(end.receive(slot, character), situations, "{slot}: what is heard asks");
                assert_eq!(
                    step.taken(|| end.take()),
                    taken,
                    "{slot}: what came in is taken in order"
                );
                let cells = link.slack.cells();
                assert!(end.receiver.fill() <= cells, "{slot}: a slack buffer has {cells} cells");
                assert_eq!(end.receiver.fill(), input.fill(), "{slot}: its fill");
                let cell = wire(end.send(slot, step.source.supply()));
                assert_eq!(cell, sent, "{slot}: what is sent");
                assert_eq!(end.sender.flow(), output.flow(), "{slot}: whether data may go");
            }
            slot += 1;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepperMode {
    Short,
    Long,
}

#[derive(Debug)]
struct PortCircuits {
    receiver: PortReceiver,
    sender: PortSender,
    symbols: SymbolSet,
    log: TruthLog,
    way: StepperMode,
}

const PLACE: NodePort = NodePort { node: NodeId(0), port: PortId(0) };

impl PortCircuits {
    fn new(link: &PortParameters, way: StepperMode) -> Self {
        let account = || match way {
            StepperMode::Short => None,
            StepperMode::Long => Some(Box::new(FrameTracker::default())),
        };
        let wanted = match way {
            StepperMode::Short => TraceLevel::Nothing,
            StepperMode::Long => TraceLevel::Everything,
        };
        Self {
            receiver: PortReceiver::new(link, account()),
            sender: PortSender::new(link, account()),
            symbols: link.symbols,
            log: TruthLog::new(wanted),
            way,
        }
    }

    fn receive(&mut self, slot: u64, character: Character) -> PortRequest {
        let Self { receiver, sender, symbols, log, way } = self;
        let cell = TaggedChar::of(character);
        let telling = &mut TraceContext { now: slot, slot, place: PLACE, log };
        let situations = match way {
            StepperMode::Short => receiver.receive_simple(cell, sender.last_received()),
            StepperMode::Long => None,
        };
        if let Some(situations) = situations {
            // Fill or a byte: no request changes anything.
            return match sender.last_received() {
                command if character == character_of(command) => PortRequest::Command(command),
                StopGo::Go | StopGo::Stop => situations,
            };
        }
        let situations = receiver.receive(cell, None, telling);
        match situations {
            PortRequest::Nothing | PortRequest::Reply(_) => {}
            PortRequest::Command(command) => sender.command(command, telling),
            PortRequest::LinkOpen => sender.release(ReleaseCause::LinkOpen, telling),
            PortRequest::Reset => sender.far_reset(),
            PortRequest::BackwardReset => sender.queue_symbol(Symbol::ForwardReset),
            PortRequest::Probe(_) => {
                ReplyStatus::new(2)
                    .into_iter()
                    .for_each(|it| sender.queue_symbol(Symbol::Reply(it)));
            }
            PortRequest::Overflow => match symbols {
                SymbolSet::All => sender.queue_symbol(Symbol::OverrunAlarm),
                SymbolSet::Mandatory => {}
            },
        }
        self.log.drain().for_each(drop);
        situations
    }

    fn take(&mut self) -> Option<Option<u8>> {
        let (cell, _) = self.receiver.take()?;
        Some(cell.is_data().then(|| cell.low()))
    }

    fn send(&mut self, slot: u64, supply: SourceItem) -> Character {
        let Self { receiver, sender, log, way, .. } = self;
        if *way == StepperMode::Short && receiver.is_calm() {
            if let (SourceItem::Nothing, Some(cell)) = (supply, sender.idle(slot)) {
                return cell.character();
            }
            if let (SourceItem::Data(cell, _), true) = (supply, sender.streams(slot)) {
                return cell.character();
            }
        }
        let telling = &mut TraceContext { now: slot, slot, place: PLACE, log };
        let due = receiver.due();
        let cell = match sender.decide(due, telling) {
            SendDecision::Send(cell) => cell,
            SendDecision::Request(appetite) => sender.send(offered(supply, appetite), telling),
        };
        sender.note_sent(cell, telling);
        self.log.drain().for_each(drop);
        cell.character()
    }
}

const fn offered(supply: SourceItem, appetite: AcceptMode) -> SourceItem {
    match (supply, appetite) {
        (SourceItem::Data(..), AcceptMode::Framing)
        | (SourceItem::Data(..) | SourceItem::Mark, AcceptMode::Nothing) => SourceItem::Nothing,
        (SourceItem::Data(..), AcceptMode::All | AcceptMode::Discard)
        | (SourceItem::Nothing | SourceItem::Mark | SourceItem::Symbol(_), _) => supply,
    }
}

const fn character_of(command: StopGo) -> Character {
    match command {
        StopGo::Go => Character::Control(0x03),
        StopGo::Stop => Character::Control(0x0f),
    }
}

/// Items taken in a period, of at most two characters: a byte or a mark each.
type TakenItems = [Option<Option<u8>>; 2];

impl LinkScriptStep {
    fn taken(&self, mut take: impl FnMut() -> Option<Option<u8>>) -> TakenItems {
        match self.takes {
            0 => [None, None],
            1 => [take(), None],
            _ => [take(), take()],
        }
    }
}

impl ScriptedInput {
    const fn character(self) -> Character {
        match self {
            Self::Data(byte) => Character::Data(byte),
            Self::Gap => Character::GAP,
            Self::Go => character_of(StopGo::Go),
            Self::Stop => character_of(StopGo::Stop),
            Self::Idle => Character::IDLE,
            Self::Reset => Character::Control(0x33),
            Self::Code(code) => Character::Control(code),
        }
    }
}

impl ScriptedSource {
    const fn supply(self) -> SourceItem {
        match self {
            Self::Nothing | Self::Reset => SourceItem::Nothing,
            Self::Data(byte) => SourceItem::Data(TaggedChar::data(byte), None),
            Self::Mark => SourceItem::Mark,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::repair::SeededRng;
    use std::collections::BTreeSet;

    pub(crate) fn situations(bytes: &[u8]) -> BTreeSet<&'static str> {
        let plan = LinkScript::arbitrary(&mut Unstructured::new(bytes)).unwrap();
        let mut input = InputModel::new(&plan.parameters());
        let mut names = BTreeSet::new();
        let mut slot = 0;
        for step in &plan.steps {
            for _ in 0..=step.times {
                names.insert(match input.receive(slot, step.input.character()) {
                    PortRequest::Nothing => "nothing",
                    PortRequest::Command(StopGo::Go) => "go",
                    PortRequest::Command(StopGo::Stop) => "stop",
                    PortRequest::LinkOpen => "open-link",
                    PortRequest::Reset => "forward-reset",
                    PortRequest::BackwardReset => "backward-reset",
                    PortRequest::Probe(_) => "probe",
                    PortRequest::Reply(_) => "reply",
                    PortRequest::Overflow => "overflow",
                });
                step.taken(|| input.take());
                names.extend(input.due(slot).map(|due| match due {
                    StopGo::Go => "go is sent",
                    StopGo::Stop => "stop is sent",
                }));
                slot += 1;
            }
        }
        names
    }

    fn storm(wire: &mut impl FnMut(Character) -> Character) {
        let mut dice = SeededRng::new(b"a storm over a link");
        for _ in 0..300 {
            let bytes = dice.bytes(300);
            check(&LinkScript::arbitrary(&mut Unstructured::new(&bytes)).unwrap(), wire);
        }
    }

    #[test]
    fn a_storm_keeps_the_law() {
        storm(&mut |character| character);
    }

    pub(crate) fn one_wrong_character_is_caught() {
        let mut sent = 0;
        storm(&mut |character| {
            sent += 1;
            if sent == 20_000 { Character::IDLE } else { character }
        });
    }
}
