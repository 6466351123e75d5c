//! The escapes of `$'…'`, `echo -e` and `printf`.
//!
//! They differ in small ways, and each difference is taken in its widest sense: a command hidden by
//! an escape is to be found, and nothing is lost if one is decoded that the shell leaves alone.

/// Decodes backslash escapes as in a word of a shell: without NULs.
pub(crate) fn decode(text: &str) -> String {
    let mut decoded = decode_output(text);
    decoded.retain(|c| c != '\0');
    decoded
}

/// The same of what is written out, in which a NUL ends an item.
pub(crate) fn decode_output(text: &str) -> String {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        if next != '\\' {
            push(&mut bytes, next);
            continue;
        }
        let Some(escape) = rest.next() else {
            bytes.push(b'\\');
            break;
        };
        let mut digits = |radix: u32, most: usize| {
            let mut value: Option<u32> = None;
            for _ in 0..most {
                let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else {
                    break;
                };
                value = Some(value.unwrap_or(0).wrapping_mul(radix).wrapping_add(digit));
                rest.next();
            }
            value
        };
        match escape {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'f' => bytes.push(12),
            'v' => bytes.push(11),
            'e' | 'E' => bytes.push(27),
            'x' => bytes.push(digits(16, 2).unwrap_or(0) as u8),
            'u' => push(
                &mut bytes,
                digits(16, 4).and_then(char::from_u32).unwrap_or('?'),
            ),
            'U' => push(
                &mut bytes,
                digits(16, 8).and_then(char::from_u32).unwrap_or('?'),
            ),
            '0'..='7' => {
                let first = escape as u32 - '0' as u32;
                let most = if first == 0 { 3 } else { 2 };
                let value = (0..most).fold(first, |value, _| match digits(8, 1) {
                    Some(digit) => value.wrapping_mul(8).wrapping_add(digit),
                    None => value,
                });
                bytes.push(value as u8);
            }
            'c' => {
                if let Some(key) = rest.next() {
                    bytes.push(key as u8 & 0x1f);
                }
            }
            '\\' | '\'' | '"' | '?' => bytes.push(escape as u8),
            other => {
                bytes.push(b'\\');
                push(&mut bytes, other);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn push(bytes: &mut Vec<u8>, c: char) {
    let mut buffer = [0; 4];
    bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::{decode, decode_output};

    /// CAKE-SHIM-1: a name spelled in escapes is that name.
    #[test]
    fn names_spelled_in_escapes_are_read() {
        for spelled in [r"rm", r"\x72\x6d", r"\162\155", r"\u0072m", r"\0162m"] {
            assert_eq!(decode(spelled), "rm", "{spelled}");
        }
        assert_eq!(decode(r"a\qb\"), r"a\qb\");
        assert_eq!(decode(r"a\0b\x00"), "ab");
        assert_eq!(decode_output(r"a\0b\0"), "a\0b\0");
    }
}
