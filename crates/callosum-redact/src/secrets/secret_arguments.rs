//! Secrets that a command passes on: to a secret store, to a program that reads one from its
//! standard input, or into a file of secrets.
//!
//! Such a value has no name of its own that identifies it. So each command of a line is compared
//! with those that take a secret ([`KEEPERS`]), and the destination of text that is echoed, given
//! as a here-document or redirected is checked.

use std::ops::Range;

use super::{
    command::{MASKED, is_known_elsewhere, is_of_word, is_telling, next, starts, value},
    kind::Kind,
};

/// A command that puts a secret somewhere.
struct SecretCommand {
    /// The words by which it is known, in their order; of those in one string any.
    words: &'static [&'static str],
    /// Whether what is given as `NAME=VALUE` is one.
    pairs: bool,
    /// Options whose value is one.
    options: &'static [&'static str],
    /// Whether its last operand is one.
    last: bool,
}

const fn pairs(words: &'static [&'static str]) -> SecretCommand {
    SecretCommand {
        words,
        pairs: true,
        options: &[],
        last: false,
    }
}

const fn options(
    words: &'static [&'static str],
    options: &'static [&'static str],
) -> SecretCommand {
    SecretCommand {
        words,
        pairs: false,
        options,
        last: false,
    }
}

const fn last(words: &'static [&'static str]) -> SecretCommand {
    SecretCommand {
        words,
        pairs: false,
        options: &[],
        last: true,
    }
}

const KEEPERS: [SecretCommand; 20] = [
    pairs(&["kubectl oc k k3s", "secret secrets"]),
    pairs(&["heroku dokku", "config:set config:add"]),
    pairs(&["firebase", "functions:config:set"]),
    pairs(&["fly flyctl supabase doppler", "secrets", "set import"]),
    pairs(&["eb", "setenv"]),
    pairs(&["railway", "variables variable"]),
    pairs(&["vault bao", "kv write"]),
    pairs(&["travis", "encrypt"]),
    pairs(&["op", "item", "create edit"]),
    options(&["gh", "secret variable", "set"], &["-b", "--body"]),
    options(&["glab", "variable", "set update"], &["-v", "--value"]),
    options(&["az", "keyvault", "secret"], &["--value"]),
    options(&["aws", "put-parameter"], &["--value"]),
    options(
        &["security", "add-generic-password add-internet-password"],
        &["-w"],
    ),
    options(&["ssh-keygen"], &["-N", "-P"]),
    last(&["vault bao", "login unseal"]),
    last(&["netlify", "env:set"]),
    last(&["cf", "set-env"]),
    last(&["chamber", "write"]),
    last(&["pulumi", "config", "set"]),
];

/// Verbs of a secret store, of any vendor, that reads a secret.
const STORING: [&str; 6] = ["set", "put", "create", "import", "add", "versions"];

/// Files in which secrets are kept, by their names.
const FILES: [&str; 14] = [
    ".env",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".vault-token",
    ".my.cnf",
    ".htpasswd",
    ".s3cfg",
    ".boto",
    "credentials",
    "kubeconfig",
    "master.key",
];

/// A word and its position.
type Word<'t> = (Range<usize>, &'t str);

/// A command of a line.
struct Command<'t> {
    words: Vec<Word<'t>>,
    /// The whole command, with its redirections.
    at: Range<usize>,
    /// Whether it reads the output of the previous command.
    is_fed: bool,
}

/// Returns the positions of secrets that are passed to other programs.
pub(super) fn find(text: &str, found: &mut Vec<(Range<usize>, Kind)>) {
    let commands = commands(text);
    for (place, command) in commands.iter().enumerate() {
        let mut ranges = Vec::new();
        command.kept(text, &mut ranges);
        command.configured(text, &mut ranges);
        let is_into_file = command.writes_secrets(text);
        if command.reads_secret() || is_into_file {
            command.here(text, &mut ranges);
            if is_into_file {
                command.echoed(text, &mut ranges);
            }
            let before = commands[..place].iter().rev();
            let mut is_fed = command.is_fed;
            for feeding in before.take_while(|before| std::mem::replace(&mut is_fed, before.is_fed))
            {
                feeding.echoed(text, &mut ranges);
            }
        }
        found.extend(ranges.into_iter().map(|range| (range, Kind::Argument)));
    }
}

/// Returns the commands of a text, wherever it may have some.
fn commands(text: &str) -> Vec<Command<'_>> {
    let mut all: Vec<Command<'_>> = Vec::new();
    let mut masked = 0;
    for start in starts(text) {
        if start < masked {
            continue;
        }
        let end = text[start..].bytes().position(|byte| !is_of_word(byte));
        let end = end.map_or(text.len(), |length| start + length);
        if text[start..end].contains(MASKED) {
            masked = text[end..].find(']').map_or(end, |length| end + length);
        }
        let gap = text[..start].trim_end_matches(['\'', '"', ' ', '\t', '(']);
        let parted = gap.ends_with([';', '|', '&', '\n']);
        // `2>&1` parts nothing.
        let parted = parted && !gap.ends_with(">&") && !gap.ends_with(">|");
        let word = (start..end, &text[start..end]);
        match all.last_mut() {
            Some(command) if !parted => {
                command.words.push(word);
                command.at.end = end;
            }
            _ => all.push(Command {
                words: vec![word],
                at: start..end,
                is_fed: gap.ends_with('|') && !gap.ends_with("||"),
            }),
        }
    }
    all
}

impl Command<'_> {
    /// Returns the index of the words at which a keeper is recognized; `None` if it is another
    /// command.
    fn known(&self, names: &[&str]) -> Option<usize> {
        let mut at = 0;
        for any in names {
            let rest = &self.words[at..];
            let is_one = |(_, word): &Word<'_>| {
                let name = word.rsplit('/').next().unwrap_or(word);
                any.split(' ').any(|known| known == name)
            };
            at += rest.iter().position(is_one)? + 1;
        }
        Some(at)
    }

    /// Finds values that it puts into a secret store.
    fn kept(&self, text: &str, found: &mut Vec<Range<usize>>) {
        for keeper in &KEEPERS {
            let Some(first) = self.known(keeper.words) else {
                continue;
            };
            let mut operands = self.words[first..].iter();
            if keeper.pairs {
                operands
                    .clone()
                    .for_each(|word| found.extend(value_of_pair(text, word)));
            }
            for (at, word) in &self.words[first..] {
                let Some(option) = keeper
                    .options
                    .iter()
                    .find(|known| word.starts_with(**known))
                else {
                    continue;
                };
                let joined = &word[option.len()..];
                let skipped = usize::from(joined.starts_with('='));
                if !joined.is_empty() && (skipped > 0 || option.len() == 2) {
                    found.extend(value(text, at.start + option.len() + skipped));
                } else if joined.is_empty() {
                    found.extend(next(text, at.end));
                }
            }
            if keeper.last
                && let Some(word) = operands.rfind(|(_, word)| !word.starts_with('-'))
                && !word.1.contains('=')
            {
                found.extend(whole(text, word));
            }
        }
    }

    /// Finds values that are assigned to names of secrets, as in `config set NAME VALUE`.
    fn configured(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let sets = |(_, word): &Word<'_>| matches!(*word, "config" | "configure" | "set");
        let Some(first) = self.words.iter().position(sets) else {
            return;
        };
        for pair in self.words[first..].windows(2) {
            let [(_, name), value] = pair else {
                continue;
            };
            let name = name.rsplit(':').next().unwrap_or(name);
            if !name.starts_with('-') && !name.contains('=') && is_telling(name) {
                found.extend(whole(text, value));
            }
        }
    }

    /// Whether it reads a secret from its standard input.
    fn reads_secret(&self) -> bool {
        let mut before = "";
        for (_, word) in &self.words {
            let lower = word.to_ascii_lowercase();
            let is_option = lower.starts_with('-');
            let is_asked_for = is_option
                && (lower == "--with-token"
                    || lower.contains("stdin") && lower.contains("pass")
                    || lower.starts_with("--passphrase-fd"));
            let is_switch = matches!(before, "sudo" | "passwd" | "smbpasswd" | "htpasswd")
                && is_option
                && (lower == "--stdin" || lower == "-s" || lower == "-i" || word.contains('S'));
            if is_asked_for
                || is_switch
                || lower == "chpasswd"
                || before.starts_with("-pass") && lower == "stdin"
                || matches!(before, "secret" | "secrets") && STORING.contains(&&*lower)
            {
                return true;
            }
            // Options may be between them.
            if !is_option || before.is_empty() || word.starts_with("-pass") {
                before = word.rsplit('/').next().unwrap_or(word);
            }
        }
        false
    }

    /// Whether its output, or its input, goes into a file of secrets.
    fn writes_secrets(&self, text: &str) -> bool {
        let is_tee = self.words.iter().any(|(_, word)| *word == "tee");
        self.words.iter().any(|(at, word)| {
            let before = text[..at.start].trim_end_matches([' ', '\t', '"', '\'']);
            (is_tee || before.ends_with('>')) && is_of_secrets(word)
        })
    }

    /// Finds values in its here-documents and here-strings.
    fn here(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let end = text.floor_char_boundary(self.at.end + " <<".len());
        let Some(first) = text[self.at.start..end].find("<<") else {
            return;
        };
        let first = self.at.start + first;
        let behind = &text[first + 2..];
        if let Some(rest) = behind.strip_prefix('<') {
            let rest = rest.trim_start_matches([' ', '\t']);
            found.extend(value(text, text.len() - rest.len()));
            return;
        }
        let name = behind.trim_start_matches(['-', ' ', '\'', '"', '\\']);
        let name = &name[..name
            .bytes()
            .position(|b| !b.is_ascii_alphanumeric() && b != b'_')
            .unwrap_or(name.len())];
        let Some(line) = behind.find('\n').filter(|_| !name.is_empty()) else {
            return;
        };
        let mut at = first + 2 + line + 1;
        for line in text[at..].split_inclusive('\n') {
            if line.trim().trim_end_matches(['\'', '"', ')']) == name {
                return;
            }
            found.extend(of_line(text, at..at + line.trim_end().len()));
            at += line.len();
        }
    }

    /// Finds values that it echoes.
    fn echoed(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let echoes = |(_, word): &Word<'_>| matches!(*word, "echo" | "printf" | "print");
        let Some(echo) = self.words.iter().position(echoes) else {
            return;
        };
        for word in &self.words[echo + 1..] {
            let before = text[..word.0.start].trim_end_matches([' ', '\t', '"', '\'']);
            if before.ends_with('>') || matches!(word.1, "-n" | "-e" | "-E" | "-ne" | "-en") {
                continue;
            }
            found.extend(of_line(text, word.0.clone()));
        }
    }
}

/// Whether a file is one of secrets.
fn is_of_secrets(path: &str) -> bool {
    const PLAIN: [&str; 9] = [
        "txt", "json", "yml", "yaml", "env", "conf", "ini", "toml", "pem",
    ];
    const SAMPLES: [&str; 5] = ["example", "sample", "template", "dist", "md"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_sample = SAMPLES.contains(&end);
    let is_telling = (end.is_empty() || PLAIN.contains(&end)) && is_telling(stem);
    !is_sample
        && (FILES.contains(&name)
            || name.starts_with(".env.")
            || matches!(end, "env" | "pem" | "key" | "p12")
            || name.starts_with("id_") && end.is_empty()
            || is_telling)
}

/// Returns the secret in a line of a file, or in a word of it: the value of a name, or else all of
/// it.
fn of_line(text: &str, at: Range<usize>) -> Option<Range<usize>> {
    let line = &text[at.clone()];
    if line.contains(MASKED) {
        return None;
    }
    let start = match line.find(['=', ':']) {
        Some(mark) if !line[..mark].contains(char::is_whitespace) && line.len() > mark + 1 => {
            let behind = &line[mark + 1..];
            at.start + mark + 1 + (behind.len() - behind.trim_start().len())
        }
        // A name, whose value is in quotes of its own.
        Some(mark) if line.len() == mark + 1 => return value(text, at.end),
        _ => at.start + (line.len() - line.trim_start().len()),
    };
    let word = &text[start..at.end];
    let is_plain = word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_switch = matches!(word, "true" | "false" | "EOF" | "\\n");
    (!word.is_empty() && !is_plain && !is_switch && !is_known_elsewhere(word))
        .then_some(start..at.end)
}

/// Returns the value of `NAME=VALUE`, also after an option that takes such a pair.
fn value_of_pair(text: &str, (at, word): &Word<'_>) -> Option<Range<usize>> {
    let behind_option = match word.strip_prefix("--") {
        Some(option) => option.find('=').map_or(word.len(), |mark| 2 + mark + 1),
        None if word.starts_with('-') => word.len(),
        None => 0,
    };
    let mark = behind_option + word[behind_option..].find('=')? + 1;
    let start = at.start + mark;
    // A pair that is in quotes as a whole ends with them.
    let quote = text[..at.start + behind_option].chars().next_back();
    let quote = quote.filter(|quote| matches!(quote, '\'' | '"'));
    let closed = quote.and_then(|quote| Some(start + text[start..].find(quote)?));
    match closed {
        Some(end) => (end > start && !is_known_elsewhere(&text[start..end])).then_some(start..end),
        None => value(text, start),
    }
}

/// Returns a word, with the text next to it in its quotes.
fn whole(text: &str, (at, _): &Word<'_>) -> Option<Range<usize>> {
    let is_quoted = text[..at.start].ends_with(['\'', '"']);
    value(text, at.start - usize::from(is_quoted)).or_else(|| value(text, at.start))
}
