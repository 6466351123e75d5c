//! [`passages`]: a file's text, cut where its author would cut it.
//!
//! What a grammar reads is cut into declarations, Markdown, reStructuredText and AsciiDoc into their
//! sections, and everything else into pieces of some forty lines that end at an empty one. Each line
//! that has words belongs to at least one passage.

use callosum_source::{
    language::Language,
    outline::{Outline, SymbolKind},
    sections::Markup,
};

/// About how many lines a piece has of a text that nothing else divides.
const PIECE_LINES: usize = 40;

/// A part of a text that is found, and shown, as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Its name: a declaration's name, a section's heading; empty if it has none.
    pub name: String,
    /// Its container: a type, the section above.
    pub container: Option<String>,
    /// Its kind.
    pub kind: PassageKind,
    /// Whether it declares something that others may use, as [`Symbol::public`](callosum_source::outline::Symbol::public) says.
    pub public: bool,
    /// Its first line, from 1; of a declaration, that of its documentation.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// The line ranges that no nested passage has: it is found by them.
    pub own: Vec<(u32, u32)>,
}

/// The kind of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassageKind {
    /// A declaration in source code.
    Symbol(SymbolKind),
    /// A section of a document, down to the next heading of its rank.
    Section,
    /// Lines that are only next to each other.
    Lines,
}

impl PassageKind {
    /// Its name in output and in the index.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Symbol(SymbolKind::Function) => "function",
            Self::Symbol(SymbolKind::Method) => "method",
            Self::Symbol(SymbolKind::Type) => "type",
            Self::Symbol(SymbolKind::Interface) => "interface",
            Self::Symbol(SymbolKind::Constant) => "constant",
            Self::Symbol(SymbolKind::Macro) => "macro",
            Self::Symbol(SymbolKind::Module) => "module",
            Self::Section => "section",
            Self::Lines => "lines",
        }
    }
}

/// Cuts a text. `outline` is the result of its language's grammar, if it has one.
pub fn passages(path: &str, text: &str, outline: Option<(Language, &Outline)>) -> Vec<Passage> {
    let lines: Vec<&str> = text.lines().collect();
    let named = match outline {
        Some((language, outline)) => declarations(language, &lines, outline),
        None => {
            Markup::of(path).map_or_else(Vec::new, |markup| sections(markup, text, lines.len()))
        }
    };
    let mut all = with_own_lines(named);
    all.extend(rest(&lines, &all));
    all.sort_by_key(|passage| (passage.first, std::cmp::Reverse(passage.last)));
    all
}

fn declarations(language: Language, lines: &[&str], outline: &Outline) -> Vec<Passage> {
    let symbols = outline.symbols.iter();
    let locals = outline.locals.iter().map(|local| Passage {
        name: local.name.clone(),
        container: None,
        kind: PassageKind::Symbol(local.kind),
        public: false,
        first: documented_from(language, lines, local.line),
        last: local.last_line.min(lines.len().max(1) as u32),
        own: Vec::new(),
    });
    symbols
        .map(|symbol| Passage {
            name: symbol.name.clone(),
            container: symbol.container.clone(),
            kind: PassageKind::Symbol(symbol.kind),
            public: symbol.public && !symbol.test,
            first: documented_from(language, lines, symbol.line),
            last: symbol
                .last_line
                .max(symbol.line)
                .min(lines.len().max(1) as u32),
            own: Vec::new(),
        })
        .chain(locals)
        .collect()
}

/// Returns the first line of the comments and attributes right above a declaration.
fn documented_from(language: Language, lines: &[&str], line: u32) -> u32 {
    let mut first = line as usize;
    while first > 1 {
        let above = lines.get(first - 2).map_or("", |line| line.trim());
        let belongs = match language {
            Language::Python => above.starts_with(['#', '@']),
            _ => {
                above.starts_with("//")
                    || above.starts_with("/*")
                    || above.starts_with('*')
                    || above.starts_with("#[")
                    || above.starts_with('@')
            }
        };
        if !belongs {
            break;
        }
        first -= 1;
    }
    first.max(1) as u32
}

fn sections(markup: Markup, text: &str, lines: usize) -> Vec<Passage> {
    let all = markup.headings(text);
    let after = |index: usize, is_end: &dyn Fn(u8) -> bool| {
        let next = all[index + 1..].iter().find(|next| is_end(next.level));
        next.map_or(lines as u32, |next| next.line - 1)
    };
    let mut sections = Vec::new();
    for (index, heading) in all.iter().enumerate() {
        let above = all[..index].iter().rev();
        let container = above.clone().find(|above| above.level < heading.level);
        sections.push(Passage {
            name: heading.text.clone(),
            container: container.map(|above| above.text.clone()),
            kind: PassageKind::Section,
            public: false,
            first: heading.line,
            last: after(index, &|level| level <= heading.level).max(heading.line),
            own: Vec::new(),
        });
    }
    sections
}

/// Gives each passage the lines that no passage inside of it has.
fn with_own_lines(mut named: Vec<Passage>) -> Vec<Passage> {
    named.sort_by_key(|passage| (passage.first, std::cmp::Reverse(passage.last)));
    for index in 0..named.len() {
        let (first, last) = (named[index].first, named[index].last);
        let mut from = first;
        let mut own = Vec::new();
        let mut covered = first;
        for inner in named[index + 1..]
            .iter()
            .take_while(|inner| inner.first <= last)
        {
            if inner.last > last || inner.first < covered {
                continue;
            }
            if inner.first > from {
                own.push((from, inner.first - 1));
            }
            covered = inner.last + 1;
            from = inner.last + 1;
        }
        if from <= last {
            own.push((from, last));
        }
        named[index].own = own;
    }
    named
}

/// The lines outside of every passage, in pieces.
fn rest(lines: &[&str], named: &[Passage]) -> Vec<Passage> {
    let mut is_free = vec![true; lines.len()];
    for passage in named {
        let last = (passage.last as usize).min(lines.len());
        let first = (passage.first as usize - 1).min(last);
        is_free[first..last].fill(false);
    }
    let mut pieces = Vec::new();
    let mut start: Option<usize> = None;
    for (index, line) in lines.iter().enumerate() {
        let Some(from) = start else {
            if is_free[index] && !line.trim().is_empty() {
                start = Some(index);
            }
            continue;
        };
        let long = index - from >= PIECE_LINES;
        let very_long = index - from >= 2 * PIECE_LINES;
        if !is_free[index] || very_long || (long && line.trim().is_empty()) {
            pieces.push(piece(lines, from, index));
            start = (is_free[index] && !line.trim().is_empty()).then_some(index);
        }
    }
    if let Some(from) = start {
        pieces.push(piece(lines, from, lines.len()));
    }
    pieces
}

fn piece(lines: &[&str], from: usize, end: usize) -> Passage {
    let blank = lines[from..end]
        .iter()
        .rev()
        .take_while(|line| line.trim().is_empty());
    let (first, last) = (from as u32 + 1, (end - blank.count()) as u32);
    Passage {
        name: String::new(),
        container: None,
        kind: PassageKind::Lines,
        public: false,
        first,
        last,
        own: vec![(first, last)],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use callosum_source::outline::outline;

    fn cut(path: &str, text: &str) -> Vec<Passage> {
        let language = Language::of(std::path::Path::new(path));
        let read = language.map(|language| (language, outline(language, path, text)));
        let read = read
            .as_ref()
            .map(|(language, outline)| (*language, outline));
        passages(path, text, read)
    }

    #[test]
    fn code_is_cut_into_declarations_with_their_documentation() {
        let text = "//! About.\n\nuse a::b;\n\n/// A disk.\n#[derive(Debug)]\npub struct Disk {\n    a: u8,\n}\n\nimpl Disk {\n    /// Opens.\n    pub fn open(&self) {\n        todo()\n    }\n}\n";
        let found = cut("src/disk.rs", text);
        let of = |name: &str| {
            let named = found.iter().find(|passage| passage.name == name);
            named.map(|passage| (passage.first, passage.last))
        };
        assert_eq!(of("Disk"), Some((5, 9)), "{found:?}");
        assert_eq!(of("open"), Some((12, 15)), "{found:?}");
        assert_eq!(found[0].first, 1, "{found:?}");
    }

    #[test]
    fn types_inside_of_functions_are_passages() {
        for (path, text) in [
            (
                "a.rs",
                "fn read() {\n    struct Inner;\n    impl Inner {}\n}\n",
            ),
            (
                "a.go",
                "package a\nfunc read() {\n\ttype Inner struct {}\n}\n",
            ),
            (
                "A.java",
                "class A {\n  void read() {\n    class Inner {}\n  }\n}\n",
            ),
            ("a.py", "def read():\n    class Inner:\n        pass\n"),
            ("a.ts", "function read() {\n  class Inner {}\n}\n"),
        ] {
            let found = cut(path, text);
            let inner = found.iter().find(|passage| passage.name == "Inner");
            let kind = inner.map(|inner| inner.kind);
            assert_eq!(
                kind,
                Some(PassageKind::Symbol(SymbolKind::Type)),
                "{path}: {found:?}"
            );
        }
    }

    #[test]
    fn a_section_holds_those_below_it_and_is_found_by_its_own_lines() {
        let found = cut("a.md", "# One\na\n## Two\nb\n# Three\nc\n");
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.first, it.last, it.own.as_slice()))
            .collect();
        assert_eq!(
            found,
            [
                ("One", 1, 4, &[(1, 2)][..]),
                ("Two", 3, 4, &[(3, 4)]),
                ("Three", 5, 6, &[(5, 6)]),
            ]
        );
    }

    /// LOA-JIT-2: sections come back whole, in whichever notation a document is written.
    #[test]
    fn sections_of_other_notations_are_whole_too() {
        let long = "a line\n".repeat(50);
        for (path, text) in [
            (
                "a.rst",
                format!("===\nOne\n===\n\n{long}\nTwo\n---\n\n{long}\nFour\n----\n"),
            ),
            (
                "a.adoc",
                format!("= One\n\nintro\n\n\n{long}\n== Two\n\n\n{long}\n== Four\n"),
            ),
        ] {
            let found = cut(path, &text);
            let found: Vec<_> = found
                .iter()
                .map(|it| (it.name.as_str(), it.container.as_deref(), it.first, it.last))
                .collect();
            let last = text.lines().count() as u32;
            let four = text.lines().position(|line| line.ends_with("Four"));
            let four = four.map_or(0, |index| index as u32 + 1);
            assert_eq!(
                found,
                [
                    ("One", None, 1, last),
                    (
                        "Two",
                        Some("One"),
                        56 + u32::from(path == "a.adoc"),
                        four - 1
                    ),
                    ("Four", Some("One"), four, last),
                ],
                "{path}"
            );
        }
    }

    #[test]
    fn other_text_is_cut_at_empty_lines() {
        let text = format!("{}\n{}", "x\n".repeat(45), "y\n".repeat(5));
        let found = cut("notes.txt", &text);
        let found: Vec<_> = found.iter().map(|it| (it.first, it.last)).collect();
        assert_eq!(found, [(1, 45), (47, 51)]);
    }

    proptest! {
        /// Every line with a word is some passage's own, and no passage leaves the text.
        #[test]
        fn no_line_is_lost(
            lines in proptest::collection::vec("(#{1,2} [a-c]{1,3}|={1,5}|-{2,5}|= [a-c]|[a-z ]{0,9}|fn [a-c]\\(\\) \\{|\\}|// x)", 0..120),
            name in prop_oneof![Just("a.md"), Just("a.rs"), Just("a.txt"), Just("a.py"), Just("a.rst"), Just("a.adoc")],
        ) {
            let text = lines.join("\n");
            let found = cut(name, &text);
            let mut own = vec![false; text.lines().count()];
            for it in &found {
                prop_assert!(it.first >= 1 && it.first <= it.last && it.last as usize <= own.len());
                for (from, to) in &it.own {
                    prop_assert!(it.first <= *from && from <= to && *to <= it.last);
                    own[*from as usize - 1..*to as usize].fill(true);
                }
            }
            for (line, is_own) in text.lines().zip(&own) {
                prop_assert!(*is_own || line.trim().is_empty(), "{line:?} in {text:?}: {found:?}");
            }
        }
    }
}
