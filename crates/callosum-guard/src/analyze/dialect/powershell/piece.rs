//! The pieces of a text for PowerShell: words, quotes and signs.

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// A word as bash would write it.
    Word(String),
    /// `;`, the end of a line, `|`, `&&`, `||`, `&`, a bracket or `=`.
    Sign(&'static str),
}

pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let letters: Vec<char> = text.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let next = letters.get(at + 1).copied();
        let (piece, length) = match (letter, next) {
            ('`', Some('\n')) => (None, 2),
            ('<', Some('#')) => {
                let rest = &letters[at..];
                let end = rest.windows(2).position(|pair| pair == ['#', '>']);
                (None, end.map_or(rest.len(), |end| end + 2))
            }
            ('#', _) => {
                let rest = &letters[at..];
                let end = rest.iter().position(|&letter| letter == '\n');
                (None, end.unwrap_or(rest.len()))
            }
            ('@', Some('(' | '{')) | ('$', Some('(')) | (',', _) => (None, 1),
            ('&', Some('&')) => (Some("&&"), 2),
            ('|', Some('|')) => (Some("||"), 2),
            ('|', _) => (Some("|"), 1),
            ('&', _) => (Some("&"), 1),
            (';', _) => (Some(";"), 1),
            ('\n', _) => (Some("\n"), 1),
            ('(', _) => (Some("("), 1),
            (')', _) => (Some(")"), 1),
            ('{', _) => (Some("{"), 1),
            ('}', _) => (Some("}"), 1),
            ('=', _) => (Some("="), 1),
            (letter, _) if letter.is_whitespace() => (None, 1),
            _ => {
                let (word, end) = word(&letters, at);
                all.push(Piece::Word(word));
                at = end;
                continue;
            }
        };
        all.extend(piece.map(Piece::Sign));
        at += length;
    }
    all
}

/// Returns the word that begins here, as bash would write it, and its end.
fn word(letters: &[char], from: usize) -> (String, usize) {
    let mut at = from;
    let mut word = String::new();
    let mut bare = String::new();
    while let Some(&letter) = letters.get(at) {
        match letter {
            '\'' | '"' => {
                word.push_str(&unquoted(&bare));
                bare.clear();
                let (text, end) = quoted(letters, at);
                word.push_str(&text);
                at = end;
            }
            '`' => {
                bare.extend(letters.get(at + 1));
                at += 2;
            }
            _ if letter.is_whitespace() || ";|&(){},".contains(letter) => break,
            // `--option=value` is one word, `$x=1` is three.
            '=' if !bare.starts_with('-') => break,
            _ => {
                bare.push(letter);
                at += 1;
            }
        }
    }
    word.push_str(&unquoted(&bare));
    (word, at.max(from + 1))
}

/// Reads a text without quotes: drops properties, and takes a backslash for a letter, except in a
/// path without a drive.
fn unquoted(text: &str) -> String {
    // `git @words`: each element is a word.
    if let Some(name) = text.strip_prefix('@')
        && !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_')
    {
        return format!("\"${{{}[@]}}\"", lowered(name));
    }
    let begins = text.starts_with(|first: char| first.is_alphanumeric() || "~._".contains(first));
    let is_plain = |letter: char| letter.is_alphanumeric() || "~._-\\/*".contains(letter);
    if text.contains('\\') && begins && text.chars().all(is_plain) {
        return text.replace('\\', "/");
    }
    if let Some(name) = text.strip_prefix('$') {
        let name = match name.get(..4) {
            Some(scope) if scope.eq_ignore_ascii_case("env:") => &name[4..],
            _ => name,
        };
        let end = name
            .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .unwrap_or(name.len());
        let rest = &name[end..];
        // `$x.FullName` is the thing itself; `$x\a` and `$x/a` are in it.
        let path = if rest.starts_with(['\\', '/']) {
            rest.replace('\\', "/")
        } else {
            String::new()
        };
        return format!("${}{path}", lowered(&name[..end]));
    }
    if text.contains(['\\', '<', '>', '*', '#', '!']) && !text.contains(['$', '\'']) {
        if text.contains('\\') {
            return format!("'{text}'");
        }
        return text.to_owned();
    }
    text.to_owned()
}

/// Names of variables are the same in any case; those of the environment that matter are large.
fn lowered(name: &str) -> String {
    if name.eq_ignore_ascii_case("home") || name.eq_ignore_ascii_case("userprofile") {
        return "HOME".to_owned();
    }
    if name.eq_ignore_ascii_case("pwd") {
        return "PWD".to_owned();
    }
    name.to_ascii_lowercase()
}

/// Returns a text in quotes as bash would write it, and its end.
fn quoted(letters: &[char], from: usize) -> (String, usize) {
    let sign = letters[from];
    let mut text = String::new();
    let mut at = from + 1;
    while let Some(&letter) = letters.get(at) {
        if letter == sign {
            // Doubled, it is itself.
            if letters.get(at + 1) != Some(&sign) {
                at += 1;
                return (closed(&text, sign), at);
            }
            at += 1;
        } else if letter == '`' && sign == '"' {
            at += 1;
        } else if letter == '$' && sign == '"' {
            let mut name = String::from("$");
            while let Some(&more) = letters.get(at + 1)
                && (more.is_alphanumeric() || more == '_' || more == ':' && name == "$env")
            {
                name.push(more);
                at += 1;
            }
            at += 1;
            text.push_str(&if name == "$" { name } else { unquoted(&name) });
            continue;
        }
        text.extend(letters.get(at));
        at += 1;
    }
    // Without an end: so is what comes out.
    (format!("{sign}{text}"), at)
}

fn closed(text: &str, sign: char) -> String {
    if sign == '\'' {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let text = text
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('`', "\\`");
    format!("\"{text}\"")
}
