//! Files of tasks that were written before in the same command: makefiles, justfiles,
//! `package.json`.
//!
//! The contents of a file that existed before are not known here.

use std::collections::BTreeMap;

use super::recipes::{Recipes, RequestedRecipe};
use crate::analyze::{
    evaluator::Evaluator,
    value::{Arg, Value},
    wrapper_table::first_operand,
};

/// Tasks that are followed.
const MAX_TASKS: usize = 64;

impl Evaluator<'_> {
    /// Follows the tasks that a program would run.
    pub(super) fn tasks(&mut self, name: &str, words: &[Arg], input: Option<&Value>) {
        match name {
            "make" | "gmake" => {
                let content = self.file_of_tasks(
                    words,
                    input,
                    &["-f", "--file", "--makefile"],
                    &["Makefile", "makefile", "GNUmakefile"],
                );
                // What is given by an option is read before the file.
                let mut text = String::new();
                for (at, word) in words.iter().enumerate() {
                    let given = match word.text.as_str() {
                        "-E" | "--eval" => words.get(at + 1).map(|word| word.text.as_str()),
                        other => other.strip_prefix("--eval="),
                    };
                    if let Some(given) = given {
                        text.push_str(given);
                        text.push('\n');
                    }
                }
                text.push_str(&content.text);
                let recipes =
                    Recipes::of_make(&text, words).lines(&RequestedRecipe::of_make(words));
                let variables = self.variables_of_make(&text, words);
                let recipes = recipes.iter().map(|recipe| of_make(recipe, &variables));
                // Calls outside of a recipe run as the file is read.
                let read = text.lines().filter(|line| !line.starts_with('\t'));
                let read = read.filter_map(|line| {
                    let (_, text) = line.split_once("$(shell ")?;
                    Some(
                        text.rsplit_once(')')
                            .map_or(text, |(text, _)| text)
                            .to_owned(),
                    )
                });
                let found = recipes.chain(read).collect();
                let folder = words
                    .array_windows()
                    .find(|[option, _]| matches!(option.text.as_str(), "-C" | "--directory"))
                    .map(|[_, folder]| folder.value());
                self.apart(|walker| {
                    if let Some(folder) = &folder {
                        walker.enter(folder);
                    }
                    walker.each_task(name, found);
                    Value::default()
                });
            }
            "just" => {
                let content = self.file_of_tasks(
                    words,
                    input,
                    &["-f", "--justfile"],
                    &["justfile", "Justfile", ".justfile"],
                );
                let lines = Recipes::of_just(&content.text).lines(&RequestedRecipe::of_just(words));
                self.each_task(name, lines);
            }
            "task" | "go-task" => {
                let content = self.file_of_tasks(
                    words,
                    input,
                    &["-t", "--taskfile"],
                    &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml"],
                );
                let lines = Recipes::of_task(&content.text).lines(&RequestedRecipe::of_task(words));
                self.each_task(name, lines);
            }
            "cargo" | "makers" => {
                let content =
                    self.file_of_tasks(words, input, &["--makefile", "-m"], &["Makefile.toml"]);
                self.each_task("cargo make", of_cargo_make(&content.text));
            }
            "npm" | "pnpm" | "yarn" | "bun" => self.scripts(name, words),
            _ => {}
        }
    }

    /// Follows the tasks of `cargo make`.
    pub(super) fn cargo_make(&mut self, name: &str, words: &[Arg], input: Option<&Value>) {
        let verb = words.get(first_operand(words, 1, ""));
        if name == "makers" || name == "cargo" && verb.is_some_and(|verb| verb.text == "make") {
            self.tasks(name, words, input);
        }
    }

    /// The variables of a makefile, each as it is set first; those that the command sets go before them, and before
    /// `?=` what the environment has.
    fn variables_of_make(&self, makefile: &str, words: &[Arg]) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::new();
        for word in words.iter().skip(1) {
            if let Some((name, value)) = word.text.split_once('=')
                && !name.starts_with('-')
            {
                let name = name.trim_end_matches([':', '?', '+', '!']);
                variables.insert(name.to_owned(), value.replace('$', "$$"));
            }
        }
        for line in makefile.lines().filter(|line| !line.starts_with('\t')) {
            let Some((left, value)) = line.split_once('=') else {
                continue;
            };
            let name = left.trim_end_matches([':', '?', '+', '!']).trim();
            let name = name.rsplit([' ', '\t']).next().unwrap_or(name);
            let is_left = left.ends_with('?') && self.state.get(name).is_some();
            if !is_left && !variables.contains_key(name) {
                variables.insert(name.to_owned(), value.trim().to_owned());
            }
        }
        variables
    }

    pub(super) fn each_task(&mut self, name: &str, recipes: Vec<String>) {
        for recipe in recipes.into_iter().take(MAX_TASKS) {
            let recipe = recipe.trim_start_matches(['@', '-', '+', ' ', '\t']);
            // One that comes to itself again does nothing new.
            let running = format!("{name}: {recipe}");
            if self.state.running.contains(&running) {
                continue;
            }
            self.state.running.push(running);
            self.nested(name, recipe, None);
            self.state.running.pop();
        }
    }

    /// Returns the file that an option names, or the first default one in its working folder.
    pub(super) fn file_of_tasks(
        &self,
        words: &[Arg],
        input: Option<&Value>,
        options: &[&str],
        usual: &[&str],
    ) -> Value {
        let value = |options: &[&str]| {
            words
                .array_windows()
                .find(|[option, _]| options.contains(&option.text.as_str()))
                .map(|[_, value]| value)
        };
        match value(options) {
            Some(file) if matches!(file.text.as_str(), "-" | "/dev/stdin") => {
                input.cloned().unwrap_or_default()
            }
            Some(file) => self.content(file),
            None => {
                let folder = value(&["-C", "--directory", "-d", "--dir", "--prefix", "--cwd"]);
                let folder = folder.map_or(".", |folder| folder.text.as_str());
                let mut paths = usual
                    .iter()
                    .map(|name| self.state.absolute(&format!("{folder}/{name}")));
                paths
                    .find_map(|path| self.state.files.get(&path).cloned())
                    .unwrap_or_default()
            }
        }
    }
}

/// A recipe as its shell gets it: with the variables that `make` knows, and those of the environment in the shell's
/// own form.
fn of_make(recipe: &str, variables: &BTreeMap<String, String>) -> String {
    filled(recipe, variables, 0)
}

/// Limit on the nesting of variables of a makefile in one another.
const MAX_WITHIN: usize = 4;

fn filled(recipe: &str, variables: &BTreeMap<String, String>, within: usize) -> String {
    let mut text = String::new();
    let mut rest = recipe;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('$') {
            text.push('$');
            rest = behind;
            continue;
        }
        let close = match rest.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            // What a rule needs, which a shell would read as a redirection or a pipe.
            Some('<' | '^' | '+' | '|' | '%') => {
                text.push_str("${needed}");
                rest = &rest[1..];
                continue;
            }
            _ => {
                text.push('$');
                continue;
            }
        };
        let inner = rest[1..].split(close).next().unwrap_or("");
        let is_name = inner.chars().all(|c| c.is_alphanumeric() || c == '_');
        if inner == "MAKE" {
            text.push_str("make");
            rest = &rest[1 + "MAKE)".len()..];
        } else if inner.starts_with("shell ") {
            text.push_str("$(");
            rest = &rest[1 + "shell ".len()..];
        } else if is_name && !inner.is_empty() {
            match variables.get(inner).filter(|_| within < MAX_WITHIN) {
                Some(value) => text.push_str(&filled(value, variables, within + 1)),
                None => text.extend(["${", inner, "}"]),
            }
            rest = rest.get(inner.len() + 2..).unwrap_or("");
        } else {
            text.push('$');
        }
    }
    text.push_str(rest);
    text
}

/// The commands of a `Makefile.toml`: a script, or a command with its arguments.
fn of_cargo_make(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut script = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(end) = script {
            if line.ends_with(end) {
                script = None;
            }
            found.push(line.trim_end_matches(end).to_owned());
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let value = value.trim();
        let plain = |value: &str| value.trim_matches(['"', '\'', '[', ']', ' ']).to_owned();
        match key.trim() {
            "script" => {
                let ends = ["\"\"\"", "'''"];
                match ends.into_iter().find(|end| value.starts_with(end)) {
                    Some(end) => script = Some(end),
                    None => found.push(plain(value)),
                }
            }
            "command" => found.push(plain(value)),
            "args" => {
                let words = value.trim_matches(['[', ']']).split(',');
                let words: Vec<String> = words.map(|word| plain(word.trim())).collect();
                if let Some(command) = found.last_mut() {
                    *command = format!("{command} {}", words.join(" "));
                }
            }
            _ => {}
        }
    }
    found
}
