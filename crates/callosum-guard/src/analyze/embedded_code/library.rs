//! Python libraries in which a function is a program: GitPython's `repo.git.reset(…)`, `sh.git(…)`,
//! plumbum's `local["git"](…)`.

use super::{Effect, arguments, last, spawn_options::SpawnOptions, token::Token};

/// Lists the commands that a program runs with these libraries.
pub(super) fn calls(tokens: &[Token]) -> Vec<Effect> {
    let imported = imported(tokens);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        let behind = tokens.get(at + 1..).unwrap_or_default();
        // `local["git"]("reset", "--hard")`
        if last(name) == "local"
            && let [
                Token::Sign('['),
                Token::Text(program),
                Token::Sign(']'),
                Token::Sign('('),
                ..,
            ] = behind
        {
            found.push(run(&[program], tokens, at + 4));
            continue;
        }
        // `git["reset", "--hard"]()`
        if behind.first() == Some(&Token::Sign('[')) && imported.contains(&name.as_str()) {
            found.push(run(&[name], tokens, at + 1));
            continue;
        }
        if behind.first() != Some(&Token::Sign('(')) {
            continue;
        }
        let parts: Vec<&str> = name.split('.').collect();
        match parts.as_slice() {
            [.., "git", verb] => {
                let verb = verb.replace('_', "-");
                found.push(run(&["git", &verb], tokens, at + 1));
            }
            ["sh", program] => found.push(run(&[program], tokens, at + 1)),
            [program] if imported.contains(program) => {
                found.push(run(&[program], tokens, at + 1));
            }
            [program, verb] if imported.contains(program) => {
                found.push(run(&[program, verb], tokens, at + 1));
            }
            _ => {}
        }
    }
    found
}

/// The names that stand for programs: `from sh import git, rm`.
fn imported(tokens: &[Token]) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, window) in tokens.array_windows().enumerate() {
        let [Token::Name(from), Token::Name(library), Token::Name(import)] = window else {
            continue;
        };
        if from != "from" || import != "import" || !matches!(library.as_str(), "sh" | "plumbum.cmd")
        {
            continue;
        }
        for token in &tokens[at + 3..] {
            match token {
                Token::Name(name) => names.push(name.as_str()),
                Token::Sign(',') => {}
                _ => break,
            }
        }
    }
    names
}

fn run(program: &[&str], tokens: &[Token], at: usize) -> Effect {
    let mut words: Vec<String> = program.iter().map(|word| (*word).to_owned()).collect();
    // `sh.bash(_in="rm -rf /")`
    let options = SpawnOptions::by(&arguments(tokens, at));
    words.extend(options.words);
    match options.input {
        Some(input) => Effect::Fed(input, Box::new(Effect::Words(words))),
        None => Effect::Words(words),
    }
}
