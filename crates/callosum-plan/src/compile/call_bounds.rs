//! Number of calls that a program may make, counted before it runs, and the calls under `pure`.
//!
//! Of alternatives the largest counts; a body that is evaluated for each item of a literal vector
//! counts that often. A function that makes calls and is called by its name counts at its calls. If
//! it is passed on as a value, the number of its calls is unknown: then, and if it calls itself,
//! there is no bound. Each function is looked at once.

use std::collections::{HashMap, HashSet};

use super::reference::Reference;
use crate::{
    library::Library,
    program::{Binding, Expression, FunctionId, GroupDefinition, Id, StepDefinition, YieldBound},
    value::Value,
};

/// Input of the analysis.
pub(super) struct Subject<'a> {
    pub(super) expressions: &'a [Expression],
    pub(super) groups: &'a [GroupDefinition],
    pub(super) steps: &'a [StepDefinition],
    pub(super) references: &'a HashMap<Id, Reference>,
    pub(super) global_functions: &'a HashMap<u32, FunctionId>,
    pub(super) library: &'a Library,
    pub(super) entry: Id,
}

/// Result of the analysis.
pub(super) struct Analysis {
    pub(super) yields: YieldBound,
    /// Expressions under `pure` that are functions which may make calls.
    pub(super) impure: Vec<Id>,
}

pub(super) fn analyse(subject: &Subject<'_>) -> Analysis {
    let mut uses: HashMap<FunctionId, Uses> = HashMap::new();
    for (group, definition) in (0..).zip(subject.groups) {
        for (member, lambda) in (0..).zip(&definition.members) {
            uses.insert((group, member), subject.uses(lambda.body));
        }
    }
    let mut counter = Counter {
        subject,
        yielding: yielding(&uses),
        bounds: HashMap::new(),
    };
    counter.settle(&uses);
    let impure = counter.impure();
    Analysis {
        yields: counter.bound(subject.entry),
        impure,
    }
}

/// Uses in the body of one function, apart from functions that it makes: it uses those too.
#[derive(Default)]
struct Uses {
    functions: HashSet<FunctionId>,
    calls: bool,
}

impl Subject<'_> {
    /// The functions that evaluating one expression may call or make, those of its parts left out.
    pub(super) fn functions_of(&self, id: Id) -> Vec<FunctionId> {
        let mut functions: Vec<FunctionId> = self.function(id).into_iter().collect();
        if let Expression::Parallel { branches, .. } = &self.expressions[id as usize] {
            functions.extend(branches.iter().map(|&group| (group, 0)));
        }
        functions
    }

    fn function(&self, id: Id) -> Option<FunctionId> {
        match self.expressions[id as usize] {
            Expression::Function(group) => Some((group, 0)),
            _ => match self.references.get(&id)? {
                Reference::Function(function) => Some(*function),
                Reference::Global(place) => self.global_functions.get(place).copied(),
            },
        }
    }

    fn uses(&self, body: Id) -> Uses {
        let mut uses = Uses::default();
        let mut pending = vec![body];
        while let Some(id) = pending.pop() {
            uses.functions.extend(self.functions_of(id));
            let expression = &self.expressions[id as usize];
            uses.calls |= matches!(expression, Expression::Call { .. });
            parts(expression, &mut pending);
        }
        uses
    }
}

/// The functions that may make a call, by themselves or by way of others.
fn yielding(uses: &HashMap<FunctionId, Uses>) -> HashSet<FunctionId> {
    let mut users: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
    for (&user, uses) in uses {
        for &used in &uses.functions {
            users.entry(used).or_default().push(user);
        }
    }
    let calling = uses.iter().filter(|(_, uses)| uses.calls);
    let mut pending: Vec<FunctionId> = calling.map(|(&function, _)| function).collect();
    let mut yielding: HashSet<FunctionId> = pending.iter().copied().collect();
    while let Some(function) = pending.pop() {
        for &user in users.get(&function).into_iter().flatten() {
            if yielding.insert(user) {
                pending.push(user);
            }
        }
    }
    yielding
}

struct Counter<'a> {
    subject: &'a Subject<'a>,
    yielding: HashSet<FunctionId>,
    bounds: HashMap<FunctionId, YieldBound>,
}

impl Counter<'_> {
    /// Finds the bound of each function that makes calls, those first that lean on no other. What is
    /// left leans on itself.
    fn settle(&mut self, uses: &HashMap<FunctionId, Uses>) {
        let mut missing: HashMap<FunctionId, usize> = HashMap::new();
        let mut users: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
        let mut ready = Vec::new();
        for &function in &self.yielding {
            let leans: Vec<FunctionId> = uses
                .get(&function)
                .into_iter()
                .flat_map(|uses| uses.functions.iter().copied())
                .filter(|used| self.yielding.contains(used))
                .collect();
            if leans.is_empty() {
                ready.push(function);
            }
            missing.insert(function, leans.len());
            for used in leans {
                users.entry(used).or_default().push(function);
            }
        }
        while let Some(function) = ready.pop() {
            let (group, member) = function;
            let lambda = &self.subject.groups[group as usize].members[member as usize];
            let bound = self.bound(lambda.body);
            self.bounds.insert(function, bound);
            for user in users.get(&function).into_iter().flatten() {
                if let Some(count) = missing.get_mut(user) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(*user);
                    }
                }
            }
        }
    }

    fn of_function(&self, function: FunctionId) -> YieldBound {
        if !self.yielding.contains(&function) {
            return NONE;
        }
        self.bounds
            .get(&function)
            .copied()
            .unwrap_or(YieldBound::Unbounded)
    }

    fn impure(&self) -> Vec<Id> {
        let mut found = Vec::new();
        let mut pending = Vec::new();
        for expression in self.subject.expressions {
            if let Expression::Pure(inner) = expression {
                pending.push(*inner);
            }
        }
        let mut seen = HashSet::new();
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Some(function) = self.subject.function(id)
                && self.yielding.contains(&function)
            {
                found.push(id);
            }
            parts(&self.subject.expressions[id as usize], &mut pending);
        }
        found
    }

    fn sum(&self, ids: &[Id]) -> YieldBound {
        ids.iter().fold(NONE, |sum, &id| plus(sum, self.bound(id)))
    }

    /// The bound of an expression, and of what it is, should it be called who knows how often.
    fn bound(&self, id: Id) -> YieldBound {
        if let Some(function) = self.subject.function(id)
            && self.of_function(function) != NONE
        {
            return YieldBound::Unbounded;
        }
        match &self.subject.expressions[id as usize] {
            Expression::Constant(_)
            | Expression::Local(_)
            | Expression::Captured(_)
            | Expression::Sibling(_)
            | Expression::Global(_)
            | Expression::Function(_)
            | Expression::Checkpoint(_) => NONE,
            Expression::Vector(ids)
            | Expression::And(ids)
            | Expression::Or(ids)
            | Expression::Do(ids) => self.sum(ids),
            Expression::Map(entries) => entries
                .iter()
                .fold(NONE, |sum, (_, id)| plus(sum, self.bound(*id))),
            Expression::If {
                condition,
                then,
                otherwise,
            } => {
                let otherwise = otherwise.map_or(NONE, |id| self.bound(id));
                plus(self.bound(*condition), self.bound(*then).max(otherwise))
            }
            Expression::Let { bindings, body } => {
                bindings
                    .iter()
                    .fold(self.bound(*body), |sum, binding| match binding {
                        Binding::Value { value, .. } => plus(sum, self.bound(*value)),
                        // To make functions calls nothing; each is counted where it is used.
                        Binding::Functions { .. } => sum,
                    })
            }
            Expression::Apply {
                function,
                arguments,
            } => {
                let called = match self.subject.function(*function) {
                    Some(function) => self.of_function(function),
                    None => self.bound(*function),
                };
                plus(called, self.sum(arguments))
            }
            Expression::Library {
                function,
                arguments,
            } => self.library(*function, arguments),
            Expression::Call { arguments, .. } => plus(YieldBound::AtMost(1), self.sum(arguments)),
            Expression::Pure(inner) => self.bound(*inner),
            Expression::Match { subject, clauses } => {
                let guards = clauses
                    .iter()
                    .filter_map(|clause| clause.guard)
                    .fold(self.bound(*subject), |sum, guard| {
                        plus(sum, self.bound(guard))
                    });
                let bodies = clauses.iter().map(|clause| self.bound(clause.body)).max();
                plus(guards, bodies.unwrap_or(NONE))
            }
            Expression::Try {
                body,
                catches,
                finally,
            } => {
                let caught = catches.iter().map(|catch| self.bound(catch.body)).max();
                let finally = finally.map_or(NONE, |id| self.bound(id));
                plus(plus(self.bound(*body), caught.unwrap_or(NONE)), finally)
            }
            Expression::For { items, body, .. } => plus(
                self.bound(*items),
                times(self.bound(*body), self.length(*items)),
            ),
            Expression::Repeat {
                times: count, body, ..
            } => {
                let known = match &self.subject.expressions[*count as usize] {
                    Expression::Constant(Value::Integer(count)) => u64::try_from(*count).ok(),
                    _ => None,
                };
                plus(self.bound(*count), times(self.bound(*body), known))
            }
            Expression::Step { step, body } => {
                let tries = u64::from(self.subject.steps[*step as usize].retries) + 1;
                times(self.bound(*body), Some(tries))
            }
            Expression::StepLoop { condition, body } => {
                times(plus(self.bound(*condition), self.bound(*body)), None)
            }
            Expression::Parallel { branches, .. } => branches
                .iter()
                .fold(NONE, |sum, &group| plus(sum, self.of_function((group, 0)))),
            Expression::Define { value, .. } => match self.subject.expressions[*value as usize] {
                // The global is counted where it is used. One that is another name of a function is
                // not known as it where it is called.
                Expression::Function(_) => NONE,
                _ => self.bound(*value),
            },
        }
    }

    fn library(&self, function: u32, arguments: &[Id]) -> YieldBound {
        // A function that is called once for each item of the last argument, as `map` does.
        if let [called, .., items] = arguments
            && self.subject.library.calls_once_each(function)
            && let Some(callee) = self.subject.function(*called)
        {
            let each = times(self.of_function(callee), self.length(*items));
            return plus(each, self.sum(&arguments[1..]));
        }
        self.sum(arguments)
    }

    /// Returns the number of items of a literal.
    fn length(&self, id: Id) -> Option<u64> {
        match &self.subject.expressions[id as usize] {
            Expression::Constant(Value::Vector(items)) => Some(items.len() as u64),
            Expression::Vector(items) => Some(items.len() as u64),
            _ => None,
        }
    }
}

const NONE: YieldBound = YieldBound::AtMost(0);

fn plus(one: YieldBound, other: YieldBound) -> YieldBound {
    match (one, other) {
        (YieldBound::AtMost(one), YieldBound::AtMost(other)) => {
            YieldBound::AtMost(one.saturating_add(other))
        }
        _ => YieldBound::Unbounded,
    }
}

fn times(bound: YieldBound, count: Option<u64>) -> YieldBound {
    match (bound, count) {
        (NONE, _) => NONE,
        (YieldBound::AtMost(bound), Some(count)) => YieldBound::AtMost(bound.saturating_mul(count)),
        _ => YieldBound::Unbounded,
    }
}

/// The expressions that an expression is made of, those of functions that it makes left out.
pub(super) fn parts(expression: &Expression, into: &mut Vec<Id>) {
    match expression {
        Expression::Constant(_)
        | Expression::Local(_)
        | Expression::Captured(_)
        | Expression::Sibling(_)
        | Expression::Global(_)
        | Expression::Function(_)
        | Expression::Parallel { .. }
        | Expression::Checkpoint(_) => {}
        Expression::Vector(ids)
        | Expression::And(ids)
        | Expression::Or(ids)
        | Expression::Do(ids)
        | Expression::Library { arguments: ids, .. }
        | Expression::Call { arguments: ids, .. } => into.extend(ids),
        Expression::Map(entries) => into.extend(entries.iter().map(|(_, id)| *id)),
        Expression::If {
            condition,
            then,
            otherwise,
        } => {
            into.extend([*condition, *then]);
            into.extend(otherwise);
        }
        Expression::Let { bindings, body } => {
            into.push(*body);
            into.extend(bindings.iter().filter_map(|binding| match binding {
                Binding::Value { value, .. } => Some(*value),
                Binding::Functions { .. } => None,
            }));
        }
        Expression::Apply {
            function,
            arguments,
        } => {
            into.push(*function);
            into.extend(arguments);
        }
        Expression::Pure(inner) => into.push(*inner),
        Expression::Match { subject, clauses } => {
            into.push(*subject);
            for clause in clauses {
                into.extend(clause.guard);
                into.push(clause.body);
            }
        }
        Expression::Try {
            body,
            catches,
            finally,
        } => {
            into.push(*body);
            into.extend(catches.iter().map(|catch| catch.body));
            into.extend(finally);
        }
        Expression::For { items, body, .. } => into.extend([*items, *body]),
        Expression::Repeat { times, body, .. } => into.extend([*times, *body]),
        Expression::Step { body, .. } => into.push(*body),
        Expression::StepLoop { condition, body } => into.extend([*condition, *body]),
        Expression::Define { value, .. } => into.push(*value),
    }
}
