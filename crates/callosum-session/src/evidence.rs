//! What a claim leans on: places in the tree, and whether their quotes still stand there.
//!
//! Start with [`Evidence`], one cited place, and [`Tree::stand`], which says how it stands now.
//! Stricter than [`callosum_evidence::citation::verify`], whose grammar and comparison it uses: a quote
//! that stands twice confirms nothing here, because nobody could say which place was meant once the
//! lines have moved.

use std::{cell::RefCell, collections::BTreeMap, fmt, path::Path, rc::Rc};

use callosum_evidence::{
    citation::{self, CitedFile, MOST_LINES, Why, says_enough},
    secrets,
};
use callosum_host::Disk;
use serde::{Deserialize, Serialize};

/// What every path begins with (Seed LOA §4.4); a path without it is not accepted.
pub const ROOT_PREFIX: &str = "${PROJECT_ROOT}/";

/// Least share of words that a line must have in common with a quote to be called its successor,
/// in percent.
const LEAST_ALIKE: usize = 50;

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
    /// The identifier of the place: `${PROJECT_ROOT}/path:12-15`.
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

    /// The citation as it is written: `` `quote` [${PROJECT_ROOT}/path:12] ``. `None` where the
    /// grammar cannot say it.
    pub fn written(&self) -> Option<String> {
        let quote = self.quote.as_deref()?;
        let plain = citation::cite(&self.path, self.first, self.last, quote)?;
        let at = plain.len() + ROOT_PREFIX.len() - self.identifier().len() - 2;
        Some(format!("{}[{}]", &plain[..at], self.identifier()))
    }

    /// Every citation of a text that names its place as the seed asks (Seed LOA §4.5), and how
    /// many there are that do not.
    pub fn find(text: &str) -> (Vec<Self>, usize) {
        let mut bad = 0;
        let mut found = Vec::new();
        for cited in citation::find(text) {
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

    /// Reads an identifier: `${PROJECT_ROOT}/path:12` or `:12-15`; with `relative`, also without
    /// the prefix. `None` where it is none.
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
        (!path.is_empty() && first >= 1 && last >= first).then(|| Self {
            path: path.to_owned(),
            first,
            last,
            quote: None,
        })
    }
}

/// Whether a path without [`ROOT_PREFIX`] will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relative {
    /// A person types it.
    Accepted,
    /// A record has it.
    Refused,
}

/// How a cited place stands against the tree as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The quote stands where it is said to, and nowhere else in the file.
    Verified,
    /// The quote stands once in the file, elsewhere.
    Moved {
        /// The line where it begins.
        line: u32,
    },
    /// The quote stands in the file more than once.
    Ambiguous {
        /// How often.
        places: usize,
    },
    /// The quote stands nowhere in the file.
    Changed {
        /// The line that is most like it, and what stands there now.
        nearest: Option<(u32, String)>,
    },
    /// There is no such file.
    MissingFile,
    /// The path leaves the tree, by itself or through a link.
    OutsideRoot,
    /// There is no quote, too little of one, or no place that can be read.
    BadFormat,
    /// The file is no text, or more than is looked into.
    Binary,
}

impl Standing {
    /// Whether the claim may lean on it.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Verified | Self::Moved { .. })
    }

    /// Its name in records.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Verified => "VERIFIED",
            Self::Moved { .. } => "MOVED",
            Self::Ambiguous { .. } => "AMBIGUOUS",
            Self::Changed { .. } => "CHANGED",
            Self::MissingFile => "MISSING_FILE",
            Self::OutsideRoot => "OUTSIDE_ROOT",
            Self::BadFormat => "BAD_FORMAT",
            Self::Binary => "BINARY",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Moved { line } => write!(f, " to line {line}"),
            Self::Ambiguous { places } => write!(f, ": the quote stands {places} times"),
            Self::Changed {
                nearest: Some((line, now)),
            } => write!(f, ": line {line} is now `{now}`"),
            Self::Changed { nearest: None } => f.write_str(": nothing in the file is like it"),
            _ => Ok(()),
        }
    }
}

/// The tree as evidence is looked up in it; each file is read once.
pub struct Tree<'t> {
    disk: &'t Disk,
    root: &'t Path,
    files: RefCell<BTreeMap<String, Rc<Result<CitedFile, Why>>>>,
}

impl<'t> Tree<'t> {
    /// The tree below `root`.
    pub fn new(disk: &'t Disk, root: &'t Path) -> Self {
        Self {
            disk,
            root,
            files: RefCell::default(),
        }
    }

    fn file(&self, path: &str) -> Rc<Result<CitedFile, Why>> {
        if let Some(file) = self.files.borrow().get(path) {
            return Rc::clone(file);
        }
        let file = Rc::new(CitedFile::open(self.disk, self.root, path));
        let mut files = self.files.borrow_mut();
        files.insert(path.to_owned(), Rc::clone(&file));
        file
    }

    /// How one piece of evidence stands.
    pub fn stand(&self, evidence: &Evidence) -> Standing {
        match &*self.file(&evidence.path) {
            Ok(file) => stand_in(file, evidence),
            Err(Why::OutsideRoot) => Standing::OutsideRoot,
            Err(Why::NotReadable) => Standing::Binary,
            Err(_) => Standing::MissingFile,
        }
    }

    /// The lines of an identifier, exactly as they stand there.
    pub fn lines(&self, evidence: &Evidence) -> Result<String, Standing> {
        match &*self.file(&evidence.path) {
            Ok(file) if file.is_binary() => Err(Standing::Binary),
            Ok(file) => match file.lines(evidence.first, evidence.last) {
                Some(lines) => Ok(lines.to_owned()),
                None => Err(Standing::Changed { nearest: None }),
            },
            Err(Why::OutsideRoot) => Err(Standing::OutsideRoot),
            Err(Why::NotReadable) => Err(Standing::Binary),
            Err(_) => Err(Standing::MissingFile),
        }
    }

    /// The evidence that a place gives: its words, taken from the file so that nobody can invent
    /// them, and as many more lines as it takes for them to stand there once.
    ///
    /// Secrets in the quote are masked, and looked for masked later.
    pub fn quote(&self, place: &Evidence) -> Result<Evidence, QuoteError> {
        let refused = |standing| QuoteError::Standing {
            place: place.identifier(),
            standing,
        };
        let file = self.file(&place.path);
        match &*file {
            Ok(file) if file.is_binary() => return Err(refused(Standing::Binary)),
            Ok(_) => {}
            Err(Why::OutsideRoot) => return Err(refused(Standing::OutsideRoot)),
            Err(Why::NotReadable) => return Err(refused(Standing::Binary)),
            Err(_) => return Err(refused(Standing::MissingFile)),
        }
        let too_long = || QuoteError::NotUnique {
            place: place.identifier(),
        };
        let mut last = place.last;
        loop {
            if last - place.first >= MOST_LINES {
                return Err(too_long());
            }
            let wider = Evidence {
                last,
                ..place.clone()
            };
            let lines = match self.lines(&wider) {
                Ok(lines) => lines,
                Err(_) if last > place.last => return Err(too_long()),
                Err(_) => {
                    return Err(QuoteError::NoSuchLines {
                        place: place.identifier(),
                    });
                }
            };
            let masked = secrets::mask(&lines).text;
            let words: Vec<&str> = masked.split_whitespace().collect();
            let quoted = Evidence {
                quote: Some(words.join(" ")),
                ..wider
            };
            if self.stand(&quoted) == Standing::Verified && quoted.written().is_some() {
                return Ok(quoted);
            }
            last += 1;
        }
    }
}

fn stand_in(file: &CitedFile, evidence: &Evidence) -> Standing {
    if file.is_binary() {
        return Standing::Binary;
    }
    let Some(quote) = evidence.quote.as_deref().filter(|quote| says_enough(quote)) else {
        return Standing::BadFormat;
    };
    let masked;
    let file = if quote.contains("[secret: ") && file.places(quote).next().is_none() {
        // It was masked when it was taken, so it is looked for in what the file is when masked.
        masked = CitedFile::of(secrets::mask(file.text()).text);
        &masked
    } else {
        file
    };
    let mut places = file.places(quote);
    match (places.next(), places.next()) {
        (Some(_), Some(_)) => Standing::Ambiguous {
            places: 2 + places.count(),
        },
        (Some(lines), None) => {
            let is_narrow = evidence.last.saturating_sub(evidence.first) < MOST_LINES;
            if is_narrow && *lines.start() >= evidence.first && *lines.end() <= evidence.last {
                Standing::Verified
            } else {
                Standing::Moved {
                    line: *lines.start(),
                }
            }
        }
        (None, _) => Standing::Changed {
            nearest: nearest(file.text(), quote, evidence.first),
        },
    }
}

/// The line that has most words in common with a quote, the nearest to `cited` among equals.
fn nearest(text: &str, quote: &str, cited: u32) -> Option<(u32, String)> {
    fn words(text: &str) -> Vec<&str> {
        let mut words: Vec<&str> = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .collect();
        words.sort_unstable();
        words.dedup();
        words
    }
    let wanted = words(quote);
    let mut best: Option<(usize, u32, &str)> = None;
    for (line, number) in text.lines().zip(1_u32..) {
        let had = words(line);
        let shared = had
            .iter()
            .filter(|word| wanted.binary_search(word).is_ok())
            .count();
        let alike = shared * 200 / (wanted.len() + had.len()).max(1);
        let is_better = best.is_none_or(|(known, at, _)| {
            alike > known || (alike == known && number.abs_diff(cited) < at.abs_diff(cited))
        });
        if alike >= LEAST_ALIKE && is_better {
            best = Some((alike, number, line));
        }
    }
    best.map(|(_, number, line)| {
        let shown: String = line.trim().chars().take(120).collect();
        (number, secrets::mask(&shown).text)
    })
}

/// Why a place cannot be quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuoteError {
    /// The file cannot be cited.
    #[error("`{place}` cannot be cited: {standing}")]
    Standing {
        /// The place.
        place: String,
        /// What is wrong with it.
        standing: Standing,
    },
    /// The file ends before.
    #[error("`{place}` cannot be cited: the file has no such lines")]
    NoSuchLines {
        /// The place.
        place: String,
    },
    /// What stands there stands elsewhere too, or cannot be quoted.
    #[error("`{place}` cannot be cited: no quote that begins there stands only once in the file")]
    NotUnique {
        /// The place.
        place: String,
    },
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(path: &str, first: u32, last: u32, quote: Option<&str>) -> Evidence {
        Evidence {
            path: path.to_owned(),
            first,
            last,
            quote: quote.map(str::to_owned),
        }
    }

    fn with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join("root").join(name);
            let disk = Disk::real();
            disk.create_dir_all(path.parent().unwrap()).unwrap();
            disk.replace(&path, content.as_bytes(), 0o644).unwrap();
        }
        folder
    }

    fn stand(content: &str, first: u32, quote: &str) -> Standing {
        stand_in(
            &CitedFile::of(content.to_owned()),
            &place("a", first, first, Some(quote)),
        )
    }

    /// LOA-GRD-1: each state that a citation can have.
    #[test]
    fn a_quote_stands_in_one_of_eight_ways() {
        let code = "fn one() {}\nfn two(a: u8) {}\nlet x = 1;\nlet x = 1;\n";
        assert_eq!(stand(code, 1, "fn one() {}"), Standing::Verified);
        assert_eq!(stand(code, 3, "fn one() {}"), Standing::Moved { line: 1 });
        assert_eq!(
            stand(code, 3, "let x = 1;"),
            Standing::Ambiguous { places: 2 }
        );
        assert_eq!(
            stand(code, 1, "fn two(b: u16) {}"),
            Standing::Changed {
                nearest: Some((2, "fn two(a: u8) {}".to_owned()))
            }
        );
        assert_eq!(stand(code, 1, "zzz"), Standing::Changed { nearest: None });
        assert_eq!(stand(code, 1, "}"), Standing::BadFormat);
        assert_eq!(stand("\0", 1, "abc"), Standing::Binary);
        let folder = with(&[("a", "abc\n")]);
        let root = folder.path().join("root");
        let disk = Disk::real();
        let tree = Tree::new(&disk, &root);
        let of = |path| tree.stand(&place(path, 1, 1, Some("abc")));
        assert_eq!(of("a"), Standing::Verified);
        assert_eq!(of("b"), Standing::MissingFile);
        assert_eq!(of("../root/a"), Standing::OutsideRoot);
    }

    /// LOA-JIT-1: a place is named from the root, and a relative path is none.
    #[test]
    fn an_identifier_is_read_strictly() {
        let read = |text| Evidence::parse(text, Relative::Refused);
        assert_eq!(
            read("${PROJECT_ROOT}/src/a b.rs:3-9"),
            Some(place("src/a b.rs", 3, 9, None))
        );
        assert_eq!(read("${PROJECT_ROOT}/a:7"), Some(place("a", 7, 7, None)));
        for text in [
            "a:7",
            "./a:7",
            "${PROJECT_ROOT}/a",
            "${PROJECT_ROOT}/a:0",
            "${PROJECT_ROOT}/a:9-3",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(
            Evidence::parse("a:7", Relative::Accepted),
            Some(place("a", 7, 7, None))
        );
    }

    #[test]
    fn a_quote_is_taken_from_the_file_and_widened_until_it_stands_once() {
        let folder = with(&[("a.rs", "fn a() {\n    go();\n}\nfn b() {\n    go();\n}\n")]);
        let root = folder.path().join("root");
        let disk = Disk::real();
        let tree = Tree::new(&disk, &root);
        let quoted = tree.quote(&place("a.rs", 1, 1, None)).unwrap();
        assert_eq!(
            quoted.written().unwrap(),
            "`fn a() {` [${PROJECT_ROOT}/a.rs:1]"
        );
        let quoted = tree.quote(&place("a.rs", 2, 2, None)).unwrap();
        assert_eq!(quoted, place("a.rs", 2, 4, Some("go(); } fn b() {")));
        assert!(matches!(
            tree.quote(&place("a.rs", 5, 5, None)),
            Err(QuoteError::NotUnique { .. })
        ));
        assert!(matches!(
            tree.quote(&place("a.rs", 7, 7, None)),
            Err(QuoteError::NoSuchLines { .. })
        ));
    }

    /// LOA-SEC-1: a quote has no secret in it, and still holds.
    #[test]
    fn a_quote_with_a_secret_is_masked_and_verified_masked() {
        let line = format!(
            "let token = \"ghp_{}\";\n",
            "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6"
        );
        let folder = with(&[("a.rs", &line)]);
        let root = folder.path().join("root");
        let disk = Disk::real();
        let tree = Tree::new(&disk, &root);
        let quoted = tree.quote(&place("a.rs", 1, 1, None)).unwrap();
        assert_eq!(
            quoted.quote.as_deref(),
            Some("let token = \"[secret: github token]\";")
        );
        assert_eq!(tree.stand(&quoted), Standing::Verified);
    }

    proptest! {
        /// LOA-GRD-1: after an edit, a quote holds only where it stands in its file exactly once.
        #[test]
        fn a_quote_holds_only_where_it_stands_once(
            lines in proptest::collection::vec("(let [a-c] = [0-2];|return [a-c];|)", 1..8),
            edits in proptest::collection::vec((0_usize..8, "(let [a-c] = [0-2];|return [a-c];|)"), 0..4),
            at in 0_usize..8,
        ) {
            let at = at % lines.len();
            let quote = lines[at].clone();
            let mut edited = lines.clone();
            for (index, line) in edits {
                let index = index % edited.len();
                edited[index] = line;
            }
            let count = edited.iter().filter(|line| **line == quote).count();
            let standing = stand(&edited.join("\n"), at as u32 + 1, &quote);
            prop_assert_eq!(standing.holds(), !quote.is_empty() && count == 1);
        }

        #[test]
        fn what_is_written_is_found_again(
            path in "[a-z/.]{1,12}", quote in "[a-z` .;]{3,20}", first in 1_u32..99, more in 0_u32..9,
        ) {
            let evidence = place(&path, first, first + more, Some(&quote));
            if let Some(written) = evidence.written() {
                prop_assert_eq!(Evidence::find(&format!("- {written}")), (vec![evidence], 0));
            }
        }
    }
}
