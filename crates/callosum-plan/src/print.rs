//! The canonical text of forms: one line, one blank between two forms, entries in their order.
//!
//! What is printed reads as what was printed. The pieces that values are written with, too, are
//! here: numbers and texts.

use std::fmt::{self, Display, Formatter, Write};

use crate::{
    form::{Form, FormKind},
    invisible_chars::is_hidden,
};

impl Display for Form {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FormKind::Nil => formatter.write_str("nil"),
            FormKind::Boolean(value) => write!(formatter, "{value}"),
            FormKind::Integer(value) => write!(formatter, "{value}"),
            FormKind::Float(value) => write_float(formatter, *value),
            FormKind::Text(value) => write_text(formatter, value),
            FormKind::Keyword(name) => write!(formatter, ":{name}"),
            FormKind::Symbol(name) => formatter.write_str(name),
            FormKind::Vector(items) => write_items(formatter, '[', items, ']'),
            FormKind::List(items) => write_items(formatter, '(', items, ')'),
            FormKind::Map(entries) => {
                formatter.write_char('{')?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    let gap = if index == 0 { "" } else { " " };
                    write!(formatter, "{gap}{key} {value}")?;
                }
                formatter.write_char('}')
            }
        }
    }
}

fn write_items(
    formatter: &mut Formatter<'_>,
    open: char,
    items: &[Form],
    close: char,
) -> fmt::Result {
    formatter.write_char(open)?;
    for (index, item) in items.iter().enumerate() {
        let gap = if index == 0 { "" } else { " " };
        write!(formatter, "{gap}{item}")?;
    }
    formatter.write_char(close)
}

/// Writes the shortest text that reads as this float, always with a point.
pub(crate) fn write_float(out: &mut impl Write, value: f64) -> fmt::Result {
    if value.is_nan() {
        return out.write_str("##NaN");
    }
    if value.is_infinite() {
        return out.write_str(if value > 0.0 { "##Inf" } else { "##-Inf" });
    }
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => {
            write!(out, "{digits}.0e{exponent}")
        }
        _ => out.write_str(&text),
    }
}

/// Writes a text in quotation marks, with the escapes of the language for what would not be read, and for what would
/// show the text other than it is.
pub(crate) fn write_text(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    let is_escaped = |c| matches!(c, '"' | '\\' | '\n' | '\t') || is_hidden(c);
    while let Some(at) = rest.find(is_escaped) {
        out.write_str(&rest[..at])?;
        let mut after = rest[at..].chars();
        match after.next() {
            Some('"') => out.write_str("\\\"")?,
            Some('\\') => out.write_str("\\\\")?,
            Some('\n') => out.write_str("\\n")?,
            Some('\t') => out.write_str("\\t")?,
            Some('\r') => out.write_str("\\r")?,
            Some(hidden) => write!(out, "{}", hidden.escape_unicode())?,
            None => {}
        }
        rest = after.as_str();
    }
    out.write_str(rest)?;
    out.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_has_a_point_however_large_or_small() {
        let print = |value: f64| Form::built(FormKind::Float(value)).to_string();
        assert_eq!(print(3.0), "3.0");
        assert_eq!(print(-0.0), "-0.0");
        assert_eq!(print(1e300), "1.0e300");
        assert_eq!(print(2.5e-9), "2.5e-9");
        assert_eq!(print(f64::NEG_INFINITY), "##-Inf");
        assert_eq!(print(f64::NAN), "##NaN");
    }
}
