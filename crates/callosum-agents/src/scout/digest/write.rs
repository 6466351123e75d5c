//! [`digest`]: from a survey to a text of bounded size.

use super::{api, deps, identity, scan, testing};
use crate::scout::{kind::Kind, survey::Survey};

/// How large a digest may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// In bytes.
    pub bytes: usize,
}

impl Limits {
    /// Seed CAL §3.2: a summary holds at most 10 KB.
    pub const SUMMARY: Self = Self { bytes: 10_240 };
}

/// An answer about a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The answer: lines of Markdown.
    pub text: String,
    /// How many statements did not fit.
    pub left_out: usize,
}

/// Writes the answer of one kind.
///
/// Pure: the same survey gives the same bytes, at most `limits` many. No statement is cut; what
/// matters most is said first, and each list says how much of it is left out.
pub fn digest(kind: Kind, survey: &Survey, limits: Limits) -> Digest {
    let mut page = match kind {
        Kind::Scan => scan::page(survey),
        Kind::Deps => deps::page(survey),
        Kind::Tests => testing::page(survey),
        Kind::Api => api::page(survey),
    };
    page.head = identity::head(kind, survey);
    let rendered = page.render(limits.bytes);
    Digest {
        text: rendered.text.trim_end().to_owned(),
        left_out: rendered.left_out,
    }
}
