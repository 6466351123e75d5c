//! [`Evidence`]: one cited place, as it is written and read.

use serde::{Deserialize, Serialize};

/// Prefix of every path (Seed LOA §4.4); a path without it is not accepted.
pub const ROOT_PREFIX: &str = "${PROJECT_ROOT}/";

/// One cited place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Evidence {
    /// The file, from the root, without [`ROOT_PREFIX`].
    pub path: String,
    /// The first line cited, counted from 1.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// The words quoted.
    pub quote: Option<String>,
}

impl Evidence {
    /// Returns the identifier of the place: `${PROJECT_ROOT}/path:12-15`.
    pub fn identifier(&self) -> String {
        let Self {
            path, first, last, ..
        } = self;
        if first == last {
            format!("{ROOT_PREFIX}{path}:{first}")
        } else {
            format!("{ROOT_PREFIX}{path}:{first}-{last}")
        }
    }

    /// Returns the citation as it is written: `` `quote` [${PROJECT_ROOT}/path:12] ``. `None` if
    /// the grammar cannot express it.
    pub fn written(&self) -> Option<String> {
        let quote = self.quote.as_deref()?;
        let plain = callosum_citation::cite(&self.path, self.first, self.last, quote)?;
        let at = plain.len() + ROOT_PREFIX.len() - self.identifier().len() - 2;
        Some(format!("{}[{}]", &plain[..at], self.identifier()))
    }

    /// Returns every citation of a text that names its place as the seed asks (Seed LOA §4.5), and
    /// how many there are that do not.
    pub fn find(text: &str) -> (Vec<Self>, usize) {
        let mut bad = 0;
        let mut found = Vec::new();
        for cited in callosum_citation::find(text) {
            if text[cited.at.clone()].contains(&format!("[{ROOT_PREFIX}")) {
                found.push(Self {
                    path: cited.path,
                    first: cited.first_line,
                    last: cited.last_line,
                    quote: cited.quote,
                });
            } else {
                bad += 1;
            }
        }
        (found, bad)
    }

    /// Parses an identifier: `${PROJECT_ROOT}/path:12` or `:12-15`; with `relative`, also without
    /// the prefix. `None` if it is not one.
    pub fn parse(identifier: &str, relative: Relative) -> Option<Self> {
        let path = match (identifier.strip_prefix(ROOT_PREFIX), relative) {
            (Some(path), _) => path,
            (None, Relative::Accepted) => identifier,
            (None, Relative::Refused) => return None,
        };
        let (path, lines) = path.rsplit_once(':')?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| digits.parse().unwrap_or(u32::MAX))
        };
        let (first, last) = (number(first)?, number(last)?);
        let path = match relative {
            Relative::Accepted => straightened(path),
            Relative::Refused => path.to_owned(),
        };
        (!path.is_empty() && first >= 1 && last >= first).then_some(Self {
            path,
            first,
            last,
            quote: None,
        })
    }
}

/// Normalizes a path with redundant parts (`./src/../src/a.rs`), so that one place has one name; a
/// path that leaves the root still does.
fn straightened(path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|before| *before != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether a path without [`ROOT_PREFIX`] will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relative {
    /// A person types it.
    Accepted,
    /// A record has it.
    Refused,
}
