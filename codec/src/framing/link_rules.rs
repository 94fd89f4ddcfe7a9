//! Properties of a link on which framing depends. F-7, C-7

use crate::character::{DecodedCode, Symbol, VirtualRole, decode_control};
use crate::time::LinkTimeout;
use crate::virtual_channels::SelectCodes;

/// Properties of a link on which framing depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkRules {
    /// The open-link timeout. F-7, B-1
    pub timeout: LinkTimeout,
    /// In a channel that was split off a link: codes of periods that other virtual channels use, which are no
    /// characters of this one. C-7
    pub selects: SelectCodes,
}

impl LinkRules {
    /// Those of a Myrinet link without virtual channels.
    pub const MYRINET: Self = Self { timeout: LinkTimeout::Silence, selects: SelectCodes::NONE };

    /// Decodes a control code other than IDLE. C-2..C-5, C-7
    #[inline]
    pub fn decode(&self, code: u8) -> DecodedCode {
        match self.selects.channel(code) {
            Some(channel) => {
                DecodedCode::Exact(Symbol::Virtual { role: VirtualRole::Select, channel })
            }
            None => decode_control(code),
        }
    }
}
