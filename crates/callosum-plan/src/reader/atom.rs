//! Atoms: names, keywords, numbers and strings, each by its first character.
//!
//! Brackets, blanks and comments are read around them, in the parent.

use std::sync::Arc;

use super::{MAX_NAME, ReadError, Reader, fault};
use crate::{
    form::{Form, FormKind},
    span::Span,
};

impl Reader<'_> {
    pub(super) fn atom(&mut self) -> Result<Form, ReadError> {
        let start = self.at;
        let bytes = self.source.as_bytes();
        let first = bytes[start];
        let second = bytes.get(start + 1).copied();
        if first == b'"' {
            return self.text();
        }
        if first == b'#' {
            return self.dispatch();
        }
        if first.is_ascii_digit()
            || (matches!(first, b'-' | b'+') && second.is_some_and(|byte| byte.is_ascii_digit()))
        {
            return self.number();
        }
        if first == b':' {
            self.at += 1;
            self.skip_name();
            let span = Span::new(start, self.at);
            let kind = match &self.source[start + 1..self.at] {
                // A colon by itself is between a name and its type.
                "" => FormKind::Symbol(":".into()),
                name if name.ends_with(':') || name.starts_with(':') || name.contains("::") => {
                    return Err(fault(
                        span,
                        format!("`:{name}` is not a keyword"),
                        Some("a keyword is one colon and a name, such as `:storage.read`"),
                    ));
                }
                name => FormKind::Keyword(name.into()),
            };
            self.end_of_word(span)?;
            return Ok(Form { kind, span });
        }
        if first == b'&' {
            self.at += 1;
            let span = Span::new(start, self.at);
            self.end_of_word(span)?;
            return Ok(Form {
                kind: FormKind::Symbol("&".into()),
                span,
            });
        }
        if self.source[start..].starts_with('λ') {
            self.at += 'λ'.len_utf8();
            let span = Span::new(start, self.at);
            self.end_of_word(span)?;
            return Ok(Form {
                kind: FormKind::Symbol("fn".into()),
                span,
            });
        }
        if !begins_symbol(first) {
            return Err(self.stranger());
        }
        self.skip_name();
        let span = Span::new(start, self.at);
        self.end_of_word(span)?;
        let name = &self.source[start..self.at];
        let kind = match name {
            "nil" => FormKind::Nil,
            "true" => FormKind::Boolean(true),
            "false" => FormKind::Boolean(false),
            _ if name.ends_with(':') => {
                return Err(fault(
                    span,
                    format!("`{name}` ends in a colon"),
                    Some("put a space before a type: `x : Int`; a keyword starts with its colon"),
                ));
            }
            _ => FormKind::Symbol(name.into()),
        };
        Ok(Form { kind, span })
    }

    fn skip_name(&mut self) {
        let rest = &self.source.as_bytes()[self.at..];
        self.at += rest
            .iter()
            .take_while(|&&byte| continues_name(byte))
            .count();
    }

    /// Fails where a word runs into something that is not of it, or is too long.
    fn end_of_word(&self, span: Span) -> Result<(), ReadError> {
        if span.range().len() > MAX_NAME {
            return Err(fault(
                span,
                format!(
                    "a word has {} bytes, more than {MAX_NAME}",
                    span.range().len()
                ),
                Some("write long texts as strings"),
            ));
        }
        match self.peek() {
            None => Ok(()),
            Some(next) if next.is_ascii_whitespace() || "()[]{},;\"".contains(next) => Ok(()),
            // A block comment may follow at once.
            Some('#') if self.source[self.at..].starts_with("#|") => Ok(()),
            Some(next) => Err(fault(
                Span::new(span.start as usize, self.at + next.len_utf8()),
                format!(
                    "`{}` cannot be followed by `{}`",
                    &self.source[span.range()],
                    next.escape_debug()
                ),
                Some(
                    "names may contain only ASCII letters, digits and `_ $ + - * / = < > ! ? % . @ :`",
                ),
            )),
        }
    }

    fn number(&mut self) -> Result<Form, ReadError> {
        let start = self.at;
        let bytes = self.source.as_bytes();
        let digits = |from: usize| {
            bytes[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        let mut at = start + usize::from(!bytes[start].is_ascii_digit());
        at += digits(at);
        let mut float = false;
        if bytes.get(at) == Some(&b'.') && digits(at + 1) > 0 {
            float = true;
            at += 1 + digits(at + 1);
            if matches!(bytes.get(at), Some(b'e' | b'E')) {
                let sign = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
                let exponent = digits(at + 1 + sign);
                if exponent > 0 {
                    at += 1 + sign + exponent;
                }
            }
        }
        self.at = at;
        let span = Span::new(start, at);
        if bytes.get(at).is_some_and(|&byte| continues_name(byte)) {
            self.skip_name();
            let word = &self.source[start..self.at];
            return Err(fault(
                Span::new(start, self.at),
                format!("`{word}` is neither a number nor a name"),
                Some(if word.contains('-') {
                    "write timestamps and uuids as strings: `\"2025-01-10T00:00:00Z\"`"
                } else {
                    "an integer is digits, a float has digits on both sides of its point"
                }),
            ));
        }
        self.end_of_word(span)?;
        let text = &self.source[start..at];
        if !float {
            let Ok(value) = text.parse() else {
                return Err(fault(
                    span,
                    "the integer does not fit in 64 bits",
                    Some("integers range from -9223372036854775808 to 9223372036854775807"),
                ));
            };
            return Ok(Form {
                kind: FormKind::Integer(value),
                span,
            });
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Form {
                kind: FormKind::Float(value),
                span,
            }),
            _ => Err(fault(
                span,
                "the float is too large",
                Some("write `##Inf` for infinity"),
            )),
        }
    }

    fn text(&mut self) -> Result<Form, ReadError> {
        let start = self.at;
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = &self.source[self.at..];
            let Some(length) = rest.find(['"', '\\']) else {
                return Err(fault(
                    Span::new(start, start + 1),
                    "unterminated string",
                    Some("end it with `\"`"),
                ));
            };
            text.push_str(&rest[..length]);
            self.at += length + 1;
            if rest.as_bytes()[length] == b'"' {
                break;
            }
            let escaped = self.peek();
            if let Some((named, length)) = character(&self.source[self.at..]) {
                text.push(named);
                self.at += length;
                continue;
            }
            text.push(match escaped {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(same @ ('"' | '\\')) => same,
                _ => {
                    let length = escaped.map_or(0, char::len_utf8);
                    return Err(fault(
                        Span::new(self.at - 1, self.at + length),
                        "unknown escape in the string",
                        Some("the escapes are \\\" \\\\ \\n \\t \\r \\u{1b}; write anything else as it is"),
                    ));
                }
            });
            self.at += 1;
        }
        let span = Span::new(start, self.at);
        Ok(Form {
            kind: FormKind::Text(Arc::from(text)),
            span,
        })
    }

    fn dispatch(&mut self) -> Result<Form, ReadError> {
        let start = self.at;
        for (word, value) in [
            ("##Inf", f64::INFINITY),
            ("##-Inf", f64::NEG_INFINITY),
            ("##NaN", f64::NAN),
        ] {
            if self.source[start..].starts_with(word) {
                self.at += word.len();
                let span = Span::new(start, self.at);
                self.end_of_word(span)?;
                return Ok(Form {
                    kind: FormKind::Float(value),
                    span,
                });
            }
        }
        Err(self.stranger())
    }

    /// The error about a character that begins nothing.
    fn stranger(&self) -> ReadError {
        let rest = &self.source[self.at..];
        let first = rest.chars().next().unwrap_or(' ');
        let span = Span::new(self.at, self.at + first.len_utf8());
        let hint = match first {
            '#' if rest.starts_with("#(") => "write `(fn [x] …)` instead of `#(…)`",
            '#' if rest.starts_with("#{") => "there are no sets; write a vector and `distinct`",
            '#' => "`#` is allowed only in `#| … |#`, `##Inf`, `##-Inf` and `##NaN`",
            '\'' => "there is no quoting; a vector `[…]` is data",
            '`' | '~' => {
                "there are no macros and no quasiquote; write a function with `defn`, and data as `[…]` or `{…}`"
            }
            '@' => "there is nothing to dereference; use a parameter of the plan",
            '^' => "there is no metadata; a step has options: `(step :id {:timeout-ms 1000} …)`",
            '.' => "a float has digits on both sides of its point; there are no methods",
            '\\' => "there are no character literals; write a string of one character",
            '|' => "`|` is allowed only in block comments, `#| … |#`",
            _ if !first.is_ascii() => "only ASCII is allowed outside strings and comments",
            _ => "remove it",
        };
        fault(
            span,
            format!("unexpected character `{}`", first.escape_debug()),
            Some(hint),
        )
    }
}

/// The character that an escape names by its number, `u{1b}`, and how many bytes that has.
fn character(escape: &str) -> Option<(char, usize)> {
    let (digits, _) = escape.strip_prefix("u{")?.split_once('}')?;
    let is_number =
        (1..=6).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = is_number.then(|| u32::from_str_radix(digits, 16).ok())??;
    Some((char::from_u32(number)?, digits.len() + "u{}".len()))
}

fn begins_symbol(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || b"_$+-*/=<>!?%".contains(&byte)
}

/// Bytes that continue symbols and keywords; the colon for versions, as in `ns:v1.0/f`.
pub(super) fn continues_name(byte: u8) -> bool {
    begins_symbol(byte) || byte.is_ascii_digit() || b".@:".contains(&byte)
}
