//! Characters as text: a capture of what `show` prints or a person writes.

use std::path::Path;

use codec::CharBuf;
use codec::capture::{ByteOrder, CaptureWriter, ChannelId, WireMeasurement, split_into_chunks};
use codec::notation::{PARSED_MAX, parse};
use codec::time::{CharacterPeriod, Tick};

use super::declared;
use super::plan::checked_names;
use super::source::RecordingStream;
use crate::args::ImportArgs;
use crate::atomic_file::{AtomicFile, commit_all};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::input::read_to_limit;

/// Longest text, in bytes.
const TEXT_MAX: usize = 16 << 20;
const TEXT: &str = "read as text of `show`: a list or log is no recording: export VCD, FST or CSV";
const DUMP: &str = "no Myrinet found: bytes alone, as in a dump: write GAP around packets";

/// Writes the capture of a text. A line with `>` names the channel of the lines that follow; `#` begins a
/// comment. All channels begin at the first period.
pub(super) fn write(
    arguments: &ImportArgs,
    output: &Path,
    period: CharacterPeriod,
    text: RecordingStream,
) -> CommandResult {
    let ImportArgs { file, channel, wires, force, guess, sample_rate, eye, .. } = arguments;
    let without_effect = [
        ("--wires", !wires.is_empty()),
        ("--guess", *guess),
        ("--sample-rate", sample_rate.is_some()),
        ("--eye", eye.is_some()),
        ("a second --channel", channel.len() > 1),
    ];
    if let Some((name, _)) = without_effect.iter().find(|(_, is_given)| *is_given) {
        return Err(CliError::reading(file, &format!("{name} is for recordings of wires; {TEXT}")));
    }
    let wrong = |line: usize, it: String| CliError::reading(file, &format!("line {line}: {it}"));
    let text = read_to_limit(text, file, TEXT_MAX, "the text")?;
    let text = String::from_utf8(text).map_err(|error| {
        let good = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        wrong(1 + good.filter(|byte| **byte == b'\n').count(), "not UTF-8".to_owned())
    })?;
    let (mut names, mut channels): (Vec<String>, Vec<CharBuf>) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let is_name = line.contains('>');
        if is_name || channels.is_empty() {
            let given = channel.first().map_or("a:0>b:0", String::as_str);
            names.push(if is_name { line } else { given }.to_owned());
            channels.push(CharBuf::new());
        }
        let parsed = parse(if is_name { "" } else { line });
        let parsed = parsed.map_err(|error| wrong(number, format!("{error}; {TEXT}")))?;
        let Some(characters) = channels.last_mut() else { continue };
        characters.push_chars(parsed.chars());
        if characters.len() > PARSED_MAX {
            return Err(wrong(number, format!("more than {PARSED_MAX} characters")));
        }
    }
    if channels.iter().all(CharBuf::is_empty) {
        return Err(wrong(1, format!("no character; {TEXT}")));
    }
    let is_dump = |it: &CharBuf| !it.is_empty() && it.chars().data_count() == it.len();
    if !force && channels.iter().any(is_dump) {
        return Err(CliError::reading(file, &format!("{DUMP}. --force converts it all the same")));
    }
    let names = checked_names(&names)?;
    let failed = |error| CliError::writing(output, &error);
    let mut declared = declared(arguments, &names, &vec![period; names.len()]);
    let mut report = RunReport::of(file);
    for (channel, _) in declared.iter_mut().zip(&channels).filter(|(_, it)| is_dump(it)) {
        WireMeasurement { forced: Some(true), ..WireMeasurement::default() }.describe(channel);
        channel.set_import_notes(&[DUMP.to_owned()], None);
        report.warning(&format!("{}: {DUMP}", channel.name));
    }
    let stream = AtomicFile::create(output)?;
    let mut writer = CaptureWriter::new(stream, ByteOrder::Little, &declared).map_err(failed)?;
    let chunks = (0..).map(ChannelId).zip(&channels).flat_map(|(id, characters)| {
        split_into_chunks(Tick(0), characters.chars()).map(move |chunk| (chunk.first, id, chunk))
    });
    let mut chunks: Vec<_> = chunks.collect();
    chunks.sort_by_key(|(first, id, _)| (*first, *id));
    chunks.iter().try_for_each(|(_, id, chunk)| writer.write(*id, chunk)).map_err(failed)?;
    commit_all(vec![writer.finish().map_err(failed)?])?;
    Ok(report)
}
