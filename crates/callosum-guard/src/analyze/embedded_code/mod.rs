//! One-liners in other languages: what they would run, delete or write.
//!
//! No language is parsed. Names, strings and brackets are enough to see which strings reach a
//! function that runs or deletes something, also if they are joined from pieces or kept in a
//! variable first.
//!
//! Start with [`effects`]. `token` splits a program into tokens. These modules work out values:
//!
//! - `fold`: strings before a program is examined
//! - `constants`: values of names
//! - `call`: the context of a call
//! - `external_input`: values from outside
//! - `spawn_options`: settings of a call besides words
//! - `path`: methods of path objects
//! - `quoting`: text that is quoted for a shell
//! - `child_stdin`: text that a program writes to its child processes
//! - `command_strings`: strings that may be commands
//! - `dynamic_spawn`: programs with unknown arguments
//! - `import`: functions under other names
//! - `iterator_calls`: loops without a variable
//!
//! These find effects:
//!
//! - `directory_listing` and `file_writes`: files that a program lists and writes
//! - `library`, `service_clients`, `repository` and `orm`: libraries that run programs or talk to
//!   services, repositories and tables
//! - `statement`: statements for a database
//! - `exfiltration`: secrets that it sends
//! - `process` and `mode`: what it does to processes and to permissions
//! - `decoded_exec`: code that it decodes and then runs
//! - `reverse_shell`: shells that it joins to a connection
//! - `compiled`: all of that in compiled languages

mod call;
mod child_stdin;
mod command_strings;
mod compiled;
mod constants;
mod decoded_exec;
mod directory_listing;
mod dynamic_spawn;
mod exfiltration;
mod external_input;
mod file_writes;
mod fold;
mod fold_calls;
mod function;
mod import;
mod interpolation;
mod iterator_calls;
mod language;
mod library;
mod loops;
mod mode;
mod orm;
mod path;
mod process;
mod quoting;
mod repository;
mod reverse_shell;
mod service_clients;
mod spawn_options;
mod statement;
mod token;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

pub(super) use self::compiled::{COMPILED, PROJECT};
pub(super) use self::external_input::Given;
pub(super) use self::language::{LANGUAGES, Language};
use self::{
    call::{arguments, before, first_text, last_text},
    constants::{folded, with_names},
    directory_listing::{listed, look_at_listed},
    fold::{homed, lettered, pathed},
    function::{ASKS, COPY, DELETE, DELETE_ONE, LINK, MOVE, OPENS, RUN},
    loops::rounds,
    spawn_options::SpawnOptions,
    statement::{asks_database, changes_database, has_tests},
    token::{Token, tokens},
};
use super::KnownPrograms;

/// An effect that a program would have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Run this text in a shell.
    Shell(String),
    /// Run these words.
    Words(Vec<String>),
    /// Perhaps run this text: it is in a program that runs something.
    Perhaps(String),
    /// The same in this folder.
    Within(String, Box<Effect>),
    /// The same, which reads this.
    Fed(String, Box<Effect>),
    /// Go on in this folder.
    Enters(String),
    /// Write to this file, with its contents if those are one string.
    Writes(String, Option<String>),
}

/// Lists the effects of a program, as far as its strings show them.
pub(super) fn effects(
    language: &Language,
    source: &str,
    home: &str,
    known: KnownPrograms,
) -> Vec<Effect> {
    effects_given(language, source, home, known, &Given::default())
}

/// The same of a program that is given something from outside.
pub(super) fn effects_given(
    language: &Language,
    source: &str,
    home: &str,
    known: KnownPrograms,
    given: &Given,
) -> Vec<Effect> {
    if language.is_compiled() {
        // Quotes within quotes, as only Dart has them.
        let source = source.replace("${Platform.environment['HOME']}", home);
        let tokens = compiled::known(language, tokens(language, &source), home);
        let mut found = compiled::effects(language, &tokens, home, known);
        found.truncate(32);
        return found;
    }
    // Quotes within quotes, as only PHP has them.
    let filled = (language.name == "php -r").then(|| {
        let source = source.replace("{$_SERVER[\"HOME\"]}", home);
        source.replace("{$_ENV[\"HOME\"]}", home)
    });
    let source = filled.as_deref().unwrap_or(source);
    let spelled = import::named(language, tokens(language, source));
    let spelled = lettered(iterator_calls::named(language, spelled));
    let literal = folded(language, spelled.clone(), home);
    let spelled = given.put_into(language, spawn_options::parted(language, spelled));
    let spelled = homed(spelled, home);
    let whole = folded(language, spelled.clone(), home);
    let length = whole.len();
    let mut tokens = pathed(whole);
    // A name may hold a path that was put together.
    if tokens.len() < length {
        tokens = folded(language, tokens, home);
    }
    let rounds = rounds(&tokens);
    let mut found = Vec::new();
    if language.name == "python -c" {
        found.extend(library::calls(&tokens));
    }
    for round in &rounds {
        let tokens = pathed(with_names(language, spelled.clone(), home, round.clone()));
        let mut effects = in_order(language, &tokens, home, known);
        effects.extend(dynamic_spawn::verbs(&tokens));
        effects.retain(|effect| !found.contains(effect));
        found.extend(effects);
    }
    let mut effects = in_order(language, &tokens, home, known);
    if rounds.is_empty() {
        effects.extend(dynamic_spawn::verbs(&tokens));
    }
    effects.retain(|effect| !found.contains(effect));
    found.extend(effects);
    // A pipe of awk: `"cmd" | getline`, `print | "cmd"`.
    if language.name == "awk" {
        found.extend(file_writes::by_print(&tokens));
        for (at, token) in tokens.iter().enumerate() {
            if *token == Token::Sign('|') {
                if let Some(Token::Text(text)) = tokens.get(at + 1)
                    && is_shell(text)
                {
                    found.push(words(&["unknown-script"]));
                }
                for near in [at.wrapping_sub(1), at + 1] {
                    if let Some(Token::Text(text)) = tokens.get(near) {
                        found.push(Effect::Shell(text.clone()));
                    }
                }
            }
        }
    }
    if language.name == "osascript -e" {
        for (at, token) in tokens.iter().enumerate() {
            if *token == Token::Name("script".to_owned())
                && let Some(Token::Text(text)) = tokens.get(at + 1)
            {
                found.push(Effect::Shell(text.clone()));
            }
        }
    }
    let names = |wanted: &[&str]| {
        tokens
            .iter()
            .any(|token| matches!(token, Token::Name(name) if wanted.contains(&last(name))))
    };
    if names(&["fork"]) && names(&["while", "loop", "for", "until"]) {
        found.push(Effect::Words(vec!["fork-bomb".to_owned()]));
    }
    if reverse_shell::joins_a_shell(&tokens) {
        found.push(words(&["joined-shell"]));
    }
    found.extend(exfiltration::effects(&tokens, given.is_fed_secrets));
    command_strings::strings(&literal, known, &mut found);
    found.extend(decoded_exec::effects(language, &tokens, home, known));
    let fetches = names(&["urlopen", "urlretrieve", "fetch", "requests"])
        || tokens.iter().any(|token| matches!(token, Token::Text(text) if text.starts_with("http://") || text.starts_with("https://")));
    if fetches && names(&["exec", "eval", "system", "execSync", "Function"]) {
        found.push(Effect::Words(vec!["remote-code".to_owned()]));
    }
    found.truncate(32);
    found
}

/// Lists the effects of a program's functions, read from start to end.
fn in_order(
    language: &Language,
    tokens: &[Token],
    home: &str,
    known: KnownPrograms,
) -> Vec<Effect> {
    let listed = listed(language, tokens);
    let program = Program {
        language,
        tokens,
        home,
        known,
        fed: child_stdin::written(language, tokens),
        named: Named::new(tokens),
    };
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Run(text) => found.push(Effect::Shell(text.clone())),
            Token::Name(name) => {
                look(&program, name, at, &mut found);
                look_at_listed(name, tokens, at, &listed, &mut found);
            }
            // `f(…)("rm -rf /")`
            Token::Sign(')') => {
                if let (Some(Token::Sign('(')), Some(Token::Text(text))) =
                    (tokens.get(at + 1), tokens.get(at + 2))
                {
                    found.push(Effect::Shell(text.clone()));
                }
            }
            _ => {}
        }
    }
    found
}

fn last(name: &str) -> &str {
    name.rsplit(['.', ':', '>']).next().unwrap_or(name)
}

/// A program that is read from its begin to its end.
struct Program<'a> {
    language: &'a Language,
    tokens: &'a [Token],
    home: &'a str,
    known: KnownPrograms,
    /// Text that it writes to its child processes.
    fed: Option<String>,
    /// Names in it, by which libraries are recognized.
    named: Named<'a>,
}

/// The parts of all names that a program has, and its texts.
struct Named<'a>(HashSet<&'a str>);

impl<'a> Named<'a> {
    fn new(tokens: &'a [Token]) -> Named<'a> {
        let mut named = HashSet::with_capacity(tokens.len());
        for token in tokens {
            match token {
                Token::Name(name) => named.extend(name.split('.')),
                Token::Text(text) => {
                    named.insert(text.as_str());
                }
                Token::Run(_) | Token::Sign(_) => {}
            }
        }
        Named(named)
    }

    /// Whether it names one of these.
    fn any(&self, wanted: &[&str]) -> bool {
        wanted.iter().any(|one| self.0.contains(one))
    }
}

/// Adds what a function would do with the strings behind it.
fn look(program: &Program<'_>, name: &str, at: usize, found: &mut Vec<Effect>) {
    let Program {
        language,
        tokens,
        home,
        known,
        ..
    } = *program;
    let whole = name;
    let name = last(name);
    let called = matches!(tokens.get(at + 1), Some(Token::Sign('(' | '{' | '[')));
    // `kill 9, -1`, `chmod 0777, "a"`
    let is_numbered = matches!(language.name, "perl -e" | "ruby -e")
        && matches!(name, "kill" | "chmod" | "chown")
        && matches!(tokens.get(at + 1), Some(Token::Sign('0'..='9' | '-' | ':')));
    let bare = matches!(tokens.get(at + 1), Some(Token::Text(_)))
        || is_numbered
        || matches!(tokens.get(at + 1), Some(Token::Name(near)) if last(near) == "glob");
    // `Pathname.new("x").rmtree`, and `p.unlink` of one that a name holds
    let is_held = whole.starts_with('.') && DELETE_ONE.contains(&name);
    let is_method =
        language.name == "ruby -e" && (DELETE.contains(&name) && whole == name || is_held);
    // `open my $p, "|-", "sh"`
    let opens = language.name == "perl -e" && name == "open";
    if !called && !bare && !opens {
        let is_behind = |token: &Token| matches!(token, Token::Sign(')') | Token::Text(_));
        let on = tokens[..at]
            .last()
            .filter(|token| is_method && is_behind(token));
        let path = on.and_then(|_| before(tokens, at));
        found.extend(path.map(|path| words(&["rm", "-rf", &at_home(path, home)])));
        return;
    }
    let arguments = arguments(tokens, at + 1);
    let text = |index: usize| match arguments.get(index) {
        Some(Token::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let first = arguments
        .iter()
        .position(|token| matches!(token, Token::Text(_)));
    if ASKS.contains(&name)
        && let Some(statement) = first_text(&arguments).filter(|text| changes_database(text))
    {
        let opened = tokens.iter().position(|token| match token {
            Token::Name(name) => OPENS.contains(&last(name)),
            _ => false,
        });
        // A test is handed a database that is made for it.
        if opened.is_none() && language.name == "python -c" && has_tests(tokens) {
            return;
        }
        let database = opened.and_then(|at| first_text(&self::arguments(tokens, at + 1)));
        let database = database.unwrap_or_else(|| "database".to_owned());
        found.push(words(&["sqlite3", &database, &statement]));
        return;
    }
    // `c.execute("select 1")`
    if ASKS.contains(&name) && first_text(&arguments).is_some_and(|text| asks_database(&text)) {
        return;
    }
    if child_stdin::is_pipe(language, name, &arguments) {
        let strings = child_stdin::piped(&arguments);
        run(program, &SpawnOptions::from_words(strings), found);
        return;
    }
    if RUN.contains(&name) {
        let options = SpawnOptions::of_call(name, &arguments);
        let Some(one) = options.words.first() else {
            // `system($0)` runs each line that comes in.
            if language.name == "awk" && name == "system" {
                found.push(words(&["unknown-script"]));
            }
            return;
        };
        if language.name == "python -c" && matches!(name, "exec" | "eval") {
            found.extend(effects(language, one, home, known));
            return;
        }
        if name == "eval" {
            found.extend(effects(language, one, home, known));
        }
        run(program, &options, found);
        return;
    }
    // `cd(…)` of zx and shelljs
    let enters = name == "chdir" || name == "cd" && called && !language.is_lisp();
    if enters {
        let folder = first.and_then(text).map(|folder| at_home(folder, home));
        found.extend(folder.map(Effect::Enters));
        return;
    }
    let named = &program.named;
    let asked = process::asked(language, whole, tokens, &arguments, named)
        .or_else(|| path::method_effect(language, whole, tokens, at, &arguments, home))
        .or_else(|| mode::asked(language, whole, &arguments, home))
        .or_else(|| service_clients::asked(whole, tokens, at, &arguments, named))
        .or_else(|| repository::asked(whole, &arguments, named))
        .or_else(|| orm::asked(whole, tokens, at, &arguments, named));
    if let Some(effect) = asked {
        found.push(effect);
        return;
    }
    // `find(sub { unlink }, "x")` of Perl's
    if language.name == "perl -e"
        && matches!(name, "find" | "finddepth")
        && names_any(&arguments, &["unlink", "rmtree", "remove_tree"])
        && let Some(folder) = first_text(&arguments)
    {
        found.push(words(&["rm", "-rf", &at_home(folder, home)]));
        return;
    }
    let deletes = DELETE.contains(&name);
    if deletes || DELETE_ONE.contains(&name) {
        // `rm("-rf", "x")` of shelljs
        let option = first.and_then(text).filter(|text| text.starts_with('-'));
        let first = match option {
            Some(_) => first.and_then(|at| {
                let is_text = |token: &Token| matches!(token, Token::Text(_));
                Some(at + 1 + arguments.get(at + 1..)?.iter().position(is_text)?)
            }),
            None => first,
        };
        let base = names_home(&arguments)
            .then(|| home.to_owned())
            .or_else(|| first.and_then(text))
            .or_else(|| before(tokens, at));
        let Some(path) = base else { return };
        if path.contains(' ') && !path.contains('/') {
            return;
        }
        let path = at_home(path, home);
        let forced = arguments
            .iter()
            .any(|token| matches!(token, Token::Name(name) if last(name) == "recursive"));
        let forced = forced || option.is_some_and(|option| option.contains(['r', 'R']));
        let option = if deletes || forced { "-rf" } else { "-f" };
        found.push(words(&["rm", option, &path]));
        // `unlink("a", "b")`, `File.delete(*["a", "b"])`
        if matches!(language.name, "perl -e" | "ruby -e") {
            let others = first.map_or(0, |first| first + 1);
            for token in arguments.iter().skip(others) {
                if let Token::Text(path) = token {
                    found.push(words(&["rm", option, &at_home(path.clone(), home)]));
                }
            }
        }
        return;
    }
    if let Some(effect) = path::asked(whole, tokens, at, &arguments, home) {
        found.push(effect);
        return;
    }
    // `os.rename("a", "b")`, not a method of something else.
    for (functions, program) in [(COPY, "cp"), (MOVE, "mv"), (LINK, "ln")] {
        if functions.contains(&whole) || functions.contains(&name) {
            if let (Some(from), Some(to)) = (first.and_then(text), last_text(&arguments)) {
                let (from, to) = (at_home(from, home), at_home(to, home));
                found.push(words(&[program, &from, &to]));
            }
            return;
        }
    }
    found.extend(file_writes::by_function(whole, tokens, at, home));
}

/// Adds the program that a call runs, in its folder and with what it reads.
fn run(program: &Program<'_>, options: &SpawnOptions, found: &mut Vec<Effect>) {
    let strings = &options.words;
    let Some(one) = strings.first() else { return };
    let mut effect = if strings.len() > 1 && !one.trim().contains(' ') {
        // `execl("/bin/rm", "rm", "-rf", "/")` has the name twice.
        let again = strings.len() > 2
            && crate::path::name(one) == crate::path::name(&strings[1])
            && !strings[1].starts_with('-');
        Effect::Words(strings[usize::from(again)..].to_vec())
    } else {
        Effect::Shell(one.clone())
    };
    // `run(["bash"], input="rm -rf /")`
    if let Some(input) = options.input.as_ref().or(program.fed.as_ref()) {
        effect = Effect::Fed(input.clone(), Box::new(effect));
    }
    if let Some(folder) = &options.folder {
        effect = Effect::Within(at_home(folder.clone(), program.home), Box::new(effect));
    }
    found.push(effect);
}

/// Whether a command is a shell that reads what comes in.
fn is_shell(text: &str) -> bool {
    let mut parts = text.split_whitespace();
    let name = crate::path::name(parts.next().unwrap_or(""));
    crate::program_names::SHELLS.contains(&name)
        && parts.all(|part| part.starts_with('-') && part != "-c")
}

fn words(words: &[&str]) -> Effect {
    Effect::Words(words.iter().map(|word| (*word).to_owned()).collect())
}

fn at_home(path: String, home: &str) -> String {
    match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => path,
    }
}

fn names_home(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| match token {
        Token::Name(name) => matches!(last(name), "home" | "homedir" | "HOME"),
        Token::Text(text) => text == "HOME",
        _ => false,
    })
}

/// Whether a program names one of these, as a part of a name or a text.
fn names_any(tokens: &[Token], wanted: &[&str]) -> bool {
    tokens.iter().any(|token| match token {
        Token::Name(name) => name.split('.').any(|part| wanted.contains(&part)),
        Token::Text(text) => wanted.contains(&text.as_str()),
        Token::Run(_) | Token::Sign(_) => false,
    })
}
