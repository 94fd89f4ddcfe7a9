//! Activity of links, as charts and tables.

use crate::link::interval::ChannelActivity;
use codec::capture::Channel;
use codec::time::{CharacterPeriod, Tick};

use super::{StyledLine, TextStyle, TimeUnit, count, with_faults};
use crate::channel_name::ChannelEnds;
use crate::link::led::LedState;
use crate::link::parameters::{ParameterRow, ParameterSource};
use crate::link::report::{ChannelReport, ChannelTotalsRow, PeriodShare, PingMeasure};

/// Cells of a chart: with the channel's name they fit 80 columns.
const CELLS: u128 = 60;
/// Columns before a chart.
const LANE_AT: usize = 18;
/// Glyphs for the share of packets in a cell.
const HEIGHTS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Part of a capture that charts show, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct PictureSpan {
    from: u128,
    to: u128,
    /// Number of cells; none is shorter than a character.
    cells: u128,
    period: CharacterPeriod,
}

impl PictureSpan {
    /// Span that contains all given channels.
    fn of(links: &[Vec<ChannelReport<'_>>]) -> Self {
        let spans = links.iter().flatten().filter_map(|report| {
            let (first, last) = report.totals.counters.span()?;
            let period = report.channel.period;
            let end = period.time(last.0.saturating_add(1));
            Some((period.time(first.0), end, period))
        });
        let from = spans.clone().map(|(from, _, _)| from).min().unwrap_or(0);
        let to = spans.clone().map(|(_, to, _)| to).max().unwrap_or(0);
        let shortest =
            spans.map(|(_, _, period)| period).min().unwrap_or(CharacterPeriod::PICOSECOND);
        let cells = CELLS.min((to - from) / u128::from(shortest.ps()));
        Self { from, to, cells, period: shortest }
    }

    /// Span of lanes that fit a width.
    pub fn of_width(links: &[Vec<ChannelReport<'_>>], width: usize) -> Self {
        let (all, wanted) = (Self::of(links), width.saturating_sub(LANE_AT) as u128);
        let most = (all.to - all.from) / u128::from(all.period.ps());
        Self { cells: wanted.min(most), ..all }
    }

    /// The lane of a channel: its name, and its activity over time.
    pub fn lane(&self, report: &ChannelReport<'_>) -> StyledLine {
        let name = format!(" {:<16}", report.channel.label());
        let name = StyledLine::of(TextStyle::Plain, name).fitted(LANE_AT - 1);
        chart(name.and(TextStyle::Plain, " "), report, self)
    }

    /// The column of a lane and the start of its time.
    pub fn cell_start(&self, cell: usize) -> (usize, u128) {
        let last = usize::try_from(self.cells).unwrap_or(usize::MAX).saturating_sub(1);
        let (cell, all) = (cell.min(last), self.to - self.from);
        let at = cell as u128;
        let start = all / self.cells.max(1) * at + all % self.cells.max(1) * at / self.cells.max(1);
        (LANE_AT + cell, self.from + start)
    }

    fn time(&self, picoseconds: u128, unit: TimeUnit) -> String {
        format!("{} {}", unit.time(picoseconds, self.period), unit.name())
    }

    /// First character of a cell on a channel, and the character after its last.
    fn cell(&self, number: u128, channel: &Channel) -> (Tick, Tick) {
        let at = |number: u128| {
            let (all, cells) = (self.to - self.from, self.cells.max(1));
            // Computed in two parts, because the product may overflow.
            let time = self.from + all / cells * number + all % cells * number / cells;
            Tick(channel.period.periods(time))
        };
        let (start, end) = (at(number), at(number + 1));
        (start, end.max(start.after(codec::time::Ticks(1))))
    }
}

/// Prints the activity of links of one or two channels.
pub fn links(links: &[Vec<ChannelReport<'_>>], unit: TimeUnit, out: &mut impl FnMut(StyledLine)) {
    let span = PictureSpan::of(links);
    let channels: usize = links.iter().map(Vec::len).sum();
    let pairs = links.iter().filter(|link| link.len() == 2).count();
    let time = span.time(span.to - span.from, unit);
    let text = format!("{}, {}, {time}", count(channels, "channel"), count(pairs, "link"));
    out(StyledLine::of(TextStyle::Plain, text));
    out(legend());
    for link in links {
        out(StyledLine::default());
        out(title(link));
        link.iter().for_each(|report| out(picture(report, &span)));
        out(axis(&span, unit));
        out(shares_head("channel", ChannelActivity::ALL.map(ChannelActivity::name)));
        link.iter().for_each(|report| out(states_line(report)));
        out(traffic_head(unit));
        link.iter().for_each(|report| out(traffic_line(report, unit)));
        out(shares_head("lamps", LedState::ALL.map(LedState::name)));
        link.iter().for_each(|report| out(lamps_line(report)));
        for report in link {
            symbols(report, out);
            pings(report, out);
            parameters(report, out);
        }
    }
}

fn legend() -> StyledLine {
    let mut line = StyledLine::of(TextStyle::Dim, "  ");
    for state in ChannelActivity::ALL {
        let glyph = if state == ChannelActivity::Sending {
            HEIGHTS.concat()
        } else {
            activity_glyph(state).to_owned()
        };
        line = line
            .and(activity_style(state), glyph)
            .and(TextStyle::Dim, format!(" {}   ", state.name()));
    }
    line
}

/// Heading of a link: its ends or its direction, its rate, and the tap.
fn title(link: &[ChannelReport<'_>]) -> StyledLine {
    let Some(first) = link.first() else { return StyledLine::default() };
    let name = match (link.len(), ChannelEnds::of(first.channel)) {
        (2, Some(way)) => format!("{} ⇄ {}", way.from, way.to),
        _ => first.channel.name.clone(),
    };
    let name = match first.channel.capture {
        0 => name,
        capture => format!("{name} (capture {capture})"),
    };
    let mut rest = format!("  {} Mb/s", first.channel.bits_per_second() / 1_000_000);
    if let Some(tap) = &first.channel.tap {
        rest += &format!(", seen at {tap}");
    }
    match (link.len(), first.peer) {
        (1, Some(_)) => rest += ", opposite not shown",
        (1, None) => rest += ", no opposite channel: its flow control is not known",
        _ => {}
    }
    StyledLine::of(TextStyle::Head, name).and(TextStyle::Dim, rest)
}

/// Character for an activity in a picture.
pub const fn activity_glyph(state: ChannelActivity) -> &'static str {
    match state {
        ChannelActivity::Unknown => "?",
        ChannelActivity::Open => "x",
        ChannelActivity::Reset => "!",
        ChannelActivity::Stopped => "▒",
        ChannelActivity::Sending => "█",
        ChannelActivity::Starved => "░",
        ChannelActivity::Idle => "·",
    }
}

/// Style of an activity.
pub const fn activity_style(state: ChannelActivity) -> TextStyle {
    match state {
        ChannelActivity::Unknown | ChannelActivity::Idle => TextStyle::Dim,
        ChannelActivity::Open | ChannelActivity::Reset => TextStyle::Bad,
        ChannelActivity::Stopped | ChannelActivity::Starved => TextStyle::Notice,
        ChannelActivity::Sending => TextStyle::Good,
    }
}

/// Chart of a channel's activity over time.
fn picture(report: &ChannelReport<'_>, span: &PictureSpan) -> StyledLine {
    let name = StyledLine::of(TextStyle::Plain, format!("  {:<16}", report.channel.name));
    chart(name, report, span)
}

/// Cells of a channel's activity behind its name.
fn chart(mut line: StyledLine, report: &ChannelReport<'_>, span: &PictureSpan) -> StyledLine {
    let (mut run, mut last) = (String::new(), TextStyle::Plain);
    for number in 0..span.cells {
        let (from, to) = span.cell(number, report.channel);
        let (glyph, role) = cell(&report.totals.history.between(from, to));
        if role != last {
            line = line.and(last, std::mem::take(&mut run));
        }
        (run, last) = (run + glyph, role);
    }
    line.and(last, run)
}

/// Glyph of a cell: the state of longest duration. Resets and open links take precedence; packets
/// show their share of the cell.
fn cell(times: &[u128; 7]) -> (&'static str, TextStyle) {
    match shown_activity(times) {
        None => (" ", TextStyle::Plain),
        Some((ChannelActivity::Sending, eighths)) => {
            let height = HEIGHTS.get(eighths.saturating_sub(1)).copied();
            (height.unwrap_or_default(), activity_style(ChannelActivity::Sending))
        }
        Some((state, _)) => (activity_glyph(state), activity_style(state)),
    }
}

/// Activity that stands for times in each activity: that of longest duration, but resets and open links
/// take precedence, and sending over idle. With it the share of packets, 1 to 8 eighths.
pub fn shown_activity(times: &[u128; 7]) -> Option<(ChannelActivity, usize)> {
    let time = |state: ChannelActivity| times.get(state.index()).copied().unwrap_or(0);
    let all = times.iter().copied().filter(|time| *time > 0).reduce(u128::saturating_add)?;
    let rare =
        [ChannelActivity::Reset, ChannelActivity::Open].into_iter().find(|state| time(*state) > 0);
    // Of states with equal duration the first is chosen.
    let longest = ChannelActivity::ALL.into_iter().rev().max_by_key(|state| time(*state));
    let (state, sending) = (rare.or(longest)?, time(ChannelActivity::Sending));
    if sending == 0 || !matches!(state, ChannelActivity::Sending | ChannelActivity::Idle) {
        return Some((state, 8));
    }
    let eighths = sending.saturating_mul(8).div_ceil(all);
    Some((ChannelActivity::Sending, usize::try_from(eighths).unwrap_or(8).min(8)))
}

/// Time axis of lanes.
pub fn axis(span: &PictureSpan, unit: TimeUnit) -> StyledLine {
    let [from, to] = [span.from, span.to].map(|time| span.time(time, unit));
    let to = to.split(' ').next().unwrap_or_default();
    let width = usize::try_from(span.cells).unwrap_or_default();
    let room = width.saturating_sub(from.chars().count()).max(to.len() + 2);
    StyledLine::of(TextStyle::Dim, format!("  {:<16}{from}{to:>room$}", ""))
}

fn shares_head<const N: usize>(title: &str, names: [&str; N]) -> StyledLine {
    let names = names.map(|name| format!("{name:>9}")).concat();
    StyledLine::of(TextStyle::Head, format!("  {title:<15}{names}"))
}

fn states_line(report: &ChannelReport<'_>) -> StyledLine {
    let row = report.row();
    let line = StyledLine::of(TextStyle::Plain, format!("  {:<15}", row.channel));
    let cells = ChannelActivity::ALL.into_iter().zip(row.states.0);
    cells.fold(line, |line, (state, (_, held))| {
        line.and(activity_style(state), format!("{:>9}", of(&held)))
    })
}

fn lamps_line(report: &ChannelReport<'_>) -> StyledLine {
    let port = ChannelEnds::of(report.channel)
        .map_or_else(|| format!("end of {}", report.channel.name), |way| way.to.to_string());
    let line = StyledLine::of(TextStyle::Plain, format!("  {port:<15}"));
    let cells = LedState::ALL.into_iter().zip(report.row().lamp.0);
    cells.fold(line, |line, (light, (_, held))| {
        let role = match light {
            LedState::Unknown => TextStyle::Dim,
            LedState::Red => TextStyle::Bad,
            LedState::Green => TextStyle::Good,
            LedState::Yellow => TextStyle::Notice,
        };
        line.and(if held.periods > 0 { role } else { TextStyle::Dim }, format!("{:>9}", of(&held)))
    })
}

fn traffic_head(unit: TimeUnit) -> StyledLine {
    let longest = format!("longest {}", unit.name());
    StyledLine::of(TextStyle::Head, format!("  {:<15}{:>9}", "traffic", "data"))
        .and_ranked(2, TextStyle::Head, format!("{:>9}", "STOP+GO"))
        .and_ranked(1, TextStyle::Head, format!("{:>9}", "commands"))
        .and(TextStyle::Head, format!("{:>9}{longest:>12}", "stops"))
        .and_ranked(3, TextStyle::Head, format!("{:>9}", "packets"))
        .and(TextStyle::Head, format!("{:>9}", "not good"))
}

fn traffic_line(report: &ChannelReport<'_>, unit: TimeUnit) -> StyledLine {
    let row = report.row();
    let ChannelTotalsRow { stops, flow_control, packets, .. } = &row;
    let part = |part: u64| percent(part, row.characters);
    let wrong = report.totals.packets.not_good();
    let told = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let longest = stops.longest.filter(|_| stops.count > Some(0));
    let longest = told(longest.map(|longest| unit.text(longest, report.channel.period)));
    let count = told(stops.count.map(|count| count.to_string()));
    StyledLine::of(TextStyle::Plain, format!("  {:<15}", row.channel))
        .and(TextStyle::Plain, format!("{:>9}", part(row.data)))
        .and_ranked(2, TextStyle::Plain, format!("{:>9}", part(flow_control.characters)))
        .and_ranked(1, TextStyle::Plain, format!("{:>9}", flow_control.commands))
        .and(TextStyle::Plain, format!("{count:>9}{longest:>12}"))
        .and_ranked(3, TextStyle::Plain, format!("{:>9}", packets.count))
        .and(if wrong > 0 { TextStyle::Bad } else { TextStyle::Dim }, format!("{wrong:>9}"))
}

/// Prints the counts of control symbols and of corrected and invalid codes.
fn symbols(report: &ChannelReport<'_>, out: &mut impl FnMut(StyledLine)) {
    let tally = &report.totals.counters;
    let kinds: Vec<String> = tally.control().map(|(kind, n)| format!("{kind} {n}")).collect();
    if tally.characters() == 0 {
        return;
    }
    let line = StyledLine::of(
        TextStyle::Dim,
        format!("  {:<16}{}", report.channel.name, kinds.join("  ")),
    );
    out(with_faults(line, tally));
}

/// Prints the pings of a channel, if any. R-6
fn pings(report: &ChannelReport<'_>, out: &mut impl FnMut(StyledLine)) {
    let row = report.row().pings;
    if row.sent == 0 {
        return;
    }
    let answered =
        row.answered.map_or("answers not recorded".to_owned(), |it| format!("{it} answered"));
    let mut text = format!("{}, {answered}", count(row.sent, "ping"));
    if let (Some(min), Some(mean), Some(max)) = (row.min, row.mean, row.max) {
        text += &format!(" within {min} to {max} periods, {mean} in the mean");
        text += match PingMeasure::on(report.channel) {
            Some(PingMeasure::RoundTrip) => ": there and back",
            Some(PingMeasure::Response) => ": the far end's part of the round trip",
            None => "",
        };
    }
    out(StyledLine::of(TextStyle::Dim, format!("  {:<16}", row_name(report)))
        .and(TextStyle::Plain, text));
}

fn parameters(report: &ChannelReport<'_>, out: &mut impl FnMut(StyledLine)) {
    let rows = report.parameters();
    let mut values: Vec<String> = Vec::new();
    for source in ParameterSource::ALL {
        let own = rows.iter().filter(|row| row.source == Some(source.name()));
        let words: Vec<String> = own.map(parameter).collect();
        if !words.is_empty() {
            values.push(format!("{} {}", words.join(" "), source.words()));
        }
    }
    let name = row_name(report);
    out(StyledLine::of(TextStyle::Dim, format!("  {name:<16}{}", values.join(", "))));
}

fn parameter(row: &ParameterRow) -> String {
    let ParameterRow { name, value, variant, range, .. } = row;
    let number = || value.map(|value| value.to_string()).unwrap_or_default();
    let value = variant.map_or_else(number, str::to_owned);
    let range = range.map(|(least, most)| match most {
        Some(most) => format!(" ({least}..{most})"),
        None => format!(" ({least}..)"),
    });
    format!("{name}={value}{}", range.unwrap_or_default())
}

fn row_name<'a>(report: &ChannelReport<'a>) -> &'a str {
    &report.channel.name
}

/// Share in per cent, to a tenth; only exact shares are printed as 0 or 100.
fn of(held: &PeriodShare) -> String {
    if held.periods == 0 {
        return "-".to_owned();
    }
    match held.share {
        share if share < 0.0005 => "<0.1 %".to_owned(),
        share if (0.9995..1.0).contains(&share) => ">99.9 %".to_owned(),
        share => format!("{:.1} %", share * 100.0),
    }
}

fn percent(part: u64, whole: u64) -> String {
    of(&PeriodShare::of(part, whole))
}
