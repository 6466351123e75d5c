//! Words of `sed`, and what its scripts write or run besides editing.
//!
//! Start with [`Sed::read`]. Of a script only the parts that reach a file or a shell are of
//! interest: [`deeds`]. Its edits of the lines are not here.

use crate::analyze::value::Arg;

/// The words of `sed` as it reads them.
#[derive(Debug, Default)]
pub(crate) struct Sed<'a> {
    /// Scripts that stand in the words.
    pub(crate) scripts: Vec<&'a str>,
    /// Files with a script each.
    pub(crate) script_files: Vec<&'a Arg>,
    /// The edited files.
    pub(crate) files: Vec<&'a Arg>,
    /// Whether the files themselves are edited.
    pub(crate) in_place: bool,
    /// Whether only what a script prints is printed.
    pub(crate) quiet: bool,
}

/// An action of a script besides editing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SedAction {
    /// Writes to this file.
    Writes(String),
    /// Gives this text to a shell.
    Runs(String),
    /// Gives the line that is there to a shell.
    RunsTheLine,
}

impl<'a> Sed<'a> {
    /// Reads the words; the first one is the name.
    pub(crate) fn read(words: &'a [Arg]) -> Sed<'a> {
        let mut sed = Sed::default();
        let mut rest = words.iter().skip(1).peekable();
        let mut ended = false;
        while let Some(word) = rest.next() {
            let text = word.text.as_str();
            if ended || !text.starts_with('-') || text == "-" {
                sed.files.push(word);
            } else if text == "--" {
                ended = true;
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (long, None),
                };
                match name {
                    "expression" | "expressio" | "expressi" | "express" | "expres" | "expre"
                    | "expr" | "exp" | "ex" => {
                        let given = value.or_else(|| Some(rest.next()?.text.as_str()));
                        sed.scripts.extend(given);
                    }
                    "file" if value.is_none() => sed.script_files.extend(rest.next()),
                    "line-length" if value.is_none() => {
                        rest.next();
                    }
                    "quiet" | "silent" => sed.quiet = true,
                    _ => sed.in_place |= name.starts_with("in-p"),
                }
            } else {
                for (at, letter) in text.char_indices().skip(1) {
                    let behind = &text[at + letter.len_utf8()..];
                    match letter {
                        'e' if behind.is_empty() => {
                            sed.scripts
                                .extend(rest.next().map(|word| word.text.as_str()));
                            break;
                        }
                        'e' => {
                            sed.scripts.push(behind);
                            break;
                        }
                        'f' => {
                            if behind.is_empty() {
                                sed.script_files.extend(rest.next());
                            }
                            break;
                        }
                        'i' | 'I' => {
                            sed.in_place = true;
                            // As BSD's has it: `-i '' …`.
                            if behind.is_empty() {
                                rest.next_if(|word| word.text.is_empty());
                            }
                            break;
                        }
                        'l' if behind.is_empty() => {
                            rest.next();
                        }
                        'n' => sed.quiet = true,
                        _ => {}
                    }
                }
            }
        }
        if sed.scripts.is_empty() && sed.script_files.is_empty() && !sed.files.is_empty() {
            sed.scripts.push(&sed.files.remove(0).text);
        }
        sed
    }
}

/// Lists the writes and commands of a script, in their order.
pub(crate) fn deeds(script: &str) -> Vec<SedAction> {
    let mut found = Vec::new();
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '{' | '}'));
        rest = behind_addresses(rest).trim_start_matches([' ', '\t', '!']);
        let Some(command) = rest.chars().next() else {
            return found;
        };
        rest = &rest[command.len_utf8()..];
        match command {
            '#' | 'a' | 'i' | 'c' | 'r' | 'R' => rest = line(rest).1,
            ':' | 'b' | 't' | 'T' => {
                rest = &rest[rest.find([';', '\n', '}']).unwrap_or(rest.len())..];
            }
            'w' | 'W' => {
                let (file, behind) = line(rest);
                found.push(SedAction::Writes(file.to_owned()));
                rest = behind;
            }
            'e' => {
                let (text, behind) = line(rest);
                found.push(if text.is_empty() || text == "}" {
                    SedAction::RunsTheLine
                } else {
                    SedAction::Runs(text.to_owned())
                });
                rest = behind;
            }
            's' | 'y' => {
                let Some(([_, with], behind)) = pieces(rest) else {
                    return found;
                };
                rest = behind;
                let flags = |c: char| c.is_ascii_digit() || "gpiImMe".contains(c);
                let end = rest.find(|c| !flags(c)).unwrap_or(rest.len());
                if command == 's' {
                    if rest[..end].contains('e') {
                        found.push(SedAction::Runs(with));
                    }
                    if let Some(file) = rest[end..].strip_prefix('w') {
                        let (file, behind) = line(file);
                        found.push(SedAction::Writes(file.to_owned()));
                        rest = behind;
                        continue;
                    }
                }
                rest = &rest[end..];
            }
            _ => {}
        }
    }
}

/// The rest of a line without the blanks around it, and what follows.
fn line(text: &str) -> (&str, &str) {
    let (line, behind) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim(), behind)
}

/// The two pieces of `s/…/…/` from the sign on, and what follows.
fn pieces(text: &str) -> Option<([String; 2], &str)> {
    let sign = text.chars().next()?;
    let mut pieces = [String::new(), String::new()];
    let mut at = 0;
    let mut escaped = false;
    for (place, letter) in text.char_indices().skip(1) {
        if escaped {
            if letter != sign {
                pieces[at].push('\\');
            }
            pieces[at].push(letter);
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if letter == sign {
            at += 1;
            if at == 2 {
                return Some((pieces, &text[place + sign.len_utf8()..]));
            }
        } else {
            pieces[at].push(letter);
        }
    }
    None
}

/// Returns the text behind the addresses of a command: `1,$`, `/x/I,+3`, `\|x|`.
fn behind_addresses(text: &str) -> &str {
    let mut rest = text;
    loop {
        let before = rest.len();
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "$,+~ \t".contains(c));
        let (sign, from) = match rest.as_bytes() {
            [b'/', ..] => ('/', 1),
            [b'\\', sign, ..] if sign.is_ascii() => (char::from(*sign), 2),
            _ => return rest,
        };
        let mut escaped = false;
        let end = rest[from..].find(|letter| {
            let ends = letter == sign && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        });
        let Some(end) = end else { return "" };
        rest = rest[from + end + 1..].trim_start_matches(['I', 'M']);
        if rest.len() == before {
            return rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Sed, SedAction, deeds};
    use crate::analyze::value::Arg;

    /// CAKE-SHIM-1: writes and commands of a sed script differ from its edits.
    #[test]
    fn files_and_commands_of_a_script_are_found() {
        let writes = |file: &str| SedAction::Writes(file.to_owned());
        let runs = |text: &str| SedAction::Runs(text.to_owned());
        for (script, expected) in [
            ("w out", vec![writes("out")]),
            ("$!N;w out", vec![writes("out")]),
            ("/a\\/b/I,+3w out", vec![writes("out")]),
            ("s/a/b/gw out", vec![writes("out")]),
            ("s|a/w|b|;\\,x,!W out", vec![writes("out")]),
            ("1e rm -rf /", vec![runs("rm -rf /")]),
            ("1,3{e id\n}", vec![runs("id")]),
            ("s/.*/date/e", vec![runs("date")]),
            ("e", vec![SedAction::RunsTheLine]),
            ("s/w x/y/", vec![]),
            ("a w out", vec![]),
            ("/w out/d", vec![]),
            ("b end; :end w", vec![]),
            ("s/a\\/w b/c/", vec![]),
            ("s/unfinished", vec![]),
            ("/unfinished", vec![]),
            ("\u{e9}\\\u{e9}", vec![]),
        ] {
            assert_eq!(deeds(script), expected, "{script}");
        }
    }

    /// CAKE-SHIM-1: which word is a script and which a file is read as sed reads it.
    #[test]
    fn scripts_and_files_are_distinguished() {
        let of = |line: &str| {
            let words: Vec<Arg> = line.split(' ').map(Arg::plain).collect();
            let sed = Sed::read(&words);
            let files: Vec<&str> = sed.files.iter().map(|word| word.text.as_str()).collect();
            format!(
                "{} {} {}",
                sed.scripts.join("+"),
                files.join("+"),
                sed.in_place
            )
        };
        assert_eq!(of("sed -i.bake s/a/b/ x"), "s/a/b/ x true");
        assert_eq!(of("sed -ne p -e d x y"), "p+d x+y false");
        assert_eq!(of("sed --expression=p x -E"), "p x false");
        assert_eq!(of("sed -i  p x"), "p x true");
        assert_eq!(of("sed -f s x"), " x false");
        assert_eq!(of("sed -- p x"), "p x false");
    }
}
