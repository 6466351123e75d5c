//! [`Vector`] and [`Map`]: shared containers that know their weight and end without recursion.

use std::{cell::RefCell, collections::BTreeMap, mem, ops::Deref, sync::Arc};

use super::{Group, Key, Value};

/// Values in order, shared.
#[derive(Clone)]
pub struct Vector(Arc<Items>);

/// Values by key in the order of the keys, shared.
#[derive(Clone)]
pub struct Map(Arc<Entries>);

struct Items {
    items: Vec<Value>,
    weight: u64,
}

struct Entries {
    entries: BTreeMap<Key, Value>,
    weight: u64,
}

/// Facts about a container that was taken apart and is about to be made again, so that it need not
/// be weighed again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    count: usize,
    weight: u64,
}

impl Known {
    pub(crate) fn new(count: usize, weight: u64) -> Self {
        Self { count, weight }
    }

    /// Returns the number of parts that there were.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the present weight of the parts; `None` if the bound was reached, so that it is
    /// unknown.
    pub(crate) fn weight(&self) -> Option<u64> {
        (self.weight < u64::MAX).then_some(self.weight)
    }

    /// Notes that an item was put into a vector.
    pub(crate) fn item(&mut self, item: &Value) {
        self.add(item.weight().saturating_add(1));
    }

    /// Notes that an entry was put into a map, perhaps in the place of another.
    pub(crate) fn entry(&mut self, key: &Key, value: &Value, before: Option<&Value>) {
        match before {
            Some(before) => self.remove(before.weight()),
            None => self.add(key.weight() + 2),
        }
        self.add(value.weight());
    }

    /// Notes that an entry was taken out of a map.
    pub(crate) fn without_entry(&mut self, key: &Key, value: &Value) {
        self.remove(value.weight() + key.weight() + 2);
    }

    /// Notes that an item of a vector replaces another.
    pub(crate) fn replaced(&mut self, item: &Value, before: &Value) {
        self.remove(before.weight());
        self.add(item.weight());
    }

    fn add(&mut self, weight: u64) {
        self.weight = self.weight.saturating_add(weight);
    }

    fn remove(&mut self, weight: u64) {
        // What has reached the bound stays there.
        if self.weight < u64::MAX {
            self.weight = self.weight.saturating_sub(weight);
        }
    }
}

impl Vector {
    /// Takes values in; costs one look at each.
    pub fn new(items: Vec<Value>) -> Self {
        let weight = items.iter().fold(3, |sum: u64, item| {
            sum.saturating_add(item.weight()).saturating_add(1)
        });
        Self(Arc::new(Items { items, weight }))
    }

    /// Takes values in whose weight is known from what they were taken out of.
    pub(crate) fn weighing(items: Vec<Value>, weight: u64) -> Self {
        Self(Arc::new(Items { items, weight }))
    }

    /// Returns the values, without copying them unless this vector is shared.
    pub(crate) fn into_items(self) -> Vec<Value> {
        match Arc::try_unwrap(self.0) {
            Ok(mut alone) => mem::take(&mut alone.items),
            Err(shared) => shared.items.clone(),
        }
    }

    /// Whether this vector is shared, so that its values would be copied.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(crate) fn weight(&self) -> u64 {
        self.0.weight
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for Vector {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0.items
    }
}

impl Map {
    /// Takes entries in; costs one look at each.
    pub fn new(entries: BTreeMap<Key, Value>) -> Self {
        let weight = entries.iter().fold(3, |sum: u64, (key, value)| {
            sum.saturating_add(key.weight())
                .saturating_add(value.weight())
                .saturating_add(2)
        });
        Self(Arc::new(Entries { entries, weight }))
    }

    /// Takes entries in whose weight is known from what they were taken out of.
    pub(crate) fn weighing(entries: BTreeMap<Key, Value>, weight: u64) -> Self {
        Self(Arc::new(Entries { entries, weight }))
    }

    /// Returns the entries, without copying them unless this map is shared.
    pub(crate) fn into_entries(self) -> BTreeMap<Key, Value> {
        match Arc::try_unwrap(self.0) {
            Ok(mut alone) => mem::take(&mut alone.entries),
            Err(shared) => shared.entries.clone(),
        }
    }

    /// Whether this map is shared, so that its entries would be copied.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(crate) fn weight(&self) -> u64 {
        self.0.weight
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for Map {
    type Target = BTreeMap<Key, Value>;

    fn deref(&self) -> &BTreeMap<Key, Value> {
        &self.0.entries
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        if self.items.iter().any(Value::holds_values) {
            dismantle(mem::take(&mut self.items));
        }
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        if self.entries.values().any(Value::holds_values) {
            dismantle(mem::take(&mut self.entries).into_values().collect());
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.captured.iter().any(Value::holds_values) {
            dismantle(mem::take(&mut self.captured));
        }
    }
}

thread_local! {
    /// Parts that wait to be dropped while a container is, on this thread.
    static WAITING: RefCell<Option<Vec<Vec<Value>>>> = const { RefCell::new(None) };
}

/// Drops values such that their own contents wait for their turn, instead of being dropped within.
fn dismantle(values: Vec<Value>) {
    let mut first = Some(values);
    // A thread that is ending has no place to wait in any more; `first` is then dropped as it is.
    let waits = WAITING.try_with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        if let Some(queue) = waiting.as_mut() {
            queue.extend(first.take());
            true
        } else {
            *waiting = Some(Vec::new());
            false
        }
    });
    if waits != Ok(false) {
        return;
    }
    let mut next = first;
    while let Some(values) = next {
        drop(values);
        next = WAITING.with(|waiting| {
            let mut waiting = waiting.borrow_mut();
            let values = waiting.as_mut().and_then(Vec::pop);
            if values.is_none() {
                *waiting = None;
            }
            values
        });
    }
}
