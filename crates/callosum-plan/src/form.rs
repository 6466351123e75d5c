//! [`Form`]: a piece of source as a tree, with its place.
//!
//! The tree is as deep as the reader allows, so that code that walks it may recur. The compiler
//! decides what a form means.

use std::sync::Arc;

use crate::span::Span;

/// The text of a symbol, or of a keyword without its colon.
pub type Name = Arc<str>;

/// One form, and the bytes that it was read from.
///
/// Two forms are equal where they say the same, wherever they stand.
#[derive(Clone, Debug)]
pub struct Form {
    /// Kind of the form.
    pub kind: FormKind,
    /// Place in the source; empty if it was built and not read.
    pub span: Span,
}

/// The kinds of forms.
#[derive(Clone, Debug)]
pub enum FormKind {
    /// `nil`.
    Nil,
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number of 64 bits.
    Integer(i64),
    /// A number with a point, or one of `##Inf`, `##-Inf`, `##NaN`.
    Float(f64),
    /// A text in quotation marks.
    Text(Arc<str>),
    /// `:name`.
    Keyword(Name),
    /// A name with a meaning of its own.
    Symbol(Name),
    /// `[…]`.
    Vector(Vec<Form>),
    /// `(…)`.
    List(Vec<Form>),
    /// `{…}`, in the order of the source.
    Map(Vec<(Form, Form)>),
}

impl Form {
    /// Makes a form that was not read anywhere.
    pub fn built(kind: FormKind) -> Self {
        Self {
            kind,
            span: Span::default(),
        }
    }

    /// Makes a symbol that was not read anywhere.
    pub fn symbol(name: &str) -> Self {
        Self::built(FormKind::Symbol(name.into()))
    }

    /// Makes a keyword, named without its colon, that was not read anywhere.
    pub fn keyword(name: &str) -> Self {
        Self::built(FormKind::Keyword(name.into()))
    }

    /// Makes a list that was not read anywhere.
    pub fn list(items: Vec<Form>) -> Self {
        Self::built(FormKind::List(items))
    }

    /// Returns the name, where it is a symbol.
    pub fn as_symbol(&self) -> Option<&str> {
        match &self.kind {
            FormKind::Symbol(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the name without its colon, where it is a keyword.
    pub fn as_keyword(&self) -> Option<&str> {
        match &self.kind {
            FormKind::Keyword(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the symbol that a list begins with.
    pub fn head(&self) -> Option<&str> {
        match &self.kind {
            FormKind::List(items) => items.first().and_then(Form::as_symbol),
            _ => None,
        }
    }

    /// Returns what it is, for messages: `a vector`.
    pub fn noun(&self) -> &'static str {
        match self.kind {
            FormKind::Nil => "nil",
            FormKind::Boolean(_) => "a boolean",
            FormKind::Integer(_) => "an integer",
            FormKind::Float(_) => "a float",
            FormKind::Text(_) => "a string",
            FormKind::Keyword(_) => "a keyword",
            FormKind::Symbol(_) => "a symbol",
            FormKind::Vector(_) => "a vector",
            FormKind::List(_) => "a list",
            FormKind::Map(_) => "a map",
        }
    }
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for FormKind {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nil, Self::Nil) => true,
            (Self::Boolean(one), Self::Boolean(other)) => one == other,
            (Self::Integer(one), Self::Integer(other)) => one == other,
            // By what is written, so that a form that says `##NaN` equals itself.
            (Self::Float(one), Self::Float(other)) => {
                one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
            }
            (Self::Text(one), Self::Text(other))
            | (Self::Keyword(one), Self::Keyword(other))
            | (Self::Symbol(one), Self::Symbol(other)) => one == other,
            (Self::Vector(one), Self::Vector(other)) | (Self::List(one), Self::List(other)) => {
                one == other
            }
            (Self::Map(one), Self::Map(other)) => one == other,
            _ => false,
        }
    }
}
