//! [`Finding`]: objection of the compiler to a source, and its display.

use std::fmt;

use crate::{
    diagnostic::{Colours, Diagnostic},
    failure::FailureKind,
    reader::ReadError,
    span::Span,
};

/// One reason why a source is no program, or may not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Place in the source.
    pub span: Span,
    /// The rule that it breaks.
    pub rule: Rule,
    /// Description of the fault.
    pub message: String,
    /// Suggested fix.
    pub hint: Option<String>,
}

/// The rules that a source may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// It can't be read: [`read`](crate::read).
    Syntax,
    /// It has characters that show it other than it is.
    HiddenCharacters,
    /// A form has parts that it doesn't take, or lacks some.
    MalformedForm,
    /// Other languages have the form, and this one has not.
    UnsupportedForm,
    /// A name that the language keeps for itself.
    ReservedName,
    /// A name is bound twice where it may be once.
    NameTwice,
    /// A symbol has no meaning.
    UndefinedSymbol,
    /// A type expression is none.
    MalformedType,
    /// A capability is named by something that is computed.
    ComputedCapability,
    /// A capability's name is none.
    MalformedCapability,
    /// A capability is outside of what is allowed.
    CapabilityNotAllowed,
    /// No one provides a capability.
    UnknownCapability,
    /// A literal argument of a call does not fit what the capability takes.
    ArgumentMismatch,
    /// There may be more calls than allowed.
    TooManyYields,
    /// A call is in a place for pure forms only.
    EffectInPure,
    /// The program is not one plan with what it needs.
    NotOnePlan,
    /// The source is larger than a program may be.
    TooLarge,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 17] = [
        Self::Syntax,
        Self::HiddenCharacters,
        Self::MalformedForm,
        Self::UnsupportedForm,
        Self::ReservedName,
        Self::NameTwice,
        Self::UndefinedSymbol,
        Self::MalformedType,
        Self::ComputedCapability,
        Self::MalformedCapability,
        Self::CapabilityNotAllowed,
        Self::UnknownCapability,
        Self::ArgumentMismatch,
        Self::TooManyYields,
        Self::EffectInPure,
        Self::NotOnePlan,
        Self::TooLarge,
    ];

    /// Returns the rule's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::HiddenCharacters => "hidden-characters",
            Self::MalformedForm => "malformed-form",
            Self::UnsupportedForm => "unsupported-form",
            Self::ReservedName => "reserved-name",
            Self::NameTwice => "name-twice",
            Self::UndefinedSymbol => "undefined-symbol",
            Self::MalformedType => "malformed-type",
            Self::ComputedCapability => "computed-capability",
            Self::MalformedCapability => "malformed-capability",
            Self::CapabilityNotAllowed => "capability-not-allowed",
            Self::UnknownCapability => "unknown-capability",
            Self::ArgumentMismatch => "argument-mismatch",
            Self::TooManyYields => "too-many-yields",
            Self::EffectInPure => "effect-in-pure",
            Self::NotOnePlan => "not-one-plan",
            Self::TooLarge => "too-large",
        }
    }

    /// Returns the kind of failure that running such a source is.
    pub fn failure_kind(self) -> FailureKind {
        match self {
            Self::Syntax
            | Self::MalformedForm
            | Self::ReservedName
            | Self::NameTwice
            | Self::MalformedType
            | Self::NotOnePlan => FailureKind::ParseError,
            Self::UnsupportedForm => FailureKind::UnsupportedForm,
            Self::UndefinedSymbol => FailureKind::UndefinedSymbol,
            Self::UnknownCapability => FailureKind::UnknownCapability,
            Self::ArgumentMismatch => FailureKind::TypeValidationError,
            Self::HiddenCharacters
            | Self::ComputedCapability
            | Self::MalformedCapability
            | Self::CapabilityNotAllowed
            | Self::EffectInPure => FailureKind::SecurityViolation,
            Self::TooManyYields | Self::TooLarge => FailureKind::BudgetExhausted,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Finding {
    pub(crate) fn new(span: Span, rule: Rule, message: impl Into<String>) -> Self {
        Self {
            span,
            rule,
            message: message.into(),
            hint: None,
        }
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the finding as some lines of text, with the source around it.
    ///
    /// `name` is what the source is called.
    pub fn render(&self, source: &str, name: &str, colours: Colours) -> String {
        let diagnostic = Diagnostic {
            id: self.rule.as_str(),
            message: &self.message,
            span: Some(self.span),
            hint: self.hint.as_deref(),
        };
        diagnostic.render(source, name, colours)
    }
}

impl From<ReadError> for Finding {
    fn from(error: ReadError) -> Self {
        Self {
            span: error.span,
            rule: Rule::Syntax,
            message: error.message,
            hint: error.hint,
        }
    }
}
