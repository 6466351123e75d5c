//! Resources of a program: [`Limits`], and the [`Budget`] that counts them down.
//!
//! Counts are of what a program does, never of time, so that the same program fails at the same
//! place on every machine and again on every replay.

use std::{collections::BTreeMap, mem::size_of, sync::Arc};

use crate::{
    failure::{Failure, FailureKind},
    value::{Key, Known, Map, Value, Vector},
};

/// Limits of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Units of work; one expression is about one, and so are each 16 values that are copied.
    pub fuel: u64,
    /// Bytes that are asked for over the whole run, given back or not, and those of the stack.
    pub memory: u64,
    /// Calls to capabilities.
    pub yields: u64,
    /// Turns of one `step-loop`.
    pub turns: u64,
    /// Bytes, about, of one call's arguments and of the last value, written out.
    pub value: u64,
}

impl Default for Limits {
    /// 50 million units (a few seconds), 256 MiB, 1,000 calls, 10,000 turns, 4 MiB.
    fn default() -> Self {
        Self {
            fuel: 50_000_000,
            memory: 256 << 20,
            yields: 1_000,
            // The language's own bound.
            turns: 10_000,
            value: 4 << 20,
        }
    }
}

/// Rest of some limits.
#[derive(Debug)]
pub(crate) struct Budget {
    fuel: u64,
    memory: u64,
    /// Memory limit at the start.
    allowed: u64,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            fuel: limits.fuel,
            memory: limits.memory,
            allowed: limits.memory,
        }
    }

    /// Takes units of work.
    pub(crate) fn spend(&mut self, fuel: u64) -> Result<(), Failure> {
        match self.fuel.checked_sub(fuel) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => Err(exhausted("work", "the program does more work than allowed")),
        }
    }

    /// Takes memory, and the work of filling it.
    pub(crate) fn allocate(&mut self, bytes: u64) -> Result<(), Failure> {
        self.spend(bytes / 256)?;
        match self.memory.checked_sub(bytes) {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => Err(too_much_memory()),
        }
    }

    /// Takes memory for a value in a place of its own.
    pub(crate) fn allocate_box<T>(&mut self) -> Result<(), Failure> {
        self.allocate(size_of::<T>() as u64 + OVERHEAD)
    }

    /// Takes memory for one entry more of a map that has `count` without it.
    pub(crate) fn allocate_entry(&mut self, count: usize) -> Result<(), Failure> {
        self.allocate(map_bytes(count + 1) - map_bytes(count))
    }

    /// Takes memory for that many values.
    pub(crate) fn allocate_values(&mut self, count: usize) -> Result<(), Failure> {
        self.allocate((count as u64).saturating_mul(size_of::<Value>() as u64))
    }

    /// Fails where a stack of that many bytes is more than what is left of the memory.
    pub(crate) fn bear(&self, bytes: u64) -> Result<(), Failure> {
        if bytes <= self.memory {
            return Ok(());
        }
        // Whichever took the most is what there is too much of.
        Err(if bytes > self.allowed - self.memory {
            exhausted("stack", "the program recurses deeper than allowed")
        } else {
            too_much_memory()
        })
    }

    pub(crate) fn vector(&mut self, items: Vec<Value>) -> Result<Value, Failure> {
        self.allocate(vector_bytes(items.len()))?;
        Ok(Value::vector(items))
    }

    pub(crate) fn map(&mut self, entries: BTreeMap<Key, Value>) -> Result<Value, Failure> {
        self.allocate(map_bytes(entries.len()))?;
        self.spend(key_looks(&entries))?;
        Ok(Value::map(entries))
    }

    /// Takes a vector apart; if it is shared, the copy is paid for.
    pub(crate) fn open_vector(&mut self, vector: Vector) -> Result<(Vec<Value>, Known), Failure> {
        if vector.is_shared() {
            self.allocate(vector_bytes(vector.len()))?;
        }
        let known = Known::new(vector.len(), vector.weight());
        Ok((vector.into_items(), known))
    }

    /// Makes a vector again that was taken apart: what it grew by is new.
    pub(crate) fn vector_again(
        &mut self,
        items: Vec<Value>,
        known: Known,
    ) -> Result<Value, Failure> {
        let Some(weight) = known.weight() else {
            return self.vector(items);
        };
        // It grows by doubling.
        let grown = 2 * items.len().saturating_sub(known.count()) * size_of::<Value>();
        self.allocate(grown as u64)?;
        Ok(Value::Vector(Vector::weighing(items, weight)))
    }

    /// As `open_vector`, for maps.
    pub(crate) fn open_map(&mut self, map: Map) -> Result<(BTreeMap<Key, Value>, Known), Failure> {
        if map.is_shared() {
            self.allocate(map_bytes(map.len()))?;
            self.spend(key_looks(&map))?;
        }
        let known = Known::new(map.len(), map.weight());
        Ok((map.into_entries(), known))
    }

    /// As `vector_again`, for maps.
    pub(crate) fn map_again(
        &mut self,
        entries: BTreeMap<Key, Value>,
        known: Known,
    ) -> Result<Value, Failure> {
        let Some(weight) = known.weight() else {
            return self.map(entries);
        };
        let grown = map_bytes(entries.len()).saturating_sub(map_bytes(known.count()));
        self.allocate(grown)?;
        Ok(Value::Map(Map::weighing(entries, weight)))
    }

    pub(crate) fn text(&mut self, text: impl Into<Arc<str>>) -> Result<Value, Failure> {
        let text: Arc<str> = text.into();
        self.allocate(text.len() as u64 + 16)?;
        Ok(Value::Text(text))
    }
}

/// Bytes that an allocation takes beyond its size, about.
const OVERHEAD: u64 = 16;

/// Most entries of a map's node, and the least that it has if there are other nodes.
const NODE_ROOM: u64 = 11;
const NODE_LEAST: u64 = 5;

fn vector_bytes(items: usize) -> u64 {
    items as u64 * size_of::<Value>() as u64 + 48 + OVERHEAD
}

/// A map's entries are in nodes; each takes what a full one does. More entries never take less.
fn map_bytes(entries: usize) -> u64 {
    let entries = entries as u64;
    let nodes = if entries <= NODE_ROOM {
        entries.min(1)
    } else {
        entries.div_ceil(NODE_LEAST)
    };
    let node = NODE_ROOM * (size_of::<Value>() + size_of::<Key>()) as u64 + 2 * OVERHEAD;
    nodes.saturating_mul(node).saturating_add(48 + OVERHEAD)
}

fn too_much_memory() -> Failure {
    let what = "the program needs more memory than allowed";
    exhausted("memory", what)
}

/// Keys are compared whole, and texts among them may be long.
fn key_looks(entries: &BTreeMap<Key, Value>) -> u64 {
    entries.keys().map(|key| key.weight() / 256).sum()
}

fn exhausted(what: &str, message: &str) -> Failure {
    Failure::new(FailureKind::BudgetExhausted, message).with_hint(format!(
        "the limit on {what} applies to the whole run; do less in one plan"
    ))
}
