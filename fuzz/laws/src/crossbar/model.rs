//! A switch from the rules alone: the second witness. Slow and plain. S-1..S-6, R-3, P-3, P-5

use codec::character::{Character, ReplyStatus, Symbol};
use codec::route::PortId;
use simulator::link::receiver::PortRequest;
use simulator::link::source_item::{AcceptMode, SourceItem};
use simulator::link::tagged_char::TaggedChar;
use simulator::link::{LinkParameters, SymbolSet};
use simulator::topology::{ArbitrationPolicy, SwitchParameters};

use crate::link::model::{InputModel, OutputModel};
use crate::reference::crc;

/// A switch, some of its ports cabled.
#[derive(Debug)]
pub(super) struct SwitchModel {
    parameters: SwitchParameters,
    ports: Vec<ModelPort>,
    tokens: Vec<OutputToken>,
}

#[derive(Debug)]
struct ModelPort {
    link: LinkParameters,
    input: InputModel,
    output: OutputModel,
    state: InputState,
    /// The input that is connected to its output.
    source: Option<usize>,
    /// Rest of the number of packets sent that PRB7 reads, and the number of its replies to come. R-6
    reading: (u64, u8),
}

/// State of a port's input. S-3
#[derive(Debug)]
enum InputState {
    Empty,
    Decoding(u64),
    Waiting(usize),
    Connected(usize, PassingPacket),
    Discarding,
}

/// A packet that passes. P-5
#[derive(Debug)]
struct PassingPacket {
    /// All its bytes but the last that came.
    came: Vec<u8>,
    held: Option<u8>,
}

/// The arbitration for an output. S-5
#[derive(Clone, Debug, Default)]
struct OutputToken {
    owner: Option<usize>,
    /// The inputs that request it, and since when.
    asking: Vec<(usize, u64)>,
    at: usize,
    since: Option<u64>,
}

impl ModelPort {
    /// Four bits of the number of packets sent, the lowest first. R-6
    fn packets_sent(&mut self) -> u8 {
        let (rest, left) = match self.reading {
            (_, 0) => (self.output.packets, 8),
            reading => reading,
        };
        self.reading = (rest >> 4, left - 1);
        rest.to_le_bytes()[0] & 0xf
    }
}

impl OutputToken {
    /// The input at which the token has been for long enough, if that requests the output.
    fn visit(&mut self, parameters: &SwitchParameters, now: u64) -> Option<usize> {
        let since = *self.since.get_or_insert(now);
        if now < since + u64::from(parameters.token_step) {
            return None;
        }
        let input = self.at;
        if self.asking.iter().any(|(asking, _)| *asking == input) {
            return Some(input);
        }
        self.at = (input + 1) % usize::from(parameters.ports);
        self.since = Some(now);
        None
    }

    /// The input that has requested the output first; of several the next one behind that served last.
    fn oldest(&self, parameters: &SwitchParameters) -> Option<usize> {
        let since = self.asking.iter().map(|(_, since)| *since).min()?;
        let ports = usize::from(parameters.ports);
        let mut inputs = (0..ports).map(|step| (self.at + step) % ports);
        inputs.find(|input| self.asking.contains(&(*input, since)))
    }
}

impl SwitchModel {
    /// A switch after power-up, with cables of these kinds at its first ports.
    pub(super) fn new(parameters: SwitchParameters, links: &[LinkParameters]) -> Self {
        let input = |link: &LinkParameters| {
            let [own, far] = &link.ports;
            let input = InputModel::new(own);
            if own.divisor == far.divisor { input } else { input.with_own_time() }
        };
        let port = |link: &LinkParameters| ModelPort {
            link: *link,
            input: input(link),
            output: OutputModel::new(&link.ports[0]),
            state: InputState::Empty,
            source: None,
            reading: (0, 0),
        };
        let tokens = vec![OutputToken::default(); parameters.ports.into()];
        Self { parameters, ports: links.iter().map(port).collect(), tokens }
    }

    /// A period of the full rate: what ports receive, in those of their periods that begin now; what
    /// they send, likewise, goes to `out`.
    pub(super) fn step(
        &mut self,
        now: u64,
        received: impl Fn(usize) -> Option<Character>,
        out: &mut impl FnMut(usize, Character),
    ) {
        let mut severed = Vec::new();
        for number in 0..self.ports.len() {
            if let Some(character) = received(number) {
                severed.extend(self.receive(number, now, character));
            }
            self.begin(number, now);
            self.advance(number, now);
        }
        for output in severed {
            self.release(output);
            if let Some(port) = self.ports.get_mut(output) {
                port.source = None;
                port.output.sever();
            }
        }
        for number in 0..self.ports.len() {
            self.select(number, now);
        }
        for output in 0..self.tokens.len() {
            self.arbitrate(output, now);
        }
        for number in 0..self.ports.len() {
            self.send(number, now).into_iter().for_each(|it| out(number, it));
        }
    }

    /// A character comes in. Hands back the output that is to end what it has sent. R-3
    fn receive(&mut self, number: usize, now: u64, character: Character) -> Option<usize> {
        let port = self.ports.get_mut(number)?;
        // The next period in which the port sends.
        let own = port.link.ports[0];
        let slot = now.div_ceil(own.divisor.get().into());
        let asked = port.input.receive(slot, character);
        let PortRequest::Probe(probe) = asked else {
            port.output.answer(slot, asked, own.symbols);
            return if asked == PortRequest::Reset { self.reset(number) } else { None };
        };
        let busy = port.input.is_receiving() || port.output.is_sending();
        let light = if busy { 3 } else { 2 };
        if own.symbols == SymbolSet::All && own.replies {
            let status = if probe.value() == 7 { port.packets_sent() } else { light };
            let status = ReplyStatus::new(status);
            status.into_iter().for_each(|it| port.output.order(Symbol::Reply(it)));
        }
        None
    }

    /// Begins a period of a port that receives another rate than its own. F-7, W-6
    fn begin(&mut self, number: usize, now: u64) {
        let Some(ModelPort { link, input, output, .. }) = self.ports.get_mut(number) else {
            return;
        };
        let [own, far] = link.ports;
        let period = u64::from(own.divisor.get());
        if own.divisor != far.divisor && now.is_multiple_of(period) {
            let asked = input.begins(now / period);
            output.answer(now / period, asked, own.symbols);
        }
    }

    /// FRES has come in. R-3
    fn reset(&mut self, number: usize) -> Option<usize> {
        let port = self.ports.get_mut(number)?;
        match std::mem::replace(&mut port.state, InputState::Empty) {
            InputState::Waiting(output) => {
                let token = self.tokens.get_mut(output)?;
                token.asking.retain(|(input, _)| *input != number);
                if token.asking.is_empty() {
                    token.since = None;
                }
                None
            }
            InputState::Connected(output, _) => Some(output),
            InputState::Empty | InputState::Decoding(_) | InputState::Discarding => None,
        }
    }

    /// S-3, S-6
    fn advance(&mut self, number: usize, now: u64) {
        let routing = u64::from(self.parameters.routing);
        let Some(port) = self.ports.get_mut(number) else { return };
        match (&port.state, port.input.front()) {
            (InputState::Empty, Some(Some(_))) => port.state = InputState::Decoding(now + routing),
            (InputState::Empty, Some(None)) => drop(port.input.take()),
            (InputState::Discarding, Some(front)) => {
                port.input.take();
                if front.is_none() {
                    port.state = InputState::Empty;
                }
            }
            (InputState::Empty | InputState::Discarding, None)
            | (InputState::Decoding(_) | InputState::Waiting(_) | InputState::Connected(..), _) => {
            }
        }
    }

    /// S-1, S-2
    fn select(&mut self, number: usize, now: u64) {
        let Some(port) = self.ports.get(number) else { return };
        let InputState::Decoding(until) = port.state else { return };
        let Some(Some(byte)) = port.input.front().filter(|_| until <= now) else { return };
        let Ok(input) = u8::try_from(number) else { return };
        let SwitchParameters { addressing, ports, .. } = self.parameters;
        let output = addressing.select(byte, PortId(input), ports).ok();
        let output = output.map(|port| usize::from(port.0)).filter(|output| {
            let there = self.ports.get(*output);
            there.is_some_and(|there| !there.input.is_open())
        });
        let Some(port) = self.ports.get_mut(number) else { return };
        match output {
            Some(output) => {
                port.state = InputState::Waiting(output);
                let token = self.tokens.get_mut(output);
                token.into_iter().for_each(|token| token.asking.push((number, now)));
            }
            None => {
                port.input.take();
                port.state = InputState::Discarding;
            }
        }
    }

    /// S-5
    fn arbitrate(&mut self, output: usize, now: u64) {
        let Some(token) = self.tokens.get_mut(output) else { return };
        if token.owner.is_some() || token.asking.is_empty() {
            return;
        }
        let chosen = match self.parameters.arbitration {
            ArbitrationPolicy::Token => token.visit(&self.parameters, now),
            ArbitrationPolicy::Age => token.oldest(&self.parameters),
        };
        let Some(input) = chosen else { return };
        token.asking.retain(|(asking, _)| *asking != input);
        (token.owner, token.since) = (Some(input), None);
        let Some(port) = self.ports.get_mut(input) else { return };
        let Some(Some(byte)) = port.input.take() else { return };
        port.state = InputState::Connected(output, PassingPacket { came: vec![byte], held: None });
        self.ports.get_mut(output).into_iter().for_each(|port| port.source = Some(input));
    }

    /// The token is parked behind the input that had the output. S-5
    fn release(&mut self, output: usize) {
        let Some(token) = self.tokens.get_mut(output) else { return };
        if let Some(owner) = token.owner.take() {
            token.at = (owner + 1) % usize::from(self.parameters.ports);
            token.since = None;
        }
    }

    fn send(&mut self, number: usize, now: u64) -> Option<Character> {
        let port = self.ports.get_mut(number)?;
        let divisor = u64::from(port.link.ports[0].divisor.get());
        if !now.is_multiple_of(divisor) {
            return None;
        }
        let slot = now / divisor;
        let (due, source) = (port.input.due(slot), port.source);
        let appetite = match port.output.turn(slot, due) {
            Ok(character) => return Some(character),
            Err(appetite) => appetite,
        };
        let supply = source.map_or(SourceItem::Nothing, |input| self.cross(input, appetite));
        if supply == SourceItem::Mark {
            self.release(number);
            self.ports.get_mut(number)?.source = None;
        }
        Some(self.ports.get_mut(number)?.output.put(slot, supply))
    }

    /// Next item of an input for its connected output. P-3, P-5
    fn cross(&mut self, input: usize, appetite: AcceptMode) -> SourceItem {
        let Some(port) = self.ports.get_mut(input) else { return SourceItem::Nothing };
        let InputState::Connected(_, packet) = &mut port.state else { return SourceItem::Nothing };
        if packet.held.is_none()
            && let Some(Some(byte)) = port.input.front()
        {
            port.input.take();
            packet.held = Some(byte);
        }
        let data = |byte| SourceItem::Data(TaggedChar::data(byte), None);
        match (packet.held, port.input.front(), appetite) {
            (_, _, AcceptMode::Nothing) => SourceItem::Nothing,
            (None, Some(_), _) => {
                port.input.take();
                port.state = InputState::Empty;
                SourceItem::Mark
            }
            (Some(byte), _, AcceptMode::Discard) => {
                packet.held = None;
                data(byte)
            }
            (Some(byte), Some(Some(_)), AcceptMode::All) => {
                packet.held = None;
                packet.came.push(byte);
                data(byte)
            }
            (Some(byte), Some(None), AcceptMode::All) => {
                packet.held = None;
                let stripped = packet.came.get(1..).unwrap_or_default();
                data(crc(&packet.came) ^ byte ^ crc(stripped))
            }
            (None, None, _)
            | (Some(_), _, AcceptMode::Framing)
            | (Some(_), None, AcceptMode::All) => SourceItem::Nothing,
        }
    }
}
