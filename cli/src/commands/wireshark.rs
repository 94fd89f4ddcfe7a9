//! `myriscope wireshark`: the dissector and the profile for Wireshark.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use analyzer::filter::{FieldShape, RowField, RowKind};
use analyzer::render::{StyledLine, TextStyle};
use codec::character::{DecodedCode, decode_control};

use crate::args::WiresharkArgs;
use crate::atomic_file::write_files;
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;

/// The dissector without its tables, which replace the second of these lines.
const DISSECTOR: &str = include_str!("../../wireshark/myriscope.lua");
const TABLES: &str = "local VERSION, FIELDS, SYMBOLS, CORRECTED";

const PROFILE: [(&str, &str); 4] = [
    ("colorfilters", include_str!("../../wireshark/profile/colorfilters")),
    ("dfilter_buttons", include_str!("../../wireshark/profile/dfilter_buttons")),
    ("preferences", include_str!("../../wireshark/profile/preferences")),
    ("user_dlts", include_str!("../../wireshark/profile/user_dlts")),
];

/// Kinds of rows whose fields the dissector has.
const KINDS: [RowKind; 3] = [RowKind::Packets, RowKind::Events, RowKind::Journeys];
/// Further fields, of `info`, that it has; and those that begin with `control.`.
const COUNTS: [&str; 4] = ["characters", "data", "corrected", "invalid"];

/// Word by which files of this program are recognized, in their first line.
const MARK: &str = "Myri";

pub(crate) fn run(arguments: &WiresharkArgs, output: &mut StandardOutput) -> CommandResult {
    let WiresharkArgs { install, replace } = arguments;
    let Some(directory) = install else {
        output.text(&dissector());
        return Ok(RunReport::default());
    };
    let directory = match directory {
        Some(directory) => directory.clone(),
        None => configuration().ok_or_else(|| {
            let what = "no directory of Wireshark is known: name one, `--install DIR`";
            CliError::Message(what.to_owned())
        })?,
    };
    let files = files(&directory)?;
    for (path, text) in &files {
        if !*replace && is_foreign(path, text) {
            let what = "a file of another origin; --replace overwrites it";
            return Err(CliError::writing(path, &what));
        }
    }
    for (path, _) in &files {
        let parent = path.parent().unwrap_or(&directory);
        fs::create_dir_all(parent).map_err(|error| CliError::writing(parent, &error))?;
    }
    write_files(files.iter().map(|(path, text)| (path.as_path(), text.as_bytes())))?;
    files.last().map_or(Ok(()), |(script, _)| set_executable(script))?;
    for (path, _) in &files {
        let path = codec::words::escape_text(path.display().to_string());
        output.line(&StyledLine::of(TextStyle::Plain, path));
    }
    Ok(RunReport::default())
}

/// Directory of Wireshark's settings, as Wireshark finds it.
fn configuration() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(directory) = variable("WIRESHARK_CONFIG_DIR") {
        return Some(directory);
    }
    if cfg!(windows) {
        return Some(variable("APPDATA")?.join("Wireshark"));
    }
    let home = variable("HOME");
    let below_home = home.as_ref().map(|home| home.join(".config"));
    let new = variable("XDG_CONFIG_HOME").or(below_home)?.join("wireshark");
    let old = home.map(|home| home.join(".wireshark"));
    Some(old.filter(|old| !new.is_dir() && old.is_dir()).unwrap_or(new))
}

/// The files to install in the directory of settings.
fn files(directory: &Path) -> Result<Vec<(PathBuf, String)>, CliError> {
    let mut files = vec![(directory.join("plugins").join("myriscope.lua"), dissector())];
    let profile = directory.join("profiles").join("Myriscope");
    files.extend(PROFILE.map(|(name, text)| (profile.join(name), text.to_owned())));
    let program = env::current_exe().map_err(|error| CliError::writing(directory, &error))?;
    let program = program.display();
    files.push(if cfg!(windows) {
        let text = format!("@echo off\r\nrem Myriscope\r\n\"{program}\" extcap %*\r\n");
        (directory.join("extcap").join("myriscope.bat"), text)
    } else {
        let program = program.to_string().replace('\'', "'\\''");
        let text = format!(
            "#!/bin/sh\n# Myriscope: simulations as an interface.\nexec '{program}' extcap \"$@\"\n"
        );
        (directory.join("extcap").join("myriscope"), text)
    });
    Ok(files)
}

/// Permits everybody to run a script.
#[cfg(unix)]
fn set_executable(path: &Path) -> Result<(), CliError> {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, permissions).map_err(|error| CliError::writing(path, &error))
}

#[cfg(not(unix))]
const fn set_executable(_path: &Path) -> Result<(), CliError> {
    Ok(())
}

/// True if there is another file that was not installed by this program.
fn is_foreign(path: &Path, text: &str) -> bool {
    match fs::read(path) {
        Err(_) => path.exists(),
        Ok(old) => {
            let first = old.split(|byte| *byte == b'\n').take(2).collect::<Vec<_>>().concat();
            old != text.as_bytes() && !first.windows(MARK.len()).any(|word| word == MARK.as_bytes())
        }
    }
}

/// The dissector with its tables: fields of rows, symbols of codes, and symbols of weakened codes.
fn dissector() -> String {
    let mut text = String::new();
    for line in DISSECTOR.lines() {
        if line.starts_with(TABLES) {
            text += &tables();
        } else {
            text += line;
            text.push('\n');
        }
    }
    text
}

fn tables() -> String {
    let mut text =
        format!("local VERSION = \"{}\"\nlocal FIELDS = {{\n", env!("CARGO_PKG_VERSION"));
    // Writing to a string does not fail.
    for field in fields().values() {
        let RowField { name, help, .. } = field;
        let _ = write!(text, "    {{ \"{name}\", \"{}\", {help:?}", kind(field.shape));
        let words: Vec<String> = field.words().iter().map(|word| format!("\"{word}\"")).collect();
        if !words.is_empty() {
            let _ = write!(text, ", {{ {} }}", words.join(", "));
        }
        text += " },\n";
    }
    text += "}\n";
    let (mut symbols, mut corrected) = (String::new(), String::new());
    for code in 0..=u8::MAX {
        let _ = match decode_control(code) {
            DecodedCode::Exact(symbol) => write!(symbols, " [{code}] = \"{symbol}\","),
            DecodedCode::Corrected(symbol) => write!(corrected, " [{code}] = \"{symbol}\","),
            DecodedCode::Invalid => Ok(()),
        };
    }
    text + &format!("local SYMBOLS = {{{symbols} }}\nlocal CORRECTED = {{{corrected} }}\n")
}

/// Fields of the dissector by name.
fn fields() -> BTreeMap<&'static str, &'static RowField> {
    let counts = RowKind::Channels.fields().iter();
    let counts =
        counts.filter(|field| COUNTS.contains(&field.name) || field.name.starts_with("control."));
    let rows = KINDS.into_iter().flat_map(RowKind::fields);
    counts.chain(rows).map(|field| (field.name, field)).collect()
}

/// Constructor of a field in Wireshark's Lua.
const fn kind(shape: FieldShape) -> &'static str {
    match shape {
        FieldShape::Number(0..=0xff) => "uint8",
        FieldShape::Number(0x100..=0xffff) => "uint16",
        FieldShape::Number(0x1_0000..=0xffff_ffff) | FieldShape::List => "uint32",
        FieldShape::Number(_) | FieldShape::Place | FieldShape::Time => "uint64",
        FieldShape::Signed => "int32",
        FieldShape::Real => "double",
        FieldShape::Text | FieldShape::Words(_) | FieldShape::Ranks(_) => "string",
        FieldShape::Bytes => "bytes",
        FieldShape::Flag => "bool",
    }
}
