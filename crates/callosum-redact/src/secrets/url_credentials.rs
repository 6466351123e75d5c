//! Secrets on the way to a server: in addresses, and after the names of headers.

use std::ops::Range;

use super::{
    command::{is_known_elsewhere, lower},
    kind::Kind,
    placeholder::is_placeholder,
    unquoted::is_random,
};

/// Headers whose value is secret.
const HEADERS: [&str; 9] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-auth-token",
    "x-access-token",
    "x-vault-token",
    "private-token",
    "cookie",
];

/// Finds addresses with user information: its start, and all of it up to the last `@` before the
/// server.
fn users(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("://").filter_map(|(at, mark)| {
        let start = at + mark.len();
        let rest = &text[start..];
        let is_end_of_word = |c: char| c.is_whitespace() || "\"'<>`".contains(c);
        let is_end = |c: char| c == '/' || is_end_of_word(c);
        let authority = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let authority = match authority.find(':') {
            // A slash in a password ends nothing, and one after a port does.
            Some(colon) if !authority.contains('@') => {
                let port = &authority[colon + 1..];
                let all = &rest[..rest.find(is_end_of_word).unwrap_or(rest.len())];
                let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
                if is_port { authority } else { all }
            }
            _ => authority,
        };
        // A password may hold one itself.
        authority.rfind('@').map(|end| (start, &authority[..end]))
    })
}

/// Passwords in the addresses of any text.
pub(super) fn passwords(text: &str, found: &mut Vec<(Range<usize>, Kind)>) {
    for (start, user) in users(text) {
        let end = start + user.len();
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
        let scheme = text[..start - "://".len()].chars().rev();
        let is_address = scheme.take_while(|c| is_of_scheme(*c)).count() >= 2;
        let is_served =
            text[end + 1..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
        if !is_address || !is_served {
            continue;
        }
        let Some((name, password)) = user.split_once(':') else {
            if is_random(user) {
                found.push((start..end, Kind::Address));
            }
            continue;
        };
        // Text after several servers or a path is another part of the address.
        let head = password.split('/').next().unwrap_or_default();
        let digits = head.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_elsewhere =
            name.contains('/') || head.len() < password.len() && digits.starts_with([',', ':']);
        if (3..=512).contains(&password.len()) && !is_elsewhere && !is_placeholder(password) {
            found.push((end - password.len()..end, Kind::Address));
        }
    }
}

/// Finds passwords in the addresses of a command, of any form, and tokens in the place of the user.
pub(super) fn addresses(text: &str, found: &mut Vec<(Range<usize>, Kind)>) {
    /// A name of a user is shorter.
    const TOKEN: usize = 16;
    for (start, user) in users(text) {
        let (at, end) = (start - "://".len(), user.len());
        let is_of_web = text[..at].ends_with("http") || text[..at].ends_with("https");
        let secret = match user.find(':') {
            // A placeholder is not a password, and the user is the token.
            Some(colon) if matches!(&user[colon + 1..], "" | "x-oauth-basic") => 0..colon,
            Some(colon) => colon + 1..end,
            None if end >= TOKEN || is_of_web && user != "git" => 0..end,
            None => continue,
        };
        if !is_known_elsewhere(&user[secret.clone()]) {
            found.push((start + secret.start..start + secret.end, Kind::Address));
        }
    }
}

/// Finds the values after the names of headers, to the end of their quotes or of their line.
pub(super) fn headers(text: &str, found: &mut Vec<(Range<usize>, Kind)>) {
    /// Words that may come before the secret itself.
    const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "digest", "apikey", "negotiate"];
    let lower = lower(text);
    for header in HEADERS {
        for (at, _) in lower.match_indices(header) {
            let before = text[..at].bytes().next_back();
            let behind = text[at + header.len()..].trim_start_matches([' ', '"', '\'', '\\']);
            let is_whole = before.is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'-');
            let Some(value) = behind.strip_prefix([':', '=']).filter(|_| is_whole) else {
                continue;
            };
            let value = value.trim_start_matches([' ', '"', '\'', '\\']);
            let start = text.len() - value.len();
            let is_end = |c: char| "\"'\\\n\r".contains(c);
            let is_quoted = before.is_some_and(|byte| b"\"'".contains(&byte));
            let end = value.find(|c| is_end(c) || !is_quoted && c == ';');
            let value = value[..end.unwrap_or(value.len())].trim_end();
            let scheme = SCHEMES.iter().find(|scheme| {
                let word = value.split(' ').next().unwrap_or_default();
                word.eq_ignore_ascii_case(scheme)
            });
            let skipped = scheme.map_or(0, |scheme| {
                let rest = &value[scheme.len()..];
                value.len() - rest.trim_start().len()
            });
            let secret = &value[skipped..];
            if !is_known_elsewhere(secret) {
                let kind = Kind::Authorization;
                found.push((start + skipped..start + value.len(), kind));
            }
        }
    }
}
