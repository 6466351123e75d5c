//! [`Listing`]: one page of a long list, with the words that filter it.

use std::fmt::Write as _;

use serde::Serialize;

use crate::visit::Visit;

/// Rows of a page.
const ROWS: usize = 100;

/// Rows of one page of a list.
#[derive(Debug, Serialize)]
pub(crate) struct Listing<T> {
    /// The rows of this page.
    pub(crate) rows: Vec<T>,
    /// Rows that pass the filter.
    pub(crate) total: usize,
    /// Rows before the filter.
    pub(crate) of: usize,
    /// Number of this page, from 1.
    pub(crate) page: usize,
    /// Number of pages, at least 1.
    pub(crate) pages: usize,
    /// The words of the filter.
    pub(crate) filter: String,
    /// Address of this list without page and filter, with `?` or `&` at its end.
    #[serde(skip)]
    base: String,
    /// The other query keys, which the filter's form keeps.
    #[serde(skip)]
    pub(crate) kept: Vec<(String, String)>,
}

impl<T> Listing<T> {
    /// Takes the page that the query asks for, of the rows whose text contains every word of `q`.
    ///
    /// A list is filtered here, so a command must print all rows that count. Upper and lower case are the same.
    pub(crate) fn new(visit: &Visit, rows: Vec<T>, text: impl Fn(&T) -> String) -> Self {
        let filter = visit.param("q").unwrap_or_default().to_owned();
        let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
        let of = rows.len();
        let rows: Vec<T> = if words.is_empty() {
            rows
        } else {
            let has_all = |row: &T| {
                let text = text(row).to_lowercase();
                words.iter().all(|word| text.contains(word))
            };
            rows.into_iter().filter(has_all).collect()
        };
        let total = rows.len();
        let pages = total.div_ceil(ROWS).max(1);
        let page = visit
            .param("page")
            .and_then(|page| page.parse().ok())
            .unwrap_or(1);
        let page = usize::clamp(page, 1, pages);
        let rows = rows
            .into_iter()
            .skip((page - 1) * ROWS)
            .take(ROWS)
            .collect();
        let kept = visit
            .query
            .iter()
            .filter(|(key, _)| !["q", "page", "notice"].contains(&key.as_str()));
        let kept: Vec<_> = kept.cloned().collect();
        let mut base = format!("{}?", visit.href(visit.view));
        for (key, value) in &kept {
            let _ = write!(base, "{}={}&", escaped(key), escaped(value));
        }
        Self {
            rows,
            total,
            of,
            page,
            pages,
            filter,
            base,
            kept,
        }
    }

    /// Returns the address of another page of the same list.
    pub(crate) fn href(&self, page: usize) -> String {
        let filter = if self.filter.is_empty() {
            String::new()
        } else {
            format!("q={}&", escaped(&self.filter))
        };
        format!("{}{filter}page={page}", self.base)
    }
}

/// Returns the id of an element: a prefix and a text, whose other characters than letters and digits become `-`.
pub(crate) fn element_id(prefix: &str, text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let text: String = text.chars().take(80).map(plain).collect();
    format!("{prefix}-{text}")
}

/// Escapes a text for a query.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}
