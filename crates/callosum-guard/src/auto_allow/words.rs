//! Words of a command as the shell would give them to a program: only what is certain without running anything.

use super::{AllowRefusal, Line};
use crate::{
    analyze::pattern,
    shell::tree::{Change, Parameter, Part, Word},
};

/// Most words that the patterns of a line come to.
const MOST_WORDS: usize = 1_024;

/// Variables that change how a program talks and not what it does.
const HARMLESS: [&str; 17] = [
    "CI",
    "CARGO_TERM_COLOR",
    "CLICOLOR",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// Returns whether a variable of this name changes nothing that a program does.
pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name)
}

/// Returns whether a parameter is the exit code of the last command.
pub(super) fn is_status(parameter: &Parameter) -> bool {
    parameter.name == "?" && matches!(parameter.change, Change::None)
}

/// Returns whether a word is written without any sign of a pattern or a tilde, as names of programs are.
pub(super) fn is_bare(word: &Word) -> bool {
    let is_plain = |part: &Part| match part {
        Part::Text { text, quoted } => {
            let is_pattern =
                text.contains(['*', '?', '~', '{']) || text.contains('[') && text != "[";
            *quoted || !is_pattern
        }
        _ => false,
    };
    word.parts.iter().all(is_plain)
}

/// Returns the text of a word that the shell changes nothing in, patterns left as they are.
pub(super) fn text(word: &Word) -> Result<String, AllowRefusal> {
    let mut whole = String::new();
    let mut bare = String::new();
    for (at, part) in word.parts.iter().enumerate() {
        match part {
            Part::Text { text, quoted: true } => whole.push_str(text),
            Part::Text { text, .. } => {
                // `=ls` is a path in zsh.
                if at == 0 && text.starts_with(['~', '=']) {
                    return Err(AllowRefusal::Syntax("an expansion at the start of a word"));
                }
                if text.contains(['(', ')']) || text.contains("=~") || text.contains(":~") {
                    return Err(AllowRefusal::Syntax("an expansion within a word"));
                }
                bare.push_str(text);
                whole.push_str(text);
            }
            Part::Parameter { parameter, .. } if is_status(parameter) => whole.push('0'),
            Part::Parameter { .. } => return Err(AllowRefusal::Syntax("a variable")),
            Part::Substitution { .. } => return Err(AllowRefusal::Syntax("a substitution")),
            Part::Process { .. } => return Err(AllowRefusal::Syntax("a process substitution")),
            Part::Arithmetic(_) => return Err(AllowRefusal::Syntax("an arithmetic expansion")),
        }
    }
    if has_braces(&bare) {
        return Err(AllowRefusal::Syntax("a brace expansion"));
    }
    Ok(whole)
}

/// Returns whether there are braces that a shell may expand: any for fish, but those of git's `@{1}` mean the same.
fn has_braces(bare: &str) -> bool {
    bare.match_indices('{').any(|(at, _)| {
        let inner = bare[at + 1..].split('}').next().unwrap_or_default();
        let is_number = !inner.is_empty() && inner.chars().all(|letter| letter.is_ascii_digit());
        !bare[..at].ends_with('@') || !is_number && !matches!(inner, "u" | "upstream" | "push")
    })
}

/// Returns a word as a pattern in which quoted signs stand for themselves. `None` if it is none.
fn glob(word: &Word) -> Result<Option<String>, AllowRefusal> {
    let mut whole = String::new();
    let mut is_glob = false;
    for part in &word.parts {
        let Part::Text { text, quoted } = part else {
            continue;
        };
        if *quoted {
            for letter in text.chars() {
                if matches!(letter, '*' | '?' | '[' | ']' | '\\') {
                    whole.push('\\');
                }
                whole.push(letter);
            }
        } else {
            is_glob |= text.contains(['*', '?']);
            // What a range takes in depends on the locale.
            if text.contains('[') && text.contains(']') {
                return Err(AllowRefusal::Syntax("a pattern with brackets"));
            }
            whole.push_str(text);
        }
    }
    if whole.contains("**") {
        return Err(AllowRefusal::Syntax("a recursive pattern"));
    }
    Ok(is_glob.then_some(whole))
}

impl Line<'_> {
    /// Returns the words of a command, patterns replaced by the names that they fit.
    pub(super) fn expand(
        &self,
        words: &[Word],
        folders: &[String],
    ) -> Result<Vec<String>, AllowRefusal> {
        let mut all = Vec::new();
        for word in words {
            let text = text(word)?;
            let Some(pattern) = glob(word)? else {
                all.push(text);
                continue;
            };
            let [folder] = folders else {
                return Err(AllowRefusal::Syntax("a pattern in an uncertain folder"));
            };
            let names = self.names(&pattern, folder, MOST_WORDS - all.len().min(MOST_WORDS))?;
            if names.is_empty() {
                // bash leaves it as it is, zsh runs nothing.
                all.push(text);
            } else {
                all.extend(names);
            }
        }
        Ok(all)
    }

    /// Returns the paths that a pattern fits, as the shell spells them.
    fn names(&self, pattern: &str, folder: &str, most: usize) -> Result<Vec<String>, AllowRefusal> {
        let is_rooted = pattern.starts_with('/');
        let mut found = vec![if is_rooted { "/" } else { "" }.to_owned()];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let mut next = Vec::new();
            for before in &found {
                let joined = |name: &str| match before.as_str() {
                    "" => name.to_owned(),
                    "/" => format!("/{name}"),
                    _ => format!("{before}/{name}"),
                };
                if !part.contains(['*', '?']) {
                    let path = joined(&part.replace('\\', ""));
                    if self
                        .tree
                        .kind(&super::path::joined(&path, folder))
                        .is_some()
                    {
                        next.push(path);
                    }
                    continue;
                }
                let here =
                    super::path::joined(if before.is_empty() { "." } else { before }, folder);
                let Some(names) = self.tree.names(&here) else {
                    continue;
                };
                let is_hidden = |name: &str| name.starts_with('.') && !part.starts_with('.');
                let fits = |name: &&String| !is_hidden(name) && pattern::matches(part, name);
                let names = names.iter().map(|(name, _)| name).filter(fits);
                next.extend(names.map(|name| joined(name)));
            }
            if next.len() > most {
                return Err(AllowRefusal::Syntax(
                    "a pattern that matches very many files",
                ));
            }
            found = next;
        }
        Ok(found)
    }
}
