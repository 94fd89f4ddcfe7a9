//! JSON behind a list: members of its object, and lines of other rows.

use analyzer::row::{ListRow, json_text};
use serde::Serialize;
use serde_json::json;

/// Members of the JSON object behind the list, and lines of JSONL.
#[derive(Debug, Default)]
pub(crate) struct ListTrailer {
    /// Members with their values, one for each file.
    members: Vec<(&'static str, MemberForm, Vec<String>)>,
    pub(super) lines: String,
    /// Name of the file, if there are several.
    pub(super) file: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum MemberForm {
    Value,
    List,
}

impl ListTrailer {
    /// Adds a member; of several files it is a list.
    pub(crate) fn member(&mut self, name: &'static str, value: &impl Serialize) {
        let form = if self.file.is_none() { MemberForm::Value } else { MemberForm::List };
        self.add(name, form, [json_text(value)]);
    }

    /// Adds a list of other rows: a member, or lines.
    pub(crate) fn other_rows<R: ListRow>(&mut self, name: &'static str, rows: &[R]) {
        let file = self.file.as_deref();
        let text = |row: &R| match file {
            Some(file) => {
                let row = row.text();
                let members = row.strip_suffix('}').unwrap_or(&row);
                format!("{members},\"file\":{}}}", json!(file))
            }
            None => row.text(),
        };
        let rows: Vec<String> = rows.iter().map(text).collect();
        self.lines.extend(rows.iter().map(|row| format!("{row}\n")));
        self.add(name, MemberForm::List, rows);
    }

    fn add(
        &mut self,
        name: &'static str,
        form: MemberForm,
        values: impl IntoIterator<Item = String>,
    ) {
        match self.members.iter_mut().find(|(known, ..)| *known == name) {
            Some((.., known)) => known.extend(values),
            None => self.members.push((name, form, values.into_iter().collect())),
        }
    }

    pub(super) fn members(&self) -> String {
        let member = |(name, form, values): &(&str, MemberForm, Vec<String>)| {
            let values = values.join(",");
            match form {
                MemberForm::Value => format!(",\n\"{name}\":{values}"),
                MemberForm::List => format!(",\n\"{name}\":[{values}]"),
            }
        };
        self.members.iter().map(member).collect()
    }
}
