//! Enums whose variants have names in `docs/output.md`.

/// Declares an enum whose variants are written `Variant = "name"`, its `ALL` and `name`, and its shape in
/// rows.
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Enum:ident { $($(#[$doc:meta])* $Variant:ident = $name:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $Enum { $($(#[$doc])* $Variant,)+ }

        impl $Enum {
            /// All variants, in order.
            $vis const ALL: [Self; [$($name),+].len()] = [$(Self::$Variant),+];

            /// The name in `docs/output.md`.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)+
                }
            }
        }

        impl crate::row::FieldType for $Enum {
            const SHAPE: crate::row::FieldShape = crate::row::FieldShape::Words(&[$($name),+]);
        }
    };
}

pub(crate) use named_enum;
