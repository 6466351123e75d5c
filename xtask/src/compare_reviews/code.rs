//! [`code_only`]: a Rust file in which only shipped code is left, at the same places.
//!
//! Comments, texts, attributes, macros by example and items for tests become spaces, so a search in the result finds
//! code alone and its offsets hold in the file. A tokenizer of this kind needs no grammar and never fails: what it
//! cannot read stays as it is.

/// Returns the file with everything but shipped code replaced by spaces. Lines and byte offsets stay.
pub(super) fn code_only(text: &str) -> String {
    let mut code = text.as_bytes().to_vec();
    blank_comments_and_texts(text.as_bytes(), &mut code);
    blank_items(&mut code, b"#[cfg(test)]");
    blank_items(&mut code, b"macro_rules!");
    blank_attributes(&mut code);
    // Every multi-byte character is blanked whole or kept whole.
    String::from_utf8(code).unwrap_or_default()
}

/// Replaces a part by spaces, except its line breaks.
fn blank(code: &mut [u8], from: usize, to: usize) {
    let to = to.min(code.len());
    for byte in &mut code[from..to] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn blank_comments_and_texts(text: &[u8], code: &mut [u8]) {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let end = if rest.starts_with(b"//") {
            at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            at + comment_length(rest)
        } else if let Some(length) = raw_text_length(text, at) {
            at + length
        } else if rest[0] == b'"' {
            at + quoted_length(rest, b'"')
        } else if rest[0] == b'\'' && is_character(rest) {
            at + quoted_length(rest, b'\'')
        } else {
            at += 1;
            continue;
        };
        blank(code, at, end);
        at = end;
    }
}

/// Returns the length of a block comment. They nest.
fn comment_length(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Returns the length of a raw text such as `r#"…"#` that begins here.
fn raw_text_length(text: &[u8], at: usize) -> Option<usize> {
    let is_word = at > 0 && (text[at - 1].is_ascii_alphanumeric() || text[at - 1] == b'_');
    let rest = &text[at..];
    // The `r` of `br"…"` follows a `b`, which is no part of a longer word.
    let is_bytes = at > 0
        && text[at - 1] == b'b'
        && (at < 2 || !(text[at - 2].is_ascii_alphanumeric() || text[at - 2] == b'_'));
    if rest[0] != b'r' || (is_word && !is_bytes) {
        return None;
    }
    let hashes = rest[1..].iter().take_while(|&&b| b == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let mut end = vec![b'"'];
    end.resize(1 + hashes, b'#');
    let from = 2 + hashes;
    let found = rest[from..]
        .windows(end.len())
        .position(|part| part == end.as_slice());
    Some(found.map_or(rest.len(), |found| from + found + end.len()))
}

/// Returns the length of a quoted text that may have escapes.
fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Returns whether a quotation mark begins a character, and not a lifetime.
fn is_character(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'\\') => true,
        Some(first) => {
            let width = match first {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            rest.get(1 + width) == Some(&b'\'')
        }
        None => false,
    }
}

/// Replaces each item that begins with a mark, up to the end of its block or to its semicolon.
fn blank_items(code: &mut [u8], mark: &[u8]) {
    let mut at = 0;
    while let Some(found) = code[at..].windows(mark.len()).position(|part| part == mark) {
        let begin = at + found;
        let end = item_end(code, begin + mark.len());
        blank(code, begin, end);
        at = end;
    }
}

fn item_end(code: &[u8], from: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code[from..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return from + offset + 1;
                }
            }
            b';' if depth == 0 => return from + offset + 1,
            _ => {}
        }
    }
    code.len()
}

fn blank_attributes(code: &mut [u8]) {
    let mut at = 0;
    while at + 1 < code.len() {
        let is_inner = code[at..].starts_with(b"#![");
        if !is_inner && !code[at..].starts_with(b"#[") {
            at += 1;
            continue;
        }
        let mut depth = 0_usize;
        let mut end = code.len();
        for (offset, byte) in code[at..].iter().enumerate() {
            match byte {
                b'[' => depth += 1,
                b']' => {
                    depth -= 1;
                    if depth == 0 {
                        end = at + offset + 1;
                        break;
                    }
                }
                _ => {}
            }
        }
        blank(code, at, end);
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let code = code_only(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(code.lines().count(), text.lines().count());
        let words: Vec<&str> = code.split_whitespace().collect();
        assert_eq!(words.join(" "), expected, "{text}");
    }

    #[test]
    fn comments_and_texts_are_no_code() {
        check("a < b // c < d\n/* x /* y */ < */ e", "a < b e");
        check("f(\"a < \\\" b\", 'x', '\\'', 'é') + g", "f( , , , ) + g");
        check("r#\"a \" < \"# + br\"b\\\" + car", "+ b + car");
        check(
            "fn f<'a>(x: &'a str) -> &'a str",
            "fn f<'a>(x: &'a str) -> &'a str",
        );
    }

    #[test]
    fn items_for_tests_and_macros_are_no_shipped_code() {
        check(
            "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { if 1 < 2 {} } }\nfn c() {}",
            "fn a() {} fn c() {}",
        );
        check("#[cfg(test)]\nuse x::y;\nfn c() {}", "fn c() {}");
        check("macro_rules! m { ($a:expr) => { $a < 1 } }\nd", "d");
        check("#![a(b = [1])]\n#[derive(X)]\nstruct S;", "struct S;");
    }
}
