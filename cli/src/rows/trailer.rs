//! JSON behind a list: members of its object, and lines of other rows.

use analyzer::row::ListRow;
use serde::Serialize;

/// Members of the JSON object behind the list, and lines of JSONL.
#[derive(Debug, Default)]
pub(crate) struct ListTrailer {
    /// Members with their values, one for each file.
    members: Vec<(&'static str, MemberForm, Vec<String>)>,
    lines: String,
    /// Name of the file, if there are several.
    pub(super) file: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum MemberForm {
    Value,
    List,
}

/// A row of another kind than the list, with the name of its file.
#[derive(Serialize)]
struct FiledRow<'a, R> {
    #[serde(flatten)]
    row: &'a R,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

impl ListTrailer {
    /// Adds a member; of several files it is a list.
    pub(crate) fn member(&mut self, name: &'static str, value: &impl Serialize) {
        let form = if self.file.is_none() { MemberForm::Value } else { MemberForm::List };
        self.add(name, form, [text_of(value)]);
    }

    /// Adds a list of other rows: a member, or lines.
    pub(crate) fn other_rows(&mut self, name: &'static str, rows: &[impl ListRow]) {
        let file = self.file.as_deref();
        let rows: Vec<String> = rows.iter().map(|row| text_of(&FiledRow { row, file })).collect();
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

    pub(super) fn lines(&self) -> &str {
        &self.lines
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

/// JSON of a value.
pub(super) fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
