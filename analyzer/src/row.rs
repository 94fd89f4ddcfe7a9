//! Rows: structs whose members are described where they are declared. JSON, filters, columns and
//! lists of fields are derived from the declaration.

mod member_json;

use std::fmt::Debug;

use serde::{Serialize, Serializer};
use serde_json::Value;

pub use self::member_json::write_json;
pub(crate) use self::member_json::{MemberJson, write_member, write_value};

/// Field of one kind of row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowField {
    /// Name in the JSON; a dot separates a member from its object.
    pub name: &'static str,
    /// Type and range of its values.
    pub shape: FieldShape,
    /// Unit of a number, if it has one.
    pub unit: &'static str,
    /// Rule of the field, if any.
    pub rule: &'static str,
    /// Meaning of the field; empty for an object of which only the members are fields.
    pub help: &'static str,
    /// Fields of its object or of the objects in its list, in groups; their names begin after the dot.
    pub members: &'static [&'static [Self]],
    /// Type of the member in Rust: its JSON is a list or null if this is a list or an option.
    pub rust: &'static str,
    /// Condition under which rows do not have the member; empty if all have it.
    pub absent: &'static str,
}

codec::named_enum! {
    /// Type of a field. A field inside a list has one value per element.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FieldShape {
        /// Whole number up to this maximum.
        Number(u64) = "number",
        /// Whole number that may be negative.
        Signed = "number",
        /// Real number.
        Real = "real",
        /// Character index on the row's channel, or a number of its periods; comparable with times.
        Place = "place",
        /// Picoseconds.
        Time = "time",
        /// Free text.
        Text = "text",
        /// One of a set of words.
        Words(&'static [&'static str]) = "word",
        /// One of an ordered set of words, the least first.
        Ranks(&'static [&'static str]) = "rank",
        /// Bytes.
        Bytes = "bytes",
        /// Boolean.
        Flag = "flag",
        /// List of objects, compared by its length.
        List = "list",
    }
}

/// A row or a part of one. Used as an object: what reads rows of any kind is compiled once.
pub trait ListRow: Debug {
    /// Its place on its channel, if it has one.
    fn place(&self) -> RowPlace {
        RowPlace::default()
    }

    /// A member of its JSON, if it has it. Filters and columns read members, so that they cannot differ
    /// from the JSON.
    fn member(&self, name: &str) -> Option<Value>;

    /// Its JSON.
    fn json(&self) -> Value;

    /// Adds its JSON to a text.
    fn write(&self, out: &mut Vec<u8>);

    /// Its JSON, as text.
    fn text(&self) -> String {
        // *Chosen*: most take less.
        let mut text = Vec::with_capacity(512);
        self.write(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }
}

impl ListRow for Value {
    fn member(&self, name: &str) -> Option<Value> {
        self.get(name).cloned()
    }

    fn json(&self) -> Value {
        self.clone()
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_json(self, out);
    }
}

/// JSON of a value, as text.
pub fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// JSON of a value. Whole numbers beyond 64 bits become real ones.
pub fn json(value: &(impl Serialize + ?Sized)) -> Value {
    let read = |_| serde_json::from_str(&serde_json::to_string(value)?);
    serde_json::to_value(value).or_else(read).unwrap_or_default()
}

/// JSON at a path: `a.b` is member `b` of member `a`; of a list it is a list of the members of all
/// elements.
pub fn json_at(row: &dyn ListRow, path: &str) -> Option<Value> {
    fn at(value: Value, path: &str) -> Option<Value> {
        let (name, rest) = split_path(path);
        match value {
            whole if path.is_empty() => Some(whole),
            Value::Object(mut members) => at(members.remove(name)?, rest),
            Value::Array(list) => Some(
                list.into_iter().map(|element| at(element, path).unwrap_or_default()).collect(),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }
    let (member, rest) = first_member(row, path)?;
    at(member, rest)
}

/// The member with which a path begins, and the path behind it.
pub(crate) fn first_member<'p>(row: &dyn ListRow, path: &'p str) -> Option<(Value, &'p str)> {
    // Members of a group have dots in their names.
    row.member(path).map(|member| (member, "")).or_else(|| {
        let (name, rest) = path.split_once('.')?;
        Some((row.member(name)?, rest))
    })
}

/// The first name of a path, and the path behind it.
pub(crate) fn split_path(path: &str) -> (&str, &str) {
    path.split_once('.').unwrap_or((path, ""))
}

/// False for a member that its JSON leaves out under this condition.
pub(crate) fn is_given(value: &Value, condition: &str) -> bool {
    match condition {
        "Vec::is_empty" => value.as_array().is_none_or(|list| !list.is_empty()),
        "is_zero" => value.as_u64() != Some(0),
        _ => !value.is_null(),
    }
}

/// Place of a row, as character indices on its channel. `time_ps` and `end_ps` are derived from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowPlace {
    /// Its only or first character.
    pub first: Option<u64>,
    /// Its last character.
    pub last: Option<u64>,
}

/// Type of a member of a row.
pub(crate) trait FieldType {
    /// Shape of the field, unless its row declares another.
    const SHAPE: FieldShape;
}

macro_rules! field_types {
    ($($type:ty: $shape:ident $(($most:expr))?;)+) => {
        $(impl FieldType for $type {
            const SHAPE: FieldShape = FieldShape::$shape $(($most))?;
        }

        impl MemberJson for $type {})+
    };
}

field_types! {
    u8: Number(u8::MAX as u64);
    u16: Number(u16::MAX as u64);
    u32: Number(u32::MAX as u64);
    u64: Number(u64::MAX);
    i64: Signed;
    f64: Real;
    u128: Time;
    &str: Text;
    String: Text;
    &[u8]: Bytes;
    bool: Flag;
}

macro_rules! same_shape {
    ($($type:ty),+) => {
        $(impl<T: FieldType> FieldType for $type {
            const SHAPE: FieldShape = T::SHAPE;
        })+
    };
}

same_shape!(Option<T>, Vec<T>, Box<T>);

/// Declares a row: `name: type, unit, rule, meaning;` for each member. Optional are the condition
/// under which the JSON leaves the member out, the shape if the type has several, and the fields of
/// the member's own members. `at (first, last)` behind the name declares the members that hold the row's
/// place. A member that another row of its list describes as a field, or of which
/// only the members are fields, has a comment: `name: type: comment;`.
macro_rules! row {
    (
        $(#[$meta:meta])*
        pub struct $Row:ident $(<$life:lifetime>)? $(at ($first:ident $(, $last:ident)?))? { $(
            $name:ident: $type:ty $([$absent:literal])? $(: $comment:literal)?
                $(as $shape:expr)? $(, $unit:literal, $rule:literal, $help:literal)?
                $(=> $members:expr)?;
        )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        pub struct $Row $(<$life>)? { $(
            $(#[doc = $help])? $(#[doc = $comment])?
            $(#[serde(skip_serializing_if = $absent)])?
            pub $name: $type,
        )+ }

        impl $(<$life>)? $Row $(<$life>)? {
            /// Its fields, in the order of the JSON.
            pub const FIELDS: &'static [$crate::row::RowField] = &[$($crate::row::RowField {
                name: stringify!($name),
                shape: $crate::row::shape!($type $(, $shape)?),
                unit: concat!($($unit)?),
                rule: concat!($($rule)?),
                help: concat!($($help)?),
                members: &[$($members)?],
                rust: stringify!($type),
                absent: concat!($($absent)?),
            },)+ $(
                $crate::row::RowField::time("time_ps", concat!("time of ", stringify!($first))),
                $($crate::row::RowField::time("end_ps", concat!("time of ", stringify!($last))),)?
            )?];
        }

        impl $(<$life>)? $crate::row::ListRow for $Row $(<$life>)? {
            $(fn place(&self) -> $crate::row::RowPlace {
                let place = $crate::row::RowPlace { first: self.$first.into(), last: None };
                $(let place = $crate::row::RowPlace { last: self.$last.into(), ..place };)?
                place
            })?

            fn member(&self, name: &str) -> Option<serde_json::Value> {
                match name {
                    $(stringify!($name) => Some($crate::row::json(&self.$name))
                        $(.filter(|value| $crate::row::is_given(value, $absent)))?,)+
                    _ => None,
                }
            }

            fn json(&self) -> serde_json::Value {
                $crate::row::json(self)
            }

            fn write(&self, out: &mut Vec<u8>) {
                let from = out.len();
                $($crate::row::write_member(
                    out,
                    (concat!(",\"", stringify!($name), "\":"), concat!($($absent)?)),
                    |out| $crate::row::write_value!(&self.$name, out $(, $shape)?),
                );)+
                // The first comma stands for the brace that begins the object.
                match out.get_mut(from) {
                    Some(comma) => *comma = b'{',
                    None => out.push(b'{'),
                }
                out.push(b'}');
            }
        }

        impl $(<$life>)? $crate::row::MemberJson for $Row $(<$life>)? {
            fn write(&self, out: &mut Vec<u8>) {
                $crate::row::ListRow::write(self, out);
            }
        }

        impl $(<$life>)? $crate::row::FieldType for $Row $(<$life>)? {
            const SHAPE: $crate::row::FieldShape = $crate::row::FieldShape::List;
        }
    };
}

/// Shape of a field: the declared one, or that of its type.
macro_rules! shape {
    ($type:ty) => {
        <$type as $crate::row::FieldType>::SHAPE
    };
    ($type:ty, $shape:expr) => {
        $shape
    };
}

pub(crate) use {row, shape};

impl RowField {
    /// Field without members.
    pub(crate) const fn new(
        name: &'static str,
        shape: FieldShape,
        unit: &'static str,
        rule: &'static str,
        help: &'static str,
    ) -> Self {
        Self { name, shape, unit, rule, help, members: &[], rust: "", absent: "" }
    }

    /// The field, of a member that some rows do not have.
    pub(crate) const fn of_some(self) -> Self {
        Self { absent: "there are none", ..self }
    }

    /// True if a row that has the member may have null.
    pub fn is_nullable(&self) -> bool {
        self.rust.starts_with("Option<")
    }

    /// True if the member is a list.
    pub fn is_list(&self) -> bool {
        self.rust.contains(['[', '(']) || self.rust.contains("Vec<")
    }

    /// True if elements of the list may be null.
    pub fn has_nulls(&self) -> bool {
        self.rust.trim_start_matches("Option<").contains("Option<")
    }

    /// Time that [`RowPlace`] gives to a row.
    pub(crate) const fn time(name: &'static str, help: &'static str) -> Self {
        Self::new(name, FieldShape::Time, "ps", "", help)
    }

    /// Words that the field can be; empty for other types.
    pub const fn words(&self) -> &'static [&'static str] {
        match self.shape {
            FieldShape::Words(words) | FieldShape::Ranks(words) => words,
            FieldShape::Number(_) | FieldShape::Signed | FieldShape::Real => &[],
            FieldShape::Place | FieldShape::Time => &[],
            FieldShape::Text | FieldShape::Bytes | FieldShape::Flag | FieldShape::List => &[],
        }
    }
}

impl FieldShape {
    /// Maximum of a number, if it is bounded.
    pub const fn most(self) -> Option<u64> {
        if let Self::Number(most) = self { Some(most) } else { None }
    }
}

/// Values by name, in a fixed order; in JSON with `_` for `-`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValues<T>(pub Vec<(&'static str, T)>);

impl<T: Serialize> Serialize for NamedValues<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name.replace('-', "_"), value)))
    }
}

/// Row of `--list-fields`: the contract of `docs/filter.md`.
#[derive(Debug, Serialize)]
struct FieldInfo<'a> {
    name: &'a str,
    r#type: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    words: &'a [&'a str],
    unit: Option<&'a str>,
    rule: Option<&'a str>,
    help: &'a str,
}

impl Serialize for RowField {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let some = |text: &'static str| (!text.is_empty()).then_some(text);
        let Self { name, shape, unit, rule, help, .. } = *self;
        let (unit, rule) = (some(unit), some(rule));
        FieldInfo { name, r#type: shape.name(), words: self.words(), unit, rule, help }
            .serialize(serializer)
    }
}
