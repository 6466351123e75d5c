//! [`Failure`]: end of an evaluation without a value, and the value that `catch` catches.

use std::{collections::BTreeMap, fmt};

use thiserror::Error;

use crate::{
    diagnostic::{Colours, Diagnostic},
    span::Span,
    value::{Key, Value},
};

/// The kinds of failures, as programs name them: `(catch :TypeError e …)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// The source can't be read, or is no program.
    ParseError,
    /// A symbol without a meaning.
    UndefinedSymbol,
    /// A form that other languages have and this one has not.
    UnsupportedForm,
    /// A value of a kind that the operation doesn't take.
    TypeError,
    /// More or fewer arguments than the function takes.
    ArityMismatch,
    /// A value of the right kind that the operation doesn't take.
    InvalidArgument,
    /// Division by zero.
    DivisionByZero,
    /// An integer that 64 bits don't hold.
    IntegerOverflow,
    /// No clause or pattern fits.
    MatchError,
    /// A value that is not of the type that was written next to it.
    TypeValidationError,
    /// An effect where none is allowed.
    SecurityViolation,
    /// A capability that no one provides.
    UnknownCapability,
    /// A capability that was called and failed.
    CapabilityError,
    /// A capability that took too long.
    Timeout,
    /// More work, memory, calls or turns of a loop than allowed. Nothing catches it.
    BudgetExhausted,
}

impl FailureKind {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::ParseError,
        Self::UndefinedSymbol,
        Self::UnsupportedForm,
        Self::TypeError,
        Self::ArityMismatch,
        Self::InvalidArgument,
        Self::DivisionByZero,
        Self::IntegerOverflow,
        Self::MatchError,
        Self::TypeValidationError,
        Self::SecurityViolation,
        Self::UnknownCapability,
        Self::CapabilityError,
        Self::Timeout,
        Self::BudgetExhausted,
    ];

    /// Returns the kind's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ParseError => "ParseError",
            Self::UndefinedSymbol => "UndefinedSymbol",
            Self::UnsupportedForm => "UnsupportedForm",
            Self::TypeError => "TypeError",
            Self::ArityMismatch => "ArityMismatch",
            Self::InvalidArgument => "InvalidArgument",
            Self::DivisionByZero => "DivisionByZero",
            Self::IntegerOverflow => "IntegerOverflow",
            Self::MatchError => "MatchError",
            Self::TypeValidationError => "TypeValidationError",
            Self::SecurityViolation => "SecurityViolation",
            Self::UnknownCapability => "UnknownCapability",
            Self::CapabilityError => "CapabilityError",
            Self::Timeout => "Timeout",
            Self::BudgetExhausted => "BudgetExhausted",
        }
    }

    /// Returns the kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Reason that an evaluation came to no value.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{kind}: {message}")]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// Description of the failure.
    pub message: String,
    /// Suggested fix.
    pub hint: Option<String>,
    /// Place of the expression that was being evaluated.
    pub span: Option<Span>,
}

impl Failure {
    /// Makes a failure that knows no place yet; the machine adds it.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            span: None,
        }
    }

    /// Adds how it may be mended.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the failure as some lines of text, with the source around it.
    ///
    /// `name` is what the source is called.
    pub fn render(&self, source: &str, name: &str, colours: Colours) -> String {
        let diagnostic = Diagnostic {
            id: self.kind.as_str(),
            message: &self.message,
            span: self.span,
            hint: self.hint.as_deref(),
        };
        diagnostic.render(source, name, colours)
    }

    /// Adds what was being evaluated, where nothing nearer is known.
    #[must_use]
    pub(crate) fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    pub(crate) fn type_error(message: impl Into<String>) -> Self {
        Self::new(FailureKind::TypeError, message)
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(FailureKind::InvalidArgument, message)
    }

    /// The value that `catch` binds: `{:message "…" :type :TypeError}`.
    pub(crate) fn to_value(&self) -> Value {
        Value::map(BTreeMap::from([
            (
                Key::Keyword("type".into()),
                Value::keyword(self.kind.as_str()),
            ),
            (
                Key::Keyword("message".into()),
                Value::text(self.message.as_str()),
            ),
        ]))
    }
}
