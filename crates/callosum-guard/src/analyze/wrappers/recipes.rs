//! The tasks of a makefile or a justfile, and which of them would run.
//!
//! A name that is asked for brings what it needs with it. A rule whose name cannot be read, by a variable or a
//! pattern, may be any: it is always taken along. How a makefile is read is in `makefile`.

use std::collections::BTreeSet;

use crate::analyze::{
    value::{Arg, MAYBE, SOME},
    wrapper_table::takes_next,
};

/// Contents of a file of tasks.
#[derive(Debug, Default)]
pub(super) struct Recipes {
    tasks: Vec<Task>,
    /// The tasks that run by default.
    pub(super) usual: Vec<String>,
}

/// A request to `make` or `just`.
#[derive(Debug)]
pub(super) enum RequestedRecipe {
    /// To show what there is, or what it would do.
    Show,
    /// To run the tasks of these names, or the usual one.
    Run(Vec<String>),
}

impl RequestedRecipe {
    pub(super) fn of_make(words: &[Arg]) -> RequestedRecipe {
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
        RequestedRecipe::read(words, TAKES, shows)
    }

    pub(super) fn of_just(words: &[Arg]) -> RequestedRecipe {
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
        RequestedRecipe::read(words, TAKES, |option| SHOWS.contains(&option))
    }

    pub(super) fn of_task(words: &[Arg]) -> RequestedRecipe {
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
        RequestedRecipe::read(words, TAKES, |option| SHOWS.contains(&option))
    }

    fn read(words: &[Arg], takes: &str, shows: impl Fn(&str) -> bool) -> RequestedRecipe {
        let mut names = Vec::new();
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            at += 1;
            if text.starts_with('-') && text.len() > 1 {
                if shows(text) {
                    return RequestedRecipe::Show;
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
        RequestedRecipe::Run(names)
    }
}

#[derive(Debug, Default)]
pub(super) struct Task {
    /// Empty if it may be any.
    pub(super) names: Vec<String>,
    pub(super) needs: Vec<String>,
    pub(super) lines: Vec<String>,
}

impl Recipes {
    /// Reads a Taskfile. A task needs any task that it names.
    pub(super) fn of_task(text: &str) -> Recipes {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let mut recipes = Recipes {
            usual: vec!["default".to_owned()],
            ..Recipes::default()
        };
        let mut tasks = vec![Task::default()];
        let mut of_names = None;
        let mut is_alias = false;
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
            // A name may have colons in it: `db:reset:`.
            let named = words.split_once(": ");
            let named = named.or_else(|| Some((words.strip_suffix(':')?, "")));
            if let Some((name, command)) = named.filter(|_| here) {
                let mut task = Task {
                    names: vec![name.trim_matches(['"', '\'']).to_owned()],
                    needs: Vec::new(),
                    lines: plain(command.trim()).into_iter().collect(),
                };
                if command.trim_start().starts_with('{') {
                    let parts = command.split(['[', ']', '{', '}', ',']).map(str::trim);
                    task.lines.extend(parts.filter_map(plain));
                }
                tasks.push(task);
                continue;
            }
            let Some(task) = tasks.last_mut() else {
                continue;
            };
            let parts = words.split([' ', ',', '[', ']', '{', '}', '"', '\'']);
            // `aliases: [a, b]`, or each behind a dash of its own.
            is_alias = match words.strip_prefix("aliases:") {
                Some(_) => true,
                None => is_alias && words.starts_with('-'),
            };
            if is_alias {
                let names = parts.filter(|name| !matches!(*name, "" | "-" | "aliases:"));
                task.names.extend(names.map(str::to_owned));
                continue;
            }
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

    pub(super) fn begin_with(&mut self, tasks: Vec<Task>, may_begin: impl Fn(&str) -> bool) {
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
    pub(super) fn lines(&self, asked: &RequestedRecipe) -> Vec<String> {
        let RequestedRecipe::Run(names) = asked else {
            let lines = self.tasks.iter().flat_map(|task| &task.lines);
            return lines
                .filter(|line| runs_all_the_same(line))
                .cloned()
                .collect();
        };
        let usual = if names.is_empty() { &self.usual } else { names };
        // What is not known may be any of them, and a file that calls itself may ask for any.
        let is_open = |name: &String| name.contains(|letter| letter == '$' || is_sign(letter));
        let calls_itself =
            |task: &Task| task.lines.iter().any(|line| line.contains("MAKEFILE_LIST"));
        let all = usual.iter().any(is_open) || self.tasks.iter().any(calls_itself);
        let mut taken: BTreeSet<&str> = usual.iter().map(String::as_str).collect();
        let runs = |task: &Task, taken: &BTreeSet<&str>| {
            let fits = |name: &String| {
                taken.contains(name.as_str())
                    || name.contains('*') && taken.iter().any(|taken| fits(name, taken))
            };
            task.names.is_empty() || task.names.iter().any(fits)
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
        let all = all || taken.contains(ANY);
        let running = self.tasks.iter().filter(|task| all || runs(task, &taken));
        running.flat_map(|task| task.lines.clone()).collect()
    }
}

/// Whether a name matches a pattern: `nuke-*`.
fn fits(pattern: &str, name: &str) -> bool {
    let (front, _) = pattern.split_once('*').unwrap_or((pattern, ""));
    let (_, end) = pattern.rsplit_once('*').unwrap_or(("", pattern));
    name.len() >= front.len() + end.len() && name.starts_with(front) && name.ends_with(end)
}

/// A sign of what is not known.
pub(super) fn is_sign(letter: char) -> bool {
    matches!(letter, MAYBE | SOME)
}

/// A command of a Taskfile without its quotes.
fn plain(command: &str) -> Option<String> {
    let command = command.trim_matches(['"', '\'']);
    (!command.is_empty()).then(|| command.to_owned())
}

/// A need that may be any task.
pub(super) const ANY: &str = "\u{2}";

/// Whether `make` runs a line even with an option that only shows what it would do.
fn runs_all_the_same(line: &str) -> bool {
    let line = line.trim_start();
    let marks = line.trim_start_matches(['@', '-', ' ']);
    marks.starts_with('+') || line.contains("$(MAKE)") || line.contains("${MAKE}")
}

pub(super) fn listed(text: &str) -> Vec<String> {
    let words = text.split_whitespace();
    words
        .map(|word| word.strip_prefix("./").unwrap_or(word).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    fn decided(file: &str, text: &str, command: &str) -> Decision {
        let facts = Facts::of_a_project();
        let command = format!("cat > {file} <<'E'\n{text}\nE\n{command}");
        decide(&command, &facts, &Policy::default()).decision
    }

    /// CAKE-SHIM-1: a task that is reached by a name that is put together, filled in or general is judged.
    #[test]
    fn tasks_that_names_only_lead_to_are_judged() {
        const NUKE: &str = "\nnuke:\n\tgit reset --hard";
        for (text, command) in [
            ("all: $(X)", "make X=nuke"),
            ("Y = nuke\nX = $(Y)\nall: $(X)", "make"),
            ("A = build\nA = nuke\nall: $(A)", "make"),
            ("T = build \\\n  nuke\nall: ${T}", "make"),
            ("define LIST\nnuke\nendef\nall: $(LIST)", "make"),
            ("all: $(shell echo nuke)", "make"),
            ("export X = nuke\nall: $(X)", "make"),
            ("override X := nuke\nall: ${X}", "make"),
            ("X = nuke\nall: $X", "make"),
            ("all: $(sort nuke)", "make"),
            ("all: $(if $(CI),lint,nuke)", "make"),
            ("all: $(filter nu%,nuke)", "make"),
            ("all: $(addprefix nu,$(or ,ke))", "make"),
            ("all: $(addsuffix ke,nu)", "make"),
            (".SECONDEXPANSION:\nX = nuke\nall: $$(X)", "make"),
            ("all: lint\nlint test: %: nu%", "make all"),
            ("all:\n\techo hi\nMakefile: nuke", "make all"),
            ("include x.mk\nall:\n\techo hi\nx.mk: nuke", "make all"),
        ] {
            let text = format!("{text}{NUKE}");
            assert_eq!(
                decided("Makefile", &text, command),
                Decision::Block,
                "{text}"
            );
        }
        for (text, command) in [
            ("db\\:reset:\n\tgit reset --hard", "make db:reset"),
            (
                ".DEFAULT:\n\tgit reset --hard\nall:\n\techo",
                "make whatever",
            ),
            ("nuke:\n\t+git reset --hard", "make -n nuke"),
        ] {
            assert_eq!(
                decided("Makefile", text, command),
                Decision::Block,
                "{text}"
            );
        }
        for (text, command) in [
            (
                "tasks:\n  db:reset:\n    cmds:\n      - git reset --hard",
                "task db:reset",
            ),
            (
                "tasks:\n  nuke:\n    aliases: [n]\n    cmds:\n      - git reset --hard",
                "task n",
            ),
            (
                "tasks:\n  nuke:\n    aliases:\n      - other\n      - n\n    cmds:\n      - git reset --hard",
                "task n",
            ),
            (
                "tasks:\n  nuke-*:\n    cmds:\n      - git reset --hard",
                "task nuke-x",
            ),
            ("tasks:\n  \"a\": {cmds: [git reset --hard]}", "task a"),
        ] {
            assert_eq!(
                decided("Taskfile.yml", text, command),
                Decision::Block,
                "{text}"
            );
        }
    }

    /// Few false alarms: what is not asked for is not judged, and files that are built lead to no tasks.
    #[test]
    fn tasks_that_are_not_requested_are_not() {
        const NUKE: &str = "\nnuke:\n\tgit reset --hard";
        for (text, command) in [
            ("help:\n\techo hi", "make help"),
            ("help:\n\techo hi", "make -n nuke"),
            (
                "SRC = a.c b.c\nOBJ = $(SRC:.c=.o)\napp: $(OBJ)\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -c $<",
                "make app",
            ),
            (
                "OBJ := $(wildcard src/*.c)\napp: $(OBJ)\n\tcc -o app",
                "make",
            ),
            (".PHONY: app nuke\napp: lib/x.a\n\tcc -o app", "make app"),
            (
                "OBJ = $(patsubst %.c,%.o,$(wildcard src/*.c))\napp: $(OBJ)\n\tcc -o app",
                "make app",
            ),
            (
                "app: $(addprefix $(OUT)/,a b) $(shell git ls-files)\n\tcc -o app",
                "make app",
            ),
            ("app: $(sort $(wildcard *.c))\n\tcc -o app", "make app"),
        ] {
            let text = format!("{text}{NUKE}");
            assert_eq!(
                decided("Makefile", &text, command),
                Decision::Allow,
                "{text}"
            );
        }
        let text = "tasks:\n  db:reset:\n    cmds:\n      - git reset --hard\n  build: echo hi";
        assert_eq!(decided("Taskfile.yml", text, "task build"), Decision::Allow);
        for nuke in [
            "nuke:\n    aliases: [n]\n    cmds:\n      - git reset --hard",
            "nuke: {cmds: [git reset --hard]}",
            "nuke-*:\n    cmds:\n      - git reset --hard",
        ] {
            let text = format!("tasks:\n  build: {{cmds: [echo hi]}}\n  {nuke}");
            assert_eq!(
                decided("Taskfile.yml", &text, "task build"),
                Decision::Allow,
                "{text}"
            );
        }
    }
}
