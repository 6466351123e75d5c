//! Reading a makefile: its rules, and the variables that lead to them.
//!
//! Start with [`Recipes::of_make`]. Not followed: conditions, all of whose sides count, and
//! variables of the environment.

use std::collections::{BTreeMap, BTreeSet};

use super::recipes::{ANY, Recipes, Task, is_sign, listed};
use crate::analyze::value::Arg;

/// Names of rules that configure `make`, and are no tasks.
const TOLD: [&str; 15] = [
    ".PHONY",
    ".SUFFIXES",
    ".PRECIOUS",
    ".INTERMEDIATE",
    ".SECONDARY",
    ".NOTINTERMEDIATE",
    ".DELETE_ON_ERROR",
    ".IGNORE",
    ".SILENT",
    ".EXPORT_ALL_VARIABLES",
    ".NOTPARALLEL",
    ".ONESHELL",
    ".POSIX",
    ".SECONDEXPANSION",
    ".LOW_RESOLUTION_TIME",
];

/// Files that `make` makes before any task, if there is a rule for them.
const MAKEFILES: [&str; 3] = ["Makefile", "makefile", "GNUmakefile"];

/// Programs by which a makefile lists files.
const LISTS: [&str; 5] = ["find", "ls", "git", "fd", "rg"];

/// So many characters of what is given to a function are looked through for its end.
const MOST_GIVEN: usize = 4096;

/// Functions by which a makefile puts names together.
const PUTS_TOGETHER: [&str; 9] = [
    "shell",
    "addsuffix",
    "addprefix",
    "patsubst",
    "subst",
    "foreach",
    "call",
    "join",
    "file",
];

/// Placeholder for a colon of a name while a rule is split.
const COLON: char = '\u{1}';

impl Recipes {
    /// Reads a makefile; `words` are those of the command, which may set variables.
    pub(super) fn of_make(text: &str, words: &[Arg]) -> Recipes {
        let mut recipes = Recipes::default();
        let mut tasks = vec![Task::default()];
        let lines = whole_lines(text);
        let mut set = variables(&lines);
        set.extend(words.iter().skip(1).filter_map(|word| {
            let (name, value) = assigned(&word.text).filter(|_| !word.text.starts_with('-'))?;
            Some((name.to_owned(), value.to_owned()))
        }));
        let mut read = BTreeSet::from(MAKEFILES.map(str::to_owned));
        for line in &lines {
            let more = ["include ", "-include ", "sinclude "];
            let more = more.iter().find_map(|word| line.strip_prefix(word));
            read.extend(listed(more.unwrap_or_default()));
        }
        for line in lines {
            let line = line.replace("\\:", &COLON.to_string());
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
            let needs = filled(needs.trim_start_matches(':'), &set);
            let plain = |text: &str| listed(&text.replace(COLON, ":"));
            let mut task = Task {
                names: plain(names.trim_end_matches('&')),
                // Functions name the words they choose from: `$(sort b a)`.
                needs: plain(&needs.replace(['(', ')', '{', '}', ','], " ")),
                lines: Vec::new(),
            };
            task.lines
                .extend((!recipe.is_empty()).then(|| recipe.to_owned()));
            let is_pattern = names.contains('%');
            if may_be_any(&needs, is_pattern) {
                task.needs.push(ANY.to_owned());
            }
            let is_open = |letter| matches!(letter, '$' | '%') || is_sign(letter);
            // A rule for endings, and one for any file without one.
            let is_general = |name: &String| {
                name.starts_with('.') && !name.contains('/') && !TOLD.contains(&name.as_str())
            };
            if names.contains(is_open)
                || task
                    .names
                    .iter()
                    .any(|name| is_general(name) || read.contains(name))
            {
                task.names.clear();
            }
            tasks.push(task);
        }
        recipes.begin_with(tasks, |name| !name.starts_with('.') || name.contains('/'));
        recipes
    }
}

/// Whether needs may turn out to be any task: put together, written later, or filled in for a rule
/// without a pattern. A variable that is never set is empty, and a name with an ending or a folder
/// is one of a file.
fn may_be_any(needs: &str, is_pattern: bool) -> bool {
    let mut words = needs.split_whitespace();
    needs.contains("$$")
        || puts_together(needs)
        || words.any(|need| need.contains('%') && !is_pattern && !need.contains('.'))
}

/// Whether names are put together that need not be those of files.
fn puts_together(needs: &str) -> bool {
    let calls = needs.match_indices(['(', '{']);
    calls
        .filter(|(at, _)| needs[..*at].ends_with('$'))
        .any(|(at, _)| {
            let inner = &needs[at + 1..];
            let Some((function, given)) = inner.split_once([' ', '\t']) else {
                return false;
            };
            if !PUTS_TOGETHER.contains(&function) {
                return false;
            }
            let given = &given[..end_of_call(given)];
            let lists = || {
                let program = given.split_whitespace().next();
                function == "shell" && program.is_some_and(|program| LISTS.contains(&program))
            };
            !given.contains(['.', '/']) && !lists()
        })
}

/// Returns the end of the call whose bracket opens before this; gives up after [`MOST_GIVEN`]
/// characters.
fn end_of_call(given: &str) -> usize {
    let mut depth = 0usize;
    for (at, letter) in given.char_indices() {
        if at > MOST_GIVEN {
            return at;
        }
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' if depth == 0 => return at,
            ')' | '}' => depth -= 1,
            _ => {}
        }
    }
    given.len()
}

/// The variables that a makefile sets, each with all that it is ever set to.
fn variables(lines: &[String]) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    let mut defined: Option<String> = None;
    for line in lines.iter().filter(|line| !line.starts_with('\t')) {
        if let Some(name) = &defined {
            if line.trim() == "endef" {
                defined = None;
            } else {
                let value = all.entry(name.clone()).or_default();
                value.push(' ');
                value.push_str(line.trim());
            }
            continue;
        }
        if let Some(name) = line.trim_start().strip_prefix("define ") {
            defined = Some(name.trim_end_matches([' ', '=', ':']).to_owned());
            continue;
        }
        if let Some((name, value)) = assigned(line) {
            let known = all.entry(name.to_owned()).or_default();
            known.push(' ');
            known.push_str(value);
        }
    }
    all
}

/// Returns the needs of a rule of a makefile with its variables replaced, also those that are set
/// to one another.
fn filled(needs: &str, set: &BTreeMap<String, String>) -> String {
    const ROUNDS: usize = 4;
    const LONGEST: usize = 16 * 1024;
    let mut needs = needs.to_owned();
    for _ in 0..ROUNDS {
        if !needs.contains('$') || needs.len() > LONGEST {
            break;
        }
        for (name, value) in set {
            // A name of one letter needs no brackets.
            let bare = Some(format!("${name}"))
                .filter(|_| name.chars().count() == 1 && !needs.contains("$$"));
            let calls = [format!("$({name})"), format!("${{{name}}}")];
            for called in calls.into_iter().chain(bare) {
                let times = needs.matches(&called).count();
                if times > 0 && needs.len() + times * value.len() <= LONGEST {
                    needs = needs.replace(&called, value);
                }
            }
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

/// The name and the value of a variable that a line of a makefile sets.
fn assigned(line: &str) -> Option<(&str, &str)> {
    let (left, value) = line.split_once('=')?;
    let left = left.trim_end_matches([':', '?', '+', '!']).trim();
    // `export X = …`, `override X = …`, `target: X = …`
    let name = left.rsplit([' ', '\t', ':']).next().unwrap_or(left);
    Some((name, value.trim()))
}

/// The two sides of a rule.
fn rule(line: &str) -> Option<(&str, &str)> {
    let (names, rest) = line.split_once(':')?;
    let sets = names.contains('=') || rest.trim_start_matches(':').starts_with('=');
    (!sets && !names.trim().is_empty()).then_some((names, rest))
}
