//! [`Given`]: a tool's arguments, looked up by name in any spelling.
//!
//! `filePath`, `file_path` and `FilePath` are one name. Deliberately not here: the conclusions from
//! them.

use std::borrow::Cow;

use callosum_guard::tool_name::words;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// Names of arguments that hold commands, and last words of such names. Codex types `chars` into a
/// running shell.
const COMMANDS: [&str; 7] = [
    "command",
    "cmd",
    "script",
    "commands",
    "chars",
    "cmdline",
    "commandline",
];

/// Arguments that hold a command's words, if they are separate from it.
const ARGUMENTS: [&str; 3] = ["args", "arguments", "argv"];

/// Arguments that hold paths: single ones, lists, or objects in lists.
const PATHS: [&str; 42] = [
    "pathinproject",
    "savepath",
    "outputpath",
    "outputfile",
    "relativepath",
    "filepaths",
    "filepath",
    "filename",
    "files",
    "edits",
    "changes",
    "operations",
    "target",
    "targetfile",
    "targetpath",
    "dest",
    "destpath",
    "destinationpath",
    "dst",
    "dstpath",
    "src",
    "srcpath",
    "sourcepath",
    "sourcefile",
    "sources",
    "from",
    "frompath",
    "to",
    "topath",
    "notebookpath",
    "absolutepath",
    "path",
    "paths",
    "file",
    "fullpath",
    "source",
    "destination",
    "oldpath",
    "newpath",
    "uri",
    "fileuri",
    "url",
];

/// Those among them that hold a text which is no path.
const LISTS: [&str; 3] = ["edits", "changes", "operations"];

/// Arguments that hold folders; for a command, the one that it runs in.
const FOLDERS: [&str; 10] = [
    "directory",
    "directories",
    "directorypath",
    "dir",
    "dirs",
    "dirpath",
    "folder",
    "folders",
    "folderpath",
    "foldername",
];

/// Those among them that hold the folder of a call, without an operation on it.
const WORKPLACES: [&str; 5] = ["dirpath", "directory", "workdir", "cwd", "workingdirectory"];

/// A tool's arguments.
#[derive(Clone, Copy)]
pub(super) struct Given<'i>(pub(super) &'i Map<String, Value>);

impl<'i> Given<'i> {
    /// Returns the values under these names, in the order of the names.
    fn named(self, names: &'static [&'static str]) -> impl Iterator<Item = &'i Value> {
        let under = move |wanted: &&'static str| {
            let wanted = *wanted;
            let mut fields = self.0.iter();
            // A client that takes `command` passes over `Command`.
            self.0.get(wanted).or_else(|| {
                fields.find_map(|(name, value)| (plain(name) == wanted).then_some(value))
            })
        };
        names.iter().filter_map(under)
    }

    /// Returns the first text under these names that is not empty.
    pub(super) fn text(self, names: &'static [&'static str]) -> Option<&'i str> {
        let mut texts = self.named(names).filter_map(Value::as_str);
        texts.find(|text| !text.is_empty())
    }

    /// Returns the same, and also accepts a list of lines.
    pub(super) fn lines(self, names: &'static [&'static str], between: &str) -> Option<String> {
        let mut found = self.named(names).filter_map(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Array(lines) => {
                let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
                Some(lines?.join(between))
            }
            _ => None,
        });
        found.find(|text| !text.is_empty())
    }

    /// Returns the texts under a name, alone or in a list.
    pub(super) fn words_under(self, wanted: &'static str) -> Vec<String> {
        let mut fields = self.0.iter();
        match fields.find_map(|(name, value)| (plain(name) == wanted).then_some(value)) {
            Some(Value::String(text)) if !text.is_empty() => vec![text.clone()],
            Some(Value::Array(several)) => {
                let texts = several.iter().filter_map(Value::as_str);
                texts.map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the value under a name as one text: the texts of a list joined by commas, an object
    /// as JSON.
    pub(super) fn value_text(self, wanted: &'static str) -> Option<String> {
        let words = self.words_under(wanted);
        if !words.is_empty() {
            return Some(words.join(","));
        }
        let mut fields = self.0.iter();
        let found = fields.find(|(name, value)| plain(name) == wanted && value.is_object());
        found.map(|(_, object)| object.to_string())
    }

    /// Returns the number under a name.
    pub(super) fn number(self, wanted: &'static str) -> Option<i64> {
        let mut fields = self.0.iter();
        fields.find_map(|(name, value)| {
            let is_it = plain(name) == wanted;
            is_it.then(|| value.as_i64()).flatten()
        })
    }

    /// The names of what is switched on.
    pub(super) fn settings(self) -> Vec<Cow<'i, str>> {
        let is_on = |value: &Value| value == &Value::Bool(true) || value.as_str() == Some("true");
        let fields = self.0.iter().filter(|(_, value)| is_on(value));
        fields.map(|(name, _)| plain(name)).collect()
    }

    /// Returns the command, with its separate arguments.
    pub(super) fn command(self) -> Option<String> {
        let command = |(name, value): (&str, &Value)| match value {
            Value::Array(lines) if name == "commands" => {
                let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
                Some(lines?.join("\n"))
            }
            value => command_in(value),
        };
        let exactly = COMMANDS
            .iter()
            .filter_map(|name| Some((*name, self.0.get(*name)?)));
        let nearly = self.0.iter().filter_map(|(name, value)| {
            let last = words(name).pop()?;
            let mut names = COMMANDS.iter();
            let known = names.find(|known| last == **known || plain(name) == **known)?;
            Some((*known, value))
        });
        let command = exactly
            .chain(nearly)
            .find_map(command)
            .or_else(|| self.program())?;
        let apart = self.named(&ARGUMENTS).find_map(|value| match value {
            Value::String(words) => Some(words.clone()),
            words => command_in(words),
        });
        Some(match apart.filter(|words| !words.is_empty()) {
            Some(words) if command.is_empty() => words,
            Some(words) => format!("{command} {words}"),
            None => command,
        })
    }

    /// Returns the program under a name for programs; without one, the first word of a list is the
    /// program.
    fn program(self) -> Option<String> {
        let named = self.text(&["program", "executable", "binary"]);
        let has_words = self.named(&["args"]).any(Value::is_array);
        let named = named.or_else(|| self.text(&["file"]).filter(|_| has_words));
        if let Some(program) = named {
            // A program that is a path may have blanks in it.
            return Some(shlex::try_quote(program).map_or_else(|_| "\0".to_owned(), Into::into));
        }
        // The words of `argv` have no command before them, and are added like separate arguments.
        let mut named = self.named(&["argv"]).filter_map(Value::as_array);
        let has_words = named.any(|words| !words.is_empty());
        has_words.then(String::new)
    }

    /// The files that are named.
    pub(super) fn paths(self) -> Vec<String> {
        self.paths_under(&PATHS)
    }

    /// The folders that are named.
    pub(super) fn folders(self) -> Vec<String> {
        self.paths_under(&FOLDERS)
    }

    /// The paths under these names.
    pub(super) fn paths_under(self, names: &'static [&'static str]) -> Vec<String> {
        let mut paths = Vec::new();
        let mut fields = self.0.iter().filter(|(name, _)| {
            let name = plain(name);
            names.iter().any(|known| name == *known)
        });
        fields.by_ref().for_each(|(name, value)| match value {
            Value::String(text) if !LISTS.contains(&&*plain(name)) => {
                paths.extend(path_of(name, text));
            }
            // Contents by the names of their files.
            Value::Object(files) if plain(name) == "files" => {
                paths.extend(files.keys().cloned());
            }
            Value::Array(several) => {
                for one in several {
                    match one {
                        Value::String(text) => paths.extend(path_of(name, text)),
                        Value::Object(inner) => paths.extend(Given(inner).named_by_themselves()),
                        _ => {}
                    }
                }
            }
            _ => {}
        });
        paths
    }

    /// The paths that an object of a list names.
    fn named_by_themselves(self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|(name, value)| {
            let is_one = PATHS.contains(&&*plain(name));
            path_of(name, value.as_str().filter(|_| is_one)?)
        })
    }

    /// The folder that the call happens in.
    pub(super) fn workplace(self) -> Option<&'i str> {
        self.text(&WORKPLACES)
    }

    /// Returns the objects in it, by themselves and in lists, including those that are written as
    /// text.
    pub(super) fn inner(self) -> impl Iterator<Item = Cow<'i, Map<String, Value>>> {
        let fields = self.0.iter().flat_map(|(name, value)| match value {
            Value::Array(several) => several.iter().filter_map(object).collect(),
            Value::String(text) if ["arguments", "input", "params"].contains(&&*plain(name)) => {
                written(text).into_iter().collect()
            }
            one => object(one).into_iter().collect::<Vec<_>>(),
        });
        fields.filter(|inner| !inner.is_empty())
    }
}

fn object(value: &Value) -> Option<Cow<'_, Map<String, Value>>> {
    value.as_object().map(Cow::Borrowed)
}

/// An object that is written as text.
fn written<'i>(text: &str) -> Option<Cow<'i, Map<String, Value>>> {
    let text = text.trim_start();
    let object = text.starts_with('{').then(|| serde_json::from_str(text));
    object?.ok().map(Cow::Owned)
}

/// Returns a name in lowercase, without the separators between its words.
fn plain(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(name);
    }
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-'));
    Cow::Owned(letters.map(|letter| letter.to_ascii_lowercase()).collect())
}

/// A command: a text, or words that are run without a shell.
fn command_in(value: &Value) -> Option<String> {
    match value {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            // Words with a NUL cannot be passed to a shell, nor to any program.
            Some(shlex::try_join(words?).unwrap_or_else(|_| "\0".to_owned()))
        }
        _ => None,
    }
}

/// Returns the path in a text: the text itself, or the path of a `file:` address. An argument for
/// addresses holds a path only in the latter case.
fn path_of(name: &str, text: &str) -> Option<String> {
    let is_address = plain(name).ends_with("uri") || plain(name) == "url";
    match address(text) {
        Some(path) => Some(path),
        None => (!is_address).then(|| text.to_owned()),
    }
}

/// Returns the path of a `file:` address with its percent escapes decoded.
fn address(text: &str) -> Option<String> {
    let start = text.get(..5)?;
    let rest = &text[5..];
    if !start.eq_ignore_ascii_case("file:") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(with_host) => &with_host[with_host.find('/').unwrap_or(with_host.len())..],
        None => rest,
    };
    let path = percent_decode_str(path).decode_utf8().ok()?;
    Some(path.into_owned())
}
