//! Names of capabilities in one normal form, and lists of those that are allowed.
//!
//! `:nlp.sentiment`, `:nlp/sentiment`, `:nlp:sentiment` and `"nlp.sentiment"` are one capability: a
//! list must not be evaded by another spelling.

use std::{fmt, sync::Arc};

use thiserror::Error;

/// The name of one capability: segments of letters, digits, `_` and `-`.
///
/// Shown without a colon, its segments joined by points.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapabilityName(Arc<str>);

/// Reason that a text names no capability.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{name}` is not a capability name: {reason}")]
pub struct CapabilityNameError {
    /// The text.
    pub name: String,
    /// The fault.
    pub reason: &'static str,
}

/// One entry of an allowlist: a name, or a beginning and `*` for all below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CapabilityPattern {
    segments: Vec<String>,
    open: bool,
}

/// Capabilities that a program may call; empty, it allows none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowlist {
    patterns: Vec<CapabilityPattern>,
}

impl CapabilityName {
    /// The built-in capability that delegates a task. No executor may be named `delegate`: its own
    /// capability, `agent.NAME`, would have this name.
    pub const DELEGATE: &str = "agent.delegate";

    /// Parses a name in any of its spellings, with or without its colon.
    pub fn parse(text: &str) -> Result<Self, CapabilityNameError> {
        let segments = segments(text)?;
        Ok(Self(segments.join(".").into()))
    }

    /// Returns the normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CapabilityName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl CapabilityPattern {
    /// Parses an entry: a name, or one whose last segment is `*`; `*` alone allows all.
    pub fn parse(text: &str) -> Result<Self, CapabilityNameError> {
        let bare = text.strip_prefix(':').unwrap_or(text);
        if bare == "*" {
            return Ok(Self {
                segments: Vec::new(),
                open: true,
            });
        }
        let name = bare
            .strip_suffix('*')
            .and_then(|rest| rest.strip_suffix(['.', '/', ':']));
        Ok(Self {
            segments: segments(name.unwrap_or(bare))
                .map_err(|error| CapabilityNameError {
                    name: text.to_owned(),
                    ..error
                })?
                .into_iter()
                .map(str::to_owned)
                .collect(),
            open: name.is_some(),
        })
    }

    /// Returns whether the entry allows this capability. `a.*` allows `a.b` and `a.b.c`, not `a`.
    pub fn allows(&self, name: &CapabilityName) -> bool {
        let mut segments = name.as_str().split('.');
        let begins = self.segments.iter().all(|own| segments.next() == Some(own));
        begins && segments.next().is_some() == self.open
    }

    /// Returns whether everything that `other` allows is allowed by this one.
    pub fn covers(&self, other: &Self) -> bool {
        if !self.open {
            return self == other;
        }
        let deeper = if other.open {
            other.segments.len() >= self.segments.len()
        } else {
            other.segments.len() > self.segments.len()
        };
        deeper && other.segments.starts_with(&self.segments)
    }
}

impl fmt::Display for CapabilityPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.segments.join(".");
        match (self.open, name.is_empty()) {
            (true, true) => formatter.write_str(":*"),
            (true, false) => write!(formatter, ":{name}.*"),
            (false, _) => write!(formatter, ":{name}"),
        }
    }
}

impl Allowlist {
    /// Makes a list of entries.
    pub fn new(patterns: Vec<CapabilityPattern>) -> Self {
        Self { patterns }
    }

    /// Parses a list of entries.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<Self, CapabilityNameError> {
        let patterns: Result<_, _> = entries
            .iter()
            .map(|entry| CapabilityPattern::parse(entry.as_ref()))
            .collect();
        Ok(Self {
            patterns: patterns?,
        })
    }

    /// Returns whether one of the entries allows this capability.
    pub fn allows(&self, name: &CapabilityName) -> bool {
        self.patterns.iter().any(|pattern| pattern.allows(name))
    }

    /// Returns whether one of the entries allows all that `pattern` does.
    pub fn covers(&self, pattern: &CapabilityPattern) -> bool {
        self.patterns.iter().any(|own| own.covers(pattern))
    }

    /// Returns the entries.
    pub fn patterns(&self) -> &[CapabilityPattern] {
        &self.patterns
    }
}

impl fmt::Display for Allowlist {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.patterns.is_empty() {
            return formatter.write_str("none");
        }
        for (index, pattern) in self.patterns.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            write!(formatter, "{gap}{pattern}")?;
        }
        Ok(())
    }
}

fn segments(text: &str) -> Result<Vec<&str>, CapabilityNameError> {
    let refuse = |reason| CapabilityNameError {
        name: text.to_owned(),
        reason,
    };
    let bare = text.strip_prefix(':').unwrap_or(text);
    if bare.is_empty() {
        return Err(refuse("it is empty"));
    }
    if bare.len() > 200 {
        return Err(refuse("it is longer than 200 bytes"));
    }
    let segments: Vec<&str> = bare.split(['.', '/', ':']).collect();
    if segments.iter().any(|segment| segment.is_empty()) {
        return Err(refuse("it has an empty segment"));
    }
    if segments.contains(&"*") {
        return Err(refuse(
            "`*` may be used only in lists of allowed capabilities, as the last segment",
        ));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !segments.iter().all(|segment| segment.chars().all(plain)) {
        return Err(refuse(
            "its segments may contain only ASCII letters, digits, `_` and `-`",
        ));
    }
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> CapabilityName {
        CapabilityName::parse(text).unwrap()
    }

    #[test]
    fn every_spelling_of_a_name_is_one_name() {
        for spelling in [
            ":nlp.sentiment",
            ":nlp/sentiment",
            "nlp.sentiment",
            ":nlp:sentiment",
        ] {
            assert_eq!(name(spelling).as_str(), "nlp.sentiment");
        }
    }

    #[test]
    fn what_looks_like_a_separator_is_none() {
        for text in [
            "",
            ":",
            "a..b",
            "a//b",
            ".a",
            "a.",
            "a b",
            "a\\b",
            "a\u{2215}b",
            "a*",
            "a.*",
            "*",
            "nlp\u{2024}x",
            "a\0b",
            "a\n",
        ] {
            assert!(CapabilityName::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_star_matches_one_segment_or_more() {
        let list = Allowlist::parse(&[":storage/*", ":nlp.sentiment"]).unwrap();
        for allowed in [":storage.read", "storage/a/b", ":nlp/sentiment"] {
            assert!(list.allows(&name(allowed)), "{allowed}");
        }
        for refused in [
            ":storage",
            ":storages.read",
            ":nlp",
            ":nlp.sentiment.x",
            ":Storage.read",
        ] {
            assert!(!list.allows(&name(refused)), "{refused}");
        }
        assert!(!Allowlist::default().allows(&name("a")));
        assert!(CapabilityPattern::parse("a*").is_err());
        assert!(CapabilityPattern::parse("a.*.b").is_err());
    }

    #[test]
    fn a_list_covers_what_is_narrower_and_nothing_wider() {
        let list = Allowlist::parse(&[":storage/*", ":nlp.sentiment"]).unwrap();
        let covers = |text: &str| list.covers(&CapabilityPattern::parse(text).unwrap());
        for narrower in [
            ":storage.*",
            ":storage.read",
            ":storage/a/*",
            "nlp/sentiment",
        ] {
            assert!(covers(narrower), "{narrower}");
        }
        for wider in ["*", ":nlp.*", ":storage", ":nlp.sentiment.*"] {
            assert!(!covers(wider), "{wider}");
        }
    }
}
