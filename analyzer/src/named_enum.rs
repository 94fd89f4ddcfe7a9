//! Enums whose variants have names in `docs/output.md`.

/// Declares an enum whose variants are written `Variant = "name"`, and its `ALL` and `name`.
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
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)+
                }
            }
        }
    };
}

pub(crate) use named_enum;
