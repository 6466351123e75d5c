//! The canonical form's text.

use std::fmt::Write as _;

use super::value::CanonicalValue;

impl CanonicalValue {
    /// The canonical form; ASCII throughout.
    pub fn to_canonical(&self) -> String {
        let mut out = String::new();
        self.print(&mut out);
        out
    }

    fn print(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Integer(digits) => out.push_str(digits),
            Self::Float(float) => print_float(*float, out),
            Self::String(text) => print_string(text, out),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.print(out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (index, (key, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    print_string(key, out);
                    out.push(':');
                    value.print(out);
                }
                out.push('}');
            }
        }
    }
}

/// Everything but printable ASCII is escaped, as UTF-16 in lower-case hex; U+007F too.
fn print_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_len(rest.as_bytes()));
        out.push_str(plain);
        let mut chars = special.chars();
        let Some(c) = chars.next() else {
            break;
        };
        rest = chars.as_str();
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    print_hex_escape(*unit, out);
                }
            }
        }
    }
    out.push('"');
}

/// Counts the bytes that are printed unchanged, before the first that is not.
fn plain_len(bytes: &[u8]) -> usize {
    let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
    let mut len = 0;
    for run in bytes[..end].chunks(256) {
        // The least and the greatest of all bytes, since those are found many bytes at once.
        let least = run.iter().fold(u8::MAX, |least, byte| least.min(*byte));
        let greatest = run.iter().fold(0, |greatest, byte| (*byte).max(greatest));
        if least < b' ' || greatest > b'~' {
            let is_plain = |byte: &&u8| matches!(**byte, b' '..=b'~');
            return len + run.iter().take_while(is_plain).count();
        }
        len += run.len();
    }
    len
}

fn print_hex_escape(unit: u16, out: &mut String) {
    out.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        let digit = u32::from(unit >> shift & 15);
        out.extend(char::from_digit(digit, 16));
    }
}

/// Python's `repr`: the shortest digits that read back the same, with an exponent of at least two
/// digits below 1e-4 and from 1e16 on.
fn print_float(float: f64, out: &mut String) {
    let shortest = shortest_even(float);
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(positive) => ("-", positive),
        None => ("", mantissa),
    };
    out.push_str(sign);
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        // Writing to a string cannot fail.
        write!(out, "{mantissa}e{sign}{:02}", exponent.abs()).unwrap_or_default();
        return;
    }
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    if exponent < 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
        out.push_str(&digits);
        return;
    }
    let whole = exponent as usize + 1;
    let (before, after) = digits.split_at(whole.min(digits.len()));
    out.push_str(before);
    out.extend(std::iter::repeat_n('0', whole - before.len()));
    out.push('.');
    out.push_str(if after.is_empty() { "0" } else { after });
}

/// The shortest digits in scientific notation; of two that are equally near, the even ones.
///
/// Rust's own shortest form takes the upper of the two: -2141307867602615.25 ends in `.3` there
/// and in `.2` in Python. Rounding exactly to as many digits settles the tie.
fn shortest_even(float: f64) -> String {
    let shortest = format!("{float:e}");
    let mantissa = shortest.split('e').next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let rounded = format!("{float:.*e}", digits - 1);
    if rounded.parse() == Ok(float) {
        rounded
    } else {
        shortest
    }
}
