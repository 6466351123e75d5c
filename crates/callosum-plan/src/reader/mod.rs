//! Source to forms: the lexical rules, and brackets that pair.
//!
//! [`read`] keeps its own stack, so that no depth of brackets can exhaust the host's; beyond
//! [`MAX_DEPTH`] it refuses, so that code that walks its forms may recur. Commas are white space,
//! since models write them; keywords may begin with a digit, since the seed's samples do.

mod atom;

use thiserror::Error;

use self::atom::continues_name;
use crate::{
    form::{Form, FormKind, Name},
    span::Span,
};

/// Deepest nesting of brackets.
pub const MAX_DEPTH: usize = 128;

/// Most bytes of a source: 1 MiB.
pub const MAX_SOURCE: usize = 1 << 20;

/// Most bytes of a symbol, a keyword or a number; they are compared without being counted.
pub(crate) const MAX_NAME: usize = 256;

/// Reason that a source can't be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ReadError {
    /// Place of the fault.
    pub span: Span,
    /// Description of the fault.
    pub message: String,
    /// Suggested fix.
    pub hint: Option<String>,
}

/// Reads all forms of a source.
///
/// Takes time in proportion to the source. Fails at the first thing that is not of the language,
/// and with sources beyond 1 MiB.
pub fn read(source: &str) -> Result<Vec<Form>, ReadError> {
    if source.len() > MAX_SOURCE {
        return Err(ReadError {
            span: Span::new(0, 0),
            message: format!(
                "the source has {} bytes, more than {MAX_SOURCE}",
                source.len()
            ),
            hint: Some("pass data in as parameters, or get it from calls".to_owned()),
        });
    }
    Reader { source, at: 0 }.program()
}

/// Reads a source that is exactly one form.
pub fn read_one(source: &str) -> Result<Form, ReadError> {
    let mut forms = read(source)?;
    match (forms.pop(), forms.pop()) {
        (Some(form), None) => Ok(form),
        (Some(second), Some(_)) => Err(fault(
            second.span,
            "expected one form, but a second one starts here",
            None,
        )),
        (None, _) => Err(fault(
            Span::new(source.len(), source.len()),
            "expected one form, but found none",
            None,
        )),
    }
}

/// Returns the name of the keyword that is written as a colon and this text, where one is.
pub(crate) fn keyword_of(text: &str) -> Option<Name> {
    let is_name = !text.is_empty() && text.len() < MAX_NAME && text.bytes().all(continues_name);
    let form = is_name.then(|| read_one(&format!(":{text}")))?;
    match form.ok()?.kind {
        FormKind::Keyword(name) => Some(name),
        _ => None,
    }
}

fn fault(span: Span, message: impl Into<String>, hint: Option<&str>) -> ReadError {
    ReadError {
        span,
        message: message.into(),
        hint: hint.map(str::to_owned),
    }
}

/// A bracket that was opened, and what has been read since.
struct Open {
    bracket: char,
    start: usize,
    forms: Vec<Form>,
}

struct Reader<'a> {
    source: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn program(mut self) -> Result<Vec<Form>, ReadError> {
        let mut top = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.skip_blanks()?;
            let start = self.at;
            let Some(next) = self.peek() else { break };
            let form = match next {
                '(' | '[' | '{' => {
                    if open.len() == MAX_DEPTH {
                        return Err(fault(
                            Span::new(start, start + 1),
                            format!("brackets nest deeper than {MAX_DEPTH}"),
                            Some("name inner parts with `let` or `defn`"),
                        ));
                    }
                    self.at += 1;
                    open.push(Open {
                        bracket: next,
                        start,
                        forms: Vec::new(),
                    });
                    continue;
                }
                ')' | ']' | '}' => {
                    self.at += 1;
                    self.close(open.pop(), next, start)?
                }
                _ => self.atom()?,
            };
            open.last_mut()
                .map_or(&mut top, |inner| &mut inner.forms)
                .push(form);
        }
        match open.pop() {
            Some(unclosed) => Err(fault(
                Span::new(unclosed.start, unclosed.start + 1),
                format!("unclosed `{}`", unclosed.bracket),
                Some(match unclosed.bracket {
                    '(' => "add `)` where the form ends",
                    '[' => "add `]` where the vector ends",
                    _ => "add `}` where the map ends",
                }),
            )),
            None => Ok(top),
        }
    }

    fn close(&self, open: Option<Open>, bracket: char, start: usize) -> Result<Form, ReadError> {
        let here = Span::new(start, self.at);
        let Some(open) = open else {
            return Err(fault(
                here,
                format!("unmatched `{bracket}`"),
                Some("remove it, or add the opening bracket"),
            ));
        };
        let span = Span::new(open.start, self.at);
        let kind = match (open.bracket, bracket) {
            ('(', ')') => FormKind::List(open.forms),
            ('[', ']') => FormKind::Vector(open.forms),
            ('{', '}') => {
                if open.forms.len() % 2 == 1 {
                    return Err(fault(
                        span,
                        "a map has a key without a value",
                        Some("write a map as `{:key value …}`"),
                    ));
                }
                let mut forms = open.forms.into_iter();
                let mut entries = Vec::with_capacity(forms.len() / 2);
                while let (Some(key), Some(value)) = (forms.next(), forms.next()) {
                    entries.push((key, value));
                }
                FormKind::Map(entries)
            }
            (opened, _) => {
                let (line, column) = Span::new(open.start, open.start).line_and_column(self.source);
                return Err(fault(
                    here,
                    format!(
                        "`{bracket}` does not match `{opened}` at line {line}, column {column}"
                    ),
                    Some("close brackets in the reverse order in which they were opened"),
                ));
            }
        };
        Ok(Form { kind, span })
    }

    fn peek(&self) -> Option<char> {
        self.source[self.at..].chars().next()
    }

    fn skip_blanks(&mut self) -> Result<(), ReadError> {
        let bytes = self.source.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' => self.at += 1,
                b';' => {
                    let rest = &self.source[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                b'#' if bytes.get(self.at + 1) == Some(&b'|') => {
                    let body = self.at + 2;
                    let Some(length) = self.source[body..].find("|#") else {
                        return Err(fault(
                            Span::new(self.at, body),
                            "unterminated comment",
                            Some("end it with `|#`"),
                        ));
                    };
                    self.at = body + length + 2;
                }
                _ => break,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, printed: &str) {
        let forms = read(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        let text: Vec<String> = forms.iter().map(Form::to_string).collect();
        assert_eq!(text.join(" "), printed);
    }

    fn refuse(source: &str, message: &str) {
        match read(source) {
            Ok(forms) => panic!("{source} reads as {forms:?}"),
            Err(error) => assert!(error.message.contains(message), "{source}: {error}"),
        }
    }

    /// CCOS-RTFS-1: the lexical rules, and where ours are wider.
    #[test]
    fn atoms_read_as_the_lexical_rules_say() {
        check("12 -7 +5 1.5 -2.0e3 1.0E-2", "12 -7 5 1.5 -2000.0 0.01");
        check("##Inf ##-Inf ##NaN", "##Inf ##-Inf ##NaN");
        check("nil nilable true trueish", "nil nilable true trueish");
        check(r#""a\"b\\c\n\t\r" "é""#, r#""a\"b\\c\n\t\r" "é""#);
        check(
            "a ns.b/c ns:v1.0/f <auto> - -x <= %p a@b",
            "a ns.b/c ns:v1.0/f <auto> - -x <= %p a@b",
        );
        check(
            ":a :storage/* :llm.generate-plan :123 :a:v1",
            ":a :storage/* :llm.generate-plan :123 :a:v1",
        );
        check(r#""\u{1B}[0m\u{e9}\u{00000a}""#, r#""\u{1b}[0mé\n""#);
        check("{:a 1, :b 2}", "{:a 1 :b 2}");
        check("(a ; not this )\n #| nor ( this |# b)", "(a b)");
        check("x : Int", "x : Int");
        check("(λ [x & r] x)", "(fn [x & r] x)");
        check("(iffy a b)(default x)", "(iffy a b) (default x)");
        check("[[]()[{}]]", "[[] () [{}]]");
        check("a#|c|#", "a");
        check("", "");
    }

    #[test]
    fn what_is_not_of_the_language_is_refused_with_its_place() {
        refuse("(a", "unclosed `(`");
        refuse("(a]", "`]` does not match `(` at line 1, column 1");
        refuse("a)", "unmatched `)`");
        refuse("\"abc", "unterminated string");
        refuse("\"\\u0041\"", "escape");
        refuse("\"\\", "escape");
        for none in [
            "{}",
            "{110000}",
            "{d800}",
            "{+1}",
            "{0000041}",
            "{41",
            "41}",
        ] {
            refuse(&format!("\"\\u{none}\""), "escape");
        }
        refuse("{:a}", "key without a value");
        refuse("9223372036854775808", "64 bits");
        refuse("1.0e999", "too large");
        refuse("12abc", "neither a number nor a name");
        refuse("2024-01-01T00:00:00Z", "neither a number nor a name");
        refuse("1.", "neither a number nor a name");
        refuse("#(+ % 1)", "unexpected character");
        refuse("'(1 2)", "unexpected character");
        refuse("`a", "unexpected character");
        refuse("@a", "unexpected character");
        refuse("^:m a", "unexpected character");
        refuse(":storag\u{435}/read", "cannot be followed by");
        refuse("a:", "ends in a colon");
        refuse("::a", "is not a keyword");
        refuse("#| open", "unterminated comment");
        let error = read("(a\n  1x)").unwrap_err();
        assert_eq!(error.span.line_and_column("(a\n  1x)"), (2, 3));
    }

    #[test]
    fn brackets_nest_to_the_bound_and_no_deeper() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        refuse(&nested(MAX_DEPTH + 1), "nest deeper");
        refuse(&"(".repeat(MAX_SOURCE), "nest deeper");
        refuse(&" ".repeat(MAX_SOURCE + 1), "bytes");
    }

    #[test]
    fn one_form_is_neither_none_nor_two() {
        assert!(read_one("(a)").is_ok());
        assert!(read_one("").is_err());
        assert!(read_one("a b").is_err());
    }
}
