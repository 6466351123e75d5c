//! fish: its blocks end in `end`, its substitutions have no dollar.

/// A piece of a text: a word with its quotes, or a sign between words.
enum Piece<'a> {
    Word(&'a str),
    Sign(&'a str),
}

/// A text for fish in the words of bash.
///
/// `set` and `alias` stay as they are; the walk knows that they are fish's.
pub(in crate::analyze) fn fish(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut ends: Vec<&str> = Vec::new();
    // What must stand behind the head of a block.
    let mut head: Option<&str> = None;
    let mut first = true;
    let mut named = false;
    for piece in pieces(text) {
        match piece {
            Piece::Sign("(") => {
                out.push_str("$(");
                first = true;
            }
            Piece::Sign(")") => {
                out.push_str(") ");
                first = false;
            }
            Piece::Sign(sign) => {
                named = false;
                if let Some(word) = head.take() {
                    out.push_str(if word == "{" { "" } else { "; " });
                    out.push_str(word);
                    out.push('\n');
                } else {
                    out.push_str(sign);
                    out.push(' ');
                }
                first = true;
            }
            Piece::Word(word) if first => {
                let (says, ends_with, head_ends, still_first) = match word {
                    "if" => ("if", Some("fi"), Some("then"), true),
                    "while" => ("while", Some("done"), Some("do"), true),
                    "for" => ("for", Some("done"), Some("do"), false),
                    "begin" => ("{", Some("}"), None, true),
                    "function" => ("function", Some("}"), Some("{"), false),
                    "switch" => (":", Some(":"), None, false),
                    "case" => (":", None, None, false),
                    "else" => ("else", None, None, true),
                    "end" => (ends.pop().unwrap_or("end"), None, None, false),
                    "and" | "or" | "not" => ("", None, None, true),
                    other => (other, None, None, false),
                };
                named = word == "function";
                if word == "if" && out.ends_with("else ") {
                    out.truncate(out.len() - "else ".len());
                    out.push_str("elif ");
                } else {
                    out.push_str(says);
                    out.push(' ');
                    ends.extend(ends_with);
                }
                head = head_ends.or(head);
                first = still_first;
            }
            // The options and arguments of a function are not needed.
            Piece::Word(word) if head == Some("{") => {
                if named {
                    out.push_str(word);
                    out.push_str(" () ");
                    named = false;
                }
            }
            Piece::Word(word) => {
                out.push_str(&word.replace("$argv[1]", "$1").replace("$argv", "$@"));
                out.push(' ');
            }
        }
    }
    out
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut all = Vec::new();
    let mut start: Option<usize> = None;
    let mut quote: Option<char> = None;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            start.get_or_insert(at);
            letters.next();
            continue;
        }
        if let Some(open) = quote {
            if letter == open {
                quote = None;
            }
            continue;
        }
        if matches!(letter, '\'' | '"') {
            start.get_or_insert(at);
            quote = Some(letter);
            continue;
        }
        let sign = matches!(letter, ';' | '\n' | '|' | '&' | '(' | ')');
        // `$(…)`, which newer versions have too.
        let dollar = letter == '(' && start.is_some_and(|from| &text[from..at] == "$");
        if !sign && !letter.is_whitespace() {
            start.get_or_insert(at);
            continue;
        }
        if let Some(from) = start.take()
            && !dollar
        {
            all.push(Piece::Word(&text[from..at]));
        }
        if sign {
            let double = matches!(letter, '|' | '&') && text[at + 1..].starts_with(letter);
            if double {
                letters.next();
            }
            all.push(Piece::Sign(&text[at..=at + usize::from(double)]));
        }
    }
    if let Some(from) = start {
        all.push(Piece::Word(&text[from..]));
    }
    all
}
