//! Vectors and maps. All are eager, and what they give is new; nothing changes.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    mem::{size_of, take},
};

use super::{EvalContext, MANY, Row, count, counted, integer, ordering::sorted_by, wrong};
use crate::{
    budget::Budget,
    failure::Failure,
    value::{Key, Known, Map, Value, Vector},
};

pub(super) const FUNCTIONS: &[Row] = &[
    ("vector", 0, MANY, |workshop, arguments| {
        workshop
            .budget
            .vector(arguments.iter_mut().map(take).collect())
    }),
    ("hash-map", 0, MANY, |workshop, arguments| {
        if arguments.len() % 2 == 1 {
            return Err(Failure::argument(
                "`hash-map` takes pairs of a key and a value",
            ));
        }
        put("hash-map", workshop, no_map(), arguments)
    }),
    ("get", 2, 3, |_, arguments| {
        let found = look_up("get", &arguments[0], &arguments[1])?;
        Ok(found.unwrap_or_else(|| arguments.get(2).cloned().unwrap_or_default()))
    }),
    ("get-in", 2, 3, get_in),
    ("assoc", 3, MANY, assoc),
    ("dissoc", 1, MANY, |workshop, arguments| {
        let Some((map, keys)) = arguments.split_first_mut() else {
            return Ok(Value::Nil);
        };
        if matches!(map, Value::Nil) {
            return Ok(Value::Nil);
        }
        let map = map_of("dissoc", take(map))?;
        let (mut entries, mut known) = workshop.budget.open_map(map)?;
        for key in keys.iter().filter_map(Key::of) {
            if let Some(removed) = entries.remove(&key) {
                known.without_entry(&key, &removed);
            }
        }
        workshop.budget.map_again(entries, known)
    }),
    ("merge", 0, MANY, |workshop, arguments| {
        let mut maps = arguments.iter_mut();
        let first = maps.find(|value| !matches!(value, Value::Nil));
        let Some(first) = first else {
            return workshop.budget.map(BTreeMap::new());
        };
        let first = map_of("merge", take(first))?;
        let (mut entries, mut known) = workshop.budget.open_map(first)?;
        for value in maps {
            if matches!(value, Value::Nil) {
                continue;
            }
            let map = map_of("merge", take(value))?;
            put_all(workshop, &mut entries, &mut known, &map)?;
        }
        workshop.budget.map_again(entries, known)
    }),
    ("keys", 1, 1, |workshop, arguments| {
        if matches!(arguments[0], Value::Nil) {
            return workshop.budget.vector(Vec::new());
        }
        let map = map_of("keys", take(&mut arguments[0]))?;
        workshop
            .budget
            .vector(map.keys().map(Key::to_value).collect())
    }),
    ("vals", 1, 1, |workshop, arguments| {
        if matches!(arguments[0], Value::Nil) {
            return workshop.budget.vector(Vec::new());
        }
        let map = map_of("vals", take(&mut arguments[0]))?;
        workshop.budget.vector(map.values().cloned().collect())
    }),
    ("count", 1, 1, |_, arguments| length("count", &arguments[0])),
    ("length", 1, 1, |_, arguments| {
        length("length", &arguments[0])
    }),
    ("first", 1, 1, |workshop, arguments| {
        let items = sequence("first", &mut workshop.budget, &arguments[0])?;
        Ok(items.first().cloned().unwrap_or_default())
    }),
    ("last", 1, 1, |workshop, arguments| {
        let items = sequence("last", &mut workshop.budget, &arguments[0])?;
        Ok(items.last().cloned().unwrap_or_default())
    }),
    ("rest", 1, 1, |workshop, arguments| {
        let items = sequence("rest", &mut workshop.budget, &arguments[0])?;
        workshop
            .budget
            .vector(items.get(1..).unwrap_or_default().to_vec())
    }),
    ("nth", 2, 3, |workshop, arguments| {
        let place = integer("nth", &arguments[1])?;
        let items = sequence("nth", &mut workshop.budget, &arguments[0])?;
        let found = usize::try_from(place)
            .ok()
            .and_then(|place| items.get(place));
        match (found, arguments.get(2)) {
            (Some(found), _) => Ok(found.clone()),
            (None, Some(default)) => Ok(default.clone()),
            (None, None) => Err(Failure::argument(format!(
                "index {place} is out of range: the number of items is {}",
                items.len()
            ))
            .with_hint("`get` returns nil there, and `nth` takes a default as its third argument")),
        }
    }),
    ("conj", 1, MANY, conj),
    ("cons", 2, 2, |workshop, arguments| {
        let items = items_of("cons", &mut workshop.budget, take(&mut arguments[1]))?;
        let mut all = Vec::with_capacity(items.len() + 1);
        all.push(take(&mut arguments[0]));
        all.extend(items.iter().cloned());
        workshop.budget.vector(all)
    }),
    ("concat", 0, MANY, |workshop, arguments| {
        let Some((first, others)) = arguments.split_first_mut() else {
            return workshop.budget.vector(Vec::new());
        };
        let first = vector_of("concat", &mut workshop.budget, take(first))?;
        let (mut all, mut known) = workshop.budget.open_vector(first)?;
        for value in others {
            let items = sequence("concat", &mut workshop.budget, value)?;
            workshop.budget.allocate_values(items.len())?;
            for item in items.iter() {
                known.item(item);
                all.push(item.clone());
            }
        }
        workshop.budget.vector_again(all, known)
    }),
    ("take", 2, 2, |workshop, arguments| {
        let wanted = count("take", &arguments[0])?;
        let items = sequence("take", &mut workshop.budget, &arguments[1])?;
        let end = wanted.min(items.len());
        workshop.budget.vector(items[..end].to_vec())
    }),
    ("drop", 2, 2, |workshop, arguments| {
        let unwanted = count("drop", &arguments[0])?;
        let items = sequence("drop", &mut workshop.budget, &arguments[1])?;
        workshop
            .budget
            .vector(items.get(unwanted..).unwrap_or_default().to_vec())
    }),
    ("reverse", 1, 1, |workshop, arguments| {
        if let Value::Text(text) = &arguments[0] {
            return workshop.budget.text(text.chars().rev().collect::<String>());
        }
        let mut items = items_of("reverse", &mut workshop.budget, take(&mut arguments[0]))?;
        items.reverse();
        workshop.budget.vector(items)
    }),
    ("subvec", 2, 3, |workshop, arguments| {
        let from = count("subvec", &arguments[1])?;
        let items = sequence("subvec", &mut workshop.budget, &arguments[0])?;
        let to = match arguments.get(2) {
            Some(to) => count("subvec", to)?,
            None => items.len(),
        };
        match items.get(from..to) {
            Some(part) => workshop.budget.vector(part.to_vec()),
            None => Err(Failure::argument(format!(
                "range {from} to {to} is out of bounds: the number of items is {}",
                items.len()
            ))),
        }
    }),
    ("partition", 2, 2, |workshop, arguments| {
        let size = count("partition", &arguments[0])?;
        if size == 0 {
            return Err(Failure::argument("`partition` takes a size of 1 or more"));
        }
        let items = sequence("partition", &mut workshop.budget, &arguments[1])?;
        let mut parts = Vec::with_capacity(items.len() / size);
        for part in items.chunks_exact(size) {
            parts.push(workshop.budget.vector(part.to_vec())?);
        }
        workshop.budget.vector(parts)
    }),
    ("range", 1, 3, range),
    ("distinct", 1, 1, |workshop, arguments| {
        let items = items_of("distinct", &mut workshop.budget, take(&mut arguments[0]))?;
        let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
        let mut kept: Vec<Value> = Vec::new();
        for item in items {
            let budget = &mut workshop.budget;
            budget.allocate(item.weight())?;
            let text = item.to_text(u64::MAX);
            let text = text.map_err(|error| Failure::argument(error.to_string()))?;
            // One value has one text, but functions have all the same, and what is not a number equals
            // nothing.
            if !seen.contains_key(&text) {
                budget.allocate(OF_ONE_SEEN)?;
            }
            let alike = seen.entry(text).or_default();
            let mut again = false;
            for &place in &*alike {
                again = again || kept[place].equals(&item, |work| budget.spend(work))?;
            }
            if !again {
                alike.push(kept.len());
                kept.push(item);
            }
        }
        workshop.budget.vector(kept)
    }),
    ("frequencies", 1, 1, |workshop, arguments| {
        let items = sequence("frequencies", &mut workshop.budget, &arguments[0])?;
        let mut counts = BTreeMap::new();
        for item in items.iter() {
            let key = key_of("frequencies", item)?;
            workshop.budget.spend(1 + key.weight() / 64)?;
            if !counts.contains_key(&key) {
                workshop.budget.allocate_entry(counts.len())?;
            }
            *counts.entry(key).or_insert(0_i64) += 1;
        }
        let entries = counts
            .into_iter()
            .map(|(key, count)| (key, Value::Integer(count)));
        workshop.budget.map(entries.collect())
    }),
    ("sort", 1, 1, |workshop, arguments| {
        let items = items_of("sort", &mut workshop.budget, take(&mut arguments[0]))?;
        workshop.budget.allocate_values(items.len())?;
        let keys = items.clone();
        sorted_by("sort", &mut workshop.budget, items, keys)
    }),
];

/// Bytes that it takes to remember one value that was seen, in addition to its text: its place in a
/// table that grows by doubling, and a list of places.
const OF_ONE_SEEN: u64 = 200;

/// As [`items_of`], for who only looks.
fn sequence<'v>(
    name: &str,
    budget: &mut Budget,
    value: &'v Value,
) -> Result<Cow<'v, [Value]>, Failure> {
    match value {
        Value::Vector(vector) => Ok(Cow::Borrowed(vector)),
        other => Ok(Cow::Owned(items_of(name, budget, other.clone())?)),
    }
}

/// The items of a vector, the characters of a string, nothing of nil.
pub(crate) fn vector_of(name: &str, budget: &mut Budget, value: Value) -> Result<Vector, Failure> {
    match value {
        Value::Vector(vector) => Ok(vector),
        other => items_of(name, budget, other).map(Vector::new),
    }
}

/// As [`vector_of`], copied out of the vector if it is shared.
pub(crate) fn items_of(
    name: &str,
    budget: &mut Budget,
    value: Value,
) -> Result<Vec<Value>, Failure> {
    match value {
        Value::Nil => Ok(Vec::new()),
        Value::Vector(vector) => {
            budget.spend(vector.len() as u64 / 16)?;
            Ok(vector.into_items())
        }
        Value::Text(text) => {
            let characters = text.chars().count() as u64;
            budget.allocate(characters.saturating_mul(size_of::<Value>() as u64 + 20))?;
            Ok(text.chars().map(|c| Value::text(c.to_string())).collect())
        }
        other => {
            let failure = wrong(name, "a vector, or a string for its characters", &other);
            Err(match other {
                Value::Map(_) => failure.with_hint("use `(keys m)` or `(vals m)`"),
                _ => failure,
            })
        }
    }
}

/// Units of work that it takes to find a key, in which texts may be long.
fn key_looks(key: &Value) -> u64 {
    match key {
        Value::Text(text) => text.len() as u64 / 256,
        _ => 0,
    }
}

fn map_of(name: &str, value: Value) -> Result<Map, Failure> {
    match value {
        Value::Map(map) => Ok(map),
        other => Err(wrong(name, "a map", &other)),
    }
}

fn key_of(name: &str, value: &Value) -> Result<Key, Failure> {
    Key::of(value).ok_or_else(|| {
        wrong(
            name,
            "keywords, strings, integers or booleans as keys",
            value,
        )
    })
}

/// Returns the value at a key or a place, if there is one.
pub(crate) fn look_up(name: &str, of: &Value, at: &Value) -> Result<Option<Value>, Failure> {
    match of {
        Value::Nil => Ok(None),
        Value::Map(map) => Ok(Key::of(at).and_then(|key| map.get(&key).cloned())),
        Value::Vector(items) => {
            let place = integer(name, at)?;
            let place = usize::try_from(place).ok();
            Ok(place.and_then(|place| items.get(place).cloned()))
        }
        other => Err(wrong(name, "a map or a vector", other)),
    }
}

fn get_in(workshop: &mut EvalContext, arguments: &mut [Value]) -> Result<Value, Failure> {
    let path = items_of("get-in", &mut workshop.budget, take(&mut arguments[1]))?;
    let mut found = take(&mut arguments[0]);
    for at in &path {
        workshop.budget.spend(1 + key_looks(at))?;
        match look_up("get-in", &found, at)? {
            Some(inner) => found = inner,
            None => return Ok(arguments.get(2).cloned().unwrap_or_default()),
        }
    }
    Ok(found)
}

fn no_map() -> Map {
    Map::new(BTreeMap::new())
}

fn put_all(
    workshop: &mut EvalContext,
    entries: &mut BTreeMap<Key, Value>,
    known: &mut Known,
    more: &Map,
) -> Result<(), Failure> {
    let looks = more.keys().map(|key| 1 + key.weight() / 64);
    workshop.budget.spend(looks.sum())?;
    for (key, value) in more.iter() {
        known.entry(key, value, entries.get(key));
        entries.insert(key.clone(), value.clone());
    }
    Ok(())
}

fn put(
    name: &str,
    workshop: &mut EvalContext,
    map: Map,
    pairs: &mut [Value],
) -> Result<Value, Failure> {
    let (mut entries, mut known) = workshop.budget.open_map(map)?;
    for pair in pairs.chunks_exact_mut(2) {
        let key = key_of(name, &pair[0])?;
        let value = take(&mut pair[1]);
        known.entry(&key, &value, entries.get(&key));
        entries.insert(key, value);
    }
    workshop.budget.map_again(entries, known)
}

fn assoc(workshop: &mut EvalContext, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Some((target, pairs)) = arguments.split_first_mut() else {
        return Ok(Value::Nil);
    };
    if pairs.len() % 2 == 1 {
        return Err(Failure::argument(
            "`assoc` takes pairs of a key and a value",
        ));
    }
    match take(target) {
        Value::Nil => put("assoc", workshop, no_map(), pairs),
        Value::Map(map) => put("assoc", workshop, map, pairs),
        Value::Vector(vector) => {
            let (mut items, mut known) = workshop.budget.open_vector(vector)?;
            for pair in pairs.chunks_exact_mut(2) {
                let place = count("assoc", &pair[0])?;
                let value = take(&mut pair[1]);
                if place == items.len() {
                    known.item(&value);
                    items.push(value);
                } else if let Some(item) = items.get_mut(place) {
                    known.replaced(&value, item);
                    *item = value;
                } else {
                    return Err(Failure::argument(format!(
                        "index {place} is out of range: the number of items in the vector is {}",
                        items.len()
                    )));
                }
            }
            workshop.budget.vector_again(items, known)
        }
        other => Err(wrong("assoc", "a map or a vector", &other)),
    }
}

fn conj(workshop: &mut EvalContext, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Some((target, values)) = arguments.split_first_mut() else {
        return Ok(Value::Nil);
    };
    match take(target) {
        Value::Map(map) => {
            let (mut entries, mut known) = workshop.budget.open_map(map)?;
            for value in values {
                match take(value) {
                    Value::Map(more) => put_all(workshop, &mut entries, &mut known, &more)?,
                    Value::Vector(pair) if pair.len() == 2 => {
                        let key = key_of("conj", &pair[0])?;
                        workshop.budget.spend(key.weight() / 64)?;
                        known.entry(&key, &pair[1], entries.get(&key));
                        entries.insert(key, pair[1].clone());
                    }
                    other => {
                        return Err(wrong(
                            "conj",
                            "`[key value]` or a map if it adds to a map",
                            &other,
                        ));
                    }
                }
            }
            workshop.budget.map_again(entries, known)
        }
        target => {
            if let Value::Text(_) = target {
                return Err(wrong("conj", "a vector or a map", &target));
            }
            let vector = vector_of("conj", &mut workshop.budget, target)?;
            let (mut items, mut known) = workshop.budget.open_vector(vector)?;
            for value in values.iter_mut().map(take) {
                known.item(&value);
                items.push(value);
            }
            workshop.budget.vector_again(items, known)
        }
    }
}

fn length(name: &str, value: &Value) -> Result<Value, Failure> {
    let length = match value {
        Value::Nil => 0,
        Value::Text(text) => text.chars().count(),
        Value::Vector(items) => items.len(),
        Value::Map(map) => map.len(),
        other => return Err(wrong(name, "a collection or a string", other)),
    };
    Ok(counted(length))
}

fn range(workshop: &mut EvalContext, arguments: &mut [Value]) -> Result<Value, Failure> {
    let mut numbers = [0, 0, 1];
    for (place, value) in arguments.iter().enumerate() {
        numbers[place] = integer("range", value)?;
    }
    let [mut from, mut to, step] = numbers;
    if arguments.len() == 1 {
        (from, to) = (0, from);
    }
    if step == 0 {
        return Err(Failure::argument("`range` takes a step other than 0"));
    }
    let distance = if step > 0 {
        i128::from(to) - i128::from(from)
    } else {
        i128::from(from) - i128::from(to)
    };
    let width = i128::from(step).abs();
    let length = (distance.max(0) + width - 1) / width;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    // Before it is made, so that a long one never is.
    workshop.budget.allocate_values(length)?;
    // A step may lead beyond 64 bits where nothing more is taken.
    let items = std::iter::successors(Some(from), |last| last.checked_add(step)).take(length);
    Ok(Value::vector(items.map(Value::Integer).collect()))
}
