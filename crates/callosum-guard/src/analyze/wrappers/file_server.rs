//! Clients of file servers: commands for `sftp`, `ftp`, `lftp` and `curl -Q`, translated into the
//! programs that do the same.
//!
//! A deletion at the other end is `rm` on another machine, a mirror is `rsync`, and a transfer is
//! `scp`.

use std::fmt::Write as _;

use crate::{
    analyze::{
        evaluator::Evaluator,
        value::{Arg, Value},
        wrapper_table::{first_operand, takes_next},
    },
    path,
};

/// The name if the command gives no server.
const SOME_SERVER: &str = "server";

impl Evaluator<'_> {
    /// Follows the commands of such a client, from its options, a file or its input.
    pub(super) fn file_server(
        &mut self,
        name: &str,
        words: &[Arg],
        input: Option<&Value>,
    ) -> Value {
        if name == "sftp" {
            self.proxied(words);
        }
        let (takes, texts, files): (&str, &[&str], &[&str]) = match name {
            "sftp" => ("-B -b -c -D -F -i -J -l -o -P -R -S -s -X", &[], &["-b"]),
            "lftp" => ("-e -c -f -p -u", &["-e", "-c"], &["-f"]),
            _ => ("-P -s -u", &[], &[]),
        };
        let server = words
            .get(first_operand(words, 1, takes))
            .map_or(SOME_SERVER, |word| word.text.as_str());
        let server = server.split_once("://").map_or(server, |(_, rest)| rest);
        let server = server.split([':', '/']).next().unwrap_or(server).to_owned();
        let mut sources: Vec<String> = Vec::new();
        for [option, given] in words.array_windows() {
            let option = option.text.as_str();
            if texts.contains(&option) {
                sources.push(given.text.clone());
            } else if files.contains(&option) && given.text != "-" {
                sources.push(self.content(given).text);
            }
        }
        sources.extend(input.map(|input| input.text.clone()));
        self.apart(|walker| {
            let mut there = String::new();
            for text in sources {
                for command in commands(name, &text) {
                    walker.obey(name, &server, command, &mut there);
                }
            }
            if !there.is_empty() {
                walker.elsewhere(|walker| walker.under(name, |walker| walker.text(&there, None)));
            }
            Value::unknown()
        })
    }

    /// Runs one command as far as it acts here, and adds its effect at the other end to `there`, as
    /// text for a shell.
    fn obey(&mut self, name: &str, server: &str, command: &str, there: &mut String) {
        let command = own(command);
        if let Some(text) = command.strip_prefix('!') {
            self.nested(name, text, None);
            return;
        }
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let home = self.facts.home.clone().unwrap_or_default();
        let given: Vec<String> = rest
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '\'', ')']))
            .map(|word| match word.strip_prefix('~') {
                Some(inner) if inner.is_empty() || inner.starts_with('/') => {
                    format!("{home}{inner}")
                }
                _ => word.to_owned(),
            })
            .collect();
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        match verb {
            "cd" => {
                let _ = writeln!(there, "cd {rest}");
            }
            "lcd" => self.enter(&Value::known(rest.trim())),
            "rm" | "mrm" | "delete" | "mdelete" => {
                let _ = writeln!(there, "rm {rest}");
            }
            "source" => {
                let text = self.content(&Arg::plain(rest.trim())).text;
                for command in commands(name, &text).filter(|inner| !own(inner).starts_with(verb)) {
                    self.obey(name, server, command, there);
                }
            }
            "mirror" => {
                let run = mirror(server, &given);
                self.inner(name, &run, None);
            }
            "put" | "mput" | "reput" | "send" | "get" | "mget" | "reget" | "recv" => {
                let sends = matches!(verb, "put" | "mput" | "reput" | "send");
                let run = copy(server, sends, verb.starts_with('m'), &given);
                self.inner(name, &run, None);
            }
            _ => {}
        }
    }

    /// Follows the commands that `curl` sends to a server before or after it fetches:
    /// `-Q 'DELE x'`.
    pub(super) fn quoted(&mut self, words: &[Arg]) {
        for [option, text] in words.array_windows() {
            if !matches!(option.text.as_str(), "-Q" | "--quote") {
                continue;
            }
            let text = text.text.trim_start_matches(['-', '+', '*']);
            if let Some(("DELE" | "RMD" | "rm" | "rmdir", file)) = text.split_once(' ') {
                let text = format!("rm {file}");
                self.elsewhere(|walker| walker.under("curl", |walker| walker.text(&text, None)));
            }
        }
    }
}

/// The commands of a text: one to a line, for `lftp` also several.
fn commands<'t>(name: &str, text: &'t str) -> impl Iterator<Item = &'t str> {
    let signs: &[char] = if name == "lftp" {
        &['\n', ';', '&', '|']
    } else {
        &['\n']
    };
    let commands = text.split(signs).map(str::trim);
    commands.filter(|command| !command.is_empty() && !command.starts_with('#'))
}

/// Returns a command without modifiers that only affect how it runs: `-rm x`, `(rm x`,
/// `glob -f rm x*`, `queue rm x`.
fn own(command: &str) -> &str {
    let mut command = command.trim_start_matches(['-', '@', '(', ' ']);
    while let Some((word, rest)) = command.split_once(' ') {
        let is_about_it =
            matches!(word, "glob" | "queue" | "command" | "wait") || word.starts_with('-');
        if !is_about_it {
            break;
        }
        command = rest.trim_start();
    }
    command
}

/// `mirror` of `lftp` as `rsync` has it. Its `-n` takes what is newer, and tries nothing out.
fn mirror(server: &str, given: &[&str]) -> Vec<Arg> {
    const TAKES: &str = "-x -X -i -I -f -F -O -N --exclude --include --exclude-glob --include-glob --file --directory --target-directory --newer-than";
    let mut operands = Vec::new();
    let mut options = Vec::new();
    let mut at = 0;
    while let Some(word) = given.get(at) {
        if word.starts_with('-') {
            options.push(*word);
        } else {
            operands.push(*word);
        }
        at += 1 + usize::from(word.starts_with('-') && takes_next(word, TAKES));
    }
    let short = |letter: char| {
        let mut options = options.iter();
        options.any(|option| !option.starts_with("--") && option.contains(letter))
    };
    let long = |name: &str| options.iter().any(|option| option.starts_with(name));
    let from = operands.first().copied().unwrap_or(".");
    let to = match operands.get(1) {
        Some(to) => to,
        None if operands.is_empty() => ".",
        None => path::name(from.trim_end_matches('/')),
    };
    let there = |path: &str| format!("{server}:{path}");
    let (from, to) = if short('R') || long("--reverse") {
        (from.to_owned(), there(to))
    } else {
        (there(from), to.to_owned())
    };
    let mut run = vec!["rsync", "-r"];
    if short('e') || long("--delete") {
        run.push("--delete");
    }
    if long("--Remove-source") || long("--Move") {
        run.push("--remove-source-files");
    }
    if long("--dry-run") {
        run.push("--dry-run");
    }
    let run = run.into_iter().map(str::to_owned).chain([from, to]);
    run.map(Arg::plain).collect()
}

/// Returns the `scp` command for a transfer from a server or to it.
fn copy(server: &str, sends: bool, are_many: bool, given: &[&str]) -> Vec<Arg> {
    let mut files: Vec<&str> = given
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .collect();
    // Without a target it keeps its name.
    let to = if are_many || files.len() < 2 {
        "."
    } else {
        files.pop().unwrap_or(".")
    };
    let there = |path: &str| format!("{server}:{path}");
    let mut run = vec!["scp".to_owned()];
    let is_deep = |word: &&str| word.starts_with('-') && word.contains(['r', 'R']);
    run.extend(given.iter().any(is_deep).then(|| "-r".to_owned()));
    if sends {
        run.extend(files.iter().map(|file| (*file).to_owned()));
        run.push(there(to));
    } else {
        run.extend(files.iter().map(|file| there(file)));
        run.push(to.to_owned());
    }
    run.into_iter().map(Arg::plain).collect()
}
