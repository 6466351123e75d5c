//! [`Arena`]: values that are added once and read without a lock, by number.
//!
//! The engine interns symbols and targets here, so that an entry of the cache is a few numbers and a decision can borrow
//! its target. A value lives as long as the arena.

use std::{collections::HashMap, hash::Hash, sync::Mutex, sync::OnceLock};

use super::locked;

/// Binary logarithm of the first segment's length.
const FIRST_BITS: u32 = 6;

/// Segments, each twice as long as the one before: room for 2^32 values.
const SEGMENTS: usize = 27;

/// Values of a key, each with a number.
#[derive(Debug)]
pub(super) struct Arena<K, V> {
    segments: [OnceLock<Box<[OnceLock<V>]>>; SEGMENTS],
    numbers: Mutex<HashMap<K, u32>>,
}

/// Returns the segment of a value and its place there.
#[inline]
fn place(number: u32) -> (usize, usize) {
    let position = u64::from(number) + (1 << FIRST_BITS);
    let bits = position.ilog2();
    (
        (bits - FIRST_BITS) as usize,
        (position - (1 << bits)) as usize,
    )
}

impl<K: Eq + Hash, V> Arena<K, V> {
    /// Returns an arena without values.
    pub(super) fn new() -> Self {
        Self {
            segments: [const { OnceLock::new() }; SEGMENTS],
            numbers: Mutex::default(),
        }
    }

    /// Returns the value of a number, without a lock.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&V> {
        let (segment, offset) = place(number);
        self.segments.get(segment)?.get()?.get(offset)?.get()
    }

    /// Returns the number of a key, if it was added.
    pub(super) fn number<Q>(&self, key: &Q) -> Option<u32>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        locked(&self.numbers).get(key).copied()
    }

    /// Returns the number of a key, and adds it if it is new.
    pub(super) fn intern<Q>(&self, key: &Q, make: impl FnOnce(&Q) -> (K, V)) -> u32
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let mut numbers = locked(&self.numbers);
        if let Some(&number) = numbers.get(key) {
            return number;
        }
        let number = numbers.len() as u32;
        let (segment, offset) = place(number);
        let (key, value) = make(key);
        let slots = self.segments[segment].get_or_init(|| {
            let length = 1 << (segment as u32 + FIRST_BITS);
            std::iter::repeat_with(OnceLock::new).take(length).collect()
        });
        slots[offset].get_or_init(|| value);
        numbers.insert(key, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_number_and_key_in_every_segment() {
        let arena: Arena<Box<str>, usize> = Arena::new();
        for index in 0..1_000 {
            let name = index.to_string();
            let add = || arena.intern(name.as_str(), |name| (name.into(), index));
            assert_eq!(add(), index as u32);
            assert_eq!(add(), index as u32);
        }
        for index in 0..1_000 {
            assert_eq!(arena.get(index as u32), Some(&index));
            assert_eq!(arena.number(index.to_string().as_str()), Some(index as u32));
        }
        assert_eq!(arena.get(1_000), None);
        assert_eq!(arena.get(u32::MAX), None);
        assert_eq!(arena.number("x"), None);
    }

    #[test]
    fn the_first_and_the_last_number_have_a_place() {
        assert_eq!(place(0), (0, 0));
        assert_eq!(place(63), (0, 63));
        assert_eq!(place(64), (1, 0));
        assert!(place(u32::MAX).0 < SEGMENTS);
    }
}
