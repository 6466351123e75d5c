//! [`Label`]: the words in bold that a line begins with, as in `**Decision**: …`, however a person
//! or a formatter spells them.

/// Text before the colon of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label<'t> {
    /// The words, without marks.
    pub(super) name: &'t str,
    /// Start of the text after the colon, in bytes of the line.
    pub(super) rest: usize,
}

impl<'t> Label<'t> {
    /// Reads `**Name**: …`, `**Name:** …`, and both with `__`.
    pub(super) fn of(line: &'t str) -> Option<Self> {
        let words = line.trim_start();
        let mark = ["**", "__"]
            .into_iter()
            .find(|mark| words.starts_with(mark))?;
        let (name, rest) = words[mark.len()..].split_once(mark)?;
        let (name, rest) = match name.trim_end().strip_suffix(':') {
            Some(name) => (name, rest),
            None => (name, rest.trim_start().strip_prefix(':')?),
        };
        Some(Self {
            name: name.trim(),
            rest: line.len() - rest.len(),
        })
    }

    /// The same in an item of a list: after `-`, `*` or `+`.
    pub(super) fn of_item(line: &'t str) -> Option<Self> {
        let item = line.trim_start();
        let words = item.strip_prefix(['-', '*', '+'])?;
        let found = Self::of(words).filter(|_| words.starts_with([' ', '\t']))?;
        Some(Self {
            rest: found.rest + line.len() - words.len(),
            ..found
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_bold_words_is_a_label() {
        for line in [
            "- **Current Bead**: x",
            "* **Current Bead:** x",
            "  +\t__Current Bead__ : x",
            "-   __Current Bead:__ x",
        ] {
            let label = Label::of_item(line).unwrap();
            assert_eq!((label.name, &line[label.rest..]), ("Current Bead", " x"));
        }
        for line in [
            "**Current Bead**: x",
            "-**a**: x",
            "- **a** x",
            "- **a: x",
            "- a: x",
        ] {
            assert_eq!(Label::of_item(line), None, "{line}");
        }
        assert_eq!(Label::of("__Decision__: x").unwrap().name, "Decision");
    }
}
