//! Visits a row's members and values as its JSON has them: filters and columns cannot differ from
//! the JSON.

use std::fmt;

use serde::ser::{
    Error, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple,
    Serializer,
};

/// Value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue<'a> {
    /// A whole number.
    Number(i128),
    /// Real number.
    Real(f64),
    /// Text or a word.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Boolean.
    Flag(bool),
}

/// Visitor of the parts of a row.
pub trait RowVisitor {
    /// Visits a value.
    fn value(&mut self, value: FieldValue<'_>);
    /// Visits the start of a list or an object.
    fn begin(&mut self);
    /// Visits a member of an object.
    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T);
    /// Visits an element of a list.
    fn element<T: Serialize + ?Sized>(&mut self, value: &T);
}

/// Calls the visitor for the top level of a row or of a part of it: its members, its elements, or
/// its single value. JSON null has none.
pub fn visit(what: &(impl Serialize + ?Sized), visitor: &mut impl RowVisitor) {
    // Visitors never fail; types that rows do not contain have no value.
    let _ = what.serialize(RowWalker(visitor));
}

/// Error for a type that rows do not contain.
#[derive(Debug)]
struct NoValue;

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such thing in a row")
    }
}

impl std::error::Error for NoValue {}

impl Error for NoValue {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type VisitResult = Result<(), NoValue>;

struct RowWalker<'v, V>(&'v mut V);

/// Serializer of a map, whose keys and values arrive separately.
struct MapWalker<'v, V> {
    visitor: &'v mut V,
    key: String,
}

/// Visitor that collects a key.
struct KeySerializer<'k>(&'k mut String);

impl RowVisitor for KeySerializer<'_> {
    fn value(&mut self, value: FieldValue<'_>) {
        if let FieldValue::Text(text) = value {
            self.0.push_str(text);
        }
    }
    fn begin(&mut self) {}
    fn member<T: Serialize + ?Sized>(&mut self, _: &str, _: &T) {}
    fn element<T: Serialize + ?Sized>(&mut self, _: &T) {}
}

impl<V: RowVisitor> RowWalker<'_, V> {
    fn value(self, value: FieldValue<'_>) -> VisitResult {
        self.0.value(value);
        Ok(())
    }

    fn begin(self) -> Result<Self, NoValue> {
        self.0.begin();
        Ok(self)
    }
}

impl<'v, V: RowVisitor> Serializer for RowWalker<'v, V> {
    type Ok = ();
    type Error = NoValue;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Impossible<(), NoValue>;
    type SerializeTupleVariant = Impossible<(), NoValue>;
    type SerializeMap = MapWalker<'v, V>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), NoValue>;

    fn serialize_bool(self, flag: bool) -> VisitResult {
        self.value(FieldValue::Flag(flag))
    }
    fn serialize_i8(self, number: i8) -> VisitResult {
        self.value(FieldValue::Number(number.into()))
    }
    fn serialize_i16(self, number: i16) -> VisitResult {
        self.value(FieldValue::Number(number.into()))
    }
    fn serialize_i32(self, number: i32) -> VisitResult {
        self.value(FieldValue::Number(number.into()))
    }
    fn serialize_i64(self, number: i64) -> VisitResult {
        self.value(FieldValue::Number(number.into()))
    }
    fn serialize_i128(self, number: i128) -> VisitResult {
        self.value(FieldValue::Number(number))
    }
    fn serialize_u8(self, number: u8) -> VisitResult {
        self.value(FieldValue::Number(number.into()))
    }
    fn serialize_u16(self, number: u16) -> VisitResult {
        self.value(FieldValue::Number(number.into()))
    }
    fn serialize_u32(self, number: u32) -> VisitResult {
        self.value(FieldValue::Number(number.into()))
    }
    fn serialize_u64(self, number: u64) -> VisitResult {
        self.value(FieldValue::Number(number.into()))
    }
    fn serialize_u128(self, number: u128) -> VisitResult {
        self.value(FieldValue::Number(i128::try_from(number).unwrap_or(i128::MAX)))
    }
    fn serialize_f32(self, number: f32) -> VisitResult {
        self.value(FieldValue::Real(number.into()))
    }
    fn serialize_f64(self, number: f64) -> VisitResult {
        self.value(FieldValue::Real(number))
    }
    fn serialize_char(self, letter: char) -> VisitResult {
        self.value(FieldValue::Text(letter.encode_utf8(&mut [0; 4])))
    }
    fn serialize_str(self, text: &str) -> VisitResult {
        self.value(FieldValue::Text(text))
    }
    fn serialize_bytes(self, bytes: &[u8]) -> VisitResult {
        self.value(FieldValue::Bytes(bytes))
    }
    fn serialize_none(self) -> VisitResult {
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> VisitResult {
        value.serialize(self)
    }
    fn serialize_unit(self) -> VisitResult {
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> VisitResult {
        Ok(())
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> VisitResult {
        self.value(FieldValue::Text(name))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> VisitResult {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> VisitResult {
        self.0.member(name, value);
        Ok(())
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self, NoValue> {
        self.begin()
    }
    fn serialize_tuple(self, _: usize) -> Result<Self, NoValue> {
        self.begin()
    }
    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), NoValue>, NoValue> {
        Err(NoValue)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), NoValue>, NoValue> {
        Err(NoValue)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<MapWalker<'v, V>, NoValue> {
        let Self(visitor) = self.begin()?;
        Ok(MapWalker { visitor, key: String::new() })
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NoValue> {
        self.begin()
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), NoValue>, NoValue> {
        Err(NoValue)
    }
    /// False: bytes are serialized as bytes, not as digits.
    fn is_human_readable(&self) -> bool {
        false
    }
}

impl<V: RowVisitor> SerializeSeq for RowWalker<'_, V> {
    type Ok = ();
    type Error = NoValue;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> VisitResult {
        self.0.element(value);
        Ok(())
    }
    fn end(self) -> VisitResult {
        Ok(())
    }
}

impl<V: RowVisitor> SerializeTuple for RowWalker<'_, V> {
    type Ok = ();
    type Error = NoValue;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> VisitResult {
        self.0.element(value);
        Ok(())
    }
    fn end(self) -> VisitResult {
        Ok(())
    }
}

impl<V: RowVisitor> SerializeMap for MapWalker<'_, V> {
    type Ok = ();
    type Error = NoValue;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> VisitResult {
        self.key.clear();
        visit(key, &mut KeySerializer(&mut self.key));
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> VisitResult {
        self.visitor.member(&self.key, value);
        Ok(())
    }
    fn end(self) -> VisitResult {
        Ok(())
    }
}

impl<V: RowVisitor> SerializeStruct for RowWalker<'_, V> {
    type Ok = ();
    type Error = NoValue;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> VisitResult {
        self.0.member(name, value);
        Ok(())
    }
    fn end(self) -> VisitResult {
        Ok(())
    }
}
