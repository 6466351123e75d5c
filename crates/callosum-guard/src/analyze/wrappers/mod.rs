//! Programs that run others in ways of their own: shells, `find`, `xargs`, `ssh`, `git`.
//!
//! Start with [`Evaluator::carry`], which finds the command that each of them runs. A program that only puts its own options
//! before a command is in the table of `wrapper_table`.

mod autoload;
mod command_strings;
mod compiler;
mod environments;
mod fan_out;
mod file_server;
mod framework_console;
mod git;
mod interpreter;
mod makefile;
mod package_bins;
mod package_scripts;
mod per_item;
mod prefix;
mod recipes;
mod remote;
mod sed;
mod shells;
mod tasks;

use super::{
    embedded_code,
    evaluator::Evaluator,
    value::{Arg, Source, Value, source_of},
    wrapper_table,
};
use crate::{path, shell::ParseError};

/// Items that `xargs` and its like are followed for.
const MAX_ITEMS: usize = 16;

/// Limit on the links that are remembered; more are reported as too much.
const MAX_LINKS: usize = 256;

impl Evaluator<'_> {
    /// Follows what a command runs, and gives what it would write.
    pub(in crate::analyze) fn carry(
        &mut self,
        name: &str,
        words: &[Arg],
        script: Option<Value>,
        input: Option<Value>,
    ) -> Value {
        let input = input.as_ref();
        if let Some(script) = script {
            return self.run_script(name, words, &script, input);
        }
        if let Some(output) = self.builtin(name, words, input) {
            return output;
        }
        if let Some(output) = self.place(name, words, input) {
            return output;
        }
        self.loaded(name, words);
        self.compiler(name, words, input);
        self.cargo_make(name, words, input);
        self.console(name, words, input);
        self.packaged(name, words, input);
        let folder = self.folder_named_by(name, words);
        let mut output = self.carry_named(name, words, input);
        self.pack_secrets(name, words, input);
        output.source = output.source.join(self.secrets_printed(name, words));
        folder.unwrap_or(output)
    }

    fn carry_named(&mut self, name: &str, words: &[Arg], input: Option<&Value>) -> Value {
        if let Some(output) = self.many(name, words, input) {
            return output;
        }
        if let Some(output) = self.remote(name, words) {
            return output;
        }
        if let Some(output) = self.host_alias(name, words) {
            return output;
        }
        if let Some((wrapper, names)) = wrapper_table::find(name, words) {
            return self.wrapped(name, wrapper, names, words, input);
        }
        match name {
            "su" | "runuser" | "sg" | "newgrp" | "script" | "machinectl" => {
                self.switched(words, input)
            }
            "xargs" => self.xargs(words, input),
            "find" | "gfind" | "bfs" => self.find(words),
            "fd" | "fdfind" => self.fd(words),
            "parallel" | "sem" => self.parallel(words, input),
            "ssh" | "mosh" | "autossh" | "sshpass" => self.ssh(name, words, input),
            "docker" | "podman" | "nerdctl" | "docker-compose" | "kubectl" | "oc" | "lxc"
            | "podman-compose" | "incus" => {
                let output = self.container(words, input);
                self.listing(name, words).unwrap_or(output)
            }
            "watch" => self.watch(words),
            "hyperfine" | "nodemon" | "concurrently" | "chokidar" | "reflex" => {
                self.texts(name, words)
            }
            "tmux" | "screen" | "byobu" => self.multiplexer(name, words),
            "at" | "batch" => match input {
                Some(text) => self.nested(name, &text.text, None),
                None => Value::default(),
            },
            "crontab" => self.crontab(input),
            "sed" | "gsed" => self.sed(words, input),
            "ln" | "gln" => self.link(words),
            "vim" | "vi" | "nvim" | "ex" | "view" | "ed" | "gdb" | "sqlite3" | "psql" | "mysql"
            | "cypher-shell" | "mgconsole" | "expect" | "less" | "irb" | "mariadb" | "duckdb"
            | "dc" | "gnuplot" | "octave" | "octave-cli" => self.escapes(name, words, input),
            "tar" | "bsdtar" | "gtar" | "rsync" | "zip" | "make" | "gmake" | "nix-shell"
            | "nix" | "npm" | "pnpm" | "yarn" | "rbash" | "just" | "ninja" | "scp" | "ansible"
            | "split" | "gsplit" | "task" | "go-task" => self.attached(name, words, input),
            "sftp" | "ftp" | "lftp" => self.file_server(name, words, input),
            "jq" => match package_scripts::edited_by_jq(words) {
                Some(edited) => edited,
                None => self.output_of(name, words, input),
            },
            "curl" => {
                self.quoted(words);
                self.output_of(name, words, input)
            }
            "cp" | "gcp" | "mv" | "gmv" | "install" | "ginstall" => self.copy(name, words),
            _ if embedded_code::LANGUAGES
                .iter()
                .any(|language| language.runs(name)) =>
            {
                self.interpreter(name, words, input)
            }
            _ => {
                self.maybe_wrapped(name, words, input);
                self.output_of(name, words, input)
            }
        }
    }

    fn content(&self, file: &Arg) -> Value {
        let path = self.state.absolute(&file.text);
        let path = match path.strip_prefix("/proc/self/fd/") {
            Some(number) => format!("/dev/fd/{number}"),
            None => path,
        };
        let kept = |path: &String| self.state.files.get(path);
        match kept(&path).or_else(|| kept(self.found.links.get(&path)?)) {
            Some(content) => content.clone(),
            None => Value::from(Source {
                file: true,
                ..file.source
            }),
        }
    }

    /// Remembers the contents of a file that is copied or moved, if known.
    fn copy(&mut self, name: &str, words: &[Arg]) -> Value {
        const TAKES: &str = "-t --target-directory -S --suffix -m --mode -o --owner -g --group";
        let mut operands = Vec::new();
        let mut folder = None;
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let takes = word.text.starts_with('-') && wrapper_table::takes_next(&word.text, TAKES);
            if takes && matches!(word.text.as_str(), "-t" | "--target-directory") {
                folder = words.get(at + 1);
            } else if !word.text.starts_with('-') {
                operands.push(word);
            }
            at += 1 + usize::from(takes);
        }
        let to = folder.or_else(|| operands.pop());
        let Some(to) = to else {
            return Value::default();
        };
        let is_folder = folder.is_some() || self.is_folder(&to.text);
        let to = self.state.absolute(&to.text);
        for from in operands.into_iter().take(MAX_ITEMS) {
            let path = self.state.absolute(&from.text);
            let within = format!("{}/{}", to.trim_end_matches('/'), path::name(&path));
            self.put(&from.text, &within);
            self.put(&from.text, &to);
            if matches!(name, "mv" | "gmv") && self.found.moves.len() < MAX_LINKS {
                let places = [&within, &to].map(|place| (place.clone(), path.clone()));
                self.found.moves.extend(places);
            }
            let Some(content) = self.state.files.get(&path).cloned() else {
                // What was known of the target is so no more.
                self.state.files.remove(&to);
                if let Some(content) = self.secret_in(&path) {
                    self.write_file(&within, content.clone(), false);
                    if !is_folder {
                        self.write_file(&to, content, false);
                    }
                }
                continue;
            };
            if matches!(name, "mv" | "gmv") {
                self.state.files.remove(&path);
            }
            self.write_file(&within, content.clone(), false);
            self.write_file(&to, content, false);
        }
        Value::default()
    }

    /// Remembers the target of a link that is made here.
    fn link(&mut self, words: &[Arg]) -> Value {
        let symbolic = words.iter().any(|word| {
            word.text == "--symbolic"
                || word.text.starts_with('-')
                    && !word.text.starts_with("--")
                    && word.text.contains('s')
        });
        let operands: Vec<&str> = words[1..]
            .iter()
            .map(|word| word.text.as_str())
            .filter(|text| !text.starts_with('-'))
            .collect();
        let (target, at) = match operands.as_slice() {
            [target] => (*target, path::name(target).to_owned()),
            [target, at] if matches!(*at, "." | "..") || at.ends_with('/') => {
                (*target, format!("{at}/{}", path::name(target)))
            }
            [target, at] => (*target, (*at).to_owned()),
            _ => return Value::default(),
        };
        let at = self.state.absolute(&at);
        // The target of a symbolic link is relative to the folder that the link is in.
        let folder = at.rsplit_once('/').map(|(folder, _)| folder);
        let target = match folder {
            Some(folder) if symbolic => path::absolute(target, Some(folder)),
            _ => self.state.absolute(target),
        };
        self.put(&target, &at);
        if self.found.links.len() < MAX_LINKS {
            self.found.links.insert(at, target);
        } else {
            self.found.faults.insert(ParseError::TooMuch);
        }
        Value::default()
    }

    /// Programs that are not known: where their words look like a command, they may run it.
    fn maybe_wrapped(&mut self, name: &str, words: &[Arg], input: Option<&Value>) {
        if self.known.contains(name) || super::inert_programs::is_plain(name) {
            return;
        }
        let command = words.iter().skip(1).take(6).position(|word| {
            !word.text.contains(' ') && self.known.contains(path::name(&word.text))
        });
        if let Some(at) = command {
            let inner = words[at + 1..].to_vec();
            if inner.len() > 1 {
                self.guessing(|walker| walker.inner(name, &inner, input));
            }
        }
    }
}

/// Words as one text for a shell, each quoted as it was given.
fn joined(words: &[Arg]) -> Value {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.text);
    }
    Value {
        text,
        source: source_of(words),
    }
}
