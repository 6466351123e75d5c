//! Logins in base64: docker's `auth`, npm's `_auth`, and tokens of Discord's bots, which begin with an encoded id.

use std::ops::Range;

use super::kind::Kind;

/// The letters before the first dot of a bot's token: the id of the bot, of 17 to 20 digits.
const BOT_ID: std::ops::RangeInclusive<usize> = 23..=28;

/// Finds encoded logins. Linear in the length of the text.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut found = Vec::new();
    let names = text.match_indices("auth");
    found.extend(names.filter_map(|(at, name)| Some((login(text, at, name)?, Kind::Assigned))));
    let dots = text.match_indices('.');
    found.extend(dots.filter_map(|(at, _)| Some((bot_token(text, at)?, Kind::AccessToken))));
    found
}

/// Returns the value of `auth` at `at`, if it is `name:password` in base64.
fn login(text: &str, at: usize, name: &str) -> Option<Range<usize>> {
    // `_auth` and `basic_auth` are such names, `oauth` is not.
    if text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let quotes = ['"', '\''];
    let blanks = [' ', '\t', '\r', '\n'];
    let rest = text[at + name.len()..].trim_start_matches(quotes);
    let rest = rest.trim_start_matches(blanks).strip_prefix([':', '='])?;
    let rest = rest.trim_start_matches(blanks).trim_start_matches(quotes);
    let start = text.len() - rest.len();
    let is_of_value = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let length = rest.bytes().take_while(|byte| is_of_value(*byte)).count();
    let decoded = decoded(&rest[..length])?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let is_text = decoded.iter().all(|byte| (b' '..=b'~').contains(byte));
    (is_text && colon > 0 && colon + 1 < decoded.len()).then_some(start..start + length)
}

/// Returns the token of a bot whose first dot is at `dot`: an id in base64, six letters, and at least 27.
fn bot_token(text: &str, dot: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let most = *BOT_ID.end() + 1;
    let id = bytes[..dot].iter().rev().take(most);
    let id = id.take_while(|byte| is_of_token(byte)).count();
    let middle = bytes.get(dot + 1..dot + 8)?;
    let is_middle = middle[6] == b'.' && middle[..6].iter().all(is_of_token);
    if !BOT_ID.contains(&id) || !is_middle {
        return None;
    }
    let start = dot - id;
    let is_id = decoded(&text[start..dot])?.iter().all(u8::is_ascii_digit);
    let last = bytes[dot + 8..].iter().take_while(|byte| is_of_token(byte));
    let last = last.count();
    (is_id && (27..=40).contains(&last)).then_some(start..dot + 8 + last)
}

/// Decodes base64 with or without padding, in either alphabet; `None` if it is invalid.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let letters = text.trim_end_matches('=');
    if letters.len() < 2 || letters.len() % 4 == 1 || text.len() - letters.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(letters.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in letters.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = ((bits << 6) | u32::from(value)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}
