//! Words of the private dialect that this project was written in: their number may only fall.
//!
//! [`LIMITS`] has the number of each part of the tree. A change that rewrites text lowers it in the same commit. What users read
//! comes first: the help has none left. [`OPENERS`] holds doc comments to a subject as their first word.

use crate::{none_of, tree::Tree};

/// Words that plain American English does without (or says otherwise).
const DIALECT: [&str; 22] = [
    "told",
    "said",
    "stands",
    "anew",
    "nobody",
    "somebody",
    "whoever",
    "whatever",
    "of which",
    "in vain",
    "made good",
    "hand over",
    "hand out",
    "hand back",
    "hands over",
    "hands out",
    "hands back",
    "handed over",
    "handed out",
    "handed back",
    "lets be",
    "is let",
];

/// By how many words a part may be below its limit before the limit has to follow.
const SLACK: usize = 150;

/// The parts of the tree: a name, how paths begin, a folder that they pass, and most of these words that they may have.
const LIMITS: [(&str, &str, &str, usize); 5] = [
    ("the help", "docs/reference/", "", 0),
    ("README", "README.md", "", 0),
    ("the documentation", "docs/", "", 146),
    ("the sources of all crates", "crates/", "/src/", 240),
    ("all Rust files", "crates/", "", 2_700),
];

/// Words that no doc comment opens with, and most that do so all the same.
const OPENERS: ([&str; 7], usize) = (["What", "How", "Where", "Why", "Who", "Which", "Whose"], 25);

/// Returns how many dialect words a text has. Options and names such as `--begin-anew` are no words.
fn dialect_words(text: &str) -> usize {
    let text = text.to_lowercase();
    DIALECT
        .iter()
        .map(|word| {
            text.match_indices(word)
                .filter(|(at, _)| {
                    let is_part = |letter: Option<char>| {
                        letter.is_some_and(|it| it.is_alphanumeric() || "_-".contains(it))
                    };
                    !is_part(text[..*at].chars().next_back())
                        && !is_part(text[at + word.len()..].chars().next())
                })
                .count()
        })
        .sum()
}

#[test]
fn no_part_of_the_tree_gains_dialect_words() {
    let tree = Tree::read();
    let mut findings = Vec::new();
    for (name, folder, part, limit) in LIMITS {
        let ends: &[&str] = if folder == "crates/" {
            &["rs"]
        } else {
            &["md", "yml"]
        };
        let files = ends.iter().flat_map(|end| tree.with_extension(end));
        let files: Vec<&str> = files
            .filter(|path| path.starts_with(folder) && path.contains(part))
            .collect();
        let count: usize = files
            .iter()
            .map(|path| dialect_words(&tree.text(path)))
            .sum();
        if count > limit {
            let most = files
                .iter()
                .map(|path| (dialect_words(&tree.text(path)), path));
            let (most, path) = most.max().unwrap();
            findings.push(format!(
                "{name} has {count} dialect words, allowed are {limit}; most are in {path} ({most})"
            ));
        } else if count + SLACK < limit {
            findings.push(format!(
                "{name} has {count} dialect words: lower its limit of {limit} in this test"
            ));
        }
    }
    none_of(&findings);
}

/// Returns the first lines of the doc comments in a source file, without their markers.
fn first_doc_lines(source: &str) -> Vec<&str> {
    let doc = |line: &str| line.starts_with("///") || line.starts_with("//!");
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let first = lines.iter().enumerate().filter(|(at, line)| {
        let before = at.checked_sub(1).map(|before| lines[before]);
        doc(line) && before.is_none_or(|before| !before.starts_with(&line[..3]))
    });
    first.map(|(_, line)| line[3..].trim_start()).collect()
}

#[test]
fn doc_comments_open_with_their_subject() {
    let tree = Tree::read();
    let (words, limit) = OPENERS;
    let sources = tree
        .with_extension("rs")
        .filter(|path| path.starts_with("crates/") && path.contains("/src/"));
    let mut findings = Vec::new();
    for path in sources {
        let source = tree.text(path);
        let lines = first_doc_lines(&source);
        let opens = |line: &&&str| {
            let word = line.split(|letter: char| !letter.is_alphanumeric()).next();
            word.is_some_and(|word| words.contains(&word))
        };
        findings.extend(
            lines
                .iter()
                .filter(opens)
                .map(|line| format!("{path}: {line}")),
        );
    }
    if findings.len() > limit {
        none_of(&findings);
    }
}

/// Returns the text of a page without names in backticks.
fn without_names(page: &str) -> String {
    page.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Pages and schemas for users have none. Those of design and requirements, which quote the specifications, are counted above.
#[test]
fn no_page_for_users_has_dialect_words() {
    let tree = Tree::read();
    let for_users = |path: &&str| {
        path.starts_with("docs/")
            && !path.starts_with("docs/design/")
            && *path != "docs/requirements.md"
    };
    let pages = tree.with_extension("md").chain(tree.with_extension("json"));
    let findings: Vec<String> = pages
        .filter(for_users)
        .filter(|path| dialect_words(&without_names(&tree.text(path))) > 0)
        .map(|path| format!("{path}: has dialect words"))
        .collect();
    none_of(&findings);
}

/// Fragments of sentences that users could not read, from help, errors and docs. Each was rewritten.
const REWRITTEN: [&str; 28] = [
    "Draw no progress line",
    "Tell more of what is done",
    "Hand back at most so many tokens",
    "Have it answered anew",
    "Sign how the audit journal stands",
    "Set earlier checkpoints aside",
    "Shake hands with executors again",
    "Which; all of them where none is named",
    "How much confinement it needs to be run at all",
    "What waits for a journal that could not be written",
    "Only those that came out so",
    "Ask the guard what it says to a command",
    "Take FILE though nothing says",
    "Tell the other agents on this machine",
    "Hear what is told",
    "Also where it was left for another agent",
    "Say that you work on a file",
    "Keep decisions where they outlive a context",
    "A passage counts that has three quarters",
    "Make good what is missing",
    "A call of which nobody knows whether it was made",
    "Allow what this repository brings along",
    "wrote NOTES.md anew while it was written",
    "may have been made before the run broke off",
    "more events that change the board wait than may",
    "is of another form, and is passed over",
    "nothing vouches for what is shown",
    "at once, where it is to a session",
];

#[test]
fn no_sentence_that_was_rewritten_comes_back() {
    let tree = Tree::read();
    let mut findings = Vec::new();
    for path in tree.with_extension("md").chain(tree.with_extension("rs")) {
        if path.starts_with("xtask/tests/house/") {
            continue;
        }
        let text = tree.text(path).to_lowercase();
        for sentence in REWRITTEN {
            if text.contains(&sentence.to_lowercase()) {
                findings.push(format!("{path}: {sentence:?} is back"));
            }
        }
    }
    none_of(&findings);
}

/// How many string literals of the libraries and the program have such a word: names in formats, other programs' words, and data.
const LITERALS: usize = 20;

/// Returns the string literals of a source file in front of its tests, without the names in braces that they print.
fn literals(source: &str) -> Vec<String> {
    let source = source
        .split("#[cfg(test)]\nmod ")
        .next()
        .unwrap_or_default();
    let mut found = Vec::new();
    let mut letters = source.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        match letter {
            '/' if letters.peek() == Some(&'/') => {
                letters.by_ref().find(|letter| *letter == '\n');
            }
            // A character, not a lifetime: `'"'` would begin a string otherwise.
            '\'' if letters.peek() == Some(&'"') => {
                letters.next();
            }
            'r' if (!before.is_alphanumeric() || before == 'b') && letters.peek() == Some(&'#') => {
                let mut end = String::from("\"");
                while letters.next_if_eq(&'#').is_some() {
                    end.push('#');
                }
                // `r#type` is a name.
                if letters.next_if_eq(&'"').is_none() {
                    continue;
                }
                let mut literal = String::new();
                while !literal.ends_with(&end) {
                    let Some(letter) = letters.next() else { break };
                    literal.push(letter);
                }
                found.push(literal);
            }
            '"' if before != '\\' => {
                let mut literal = String::new();
                let mut depth = 0;
                while let Some(letter) = letters.next() {
                    match letter {
                        '\\' => {
                            letters.next();
                        }
                        '"' => break,
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        letter if depth <= 0 => literal.push(letter),
                        _ => {}
                    }
                }
                found.push(literal);
            }
            _ => {}
        }
        before = letter;
    }
    found
}

/// What the program prints has none of these words.
#[test]
fn no_text_that_is_printed_has_dialect_words() {
    let tree = Tree::read();
    let sources = tree.with_extension("rs").filter(|path| {
        path.contains("/src/")
            && !path.contains("/tests")
            && !path.starts_with("crates/callosum-testkit/")
            && !path.starts_with("xtask/")
    });
    let mut findings: Vec<String> = sources
        .flat_map(|path| {
            let literals = literals(&tree.text(path)).into_iter();
            let literals = literals.filter(|literal| dialect_words(literal) > 0);
            literals.map(move |literal| format!("{path}: {literal}"))
        })
        .collect();
    findings.sort_unstable();
    assert!(
        findings.len() <= LITERALS,
        "{} of {LITERALS}: {findings:#?}",
        findings.len()
    );
}

#[test]
fn literals_are_read_without_comments_and_names_in_braces() {
    let source =
        "// \"a\"\nlet b = '\"'; let c = \"x {said} \\\" y\"; #[cfg(test)]\nmod tests { \"z\" }";
    assert_eq!(literals(source), ["x   y"]);
}

#[test]
fn parts_of_words_and_options_are_no_dialect() {
    assert_eq!(dialect_words("It is told anew; nobody said so."), 4);
    assert_eq!(dialect_words("--begin-anew, understands, foretold_it"), 0);
}
