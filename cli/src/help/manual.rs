//! Manual pages: one for each command, and one for each topic of `myriscope help`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::examples::{CommandHelp, commands};
use super::{EXIT_STATUS, markdown};

/// Subjects beyond the commands: name in `myriscope help`, section of the manual, title and Markdown text.
pub(crate) const TOPICS: [(&str, &str, &str, &str); 5] = [
    ("filter", "7", "filters and columns of lists", include_str!("../../topics/filter.md")),
    ("scenario", "5", "scenarios of simulations", include_str!("../../topics/scenario.md")),
    ("output", "7", "JSON output and exit statuses", include_str!("../../topics/output.md")),
    ("recordings", "7", "recordings of the wires", include_str!("../../topics/recordings.md")),
    ("glossary", "7", "terms", include_str!("../../topics/glossary.md")),
];

pub(crate) fn write_pages(mut command: Command, directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    command.build();
    page(&command, None, directory)?;
    for help in commands() {
        if let Some(found) = command.find_subcommand(help.name) {
            let pages = found.get_subcommands().chain([found]);
            pages.into_iter().try_for_each(|it| page(it, Some(&help), directory))?;
        }
    }
    for (name, section, title, text) in TOPICS {
        let mut file = fs::File::create(directory.join(format!("myriscope-{name}.{section}")))?;
        markdown::page(&format!("myriscope-{name}"), section, title, text).to_writer(&mut file)?;
    }
    Ok(())
}

fn page(command: &Command, help: Option<&CommandHelp>, directory: &Path) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut file = fs::File::create(directory.join(format!("{name}.1")))?;
    // The text after the help has sections of its own in a manual page.
    let man = Man::new(command.clone().after_help("")).title(name);
    man.render_title(&mut file)?;
    man.render_name_section(&mut file)?;
    man.render_synopsis_section(&mut file)?;
    man.render_description_section(&mut file)?;
    man.render_options_section(&mut file)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut file)?;
    }
    sections(help).to_writer(&mut file)?;
    file.flush()
}

/// The sections EXIT STATUS and EXAMPLES.
fn sections(help: Option<&CommandHelp>) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (status, meaning) in EXIT_STATUS {
        let own = help.and_then(|help| help.status_one).filter(|_| status == 1);
        if status == 1 && help.is_some() && own.is_none() {
            continue;
        }
        roff.control("TP", [])
            .text([bold(status.to_string())])
            .text([roman(own.unwrap_or(meaning))]);
    }
    if let Some(help) = help {
        roff.control("SH", ["EXAMPLES"]);
        for (line, meaning) in &help.examples {
            roff.control("TP", []).text([bold(*line)]).text([roman(*meaning)]);
        }
    }
    roff
}
