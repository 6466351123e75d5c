//! Strings that may be commands, of a program that runs or deletes something.

use super::{
    Effect, LANGUAGES,
    function::{DELETE, DELETE_ONE, RUN},
    token::Token,
};
use crate::{
    analyze::{KnownPrograms, wrapper_table},
    program_names::SHELLS,
};

/// Adds the strings of a program that runs or deletes something, wherever they stand in it: a
/// function may have another name, and a list may be gone through.
pub(super) fn strings(tokens: &[Token], known: KnownPrograms, found: &mut Vec<Effect>) {
    const ABLE: &[&str] = &["subprocess", "child_process", "shelljs", "pty", "open3"];
    // Functions of a few languages, and in all others what one calls a command that is looked at.
    const NOUNS: &[&str] = &["cmd", "command", "script"];
    let able = |wanted: &[&str]| {
        tokens.iter().enumerate().any(|(at, token)| match token {
            Token::Name(name) if NOUNS.contains(&name.as_str()) => {
                wanted.contains(&name.as_str())
                    && matches!(
                        tokens.get(at + 1),
                        Some(Token::Text(_) | Token::Sign('(' | '['))
                    )
            }
            Token::Name(name) => name.split(['.', ':']).any(|part| wanted.contains(&part)),
            Token::Text(text) => {
                let text = text.trim_start_matches("node:");
                // The program `rm` is no function of that name.
                text != "rm" && !NOUNS.contains(&text) && wanted.contains(&text)
            }
            _ => false,
        })
    };
    let pipes = tokens.iter().any(
        |token| matches!(token, Token::Text(text) if text.starts_with('|') || text.ends_with('|')),
    );
    let runs = able(RUN) || able(ABLE) || pipes;
    let deletes = able(DELETE) || able(DELETE_ONE);
    for (at, token) in tokens.iter().enumerate() {
        let Token::Text(text) = token else { continue };
        if found.iter().any(|effect| is_judged(effect, text)) {
            continue;
        }
        if runs && text.contains(' ') && holds_a_command(text, known) {
            found.push(Effect::Perhaps(text.clone()));
        }
        // `folder + "/x"`
        let is_end = at > 0 && matches!(tokens[at - 1], Token::Sign('+' | '.'));
        if deletes && !is_end && text.starts_with(['/', '~']) && !text.contains(' ') {
            found.push(Effect::Perhaps(format!("rm -f {text}")));
        }
    }
}

/// Whether a text is one that is known to be run, in its own folder, or to be read by what is run.
fn is_judged(effect: &Effect, text: &str) -> bool {
    match effect {
        Effect::Shell(line) => line == text,
        Effect::Within(_, effect) => is_judged(effect, text),
        Effect::Fed(input, effect) => input.contains(text.trim_end()) || is_judged(effect, text),
        _ => false,
    }
}

/// Whether a text could be one for a shell: some part of it begins with a program that matters.
pub(super) fn holds_a_command(text: &str, known: KnownPrograms) -> bool {
    text.split([';', '&', '|', '\n', '(', '`', '{'])
        .any(|part| {
            let mut words = part.split_whitespace();
            let first = words.find(|word| !word.contains('=')).unwrap_or("");
            let name = crate::path::name(first.trim_matches(['"', '\'']));
            let joins = matches!(name, "then" | "do" | "else" | "and" | "or" | "not");
            known.contains(name)
                || SHELLS.contains(&name)
                || first.starts_with(['$', '/', '.', '~'])
                || !joins && wrapper_table::WRAPPERS.iter().any(|one| one.names == name)
                || LANGUAGES.iter().any(|language| language.runs(name))
        })
}
