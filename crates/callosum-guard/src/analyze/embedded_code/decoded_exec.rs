//! Code that a program decodes and then runs.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{Effect, function::RUN, language::Language, last, token::Token, words};
use crate::analyze::KnownPrograms;

/// Functions that decode.
const DECODERS: [&str; 13] = [
    "b64decode",
    "atob",
    "base64_decode",
    "decode64",
    "unhexlify",
    "fromhex",
    "decode_base64",
    "strict_decode64",
    "urlsafe_b64decode",
    "a85decode",
    "hex2bin",
    "str_rot13",
    "gzinflate",
];

/// Lists the effects of the code that a program decodes; if that code is not known, the fact that
/// it decodes.
pub(super) fn effects(
    language: &Language,
    tokens: &[Token],
    home: &str,
    known: KnownPrograms,
) -> Vec<Effect> {
    let names = |wanted: &[&str]| {
        tokens
            .iter()
            .any(|token| matches!(token, Token::Name(name) if wanted.contains(&last(name))))
    };
    let by_text = |token: &Token| match token {
        Token::Text(text) => matches!(text.as_str(), "base64" | "rot13" | "hex" | "rot_13"),
        _ => false,
    };
    let decodes = names(&DECODERS) || tokens.iter().any(by_text);
    if !decodes || !(names(RUN) || names(&["eval", "Function", "compile", "loads"])) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for token in tokens {
        if let Token::Text(text) = token
            && text.len() >= 8
            && let Some(text) = decoded(text)
        {
            found.push(Effect::Shell(text.clone()));
            found.extend(within(language, &text, home, known));
        }
    }
    if found.is_empty() {
        found.push(words(&["decoded-code"]));
    }
    found
}

/// Reads one level: code that decodes again is only recorded as decoded.
fn within(language: &Language, text: &str, home: &str, known: KnownPrograms) -> Vec<Effect> {
    if text.contains("b64decode") || text.contains("atob") || text.contains("base64") {
        return vec![words(&["decoded-code"])];
    }
    super::effects(language, text, home, known)
}

/// Decodes base64 or hexadecimal digits, if the text is one of them.
fn decoded(text: &str) -> Option<String> {
    let bytes = STANDARD.decode(text.trim().as_bytes()).ok().or_else(|| {
        let digits: Vec<u32> = text
            .chars()
            .map(|c| c.to_digit(16))
            .collect::<Option<_>>()?;
        digits.len().is_multiple_of(2).then(|| {
            digits
                .chunks_exact(2)
                .map(|pair| (pair[0] * 16 + pair[1]) as u8)
                .collect()
        })
    })?;
    let text = String::from_utf8(bytes).ok()?;
    text.chars()
        .all(|c| !c.is_control() || c.is_whitespace())
        .then_some(text)
}
