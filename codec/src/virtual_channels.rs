//! Virtual channels: a link profile gives codes to their symbols, and the characters of a link belong to one of
//! them each. C-7 (§4.8.4)

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::character::{Character, CodeTable, DecodedCode, Symbol, VirtualRole};
use crate::chars::{CharBuf, CharRun, Chars};

/// Most virtual channels of a link. *Chosen*.
pub const VIRTUAL_CHANNELS_MAX: u8 = 4;

const ROLES: [(VirtualRole, &str); 3] =
    [(VirtualRole::Select, "VC"), (VirtualRole::Go, "GO"), (VirtualRole::Stop, "STOP")];

/// Codes of the symbols of two to four virtual channels, as text `VC0=50,VC1=51,GO1=60,STOP1=6f`. The mandatory
/// GO and STOP are those of virtual channel 0, to which a profile may give others beside them (*chosen*). C-7
///
/// ```
/// use myriscope_codec::character::VirtualRole;
/// use myriscope_codec::virtual_channels::LinkProfile;
///
/// let profile: LinkProfile = "VC0=50 VC1=51 # selection\n GO1=60 STOP1=6f".parse()?;
/// assert_eq!((profile.channels(), profile.code(VirtualRole::Stop, 1)), (2, Some(0x6f)));
/// assert_eq!(profile.code(VirtualRole::Go, 0), Some(0x03));
/// assert_eq!(profile.to_string(), "VC0=50,VC1=51,GO1=60,STOP1=6f");
/// # Ok::<(), myriscope_codec::virtual_channels::ProfileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkProfile {
    table: CodeTable,
    codes: BTreeMap<(VirtualRole, u8), u8>,
    channels: u8,
}

/// Fault of the text of a link profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// A word is not a symbol and its code.
    #[error(
        "{0:?} is no symbol with its code, such as VC1=51: VC, GO or STOP, a number from 0 to 3, two hexadecimal digits"
    )]
    Word(String),
    /// A symbol has two codes.
    #[error("{0} has two codes")]
    Twice(Symbol),
    /// The code has a meaning already.
    #[error("{symbol}: code {code:02x} is taken by {by}")]
    Taken {
        /// The symbol that was to have the code.
        symbol: Symbol,
        /// The code.
        code: u8,
        /// The symbol that has it, also by one bit that is lost. C-2, C-4
        by: Symbol,
    },
    /// A symbol has no code.
    #[error("{0} has no code; at least VC0, VC1, GO1 and STOP1 need one")]
    Missing(Symbol),
}

impl LinkProfile {
    /// Number of virtual channels, 2 to 4.
    pub const fn channels(&self) -> u8 {
        self.channels
    }

    /// The code of a symbol; of GO and STOP of virtual channel 0 the mandatory one, if the profile has no other.
    pub fn code(&self, role: VirtualRole, channel: u8) -> Option<u8> {
        let mandatory = match role {
            VirtualRole::Go => Symbol::Go.code(),
            VirtualRole::Stop => Symbol::Stop.code(),
            VirtualRole::Select => None,
        };
        let own = self.codes.get(&(role, channel)).copied();
        own.or(mandatory.filter(|_| channel == 0))
    }

    /// Decodes a control code. C-2..C-5, C-7
    pub const fn decode(&self, code: u8) -> DecodedCode {
        self.table.decode(code)
    }

    /// The codes that select virtual channels.
    pub fn select_codes(&self) -> SelectCodes {
        let mut codes = SelectCodes::default();
        for (channel, code) in codes.0.iter_mut().zip(0..self.channels) {
            *channel = self.code(VirtualRole::Select, code).unwrap_or_default();
        }
        codes
    }
}

/// Parses `NAME=CODE` words, separated by commas or white space; a `#` begins a comment that ends with its line.
impl FromStr for LinkProfile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let words = lines.flat_map(|line| line.split([',', ' ', '\t', '\r']));
        let (mut table, mut codes) = (CodeTable::STANDARD, BTreeMap::new());
        for word in words.filter(|word| !word.is_empty()) {
            let (role, channel, code) =
                symbol_code(word).ok_or_else(|| ProfileError::Word(word.to_owned()))?;
            let symbol = Symbol::Virtual { role, channel };
            if codes.insert((role, channel), code).is_some() {
                return Err(ProfileError::Twice(symbol));
            }
            table = table.with(code, symbol).map_err(|decoded| ProfileError::Taken {
                symbol,
                code,
                by: decoded.symbol().unwrap_or(symbol),
            })?;
        }
        let channels = 1 + codes.keys().map(|(_, channel)| *channel).max().unwrap_or(0).max(1);
        for (role, channel) in
            ROLES.iter().flat_map(|(role, _)| (0..channels).map(move |n| (*role, n)))
        {
            let is_mandatory = channel == 0 && role != VirtualRole::Select;
            if !is_mandatory && !codes.contains_key(&(role, channel)) {
                return Err(ProfileError::Missing(Symbol::Virtual { role, channel }));
            }
        }
        Ok(Self { table, codes, channels })
    }
}

fn symbol_code(word: &str) -> Option<(VirtualRole, u8, u8)> {
    let (name, code) = word.split_once('=')?;
    let (role, number) =
        ROLES.iter().find_map(|(role, family)| Some((*role, name.strip_prefix(family)?)))?;
    let channel = (0..VIRTUAL_CHANNELS_MAX).find(|channel| channel.to_string() == number)?;
    let digits = code.strip_prefix("0x").unwrap_or(code);
    let is_hex = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    Some((role, channel, u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?))
}

impl fmt::Display for LinkProfile {
    /// Words separated by commas: a word of a channel's description.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, ((role, channel), code)) in self.codes.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            let symbol = Symbol::Virtual { role: *role, channel: *channel };
            write!(f, "{comma}{symbol}={code:02x}")?;
        }
        Ok(())
    }
}

/// Codes `VCn` of a link by n, 0 behind the last one; none on a link without virtual channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectCodes([u8; VIRTUAL_CHANNELS_MAX as usize]);

impl SelectCodes {
    /// Those of a link without virtual channels.
    pub const NONE: Self = Self([0; VIRTUAL_CHANNELS_MAX as usize]);

    /// The virtual channel that a code other than IDLE selects.
    #[inline]
    pub fn channel(self, code: u8) -> Option<u8> {
        (0..VIRTUAL_CHANNELS_MAX)
            .zip(self.0)
            .find(|(_, own)| *own == code)
            .map(|(channel, _)| channel)
    }
}

/// A character of a link, assigned to a virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignedChar {
    /// IDLE: a period without a character. C-6
    Silence,
    /// A character of a virtual channel, as it would be on a link of its own: `GOn` as GO, `STOPn` as STOP.
    Of(u8, Character),
    /// `VCn`.
    Selection(u8),
    /// A character of an unknown virtual channel: none was selected since the recording began.
    Unknown,
}

/// Assigns the characters of one channel to its virtual channels. `VCn` selects the virtual channel of all characters
/// behind it, GAP, FRES and the other symbols included; STOP and GO have numbers of their own and select nothing
/// (*chosen*). C-7
#[derive(Clone, Debug)]
pub struct VirtualChannelSelector {
    profile: LinkProfile,
    selected: Option<u8>,
}

impl VirtualChannelSelector {
    /// A selector of a channel on which a virtual channel is selected, if that is known.
    pub const fn new(profile: LinkProfile, selected: Option<u8>) -> Self {
        Self { profile, selected }
    }

    /// The selected virtual channel, if it is known.
    pub const fn selected(&self) -> Option<u8> {
        self.selected
    }

    /// Sets the selected virtual channel.
    pub const fn select(&mut self, selected: Option<u8>) {
        self.selected = selected;
    }

    /// Assigns the next character.
    pub fn assign(&mut self, character: Character) -> AssignedChar {
        let of = |channel: Option<u8>, character| {
            channel.map_or(AssignedChar::Unknown, |channel| AssignedChar::Of(channel, character))
        };
        let Character::Control(code) = character else { return of(self.selected, character) };
        match self.profile.decode(code).symbol() {
            Some(Symbol::Idle) => AssignedChar::Silence,
            Some(Symbol::Virtual { role: VirtualRole::Select, channel }) => {
                self.selected = Some(channel);
                AssignedChar::Selection(channel)
            }
            Some(Symbol::Virtual { role: VirtualRole::Go, channel }) => of(Some(channel), GO),
            Some(Symbol::Virtual { role: VirtualRole::Stop, channel }) => of(Some(channel), STOP),
            Some(Symbol::Go | Symbol::Stop) => of(Some(0), character),
            Some(_) | None => of(self.selected, character),
        }
    }

    /// Appends the characters of each virtual channel to its part of `out`, one for each period: in the periods of
    /// another one, and of selections, the code `VCn` of the virtual channel that uses the link. It is no character
    /// of the virtual channel, but a sign that the link is not open (F-7).
    pub fn split(&mut self, chars: Chars<'_>, out: &mut [CharBuf]) {
        for run in chars.runs() {
            match (run, self.selected) {
                (CharRun::Data(bytes), Some(selected)) => {
                    let other = self.select_code(selected);
                    for (channel, own) in out.iter_mut().enumerate() {
                        if channel == usize::from(selected) {
                            own.push_data(bytes);
                        } else {
                            own.extend(bytes.iter().map(|_| other));
                        }
                    }
                }
                (CharRun::Data(bytes), None) => {
                    bytes.iter().for_each(|byte| self.split_char(Character::Data(*byte), out));
                }
                (CharRun::Control(codes), _) => {
                    codes.iter().for_each(|code| self.split_char(Character::Control(*code), out));
                }
            }
        }
    }

    fn split_char(&mut self, character: Character, out: &mut [CharBuf]) {
        let (owner, own, other) = match self.assign(character) {
            AssignedChar::Silence => (None, character, character),
            AssignedChar::Of(channel, own) => (Some(channel), own, self.select_code(channel)),
            AssignedChar::Selection(channel) => (None, character, self.select_code(channel)),
            AssignedChar::Unknown => (None, character, self.select_code(0)),
        };
        for (channel, buf) in out.iter_mut().enumerate() {
            buf.push(if owner.map(usize::from) == Some(channel) { own } else { other });
        }
    }

    fn select_code(&self, channel: u8) -> Character {
        let code = self.profile.code(VirtualRole::Select, channel);
        Character::Control(code.unwrap_or_default())
    }
}

const GO: Character = Character::Control(0x03);
const STOP: Character = Character::Control(0x0f);

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: &str = "VC0=50,VC1=51,GO1=60,STOP1=6f";

    /// C-7, C-2, C-4
    #[test]
    fn a_profile_gives_each_symbol_a_code_that_is_free() {
        for (text, fault) in [
            (
                "VC0=50,VC1=51,GO1=60",
                "STOP1 has no code; at least VC0, VC1, GO1 and STOP1 need one",
            ),
            ("", "VC0 has no code; at least VC0, VC1, GO1 and STOP1 need one"),
            ("VC0=50,VC0=51", "VC0 has two codes"),
            ("VC0=0c", "VC0: code 0c is taken by GAP"),
            ("VC0=04", "VC0: code 04 is taken by GAP"),
            ("VC0=00", "VC0: code 00 is taken by IDLE"),
            ("VC0=c0", "VC0: code c0 is taken by PRB0"),
            ("VC0=50 VC1=50", "VC1: code 50 is taken by VC0"),
        ] {
            assert_eq!(text.parse::<LinkProfile>().unwrap_err().to_string(), fault, "{text}");
        }
        for word in ["VC4=50", "VC=50", "VC01=50", "VC0=5", "VC0=+5", "VC0=0x", "GAP=50", "VC0"] {
            assert_eq!(word.parse::<LinkProfile>(), Err(ProfileError::Word(word.to_owned())));
        }
    }

    #[test]
    fn the_text_of_a_profile_is_read_back() {
        let three = "VC0=50,VC1=51,VC2=52,GO0=61,GO1=62,GO2=64,STOP1=68,STOP2=70";
        for text in [PROFILE, three] {
            assert_eq!(text.parse::<LinkProfile>().unwrap().to_string(), text);
        }
        let profile: LinkProfile = three.parse().unwrap();
        assert_eq!(profile.channels(), 3);
        // The mandatory codes stay those of virtual channel 0.
        assert_eq!(profile.code(VirtualRole::Go, 0), Some(0x61));
        assert_eq!(profile.code(VirtualRole::Stop, 0), Some(0x0f));
        assert_eq!(profile.decode(0x03), DecodedCode::Exact(Symbol::Go));
        let codes = profile.select_codes();
        let channels = [0x50, 0x52, 0x53, 0x61].map(|code| codes.channel(code));
        assert_eq!(channels, [Some(0), Some(2), None, None]);
    }

    /// Each period has a character of one virtual channel at most; the others see that the link is in use.
    #[test]
    fn characters_belong_to_the_selected_virtual_channel_but_for_stop_and_go() {
        let lines = [
            // On the link, of virtual channel 0, of virtual channel 1.
            ("81", "81", "!50"),
            ("!51", "!51", "!51"),
            ("92", "!51", "92"),
            ("STOP", "STOP", "!50"),
            ("93", "!51", "93"),
            ("!6f", "!51", "STOP"),
            ("IDLE", "IDLE", "IDLE"),
            // One bit of a GAP is lost. C-4
            ("GAP!04", "!51", "GAP!04"),
            ("!50", "!50", "!50"),
            ("!60", "!51", "GO"),
            ("05", "05", "!50"),
            ("GAP", "GAP", "!50"),
        ];
        let column = |pick: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
            let text: Vec<_> = lines.iter().map(pick).collect();
            crate::notation::parse(&text.join(" ")).unwrap()
        };
        let mut selector = VirtualChannelSelector::new(PROFILE.parse().unwrap(), Some(0));
        let mut out = [CharBuf::new(), CharBuf::new()];
        selector.split(column(|line| line.0).chars(), &mut out);
        assert_eq!(out[0].chars(), column(|line| line.1).chars());
        assert_eq!(out[1].chars(), column(|line| line.2).chars());
        assert_eq!(selector.selected(), Some(0));
    }
}
