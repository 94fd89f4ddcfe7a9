//! Enums whose variants are the words of a field.

/// Declares an enum as [`codec::named_enum`], with what all of them derive and its shape in rows.
macro_rules! named_enum {
    ($(#[$meta:meta])* $vis:vis enum $Enum:ident $variants:tt) => {
        codec::named_enum! {
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
            $vis enum $Enum $variants
        }

        impl crate::row::FieldType for $Enum {
            const SHAPE: crate::row::FieldShape = crate::row::FieldShape::Words(Self::NAMES);
        }
    };
}

pub(crate) use named_enum;
