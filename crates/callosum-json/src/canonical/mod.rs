//! The canonical form of a JSON value, and the checksum over it.
//!
//! Start with [`canonicalize`]. The form is exactly what Python's
//! `json.dumps(value, sort_keys=True, separators=(',', ':'))` prints, so that anyone can check a
//! ledger with nothing but Python's standard library (Seed CAL §3.4). It is not RFC 8785: the two
//! differ on floats, on non-ASCII text and on the order of keys.
//!
//! Deliberately unsupported: NaN, infinities (also those that a number like `1e999` rounds to) and
//! lone surrogates, which no portable JSON can hold. They are rejected with their position.
//!
//! The rules in full: `docs/formats/canonical-json.md`.

mod print;
mod read;
#[cfg(test)]
mod tests;
mod value;

pub use self::read::{CanonicalError, CanonicalFault, DuplicateKeys, MAX_DEPTH, TextPosition};
pub use self::{
    read::{array_items, object_members, read},
    value::CanonicalValue,
};
use crate::checksum::Checksum;

/// Gives the canonical form of one JSON value.
///
/// Integers of any size stay exact. Fails with the line and column of the first byte that is not
/// JSON or that has no canonical form. Costs a tree of the value in memory.
pub fn canonicalize(bytes: &[u8], duplicates: DuplicateKeys) -> Result<Vec<u8>, CanonicalError> {
    Ok(read(bytes, duplicates)?.to_canonical().into_bytes())
}

/// Hashes the canonical form of one JSON value.
pub fn checksum(bytes: &[u8], duplicates: DuplicateKeys) -> Result<Checksum, CanonicalError> {
    Ok(Checksum::of(&canonicalize(bytes, duplicates)?))
}

/// Hashes the canonical form of a JSON object as if it had no field of this name.
///
/// The seed computes the checksum of an object that contains its own checksum this way (§8.2). A
/// value that is not an object is hashed as it is.
pub fn checksum_without(
    bytes: &[u8],
    field: &str,
    duplicates: DuplicateKeys,
) -> Result<Checksum, CanonicalError> {
    let mut value = read(bytes, duplicates)?;
    value.remove(field);
    Ok(Checksum::of(value.to_canonical().as_bytes()))
}
