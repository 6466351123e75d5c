//! Passwords in lines of `.pgpass`: `host:port:database:user:password`.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{kind::Kind, placeholder::is_placeholder};

/// A line of `.pgpass`; the port must be a default of PostgreSQL or one of its poolers, so that
/// other lists in columns do not match.
static LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?m)^[ \t+-]{0,8}[A-Za-z0-9_.*/@-]{1,255}:(?:543[0-9]|6432|\*)",
        r":[^\s:]{1,63}:[^\s:]{1,63}:((?:\\[:\\]|[^\s:\\]){2,512})[ \t]*\r?$",
    ))
    .expect("the expression is valid")
});

/// Finds passwords. Linear in the length of the text.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    if ![":543", ":6432:", ":*:"]
        .iter()
        .any(|port| text.contains(port))
    {
        return Vec::new();
    }
    let values = LINE.captures_iter(text).filter_map(|line| line.get(1));
    let values = values.filter(|value| !is_placeholder(value.as_str()));
    values
        .map(|value| (value.range(), Kind::Assigned))
        .collect()
}
