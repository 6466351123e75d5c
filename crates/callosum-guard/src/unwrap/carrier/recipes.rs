//! The tasks of a makefile or a justfile, and which of them would run.
//!
//! A name that is asked for brings what it needs with it. A rule whose name cannot be read, by a variable or a
//! pattern, may be any: it is always taken along.

use std::collections::BTreeSet;

use crate::unwrap::{
    value::{Arg, MAYBE, SOME},
    wrapper::takes_next,
};

/// What stands in a file of tasks.
#[derive(Debug, Default)]
pub(super) struct Recipes {
    tasks: Vec<Task>,
    /// The names of it that run where none is asked for.
    usual: Vec<String>,
}

/// What `make` or `just` is asked for.
#[derive(Debug)]
pub(super) enum Asked {
    /// To show what there is, or what it would do.
    Show,
    /// To run the tasks of these names, or the usual one.
    Run(Vec<String>),
}

impl Asked {
    pub(super) fn of_make(words: &[Arg]) -> Asked {
        const TAKES: &str = "-f --file --makefile -C --directory -I --include-dir -o --old-file \
            --assume-old -W --what-if --new-file --assume-new -E --eval -j -l -O";
        const SHOWS: [&str; 7] = [
            "--dry-run",
            "--just-print",
            "--recon",
            "--question",
            "--touch",
            "--help",
            "--version",
        ];
        // `-nB`, but not `-fnew.mk`.
        let shows = |option: &str| {
            let mut letters = option
                .chars()
                .skip(1)
                .take_while(|c| !"fCIoWEjlO".contains(*c));
            SHOWS.contains(&option)
                || !option.starts_with("--") && letters.any(|c| "nqthv".contains(c))
        };
        Asked::read(words, TAKES, shows)
    }

    pub(super) fn of_just(words: &[Arg]) -> Asked {
        const TAKES: &str = "-f --justfile -d --working-directory --shell --shell-arg --dotenv-path \
            --dotenv-filename --color --chooser --tempdir";
        const SHOWS: [&str; 21] = [
            "-n",
            "--dry-run",
            "-l",
            "--list",
            "-s",
            "--show",
            "--summary",
            "--usage",
            "--groups",
            "--variables",
            "--evaluate",
            "--dump",
            "--fmt",
            "--init",
            "-e",
            "--edit",
            "--completions",
            "--changelog",
            "--man",
            "--help",
            "--version",
        ];
        Asked::read(words, TAKES, |option| SHOWS.contains(&option))
    }

    pub(super) fn of_task(words: &[Arg]) -> Asked {
        const TAKES: &str = "-t --taskfile -d --dir -o --output -C --concurrency -I --interval \
            --sort --completion";
        const SHOWS: [&str; 13] = [
            "-n",
            "--dry",
            "-l",
            "--list",
            "-a",
            "--list-all",
            "--summary",
            "--status",
            "-i",
            "--init",
            "--completion",
            "--help",
            "--version",
        ];
        Asked::read(words, TAKES, |option| SHOWS.contains(&option))
    }

    fn read(words: &[Arg], takes: &str, shows: impl Fn(&str) -> bool) -> Asked {
        let mut names = Vec::new();
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            at += 1;
            if text.starts_with('-') && text.len() > 1 {
                if shows(text) {
                    return Asked::Show;
                }
                // `-j` and its like need no number.
                let is_there = words.get(at).is_some_and(|next| {
                    !matches!(text, "-j" | "-l" | "-O") || next.text.parse::<f32>().is_ok()
                });
                at += usize::from(is_there && takes_next(text, takes));
            } else if !text.contains('=') {
                names.extend(listed(text));
            }
        }
        Asked::Run(names)
    }
}

#[derive(Debug, Default)]
struct Task {
    /// Empty where it may be any.
    names: Vec<String>,
    needs: Vec<String>,
    lines: Vec<String>,
}

impl Recipes {
    /// Reads a makefile.
    pub(super) fn of_make(text: &str) -> Recipes {
        let mut recipes = Recipes::default();
        let mut tasks = vec![Task::default()];
        for line in whole_lines(text) {
            let line = line.as_str();
            if let Some(recipe) = line.strip_prefix('\t') {
                if let Some(task) = tasks.last_mut() {
                    task.lines.push(recipe.to_owned());
                }
                continue;
            }
            if line.trim_start().starts_with("define ") {
                tasks.push(Task::default());
                continue;
            }
            let line = line.split('#').next().unwrap_or("");
            if let Some((".DEFAULT_GOAL", goal)) = assigned(line) {
                recipes.usual = vec![goal.to_owned()];
            }
            let Some((names, rest)) = rule(line) else {
                continue;
            };
            let (needs, recipe) = rest.split_once(';').unwrap_or((rest, ""));
            let needs = filled(needs, text);
            let mut task = Task {
                names: listed(names.trim_end_matches('&')),
                needs: listed(needs.trim_start_matches(':')),
                lines: Vec::new(),
            };
            task.lines
                .extend((!recipe.is_empty()).then(|| recipe.to_owned()));
            if names.contains(|letter| matches!(letter, '$' | '%') || is_sign(letter)) {
                task.names.clear();
            }
            tasks.push(task);
        }
        recipes.begin_with(tasks, |name| !name.starts_with('.') || name.contains('/'));
        recipes
    }

    /// Reads a Taskfile. Whatever a task says a name of is taken for needed by it.
    pub(super) fn of_task(text: &str) -> Recipes {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let mut recipes = Recipes {
            usual: vec!["default".to_owned()],
            ..Recipes::default()
        };
        let mut tasks = vec![Task::default()];
        let mut of_names = None;
        for line in text.lines() {
            let words = line.trim();
            if indent(line) == 0 && !words.is_empty() {
                of_names = (words == "tasks:").then_some(0);
                tasks.push(Task::default());
                continue;
            }
            if of_names == Some(0) && !words.is_empty() && !words.starts_with('#') {
                of_names = Some(indent(line));
            }
            let here = of_names == Some(indent(line)) && !words.starts_with(['#', '-']);
            if let Some((name, command)) = words.split_once(':').filter(|_| here) {
                let command = command.trim();
                tasks.push(Task {
                    names: vec![name.trim_matches(['"', '\'']).to_owned()],
                    needs: Vec::new(),
                    lines: plain(command).into_iter().collect(),
                });
                continue;
            }
            let Some(task) = tasks.last_mut() else {
                continue;
            };
            let parts = words.split([' ', ',', '[', ']', '{', '}', '"', '\'']);
            task.needs.extend(parts.map(str::to_owned));
            let command = words
                .strip_prefix("- cmd: ")
                .or_else(|| words.strip_prefix("cmd: "))
                .or_else(|| words.strip_prefix("- "));
            task.lines.extend(command.and_then(plain));
        }
        recipes.tasks = tasks;
        recipes
    }

    /// Reads a justfile.
    pub(super) fn of_just(text: &str) -> Recipes {
        let mut recipes = Recipes::default();
        let mut tasks = vec![Task::default()];
        for line in text.lines() {
            if line.starts_with([' ', '\t']) {
                if let Some(task) = tasks.last_mut() {
                    task.lines.push(line.to_owned());
                }
                continue;
            }
            let line = line.trim_start_matches('@');
            if let Some(alias) = line.strip_prefix("alias ")
                && let Some((name, of)) = alias.split_once(":=")
            {
                tasks.push(Task {
                    names: listed(name),
                    needs: listed(of),
                    lines: Vec::new(),
                });
                continue;
            }
            let Some((head, needs)) = line
                .split_once(':')
                .filter(|(head, rest)| !rest.starts_with('=') && !head.starts_with(['#', '[']))
            else {
                continue;
            };
            // `deploy env="prod": build (push "x")`
            let needs = needs.replace(['(', ')', '&'], " ");
            tasks.push(Task {
                names: head.split_whitespace().take(1).map(str::to_owned).collect(),
                needs: listed(needs.split('#').next().unwrap_or("")),
                lines: Vec::new(),
            });
        }
        recipes.begin_with(tasks, |_| true);
        recipes
    }

    fn begin_with(&mut self, tasks: Vec<Task>, may_begin: impl Fn(&str) -> bool) {
        if self.usual.is_empty() {
            let mut names = tasks.iter().filter_map(|task| task.names.first());
            self.usual = names
                .find(|name| may_begin(name))
                .into_iter()
                .cloned()
                .collect();
        }
        self.tasks = tasks;
    }

    /// The lines that would run where this is asked for.
    pub(super) fn lines(&self, asked: &Asked) -> Vec<String> {
        let Asked::Run(names) = asked else {
            return Vec::new();
        };
        let usual = if names.is_empty() { &self.usual } else { names };
        // What is not known may be any of them, and a file that calls itself may ask for any.
        let is_open = |name: &String| name.contains(|letter| letter == '$' || is_sign(letter));
        let calls_itself =
            |task: &Task| task.lines.iter().any(|line| line.contains("MAKEFILE_LIST"));
        let all = usual.iter().any(is_open) || self.tasks.iter().any(calls_itself);
        let mut taken: BTreeSet<&str> = usual.iter().map(String::as_str).collect();
        let runs = |task: &Task, taken: &BTreeSet<&str>| {
            task.names.is_empty() || task.names.iter().any(|name| taken.contains(name.as_str()))
        };
        loop {
            let before = taken.len();
            for task in &self.tasks {
                if runs(task, &taken) {
                    taken.extend(task.needs.iter().map(String::as_str));
                }
            }
            if taken.len() == before {
                break;
            }
        }
        let running = self.tasks.iter().filter(|task| all || runs(task, &taken));
        running.flat_map(|task| task.lines.clone()).collect()
    }
}

/// A sign of what is not known.
fn is_sign(letter: char) -> bool {
    matches!(letter, MAYBE | SOME)
}

/// A command of a Taskfile without its quotes.
fn plain(command: &str) -> Option<String> {
    let command = command.trim_matches(['"', '\'']);
    (!command.is_empty()).then(|| command.to_owned())
}

/// What a rule of a makefile needs, with the variables that are set there to plain words.
fn filled(needs: &str, makefile: &str) -> String {
    let mut needs = needs.to_owned();
    let set = makefile.lines().filter(|line| !line.starts_with('\t'));
    for (name, value) in set.filter_map(assigned) {
        if needs.contains('$') && !value.contains('$') {
            needs = needs
                .replace(&format!("$({name})"), value)
                .replace(&format!("${{{name}}}"), value);
        }
    }
    needs
}

/// The lines of a makefile, those of its rules with what goes on in the next one.
fn whole_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.truncate(last.len() - 1);
                last.push_str(line);
            }
            None => lines.push(line.to_owned()),
        }
        let last = lines.last().map_or("", String::as_str);
        goes_on = last.ends_with('\\') && !last.starts_with('\t');
    }
    lines
}

fn listed(text: &str) -> Vec<String> {
    let words = text.split_whitespace();
    words
        .map(|word| word.strip_prefix("./").unwrap_or(word).to_owned())
        .collect()
}

/// The name and the value of a variable that a line of a makefile sets.
fn assigned(line: &str) -> Option<(&str, &str)> {
    let (left, value) = line.split_once('=')?;
    Some((
        left.trim_end_matches([':', '?', '+', '!']).trim(),
        value.trim(),
    ))
}

/// The two sides of a rule.
fn rule(line: &str) -> Option<(&str, &str)> {
    let (names, rest) = line.split_once(':')?;
    let sets = names.contains('=') || rest.trim_start_matches(':').starts_with('=');
    (!sets && !names.trim().is_empty()).then_some((names, rest))
}
