//! The nine wires of a channel over time, as text. W-1, W-2

use std::sync::Arc;

use codec::capture::{CaptureItem, Channel, ChannelId, Chunk, ChunkContent};
use codec::folding::{FoldedRun, RunFolder};
use codec::time::{CharacterPeriod, Tick};
use codec::wires::WIRES;

use super::column::{named, selections};
use super::words::styled;
use super::{INDEX, LinkLayout, LinkViewRow};
use crate::channel_name::link_name;
use crate::render::line::{StyledLine, TextStyle};

/// Fewest columns of a character: the change of a wire, and its level.
const CELL: usize = 3;

/// View of the wires of a channel. A 1 changes a wire, so levels are relative: behind what was not recorded, and in the
/// beginning, all are low.
#[derive(Debug)]
pub struct WaveformView {
    name: Option<String>,
    channel: Option<ChannelId>,
    /// The character after the last one that was fed.
    fed: Option<Tick>,
    folder: RunFolder,
    picture: WaveformPicture,
}

/// Item of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaveformItem {
    /// The channel, before its first row.
    Head(Arc<Channel>),
    /// An interval of time: its characters, and the lines of the picture: time and symbols, wire `d`, wires 7 to 0.
    Row(LinkViewRow, Vec<StyledLine>),
}

/// The row that is being drawn.
#[derive(Debug, Default)]
struct WaveformPicture {
    layout: LinkLayout,
    period: Option<CharacterPeriod>,
    selections: Vec<[String; 2]>,
    start: Tick,
    /// The character after the last one that was drawn.
    end: Tick,
    /// Bit i is the level of wire i.
    levels: u16,
    symbols: String,
    /// Text of each wire, of the same width as the symbols.
    wires: [String; WIRES],
}

impl WaveformView {
    /// A view of a channel, or of the first one, in rows of a layout. The name of a link with virtual channels is
    /// that of the first of them. C-7
    pub fn new(name: Option<String>, layout: LinkLayout) -> Self {
        let picture = WaveformPicture { layout, ..WaveformPicture::default() };
        Self { name, channel: None, fed: None, folder: RunFolder::default(), picture }
    }

    /// Processes an item of the capture, and emits the rows that are complete.
    pub fn feed(&mut self, item: &CaptureItem<'_>, out: &mut impl FnMut(WaveformItem)) {
        match item {
            CaptureItem::Section => {
                self.finish(out);
                *self = Self::new(self.name.take(), self.picture.layout);
            }
            CaptureItem::Channel(id, channel) => {
                let is_own =
                    |name: &String| *name == channel.name || *name == link_name(&channel.name);
                if self.channel.is_none() && self.name.as_ref().is_none_or(is_own) {
                    self.picture.period = Some(channel.period);
                    self.picture.selections = selections(channel);
                    self.channel = Some(*id);
                    out(WaveformItem::Head(Arc::clone(channel)));
                }
            }
            CaptureItem::Chunk(id, chunk) if self.channel == Some(*id) => self.chunk(chunk, out),
            CaptureItem::Chunk(..) | CaptureItem::Link(..) | CaptureItem::Fault(_) => {}
        }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut impl FnMut(WaveformItem)) {
        if self.fed != Some(chunk.first) {
            self.finish(out);
            let (start, end) = (chunk.first, chunk.first);
            let picture = std::mem::take(&mut self.picture);
            self.picture = WaveformPicture { start, end, levels: 0, ..picture };
        }
        self.fed = Some(chunk.end());
        let Self { folder, picture, .. } = self;
        let mut draw = |fold: FoldedRun| picture.fold(&fold, out);
        match chunk.content {
            ChunkContent::Literal(chars) => {
                chars.iter().for_each(|character| folder.feed(character, &mut draw));
            }
            ChunkContent::Repeat { pattern, count } => {
                folder.feed_repeated(pattern, count, &mut draw);
            }
        }
    }

    /// Ends the capture or its section: emits the rest.
    pub fn finish(&mut self, out: &mut impl FnMut(WaveformItem)) {
        let Self { folder, picture, .. } = self;
        folder.finish(&mut |fold| picture.fold(&fold, out));
        picture.end_row(out);
    }
}

impl WaveformPicture {
    /// Draws a pattern, and behind it how many times it comes in all.
    fn fold(&mut self, fold: &FoldedRun, out: &mut impl FnMut(WaveformItem)) {
        let (mut changing, mut odd) = (0, 0);
        for character in fold.unit.chars().iter() {
            let bits = character.bits();
            let symbol = named(character.to_string(), &self.selections);
            self.cell((&symbol, 1), (bits, bits), |is_high| if is_high { '/' } else { '\\' }, out);
            (changing, odd) = (changing | bits, odd ^ bits);
        }
        let more = fold.count - 1;
        if more > 0 {
            let turned = if more % 2 == 1 { odd } else { 0 };
            let periods = fold.unit.len() as u64 * more;
            self.cell((&format!("×{}", fold.count), periods), (changing, turned), |_| '⋯', out);
        }
    }

    /// Draws characters: their text and number; the wires that change in them, and those with another level behind
    /// them; and the glyph of a change to a level.
    fn cell(
        &mut self,
        (text, periods): (&str, u64),
        (changing, turned): (u16, u16),
        glyph: impl Fn(bool) -> char,
        out: &mut impl FnMut(WaveformItem),
    ) {
        let width = (text.chars().count() + 1).max(CELL);
        if self.symbols.chars().count() + width > 2 * self.layout.column + CELL {
            self.end_row(out);
        }
        self.symbols.push_str(&format!("{text:<width$}"));
        self.levels ^= turned;
        for (wire, drawn) in self.wires.iter_mut().enumerate() {
            let is_high = self.levels >> wire & 1 == 1;
            let level = if is_high { '▔' } else { '_' };
            drawn.push(if changing >> wire & 1 == 1 { glyph(is_high) } else { level });
            drawn.extend(std::iter::repeat_n(level, width - 1));
        }
        self.end = Tick(self.end.0.saturating_add(periods));
    }

    fn end_row(&mut self, out: &mut impl FnMut(WaveformItem)) {
        let symbols = std::mem::take(&mut self.symbols);
        let wires = std::mem::take(&mut self.wires);
        let start = std::mem::replace(&mut self.start, self.end);
        let Some(period) = self.period.filter(|_| start < self.end) else { return };
        let time = self.layout.unit.text(start.0, period);
        let head = StyledLine::of(TextStyle::Dim, format!("{time:>INDEX$} "));
        let head = styled(&symbols).into_iter().fold(head, |line, (role, it)| line.and(role, it));
        let lines = "d76543210".chars().zip(wires.into_iter().rev()).map(|(name, drawn)| {
            StyledLine::of(TextStyle::Dim, format!("{name:>INDEX$} ")).and(TextStyle::Plain, drawn)
        });
        let lines = std::iter::once(head).chain(lines).collect();
        let left = symbols.split_whitespace().collect::<Vec<_>>().join(" ");
        let row = LinkViewRow { at: start.0, end: self.end.0 - 1, left, right: String::new() };
        out(WaveformItem::Row(row, lines));
    }
}

#[cfg(test)]
mod tests {
    use codec::notation::parse;

    use super::*;

    /// GAP is 0c. Three more changes of a wire leave it at the other level.
    #[test]
    fn wires_change_where_a_character_has_a_one() {
        let chars = parse("81 GAP 01×4 IDLE×9").unwrap();
        let chunk = Chunk { first: Tick(8), content: ChunkContent::Literal(chars.chars()) };
        let mut view = WaveformView::new(None, LinkLayout::default());
        let mut text = String::new();
        let mut out = |item| {
            if let WaveformItem::Row(row, lines) = item {
                assert_eq!((row.at, row.end), (8, 22));
                lines.iter().for_each(|line| text += &format!("{line}\n"));
            }
        };
        let id = ChannelId(0);
        view.feed(&CaptureItem::Channel(id, &Channel::named("a:0>b:0").into()), &mut out);
        view.feed(&CaptureItem::Chunk(id, chunk), &mut out);
        view.finish(&mut out);
        insta::assert_snapshot!(text, @r"
              0.1000 81 GAP 01 ×4 IDLE ×9
                   d /▔▔▔▔▔▔\__⋯▔▔▔▔▔▔▔▔▔▔
                   7 /▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
                   6 _____________________
                   5 _____________________
                   4 _____________________
                   3 ___/▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
                   2 ___/▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
                   1 _____________________
                   0 /▔▔▔▔▔▔\__⋯▔▔▔▔▔▔▔▔▔▔
        ");
    }
}
