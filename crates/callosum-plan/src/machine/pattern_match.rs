//! Patterns held against values, and parallel branches' maps made one.

use std::collections::BTreeMap;

use super::{Shared, fiber::Fiber};
use crate::{
    budget::Budget,
    failure::Failure,
    program::{Extent, Merge, Pattern},
    value::{Key, Value},
};

impl Fiber {
    /// Whether a value fits a pattern; the slots that it binds are set as far as it does.
    ///
    /// Recurs as deep as the pattern was written.
    pub(super) fn fits(
        &mut self,
        pattern: &Pattern,
        value: &Value,
        shared: &mut Shared,
    ) -> Result<bool, Failure> {
        shared.workshop.budget.spend(1)?;
        match (pattern, value) {
            (Pattern::Ignore, _) => Ok(true),
            (Pattern::Bind(slot), _) => {
                self.locals[self.base + *slot as usize] = value.clone();
                Ok(true)
            }
            (Pattern::As(slot, inner), _) => {
                self.locals[self.base + *slot as usize] = value.clone();
                self.fits(inner, value, shared)
            }
            (Pattern::Literal(literal), _) => {
                let budget = &mut shared.workshop.budget;
                literal.equals(value, |work| budget.spend(work))
            }
            (Pattern::Vector { items, rest }, Value::Vector(values)) => {
                if values.len() < items.len() || (rest.is_none() && values.len() > items.len()) {
                    return Ok(false);
                }
                for (pattern, value) in items.iter().zip(values.iter()) {
                    if !self.fits(pattern, value, shared)? {
                        return Ok(false);
                    }
                }
                let Some(rest) = rest else { return Ok(true) };
                let others = values[items.len()..].to_vec();
                let others = shared.workshop.budget.vector(others)?;
                self.fits(rest, &others, shared)
            }
            (Pattern::Map { entries, extent }, Value::Map(map)) => {
                let lenient = matches!(extent, Extent::Lenient | Extent::LenientRest(_));
                for (key, pattern) in entries {
                    shared.workshop.budget.spend(key.weight() / 256)?;
                    let fits = match map.get(key) {
                        Some(value) => self.fits(pattern, value, shared)?,
                        None if lenient => self.fits(pattern, &Value::Nil, shared)?,
                        None => false,
                    };
                    if !fits {
                        return Ok(false);
                    }
                }
                match extent {
                    Extent::Lenient => Ok(true),
                    Extent::Exact => Ok(map.len() == entries.len()),
                    Extent::Rest(rest) | Extent::LenientRest(rest) => {
                        let looks = map.len() as u64 * entries.len() as u64;
                        shared.workshop.budget.spend(looks / 16)?;
                        let others: BTreeMap<Key, Value> = map
                            .iter()
                            .filter(|(key, _)| !entries.iter().any(|(own, _)| own == *key))
                            .map(|(key, value)| (key.clone(), value.clone()))
                            .collect();
                        let others = shared.workshop.budget.map(others)?;
                        self.fits(rest, &others, shared)
                    }
                }
            }
            _ => Ok(false),
        }
    }
}

/// Returns the merged values of parallel branches.
pub(super) fn merged(
    merge: Merge,
    values: Vec<Value>,
    budget: &mut Budget,
) -> Result<Value, Failure> {
    if merge == Merge::Collect {
        return budget.vector(values);
    }
    let mut all = BTreeMap::new();
    for value in values {
        let Value::Map(map) = value else {
            return Err(Failure::type_error(format!(
                "`:merge-policy` merges maps, but a branch returned {}",
                value.noun()
            )));
        };
        merge_into(&mut all, map.into_entries(), merge, budget)?;
    }
    budget.map(all)
}

fn merge_into(
    all: &mut BTreeMap<Key, Value>,
    entries: BTreeMap<Key, Value>,
    merge: Merge,
    budget: &mut Budget,
) -> Result<(), Failure> {
    budget.spend(entries.len() as u64)?;
    for (key, value) in entries {
        let value = match (all.remove(&key), merge) {
            (Some(first), Merge::KeepExisting) => first,
            (Some(Value::Map(first)), Merge::Deep) => match value {
                Value::Map(second) => {
                    let mut inner = first.into_entries();
                    // One level: deeper than that a host's stack would have to bear.
                    inner.extend(second.into_entries());
                    budget.map(inner)?
                }
                other => other,
            },
            _ => value,
        };
        all.insert(key, value);
    }
    Ok(())
}
