//! Secrets on a command line: words that only the option, the variable or the program before them
//! identifies.
//!
//! A command is not parsed as a shell would, since it may be within another one's quotes: anything
//! that could be a word is checked as one. This is for stored commands, where one masked word too
//! many costs little, and one too few is a password in a journal.

use std::ops::Range;

use super::{kind::Kind, secret_arguments, url_credentials};

/// Parts of a name that say that its value is secret.
const PARTS: [&str; 5] = ["password", "passwd", "passphrase", "secret", "apikey"];

/// Ends of such a name.
const ENDS: [&str; 6] = [
    "pass",
    "pwd",
    "token",
    "credential",
    "credentials",
    "cookie",
];

/// Ends of a name whose value is the location of the secret, or its kind.
const ELSEWHERE: [&str; 14] = [
    "file", "path", "dir", "env", "stdin", "fd", "askpass", "bypass", "type", "name", "url",
    "field", "length", "policy",
];

/// Words that may come before `key` in such a name.
const KEYS: [&str; 12] = [
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "encryption",
    "signing",
    "account",
    "master",
    "session",
    "license",
    "subscription",
];

/// Start of earlier masks.
pub(super) const MASKED: &str = "[secret";

/// Options by which a program takes a password: as the next word or joined to it.
struct Program {
    names: &'static [&'static str],
    /// Letters whose value is one.
    letters: &'static str,
    /// Letters whose value is a name and a password, parted by this.
    pairs: &'static str,
    parted: char,
    /// Whether the value may be the next word.
    apart: bool,
    /// Whether it may be joined to its letter.
    joined: bool,
}

const PROGRAMS: [Program; 8] = [
    Program {
        names: &["curl", "curlie"],
        letters: "",
        pairs: "uU",
        parted: ':',
        apart: true,
        joined: true,
    },
    Program {
        names: &["http", "https", "xh"],
        letters: "",
        pairs: "a",
        parted: ':',
        apart: true,
        joined: true,
    },
    Program {
        names: &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlsh",
            "mycli",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "7z",
            "7za",
            "rar",
            "unrar",
        ],
        letters: "p",
        pairs: "",
        parted: ':',
        apart: false,
        joined: true,
    },
    Program {
        names: &[
            "redis-cli",
            "ldapsearch",
            "ldapadd",
            "ldapmodify",
            "ipmitool",
        ],
        letters: "awP",
        pairs: "",
        parted: ':',
        apart: true,
        joined: true,
    },
    Program {
        names: &[
            "sshpass",
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "login",
            "lftp",
        ],
        letters: "p",
        pairs: "u",
        parted: ',',
        apart: true,
        joined: true,
    },
    Program {
        names: &["zip", "unzip", "sqlcmd", "bcp", "zipcloak"],
        letters: "P",
        pairs: "",
        parted: ':',
        apart: true,
        joined: true,
    },
    Program {
        names: &["smbclient", "rpcclient", "mount.cifs"],
        letters: "",
        pairs: "U",
        parted: '%',
        apart: true,
        joined: true,
    },
    Program {
        names: &["openssl"],
        letters: "kK",
        pairs: "",
        parted: ':',
        apart: true,
        joined: false,
    },
];

/// Returns the positions and kinds of secrets in a command line.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut found = Vec::new();
    let mut reader = Reader {
        text,
        program: None,
        operands: None,
        before: "",
        segment: 0,
    };
    for at in starts(text) {
        reader.look(at, &mut found);
    }
    secret_arguments::find(text, &mut found);
    url_credentials::addresses(text, &mut found);
    url_credentials::headers(text, &mut found);
    found
}

/// Returns the possible starts of words.
pub(super) fn starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.as_bytes();
    let begins = move |at: &usize| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        is_of_word(bytes[*at]) && before.is_none_or(|before| !is_of_word(before))
    };
    (0..bytes.len()).filter(begins)
}

pub(super) const fn is_of_word(byte: u8) -> bool {
    !byte.is_ascii_whitespace()
        && !matches!(
            byte,
            b'\''
                | b'"'
                | b'`'
                | b';'
                | b'|'
                | b'&'
                | b'('
                | b')'
                | b'<'
                | b'>'
                | b','
                | b'{'
                | b'}'
        )
}

struct Reader<'t> {
    text: &'t str,
    /// The program of these words, if it is one that takes passwords.
    program: Option<&'static Program>,
    /// Number of operands before the one that is a password.
    operands: Option<usize>,
    before: &'t str,
    /// Start of the command that these words belong to.
    segment: usize,
}

impl Reader<'_> {
    fn look(&mut self, at: usize, found: &mut Vec<(Range<usize>, Kind)>) {
        let text = self.text;
        let end = text[at..].bytes().position(|byte| !is_of_word(byte));
        let end = end.map_or(text.len(), |length| at + length);
        let word = &text[at..end];
        let gap = text[..at].trim_end_matches(['\'', '"', ' ', '\t', '(']);
        if gap.ends_with([';', '|', '&', '\n']) && gap.len() > self.segment {
            (self.program, self.operands, self.segment) = (None, None, gap.len());
        }
        if word.contains(MASKED) {
            (self.operands, self.before) = (None, word);
            return;
        }
        let mut take = |range: Option<Range<usize>>| {
            found.extend(range.map(|range| (range, Kind::Argument)));
        };
        let name = word.rsplit('/').next().unwrap_or(word);
        if let Some(program) = PROGRAMS.iter().find(|known| known.names.contains(&name)) {
            self.program = Some(program);
        }
        if name == "htpasswd" {
            self.operands = Some(usize::MAX);
        }
        // A password that is joined to its letter may look like anything.
        let letters = word.strip_prefix('-').filter(|_| self.operands.is_none());
        let by_letter = letters
            .zip(self.program)
            .and_then(|(letters, program)| by_letter(text, program, (at, end), letters));
        if by_letter.is_some() {
            take(by_letter);
        } else if let Some((name, behind)) = assigned(word) {
            let counts = |value: &Range<usize>| counts(name, &text[value.clone()]);
            take(value(text, at + behind).filter(counts));
        } else if let Some(behind) = is_telling(word).then(|| keyed(&text[end..])).flatten() {
            take(value(text, end + behind));
        } else if word.starts_with('-') && is_telling(word) {
            take(next(text, end));
        } else if let Some(rest) = word.strip_prefix("pass:") {
            take(Some(end - rest.len()..end));
        } else if let ("identified", "by") = (&*lower(self.before), &*lower(word)) {
            take(quoted(text, end));
        } else if lower(word) == "password" {
            take(quoted(text, end));
        } else if let Some(letters) = word.strip_prefix('-') {
            if self.operands.is_some() && letters.contains('b') {
                // A file, unless it only prints, a user, and the password.
                self.operands = Some(2 - usize::from(letters.contains('n')));
            }
        } else if let Some(left @ 0..=2) = self.operands
            && name != "htpasswd"
        {
            self.operands = left.checked_sub(1);
            if left == 0 {
                take(Some(at..end));
            }
        }
        self.before = word;
    }
}

/// Returns the name of a secret in a word that assigns a value to it, and the start of the value.
fn assigned(word: &str) -> Option<(&str, usize)> {
    let mut marks = word
        .char_indices()
        .filter(|(_, mark)| matches!(mark, '=' | ':'));
    marks.find_map(|(at, mark)| {
        let name = &word[..at];
        let name = name.rsplit(['=', '?', ':']).next().unwrap_or(name);
        // `secret:` ends a name as well; its value is searched for after the word.
        let rest = &word[at + 1..];
        let is_given = mark == '=' || !rest.is_empty() && !rest.starts_with(':');
        (is_given && is_telling(name)).then_some((name, at + 1))
    })
}

/// Returns the start of a key's value after its name, as in JSON and YAML.
fn keyed(behind: &str) -> Option<usize> {
    let rest = behind.trim_start_matches(['"', '\'', '\\']);
    let rest = rest.strip_prefix(':')?;
    Some(behind.len() - rest.trim_start_matches(' ').len())
}

/// Returns the password that an option with a letter brings, joined to it or as the next word.
fn by_letter(
    text: &str,
    program: &Program,
    (at, end): (usize, usize),
    letters: &str,
) -> Option<Range<usize>> {
    if letters.starts_with('-') {
        return match letters {
            "-user" | "-proxy-user" | "-auth" => paired(text, next(text, end)?, program.parted),
            _ => {
                let rest = ["-user=", "-proxy-user=", "-auth="];
                let name = rest.iter().find(|name| letters.starts_with(**name))?;
                let value = value(text, at + 1 + name.len())?;
                paired(text, value, program.parted)
            }
        };
    }
    // Letters before it may be joined, as in `-sSu`; the text after one that takes a value is that
    // value.
    let place = letters
        .char_indices()
        .take_while(|(_, letter)| letter.is_ascii_alphabetic())
        .find(|(place, letter)| {
            // A word of letters alone is more often a value than options that are joined.
            *place == 0 && program.letters.contains(*letter) || program.pairs.contains(*letter)
        })?;
    let (place, letter) = place;
    let behind = at + 1 + place + letter.len_utf8();
    if !program.joined && letters.len() > 1 {
        return None;
    }
    let joined = value(text, behind);
    let value = match joined {
        Some(joined) => joined,
        None if program.apart => next(text, end)?,
        None => return None,
    };
    if program.pairs.contains(letter) {
        return paired(text, value, program.parted);
    }
    Some(value)
}

/// Of a name and a password the password.
fn paired(text: &str, value: Range<usize>, parted: char) -> Option<Range<usize>> {
    let word = &text[value.clone()];
    let quote = word
        .chars()
        .next()
        .filter(|first| matches!(first, '\'' | '"'));
    let place = word.find(parted)?;
    let end = value.end - usize::from(quote.is_some());
    let start = value.start + place + parted.len_utf8();
    (start < end && !is_known_elsewhere(&text[start..end])).then_some(start..end)
}

/// Returns the next word, unless it is an option.
pub(super) fn next(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = &text[end..];
    // The closing quote of an option ends its word.
    let rest = rest.strip_prefix(['\'', '"', ',']).unwrap_or(rest);
    let word = rest.trim_start_matches([' ', '\t', ',', '\\', '\n']);
    if word.len() == rest.len() || word.starts_with('-') {
        return None;
    }
    value(text, text.len() - word.len())
}

/// Returns the text between quotes after a word.
fn quoted(text: &str, end: usize) -> Option<Range<usize>> {
    let word = text[end..].trim_start_matches([' ', '=']);
    if word.len() == text.len() - end || !word.starts_with(['\'', '"', '\\']) {
        return None;
    }
    value(text, text.len() - word.len())
}

/// Returns the word that begins here, with its quotes. A word that only names a variable or runs a
/// command does not count, and neither does an earlier mask.
pub(super) fn value(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let length = in_quotes(rest).or_else(|| {
        let mut length = 0;
        loop {
            let piece = &rest[length..];
            let bare = piece
                .bytes()
                .position(|byte| byte.is_ascii_whitespace() || b"'\"`;|&()<>".contains(&byte));
            length += bare.unwrap_or(piece.len());
            // Quoted pieces that are joined to it, as long as they belong to one word.
            let joined = in_quotes(&rest[length..])
                .filter(|_| length > 0)
                .filter(|joined| !rest[length..length + joined].contains(char::is_whitespace));
            let Some(joined) = joined else {
                break (length > 0).then_some(length);
            };
            length += joined;
        }
    })?;
    let word = &rest[..length];
    let is_known = is_known_elsewhere(word.trim_matches(['\'', '"']));
    (!is_known || word.starts_with('\'')).then_some(at..at + length)
}

/// Returns the length of a quoted text that begins here, including the quotes.
fn in_quotes(text: &str) -> Option<usize> {
    let (open, escaped) = match text.as_bytes() {
        [b'\\', quote @ (b'"' | b'\''), ..] => (*quote, true),
        [b'$', b'\'', ..] => return Some(in_quotes(&text[1..])? + 1),
        [quote @ (b'"' | b'\''), ..] => (*quote, false),
        _ => return None,
    };
    let start = 1 + usize::from(escaped);
    let mut skip = false;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        let is_end = if escaped {
            byte == open && text.as_bytes()[at - 1] == b'\\'
        } else {
            byte == open && !skip
        };
        if is_end {
            return (at > start).then_some(at + 1);
        }
        skip = open == b'"' && byte == b'\\' && !skip;
    }
    None
}

/// Whether a word is only a variable, a command or a place for something: its value is elsewhere.
pub(super) fn is_known_elsewhere(word: &str) -> bool {
    let name = word
        .strip_prefix('$')
        .map(|name| name.trim_matches(['{', '}']));
    let is_variable = name.is_some_and(|name| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            || name.starts_with('(')
    });
    word.is_empty() || is_variable || word.starts_with(MASKED) || word.starts_with('<')
}

/// Whether a name says that its value is secret: an option's, a variable's, a key's.
pub(super) fn is_telling(name: &str) -> bool {
    let name = name.trim_end_matches(':');
    let letters = name.bytes().filter(u8::is_ascii_alphabetic);
    let plain: String = letters
        .map(|byte| byte.to_ascii_lowercase() as char)
        .collect();
    let ends = |ends: &[&str]| ends.iter().any(|end| plain.ends_with(end));
    let key = || {
        let before = plain
            .strip_suffix("id")
            .unwrap_or(&plain)
            .strip_suffix("key");
        let known = before.is_some_and(|before| KEYS.iter().any(|known| before.ends_with(known)));
        known || name.ends_with("_KEY")
    };
    let is_secret = ENDS.iter().any(|end| plain.ends_with(end))
        || PARTS.iter().any(|part| plain.contains(part))
        || key();
    is_secret
        && !ends(&ELSEWHERE)
        && !matches!(plain.as_str(), "pwd" | "oldpwd")
        && !["no", "ask", "prompt"]
            .iter()
            .any(|begin| plain.starts_with(begin))
}

/// Whether the value of a name can be a secret: a number of tokens cannot.
fn counts(name: &str, value: &str) -> bool {
    let is_number = value.len() <= 7 && value.bytes().all(|byte| byte.is_ascii_digit());
    !(is_number && lower(name).contains("token"))
}

/// Returns the text in lowercase, with every byte at its position.
pub(super) fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}
