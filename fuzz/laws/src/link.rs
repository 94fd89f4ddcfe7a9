//! A port's circuits: whatever comes in, is taken and is to be sent, they do what the rules say, one
//! period after another, by the short ways of the stepper and by the long one.

pub(crate) mod model;

use arbitrary::{Arbitrary, Error, Unstructured};
use codec::character::{Character, ReplyStatus, Symbol};
use codec::route::PortId;
use codec::tick::Ticks;
use simulator::cell::Cell;
use simulator::link::{PortParameters, Symbols};
use simulator::receiver::{Asked, Receiver};
use simulator::sender::Sender;
use simulator::supply::{Appetite, Supply, Turn};
use simulator::topology::{NodeId, Port};
use simulator::truth::{Command, FrameAccount, Log, Release, Telling, Wanted};

use self::model::{Input, Output};
use crate::journal::{self, Entry};
use crate::network::plan::Link;

/// Most periods. *Chosen*: a few tens of microseconds.
const PERIODS_MAX: u64 = 4096;

/// A link, and what happens at one of its ports.
#[derive(Clone, Debug, Arbitrary)]
pub struct Plan {
    link: Link,
    patience: u8,
    #[arbitrary(with = to_the_end)]
    steps: Vec<Step>,
}

/// So many periods that are alike.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    hears: Hears,
    has: Has,
    takes: u8,
    times: u8,
}

/// Four bytes each, so that what a fuzzer changes in one leaves the others as they are.
impl<'a> Arbitrary<'a> for Step {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self, Error> {
        let [kinds, heard, offered, times]: [u8; 4] = bytes.arbitrary()?;
        let hears = match kinds % 8 {
            0 | 1 => Hears::Data(heard),
            2 => Hears::Gap,
            3 => Hears::Go,
            4 => Hears::Stop,
            5 => Hears::Idle,
            6 => Hears::Reset,
            _ => Hears::Code(heard),
        };
        let has = match kinds / 8 % 8 {
            0 | 1 => Has::Nothing,
            2..=4 => Has::Data(offered),
            5 | 6 => Has::Mark,
            _ => Has::Reset,
        };
        // Long stretches are rarer, and enough to fill a slack buffer and to wait for a while.
        let periods = if times & 32 == 0 { times % 4 } else { times % 32 };
        Ok(Self { hears, has, takes: times / 64 % 3, times: periods })
    }
}

/// As many as the bytes are enough for.
fn to_the_end(bytes: &mut Unstructured<'_>) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::with_capacity(bytes.len() / 4);
    while !bytes.is_empty() {
        steps.push(bytes.arbitrary()?);
    }
    Ok(steps)
}

/// What comes in.
#[derive(Clone, Copy, Debug)]
enum Hears {
    Data(u8),
    Gap,
    Go,
    Stop,
    Idle,
    Reset,
    Code(u8),
}

/// What the source has.
#[derive(Clone, Copy, Debug)]
enum Has {
    Nothing,
    Data(u8),
    Mark,
    /// Nothing; and the port is ordered to send FRES.
    Reset,
}

/// The law: an output circuit and an input circuit are their models.
///
/// # Panics
/// If not.
pub fn law(bytes: &[u8]) {
    if let Ok(plan) = Plan::arbitrary(&mut Unstructured::new(bytes)) {
        check(&plan, &mut |character| character);
    }
}

impl Plan {
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
fn check(plan: &Plan, wire: &mut impl FnMut(Character) -> Character) {
    let link = plan.parameters();
    let mut ends = [End::new(&link, Way::Short), End::new(&link, Way::Long)];
    let (mut input, mut output) = (Input::new(&link), Output::new(&link));
    let mut slot = 0;
    for step in &plan.steps {
        journal::tell(|| Entry::Did(slot, format!("{step:?}")));
        for _ in 0..=step.times {
            if slot == PERIODS_MAX {
                return;
            }
            if let Has::Reset = step.has {
                ends.iter_mut().for_each(|end| end.sender.order(Symbol::ForwardReset));
                output.order(Symbol::ForwardReset);
            }
            let character = step.hears.character();
            let asked = input.hear(slot, character);
            output.answer(slot, asked, link.symbols);
            let taken = step.taken(|| input.take());
            let due = input.due(slot);
            let sent = output.send(slot, due, step.has.supply());
            journal::tell(|| Entry::Period(character, sent));
            for end in &mut ends {
                assert_eq!(end.hear(slot, character), asked, "{slot}: what is heard asks");
                assert_eq!(
                    step.taken(|| end.take()),
                    taken,
                    "{slot}: what came in is taken in order"
                );
                let cells = link.slack.cells();
                assert!(end.receiver.fill() <= cells, "{slot}: a slack buffer has {cells} cells");
                assert_eq!(end.receiver.fill(), input.fill(), "{slot}: its fill");
                let cell = wire(end.send(slot, step.has.supply()));
                assert_eq!(cell, sent, "{slot}: what is sent");
                assert_eq!(end.sender.flow(), output.flow(), "{slot}: whether data may go");
            }
            slot += 1;
        }
    }
}

/// Which way a stepper goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Through the short cuts.
    Short,
    /// Through none.
    Long,
}

/// The circuits of a port.
#[derive(Debug)]
struct End {
    receiver: Receiver,
    sender: Sender,
    symbols: Symbols,
    log: Log,
    way: Way,
}

const PLACE: Port = Port { node: NodeId(0), port: PortId(0) };

impl End {
    fn new(link: &PortParameters, way: Way) -> Self {
        let account = || match way {
            Way::Short => None,
            Way::Long => Some(Box::new(FrameAccount::default())),
        };
        let wanted = match way {
            Way::Short => Wanted::Nothing,
            Way::Long => Wanted::Everything,
        };
        Self {
            receiver: Receiver::new(link, account()),
            sender: Sender::new(link, account()),
            symbols: link.symbols,
            log: Log::new(wanted),
            way,
        }
    }

    fn hear(&mut self, slot: u64, character: Character) -> Asked {
        let Self { receiver, sender, symbols, log, way } = self;
        let cell = Cell::of(character);
        let telling = &mut Telling { now: slot, slot, place: PLACE, log };
        let asked = match way {
            Way::Short => receiver.hear(cell, sender.heard()),
            Way::Long => None,
        };
        if let Some(asked) = asked {
            // Fill or a byte: nothing is asked that changes anything.
            return match sender.heard() {
                command if character == character_of(command) => Asked::Command(command),
                Command::Go | Command::Stop => asked,
            };
        }
        let asked = receiver.hear_any(cell, None, telling);
        match asked {
            Asked::Nothing | Asked::Reply(_) => {}
            Asked::Command(command) => sender.command(command, telling),
            Asked::LinkOpen => sender.release(Release::LinkOpen, telling),
            Asked::Reset => sender.far_reset(),
            Asked::BackwardReset => sender.order(Symbol::ForwardReset),
            Asked::Probe(_) => {
                ReplyStatus::new(2).into_iter().for_each(|it| sender.order(Symbol::Reply(it)));
            }
            Asked::Overflow => match symbols {
                Symbols::All => sender.order(Symbol::OverrunAlarm),
                Symbols::Mandatory => {}
            },
        }
        self.log.drain().for_each(drop);
        asked
    }

    /// A byte, or a mark.
    fn take(&mut self) -> Option<Option<u8>> {
        let (cell, _) = self.receiver.take()?;
        Some(cell.is_data().then(|| cell.low()))
    }

    fn send(&mut self, slot: u64, supply: Supply) -> Character {
        let Self { receiver, sender, log, way, .. } = self;
        if *way == Way::Short && receiver.is_calm() {
            if let (Supply::Nothing, Some(cell)) = (supply, sender.idle(slot)) {
                return cell.character();
            }
            if let (Supply::Data(cell, _), true) = (supply, sender.streams(slot)) {
                return cell.character();
            }
        }
        let telling = &mut Telling { now: slot, slot, place: PLACE, log };
        let due = receiver.due();
        let cell = match sender.turn(due, telling) {
            Turn::Send(cell) => cell,
            Turn::Ask(appetite) => sender.send(offered(supply, appetite), telling),
        };
        sender.sent(cell, telling);
        self.log.drain().for_each(drop);
        cell.character()
    }
}

/// What a source hands out to an appetite.
const fn offered(supply: Supply, appetite: Appetite) -> Supply {
    match (supply, appetite) {
        (Supply::Data(..), Appetite::Framing)
        | (Supply::Data(..) | Supply::Mark, Appetite::Nothing) => Supply::Nothing,
        (Supply::Data(..), Appetite::All | Appetite::Discard)
        | (Supply::Nothing | Supply::Mark | Supply::Symbol(_), _) => supply,
    }
}

const fn character_of(command: Command) -> Character {
    match command {
        Command::Go => Character::Control(0x03),
        Command::Stop => Character::Control(0x0f),
    }
}

/// What is taken in a period, of two characters at most: a byte or a mark each.
type Taken = [Option<Option<u8>>; 2];

impl Step {
    fn taken(&self, mut take: impl FnMut() -> Option<Option<u8>>) -> Taken {
        match self.takes {
            0 => [None, None],
            1 => [take(), None],
            _ => [take(), take()],
        }
    }
}

impl Hears {
    const fn character(self) -> Character {
        match self {
            Self::Data(byte) => Character::Data(byte),
            Self::Gap => Character::GAP,
            Self::Go => character_of(Command::Go),
            Self::Stop => character_of(Command::Stop),
            Self::Idle => Character::IDLE,
            Self::Reset => Character::Control(0x33),
            Self::Code(code) => Character::Control(code),
        }
    }
}

impl Has {
    const fn supply(self) -> Supply {
        match self {
            Self::Nothing | Self::Reset => Supply::Nothing,
            Self::Data(byte) => Supply::Data(Cell::data(byte), None),
            Self::Mark => Supply::Mark,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::repair::Dice;
    use std::collections::BTreeSet;

    /// What comes in asks of a port, by name.
    pub(crate) fn asked(bytes: &[u8]) -> BTreeSet<&'static str> {
        let plan = Plan::arbitrary(&mut Unstructured::new(bytes)).unwrap();
        let mut input = Input::new(&plan.parameters());
        let mut names = BTreeSet::new();
        let mut slot = 0;
        for step in &plan.steps {
            for _ in 0..=step.times {
                names.insert(match input.hear(slot, step.hears.character()) {
                    Asked::Nothing => "nothing",
                    Asked::Command(Command::Go) => "go",
                    Asked::Command(Command::Stop) => "stop",
                    Asked::LinkOpen => "open-link",
                    Asked::Reset => "forward-reset",
                    Asked::BackwardReset => "backward-reset",
                    Asked::Probe(_) => "probe",
                    Asked::Reply(_) => "reply",
                    Asked::Overflow => "overflow",
                });
                step.taken(|| input.take());
                names.extend(input.due(slot).map(|due| match due {
                    Command::Go => "go is sent",
                    Command::Stop => "stop is sent",
                }));
                slot += 1;
            }
        }
        names
    }

    fn storm(wire: &mut impl FnMut(Character) -> Character) {
        let mut dice = Dice::new(b"a storm over a link");
        for _ in 0..300 {
            let bytes = dice.bytes(300);
            check(&Plan::arbitrary(&mut Unstructured::new(&bytes)).unwrap(), wire);
        }
    }

    #[test]
    fn a_storm_keeps_the_law() {
        storm(&mut |character| character);
    }

    #[test]
    #[should_panic(expected = "what is sent")]
    pub(crate) fn one_wrong_character_is_caught() {
        let mut sent = 0;
        storm(&mut |character| {
            sent += 1;
            if sent == 20_000 { Character::IDLE } else { character }
        });
    }
}
