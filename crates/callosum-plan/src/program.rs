//! [`Program`]: result of compiling source, every name resolved, ready to be evaluated.
//!
//! Expressions lie in one table and name one another by their places, so that an evaluator can stop
//! anywhere and keep no more than a place. Local names have become slots of their function's frame;
//! what a function takes from around it is copied when it is made.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    call_site::CallSite,
    capability::CapabilityName,
    form::Name,
    library::Library,
    schema::Schema,
    span::Span,
    value::{Key, Value},
};

/// A source that was compiled.
pub struct Program {
    pub(crate) expressions: Vec<Expression>,
    pub(crate) spans: Vec<Span>,
    pub(crate) groups: Vec<GroupDefinition>,
    pub(crate) steps: Vec<StepDefinition>,
    pub(crate) globals: Vec<Name>,
    pub(crate) library: Arc<Library>,
    pub(crate) entry: Id,
    pub(crate) frame: u32,
    pub(crate) plan: Option<Name>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) capabilities: BTreeSet<CapabilityName>,
    pub(crate) yields: YieldBound,
    pub(crate) calls: Vec<CallSite>,
}

/// Most calls that a run of a program may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum YieldBound {
    /// At most this many, with any answers.
    AtMost(u64),
    /// As many as values decide that are only known when it runs.
    Unbounded,
}

/// A parameter of a plan.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub(crate) name: Name,
    pub(crate) slot: u32,
    pub(crate) schema: Option<Schema>,
}

impl Program {
    /// Returns the plan's name, where the source is a plan.
    pub fn plan(&self) -> Option<&str> {
        self.plan.as_deref()
    }

    /// Returns the plan's parameters in their order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the capabilities that it may call.
    pub fn capabilities(&self) -> impl Iterator<Item = &CapabilityName> {
        self.capabilities.iter()
    }

    /// Returns how many calls it may make.
    pub fn yields(&self) -> YieldBound {
        self.yields
    }

    /// Returns its calls in the order of the source, with the arguments that are known before it runs.
    pub fn calls(&self) -> &[CallSite] {
        &self.calls
    }

    /// Returns its steps in the order of the source.
    pub fn steps(&self) -> &[StepDefinition] {
        &self.steps
    }
}

impl Parameter {
    /// Returns the parameter's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its type, where it has one.
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }
}

/// The place of an expression in its program.
pub(crate) type Id = u32;

/// A function of a program: its group, and its place in there.
pub(crate) type FunctionId = (u32, u32);

#[derive(Debug)]
pub(crate) enum Expression {
    Constant(Value),
    Local(u32),
    Captured(u32),
    Sibling(u32),
    Global(u32),
    Vector(Vec<Id>),
    Map(Vec<(Key, Id)>),
    If {
        condition: Id,
        then: Id,
        otherwise: Option<Id>,
    },
    And(Vec<Id>),
    Or(Vec<Id>),
    Do(Vec<Id>),
    Let {
        bindings: Vec<Binding>,
        body: Id,
    },
    /// One function that is a value by itself.
    Function(u32),
    Apply {
        function: Id,
        arguments: Vec<Id>,
    },
    /// A function of the library, named where it is called.
    Library {
        function: u32,
        arguments: Vec<Id>,
    },
    Call {
        capability: CapabilityName,
        arguments: Vec<Id>,
    },
    Pure(Id),
    Match {
        subject: Id,
        clauses: Vec<Clause>,
    },
    Try {
        body: Id,
        catches: Vec<Catch>,
        finally: Option<Id>,
    },
    For {
        items: Id,
        pattern: Pattern,
        body: Id,
        /// Whether the body is itself such a form, whose items are taken out of their vector.
        flatten: bool,
    },
    Repeat {
        times: Id,
        slot: u32,
        body: Id,
    },
    Step {
        step: u32,
        body: Id,
    },
    StepLoop {
        condition: Id,
        body: Id,
    },
    /// Branches, each a group of one function without parameters.
    Parallel {
        branches: Vec<u32>,
        merge: Merge,
    },
    Define {
        global: u32,
        schema: Option<Schema>,
        value: Id,
    },
    Checkpoint(Name),
}

#[derive(Debug)]
pub(crate) enum Binding {
    Value {
        pattern: Pattern,
        schema: Option<Schema>,
        value: Id,
    },
    /// Functions that may call one another, and the slots that they go to.
    Functions { group: u32, slots: Vec<u32> },
}

#[derive(Debug)]
pub(crate) struct Clause {
    pub(crate) pattern: Pattern,
    pub(crate) guard: Option<Id>,
    pub(crate) body: Id,
}

#[derive(Debug)]
pub(crate) struct Catch {
    /// The kind that it catches by name; none where the pattern decides.
    pub(crate) kind: Option<crate::failure::FailureKind>,
    pub(crate) pattern: Pattern,
    pub(crate) body: Id,
}

/// Pattern that a value is compared with, and the slots of its parts.
#[derive(Debug)]
pub(crate) enum Pattern {
    Ignore,
    Bind(u32),
    Literal(Value),
    As(u32, Box<Pattern>),
    Vector {
        items: Vec<Pattern>,
        rest: Option<Box<Pattern>>,
    },
    Map {
        entries: Vec<(Key, Pattern)>,
        extent: Extent,
    },
}

/// Rule of a pattern for maps about keys that it doesn't name, and about those that are absent.
#[derive(Debug)]
pub(crate) enum Extent {
    /// There may be others; what is absent is nil.
    Lenient,
    /// There are no others, and none is absent.
    Exact,
    /// The others make up this; of those named, none is absent.
    Rest(Box<Pattern>),
    /// As `Rest`, but what is absent is nil.
    LenientRest(Box<Pattern>),
}

/// Functions that are made together.
#[derive(Debug)]
pub(crate) struct GroupDefinition {
    /// Values that they take from around them, as expressions of the function around.
    pub(crate) captures: Vec<Id>,
    pub(crate) members: Vec<Lambda>,
}

#[derive(Debug)]
pub(crate) struct Lambda {
    pub(crate) name: Option<Name>,
    /// One slot each, from 0; those that are more than a name are taken apart from there.
    pub(crate) parameters: Vec<(Pattern, Option<Schema>)>,
    pub(crate) rest: Option<(Pattern, Option<Schema>)>,
    /// Whether every parameter is a plain name without a type, and there is no rest.
    pub(crate) plain: bool,
    pub(crate) returns: Option<Schema>,
    pub(crate) frame: u32,
    pub(crate) body: Id,
}

/// Way in which the values of parallel branches are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// A vector of them.
    Collect,
    /// One map; of a key that two have, the first.
    KeepExisting,
    /// One map; of a key that two have, the last.
    Overwrite,
    /// One map; where two have a key and maps at it, those are made one, else the last is taken.
    Deep,
}

/// A step, as its plan wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepDefinition {
    /// Its name, without a colon.
    pub id: Name,
    /// Milliseconds that each of its calls may take.
    pub timeout_ms: Option<u64>,
    /// Number of times that its body is evaluated again after a failure.
    pub retries: u32,
    /// Milliseconds that the host should wait before each of those.
    pub backoff_ms: u64,
    /// Further options in its plan; nil if there are none.
    pub metadata: Value,
    /// Place in the source.
    pub span: Span,
}
