//! Capture files as they are met: well made, of other kinds, cut, damaged, compressed.

mod annotate;
mod bytes;
#[cfg(feature = "compression")]
mod compressed;
mod damage;
mod faults;
mod kinds;
mod order;
