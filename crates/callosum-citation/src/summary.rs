//! [`Review`]: the result of checking citations, as the reader of the text sees it.

use std::{collections::HashSet, fmt, path::Path};

use callosum_host::{Disk, disk::EntryKind};

use super::{
    dependencies::Dependencies,
    grammar::{Citation, find, quote_behind},
    mention::mentions,
    path_suffix::PathSuffixes,
    verify::{CitationStatus, Tally, Why, verify},
};

/// Status of the citations of a text, with those that do not hold one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// Counts per status.
    pub tally: Tally,
    /// Citations whose quote is elsewhere, with the line where it begins.
    pub moved: Vec<(String, u32)>,
    /// Those that nothing confirms, and why.
    pub missing: Vec<(String, Why)>,
}

impl Review {
    /// Puts citations and their standings, in the same order, together.
    pub fn of(citations: &[Citation], standings: &[CitationStatus]) -> Self {
        let mut review = Self {
            tally: Tally::of(standings),
            ..Self::default()
        };
        for (citation, standing) in citations.iter().zip(standings) {
            match standing {
                CitationStatus::Verified => {}
                CitationStatus::Moved { line } => review.moved.push((citation.place(), *line)),
                CitationStatus::Missing(why) => review.missing.push((citation.place(), *why)),
            }
        }
        review
    }

    /// The same for a whole text: its citations, those in another form, and places without a quote
    /// that do not exist. A place that exists and has no quote makes no claim about its content.
    pub fn of_text(disk: &Disk, root: &Path, text: &str) -> Self {
        let mut cited = find(text);
        let mut standings = verify(disk, root, &cited);
        let mut mentioned = mentions(text, &cited);
        let mut tails = PathSuffixes::of(disk, root);
        mentioned.retain(|mention| {
            let is_of_the_tree = |mention| begins_in(disk, root, mention);
            mention.quote.is_some()
                || is_of_the_tree(mention)
                || (stays_below(mention) && !tails.may_mean(&mention.path))
        });
        let mut of_mentions = verify(disk, root, &mentioned);
        let taken: HashSet<usize> = cited
            .iter()
            .chain(&mentioned)
            .map(|one| one.at.start)
            .collect();
        lend(disk, root, text, &taken, &mut cited, &mut standings);
        lend(disk, root, text, &taken, &mut mentioned, &mut of_mentions);
        let mut dependencies = Dependencies::of(disk, root);
        let all = cited.iter().zip(&mut standings);
        for (citation, standing) in all.chain(mentioned.iter().zip(&mut of_mentions)) {
            if *standing == CitationStatus::Missing(Why::NoSuchFile)
                && dependencies.hold(&citation.path, &mut tails)
            {
                *standing = CitationStatus::Missing(Why::OfADependency);
            }
        }
        let mut seen = HashSet::new();
        for (mention, standing) in mentioned.into_iter().zip(of_mentions) {
            let is_invented = matches!(
                standing,
                CitationStatus::Missing(Why::NoSuchFile | Why::NoSuchLine)
            );
            if mention.quote.is_some() || (is_invented && seen.insert(mention.place())) {
                cited.push(mention);
                standings.push(standing);
            }
        }
        Self::of(&cited, &standings)
    }

    /// Returns the number of unconfirmed ones with such a reason.
    fn missing_since(&self, is_it: impl Fn(Why) -> bool) -> u64 {
        let those = self.missing.iter().filter(|(_, why)| is_it(*why));
        those.count() as u64
    }

    /// Returns those that do not hold, in words, at most `most` of each kind.
    pub fn complaints(&self, most: usize) -> Vec<String> {
        let moved = self.moved.iter().take(most);
        let missing = self.missing.iter().take(most);
        missing
            .map(|(place, why)| format!("{place} ({why})"))
            .chain(moved.map(|(place, line)| format!("{place} (found at line {line})")))
            .collect()
    }
}

/// Gives places without a quote the one that follows them, if it is also in their lines. `taken`
/// holds the starts of quotes that belong to citations: a quote of the next place does not belong
/// to the one before.
fn lend(
    disk: &Disk,
    root: &Path,
    text: &str,
    taken: &HashSet<usize>,
    cited: &mut [Citation],
    standings: &mut [CitationStatus],
) {
    let lent = |(index, citation): (usize, &Citation)| {
        if standings[index] != CitationStatus::Missing(Why::NoQuote) || citation.quote.is_some() {
            return None;
        }
        let (from, words) = quote_behind(text, citation.at.end)?;
        (!taken.contains(&from)).then(|| {
            let quote = Some(words.to_owned());
            (
                index,
                Citation {
                    quote,
                    ..citation.clone()
                },
            )
        })
    };
    let (indices, lent): (Vec<usize>, Vec<Citation>) =
        cited.iter().enumerate().filter_map(lent).unzip();
    let of_lent = verify(disk, root, &lent);
    for ((index, citation), standing) in indices.into_iter().zip(lent).zip(of_lent) {
        if standing == CitationStatus::Verified {
            cited[index] = citation;
            standings[index] = standing;
        }
    }
}

/// Whether a place is no more than a path below some folder: not `../x`, `.../x` or `@/x`.
fn stays_below(mention: &Citation) -> bool {
    let first = mention.path.split('/').next().unwrap_or_default();
    first.starts_with(char::is_alphanumeric) || first.starts_with('_')
}

/// Whether the folder that a place begins with is one of the tree's: else it may be short for a place in
/// any of its parts, or of something else altogether.
fn begins_in(disk: &Disk, root: &Path, mention: &Citation) -> bool {
    let path = mention.path.strip_prefix("./").unwrap_or(&mention.path);
    let first = path.split('/').next().unwrap_or_default();
    let stat = disk.stat(&root.join(first));
    !first.starts_with("..")
        && stat.is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == EntryKind::Folder))
}

impl fmt::Display for Review {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally {
            total,
            verified,
            moved,
            missing,
        } = self.tally;
        if total == 0 {
            return f.write_str("no citations");
        }
        let noun = if total == 1 { "citation" } else { "citations" };
        write!(f, "{verified} of {total} {noun} valid")?;
        if moved > 0 {
            write!(f, "; {moved} moved")?;
        }
        let unquoted = self.missing_since(|why| why == Why::NoQuote);
        let unchecked = self.missing_since(Why::is_unchecked);
        for (count, what) in [
            (missing - unquoted - unchecked, "invented"),
            (unquoted, "without a quote"),
            (unchecked, "that cannot be checked"),
        ] {
            if count > 0 {
                write!(f, "; {count} {what}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoQuote => "it quotes nothing that can be compared",
            Self::NoSuchLine => "the file has no such line",
            Self::NoSuchFile => "there is no such file",
            Self::OutsideRoot => "it is outside the root",
            Self::NotReadable => "it is not a readable file",
            Self::NotThere => "the quote is not in the file",
            Self::OfADependency => "it belongs to a dependency whose source is not in the tree",
        })
    }
}

impl Citation {
    /// Returns the place as a person names it, such as `src/main.rs:12` or `src/main.rs:12-15`.
    pub fn place(&self) -> String {
        if self.first_line == self.last_line {
            format!("{}:{}", self.path, self.first_line)
        } else {
            format!("{}:{}-{}", self.path, self.first_line, self.last_line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    /// LOA-GRD-1: the report names the place, and the current place of a moved quote.
    #[test]
    fn a_review_counts_and_names_what_does_not_hold() {
        let cited = find("`abc d` [a.rs:1] `abc d` [a.rs:2-3] `abc d` [x.rs:900]");
        let standings = [
            CitationStatus::Verified,
            CitationStatus::Moved { line: 7 },
            CitationStatus::Missing(Why::NoSuchFile),
        ];
        let review = Review::of(&cited, &standings);
        assert_eq!(
            review.to_string(),
            "1 of 3 citations valid; 1 moved; 1 invented"
        );
        assert_eq!(
            review.complaints(9),
            [
                "x.rs:900 (there is no such file)",
                "a.rs:2-3 (found at line 7)"
            ]
        );
        assert_eq!(review.complaints(0), [""; 0]);
        let unquoted = Review::of(&cited[..1], &[CitationStatus::Missing(Why::NoQuote)]);
        let expected = "0 of 1 citation valid; 1 without a quote";
        assert_eq!(unquoted.to_string(), expected);
        assert_eq!(Review::default().to_string(), "no citations");
    }

    /// LOA-GRD-1: an invented place counts in each form of writing, and one that exists and has no
    /// quote does not.
    #[test]
    fn invented_places_count_in_every_form() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        disk.create_dir_all(&folder.path().join("src")).unwrap();
        let file = folder.path().join("src/a.rs");
        disk.replace(&file, b"fn one() {}\n", 0o644).unwrap();
        let deep = folder.path().join("some/where/in/deep");
        disk.create_dir_all(&deep).unwrap();
        disk.replace(&deep.join("er.rs"), b"", 0o644).unwrap();
        let review = |text: &str| Review::of_text(&disk, folder.path(), text);
        let checked = review(
            "`fn one()` [src/a.rs:1], src/a.rs:1, src/a.rs:900 and (src/gone.rs:12), src/gone.rs:12",
        );
        assert_eq!(checked.to_string(), "1 of 3 citations valid; 2 invented");
        assert_eq!(
            checked.complaints(9),
            [
                "src/a.rs:900 (the file has no such line)",
                "src/gone.rs:12 (there is no such file)",
            ]
        );
        for none in [
            "src/a.rs:1",
            ".../src/a.rs:900, @/src/a.rs:900, a/src/a.rs:900",
            "../other/src/a.rs:900",
            "the_project/src/a.rs:900",
            "deep/er.rs:900 and in/deep/er.rs:1",
            "a/b/c.rs at 12:30, libs.rs:4",
        ] {
            assert_eq!(review(none).tally, Tally::default(), "{none}");
        }
        let elsewhere = review("foo/bar.rs:900, and foo/bar.rs:900 again; lib/a.rs:9");
        assert_eq!(elsewhere.to_string(), "0 of 2 citations valid; 2 invented");
    }

    /// LOA-GRD-1: dependencies cannot be looked up in the tree: a place there counts as
    /// unconfirmed, and is not reported as invented; one without a quote claims nothing.
    #[test]
    fn a_place_in_a_dependency_is_unchecked() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        disk.create_dir_all(&folder.path().join("web")).unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            disk.replace(&file, text.as_bytes(), 0o644).unwrap();
        };
        write("Cargo.toml", "[dependencies]\ntokio = \"1\"\n");
        write(
            "web/package.json",
            "{\"dependencies\": {\"lodash\": \"^4\"}}",
        );
        let review = |text: &str| Review::of_text(&disk, folder.path(), text);
        for place in [
            "tokio/src/runtime/mod.rs:10",
            "tokio-1.38.0/src/runtime/mod.rs:10",
            "lodash/fp.js:3",
            "web/node_modules/lodash/fp.js:3",
            "node_modules/gone/index.js:1",
            "~/.cargo/registry/src/x/tokio-1.38.0/src/lib.rs:5",
            "/usr/include/stdio.h:1",
            "library/core/src/option.rs:7",
        ] {
            assert_eq!(review(place).tally, Tally::default(), "{place}");
            for text in [format!("`fn a()` [{place}]"), format!("[{place}]")] {
                let summary = review(&text).to_string();
                assert_eq!(
                    summary, "0 of 1 citation valid; 1 that cannot be checked",
                    "{text}"
                );
            }
        }
        disk.create_dir_all(&folder.path().join("library/core"))
            .unwrap();
        let of_the_tree = review("`fn nope()` [library/core/gone.php:3]").to_string();
        assert_eq!(of_the_tree, "0 of 1 citation valid; 1 invented");
        disk.create_dir_all(&folder.path().join("node_modules/lodash"))
            .unwrap();
        write("node_modules/lodash/fp.js", "let a = 1;\n");
        let looked_up = review(
            "`let a` [node_modules/lodash/fp.js:1] node_modules/lodash/gone.js:2 tokyo/src/a.rs:4",
        );
        assert_eq!(looked_up.to_string(), "1 of 3 citations valid; 2 invented");
    }

    /// LOA-GRD-1: a quote after its place holds if it is there; otherwise the place has none.
    #[test]
    fn a_quote_behind_its_place_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        disk.create_dir_all(&folder.path().join("src")).unwrap();
        let file = folder.path().join("src/a.rs");
        disk.replace(&file, b"fn one() {}\nfn two() {}\n", 0o644)
            .unwrap();
        let review = |text: &str| Review::of_text(&disk, folder.path(), text).to_string();
        for text in [
            "[src/a.rs:1]: `fn one()`",
            "**[src/a.rs:1]** — `fn one()`",
            "src/a.rs:1 - `fn one()`",
            "- `src/a.rs:1`: `fn one()` begins",
            "([src/a.rs:1]): `fn one()`",
        ] {
            assert_eq!(review(text), "1 of 1 citation valid", "{text}");
        }
        let next = "[src/a.rs:1]: `fn two()` [src/a.rs:2]";
        assert_eq!(review(next), "1 of 2 citations valid; 1 without a quote");
        for text in ["[src/a.rs:1]: `fn three()`", "[src/a.rs:1] `fn one()`"] {
            assert_eq!(
                review(text),
                "0 of 1 citation valid; 1 without a quote",
                "{text}"
            );
        }
        assert_eq!(review("src/a.rs:1: `fn three()`"), "no citations");
    }
}
