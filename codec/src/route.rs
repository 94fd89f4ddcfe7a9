//! Route bytes and the switch ports that they select. P-2, P-3, S-1 (§3.1, §3.2)

/// Most ports that a route byte can name: seven bits absolute. S-1
pub const PORTS_MAX: u8 = 128;

/// A port of a switch, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortId(pub u8);

crate::named_enum! {
    /// Interpretation of route bytes by a switch. S-1 (§3.1, §3.2)
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RouteAddressing {
        /// Bits 6–0 name the output port.
        Absolute = "absolute",
        /// Bits 5–0, two's complement, are added to the input port; bit 6 is 0; no wrap-around.
        Relative = "relative",
    }
}

/// Error of a byte that selects no port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// A tag, which is for an interface. S-2
    #[error("0x{byte:02x} is not a route byte (MSB must be 1)")]
    Tag {
        /// The byte found.
        byte: u8,
    },
    /// Bit 6 of a relative route byte is set. S-1
    #[error("0x{byte:02x} is not a relative route byte (bit 6 must be 0)")]
    BitSix {
        /// The route byte.
        byte: u8,
    },
    /// A port that the switch does not have. S-1
    #[error("0x{byte:02x} names port {port} (the switch has 0..{ports})")]
    NoPort {
        /// The route byte.
        byte: u8,
        /// The selected port; may be negative.
        port: i16,
        /// Number of ports of the switch.
        ports: u8,
    },
}

impl RouteAddressing {
    /// Number in answers of switches and in maps. *Chosen* S-8
    pub const fn number(self) -> u8 {
        match self {
            Self::Absolute => 0,
            Self::Relative => 1,
        }
    }

    /// Inverse of [`Self::number`].
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Absolute),
            1 => Some(Self::Relative),
            _ => None,
        }
    }

    /// The output port that a packet's first byte selects in a switch of `ports` ports. S-1, S-2
    ///
    /// # Errors
    /// Reason for which the switch drops the packet.
    pub const fn select(self, byte: u8, input: PortId, ports: u8) -> Result<PortId, RouteError> {
        if !is_route_byte(byte) {
            return Err(RouteError::Tag { byte });
        }
        let port = match self {
            Self::Absolute => (byte & 0x7f) as i16,
            Self::Relative if byte & 0x40 != 0 => return Err(RouteError::BitSix { byte }),
            // Bit 5 is the sign: 0x20 and above are 64 less.
            Self::Relative => input.0 as i16 + (byte & 0x1f) as i16 - (byte & 0x20) as i16,
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0..ports")]
        if 0 <= port && port < ports as i16 {
            Ok(PortId(port as u8))
        } else {
            Err(RouteError::NoPort { byte, port, ports })
        }
    }

    /// The route byte that takes a packet from one port to another: what [`Self::select`] reads.
    /// `None` where no byte does: beyond port 127, or further than 31 up or 32 down. S-1
    pub const fn byte(self, input: PortId, output: PortId) -> Option<u8> {
        match self {
            Self::Absolute if output.0 < PORTS_MAX => Some(0x80 | output.0),
            Self::Absolute => None,
            Self::Relative => {
                let step = output.0 as i16 - input.0 as i16;
                let [low, _] = step.to_le_bytes();
                if -32 <= step && step < 32 { Some(0x80 | low & 0x3f) } else { None }
            }
        }
    }
}

/// The way back over relative switches: the negated route bytes in reverse order. N-8
pub fn reversed(route: &[u8]) -> Vec<u8> {
    route.iter().rev().map(|byte| 0x80 | byte.wrapping_neg() & 0x3f).collect()
}

/// True for a route byte, `1xxxxxxx`; false for a tag, `0yyyyyyy`. P-2 (§3.1)
pub const fn is_route_byte(byte: u8) -> bool {
    byte & 0x80 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_bytes_name_the_port_and_relative_ones_do_not_wrap_around() {
        let select = |byte, ports| RouteAddressing::Absolute.select(byte, PortId(3), ports);
        assert_eq!(select(0x80, 4), Ok(PortId(0)));
        assert_eq!(select(0x83, 4), Ok(PortId(3)));
        assert_eq!(select(0x84, 4), Err(RouteError::NoPort { byte: 0x84, port: 4, ports: 4 }));
        assert_eq!(select(0x03, 4), Err(RouteError::Tag { byte: 0x03 }));
        assert_eq!(select(0x9f, 32), Ok(PortId(31)));
        let select = |byte, input| RouteAddressing::Relative.select(byte, PortId(input), 8);
        assert_eq!(select(0x80, 5), Ok(PortId(5)));
        assert_eq!(select(0xbf, 5), Ok(PortId(4)));
        assert_eq!(select(0xbf, 0), Err(RouteError::NoPort { byte: 0xbf, port: -1, ports: 8 }));
        assert_eq!(select(0x81, 7), Err(RouteError::NoPort { byte: 0x81, port: 8, ports: 8 }));
        assert_eq!(select(0xc1, 3), Err(RouteError::BitSix { byte: 0xc1 }));
        let error = RouteAddressing::Absolute.select(0x05, PortId(0), 8).unwrap_err();
        assert_eq!(error.to_string(), "0x05 is not a route byte (MSB must be 1)");
    }

    /// N-8
    #[test]
    fn the_way_back_is_negated_and_reversed_and_a_name_selects_its_way() {
        // +3, 0, −1, −31.
        assert_eq!(reversed(&[0x83, 0x80, 0xbf, 0xa1]), [0x9f, 0x81, 0x80, 0xbd]);
        assert_eq!(reversed(&reversed(&[0x83, 0xbf])), [0x83, 0xbf]);
        for addressing in [RouteAddressing::Absolute, RouteAddressing::Relative] {
            for (input, output) in
                (0..32).flat_map(|i| (0..32).map(move |o| (PortId(i), PortId(o))))
            {
                let byte = addressing.byte(input, output).unwrap();
                assert_eq!(addressing.select(byte, input, 32), Ok(output));
            }
        }
    }

    /// S-1
    #[test]
    fn a_byte_reaches_so_far_and_no_further() {
        let absolute = |port| RouteAddressing::Absolute.byte(PortId(9), PortId(port));
        assert_eq!([0, 127, 128].map(absolute), [Some(0x80), Some(0xff), None]);
        let relative = |from, to| RouteAddressing::Relative.byte(PortId(from), PortId(to));
        assert_eq!([relative(40, 8), relative(40, 7)], [Some(0xa0), None]);
        assert_eq!([relative(40, 71), relative(40, 72)], [Some(0x9f), None]);
    }
}
