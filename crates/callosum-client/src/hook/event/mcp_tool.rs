//! The action of another server's tool, derived from the names of its arguments.
//!
//! No schema describes such a tool's effect. An argument called a command counts as one, as does
//! text typed into a terminal. A database statement counts as one of the database client's, and
//! code as a one-liner of its language. A path is removed, moved, copied or written according to
//! the tool's name ([`ToolVerb`]), and decided on like the equivalent command. Nested objects are
//! searched as well.

use callosum_guard::tool_name::{deletes_all, words};
use serde_json::{Map, Value};

use super::{
    Action, catalog, cloud_tools, database_tools, git_tools,
    shell_quote::{path_word, quoted, with_paths},
    statement,
    tool_input::Given,
    tool_verb::ToolVerb,
};

/// Parts of a tool's name that say that it runs the code which it is given.
const RUNS: [&str; 11] = [
    "run",
    "exec",
    "eval",
    "interpret",
    "repl",
    "python",
    "node",
    "javascript",
    "jupyter",
    "kernel",
    "sandbox",
];

/// Words of a tool's name that say that what it is given is typed into a shell.
const TERMINALS: [&str; 9] = [
    "terminal", "term", "tmux", "pty", "tty", "console", "iterm", "iterm2", "shell",
];

/// Words of a tool's name that say that its code runs in a page.
const BROWSERS: [&str; 6] = [
    "browser",
    "puppeteer",
    "playwright",
    "chrome",
    "page",
    "devtools",
];

/// Words of a tool's own name that say that it only looks at the text which it is given, and those
/// that say otherwise.
const LOOKS: [&str; 7] = [
    "explain",
    "shellcheck",
    "lint",
    "validate",
    "highlight",
    "parse",
    "beautify",
];
const ACTS: [&str; 5] = ["run", "exec", "execute", "apply", "and"];

/// Parts of a tool's name that say that an archive is taken apart.
const UNPACKS: [&str; 4] = ["extract", "unpack", "unzip", "decompress"];

/// Arguments that select one of several operations of a tool.
const VERBS: [&str; 6] = ["action", "operation", "op", "method", "mode", "type"];

/// Arguments that hold the name of a tool that another tool calls.
const TOOLS: [&str; 5] = ["tool", "toolname", "name", "function", "recipientname"];

/// Arguments that hold the source and the target of a move or copy.
const SOURCES: [&str; 14] = [
    "source",
    "sources",
    "src",
    "srcpath",
    "sourcepath",
    "sourcefile",
    "from",
    "frompath",
    "oldpath",
    "path",
    "paths",
    "file",
    "filepath",
    "filename",
];
const TARGETS: [&str; 14] = [
    "destination",
    "dest",
    "dst",
    "destpath",
    "dstpath",
    "destinationpath",
    "to",
    "topath",
    "newpath",
    "target",
    "targetpath",
    "destinationfolder",
    "destinationdirectory",
    "targetdirectory",
];

/// Arguments that hold an output path, for any tool name.
const SAVED: [&str; 5] = [
    "savepath",
    "outputpath",
    "outputfile",
    "downloadpath",
    "outfile",
];

/// Arguments that hold a new name within the same folder.
const NEW_NAMES: [&str; 3] = ["newname", "newfilename", "to"];

/// Returns the action of a tool call.
pub(super) fn action(tool: &str, input: &Map<String, Value>) -> Action {
    let mut found = ToolMatch::default();
    found.gather(tool, Given(input), None);
    found.into_action()
}

/// Whether what is done is done to the folder that is named, and not within it.
pub(super) fn is_of_folder(tool: &str, given: Given<'_>) -> bool {
    let is_gone = !matches!(deed(tool, given), None | Some(ToolVerb::Change));
    is_gone && given.command().is_none() && given.paths().is_empty()
}

/// All that a call would do.
#[derive(Default)]
struct ToolMatch {
    commands: Vec<String>,
    writes: Vec<String>,
}

impl ToolMatch {
    /// Reads one object, and the objects in it.
    fn gather(&mut self, tool: &str, given: Given<'_>, folder: Option<&str>) {
        match action_of(tool, given) {
            Action::Shell(command) => self.add(match folder {
                Some(folder) => format!("cd -- {}\n{command}", path_word(folder)),
                None => command,
            }),
            Action::Write(paths) => {
                for path in paths {
                    if !self.writes.contains(&path) {
                        self.writes.push(path);
                    }
                }
            }
            Action::Read(_) | Action::Other => {}
        }
        let called = given.text(&TOOLS).map(|called| format!("{tool} {called}"));
        let tool = called.as_deref().unwrap_or(tool);
        // The delete takes a condition, which is not a call of its own.
        if database_tools::names_object(tool, given) {
            return;
        }
        for inner in given.inner() {
            let inner = Given(&inner);
            let folder = inner.workplace().filter(|_| !is_of_folder(tool, inner));
            self.gather(tool, inner, folder);
        }
    }

    fn add(&mut self, command: String) {
        if !self.commands.contains(&command) {
            self.commands.push(command);
        }
    }

    fn into_action(mut self) -> Action {
        if self.commands.is_empty() {
            return written(self.writes);
        }
        // There is one verdict for all, so a write becomes a command that writes the same path.
        for path in self.writes {
            self.commands
                .push(format!("tee -a -- {}", path_word(&path)));
        }
        Action::Shell(self.commands.join("\n"))
    }
}

/// Returns the action that one object describes.
fn action_of(tool: &str, given: Given<'_>) -> Action {
    let lower = tool.to_ascii_lowercase();
    let names = words(tool);
    let says = |known: &[&str]| names.iter().any(|name| known.contains(&name.as_str()));
    let is_about = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    let own = words(catalog::own_name(tool));
    let own_says = |known: &[&str]| own.iter().any(|word| known.contains(&word.as_str()));
    let is_run = own_says(&ACTS) || given.settings().iter().any(|set| set == "analyze");
    if own_says(&LOOKS) && !is_run {
        return Action::Other;
    }
    if let Some(script) = given.text(&["script"]).filter(|_| says(&BROWSERS)) {
        return Action::Shell(quoted("node -e", script));
    }
    if let Some(words) = git_tools::command(tool, given)
        .or_else(|| cloud_tools::command(tool, given))
        .or_else(|| database_tools::command(tool, given))
    {
        return Action::Shell(
            shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(
                // Text with a NUL cannot be passed to a shell; the guard rejects the NUL.
                |_| "\0".to_owned(),
            ),
        );
    }
    let paths = given.paths();
    if let Some(command) = given.command() {
        let is_word = command.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if let Some(statement) = statement::commanded(tool, &command) {
            return Action::Shell(statement);
        }
        // Some name with one word what is to be done to a path.
        return match ToolVerb::of_verb(&command).filter(|_| !paths.is_empty()) {
            Some(deed) => done_to(deed, given, paths),
            None if is_word => Action::Shell(with_paths(&command, &paths)),
            None => Action::Shell(command),
        };
    }
    let is_fed = own_says(&["process"]) && own_says(&["interact", "input", "send", "write"]);
    if let Some(typed) = typed(given, is_fed || says(&TERMINALS)) {
        // What is fed may be a shell or an interpreter.
        return Action::Shell(if is_fed && is_python(&typed) {
            quoted("python3 -c", &typed)
        } else {
            typed
        });
    }
    if own_says(&["symlink", "hardlink"]) && own_says(&["create", "make", "add"]) {
        let link = given.text(&["linkpath", "link", "path", "destination", "newpath"]);
        let to = given.text(&["target", "targetpath", "source", "existingpath"]);
        if let (Some(link), Some(to)) = (link, to) {
            return Action::Shell(with_paths("ln -s --", &[to.to_owned(), link.to_owned()]));
        }
    }
    let statement = statement::asked(tool, given).or_else(|| statement::meant(tool, given));
    if let Some(client) = statement {
        return Action::Shell(client);
    }
    let code = given.lines(
        &[
            "code",
            "sourcecode",
            "cellsource",
            "cellcontent",
            "snippet",
            "pythoncode",
            "jscode",
        ],
        "",
    );
    let code = code.or_else(|| {
        given
            .lines(&["source"], "")
            .filter(|_| lower.contains("jupyter"))
    });
    if let Some(code) = code.filter(|_| is_about(&RUNS)) {
        let language = given.text(&["language", "lang", "runtime", "kernel", "kernelname"]);
        let language = language.unwrap_or(if says(&BROWSERS) { "js" } else { &lower });
        return Action::Shell(one_liner(&language.to_ascii_lowercase(), &code));
    }
    if is_about(&UNPACKS)
        && let [into] = &given.paths_under(&TARGETS)[..]
    {
        let mut archives = given.paths_under(&SOURCES);
        archives.truncate(1);
        let into = path_word(into);
        return Action::Shell(format!("{} -d {into}", with_paths("unzip -o", &archives)));
    }
    let done = deed(tool, given);
    let folders = given.folders();
    if paths.is_empty() && folders.is_empty() && deletes_all(catalog::own_name(tool)) {
        // Nothing else is known of it, so it is written as a call from a shell.
        return Action::Shell(quoted("mcp call", catalog::own_name(tool)));
    }
    let is_of_all = given.settings().iter().any(|set| set == "deleteall");
    if done == Some(ToolVerb::Remove) && is_of_all && paths.is_empty() {
        let name = format!("{}_all", catalog::own_name(tool));
        return Action::Shell(quoted("mcp call", &name));
    }
    match done {
        None => written(given.paths_under(&SAVED)),
        Some(ToolVerb::Change) => written(paths),
        Some(deed) if paths.is_empty() => done_to(deed, given, folders),
        Some(deed) => done_to(deed, given, paths),
    }
}

/// Returns a tool's operation on paths: from its name, or from an argument that names an operation.
fn deed(tool: &str, given: Given<'_>) -> Option<ToolVerb> {
    let named = ToolVerb::of(tool);
    if !matches!(named, None | Some(ToolVerb::Change)) {
        return named;
    }
    let verb = given.text(&VERBS).and_then(ToolVerb::of);
    verb.or(named)
}

/// Returns the typed text: keys, and for a terminal any text that is sent to it.
fn typed(given: Given<'_>, is_terminal: bool) -> Option<String> {
    const KEYS: [&str; 3] = ["keys", "keystrokes", "sequence"];
    const SENT: [&str; 6] = ["text", "input", "data", "line", "content", "message"];
    let keys = |names| {
        // Some servers put blanks between them, and some do not.
        let joined = given.lines(names, "\u{1}")?;
        let parts: Vec<&str> = joined.split('\u{1}').map(key).collect();
        let (together, apart) = (parts.concat(), parts.join(" "));
        Some(match parts.len() {
            1 => together,
            _ => format!("{together}\n{apart}"),
        })
    };
    keys(&KEYS).or_else(|| keys(&SENT).filter(|_| is_terminal))
}

/// Whether a text is Python rather than for a shell, by how its first line begins.
fn is_python(text: &str) -> bool {
    const BEGINS: [&str; 7] = [
        "import ",
        "from ",
        "def ",
        "class ",
        "print(",
        "with open(",
        "@",
    ];
    let first = text.trim_start().lines().next().unwrap_or("");
    let name = first.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
    let is_call = name.starts_with('(') || name.starts_with(" = ");
    BEGINS.iter().any(|begin| first.starts_with(begin)) || is_call
}

/// Returns the text that a named key types.
fn key(name: &str) -> &str {
    match name {
        "Enter" | "enter" | "Return" | "C-m" | "C-j" | "<Enter>" | "KPEnter" => "\n",
        "Space" | "space" | "<Space>" => " ",
        "Tab" | "<Tab>" => "\t",
        text => text,
    }
}

/// Returns an operation on these paths as the equivalent command.
fn done_to(deed: ToolVerb, given: Given<'_>, paths: Vec<String>) -> Action {
    if paths.is_empty() {
        return Action::Other;
    }
    let program = match deed {
        ToolVerb::Change => return written(paths),
        ToolVerb::Remove => return Action::Shell(with_paths("rm -r --", &paths)),
        ToolVerb::Move => "mv --",
        ToolVerb::Copy => "cp -r --",
    };
    let mut to = given.paths_under(&TARGETS);
    let mut from = given.paths_under(&SOURCES);
    if from.is_empty() {
        from = paths
            .iter()
            .filter(|path| !to.contains(path))
            .cloned()
            .collect();
    }
    if let (Some(name), [], [one]) = (given.text(&NEW_NAMES), &to[..], &from[..]) {
        let folder = one.trim_end_matches('/').rsplit_once('/');
        to.push(folder.map_or_else(|| name.to_owned(), |(folder, _)| format!("{folder}/{name}")));
    }
    match (&from[..], &to[..]) {
        ([_, ..], [one]) => {
            from.push(one.clone());
            Action::Shell(with_paths(program, &from))
        }
        _ => written(paths),
    }
}

fn written(paths: Vec<String>) -> Action {
    if paths.is_empty() {
        Action::Other
    } else {
        Action::Write(paths)
    }
}

/// The code as its interpreter is given it. What is of no language that is known is read as Python.
fn one_liner(language: &str, code: &str) -> String {
    let is = |names: &[&str]| names.iter().any(|name| language.contains(name));
    if is(&["bash", "shell", "zsh"]) || language == "sh" {
        return code.to_owned();
    }
    let interpreter = if is(&["powershell", "pwsh"]) {
        "pwsh -Command"
    } else if is(&["javascript", "typescript", "node", "deno", "bun", "js"]) {
        "node -e"
    } else if is(&["ruby"]) {
        "ruby -e"
    } else if is(&["perl"]) {
        "perl -e"
    } else if is(&["php"]) {
        "php -r"
    } else {
        "python3 -c"
    };
    if interpreter == "python3 -c" {
        return cell(code);
    }
    quoted(interpreter, code)
}

/// A cell of a notebook: Python, in which `!` and `%%bash` are for a shell.
fn cell(code: &str) -> String {
    const SHELLS: [&str; 5] = ["%%bash", "%%sh", "%%script bash", "%%script sh", "%%system"];
    const LINES: [&str; 4] = ["!", "%sx ", "%system ", "%sc "];
    let text = code.trim_start();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if SHELLS.iter().any(|shell| first.starts_with(shell)) {
        return rest.to_owned();
    }
    let typed = |line: &&str| {
        let line = line.trim_start();
        LINES
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .map(|line| line.trim_start_matches('!').to_owned())
    };
    let commands: Vec<String> = code.lines().filter_map(|line| typed(&line)).collect();
    if commands.is_empty() {
        return quoted("python3 -c", code);
    }
    let left: Vec<&str> = code.lines().filter(|line| typed(line).is_none()).collect();
    format!(
        "{}\n{}",
        quoted("python3 -c", &left.join("\n")),
        commands.join("\n")
    )
}
