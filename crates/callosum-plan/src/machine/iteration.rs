//! Functions of the library that call functions: one item at a time, so that any of them may stop.

use std::{collections::BTreeMap, mem::take};

use super::{
    Shared,
    fiber::{Fiber, Next},
    frame::Frame,
};
use crate::{
    failure::{Failure, FailureKind},
    library::{Operation, items_of, sorted_by, vector_of},
    program::Program,
    value::{Key, Known, Map, Value, Vector},
};

/// Number of values that a vector has room for once it holds one.
const SMALLEST_ROOM: usize = 4;

/// An operation under way.
pub(super) struct Iteration {
    operation: Operation,
    function: Value,
    items: Vector,
    /// The place of the item that the function is called with next.
    next: usize,
    results: Vec<Value>,
    /// Value of `reduce` until now.
    total: Value,
}

/// A map whose value at a key is being replaced.
pub(super) struct Update {
    pub(super) entries: BTreeMap<Key, Value>,
    pub(super) known: Known,
    pub(super) key: Key,
}

/// Adds to the failure of a function that takes no fewer arguments how to reduce nothing.
fn to_start(failure: Failure) -> Failure {
    if failure.kind == FailureKind::ArityMismatch && failure.hint.is_none() {
        return failure
            .with_hint("the collection is empty; give `reduce` a start: `(reduce + 0 items)`");
    }
    failure
}

impl Fiber {
    pub(super) fn operate(
        &mut self,
        operation: Operation,
        mut arguments: Vec<Value>,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        let budget = &mut shared.workshop.budget;
        match operation {
            Operation::Apply => {
                let last = arguments.pop().unwrap_or_default();
                let items = items_of("apply", budget, last)?;
                let mut arguments = arguments.into_iter();
                let function = arguments.next().unwrap_or_default();
                let count = arguments.len() + items.len();
                budget.allocate_values(count)?;
                self.operands.extend(arguments);
                self.operands.extend(items);
                return self.invoke(function, count, program, shared);
            }
            Operation::Update => {
                let mut arguments = arguments.into_iter();
                let (Some(target), Some(at), Some(function)) =
                    (arguments.next(), arguments.next(), arguments.next())
                else {
                    return Ok(Next::Return(Value::Nil));
                };
                let map = match target {
                    Value::Nil => Map::new(BTreeMap::new()),
                    Value::Map(map) => map,
                    other => {
                        return Err(Failure::type_error(format!(
                            "`update` takes a map, but got {}",
                            other.noun()
                        )));
                    }
                };
                let key = Key::of(&at).ok_or_else(|| {
                    Failure::type_error(format!("`update` takes a key, but got {}", at.noun()))
                })?;
                // Its value is taken out, so that the function may go on with it without a copy.
                let (mut entries, mut known) = budget.open_map(map)?;
                let found = entries.remove(&key);
                if let Some(found) = &found {
                    known.without_entry(&key, found);
                }
                let count = arguments.len() + 1;
                self.operands.push(found.unwrap_or_default());
                self.operands.extend(arguments);
                let update = Update {
                    entries,
                    known,
                    key,
                };
                budget.allocate_box::<Update>()?;
                self.frames.push(Frame::Update(Box::new(update)));
                return self.invoke(function, count, program, shared);
            }
            _ => {}
        }
        let name = operation.name();
        let items = vector_of(name, budget, arguments.pop().unwrap_or_default())?;
        budget.allocate_box::<Iteration>()?;
        let mut iteration = Box::new(Iteration {
            operation,
            function: arguments.first().cloned().unwrap_or_default(),
            items,
            next: 0,
            results: Vec::new(),
            total: Value::Nil,
        });
        if operation == Operation::Reduce {
            if let Some(start) = arguments.get_mut(1) {
                iteration.total = take(start);
            } else if let Some(first) = iteration.items.first().cloned() {
                // Without a start the first item is it; of nothing it is what the function says.
                iteration.total = first;
                iteration.next = 1;
            } else {
                let function = take(&mut iteration.function);
                let called = self.invoke(function, 0, program, shared);
                return called.map_err(to_start);
            }
        }
        self.iterate(iteration, program, shared)
    }

    /// Calls the function with the next item, or ends.
    fn iterate(
        &mut self,
        mut iteration: Box<Iteration>,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        let place = iteration.next;
        let Some(item) = iteration.items.get(place).cloned() else {
            return Ok(Next::Return(iteration.end(shared)?));
        };
        shared.workshop.budget.spend(1)?;
        iteration.next += 1;
        let count = match iteration.operation {
            Operation::MapIndexed => {
                self.operands.push(crate::library::counted(place));
                2
            }
            Operation::Reduce => {
                self.operands.push(take(&mut iteration.total));
                2
            }
            _ => 1,
        };
        self.operands.push(item);
        let function = iteration.function.clone();
        self.frames.push(Frame::Iterate(iteration));
        self.invoke(function, count, program, shared)
    }

    /// Takes what the function came to for the last item.
    pub(super) fn iterated(
        &mut self,
        mut iteration: Box<Iteration>,
        value: Value,
        program: &Program,
        shared: &mut Shared,
    ) -> Result<Next, Failure> {
        let item = iteration.next - 1;
        match iteration.operation {
            Operation::Map | Operation::MapIndexed | Operation::GroupBy | Operation::SortBy => {
                shared.workshop.budget.allocate_values(1)?;
                iteration.results.push(value);
            }
            Operation::Filter | Operation::Remove => {
                shared.workshop.budget.allocate_values(1)?;
                let wanted = iteration.operation == Operation::Filter;
                let kept = iteration.items[item].clone();
                iteration
                    .results
                    .extend((value.is_truthy() == wanted).then_some(kept));
            }
            Operation::Find if value.is_truthy() => {
                return Ok(Next::Return(iteration.items[item].clone()));
            }
            Operation::Every if !value.is_truthy() => return Ok(Next::Return(false.into())),
            Operation::Some if value.is_truthy() => return Ok(Next::Return(true.into())),
            Operation::Reduce => iteration.total = value,
            _ => {}
        }
        self.iterate(iteration, program, shared)
    }
}

impl Iteration {
    fn end(mut self, shared: &mut Shared) -> Result<Value, Failure> {
        let budget = &mut shared.workshop.budget;
        match self.operation {
            Operation::Map | Operation::MapIndexed | Operation::Filter | Operation::Remove => {
                budget.vector(self.results)
            }
            Operation::Every => Ok(Value::Boolean(true)),
            Operation::Some => Ok(Value::Boolean(false)),
            Operation::Reduce => Ok(take(&mut self.total)),
            Operation::SortBy => {
                budget.allocate_values(self.items.len())?;
                sorted_by("sort-by", budget, self.items.into_items(), self.results)
            }
            Operation::GroupBy => {
                let mut groups: BTreeMap<Key, Vec<Value>> = BTreeMap::new();
                for (value, item) in self.results.iter().zip(self.items.iter()) {
                    let key = Key::of(value).ok_or_else(|| {
                        Failure::type_error(format!(
                            "the function of `group-by` must return keys, but returned {}",
                            value.noun()
                        ))
                    })?;
                    budget.spend(key.weight() / 64)?;
                    if !groups.contains_key(&key) {
                        budget.allocate_entry(groups.len())?;
                        budget.allocate_values(SMALLEST_ROOM)?;
                    }
                    budget.allocate_values(1)?;
                    groups.entry(key).or_default().push(item.clone());
                }
                let mut entries = BTreeMap::new();
                for (key, items) in groups {
                    entries.insert(key, budget.vector(items)?);
                }
                budget.map(entries)
            }
            Operation::Find | Operation::Apply | Operation::Update => Ok(Value::Nil),
        }
    }
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Every => "every?",
            Self::Filter => "filter",
            Self::Find => "find",
            Self::GroupBy => "group-by",
            Self::Map => "map",
            Self::MapIndexed => "map-indexed",
            Self::Reduce => "reduce",
            Self::Remove => "remove",
            Self::Some => "some?",
            Self::SortBy => "sort-by",
            Self::Update => "update",
        }
    }
}
