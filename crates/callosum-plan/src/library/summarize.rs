//! `summarize`: the content of a collection, in a few words of data.

use std::collections::BTreeMap;

use super::{EvalContext, Row, collection::items_of, counted};
use crate::{
    failure::Failure,
    value::{Key, Value},
};

pub(super) const FUNCTIONS: &[Row] = &[("summarize", 1, 1, summarize)];

/// Most different values in `:frequencies`, the most frequent.
const MOST_FREQUENT: usize = 20;

/// A map: `:count`; of numbers `:min`, `:max`, `:mean`; of keywords, strings and booleans
/// `:frequencies`; of maps `:keys`.
fn summarize(workshop: &mut EvalContext, arguments: &mut [Value]) -> Result<Value, Failure> {
    let items = items_of(
        "summarize",
        &mut workshop.budget,
        std::mem::take(&mut arguments[0]),
    )?;
    workshop.budget.spend(items.len() as u64)?;
    let mut summary = BTreeMap::from([(word("count"), counted(items.len()))]);
    let numbers: Vec<f64> = items
        .iter()
        .filter_map(|item| match item {
            Value::Integer(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            _ => None,
        })
        .collect();
    if !numbers.is_empty() {
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        for (name, value) in [
            ("min", numbers.iter().copied().fold(f64::INFINITY, f64::min)),
            (
                "max",
                numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ),
            ("mean", mean),
        ] {
            summary.insert(word(name), Value::Float(value));
        }
    }
    let mut counts: BTreeMap<Key, usize> = BTreeMap::new();
    let mut keys: BTreeMap<Key, Value> = BTreeMap::new();
    for item in &items {
        match item {
            Value::Map(map) => {
                let looks = map.keys().map(|key| 1 + key.weight() / 64);
                workshop.budget.spend(looks.sum())?;
                keys.extend(map.keys().map(|key| (key.clone(), key.to_value())));
            }
            Value::Text(_) | Value::Keyword(_) | Value::Boolean(_) => {
                if let Some(key) = Key::of(item) {
                    workshop.budget.spend(key.weight() / 64)?;
                    *counts.entry(key).or_default() += 1;
                }
            }
            _ => {}
        }
    }
    if !counts.is_empty() {
        let mut counts: Vec<(Key, usize)> = counts.into_iter().collect();
        counts.sort_by(|(_, one), (_, other)| other.cmp(one));
        let most_frequent = counts.into_iter().take(MOST_FREQUENT);
        let most_frequent = most_frequent
            .map(|(key, count)| (key, counted(count)))
            .collect();
        summary.insert(word("frequencies"), workshop.budget.map(most_frequent)?);
    }
    if !keys.is_empty() {
        let keys = workshop.budget.vector(keys.into_values().collect())?;
        summary.insert(word("keys"), keys);
    }
    workshop.budget.map(summary)
}

fn word(name: &str) -> Key {
    Key::Keyword(name.into())
}
