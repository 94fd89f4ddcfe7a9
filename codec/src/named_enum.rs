//! Enums whose variants have names in rows and reports.

/// Declares an enum whose variants are written `Variant = "name"`, or `Variant = "name" as 7` with a number, its `NAMES`
/// in order and `name`; if no variant has fields, also `ALL`.
#[doc(hidden)]
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Enum:ident {
            $($(#[$doc:meta])* $Variant:ident = $name:literal $(as $code:literal)?,)+
        }
    ) => {
        $(#[$meta])*
        $vis enum $Enum { $($(#[$doc])* $Variant $(= $code)?,)+ }

        impl $Enum {
            /// All variants, in order.
            $vis const ALL: [Self; [$($name),+].len()] = [$(Self::$Variant),+];
        }

        $crate::named_enum! { @names $vis $Enum $($Variant $name)+ }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $Enum:ident {
            $(
                $(#[$doc:meta])*
                $Variant:ident $({ $($member:tt)* })? $(($($value:tt)*))? = $name:literal,
            )+
        }
    ) => {
        $(#[$meta])*
        $vis enum $Enum { $($(#[$doc])* $Variant $({ $($member)* })? $(($($value)*))?,)+ }

        $crate::named_enum! { @names $vis $Enum $($Variant $name)+ }
    };
    (@names $vis:vis $Enum:ident $($Variant:ident $name:literal)+) => {
        impl $Enum {
            /// The names, in the order of the variants.
            $vis const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name in rows and reports.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant { .. } => $name,)+
                }
            }
        }
    };
}
