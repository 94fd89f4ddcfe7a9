//! Virtual channels of a cable: the turns in which their senders use the line, and the receiver of each character. C-7
//! (§4.8.4)

use codec::Character;
use codec::character::VirtualRole;
use codec::virtual_channels::{
    AssignedChar, LinkProfile, VIRTUAL_CHANNELS_MAX, VirtualChannelSelector,
};

use crate::link::cell_cycle::CellCycle;
use crate::link::sender::command_code;
use crate::link::tagged_char::TaggedChar;
use crate::truth::StopGo;

/// Most virtual channels of a cable.
pub(crate) const SHARES_MAX: usize = VIRTUAL_CHANNELS_MAX as usize;

/// Characters that a sender may send in its turn while another one has some too. *Chosen*
const TURN: u8 = 8;

/// Codes of a port's symbols of virtual channels. C-7
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualCodes {
    channels: u8,
    /// Codes of `VCn`, `GOn` and `STOPn`; 0 beyond the last virtual channel.
    codes: [[u8; SHARES_MAX]; 3],
}

/// Virtual channel of the packets that a switch sends on a cable. *Chosen*
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassageMode {
    /// That on which they have come, or the last one.
    #[default]
    Same,
    /// The next one: the cable is a dateline.
    Next,
}

/// State of a cable with virtual channels at one of its ends.
#[derive(Clone, Debug)]
pub(crate) struct SharedLine {
    codes: VirtualCodes,
    passage: PassageMode,
    selector: VirtualChannelSelector,
    /// The virtual channel that this end has selected; none before the first selection.
    selected: Option<u8>,
    /// STOP and GO that are due.
    due: [Option<StopGo>; SHARES_MAX],
    /// The virtual channel whose turn it is, and the characters that it may still send.
    turn: (u8, u8),
    /// The next character of fill: a GAP, or the STOP or GO of a virtual channel behind it.
    fill: u8,
}

/// State of a virtual channel's sender before a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LineRequest {
    /// It has nothing to send, and is between packets.
    #[default]
    Nothing,
    /// It has nothing to send, within a packet.
    More,
    /// A character of a packet.
    Packet,
    /// A symbol. F-6
    Symbol,
}

/// Use of a period of the line, by a virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineUse {
    /// STOP or GO of its slack buffer.
    Command(u8, StopGo),
    /// Its selection.
    Selection(u8),
    /// The character of its sender.
    Character(u8),
    /// GAP between its packets, as fill.
    FillGap(u8),
    /// The last STOP or GO of its slack buffer, as fill.
    FillCommand(u8),
}

/// The part of a received character for one virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReceivedShare {
    /// The character, or IDLE of the line.
    Own(TaggedChar),
    /// None: it is another one's.
    Other,
}

const ROLES: [(VirtualRole, &str); 3] =
    [(VirtualRole::Select, "VC"), (VirtualRole::Go, "GO"), (VirtualRole::Stop, "STOP")];

impl VirtualCodes {
    /// The codes of a profile.
    pub fn of(profile: &LinkProfile) -> Self {
        let mut codes = [[0; SHARES_MAX]; 3];
        for (own, (role, _)) in codes.iter_mut().zip(ROLES) {
            for (code, channel) in own.iter_mut().zip(0..profile.channels()) {
                *code = profile.code(role, channel).unwrap_or_default();
            }
        }
        Self { channels: profile.channels(), codes }
    }

    /// Number of virtual channels.
    pub const fn channels(&self) -> u8 {
        self.channels
    }

    pub(crate) fn profile(&self) -> Option<LinkProfile> {
        let mandatory = [Character::Control(0x03), Character::Control(0x0f)];
        let words = self.codes.iter().zip(ROLES).flat_map(|(codes, (_, name))| {
            let given = (0..self.channels).zip(codes);
            let given = given.filter(|(_, code)| !mandatory.contains(&Character::Control(**code)));
            given.map(move |(channel, code)| format!("{name}{channel}={code:02x}"))
        });
        words.collect::<Vec<_>>().join(",").parse().ok()
    }

    fn code(&self, role: usize, channel: u8) -> u8 {
        let codes = self.codes.get(role).and_then(|codes| codes.get(usize::from(channel)));
        codes.copied().unwrap_or_default()
    }
}

impl PassageMode {
    /// Names in captures.
    pub(crate) const WORDS: [(&str, Self); 2] = [("same", Self::Same), ("next", Self::Next)];

    /// The virtual channel of a packet that has come on another one.
    pub(crate) const fn channel(self, from: u8, channels: u8) -> u8 {
        let to = match self {
            Self::Same => from,
            Self::Next => from + 1,
        };
        if to < channels { to } else { channels - 1 }
    }
}

impl SharedLine {
    /// The end of a cable after power-up.
    pub(crate) fn new(codes: VirtualCodes, passage: PassageMode) -> Option<Self> {
        Some(Self {
            codes,
            passage,
            selector: VirtualChannelSelector::new(codes.profile()?, Some(0)),
            selected: None,
            due: [None; SHARES_MAX],
            turn: (0, 0),
            fill: 0,
        })
    }

    pub(crate) const fn channels(&self) -> u8 {
        self.codes.channels
    }

    /// The virtual channel of a packet that is sent on here from another one.
    pub(crate) const fn passage(&self, from: u8) -> u8 {
        self.passage.channel(from, self.codes.channels)
    }

    /// Lets the sender select again before its next character: the far end may not know what is selected.
    pub(crate) const fn deselect(&mut self) {
        self.selected = None;
    }

    /// The line at a loss of power.
    pub(crate) fn power_off(&mut self) {
        self.selector.select(Some(0));
        (self.selected, self.due) = (None, [None; SHARES_MAX]);
    }

    /// Adds a STOP or GO of a slack buffer; one that has not been sent is out of date.
    pub(crate) fn command(&mut self, channel: u8, command: StopGo) {
        self.due.get_mut(usize::from(channel)).into_iter().for_each(|due| *due = Some(command));
    }

    /// Decides the use of a period. F-6
    pub(crate) fn next_use(&mut self, wishes: [LineRequest; SHARES_MAX]) -> LineUse {
        for (channel, due) in (0..).zip(&mut self.due) {
            if let Some(command) = due.take() {
                return LineUse::Command(channel, command);
            }
        }
        let request = |channel: u8| wishes.get(usize::from(channel)).copied().unwrap_or_default();
        let next = |kind| self.in_turn().find(|channel| request(*channel) == kind);
        if let Some(channel) = next(LineRequest::Symbol) {
            return self.give(channel);
        }
        if let Some(other) = next(LineRequest::Packet) {
            let (current, left) = self.turn;
            let goes_on = request(current) == LineRequest::Packet && (left > 0 || other == current);
            if !goes_on {
                self.turn = (other, TURN);
            }
            let granted = self.give(self.turn.0);
            if matches!(granted, LineUse::Character(_)) {
                self.turn.1 = self.turn.1.saturating_sub(1);
            }
            return granted;
        }
        self.next_fill(self.selected.filter(|channel| request(*channel) == LineRequest::Nothing))
    }

    /// The virtual channels, the one whose turn it is last.
    fn in_turn(&self) -> impl Iterator<Item = u8> + use<> {
        let (channels, (current, _)) = (self.codes.channels, self.turn);
        (1..=channels).map(move |step| (current + step) % channels)
    }

    /// The character of a virtual channel, or its selection before it.
    fn give(&mut self, channel: u8) -> LineUse {
        if self.selected == Some(channel) {
            return LineUse::Character(channel);
        }
        self.selected = Some(channel);
        LineUse::Selection(channel)
    }

    /// GAP of the selected virtual channel, if it is between packets, then the STOP or GO of each. F-8
    /// *Chosen*
    fn next_fill(&mut self, between: Option<u8>) -> LineUse {
        let (channels, len) = (self.codes.channels, self.cycle_len(between));
        let place;
        (place, self.fill) = next_place(self.fill, len, channels);
        match (place.checked_sub(1), between) {
            (None, Some(channel)) => LineUse::FillGap(channel),
            (command, _) => LineUse::FillCommand(command.unwrap_or_default()),
        }
    }

    fn cycle_len(&self, between: Option<u8>) -> u8 {
        self.codes.channels + u8::from(between.is_some())
    }

    /// True if the STOP and GO of all slack buffers have been sent.
    pub(crate) fn is_calm(&self) -> bool {
        self.due.iter().all(Option::is_none)
    }

    /// The virtual channel that this end has selected.
    pub(crate) const fn selected(&self) -> Option<u8> {
        self.selected
    }

    /// The virtual channel that the far end has selected.
    pub(crate) const fn receiving(&self) -> Option<u8> {
        self.selector.selected()
    }

    /// The virtual channel whose bytes follow each other as long as no other one has something to send.
    pub(crate) fn streaming(&self) -> Option<u8> {
        let (current, _) = self.turn;
        self.selected.filter(|channel| *channel == current && self.is_calm())
    }

    /// Counts bytes of the virtual channel whose turn it is.
    pub(crate) fn pass_bytes(&mut self, count: u64) {
        let (_, left) = &mut self.turn;
        *left = left.saturating_sub(u8::try_from(count).unwrap_or(u8::MAX));
    }

    /// The characters from a period on as long as nothing but fill is sent, given the selected virtual
    /// channel if it is between packets, and the last STOP or GO of each.
    pub(crate) fn fill_cycle(
        &self,
        period: u64,
        between: Option<u8>,
        command: impl Fn(u8) -> TaggedChar,
    ) -> Option<CellCycle> {
        let (channels, len, mut fill) = (self.codes.channels, self.cycle_len(between), self.fill);
        CellCycle::new(period, len, |_| {
            let place;
            (place, fill) = next_place(fill, len, channels);
            Some(match place.checked_sub(1) {
                None => TaggedChar::GAP,
                Some(channel) => self.on_wires(channel, command(channel)),
            })
        })
    }

    /// Counts periods of a cycle of fill.
    pub(crate) fn pass_fill(&mut self, periods: u64, cycle: &CellCycle) {
        let len = u64::from(cycle.len());
        // A cycle without GAP may begin at a place to which it does not come back.
        for _ in 0..if periods < len { periods } else { len + periods % len } {
            (_, self.fill) = next_place(self.fill, cycle.len(), self.codes.channels);
        }
    }

    /// The code that selects a virtual channel.
    pub(crate) fn selection(&self, channel: u8) -> TaggedChar {
        TaggedChar::control(self.codes.code(0, channel))
    }

    /// A character of a virtual channel as it is on the wires.
    pub(crate) fn on_wires(&self, channel: u8, cell: TaggedChar) -> TaggedChar {
        let code = match cell.character() {
            Character::Control(0x03) => self.codes.code(1, channel),
            Character::Control(0x0f) => self.codes.code(2, channel),
            Character::Control(_) | Character::Data(_) => return cell,
        };
        cell.with_bits(code.into())
    }

    /// Assigns a received character that is fill or silence, and so selects nothing.
    pub(crate) fn assign_fill(&self, cell: TaggedChar) -> Option<[ReceivedShare; SHARES_MAX]> {
        let (channel, own) = match cell.character() {
            Character::IDLE => return Some([ReceivedShare::Own(cell); SHARES_MAX]),
            Character::Data(_) => return None,
            Character::GAP => (self.receiving()?, cell),
            Character::Control(code) => (0..self.codes.channels).find_map(|channel| {
                let of = |role| self.codes.code(role, channel) == code;
                let command = of(1).then_some(StopGo::Go).or(of(2).then_some(StopGo::Stop))?;
                Some((channel, cell.with_bits(command_code(command).bits())))
            })?,
        };
        let mut shares = [ReceivedShare::Other; SHARES_MAX];
        *shares.get_mut(usize::from(channel))? = ReceivedShare::Own(own);
        Some(shares)
    }

    /// Assigns a received character; `VCn` is no one's own.
    pub(crate) fn assign(&mut self, cell: TaggedChar) -> [ReceivedShare; SHARES_MAX] {
        let mut shares = [ReceivedShare::Other; SHARES_MAX];
        match self.selector.assign(cell.character()) {
            AssignedChar::Silence => shares = [ReceivedShare::Own(cell); SHARES_MAX],
            AssignedChar::Of(channel, own) => {
                let own = ReceivedShare::Own(cell.with_bits(own.bits()));
                shares.get_mut(usize::from(channel)).into_iter().for_each(|share| *share = own);
            }
            AssignedChar::Selection(_) | AssignedChar::Unknown => {}
        }
        shares
    }
}

/// The place of the next character in a cycle of fill of this length, 0 for a GAP, and the one behind it.
const fn next_place(place: u8, len: u8, channels: u8) -> (u8, u8) {
    let place = if len == channels && place == 0 { 1 } else { place };
    (place, (place + 1) % (channels + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use LineRequest::{More, Nothing, Packet, Symbol};

    const TWO: &str = "VC0=50,VC1=51,GO1=60,STOP1=6f";
    const THREE: &str = "VC0=50,VC1=51,VC2=52,GO0=61,GO1=62,GO2=64,STOP1=68,STOP2=70";

    fn codes(profile: &str) -> VirtualCodes {
        VirtualCodes::of(&profile.parse().unwrap())
    }

    /// Uses of some periods in which the virtual channels have these wishes.
    fn uses(line: &mut SharedLine, wishes: &[LineRequest], periods: usize) -> String {
        let mut all = [Nothing; SHARES_MAX];
        all[..wishes.len()].copy_from_slice(wishes);
        let next = |_| match line.next_use(all) {
            LineUse::Command(channel, StopGo::Stop) => format!("STOP{channel}"),
            LineUse::Command(channel, StopGo::Go) => format!("GO{channel}"),
            LineUse::Selection(channel) => format!("VC{channel}"),
            LineUse::Character(channel) => channel.to_string(),
            LineUse::FillGap(channel) => format!("GAP{channel}"),
            LineUse::FillCommand(channel) => format!("fill{channel}"),
        };
        (0..periods).map(next).collect::<Vec<_>>().join(" ")
    }

    /// C-7
    #[test]
    fn a_packet_leaves_on_a_virtual_channel_that_the_output_has() {
        let of = |(mode, from): (PassageMode, u8)| mode.channel(from, 2);
        let (same, next) = (PassageMode::Same, PassageMode::Next);
        let came = [(same, 0), (same, 1), (same, 3), (next, 0), (next, 1)];
        assert_eq!(came.map(of), [0, 1, 1, 1, 1]);
    }

    #[test]
    fn codes_give_their_profile_back() {
        for profile in [TWO, THREE] {
            assert_eq!(codes(profile).profile().unwrap().to_string(), profile);
        }
    }

    /// F-6, F-8, C-7
    #[test]
    fn stop_and_go_come_first_then_symbols_packets_in_turns_and_fill() {
        let line = &mut SharedLine::new(codes(TWO), PassageMode::Same).unwrap();
        // Nothing is selected, so that there is no GAP.
        assert_eq!(uses(line, &[Nothing, Nothing], 3), "fill0 fill1 fill0");
        let turns = "VC1 1 1 1 1 1 1 1 1 VC0 0 0 0 0 0 0 0 0 VC1 1 1";
        assert_eq!(uses(line, &[Packet, Packet], 21), turns);
        line.command(1, StopGo::Stop);
        line.command(0, StopGo::Go);
        assert_eq!(uses(line, &[Symbol, Packet], 5), "GO0 STOP1 VC0 0 0");
        // The rest of a turn of 8, of which two are gone; one that has nothing is skipped at once.
        assert_eq!(uses(line, &[Packet, Packet], 9), "VC1 1 1 1 1 1 1 VC0 0");
        assert_eq!(uses(line, &[More, Packet], 3), "VC1 1 1");
        assert_eq!(uses(line, &[More, Nothing], 4), "fill1 GAP1 fill0 fill1");
        assert_eq!(uses(line, &[Nothing, More], 3), "fill0 fill1 fill0");
        // After an open link it selects again.
        line.deselect();
        assert_eq!(uses(line, &[Nothing, Packet], 2), "VC1 1");
    }

    /// S-7: what was selected, in either direction, and what was due is forgotten.
    #[test]
    fn a_loss_of_power_begins_a_line_anew() {
        let mut line = SharedLine::new(codes(TWO), PassageMode::Same).unwrap();
        assert_eq!(uses(&mut line, &[Packet], 2), "VC0 0");
        line.command(1, StopGo::Stop);
        let byte = TaggedChar::data(0x2a);
        let of = |line: &mut SharedLine| {
            let shares = line.assign(byte);
            [0, 1].map(|channel| matches!(shares[channel], ReceivedShare::Own(_)))
        };
        line.assign(TaggedChar::control(0x51));
        assert_eq!(of(&mut line), [false, true]);
        line.power_off();
        assert_eq!(uses(&mut line, &[Packet], 2), "VC0 0");
        assert_eq!(of(&mut line), [true, false]);
    }

    #[test]
    fn three_virtual_channels_use_the_codes_of_the_profile() {
        let mut line = SharedLine::new(codes(THREE), PassageMode::Next).unwrap();
        assert_eq!(uses(&mut line, &[Nothing, Nothing, Packet], 2), "VC2 2");
        assert_eq!(uses(&mut line, &[Nothing; 3], 5), "GAP2 fill0 fill1 fill2 GAP2");
        assert_eq!([0, 1, 2].map(|from| line.passage(from)), [1, 2, 2]);
        assert_eq!(line.channels(), 3);
        let (go, stop) = (TaggedChar::control(0x03), TaggedChar::control(0x0f));
        let on = |channel, cell| line.on_wires(channel, cell).low();
        assert_eq!([on(0, go), on(1, go), on(0, stop), on(2, stop)], [0x61, 0x62, 0x0f, 0x70]);
        assert_eq!(line.selection(2).low(), 0x52);
    }
}
