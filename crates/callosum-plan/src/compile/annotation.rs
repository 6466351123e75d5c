//! Types next to names: `x : Int`, `x :Int`, and `x:int` in one word.
//!
//! Start with [`Annotated`]. A word is split only at the name of a simple type, so `ns:v1` stays
//! one name.

use std::borrow::Cow;

use super::Compiler;
use crate::{
    form::{Form, FormKind},
    schema::Schema,
    span::Span,
};

/// A name or a pattern, and the type next to it.
pub(super) struct Annotated<'f> {
    pub(super) pattern: Cow<'f, Form>,
    pub(super) schema: Option<Cow<'f, Form>>,
    /// The type in the same word, if another one follows it.
    surplus: Option<Form>,
}

impl<'f> Annotated<'f> {
    /// Splits a type off the pattern if that is one word with it.
    pub(super) fn new(pattern: &'f Form, schema: Option<&'f Form>) -> Self {
        let Some((name, of)) = split_form(pattern) else {
            return Self {
                pattern: Cow::Borrowed(pattern),
                schema: schema.map(Cow::Borrowed),
                surplus: None,
            };
        };
        let (schema, surplus) = match schema {
            Some(schema) => (Cow::Borrowed(schema), Some(of)),
            None => (Cow::Owned(of), None),
        };
        Self {
            pattern: Cow::Owned(name),
            schema: Some(schema),
            surplus,
        }
    }
}

impl Compiler<'_> {
    /// Compiles the type, and refuses a second one.
    pub(super) fn annotation(&mut self, annotated: &Annotated<'_>) -> Option<Schema> {
        if let Some(surplus) = &annotated.surplus {
            self.malformed(
                surplus,
                format!("`{}` has two types", annotated.pattern),
                "remove one of the two; `x:int` and `x : Int` are the same",
            );
        }
        self.schema(annotated.schema.as_deref()?)
    }

    /// Splits parameters from their types: `x`, `x : Int`, `x :Int`, `x:int`, `& rest`.
    pub(super) fn typed<'f>(&mut self, forms: &'f [Form]) -> Vec<Annotated<'f>> {
        let mut split = Vec::new();
        let mut at = 0;
        while let Some(pattern) = forms.get(at) {
            at += 1;
            let schema = match forms.get(at) {
                Some(colon) if colon.as_symbol() == Some(":") => {
                    at += 2;
                    if forms.get(at - 1).is_none() {
                        self.malformed(colon, "no type follows the colon", "write `x : Int`");
                    }
                    forms.get(at - 1)
                }
                Some(schema) if schema.as_keyword().is_some() => {
                    at += 1;
                    Some(schema)
                }
                _ => None,
            };
            split.push(Annotated::new(pattern, schema));
        }
        split
    }
}

/// Splits `x:int` into `x` and `int`; returns nothing if no simple type follows the last colon.
///
/// `symbol` is among the types, so that it is refused like `x : Symbol`.
pub(super) fn split_word(word: &str) -> Option<(&str, &str)> {
    let (name, of) = word.rsplit_once(':')?;
    let simple = of.strip_suffix('?').unwrap_or(of);
    let is_type = Schema::is_simple(simple) || matches!(simple, "symbol" | "Symbol");
    (is_type && !name.is_empty() && !name.ends_with(':')).then_some((name, of))
}

fn split_form(form: &Form) -> Option<(Form, Form)> {
    let (name, of) = split_word(form.as_symbol()?)?;
    let (start, end) = (form.span.start as usize, form.span.end as usize);
    let symbol = |text: &str, span: Span| Form {
        kind: FormKind::Symbol(text.into()),
        span,
    };
    let colon = (start + name.len()).min(end);
    Some((
        symbol(name, Span::new(start, colon)),
        symbol(of, Span::new((colon + 1).min(end), end)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::read_one;

    /// CCOS-RTFS-1: a word is a name and a type only if a simple type ends it.
    #[test]
    fn a_word_is_split_at_a_simple_type_only() {
        for (word, name, of) in [
            ("x:int", "x", "int"),
            ("x:Int", "x", "Int"),
            ("x:string?", "x", "string?"),
            ("a:b:float", "a:b", "float"),
            ("_:any", "_", "any"),
            ("x:symbol", "x", "symbol"),
        ] {
            assert_eq!(split_word(word), Some((name, of)), "{word}");
        }
        for word in [
            "x",
            "ns:v1.0/f",
            "x:foo",
            "x:in",
            "x::int",
            "x:int/y",
            "int",
        ] {
            assert_eq!(split_word(word), None, "{word}");
        }
    }

    /// CCOS-RTFS-1: a finding about the type points at the type.
    #[test]
    fn both_parts_of_a_word_keep_their_places() {
        let form = read_one("  limit:int?").unwrap();
        let (name, of) = split_form(&form).unwrap();
        assert_eq!(name.span.range(), 2..7);
        assert_eq!(of.span.range(), 8..12);
    }
}
