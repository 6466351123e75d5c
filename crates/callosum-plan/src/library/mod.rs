//! [`Library`]: the pure functions that programs may use.
//!
//! A table of names, how many arguments each takes, and what does the work. What calls functions
//! handed to it, as `map` does, is an [`Operation`] that the machine carries out, since such a call
//! may stop at an effect. Nothing here reads a clock, draws a number or looks outside.

mod collection;
mod conversion;
mod number;
mod ordering;
mod predicate;
mod regular;
mod summarize;
mod text;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
};

pub(crate) use self::collection::{items_of, look_up, vector_of};
pub(crate) use self::number::compare_numbers;
pub(crate) use self::ordering::sorted_by;
pub(crate) use self::regular::Patterns;
use crate::{
    budget::Budget,
    failure::{Failure, FailureKind},
    form::Name,
    value::Value,
};

/// The pure functions that programs may use.
pub struct Library {
    functions: Vec<LibraryFunction>,
    places: HashMap<Name, u32>,
}

/// A function of a host's own: pure, and quick, since no budget bounds it.
pub type DomainFunction = dyn Fn(&[Value]) -> Result<Value, Failure> + Send + Sync;

pub(crate) struct LibraryFunction {
    pub(crate) name: Name,
    least: usize,
    most: usize,
    pub(crate) body: Body,
}

pub(crate) enum Body {
    Pure(PureFunction),
    Operation(Operation),
    Domain(Arc<DomainFunction>),
}

/// Takes its arguments out of the slice as it likes.
pub(crate) type PureFunction = fn(&mut EvalContext, &mut [Value]) -> Result<Value, Failure>;

/// Context of pure functions.
pub(crate) struct EvalContext {
    pub(crate) budget: Budget,
    pub(crate) patterns: Patterns,
}

/// The functions that call functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Apply,
    Every,
    Filter,
    Find,
    GroupBy,
    Map,
    MapIndexed,
    Reduce,
    Remove,
    Some,
    SortBy,
    Update,
}

/// More arguments than any source has.
const MANY: usize = usize::MAX;

const OPERATIONS: [(&str, usize, usize, Operation); 12] = [
    ("apply", 2, MANY, Operation::Apply),
    ("every?", 2, 2, Operation::Every),
    ("filter", 2, 2, Operation::Filter),
    ("find", 2, 2, Operation::Find),
    ("group-by", 2, 2, Operation::GroupBy),
    ("map", 2, 2, Operation::Map),
    ("map-indexed", 2, 2, Operation::MapIndexed),
    ("reduce", 2, 3, Operation::Reduce),
    ("remove", 2, 2, Operation::Remove),
    ("some?", 2, 2, Operation::Some),
    ("sort-by", 2, 2, Operation::SortBy),
    ("update", 3, MANY, Operation::Update),
];

/// One row of a table of pure functions: name, least and most arguments, the function.
type Row = (&'static str, usize, usize, PureFunction);

impl Library {
    /// Returns the functions that every program has.
    pub fn standard() -> Arc<Self> {
        static STANDARD: OnceLock<Arc<Library>> = OnceLock::new();
        Arc::clone(STANDARD.get_or_init(|| {
            let mut library = Self {
                functions: Vec::new(),
                places: HashMap::new(),
            };
            let rows = [
                collection::FUNCTIONS,
                conversion::FUNCTIONS,
                number::FUNCTIONS,
                predicate::FUNCTIONS,
                regular::FUNCTIONS,
                summarize::FUNCTIONS,
                text::FUNCTIONS,
            ];
            for &(name, least, most, function) in rows.into_iter().flatten() {
                library.add(name, least, most, Body::Pure(function));
            }
            for (name, least, most, operation) in OPERATIONS {
                library.add(name, least, most, Body::Operation(operation));
            }
            Arc::new(library)
        }))
    }

    /// Returns this library with one more function, which hides another of its name.
    ///
    /// `least` and `most` say how many arguments it takes.
    #[must_use]
    pub fn with(
        &self,
        name: &str,
        least: usize,
        most: usize,
        function: Arc<DomainFunction>,
    ) -> Arc<Self> {
        let mut library = Self {
            functions: self.functions.iter().map(LibraryFunction::share).collect(),
            places: self.places.clone(),
        };
        library.add(name, least, most, Body::Domain(function));
        Arc::new(library)
    }

    fn add(&mut self, name: &str, least: usize, most: usize, body: Body) {
        let name: Name = name.into();
        self.places
            .insert(Arc::clone(&name), self.functions.len() as u32);
        self.functions.push(LibraryFunction {
            name,
            least,
            most,
            body,
        });
    }

    /// Returns the names of all functions, in no order.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.places.keys()
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    pub(crate) fn function(&self, place: u32) -> &LibraryFunction {
        &self.functions[place as usize]
    }

    /// Whether it calls its first argument at most once for each item of its last.
    pub(crate) fn calls_once_each(&self, place: u32) -> bool {
        match &self.function(place).body {
            Body::Operation(operation) => {
                !matches!(operation, Operation::Apply | Operation::Update)
            }
            _ => false,
        }
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Library of {} functions", self.places.len())
    }
}

impl LibraryFunction {
    fn share(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            least: self.least,
            most: self.most,
            body: match &self.body {
                Body::Pure(function) => Body::Pure(*function),
                Body::Operation(operation) => Body::Operation(*operation),
                Body::Domain(function) => Body::Domain(Arc::clone(function)),
            },
        }
    }

    /// Fails where that many arguments are more or fewer than it takes.
    pub(crate) fn check_arity(&self, count: usize) -> Result<(), Failure> {
        if (self.least..=self.most).contains(&count) {
            return Ok(());
        }
        let takes = match (self.least, self.most) {
            (least, MANY) => format!("{least} or more arguments"),
            (1, 1) => "1 argument".to_owned(),
            (least, most) if least == most => format!("{least} arguments"),
            (least, most) => format!("{least} to {most} arguments"),
        };
        Err(arity(&self.name, &takes, count))
    }
}

pub(crate) fn arity(name: &str, takes: &str, count: usize) -> Failure {
    Failure::new(
        FailureKind::ArityMismatch,
        format!("`{name}` takes {takes}, but got {count}"),
    )
}

/// The failure of an argument that is of another kind than the function takes.
fn wrong(name: &str, takes: &str, value: &Value) -> Failure {
    Failure::type_error(format!("`{name}` takes {takes}, but got {}", value.noun()))
}

fn integer(name: &str, value: &Value) -> Result<i64, Failure> {
    match value {
        Value::Integer(value) => Ok(*value),
        other => Err(wrong(name, "an integer here", other)),
    }
}

/// A count or a place, which is not negative.
fn count(name: &str, value: &Value) -> Result<usize, Failure> {
    let value = integer(name, value)?;
    usize::try_from(value).map_err(|_| {
        Failure::argument(format!(
            "`{name}` takes no negative number, but got {value}"
        ))
    })
}

/// A length as the language's integer; none is longer than that holds.
pub(crate) fn counted(length: usize) -> Value {
    Value::Integer(i64::try_from(length).unwrap_or(i64::MAX))
}

fn string<'v>(name: &str, value: &'v Value) -> Result<&'v Arc<str>, Failure> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(wrong(name, "a string here", other)),
    }
}
