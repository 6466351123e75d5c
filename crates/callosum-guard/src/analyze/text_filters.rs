//! Results of programs for a text that is known: `printf`, decoders, `tr`, `sed`.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::value::Arg;
use crate::shell::ansi;

/// Returns the output of `printf` for a format and its words.
pub(super) fn printf(words: &[Arg]) -> String {
    let mut words = words;
    if words.first().is_some_and(|word| word.text == "--") {
        words = &words[1..];
    }
    let Some(format) = words.first() else {
        return String::new();
    };
    let format = ansi::decode_output(&format.text);
    let mut values = words[1..].iter();
    let mut text = String::new();
    for _ in 0..64 {
        let before = values.len();
        let mut letters = format.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                text.push(letter);
                continue;
            }
            let mut kind = letters.next();
            while matches!(kind, Some('0'..='9' | '.' | '-' | '+' | ' ' | '#' | '*')) {
                kind = letters.next();
            }
            match kind {
                Some('%') => text.push('%'),
                Some('b') => {
                    text.push_str(
                        &values
                            .next()
                            .map(|v| ansi::decode_output(&v.text))
                            .unwrap_or_default(),
                    );
                }
                Some(_) => text.push_str(values.next().map_or("", |value| value.text.as_str())),
                None => {}
            }
        }
        if values.len() == 0 || values.len() == before {
            break;
        }
    }
    text
}

/// Decodes a text.
pub(super) fn decoded(name: &str, text: &str) -> Option<String> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let bytes = match name {
        "base64" | "gbase64" | "openssl" | "basenc" => STANDARD.decode(compact.as_bytes()).ok()?,
        "xxd" => {
            let digits: Vec<u32> = compact
                .chars()
                .map(|c| c.to_digit(16))
                .collect::<Option<_>>()?;
            digits
                .chunks_exact(2)
                .map(|pair| (pair[0] * 16 + pair[1]) as u8)
                .collect()
        }
        "base32" => base32(&compact)?,
        _ => return None,
    };
    String::from_utf8(bytes).ok()
}

fn base32(text: &str) -> Option<Vec<u8>> {
    let mut bits = 0u64;
    let mut count = 0;
    let mut bytes = Vec::new();
    for letter in text.trim_end_matches('=').chars() {
        let value = match letter {
            'A'..='Z' => letter as u64 - 'A' as u64,
            '2'..='7' => letter as u64 - '2' as u64 + 26,
            _ => return None,
        };
        bits = (bits << 5 | value) & 0xff_ffff;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// The characters of a set as `tr` writes it.
pub(super) fn set(text: &str) -> Vec<char> {
    let letters: Vec<char> = ansi::decode(text).chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < letters.len() && all.len() < 512 {
        if at + 2 < letters.len() && letters[at + 1] == '-' && letters[at] <= letters[at + 2] {
            all.extend((letters[at]..=letters[at + 2]).take(256));
            at += 3;
        } else {
            all.push(letters[at]);
            at += 1;
        }
    }
    all
}

pub(super) fn translated(text: &str, from: &str, to: &str) -> String {
    let (from, to) = (set(from), set(to));
    text.chars()
        .map(|c| match from.iter().position(|one| *one == c) {
            Some(at) => *to.get(at).or(to.last()).unwrap_or(&c),
            None => c,
        })
        .collect()
}

/// Applies `s/a/b/` to a text, if `a` is no more than letters.
pub(super) fn substituted(edit: &str, text: &str) -> Option<String> {
    let body = edit.strip_prefix('s')?;
    let sign = body.chars().next()?;
    let mut pieces = body[sign.len_utf8()..].split(sign);
    let (from, to, flags) = (pieces.next()?, pieces.next()?, pieces.next()?);
    if from.is_empty() || from.contains(['*', '.', '[', '\\', '^', '$']) {
        return None;
    }
    Some(if flags.contains('g') {
        text.replace(from, to)
    } else {
        text.lines()
            .map(|line| line.replacen(from, to, 1) + "\n")
            .collect()
    })
}
