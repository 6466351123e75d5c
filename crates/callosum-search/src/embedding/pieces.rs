//! [`Pieces`]: a model's vocabulary as one block of bytes, which is looked up in as it is.
//!
//! The block has [`MAGIC`], the number of slots, the highest number of a piece, a hash table of slots and the texts of the
//! pieces. All numbers are little-endian and have 32 bits. A block from a file may be damaged, but a look-up
//! reads within it and ends.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

/// The form of a block.
const MAGIC: &[u8; 8] = b"pieces/1";

/// Bytes before the slots.
const HEAD: usize = 16;

/// Bytes of a slot: where the text of a piece begins, its length, and the number of the piece.
const SLOT: usize = 12;

/// The number in a slot without a piece.
const EMPTY: u32 = u32::MAX;

/// A vocabulary.
#[derive(Debug)]
pub(super) struct Pieces {
    block: Vec<u8>,
    slots: usize,
}

impl Pieces {
    /// Makes a block of pieces with their numbers. Of two numbers of a piece, the last counts.
    fn new(text: &str, pieces: &[Piece]) -> Self {
        let slots = (pieces.len() * 2).max(2).next_power_of_two();
        let highest = pieces.iter().map(|piece| piece.number).max();
        let mut block = Vec::with_capacity(HEAD + slots * SLOT + text.len());
        block.extend_from_slice(MAGIC);
        block.extend_from_slice(&(slots as u32).to_le_bytes());
        block.extend_from_slice(&highest.unwrap_or_default().to_le_bytes());
        for _ in 0..slots {
            block.extend_from_slice(&[0; SLOT - 4]);
            block.extend_from_slice(&EMPTY.to_le_bytes());
        }
        block.extend_from_slice(text.as_bytes());
        let mut made = Self { block, slots };
        for piece in pieces {
            let text = &text[piece.begin..piece.begin + piece.len];
            let slot = made.slot_of(text.as_bytes());
            let numbers = [piece.begin as u32, piece.len as u32, piece.number];
            let begin = HEAD + slot * SLOT;
            for (at, number) in numbers.into_iter().enumerate() {
                let begin = begin + at * 4;
                made.block[begin..begin + 4].copy_from_slice(&number.to_le_bytes());
            }
        }
        made
    }

    /// Reads a block; `None` if it has another form.
    pub(super) fn read(block: Vec<u8>) -> Option<Self> {
        let slots = number_at(&block, MAGIC.len())? as usize;
        let is_whole = slots.is_power_of_two()
            && block.starts_with(MAGIC)
            && block.len() >= HEAD + slots.checked_mul(SLOT)?;
        is_whole.then_some(Self { block, slots })
    }

    /// Returns the block.
    pub(super) fn block(&self) -> &[u8] {
        &self.block
    }

    /// Returns the highest number that a piece has.
    pub(super) fn highest(&self) -> u32 {
        number_at(&self.block, MAGIC.len() + 4).unwrap_or_default()
    }

    /// Returns the number of a piece; `None` if the vocabulary does not have it.
    pub(super) fn get(&self, piece: &str) -> Option<u32> {
        let slot = self.slot_of(piece.as_bytes());
        let [.., number] = self.slot(slot)?;
        (number != EMPTY).then_some(number)
    }

    /// Returns the slot that has a piece, or the empty one where it belongs.
    fn slot_of(&self, piece: &[u8]) -> usize {
        let first = hash(piece) as usize & (self.slots - 1);
        let slots = (first..self.slots).chain(0..first);
        let is_its = |slot: &usize| {
            let Some([begin, len, number]) = self.slot(*slot) else {
                return true;
            };
            let begin = HEAD + self.slots * SLOT + begin as usize;
            number == EMPTY || self.block.get(begin..begin + len as usize) == Some(piece)
        };
        // A damaged block may have no empty slot.
        slots.take(self.slots).find(is_its).unwrap_or(self.slots)
    }

    fn slot(&self, slot: usize) -> Option<[u32; 3]> {
        let begin = HEAD + slot * SLOT;
        let bytes = self.block.get(begin..begin + SLOT)?;
        if slot >= self.slots {
            return None;
        }
        Some([
            number_at(bytes, 0)?,
            number_at(bytes, 4)?,
            number_at(bytes, 8)?,
        ])
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    let number = bytes.get(at..at + 4)?;
    number.try_into().ok().map(u32::from_le_bytes)
}

/// FNV-1a, in 64 bits: the vocabulary is not chosen by those who ask.
fn hash(bytes: &[u8]) -> u64 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash ^ (hash >> 32)
}

/// A piece of a list, whose text is in one string with the others.
struct Piece {
    begin: usize,
    len: usize,
    number: u32,
}

impl<'de> Deserialize<'de> for Pieces {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PiecesVisitor)
    }
}

/// A key that is borrowed if it has no escapes.
#[derive(Deserialize)]
struct Key<'k>(#[serde(borrow)] Cow<'k, str>);

struct PiecesVisitor;

impl<'de> Visitor<'de> for PiecesVisitor {
    type Value = Pieces;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of pieces with their numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pieces, A::Error> {
        let mut text = String::new();
        let mut pieces = Vec::new();
        while let Some((Key(key), number)) = map.next_entry::<Key<'de>, u32>()? {
            pieces.push(Piece {
                begin: text.len(),
                len: key.len(),
                number,
            });
            text.push_str(&key);
        }
        Ok(Pieces::new(&text, &pieces))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_vocabulary_has_its_pieces_and_no_others(
            known in proptest::collection::hash_map("[a-c\"\u{e9}]{0,3}", 0_u32..9, 0..40),
            other in "[a-d]{0,4}",
        ) {
            let json = serde_json::to_vec(&known).unwrap();
            let pieces: Pieces = serde_json::from_slice(&json).unwrap();
            let kept = Pieces::read(pieces.block().to_vec()).unwrap();
            for pieces in [pieces, kept] {
                let found: HashMap<String, u32> = known
                    .keys()
                    .filter_map(|key| Some((key.clone(), pieces.get(key)?)))
                    .collect();
                prop_assert_eq!(&found, &known);
                prop_assert_eq!(pieces.get(&other), known.get(&other).copied());
                prop_assert_eq!(pieces.highest(), known.values().copied().max().unwrap_or(0));
            }
        }

        #[test]
        fn a_damaged_block_gives_answers_that_end(
            mut block in proptest::collection::vec(any::<u8>(), 0..200),
            slots in 0_u32..64,
            piece in "[a-c]{0,3}",
        ) {
            if block.len() >= HEAD {
                block[..8].copy_from_slice(MAGIC);
                block[8..12].copy_from_slice(&slots.to_le_bytes());
            }
            if let Some(pieces) = Pieces::read(block) {
                pieces.get(&piece);
                pieces.highest();
            }
        }
    }
}
