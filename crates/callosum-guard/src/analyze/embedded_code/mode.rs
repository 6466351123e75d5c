//! Changes that a program makes to permissions and owners: `os.chmod("a", 0o777)`,
//! `File.chmod(0777, "a")`.

use super::{
    Effect, Language, at_home,
    call::{number, parts},
    last,
    token::Token,
};
use crate::analyze::value::SOME;

/// Returns the change to permissions or owners that a function call here makes.
pub(super) fn asked(
    language: &Language,
    whole: &str,
    given: &[Token],
    home: &str,
) -> Option<Effect> {
    let own = last(whole);
    let (own, recursive) = match own.strip_suffix("_R") {
        Some(own) => (own, true),
        None => (own, false),
    };
    let program = match own {
        "chmod" | "chmodSync" | "lchmod" => "chmod",
        "chown" | "chownSync" | "lchown" => "chown",
        _ => return None,
    };
    let parts = parts(given);
    // Perl and Ruby name the files last, and several of them.
    let comes_last = matches!(language.name, "perl -e" | "ruby -e");
    let (rights, files) = if comes_last {
        parts.split_at_checked(if program == "chmod" { 1 } else { 2 })?
    } else {
        let (file, rights) = parts.split_at_checked(1)?;
        (rights, file)
    };
    let right = match program {
        "chmod" => mode(rights.first()?),
        _ => SOME.to_string(),
    };
    let files = files.iter().flat_map(|part| part.iter());
    let files = files.filter_map(|token| match token {
        Token::Text(file) => Some(at_home(file.clone(), home)),
        _ => None,
    });
    let mut words = vec![program.to_owned()];
    words.extend(recursive.then(|| "-R".to_owned()));
    words.push(right);
    let length = words.len();
    words.extend(files);
    (words.len() > length).then_some(Effect::Words(words))
}

/// Returns a mode as `chmod` takes it: its digits, or the rights of all that are named.
pub(super) fn mode(given: &[Token]) -> String {
    let names = |wanted: &str| {
        let mut names = given.iter();
        names.any(|token| matches!(token, Token::Name(name) if last(name) == wanted))
    };
    if names("S_IRWXO") {
        return "o+rwx".to_owned();
    }
    if names("S_IWOTH") {
        return "o+w".to_owned();
    }
    let digits = match given {
        [Token::Text(text)] => Some(text.clone()),
        _ => number(given),
    };
    digits.unwrap_or_else(|| SOME.to_string())
}
