//! Channels of a recording: their names, and the signals of their wires.

use std::collections::{BTreeMap, BTreeSet};

use analyzer::channel_name::PortName;
use analyzer::channel_selector::quoting_help;
use codec::capture::{Channel, INTERFACES_MAX};
use codec::recording::{SELECTED_MAX, SignalTable, WireSelection, channel_of_scope};
use codec::time::CharacterPeriod;
use codec::wires::WIRES;
use codec::words::{self, escape_text};

use crate::analyze::redirected_to_port;
use crate::args::{ImportArgs, SampleRate};
use crate::exit::CliError;

/// Names of signals that are listed in an error.
const LISTED: usize = 32;

pub(super) struct ChannelPlan {
    pub(super) names: Vec<String>,
    /// Numbers of the signals of all channels, wire 0 first.
    pub(super) selected: Vec<usize>,
    pub(super) notes: Vec<String>,
}

/// Names of channels as given, once nothing speaks against them.
pub(super) fn checked_names(given: &[String]) -> Result<Vec<String>, CliError> {
    let wrong = |text: String| Err(CliError::Message(escape_text(text)));
    if given.len() > INTERFACES_MAX {
        return wrong(format!("{} channels, more than {INTERFACES_MAX}", given.len()));
    }
    let (mut names, mut seen, mut cables) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    for name in given {
        let name = joined(name).unwrap_or_else(|| name.clone());
        let mut ends = name.split('>');
        let (Some(from), Some(to), None) = (ends.next(), ends.next(), ends.next()) else {
            let port =
                redirected_to_port().map_or_else(|| "s0:0".to_owned(), |port| port.to_string());
            let help = match name.contains('>') {
                true => String::new(),
                false => format!(". {}", quoting_help(&format!("{name}>{port}"))),
            };
            return wrong(format!("channel {name:?} is not FROM>TO, each a node:port{help}"));
        };
        if from.is_empty() || to.is_empty() || from == to || name.contains(char::is_whitespace) {
            return wrong(format!("channel {name:?} is not FROM>TO, each a node:port"));
        }
        if !seen.insert(name.clone()) {
            return wrong(format!("channel {name} is given twice"));
        }
        for (end, other) in [(from, to), (to, from)] {
            let before = cables.entry(end.to_owned()).or_insert_with(|| other.to_owned());
            if before != other {
                return wrong(format!(
                    "channel {name} contradicts another: {end} is joined to {before} already"
                ));
            }
        }
        names.push(name);
    }
    Ok(names)
}

/// The name of a channel that is written `h1:0-s1:1`, for shells.
fn joined(name: &str) -> Option<String> {
    let mut places = name.match_indices('-').filter_map(|(at, _)| name.split_at_checked(at));
    let is_port = |text: &str| PortName::parse(text).is_some() && !text.contains('>');
    places.find_map(|(from, to)| {
        let to = to.strip_prefix('-')?;
        (is_port(from) && is_port(to)).then(|| format!("{from}>{to}"))
    })
}

/// Number of the opposite channel of each.
fn peers(names: &[String]) -> Vec<Option<u32>> {
    let numbers: BTreeMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
    let peer = |name: &String| {
        let (from, to) = name.split_once('>')?;
        numbers.get(format!("{to}>{from}").as_str()).copied()
    };
    names.iter().map(peer).collect()
}

/// Names for some channels, of which two at a time are a link.
fn usual_names(count: usize) -> Vec<String> {
    let hosts = ('a'..='z').map(|node| format!("{node}:0")).collect::<Vec<_>>();
    let links = hosts.chunks_exact(2).filter_map(|two| <&[String; 2]>::try_from(two).ok());
    let both = links.flat_map(|[one, other]| [format!("{one}>{other}"), format!("{other}>{one}")]);
    both.take(count).collect()
}

impl ChannelPlan {
    /// The channels of a recording by the command line and by the names of the signals.
    pub(super) fn of(arguments: &ImportArgs, table: &SignalTable) -> Result<Self, CliError> {
        let ImportArgs { file, channel, wires, sample_rate, .. } = arguments;
        let wrong = |text: String| Err(CliError::reading(file, &escape_text(text)));
        let given = checked_names(channel)?;
        let is_state = *sample_rate == Some(SampleRate::State);
        let count =
            [given.len(), wires.len(), usize::from(is_state)].into_iter().find(|it| *it > 0);
        if count.is_some_and(|count| count * WIRES > SELECTED_MAX) {
            let most = SELECTED_MAX / WIRES;
            return wrong(format!("{} channels, more than {most}", count.unwrap_or_default()));
        }
        if !wires.is_empty() {
            if !given.is_empty() && wires.len() != given.len() {
                return wrong(format!(
                    "{} times --wires for {} channels",
                    wires.len(),
                    given.len()
                ));
            }
            let names = if given.is_empty() { usual_names(wires.len()) } else { given };
            let mut selected = Vec::new();
            for text in wires {
                match table.wires(text) {
                    Ok(signals) => match signals.iter().find(|signal| selected.contains(*signal)) {
                        Some(_) => return wrong(format!("{text}: a signal is named twice")),
                        None => selected.extend(signals),
                    },
                    Err(cause) => return wrong(format!("{cause}; {}", listed(table))),
                }
            }
            let notes = table.note().map(str::to_owned).into_iter().collect();
            return Ok(Self { names, selected, notes });
        }
        let named: Vec<&str> = given.iter().map(String::as_str).collect();
        let by_scope = if named.is_empty() { None } else { table.channels_named(&named) };
        let found = by_scope.or_else(|| table.channels(count));
        match found.filter(|found| found.len() * WIRES <= SELECTED_MAX) {
            Some(channels) => Ok(Self::of_channels(given, &channels, table)),
            None => wrong(format!(
                "{} signals needed; name them with --wires; {}",
                count.unwrap_or(1) * WIRES,
                listed(table)
            )),
        }
    }

    /// Channels with the names that are given, or those of their scopes.
    fn of_channels(given: Vec<String>, channels: &[WireSelection], table: &SignalTable) -> Self {
        let of_scope = |wires: &WireSelection| channel_of_scope(table.scope_of(wires)?);
        let of_scopes: Option<Vec<String>> = channels.iter().map(of_scope).collect();
        let names = match of_scopes.and_then(|names| checked_names(&names).ok()) {
            _ if !given.is_empty() => given,
            Some(names) => names,
            None => usual_names(channels.len()),
        };
        let notes = names.iter().zip(channels).filter(|(_, wires)| wires.is_reordered);
        let notes = notes.map(|(name, wires)| {
            let [first, .., last] =
                wires.signals.map(|at| table.names().get(at).map_or("", String::as_str));
            escape_text(format!(
                "{name}: order of the wires by the names of the signals, {first} … {last}, not as in the file"
            ))
        });
        let notes = notes.chain(table.note().map(str::to_owned)).collect();
        let selected = channels.iter().flat_map(|wires| wires.signals).collect();
        Self { names, selected, notes }
    }
}

/// Descriptions of the channels. Those that are opposite are the directions of a link.
pub(super) fn declared(
    arguments: &ImportArgs,
    names: &[String],
    periods: &[CharacterPeriod],
) -> Vec<Channel> {
    let profile = arguments.profile.value().map(|it| ("profile".to_owned(), it.to_string()));
    let channels = names.iter().zip(periods).zip(peers(names));
    let declared = channels.map(|((name, period), peer)| Channel {
        period: *period,
        peer,
        tap: arguments.tap.clone(),
        more: profile.clone().into_iter().collect(),
        ..Channel::named(name.as_str())
    });
    declared.collect()
}

/// Names of signals for an error.
fn listed(table: &SignalTable) -> String {
    let names = table.names();
    let shown = words::listed(names.iter().map(String::as_str), LISTED);
    let note = table.note().map(|text| format!("; {text}")).unwrap_or_default();
    format!("the recording has {} signals: {shown}{note}", names.len())
}
