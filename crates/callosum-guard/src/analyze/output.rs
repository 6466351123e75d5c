//! Output of a command, as far as it can be known without running it.
//!
//! For a few programs the output is their words, or their input passed through a decoder. For all
//! others only the source of their output is known.

use super::{
    evaluator::Evaluator,
    line_filters::picks_out,
    list_commands::LISTED,
    parents,
    pid_sources::{of_kind, tells_all},
    taint::source_after,
    text_filters::{decoded, printf, set, substituted, translated},
    tool_dirs::may_name,
    value::{Arg, MAYBE, SOME, Source, Value, is_known, source_of},
    wrapper_table::takes_next,
};
use crate::{fetch, generated_sql, shell::ansi};

impl Evaluator<'_> {
    /// Returns the output of a command that runs no other.
    pub(super) fn output_of(&mut self, name: &str, words: &[Arg], input: Option<&Value>) -> Value {
        let all = words.get(1..).unwrap_or_default();
        let flowing = input.map(|input| input.source).unwrap_or_default();
        let mut source = flowing.join(source_of(words));
        // What is read by way of `<(…)` comes out again.
        for word in words
            .iter()
            .filter(|word| word.text.starts_with("/dev/fd/"))
        {
            if let Some(content) = self.state.files.get(&word.text) {
                source = source.join(content.source);
            }
        }
        source.file = false;
        // `ps | grep callosum` as well: only `kill` takes them for numbers of processes.
        source.ours |= matches!(name, "pgrep" | "pidof" | "grep" | "egrep" | "awk" | "lsof")
            && all.iter().any(|word| word.text.contains("callosum"));
        source = source_after(name, words, source);
        source.of_kind = of_kind(name, words, source);
        source.listed &= !picks_out(name, words);
        source.within &= !picks_out(name, words);
        source.of_user &= !picks_out(name, words);
        if name == "pgrep" {
            source.of_user |= self.picks_user(all);
        }
        source.of_user |= tells_all(name, words);
        source = parents::printed(name, words, source);
        if let Some(listing) = self.listing(name, words) {
            return listing;
        }
        if let Some(matching) = self.matching(name, words) {
            return matching;
        }
        let has = |options: &[&str]| all.iter().any(|word| options.contains(&word.text.as_str()));
        match name {
            "echo" => {
                let mut words = all;
                let mut decodes = false;
                while let Some(first) = words.first()
                    && first.text.len() > 1
                    && first.text.starts_with('-')
                    && first.text[1..].chars().all(|c| "neE".contains(c))
                {
                    decodes |= first.text.contains('e');
                    words = &words[1..];
                }
                let line: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
                let line = line.join(" ");
                let mut text = if decodes {
                    ansi::decode_output(&line)
                } else {
                    line
                };
                text.push('\n');
                Value { text, source }
            }
            "printf" => Value {
                text: printf(all),
                source,
            },
            "cat" | "tee" | "pv" | "sponge" | "tac" | "head" | "tail" | "sort" | "uniq" | "nl"
            | "dos2unix" => {
                let takes = match name {
                    "head" | "tail" => "-n -c --lines --bytes",
                    "sort" => "-k -t -S -T -o --key --field-separator --output",
                    _ => "",
                };
                let mut files: Vec<&Arg> = Vec::new();
                let mut at = 0;
                while let Some(word) = all.get(at) {
                    let is_option = word.text.starts_with('-');
                    at += 1 + usize::from(is_option && takes_next(&word.text, takes));
                    files.extend((!is_option).then_some(word));
                }
                if name == "tee" || name == "sponge" {
                    for file in &files {
                        let path = self.state.absolute(&file.text);
                        self.write_file(&path, input.cloned().unwrap_or_default(), false);
                    }
                }
                if files.is_empty() || name == "tee" {
                    return input.cloned().map_or_else(Value::unknown, Value::apart);
                }
                let mut whole = Value::default();
                for file in files {
                    let path = self.state.absolute(&file.text);
                    match self.state.files.get(&path) {
                        Some(content) => whole.append(content),
                        None if file.text == "/dev/null" => {}
                        None if file.text == "/dev/stdin" => {
                            whole.append(&input.cloned().unwrap_or_default());
                        }
                        None => whole.append(&Value::from(source)),
                    }
                }
                whole
            }
            "base64" | "base32" | "gbase64" | "openssl" | "xxd" | "uudecode" | "gunzip"
            | "zcat" | "gzip" | "bunzip2" | "bzcat" | "xz" | "xzcat" | "zstd" | "zstdcat"
            | "gpg" | "age" | "brotli" | "lz4" | "bzip2" | "basenc" => {
                let decodes = matches!(
                    name,
                    "uudecode" | "gunzip" | "zcat" | "bunzip2" | "bzcat" | "xzcat" | "zstdcat"
                ) || all.iter().any(|word| {
                    matches!(
                        word.text.as_str(),
                        "--decode" | "--decompress" | "-decode" | "--decrypt" | "-base64"
                    ) || word.text.starts_with('-')
                        && !word.text.starts_with("--")
                        && word.text.contains(['d', 'D', 'r'])
                });
                if !decodes {
                    return Value::from(source);
                }
                let known = input
                    .filter(|input| input.is_known())
                    .and_then(|input| decoded(name, &input.text));
                match known {
                    Some(text) => Value { text, source },
                    None => Value::from(Source {
                        decoded: true,
                        ..source
                    }),
                }
            }
            "curl" | "wget" | "fetch" | "aria2c" | "http" | "https" | "xh" | "lynx" | "w3m"
            | "nc" | "ncat" | "socat" => {
                let remote = Source {
                    remote: true,
                    ..source
                };
                self.downloads(name, all, remote);
                Value::from(remote)
            }
            "printenv" if all.is_empty() => Value::from(Source {
                secret: true,
                entire: true,
                ..source
            }),
            "rev" => match input.filter(|input| input.is_known()) {
                Some(input) => Value {
                    text: input
                        .text
                        .lines()
                        .map(|line| line.chars().rev().collect::<String>() + "\n")
                        .collect(),
                    source,
                },
                None => Value::from(source),
            },
            "tr" => Value {
                text: match (input, all) {
                    (Some(input), [from, to])
                        if input.is_known() && !from.text.starts_with('-') =>
                    {
                        translated(&input.text, &from.text, &to.text)
                    }
                    (Some(input), [option, gone]) if input.is_known() && option.text == "-d" => {
                        let gone = set(&gone.text);
                        input.text.chars().filter(|c| !gone.contains(c)).collect()
                    }
                    _ => return Value::from(source),
                },
                source,
            },
            "sed" | "gsed" => match (input, all) {
                (Some(input), [edit]) if input.is_known() => {
                    match substituted(&edit.text, &input.text) {
                        Some(text) => Value { text, source },
                        None => Value::from(source),
                    }
                }
                _ => Value::from(source),
            },
            "pwd" => match &self.state.cwd {
                Some(cwd) => Value::known(format!("{cwd}\n")),
                None => Value::filled(),
            },
            "mktemp" | "gmktemp" => Value::known(self.made_by_mktemp(words) + "\n"),
            // Wherever it is, it is the system's or a tool's.
            "which" | "type" => {
                let mut names = all.iter().filter(|word| !word.text.starts_with('-'));
                match names.next() {
                    Some(word) if word.text.contains('/') => {
                        Value::known(format!("{}\n", word.text))
                    }
                    Some(word) => Value::known(format!("/usr/bin/{}\n", word.text)),
                    None => Value::from(source),
                }
            }
            "readlink" | "greadlink" | "realpath" | "grealpath" | "basename" => {
                match all.iter().find(|word| !word.text.starts_with('-')) {
                    Some(word) if name == "basename" || !self.may_lead_nowhere(name, all, word) => {
                        Value {
                            text: format!("{}\n", word.text),
                            source,
                        }
                    }
                    Some(_) | None => Value::from(source),
                }
            }
            "dirname" => match all.first() {
                Some(word) => {
                    let parent = match word.text.rsplit_once('/') {
                        Some(("", _)) => "/".to_owned(),
                        Some((parent, _)) => parent.to_owned(),
                        None => ".".to_owned(),
                    };
                    Value {
                        text: format!("{parent}\n"),
                        source,
                    }
                }
                None => Value::from(source),
            },
            "ls" | "Get-ChildItem" | "gci" | "dir" => {
                if has(&["-d", "-1d", "-d1"]) {
                    let listed: Vec<&str> = all
                        .iter()
                        .map(|word| word.text.as_str())
                        .filter(|text| !text.starts_with('-'))
                        .collect();
                    let tree = listed.iter().any(|folder| self.is_tree(folder));
                    return Value {
                        text: listed.join("\n") + "\n",
                        source: if tree { LISTED } else { source },
                    };
                }
                let folder = all
                    .iter()
                    .find(|word| !word.text.starts_with('-'))
                    .map(|word| word.text.trim_end_matches('/'));
                match folder {
                    Some(folder) if folder.contains('*') => Value::known(format!("{folder}\n")),
                    // PowerShell's gives what it lists with the folder.
                    Some(folder) if name != "ls" => Value::known(format!("{folder}/*\n")),
                    Some(folder) if self.is_tree(folder) => Value {
                        text: SOME.to_string(),
                        source: LISTED,
                    },
                    Some(_) => Value::filled(),
                    None => Value {
                        text: "*\n".to_owned(),
                        source: if self.is_tree(".") { LISTED } else { source },
                    },
                }
            }
            // Any file with such a name, in any folder.
            "locate" | "plocate" | "mlocate" | "mdfind" => {
                let within = all
                    .array_windows()
                    .find(|[option, _]| option.text == "-onlyin");
                let folder = within.map(|[_, folder]| folder.text.as_str());
                let folder = folder.or(self.facts.home.as_deref()).unwrap_or("/home/x");
                Value::known(format!("{folder}/{SOME}/{SOME}\n"))
            }
            "yes" => Value {
                text: format!("{}\n", all.first().map_or("y", |word| word.text.as_str())),
                source,
            },
            // The folder that cargo prints as its target.
            "jq" if all
                .iter()
                .any(|word| word.text.contains("target_directory")) =>
            {
                Value::known(self.state.absolute("target") + "\n")
            }
            "whoami" | "id" | "hostname" | "nproc" | "uname" | "date" | "seq" | "uuidgen"
            | "arch" => Value {
                text: SOME.to_string(),
                source,
            },
            "mysqldump" | "mariadb-dump" | "pg_dump" | "pg_dumpall" => {
                let cleans = !name.starts_with("pg") || has(&["-c", "--clean"]);
                let adds = !has(&[
                    "--skip-add-drop-table",
                    "--no-create-info",
                    "-t",
                    "--skip-opt",
                ]);
                Value {
                    text: if cleans && adds {
                        generated_sql::DUMP.to_owned()
                    } else {
                        MAYBE.to_string()
                    },
                    source,
                }
            }
            // It is for a shell, and sets it up.
            _ if sets_up(name, all) => Value {
                text: String::new(),
                source: Source {
                    named: may_name(name),
                    ..Source::default()
                },
            },
            _ => Value::from(Source {
                named: source.named || may_name(name),
                ..source
            }),
        }
    }

    /// Whether `pgrep` picks another user's processes, or all of one.
    fn picks_user(&self, words: &[Arg]) -> bool {
        const USER: [&str; 6] = ["-u", "-U", "--euid", "--uid", "-fu", "-uf"];
        let at = words.iter().position(|word| {
            let text = word.text.as_str();
            USER.contains(&text) || text.starts_with("--euid=") || text.starts_with("--uid=")
        });
        let Some(at) = at else {
            return false;
        };
        let joined = words[at]
            .text
            .split_once('=')
            .map(|(_, user)| user.to_owned());
        let user = joined.or_else(|| words.get(at + 1).map(|word| word.text.clone()));
        let own = self.facts.home.as_deref().map(crate::path::name);
        let is_other = user
            .as_deref()
            .is_some_and(|user| is_known(user) && Some(user) != own);
        let picks = words.iter().enumerate().any(|(here, word)| {
            !word.text.starts_with('-') && (here != at + 1 || words[at].text.contains('='))
        });
        is_other || !picks
    }

    /// Remembers what is fetched into a file.
    fn downloads(&mut self, name: &str, words: &[Arg], source: Source) {
        let fetched = fetch::fetched(name, words).unwrap_or_default();
        for file in fetched.files {
            let path = self.state.absolute(&file);
            self.write_file(&path, Value::from(source), false);
        }
    }
}

/// Whether a tool prints text that a shell evaluates to be set up for it: variables, functions,
/// completions. The authors of the tool wrote that text, and it is run all day.
pub(super) fn sets_up(name: &str, words: &[Arg]) -> bool {
    const TOOLS: [&str; 10] = [
        "ssh-agent",
        "gpg-agent",
        "keychain",
        "dircolors",
        "lesspipe",
        "lesspipe.sh",
        "path_helper",
        "thefuck",
        "register-python-argcomplete",
        "luarocks",
    ];
    const WORDS: [&str; 24] = [
        "completion",
        "completions",
        "--completion",
        "--completions",
        "shell-completion",
        "generate-shell-completion",
        "shellenv",
        "shell.bash",
        "shell.zsh",
        "shell.posix",
        "hook",
        "init",
        "activate",
        "env",
        "export",
        "export-credentials",
        "docker-env",
        "podman-env",
        "print-dev-env",
        "alias",
        "-Mlocal::lib",
        "--bash",
        "--zsh",
        "--search-paths",
    ];
    TOOLS.contains(&name) || words.iter().any(|word| WORDS.contains(&word.text.as_str()))
}
