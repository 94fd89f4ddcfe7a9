//! JSON of rows as text, without the escapes that names of members do not need.

use serde::Serialize;

/// JSON of a member of a row whose type determines its shape.
pub(crate) trait MemberJson: Serialize {
    /// Adds it to a text.
    fn write(&self, out: &mut Vec<u8>) {
        write_json(self, out);
    }
}

impl<T: MemberJson> MemberJson for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write(out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

impl<T: MemberJson> MemberJson for Box<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (**self).write(out);
    }
}

impl<T: MemberJson> MemberJson for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (number, value) in self.iter().enumerate() {
            if number > 0 {
                out.push(b',');
            }
            value.write(out);
        }
        out.push(b']');
    }
}

/// Adds the JSON of a value to a text.
pub fn write_json(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    // Only a value whose keys are no text has no JSON, and no row has one.
    let _ = serde_json::to_writer(out, value);
}

/// Adds the JSON of a member to those before it, unless its row leaves it out under a condition. `name` is its name as
/// it stands there: no name of a member has characters to escape, so that it is copied with what is around it.
#[inline]
pub(crate) fn write_member(
    out: &mut Vec<u8>,
    (name, condition): (&str, &str),
    write: impl FnOnce(&mut Vec<u8>),
) {
    let before = out.len();
    out.extend_from_slice(name.as_bytes());
    let from = out.len();
    write(out);
    let none: &[u8] = match condition {
        "" => return,
        "Vec::is_empty" => b"[]",
        "is_zero" => b"0",
        _ => b"null",
    };
    if out.get(from..) == Some(none) {
        out.truncate(before);
    }
}

/// Adds the JSON of a member: by its type, or as it is serialized if the row declares its shape.
macro_rules! write_value {
    ($value:expr, $out:expr) => {
        $crate::row::MemberJson::write($value, $out)
    };
    ($value:expr, $out:expr, $shape:expr) => {
        $crate::row::write_json($value, $out)
    };
}

pub(crate) use write_value;

#[cfg(test)]
mod tests {
    use crate::journey::{BitPlaceRow, CorruptionRow};
    use crate::row::{ListRow as _, json_text};

    #[test]
    fn the_text_of_a_row_is_that_of_its_serialization() {
        let places = vec![BitPlaceRow { byte: -1, bit: 7 }, BitPlaceRow { byte: 0, bit: 0 }];
        let (after, syndrome) = (Some("a\"\\\n\u{7}é>b:0"), Some(0));
        let hurt = CorruptionRow { after, syndrome, places, ..CorruptionRow::default() };
        for row in [CorruptionRow::default(), hurt] {
            assert_eq!(row.text(), json_text(&row));
            for field in CorruptionRow::FIELDS {
                assert_eq!(row.member(field.name), row.json().get(field.name).cloned());
            }
        }
    }
}
