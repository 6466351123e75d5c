//! Values of cookies: the id of a session lets its holder act for someone.

use std::ops::Range;

use super::{kind::Kind, placeholder::is_placeholder, unquoted::is_random};

/// Parts of the names of cookies that are logins.
const SESSIONS: [&str; 10] = [
    "auth", "csrf", "jwt", "login", "remember", "sess", "sid", "sso", "token", "xsrf",
];

/// The shortest value of such a cookie, in bytes: shorter ones say no more than `1` or `deleted`.
const SHORTEST: usize = 8;

/// Finds values of cookies in headers, as `Set-Cookie: sessionid=…; Path=/`. Linear in the length of the text.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut found = Vec::new();
    let lower = text.to_ascii_lowercase();
    for (at, name) in lower.match_indices("cookie") {
        let rest = &text[at + name.len()..];
        let rest = rest.trim_start_matches('2');
        let behind = rest.trim_start_matches(['"', '\'']);
        let is_quoted = behind.len() < rest.len();
        let rest = behind.trim_start_matches([' ', '\t']);
        // `"Set-Cookie", "sid=…"`: two strings of a list or of a call.
        let of_list = rest.strip_prefix(',').filter(|rest| {
            let rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            is_quoted && rest.starts_with(['"', '\''])
        });
        let of_list = of_list.map(|rest| rest.trim_start_matches([' ', '\t', '\r', '\n']));
        let Some(rest) = rest.strip_prefix([':', '=']).or(of_list) else {
            continue;
        };
        let mut start = text.len() - rest.len();
        let end = start + rest.find(['\r', '\n']).unwrap_or(rest.len());
        for pair in text[start..end].split(';') {
            if let Some(value) = session(pair, start) {
                found.push((value, Kind::Assigned));
            } else if !pair.contains('=') && !is_attribute(pair) {
                break;
            }
            start += pair.len() + 1;
        }
    }
    found
}

/// Whether it is an attribute of a cookie, which has no value.
fn is_attribute(pair: &str) -> bool {
    let name = pair.trim().to_ascii_lowercase();
    matches!(name.as_str(), "" | "secure" | "httponly" | "partitioned")
}

/// Returns the range of the value of a pair that begins at `start`, if it is a login.
fn session(pair: &str, start: usize) -> Option<Range<usize>> {
    let (name, value) = pair.split_once('=')?;
    let at = start + name.len() + 1;
    let name = name.trim().trim_start_matches(['"', '\'']);
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_of_name) {
        return None;
    }
    let is_end = |c: char| c.is_whitespace() || "\"'`,<>".contains(c);
    let value = &value[..value.find(is_end).unwrap_or(value.len())];
    let name = name.to_ascii_lowercase();
    let is_session = SESSIONS.iter().any(|part| name.contains(part));
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let is_login = is_session && value.len() >= SHORTEST && has_digit || is_random(value);
    (is_login && !is_placeholder(value)).then_some(at..at + value.len())
}
