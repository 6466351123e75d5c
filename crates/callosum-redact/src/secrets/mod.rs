//! Secrets in a text: found by their form, and masked.
//!
//! Start with [`mask`], or with [`mask_command`] for text on a command line. [`Kind`] lists the
//! recognized kinds. A value whose form alone does not distinguish it from a hash, an id or test
//! data is left alone, unless it is assigned to a name such as `password`.

mod assignments;
mod bigrams;
mod command;
mod cookie;
mod encoded;
mod entropy;
mod escaped;
mod kind;
mod passphrases;
mod pgpass;
mod placeholder;
mod prefilter;
mod secret_arguments;
mod service_tokens;
mod spaced;
mod token_patterns;
mod unquoted;
mod url_credentials;
mod url_query;
mod zero_width;

use std::ops::Range;

pub use self::kind::Kind;
use crate::terminal_escape::is_unseen;

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// The text, each secret replaced by `[secret: kind]`.
    pub text: String,
    /// Kinds of the secrets that were found, in the order of the text.
    pub found: Vec<Kind>,
}

/// Replaces each secret that it recognises by `[secret: kind]`.
///
/// Linear in the length of the text. Masking twice is masking once.
pub fn mask(text: &str) -> Masked {
    replaced(text, find(text))
}

/// The same; the mask of a secret of several lines is followed by as many empty lines, so that the
/// following text keeps its line.
pub fn mask_in_place(text: &str) -> Masked {
    replaced_with(text, find(text), |secret| {
        "\n".repeat(secret.bytes().filter(|byte| *byte == b'\n').count())
    })
}

fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut secrets = find_as_written(text);
    if !text.is_ascii() && text.contains(is_unseen) {
        secrets.extend(zero_width::find(text));
    }
    if escaped::may_be_in(text) {
        secrets.extend(escaped::find(text));
    }
    secrets
}

fn find_as_written(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut secrets = token_patterns::find(text);
    secrets.extend(assignments::find(text));
    secrets.extend(unquoted::find(text));
    secrets.extend(passphrases::find(text));
    secrets.extend(url_query::find(text));
    secrets.extend(service_tokens::find(text));
    secrets.extend(encoded::find(text));
    secrets.extend(cookie::find(text));
    secrets.extend(pgpass::find(text));
    secrets.extend(spaced::find(text));
    url_credentials::passwords(text, &mut secrets);
    secrets
}

/// Returns the kinds of secrets whose masks are in a text.
pub fn masks_in(text: &str) -> Vec<Kind> {
    let named = text.split("[secret: ").skip(1);
    let names = named.filter_map(|rest| Some(rest.split_once(']')?.0));
    names.filter_map(Kind::named).collect()
}

/// Also replaces each secret of a command line that only the option, the variable or the program
/// before it identifies: `mysql -p…`, `PGPASSWORD=…`, `curl -u name:…`.
///
/// Linear in the length of the text. In anything but commands it would mask too much.
pub fn mask_command(text: &str) -> Masked {
    let mut secrets = command::find(text);
    if may_hold_form(text) {
        secrets.extend(find(text));
    }
    replaced(text, secrets)
}

/// Whether a text may hold a secret that its form or its name identifies. Searching for them costs
/// more than all other processing of a command.
fn may_hold_form(text: &str) -> bool {
    /// Words that may come before a secret of any length.
    const NAMES: [&str; 17] = [
        "pass",
        "pw",
        "ароль",
        "密",
        "パスワード",
        "비밀번호",
        "secret",
        "token",
        "key",
        "auth",
        "cred",
        "wort",
        "woord",
        "contrase",
        "senha",
        "net user",
        "jdbc:",
    ];
    /// Fewest letters of a text that can contain a secret by its form.
    const SHORTEST: usize = 16;
    let is_of_secret = |letter: char| letter.is_ascii_alphanumeric() || "+=_-".contains(letter);
    let mut words = text.split(|letter| !is_of_secret(letter));
    if words.any(|word| word.len() >= SHORTEST) {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    NAMES.iter().any(|name| lower.contains(name))
}

fn replaced(text: &str, secrets: Vec<(Range<usize>, Kind)>) -> Masked {
    replaced_with(text, secrets, |_| String::new())
}

/// Replaces secrets by their masks, and what `rest` leaves of them.
fn replaced_with(
    text: &str,
    mut secrets: Vec<(Range<usize>, Kind)>,
    rest: impl Fn(&str) -> String,
) -> Masked {
    // If two overlap, the one that begins first has the better name, and both must be masked.
    secrets.sort_by_key(|(at, kind)| (at.start, usize::MAX - at.end, *kind));
    let mut masked = Masked {
        text: String::with_capacity(text.len()),
        found: Vec::new(),
    };
    let mut copied = 0;
    for (at, kind) in secrets {
        if at.start < copied {
            if at.end > copied {
                masked.text.push_str(&rest(&text[copied..at.end]));
                copied = at.end;
            }
            continue;
        }
        masked.text.push_str(&text[copied..at.start]);
        masked.text.push_str("[secret: ");
        masked.text.push_str(kind.name());
        masked.text.push(']');
        masked.text.push_str(&rest(&text[at.clone()]));
        masked.found.push(kind);
        copied = at.end;
    }
    masked.text.push_str(&text[copied..]);
    masked
}

#[cfg(test)]
mod tests;
