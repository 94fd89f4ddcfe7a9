//! Selected members of a row as JSON.

use analyzer::filter::{FieldValue, RowVisitor, visit};
use serde::Serialize;

/// The JSON object of the members with these names, in this order. `a.b` is member `b` of member `a`; of
/// a list it is a list of the members of all elements.
pub(crate) fn selected_members(
    row: &impl Serialize,
    names: impl Iterator<Item = &'static str>,
) -> String {
    let members = names.filter_map(|name| Some(format!("\"{name}\":{}", select(row, name)?)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// JSON of the member at a path, if the value has it.
pub(crate) fn select(from: &(impl Serialize + ?Sized), path: &str) -> Option<String> {
    if path.is_empty() {
        return serde_json::to_string(from).ok();
    }
    let mut picking = MemberSearch { path, member: None, elements: Vec::new() };
    visit(from, &mut picking);
    let MemberSearch { member, elements, .. } = picking;
    member.or_else(|| (!elements.is_empty()).then(|| format!("[{}]", elements.join(","))))
}

/// A search for the value at a path.
struct MemberSearch<'p> {
    path: &'p str,
    member: Option<String>,
    elements: Vec<String>,
}

impl RowVisitor for MemberSearch<'_> {
    fn value(&mut self, _: FieldValue<'_>) {}

    fn begin(&mut self) {}

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        match self.path.strip_prefix(name).map(|rest| (rest, rest.strip_prefix('.'))) {
            Some(("", _)) => self.member = select(value, ""),
            Some((_, Some(rest))) => self.member = select(value, rest),
            Some((_, None)) | None => {}
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) {
        self.elements.push(select(value, self.path).unwrap_or_else(|| "null".to_owned()));
    }
}
