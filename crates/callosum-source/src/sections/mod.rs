//! Sections of documents: their headings, with their lines.

mod asciidoc;
mod markdown;
mod restructured;

/// A notation for documents whose headings are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    /// Markdown.
    Markdown,
    /// reStructuredText.
    Restructured,
    /// AsciiDoc.
    AsciiDoc,
}

/// The endings of files of each notation, in lower case.
const ENDINGS: [(&str, Markup); 8] = [
    ("md", Markup::Markdown),
    ("markdown", Markup::Markdown),
    ("mdx", Markup::Markdown),
    ("rst", Markup::Restructured),
    ("rest", Markup::Restructured),
    ("adoc", Markup::AsciiDoc),
    ("asciidoc", Markup::AsciiDoc),
    ("asc", Markup::AsciiDoc),
];

impl Markup {
    /// Returns the notation of a file with this name; `None` if it is of none that is read.
    pub fn of(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit_once('.')?;
        let mut known = ENDINGS.into_iter();
        let known = known.find(|(known, _)| ending.eq_ignore_ascii_case(known));
        known.map(|(_, markup)| markup)
    }

    /// The headings of a text, in order.
    pub fn headings(self, text: &str) -> Vec<Heading> {
        match self {
            Self::Markdown => markdown::headings(text),
            Self::Restructured => restructured::headings(text),
            Self::AsciiDoc => asciidoc::headings(text),
        }
    }
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 for the title, and more the further down.
    pub level: u8,
    /// Its words, without the marks around them.
    pub text: String,
    /// Its first line, from 1.
    pub line: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notation_is_recognized_by_the_file_extension() {
        assert_eq!(Markup::of("docs/A.MD"), Some(Markup::Markdown));
        assert_eq!(Markup::of("CHANGES.rst"), Some(Markup::Restructured));
        assert_eq!(Markup::of("guide.adoc"), Some(Markup::AsciiDoc));
        assert_eq!(Markup::of("notes.txt"), None);
        assert_eq!(Markup::of("README"), None);
    }
}
