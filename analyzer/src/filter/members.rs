//! A row's members and values, as its JSON has them: filters and columns see the rows themselves, so
//! that they cannot tell anything else.

use std::fmt;

use serde::ser::{
    Error, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple,
    Serializer,
};

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A whole number.
    Number(i128),
    /// Any other number.
    Real(f64),
    /// Text or a word.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Yes or no.
    Flag(bool),
}

/// Looks at what a row consists of.
pub trait Visitor {
    /// A value.
    fn value(&mut self, value: Value<'_>);
    /// A list or an object begins.
    fn begin(&mut self);
    /// A member of an object.
    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T);
    /// An element of a list.
    fn element<T: Serialize + ?Sized>(&mut self, value: &T);
}

/// Shows a visitor what stands at the top of a row, or of a part of it: its members, its elements, or
/// the value that it is. Nothing, where JSON has null.
pub fn visit(what: &(impl Serialize + ?Sized), visitor: &mut impl Visitor) {
    // The visitor never fails; what rows do not consist of is no value.
    let _ = what.serialize(Walk(visitor));
}

/// There is no such thing in a row.
#[derive(Debug)]
struct NotThere;

impl fmt::Display for NotThere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such thing in a row")
    }
}

impl std::error::Error for NotThere {}

impl Error for NotThere {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Seen = Result<(), NotThere>;

struct Walk<'v, V>(&'v mut V);

/// An object whose keys are told one by one.
struct Map<'v, V> {
    visitor: &'v mut V,
    key: String,
}

/// Hears a key.
struct Key<'k>(&'k mut String);

impl Visitor for Key<'_> {
    fn value(&mut self, value: Value<'_>) {
        if let Value::Text(text) = value {
            self.0.push_str(text);
        }
    }
    fn begin(&mut self) {}
    fn member<T: Serialize + ?Sized>(&mut self, _: &str, _: &T) {}
    fn element<T: Serialize + ?Sized>(&mut self, _: &T) {}
}

impl<V: Visitor> Walk<'_, V> {
    fn value(self, value: Value<'_>) -> Seen {
        self.0.value(value);
        Ok(())
    }

    fn begin(self) -> Result<Self, NotThere> {
        self.0.begin();
        Ok(self)
    }
}

impl<'v, V: Visitor> Serializer for Walk<'v, V> {
    type Ok = ();
    type Error = NotThere;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Impossible<(), NotThere>;
    type SerializeTupleVariant = Impossible<(), NotThere>;
    type SerializeMap = Map<'v, V>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), NotThere>;

    fn serialize_bool(self, flag: bool) -> Seen {
        self.value(Value::Flag(flag))
    }
    fn serialize_i8(self, number: i8) -> Seen {
        self.value(Value::Number(number.into()))
    }
    fn serialize_i16(self, number: i16) -> Seen {
        self.value(Value::Number(number.into()))
    }
    fn serialize_i32(self, number: i32) -> Seen {
        self.value(Value::Number(number.into()))
    }
    fn serialize_i64(self, number: i64) -> Seen {
        self.value(Value::Number(number.into()))
    }
    fn serialize_i128(self, number: i128) -> Seen {
        self.value(Value::Number(number))
    }
    fn serialize_u8(self, number: u8) -> Seen {
        self.value(Value::Number(number.into()))
    }
    fn serialize_u16(self, number: u16) -> Seen {
        self.value(Value::Number(number.into()))
    }
    fn serialize_u32(self, number: u32) -> Seen {
        self.value(Value::Number(number.into()))
    }
    fn serialize_u64(self, number: u64) -> Seen {
        self.value(Value::Number(number.into()))
    }
    fn serialize_u128(self, number: u128) -> Seen {
        self.value(Value::Number(i128::try_from(number).unwrap_or(i128::MAX)))
    }
    fn serialize_f32(self, number: f32) -> Seen {
        self.value(Value::Real(number.into()))
    }
    fn serialize_f64(self, number: f64) -> Seen {
        self.value(Value::Real(number))
    }
    fn serialize_char(self, letter: char) -> Seen {
        self.value(Value::Text(letter.encode_utf8(&mut [0; 4])))
    }
    fn serialize_str(self, text: &str) -> Seen {
        self.value(Value::Text(text))
    }
    fn serialize_bytes(self, bytes: &[u8]) -> Seen {
        self.value(Value::Bytes(bytes))
    }
    fn serialize_none(self) -> Seen {
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Seen {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Seen {
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Seen {
        Ok(())
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Seen {
        self.value(Value::Text(name))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Seen {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Seen {
        self.0.member(name, value);
        Ok(())
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self, NotThere> {
        self.begin()
    }
    fn serialize_tuple(self, _: usize) -> Result<Self, NotThere> {
        self.begin()
    }
    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), NotThere>, NotThere> {
        Err(NotThere)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), NotThere>, NotThere> {
        Err(NotThere)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Map<'v, V>, NotThere> {
        let Self(visitor) = self.begin()?;
        Ok(Map { visitor, key: String::new() })
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NotThere> {
        self.begin()
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), NotThere>, NotThere> {
        Err(NotThere)
    }
    /// Bytes come as they are, not as digits.
    fn is_human_readable(&self) -> bool {
        false
    }
}

impl<V: Visitor> SerializeSeq for Walk<'_, V> {
    type Ok = ();
    type Error = NotThere;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Seen {
        self.0.element(value);
        Ok(())
    }
    fn end(self) -> Seen {
        Ok(())
    }
}

impl<V: Visitor> SerializeTuple for Walk<'_, V> {
    type Ok = ();
    type Error = NotThere;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Seen {
        self.0.element(value);
        Ok(())
    }
    fn end(self) -> Seen {
        Ok(())
    }
}

impl<V: Visitor> SerializeMap for Map<'_, V> {
    type Ok = ();
    type Error = NotThere;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Seen {
        self.key.clear();
        visit(key, &mut Key(&mut self.key));
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Seen {
        self.visitor.member(&self.key, value);
        Ok(())
    }
    fn end(self) -> Seen {
        Ok(())
    }
}

impl<V: Visitor> SerializeStruct for Walk<'_, V> {
    type Ok = ();
    type Error = NotThere;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Seen {
        self.0.member(name, value);
        Ok(())
    }
    fn end(self) -> Seen {
        Ok(())
    }
}
