//! [`render`]: a document of an executor as a terminal shows it, with colors, links and wrapped lines.
//!
//! Only for people: what goes to a pipe is the document itself. Without the escapes of colors and links, and with
//! wrapped lines joined, what is shown is the document again.

use std::{fmt::Write as _, path::Path};

/// The display of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    /// Whether colors are shown.
    pub(super) is_colored: bool,
    /// The folder of the files that citations link to; none if they are no links.
    pub(super) root: Option<&'a Path>,
    /// The width that lines are wrapped to; none if they are not.
    pub(super) columns: Option<usize>,
}

/// The role of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Plain,
    /// `# …`
    Title,
    /// `## …`
    Heading,
    /// Text between backticks, with them.
    Code,
    /// `path:line` or `path:first-last`.
    Place,
}

impl Role {
    /// The escape that begins it.
    fn start(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Title => "\u{1b}[1;4m",
            Self::Heading => "\u{1b}[1m",
            Self::Code => "\u{1b}[32m",
            Self::Place => "\u{1b}[36m",
        }
    }
}

/// The escape that ends every role.
const RESET: &str = "\u{1b}[0m";

/// Returns a document as a terminal shows it.
pub(super) fn render(text: &str, look: Look<'_>) -> String {
    let mut shown = String::with_capacity(text.len() + text.len() / 4);
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let letters: Vec<(char, Role)> = line.chars().zip(roles(line)).collect();
        let hang = hang(line);
        let mut rest = &letters[..];
        let mut room = look.columns.unwrap_or(usize::MAX);
        while rest.len() > room {
            let Some((end, next)) = wrapped(rest, room) else {
                break;
            };
            write_letters(&mut shown, &rest[..end], look);
            shown.push('\n');
            shown.extend(std::iter::repeat_n(' ', hang));
            rest = &rest[next..];
            room = look.columns.unwrap_or(usize::MAX) - hang;
        }
        write_letters(&mut shown, rest, look);
        shown.push_str(end);
    }
    shown
}

/// Returns a place, `path:line` or a path, as a link to its file if places are links.
pub(super) fn linked(place: &str, root: Option<&Path>) -> String {
    let Some(root) = root else {
        return place.to_owned();
    };
    let path = place.rsplit_once(':').map_or(place, |(path, _)| path);
    let mut address = String::from("file://");
    for byte in root.join(path).as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            address.push(char::from(*byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    format!("\u{1b}]8;;{address}\u{1b}\\{place}\u{1b}]8;;\u{1b}\\")
}

/// Writes letters with the escapes of their roles.
fn write_letters(shown: &mut String, letters: &[(char, Role)], look: Look<'_>) {
    for run in letters.chunk_by(|(_, one), (_, other)| one == other) {
        let role = run.first().map_or(Role::Plain, |(_, role)| *role);
        let text: String = run.iter().map(|(letter, _)| letter).collect();
        let text = match role {
            Role::Place => linked(&text, look.root),
            _ => text,
        };
        if look.is_colored && role != Role::Plain {
            let _ = write!(shown, "{}{text}{RESET}", role.start());
        } else {
            shown.push_str(&text);
        }
    }
}

/// Returns the end of the last word that fits, and the beginning of the next one. Returns none if
/// the first word alone does not fit.
fn wrapped(letters: &[(char, Role)], room: usize) -> Option<(usize, usize)> {
    let is_space = |at: usize| letters[at].0 == ' ';
    let words = letters.iter().position(|(letter, _)| *letter != ' ')?;
    let fits = (words + 1..=room).rev().find(|at| is_space(*at))?;
    let end = (0..=fits).rev().find(|at| *at == 0 || !is_space(at - 1))?;
    // A bullet alone on its line says nothing.
    if letters[..end]
        .iter()
        .all(|(letter, _)| " -".contains(*letter))
    {
        return None;
    }
    let next = (fits..letters.len()).find(|at| !is_space(*at))?;
    Some((end, next))
}

/// Returns how far the further lines of a wrapped line are indented: as far as its text.
fn hang(line: &str) -> usize {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let mark = if text.starts_with("- ") { 2 } else { 0 };
    (indent + mark).min(12)
}

/// Returns the role of each character of a line.
fn roles(line: &str) -> Vec<Role> {
    if line.starts_with("# ") {
        return vec![Role::Title; line.chars().count()];
    }
    if line.starts_with("## ") || line.starts_with("### ") {
        return vec![Role::Heading; line.chars().count()];
    }
    let letters: Vec<char> = line.chars().collect();
    let mut roles = vec![Role::Plain; letters.len()];
    let mut at = 0;
    while at < letters.len() {
        if letters[at] == '`' {
            let ticks = letters[at..].iter().take_while(|one| **one == '`').count();
            let fence: Vec<char> = vec!['`'; ticks];
            let body = &letters[at + ticks..];
            let Some(length) = body.windows(ticks).position(|part| part == fence) else {
                at += ticks;
                continue;
            };
            let end = at + ticks + length + ticks;
            roles[at..end].fill(Role::Code);
            at = end;
            continue;
        }
        let ends = |letter: &char| letter.is_whitespace() || "`[](),;\"'".contains(*letter);
        let length = letters[at..].iter().take_while(|one| !ends(one)).count();
        let word: String = letters[at..at + length].iter().collect();
        let word = word.trim_end_matches([':', '.']);
        if is_place(word) {
            roles[at..at + word.chars().count()].fill(Role::Place);
        }
        at += length.max(1);
    }
    roles
}

/// Returns whether a word is `path:line` or `path:first-last`.
fn is_place(word: &str) -> bool {
    let Some((path, lines)) = word.rsplit_once(':') else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_lines = match lines.split_once('-') {
        Some((first, last)) => is_number(first) && is_number(last),
        None => is_number(lines),
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let has_letter = name.chars().any(char::is_alphabetic);
    is_lines && has_letter && path.contains(['.', '/']) && !path.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Look<'_> = Look {
        is_colored: false,
        root: None,
        columns: None,
    };

    const DIGEST: &str = "# scan: abacus 0.3.0\nRead 4 files.\n\n## Entry points\n\
        - src/main.rs:5 `fn main() {` program abacus, as in `a:1` [src/sum.rs:3-4]\n";

    #[test]
    fn a_document_without_colors_links_and_width_is_itself() {
        assert_eq!(render(DIGEST, PLAIN), DIGEST);
    }

    #[test]
    fn headings_code_and_places_are_colored_and_nothing_else_changes() {
        let look = Look {
            is_colored: true,
            ..PLAIN
        };
        let shown = render(DIGEST, look);
        for part in [
            "\u{1b}[1;4m# scan: abacus 0.3.0\u{1b}[0m\n",
            "\u{1b}[1m## Entry points\u{1b}[0m\n",
            "- \u{1b}[36msrc/main.rs:5\u{1b}[0m \u{1b}[32m`fn main() {`\u{1b}[0m program abacus",
            "\u{1b}[32m`a:1`\u{1b}[0m [\u{1b}[36msrc/sum.rs:3-4\u{1b}[0m]\n",
        ] {
            assert!(shown.contains(part), "{part:?}: {shown:?}");
        }
        assert_eq!(anstream::adapter::strip_str(&shown).to_string(), DIGEST);
    }

    #[test]
    fn a_place_links_to_its_file() {
        let look = Look {
            root: Some(Path::new("/home/me/a b")),
            ..PLAIN
        };
        let link = "- \u{1b}]8;;file:///home/me/a%20b/src/main.rs\u{1b}\\src/main.rs:5\u{1b}]8;;\u{1b}\\ `fn";
        assert!(render(DIGEST, look).contains(link));
    }

    #[test]
    fn long_lines_are_wrapped_between_words_below_their_text() {
        let look = Look {
            columns: Some(60),
            ..PLAIN
        };
        let line =
            "- src/main.rs:5 `fn main() {` one two three four five six seven eight nine ten\n";
        let shown = render(line, look);
        let expected =
            "- src/main.rs:5 `fn main() {` one two three four five six\n  seven eight nine ten\n";
        assert_eq!(shown, expected);
        assert!(shown.lines().all(|line| line.len() <= 60));
        let word = format!("- {}\n", "x".repeat(100));
        assert_eq!(render(&word, look), word);
        let late = format!("word {} word\n", "x".repeat(100));
        let expected = format!("word\n{} word\n", "x".repeat(100));
        assert_eq!(render(&late, look), expected);
        assert_eq!(render("  - a b\n", look), "  - a b\n");
    }

    #[test]
    fn words_of_other_form_are_no_places() {
        for word in [
            "12:30",
            "http://a.b:80",
            "a:1",
            "src/main.rs",
            "src/main.rs:x",
            "1.2:3",
            ":1",
        ] {
            assert!(!is_place(word), "{word}");
        }
        for word in ["src/main.rs:5", "Makefile.am:1-3", "a/b:7"] {
            assert!(is_place(word), "{word}");
        }
    }
}
