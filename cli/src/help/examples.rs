//! Examples of every command, from `docs/examples.md`.

/// Help of a command beyond its options.
pub(crate) struct CommandHelp {
    pub(crate) name: &'static str,
    /// Meaning of exit status 1, if the command has it.
    pub(crate) status_one: Option<&'static str>,
    /// Command lines, and the meaning of each.
    pub(crate) examples: Vec<(&'static str, &'static str)>,
}

pub(crate) fn commands() -> impl Iterator<Item = CommandHelp> {
    let page = include_str!("../../topics/examples.md");
    page.split("\n## ").skip(1).map(|section| {
        let mut lines = section.lines();
        let name = lines.next().unwrap_or_default();
        let mut help = CommandHelp { name, status_one: None, examples: Vec::new() };
        let mut meaning = "";
        for line in lines {
            if let Some(text) = line.strip_prefix("Exit status 1: ") {
                help.status_one = Some(text);
            } else if let Some(text) = line.strip_prefix("# ") {
                meaning = text;
            } else if line.starts_with("myriscope ") {
                help.examples.push((line, meaning));
            }
        }
        help
    })
}
