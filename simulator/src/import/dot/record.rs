//! Labels of nodes: a name, or the fields of a record.

use std::collections::BTreeMap;

/// Name and ports in a label: `{s0|{<p0> 0|<p1> 3}}` is switch s0, whose fields p0 and p1 are ports 0
/// and 3.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RecordLabel {
    pub(super) name: String,
    /// Text of each field by its identifier.
    pub(super) ports: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
struct LabelField {
    id: Option<String>,
    text: String,
}

impl RecordLabel {
    /// Reads a label. A backslash takes the meaning from the next character.
    pub(super) fn parse(label: &str) -> Self {
        let mut record = Self::default();
        let mut field = LabelField::default();
        let mut is_id = false;
        let mut chars = label.chars();
        while let Some(char) = chars.next() {
            match char {
                '{' | '}' | '|' => {
                    record.add(std::mem::take(&mut field));
                    is_id = false;
                }
                '<' if field.id.is_none() => {
                    field.id = Some(String::new());
                    is_id = true;
                }
                '>' if is_id => is_id = false,
                _ => {
                    let text = match &mut field.id {
                        Some(id) if is_id => id,
                        Some(_) | None => &mut field.text,
                    };
                    text.push(if char == '\\' { chars.next().unwrap_or(char) } else { char });
                }
            }
        }
        record.add(field);
        record
    }

    fn add(&mut self, LabelField { id, text }: LabelField) {
        let text = text.replace("&amp;", "&");
        let text = text.trim();
        match id {
            Some(id) => {
                self.ports.insert(id, text.to_owned());
            }
            None if self.name.is_empty() => text.clone_into(&mut self.name),
            None => {}
        }
    }
}
