//! Values of the members of rows, as the text of JSON.

use serde::Serialize;

/// Appends the JSON of a value, as text.
///
/// # Panics
/// If the value cannot be serialized: those of rows can.
pub fn write_json(value: &impl Serialize, out: &mut Vec<u8>) {
    let written = serde_json::to_writer(out, value);
    assert!(written.is_ok(), "memory takes all, and keys are text");
}

/// Value of a member of a row, as JSON.
pub(crate) trait MemberValue: Serialize + Sized {
    /// True for a value that rows leave out where they declare a condition for it.
    fn is_left_out(&self) -> bool {
        false
    }

    /// Appends the JSON of the value, as text.
    fn write(&self, out: &mut Vec<u8>) {
        write_json(self, out);
    }
}

macro_rules! field_values {
    ($($type:ty),+) => {
        $(impl MemberValue for $type {})+
    };
}

field_values!(u8, u16, u32, i64, f64, &str, String, &[u8], bool);

impl MemberValue for u64 {
    fn is_left_out(&self) -> bool {
        *self == 0
    }
}

impl MemberValue for u128 {
    // Digits of 128 bits take several times as long.
    fn write(&self, out: &mut Vec<u8>) {
        match u64::try_from(*self) {
            Ok(short) => short.write(out),
            Err(_) => write_json(self, out),
        }
    }
}

impl<T: MemberValue> MemberValue for Option<T> {
    fn is_left_out(&self) -> bool {
        self.is_none()
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write(out),
            None => out.extend(b"null"),
        }
    }
}

impl<T: MemberValue> MemberValue for Vec<T> {
    fn is_left_out(&self) -> bool {
        self.is_empty()
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for value in self {
            value.write(out);
            out.push(b',');
        }
        end_list(b']', out);
    }
}

impl<T: MemberValue> MemberValue for Box<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (**self).write(out);
    }
}

/// Appends a member of an object, with a comma behind it, unless it is left out under the condition `absent`; `key` has
/// its quotes and its colon.
pub(crate) fn write_member(
    (key, absent): (&str, &str),
    value: &impl MemberValue,
    out: &mut Vec<u8>,
) {
    if absent.is_empty() || !value.is_left_out() {
        out.extend(key.as_bytes());
        value.write(out);
        out.push(b',');
    }
}

/// Ends a list of JSON of which each element has a comma behind it.
pub(crate) fn end_list(end: u8, out: &mut Vec<u8>) {
    out.pop_if(|last| *last == b',');
    out.push(end);
}

#[expect(unreachable_pub, reason = "the macro declares rows for other crates")]
#[cfg(test)]
mod tests {
    use codec::time::CharacterPeriod;

    use super::write_json;
    use crate::captured::CapturedRow;
    use crate::row::{ListRow as _, row};

    row! {
        #[derive(Default)]
        pub struct SampleRow<'a> at (at) {
            name: &'a str: "of this type";
            at: u64: "of this type";
            time: u128: "of this type";
            port: Option<u8>: "of this type";
            bytes: &'a [u8]: "of this type";
            given: Option<Box<i64>> ["Option::is_none"]: "of this type";
            left_out: Option<u8> ["Option::is_none"]: "of this type";
            parts: Vec<SampleRow<'a>>: "of this type";
            none: Vec<u8> ["Vec::is_empty"]: "of this type";
        }
    }

    #[test]
    fn the_text_of_a_row_is_that_of_its_serialization() {
        let part = SampleRow { name: "\"\\\n\u{e9}", time: u128::MAX, ..SampleRow::default() };
        let parts = vec![part.clone(), part];
        assert_eq!(SampleRow::FIELDS.len(), 10, "its members, and the time of its place");
        let given = Some(Box::new(-1));
        let row = SampleRow {
            at: 3,
            port: Some(7),
            bytes: &[1, 255],
            given,
            parts,
            ..Default::default()
        };
        let mut serialized = Vec::new();
        write_json(&row, &mut serialized);
        assert_eq!(row.text().into_bytes(), serialized);
        let captured = CapturedRow::new(&row, 2, CharacterPeriod::FULL_RATE).of_file(Some("f"));
        assert!(
            captured.text().ends_with(r#"]}],"time_ps":37500,"capture":2,"file":"f"}"#),
            "{}",
            captured.text()
        );
    }
}
