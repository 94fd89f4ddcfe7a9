//! Options of pcapng blocks. They are parsed here because pcap-file rejects a whole block for one
//! irregular option.

use std::borrow::Cow;

use super::error::{BlockPosition, CaptureFault};
use super::writer::ByteOrder;

/// A word of an interface's description.
pub(super) enum InterfaceOption<'a> {
    Name(Cow<'a, str>),
    Comment(Cow<'a, str>),
}

/// The option that is a comment, in every pcapng block.
pub(super) const OPT_COMMENT: u16 = 1;
/// The option that is an interface's name.
const IF_NAME: u16 = 2;

/// Name and comments of an interface. Bytes that are not UTF-8 are read as U+FFFD, with a fault.
/// `place` is that of the options.
pub(super) fn interface_options<'a>(
    mut options: BlockOptions<'a>,
    place: BlockPosition,
    out: &mut dyn FnMut(CaptureFault),
) -> Vec<InterfaceOption<'a>> {
    let (all, mut words) = (options.bytes.len(), Vec::new());
    loop {
        let left = options.bytes.len();
        let at = place.within((all - left) as u64);
        let Some((code, value)) = options.next() else {
            // An option that is cut short stays where it is.
            if left > 0 && options.bytes.len() == left {
                out(at.fault("options", "end inside an option"));
            }
            return words;
        };
        let (field, word): (_, fn(_) -> InterfaceOption<'a>) = match options.order.whole(code) {
            IF_NAME => ("if_name", InterfaceOption::Name),
            OPT_COMMENT => ("comment", InterfaceOption::Comment),
            _ => continue,
        };
        if let Err(error) = std::str::from_utf8(value) {
            let byte = value.get(error.valid_up_to()).copied().unwrap_or_default();
            let fault = format!("holds 0x{byte:02x}, which is not UTF-8: read as U+FFFD");
            out(at.within(4 + error.valid_up_to() as u64).fault(field, fault));
        }
        words.push(word(String::from_utf8_lossy(value)));
    }
}

#[derive(Clone, Copy)]
pub(super) struct BlockOptions<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) order: ByteOrder,
}

impl<'a> BlockOptions<'a> {
    pub(super) fn comments(self) -> impl Iterator<Item = &'a [u8]> {
        let comment = self.order.half(OPT_COMMENT);
        self.filter_map(move |(code, value)| (code == comment).then_some(value))
    }
}

impl<'a> Iterator for BlockOptions<'a> {
    type Item = ([u8; 2], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let ([a, b, c, d], rest) = self.bytes.split_first_chunk()?;
        let len = self.order.whole([*c, *d]);
        let value = rest.get(..len.into())?;
        self.bytes = rest.get(usize::from(len).next_multiple_of(4)..).unwrap_or_default();
        // The end of all options has no code and no length.
        ([*a, *b] != [0, 0]).then_some(([*a, *b], value))
    }
}
