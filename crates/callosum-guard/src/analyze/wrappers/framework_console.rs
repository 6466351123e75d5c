//! Consoles and runners of frameworks, which take a program in their language: `rails runner CODE`, `flask shell`,
//! `manage.py shell`, `artisan tinker`.

use super::embedded_code;
use crate::analyze::{
    evaluator::Evaluator,
    value::{Arg, Value},
    wrapper_table::first_operand,
};

/// A framework's command that takes a program, as a word behind it or as its input, and the
/// language of the program.
struct Console {
    name: &'static str,
    verbs: &'static [&'static str],
    /// Whether the program comes behind the command.
    is_word: bool,
    language: &'static str,
}

const fn console(
    name: &'static str,
    verbs: &'static [&'static str],
    is_word: bool,
    language: &'static str,
) -> Console {
    Console {
        name,
        verbs,
        is_word,
        language,
    }
}

const CONSOLES: [Console; 7] = [
    console("rails", &["runner", "r"], true, "ruby"),
    console("rails", &["console", "c"], false, "ruby"),
    console("flask", &["shell"], false, "python"),
    console("manage.py", &["shell", "shell_plus"], false, "python"),
    console("django-admin", &["shell"], false, "python"),
    console("artisan", &["tinker"], false, "php"),
    console("iex", &["-S"], false, "elixir"),
];

/// Commands of a framework or a service that take statements for the database which it knows.
const DATABASES: [(&str, &[&str]); 7] = [
    ("rails", &["dbconsole", "db"]),
    ("manage.py", &["dbshell"]),
    ("django-admin", &["dbshell"]),
    ("artisan", &["db"]),
    ("heroku", &["pg:psql", "psql"]),
    ("fly", &["postgres", "pg"]),
    ("flyctl", &["postgres", "pg"]),
];

/// Variables that say which database it is.
const STAGES: [&str; 5] = ["RAILS_ENV", "RACK_ENV", "MIX_ENV", "FLASK_ENV", "APP_ENV"];

impl Evaluator<'_> {
    /// Follows the program that a framework's console is given, unless it is that of tests.
    pub(super) fn console(&mut self, name: &str, words: &[Arg], input: Option<&Value>) {
        // `python3 manage.py shell`, `php artisan tinker`
        let script = words
            .get(1)
            .map_or("", |word| crate::path::name(&word.text));
        let (name, words) = match (name, script) {
            ("php", "artisan") => (script, &words[1..]),
            (_, "manage.py") if name.starts_with("python") => (script, &words[1..]),
            _ => (name, words),
        };
        let says = |wanted: &[&str]| {
            words
                .get(1)
                .is_some_and(|word| wanted.contains(&word.text.as_str()))
        };
        let mut consoles = CONSOLES.iter();
        let console = consoles.find(|console| console.name == name && says(console.verbs));
        let mut databases = DATABASES.iter();
        let asks_database = databases.any(|(one, verbs)| *one == name && says(verbs));
        if console.is_none() && !asks_database {
            return;
        }
        let set = self.state.known_texts();
        if STAGES
            .iter()
            .any(|stage| set.get(*stage).is_some_and(|value| value == "test"))
        {
            return;
        }
        let Some(console) = console else {
            return self.database_shell(name, words, input);
        };
        // `rails runner -e production CODE`
        let at = if console.is_word {
            first_operand(words, 2, "-e --environment")
        } else {
            2
        };
        let given = words.get(at..).unwrap_or_default();
        let code = given.iter().find_map(|word| {
            let execute = word.text.strip_prefix("--execute=");
            let is_code = console.is_word && !word.text.starts_with('-');
            execute.or(is_code.then_some(word.text.as_str()))
        });
        let source = match code {
            Some(code) => Some(code.to_owned()),
            None => input.map(|input| input.text.clone()),
        };
        let mut languages = embedded_code::LANGUAGES.iter();
        let language = languages.find(|language| language.runs(console.language));
        if let (Some(source), Some(language)) = (source, language) {
            self.code(language, &source);
        }
    }

    /// Follows the statements that such a shell for a database is given: by `-c`, or as its input.
    fn database_shell(&mut self, name: &str, words: &[Arg], input: Option<&Value>) {
        let mut run = vec![Arg::plain("psql")];
        let mut pairs = words.array_windows();
        let given = pairs.find(|[option, _]| matches!(option.text.as_str(), "-c" | "--command"));
        run.extend(given.into_iter().flatten().cloned());
        self.inner(name, &run, input);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    /// CAKE-SHIM-1: the program of a console is found behind its options.
    #[test]
    fn a_program_behind_options_is_judged() {
        let facts = Facts::of_a_project();
        for command in [
            "rails runner -e production 'system(\"rm -rf /\")'",
            "rails r 'system(\"rm -rf /\")'",
        ] {
            let decision = decide(command, &facts, &Policy::default()).decision;
            assert_eq!(decision, Decision::Block, "{command}");
        }
    }
}
