//! Numbers made from other values: `int`, `float`, `parse-int` and `parse-float`.
//!
//! `int` and `float` fail for a text that is no number; `parse-int` and `parse-float` return nil for it. Start with
//! [`FUNCTIONS`]. Arithmetic is in `number`.

use super::{
    Row,
    number::{overflow, whole},
    wrong,
};
use crate::{failure::Failure, value::Value};

pub(super) const FUNCTIONS: &[Row] = &[
    ("int", 1, 1, |_, arguments| int(&arguments[0])),
    ("float", 1, 1, |_, arguments| float(&arguments[0])),
    ("parse-int", 1, 1, |_, arguments| parse_int(&arguments[0])),
    ("parse-float", 1, 1, |_, arguments| {
        parse_float(&arguments[0])
    }),
];

/// The values that `int` and `float` convert, for messages.
const CONVERTIBLE: &str = "a number, a boolean or the text of a number";

/// Most characters of a text in a message.
const SHOWN: usize = 60;

fn int(value: &Value) -> Result<Value, Failure> {
    match value {
        Value::Integer(value) => Ok(Value::Integer(*value)),
        Value::Float(value) => whole(value.trunc()).ok_or_else(|| overflow("int")),
        Value::Boolean(value) => Ok(Value::Integer(i64::from(*value))),
        Value::Text(text) => int_of_text(text),
        other => Err(wrong("int", CONVERTIBLE, other)),
    }
}

/// Truncates the number in a text. Digits are not read as a float, which would round long ones.
fn int_of_text(text: &str) -> Result<Value, Failure> {
    let number = text.trim();
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = integer.strip_prefix(['+', '-']).unwrap_or(integer);
    let is_decimal = !digits.is_empty() && is_digits(digits) && is_digits(fraction);
    if is_decimal {
        return integer
            .parse()
            .map(Value::Integer)
            .map_err(|_| overflow("int"));
    }
    let value = float_in(text).ok_or_else(|| no_number("int", text))?;
    whole(value.trunc()).ok_or_else(|| overflow("int"))
}

fn float(value: &Value) -> Result<Value, Failure> {
    let value = match value {
        Value::Integer(value) => *value as f64,
        Value::Float(value) => *value,
        Value::Boolean(value) => f64::from(u8::from(*value)),
        Value::Text(text) => {
            let value = float_in(text).ok_or_else(|| no_number("float", text))?;
            if value.is_infinite() {
                let message = format!("{} is too large for a float", shown(text));
                return Err(Failure::argument(message));
            }
            value
        }
        other => return Err(wrong("float", CONVERTIBLE, other)),
    };
    Ok(Value::Float(value))
}

fn parse_int(value: &Value) -> Result<Value, Failure> {
    match value {
        Value::Integer(value) => Ok(Value::Integer(*value)),
        Value::Float(value) => Ok(whole(value.trunc()).unwrap_or_default()),
        Value::Text(text) => Ok(text.trim().parse().map_or(Value::Nil, Value::Integer)),
        other => Err(wrong("parse-int", "a string or a number", other)),
    }
}

fn parse_float(value: &Value) -> Result<Value, Failure> {
    match value {
        Value::Integer(value) => Ok(Value::Float(*value as f64)),
        Value::Float(value) => Ok(Value::Float(*value)),
        Value::Text(text) => {
            let value = float_in(text).filter(|value| value.is_finite());
            Ok(value.map_or(Value::Nil, Value::Float))
        }
        other => Err(wrong("parse-float", "a string or a number", other)),
    }
}

/// Returns the number that a text is; infinite if it is too large.
///
/// Rust also parses `inf`, `infinity` and `nan`, which in a text are words.
fn float_in(text: &str) -> Option<f64> {
    let number = text.trim();
    let is_number = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    is_number.then(|| number.parse().ok())?
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn no_number(name: &str, text: &str) -> Failure {
    let message = format!("`{name}` takes {CONVERTIBLE}, but got {}", shown(text));
    Failure::type_error(message).with_hint(format!(
        "`parse-{name}` returns nil for a text that is no number"
    ))
}

/// A text in quotes and in ASCII escapes, its beginning if it is long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

    /// CCOS-RTFS-1: `int` and `float` convert numbers, booleans and texts of numbers, without rounding integers.
    #[test]
    fn numbers_booleans_and_texts_become_numbers() {
        for (text, integer, number) in [
            ("42", 42, 42.0),
            (" -7\n", -7, -7.0),
            ("+5", 5, 5.0),
            ("3.99", 3, 3.99),
            ("-0.5", 0, -0.5),
            (".5", 0, 0.5),
            ("5.", 5, 5.0),
            ("1e3", 1000, 1000.0),
            ("2.5E1", 25, 25.0),
        ] {
            let text = Value::text(text);
            assert_eq!(int(&text).unwrap(), Value::Integer(integer), "{text}");
            assert_eq!(float(&text).unwrap(), Value::Float(number), "{text}");
        }
        for exact in ["9007199254740993", "9007199254740993.75"] {
            let value = int(&Value::text(exact)).unwrap();
            assert_eq!(value, Value::Integer(9_007_199_254_740_993), "{exact}");
        }
        assert_eq!(int(&Value::Boolean(true)).unwrap(), Value::Integer(1));
        assert_eq!(int(&Value::Boolean(false)).unwrap(), Value::Integer(0));
        assert_eq!(float(&Value::Boolean(true)).unwrap(), Value::Float(1.0));
    }

    /// CCOS-RTFS-1: a text that is no number fails with the text; it does not become 0.
    #[test]
    fn a_text_that_is_no_number_fails_with_the_text() {
        for text in [
            "", " ", "abc", "12abc", "1.2.3", "0x10", "1_000", "1,5", "e", "-", ".", "--1", "inf",
            "nan", "NaN", "infinity", "true", "\u{663}",
        ] {
            for convert in [int, float] {
                let failure = convert(&Value::text(text)).unwrap_err();
                assert_eq!(failure.kind, FailureKind::TypeError, "{text}");
                assert!(failure.message.ends_with(&format!("{text:?}")), "{failure}");
            }
            assert_eq!(parse_float(&Value::text(text)).unwrap(), Value::Nil);
            assert_eq!(parse_int(&Value::text(text)).unwrap(), Value::Nil);
        }
        let long = int(&Value::text("x".repeat(10_000))).unwrap_err();
        assert!(long.message.len() < 200, "{}", long.message.len());
        for text in [
            "9223372036854775808",
            "-9223372036854775809",
            "-9223372036854775809.0",
            "1e400",
        ] {
            let failure = int(&Value::text(text)).unwrap_err();
            assert_eq!(failure.kind, FailureKind::IntegerOverflow, "{text}");
        }
        let failure = float(&Value::text("1e400")).unwrap_err();
        assert_eq!(failure.kind, FailureKind::InvalidArgument);
        for other in [Value::Nil, Value::keyword("a"), Value::vector(Vec::new())] {
            assert_eq!(int(&other).unwrap_err().kind, FailureKind::TypeError);
            assert_eq!(float(&other).unwrap_err().kind, FailureKind::TypeError);
        }
    }

    /// CCOS-RTFS-1: `parse-int` and `parse-float` take numbers too, and return nil for what does not fit.
    #[test]
    fn parsing_takes_numbers_and_fails_for_no_text() {
        for (value, integer, number) in [
            (Value::Integer(3), Value::Integer(3), Value::Float(3.0)),
            (Value::Float(3.7), Value::Integer(3), Value::Float(3.7)),
            (Value::Float(1e300), Value::Nil, Value::Float(1e300)),
            (Value::text(" 12 "), Value::Integer(12), Value::Float(12.0)),
            (Value::text("3.7"), Value::Nil, Value::Float(3.7)),
            (Value::text("1e400"), Value::Nil, Value::Nil),
        ] {
            assert_eq!(parse_int(&value).unwrap(), integer, "{value}");
            assert_eq!(parse_float(&value).unwrap(), number, "{value}");
        }
        assert_eq!(parse_int(&Value::Float(f64::NAN)).unwrap(), Value::Nil);
        for other in [Value::Nil, Value::Boolean(true)] {
            assert_eq!(parse_int(&other).unwrap_err().kind, FailureKind::TypeError);
        }
    }
}
