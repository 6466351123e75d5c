//! [`digest`]: converts a survey to a text of bounded size.

use super::{api, deps, identity, plural::Names, scan, tests_report};
use crate::{kind::Kind, report_layout::Page, survey::Survey};

/// Size limits of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// In bytes.
    pub bytes: usize,
}

impl Limits {
    /// Seed CAL §3.2: a summary holds at most 10 KB.
    pub const SUMMARY: Self = Self { bytes: 10_240 };

    /// Everything, with every name of every list. Such a digest is printed and not stored.
    pub const ALL: Self = Self { bytes: usize::MAX };
}

/// An answer about a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The answer: lines of Markdown.
    pub text: String,
    /// Number of statements that did not fit.
    pub left_out: usize,
}

/// A section that a kind of digest does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown section `{name}` of `{kind}` (known: {})", kind.sections().join(", "))]
pub struct UnknownSection {
    /// The kind of digest.
    pub kind: Kind,
    /// The requested name, at most 40 characters of it.
    pub name: String,
}

/// Writes the answer of one kind.
///
/// Pure: the same survey gives the same bytes, at most `limits` many. No statement is cut; the most
/// important come first, and each list shows how much of it is left out.
pub fn digest(kind: Kind, survey: &Survey, limits: Limits) -> Digest {
    write(kind, survey, limits, |_| true)
}

/// Writes one section of the answer of a kind: one of [`Kind::sections`].
///
/// An empty section gives the head of the answer alone.
pub fn digest_section(
    kind: Kind,
    section: &str,
    survey: &Survey,
    limits: Limits,
) -> Result<Digest, UnknownSection> {
    kind.check_section(section)?;
    Ok(write(kind, survey, limits, |id| id == section))
}

fn write(kind: Kind, survey: &Survey, limits: Limits, wanted: impl Fn(&str) -> bool) -> Digest {
    let names = if limits == Limits::ALL {
        Names::All
    } else {
        Names::Few
    };
    let mut page = page(kind, survey, names);
    page.sections.retain(|section| wanted(section.id));
    let rendered = page.render(limits.bytes);
    Digest {
        text: rendered.text.trim_end().to_owned(),
        left_out: rendered.left_out,
    }
}

fn page(kind: Kind, survey: &Survey, names: Names) -> Page {
    let mut page = match kind {
        Kind::Scan => scan::page(survey, names),
        Kind::Deps => deps::page(survey, names),
        Kind::Tests => tests_report::page(survey),
        Kind::Api => api::page(survey, names),
    };
    page.head = identity::head(kind, survey);
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{survey, tree};

    #[test]
    fn the_sections_of_a_kind_are_those_of_its_page() {
        let folder = tree(&[("a.py", "def f():\n    pass\n")]);
        let survey = survey(folder.path());
        for kind in Kind::ALL {
            let page = page(kind, &survey, Names::Few);
            let ids: Vec<&str> = page.sections.iter().map(|section| section.id).collect();
            assert_eq!(ids, kind.sections(), "{kind}");
        }
    }

    #[test]
    fn one_section_can_be_written_and_an_unknown_one_is_refused() {
        let folder = tree(&[("a.py", "def f():\n    pass\n"), ("b.py", "import a\n")]);
        let survey = survey(folder.path());
        let languages = digest_section(Kind::Scan, "languages", &survey, Limits::SUMMARY).unwrap();
        assert_eq!(
            languages.text.matches("\n## ").count(),
            1,
            "{}",
            languages.text
        );
        assert!(
            languages.text.contains("## Languages"),
            "{}",
            languages.text
        );
        let error = digest_section(Kind::Deps, "languages", &survey, Limits::SUMMARY).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown section `languages` of `deps` (known: parts, cycles, packages, dev-packages, unseen, \
             undeclared, local-packages)"
        );
    }
}
