//! Programs that run others in ways of their own: shells, `find`, `xargs`, `ssh`, `git`.
//!
//! What only puts its own options before a command is in the table of `wrapper`.

use super::{
    code,
    value::{Arg, SOME, Source, Value, shown},
    walk::{Walker, source_of},
    wrapper::{self, first_operand},
};
use crate::path;

/// Shells that read commands as bash does, or nearly.
pub(crate) const SHELLS: [&str; 17] = [
    "bash",
    "sh",
    "zsh",
    "dash",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "rbash",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "yash",
    "elvish",
    "nu",
    "cmd",
];

/// Items that `xargs` and its like are followed for.
const MAX_ITEMS: usize = 16;

/// How a shell was called.
enum Called {
    /// With `-c` and the word at this place.
    Text(usize),
    /// With a file at this place.
    File(usize),
    /// To read what comes in.
    Input,
}

fn called(name: &str, words: &[Arg]) -> Called {
    let mut at = 1;
    let mut text = false;
    while let Some(word) = words.get(at) {
        let option = word.text.as_str();
        if name == "cmd" && option.eq_ignore_ascii_case("/c") {
            return Called::Text(at + 1);
        }
        if name.starts_with('p')
            && matches!(
                option.to_ascii_lowercase().as_str(),
                "-command" | "-c" | "/c"
            )
        {
            return Called::Text(at + 1);
        }
        match option {
            "--" | "-" => {
                at += 1;
                break;
            }
            "--command" => text = true,
            "--rcfile" | "--init-file" | "-o" | "-O" | "+o" | "+O" => at += 1,
            _ if option.starts_with("--command=") => return Called::Text(at),
            _ if option.starts_with("--") => {}
            _ if option.starts_with(['-', '+']) => {
                text |= option.contains('c') && option.starts_with('-');
                // `-o pipefail` within a cluster.
                at += usize::from(option.ends_with(['o', 'O']) && option.len() > 1);
                if option.starts_with('-') && option.contains('s') && !text {
                    return Called::Input;
                }
            }
            _ => break,
        }
        at += 1;
    }
    match words.get(at) {
        Some(_) if text => Called::Text(at),
        Some(word)
            if matches!(
                word.text.as_str(),
                "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
            ) =>
        {
            Called::Input
        }
        Some(_) => Called::File(at),
        None => Called::Input,
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

impl Walker<'_> {
    /// The text that a command takes for commands, where it is a shell or `eval`.
    pub(super) fn script_of(
        &mut self,
        name: &str,
        words: &[Arg],
        input: Option<&Value>,
    ) -> Option<Value> {
        match name {
            "eval" => {
                let from = usize::from(words.get(1).is_some_and(|word| word.text == "--"));
                Some(joined(&words[1 + from..]))
            }
            "source" | "." => {
                let file = words.get(1)?;
                if matches!(file.text.as_str(), "/dev/stdin" | "/dev/fd/0" | "-") {
                    return input.cloned();
                }
                Some(self.content(file))
            }
            _ if SHELLS.contains(&name) => match called(name, words) {
                Called::Text(at) => {
                    let word = words.get(at)?;
                    if word.text.starts_with("--command=") {
                        return Some(Value::known(&word.text["--command=".len()..]));
                    }
                    if name.starts_with('p') || name == "cmd" {
                        return Some(joined(&words[at..]));
                    }
                    Some(word.value())
                }
                Called::File(at) => Some(self.content(&words[at])),
                Called::Input => input.cloned(),
            },
            _ => {
                // A file that was written before and is now run by its path.
                let path = self.state.absolute(&words.first()?.text);
                let there = words[0].text.contains('/');
                self.state.files.get(&path).filter(|_| there).cloned()
            }
        }
    }

    fn content(&self, file: &Arg) -> Value {
        let path = self.state.absolute(&file.text);
        match self.state.files.get(&path) {
            Some(content) => content.clone(),
            None => Value::from(file.source),
        }
    }

    /// Follows what a command runs, and gives what it would write.
    pub(super) fn carry(
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
        if let Some((wrapper, names)) = wrapper::find(name, words) {
            return self.wrapped(name, wrapper, names, words, input);
        }
        match name {
            "su" | "runuser" | "sg" | "script" | "machinectl" => self.switched(words, input),
            "xargs" => self.xargs(words, input),
            "find" | "gfind" | "bfs" => self.find(words),
            "fd" | "fdfind" => self.fd(words),
            "parallel" | "sem" => self.parallel(words, input),
            "ssh" | "mosh" | "autossh" | "sshpass" => self.ssh(name, words, input),
            "docker" | "podman" | "nerdctl" | "docker-compose" | "kubectl" | "oc" | "lxc"
            | "podman-compose" | "incus" => self.container(words, input),
            "watch" | "hyperfine" | "nodemon" | "concurrently" | "onchange" | "reflex" => {
                self.texts(name, words)
            }
            "git" => self.git(words),
            "tmux" | "screen" | "byobu" => self.multiplexer(name, words),
            "at" | "batch" => match input {
                Some(text) => self.nested(name, &text.text, None),
                None => Value::default(),
            },
            "crontab" => self.crontab(input),
            "ln" | "gln" => self.link(words),
            "Remove-Item" | "remove-item" | "ri" => {
                // It deletes what is piped to it.
                if let Some(input) = input {
                    let items: Vec<Arg> = input.text.lines().map(Arg::plain).collect();
                    if let Some(call) = self.found.calls.last_mut() {
                        call.words.extend(items);
                    }
                }
                Value::default()
            }
            "vim" | "vi" | "nvim" | "ex" | "view" | "ed" | "gdb" | "sqlite3" | "psql" | "mysql"
            | "expect" | "ftp" | "sftp" | "lftp" | "less" | "irb" => {
                self.escapes(name, words, input)
            }
            "tar" | "bsdtar" | "gtar" | "rsync" | "zip" | "sed" | "gsed" | "make" | "gmake"
            | "nix-shell" | "nix" | "npm" | "pnpm" | "yarn" | "rbash" | "just" | "ninja"
            | "scp" | "ansible" => self.attached(name, words, input),
            _ if code::LANGUAGES.iter().any(|language| language.runs(name)) => {
                self.interpreter(name, words, input)
            }
            _ => {
                self.maybe_wrapped(name, words, input);
                self.output_of(name, words, input)
            }
        }
    }

    fn run_script(
        &mut self,
        name: &str,
        words: &[Arg],
        script: &Value,
        input: Option<&Value>,
    ) -> Value {
        let by_path = SHELLS.contains(&name);
        let arguments: Vec<Arg> = match name {
            "eval" | "source" | "." => Vec::new(),
            _ if by_path => {
                let at = match called(name, words) {
                    Called::Text(at) => at + 2,
                    Called::File(at) => at + 1,
                    Called::Input => words.len(),
                };
                words.get(at..).unwrap_or_default().to_vec()
            }
            _ => words[1..].to_vec(),
        };
        // A file for another interpreter says so in its first line.
        if let Some(first) = script.text.lines().next()
            && let Some(program) = first.strip_prefix("#!")
            && let Some(language) = code::LANGUAGES
                .iter()
                .find(|language| program.split(['/', ' ']).any(|part| language.runs(part)))
        {
            return self.code(language, &script.text);
        }
        let text = script.text.clone();
        match name {
            "eval" | "source" | "." => self.under(name, |walker| walker.text(&text, input)),
            _ => {
                let via = if by_path {
                    format!("{name} -c")
                } else {
                    name.to_owned()
                };
                let zero = match called(name, words) {
                    Called::Text(at) if by_path => words.get(at + 1).map(Arg::value),
                    _ => None,
                };
                self.apart(|walker| {
                    if let Some(zero) = zero {
                        walker.state.set("0", zero);
                    }
                    walker.state.arguments = Some(arguments);
                    walker.state.aliases.clear();
                    walker.state.fish = name == "fish";
                    walker.under(&via, |walker| walker.text(&text, input))
                })
            }
        }
    }

    fn wrapped(
        &mut self,
        name: &str,
        wrapper: &wrapper::Wrapper,
        names: usize,
        words: &[Arg],
        input: Option<&Value>,
    ) -> Value {
        let command = |word: &Arg| matches!(word.text.as_str(), "-c" | "--call" | "--command");
        // `flock FILE -c TEXT`, `npx -c TEXT`, `entr -s TEXT`.
        let text = match name {
            "flock" | "npx" | "npm" | "nix" | "doppler" => words.iter().position(command),
            "entr" => words
                .iter()
                .position(|word| word.text.starts_with('-') && word.text.ends_with('s')),
            _ => None,
        };
        if let Some(text) = text.and_then(|at| words.get(at + 1)) {
            let text = text.text.clone();
            return self.nested(wrapper.names, &text, input);
        }
        if name == "command"
            && words
                .get(1)
                .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V" | "-pv" | "-pV"))
        {
            let found = words.get(2).map(Arg::value).unwrap_or_default();
            return found;
        }
        if name == "env"
            && let Some(output) = self.env(words, input)
        {
            return output;
        }
        if name == "gdb" {
            self.escapes(name, words, input);
        }
        let mut at = first_operand(words, names, wrapper.takes);
        // `sudo -s TEXT` and `sudo -i TEXT` give the words to a shell.
        let shell = matches!(name, "sudo" | "doas")
            && words[..at.min(words.len())].iter().any(|word| {
                matches!(word.text.as_str(), "--shell" | "--login")
                    || word.text.starts_with('-')
                        && !word.text.starts_with("--")
                        && word.text.contains(['s', 'i'])
            });
        at += wrapper.skip;
        // Assignments before the command, where the program takes them.
        self.apart(|walker| {
            while let Some((name, value)) = words.get(at).and_then(|word| word.text.split_once('='))
            {
                let assigns = !name.is_empty()
                    && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                if !assigns {
                    break;
                }
                walker.state.set(name, Value::known(value));
                at += 1;
            }
            let mut inner = words.get(at..).unwrap_or_default();
            if inner.first().is_some_and(|word| word.text == "--") {
                inner = &inner[1..];
            }
            if name == "env" && inner.is_empty() {
                return Value::from(Source {
                    secret: true,
                    ..Source::default()
                });
            }
            if shell && inner.len() > 1 {
                let text = joined(inner).text;
                return walker.under(wrapper.names, |w| w.text(&text, input));
            }
            walker.inner(wrapper.names, inner, input)
        })
    }

    /// `env` with `-S`, `-C` and `-u`.
    fn env(&mut self, words: &[Arg], input: Option<&Value>) -> Option<Value> {
        for (at, word) in words.iter().enumerate().skip(1) {
            let text = word.text.as_str();
            let split = match text {
                "-S" | "-vS" | "-iS" | "--split-string" => {
                    words.get(at + 1).map(|w| w.text.clone())
                }
                _ => text
                    .strip_prefix("-S")
                    .or_else(|| text.strip_prefix("-vS"))
                    .or_else(|| text.strip_prefix("--split-string="))
                    .map(str::to_owned),
            };
            if let Some(split) = split {
                let from = if text.len() > 3 && text != "-iS" && text != "--split-string" {
                    at + 1
                } else {
                    at + 2
                };
                let rest = shown(words.get(from..).unwrap_or_default());
                return Some(self.nested("env -S", &format!("{split} {rest}"), input));
            }
            let folder = match text {
                "-C" | "--chdir" => words.get(at + 1).map(|w| w.text.clone()),
                _ => text.strip_prefix("--chdir=").map(str::to_owned),
            };
            if let Some(folder) = folder {
                let from = first_operand(words, 1, "-u --unset -C --chdir -a --argv0");
                let inner = words.get(from..).unwrap_or_default().to_vec();
                return Some(self.apart(|walker| {
                    walker.state.change_folder(&Value::known(folder));
                    walker.inner("env", &inner, input)
                }));
            }
            if !text.starts_with('-') && !text.contains('=') {
                return None;
            }
        }
        None
    }

    /// `su -c TEXT`, `runuser -c TEXT`, `sg GROUP TEXT`, `script -c TEXT`.
    fn switched(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        let name = words[0].text.clone();
        for (at, word) in words.iter().enumerate().skip(1) {
            let text = word.text.as_str();
            let given = text
                .strip_prefix("--command=")
                .or_else(|| text.strip_prefix("-c").filter(|rest| !rest.is_empty()))
                .map(str::to_owned);
            let next = matches!(text, "--command" | "--session-command")
                || text.starts_with('-') && !text.starts_with("--") && text.ends_with('c');
            let given = match given {
                Some(given) => Some(given),
                None if next => words.get(at + 1).map(|word| word.text.clone()),
                None => None,
            };
            if let Some(given) = given {
                return self.nested(&format!("{name} -c"), &given, input);
            }
        }
        if name == "sg" {
            let text = joined(words.get(2..).unwrap_or_default()).text;
            return self.nested("sg", &text, input);
        }
        // A shell that reads what comes in.
        match input {
            Some(input) if name == "su" => self.nested("su", &input.text.clone(), None),
            _ => Value::unknown(),
        }
    }

    fn xargs(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        const TAKES: &str = "-I -n -P -L -d -E -s -a --arg-file --max-args --max-procs --max-lines --delimiter --max-chars --process-slot-var -S -R -J";
        let at = first_operand(words, 1, TAKES);
        let mut mark: Option<String> = None;
        let mut lines = false;
        let mut file = None;
        for (here, word) in words[..at].iter().enumerate() {
            let text = word.text.as_str();
            if let Some(rest) = text.strip_prefix("-I") {
                mark = Some(if rest.is_empty() {
                    words
                        .get(here + 1)
                        .map(|w| w.text.clone())
                        .unwrap_or_default()
                } else {
                    rest.to_owned()
                });
                lines = true;
            } else if text == "-i" || text == "--replace" {
                mark = Some("{}".to_owned());
                lines = true;
            } else if let Some(rest) = text
                .strip_prefix("-i")
                .or_else(|| text.strip_prefix("--replace="))
            {
                mark = Some(rest.to_owned());
                lines = true;
            } else if matches!(text, "-a" | "--arg-file") {
                file = words.get(here + 1).cloned();
            } else if text.starts_with("-d") || text == "-0" || text == "--null" {
                lines = true;
            }
        }
        let input = match file {
            Some(file) => Some(self.content(&file)),
            None => input.cloned(),
        };
        let input = input.unwrap_or_else(Value::filled);
        let item = |text: &str| Arg {
            text: text.to_owned(),
            source: input.source,
            quoted: true,
            glob: false,
        };
        let items: Vec<Arg> = if lines {
            input
                .text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(item)
                .collect()
        } else {
            input
                .text
                .split_whitespace()
                .map(|word| item(word.trim_matches(['"', '\''])))
                .collect()
        };
        let command = if at < words.len() {
            words[at..].to_vec()
        } else {
            vec![Arg::plain("echo")]
        };
        let runs: Vec<Vec<Arg>> = if let Some(mark) = mark.filter(|mark| !mark.is_empty()) {
            items
                .iter()
                .take(MAX_ITEMS)
                .map(|item| replaced(&command, &mark, item))
                .collect()
        } else {
            let mut whole = command;
            whole.extend(items);
            vec![whole]
        };
        let mut output = Value::default();
        for run in runs {
            output.append(&self.apart(|walker| walker.inner("xargs", &run, None)));
        }
        output
    }

    fn find(&mut self, words: &[Arg]) -> Value {
        let begins = |text: &str| text.starts_with(['-', '(', ')', '!', ',']);
        let mut at = 1;
        // `-H`, `-L`, `-P`, `-O3` and `-D x` stand before the folders.
        while words.get(at).is_some_and(|word| {
            matches!(word.text.as_str(), "-H" | "-L" | "-P" | "-E" | "-X")
                || word.text.starts_with("-O")
        }) {
            at += 1;
        }
        let first = at;
        while words.get(at).is_some_and(|word| !begins(&word.text)) {
            at += 1;
        }
        let folders: Vec<Arg> = if at > first {
            words[first..at].to_vec()
        } else {
            vec![Arg::plain(".")]
        };
        let mut narrow = false;
        let mut named = None;
        let mut not = false;
        let mut here = at;
        while here < words.len() {
            let test = words[here].text.as_str();
            let value = words.get(here + 1).map_or("", |word| word.text.as_str());
            match test {
                "!" | "-not" => {
                    not = true;
                    here += 1;
                    continue;
                }
                "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex"
                | "-mtime" | "-mmin" | "-atime" | "-amin" | "-ctime" | "-cmin" | "-newer"
                | "-size" | "-user" | "-group" | "-perm" | "-inum" | "-lname" | "-samefile" => {
                    if matches!(test, "-name" | "-iname")
                        && !not
                        && !value.contains(['*', '?', '['])
                    {
                        named = Some(value.to_owned());
                    }
                    narrow |= !not && !matches!(value, "*" | "*.*" | ".*" | "?*" | "*/*");
                    here += 1;
                }
                "-empty" => narrow |= !not,
                _ => {}
            }
            not = false;
            here += 1;
        }
        // What it would come upon: the folders themselves, or something within them.
        let items: Vec<Arg> = folders
            .iter()
            .map(|folder| {
                if narrow {
                    let base = folder.text.trim_end_matches('/');
                    match &named {
                        Some(name) => Arg::plain(format!("{base}/{name}")),
                        None => Arg::plain(format!("{base}/{SOME}")),
                    }
                } else {
                    folder.clone()
                }
            })
            .collect();
        let mut here = at;
        while here < words.len() {
            match words[here].text.as_str() {
                "-delete" => {
                    let mut whole = vec![
                        Arg::plain("rm"),
                        Arg::plain(if narrow { "-f" } else { "-rf" }),
                    ];
                    whole.extend(items.clone());
                    self.inner("find -delete", &whole, None);
                }
                action @ ("-exec" | "-execdir" | "-ok" | "-okdir") => {
                    let end = words[here..]
                        .iter()
                        .position(|word| matches!(word.text.as_str(), ";" | "+"))
                        .map_or(words.len(), |length| here + length);
                    let command = words[(here + 1).min(end)..end].to_vec();
                    for item in &items {
                        let run = replaced(&command, "{}", item);
                        let via = format!("find {action}");
                        self.apart(|walker| walker.inner(&via, &run, None));
                    }
                    here = end;
                }
                "-fprint" | "-fprintf" | "-fls" | "-fprint0" => {
                    if let Some(file) = words.get(here + 1) {
                        let run = [Arg::plain("tee"), file.clone()];
                        self.inner("find -fprint", &run, None);
                    }
                }
                _ => {}
            }
            here += 1;
        }
        let mut output = String::new();
        for item in &items {
            output.push_str(&item.text);
            output.push('\n');
        }
        Value::known(output)
    }

    fn fd(&mut self, words: &[Arg]) -> Value {
        let exec = words
            .iter()
            .position(|word| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
        // The first operand is what is looked for, the second where.
        const TAKES: &str = "-e -E -t -d -S -c -j --extension --exclude --type --max-depth --size --changed-within --changed-before --owner --base-directory";
        let options = &words[..exec.unwrap_or(words.len())];
        let pattern = first_operand(options, 1, TAKES);
        let folder = first_operand(options, pattern + 1, TAKES);
        let folder = options.get(folder).map_or(".", |word| word.text.as_str());
        let item = Arg::plain(format!("{}/{SOME}", folder.trim_end_matches('/')));
        if let Some(at) = exec {
            let mut command = words[at + 1..].to_vec();
            command.retain(|word| word.text != ";");
            if !command.iter().any(|word| word.text.contains('{')) {
                command.push(Arg::plain("{}"));
            }
            let run = replaced(&command, "{}", &item);
            self.apart(|walker| walker.inner("fd -x", &run, None));
        }
        Value::known(format!("{}\n", item.text))
    }

    fn parallel(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        const TAKES: &str = "-j -P -I -N -n -L -a --jobs --arg-file --delay --timeout --retries --joblog --colsep -C -S --sshlogin --results --tmpdir --workdir --wd -d --max-args";
        let at = first_operand(words, 1, TAKES);
        let end = words[at..]
            .iter()
            .position(|word| matches!(word.text.as_str(), ":::" | ":::+" | "::::"))
            .map_or(words.len(), |length| at + length);
        let command = joined(&words[at..end]).text;
        let items: Vec<String> = if end < words.len() && words[end].text != "::::" {
            words[end + 1..]
                .iter()
                .filter(|word| !word.text.starts_with(":::"))
                .map(|word| word.text.clone())
                .collect()
        } else {
            match input {
                Some(input) => input.text.lines().map(str::to_owned).collect(),
                None => vec![SOME.to_string()],
            }
        };
        let mut output = Value::default();
        for item in items.iter().take(MAX_ITEMS) {
            let text = if command.contains("{}") {
                command.replace("{}", item)
            } else if command.is_empty() {
                item.clone()
            } else {
                format!("{command} {item}")
            };
            output.append(&self.nested("parallel", &text, None));
        }
        output
    }

    fn ssh(&mut self, name: &str, words: &[Arg], input: Option<&Value>) -> Value {
        if name == "sshpass" {
            let at = first_operand(words, 1, "-p -f -d -P");
            return self.inner(name, words.get(at..).unwrap_or_default(), input);
        }
        const TAKES: &str = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w -M";
        for (at, word) in words.iter().enumerate() {
            let option = match word.text.strip_prefix("-o") {
                Some("") => words.get(at + 1).map_or("", |word| word.text.as_str()),
                Some(option) => option,
                None => continue,
            };
            let lower = option.trim().to_ascii_lowercase();
            if lower.starts_with("proxycommand") || lower.starts_with("localcommand") {
                let text = option.trim()["proxycommand".len()..]
                    .trim_start_matches(['=', ' '])
                    .to_owned();
                self.nested("ssh -o", &text, None);
            }
        }
        let host = first_operand(words, 1, TAKES);
        let at = first_operand(words, host + 1, TAKES).min(words.len());
        let text = match (at < words.len(), input) {
            (true, _) => joined(&words[at..]).text,
            (false, Some(input)) => input.text.clone(),
            (false, None) => return Value::unknown(),
        };
        self.elsewhere(|walker| walker.under(name, |walker| walker.text(&text, input)))
    }

    fn container(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        const TAKES: &str = "-e -u -w -n -c -v -p -h -f -l -m --env --user --workdir --namespace --container --volume --name --network --mount --entrypoint --context --env-file --publish --hostname --file --project-name --cpus --memory --pid --cap-add --cap-drop --device --platform --label --add-host --security-opt --tmpfs --ulimit --restart --runtime --gpus --image --kubeconfig --as --cluster --server --link --dns --ipc --userns --log-driver --shm-size --pull --service -H --host --config --log-level --profile --index --detach-keys --restart-policy";
        let verb = words
            .iter()
            .position(|word| matches!(word.text.as_str(), "exec" | "run" | "create" | "debug"));
        let Some(verb) = verb else {
            return Value::unknown();
        };
        let explicit = words.iter().position(|word| word.text == "--");
        let target = first_operand(words, verb + 1, TAKES);
        let at = match explicit {
            Some(at) if at > verb => at + 1,
            _ => {
                let mut at = target + 1;
                // `kubectl exec POD -c NAME CMD`
                while words.get(at).is_some_and(|word| word.text.starts_with('-')) {
                    at += 1 + usize::from(wrapper::takes_next(&words[at].text, TAKES));
                }
                at
            }
        };
        let inner = words.get(at..).unwrap_or_default().to_vec();
        let fresh = matches!(words[verb].text.as_str(), "run" | "create");
        let entry = words
            .iter()
            .position(|word| word.text == "--entrypoint")
            .and_then(|at| words.get(at + 1).cloned())
            .or_else(|| {
                words
                    .iter()
                    .find_map(|word| word.text.strip_prefix("--entrypoint=").map(Arg::plain))
            });
        // What a new container does to itself ends with it, unless it is given a folder of ours.
        let shares = words[..at.min(words.len())].iter().any(|word| {
            word.text.starts_with("-v")
                || word.text.starts_with("--volume")
                || word.text.starts_with("--mount")
                || word.text == "--privileged"
        });
        if fresh && !shares {
            return Value::unknown();
        }
        let mut whole: Vec<Arg> = entry.into_iter().collect();
        whole.extend(inner);
        self.elsewhere(|walker| walker.inner("exec", &whole, input))
    }

    /// Programs of which the operands are texts for a shell.
    fn texts(&mut self, name: &str, words: &[Arg]) -> Value {
        const TAKES: &str = "-n --interval -w --warmup -r --runs -m -M --export-json --export-markdown -p --prepare -s --setup -c --cleanup -L -P -N -e --ext --watch -i --ignore --names -d --delay -g --glob";
        for (at, word) in words.iter().enumerate() {
            if matches!(
                word.text.as_str(),
                "-x" | "--exec" | "-p" | "--prepare" | "-s" | "--setup" | "-c" | "--cleanup"
            ) && let Some(text) = words.get(at + 1)
            {
                let text = text.text.clone();
                self.nested(name, &text, None);
            }
        }
        let at = first_operand(words, 1, TAKES);
        let operands = words.get(at..).unwrap_or_default();
        if name == "watch" {
            let text = joined(operands).text;
            return self.nested(name, &text, None);
        }
        for operand in operands {
            if operand.text.contains(' ') {
                let text = operand.text.clone();
                self.nested(name, &text, None);
            }
        }
        Value::unknown()
    }

    fn git(&mut self, words: &[Arg]) -> Value {
        const GLOBAL: &str = "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source";
        let at = first_operand(words, 1, GLOBAL);
        let mut aliases: Vec<(String, String)> = Vec::new();
        let mut folder = None;
        for here in 1..at.min(words.len()) {
            let next = words.get(here + 1).map_or("", |word| word.text.as_str());
            match words[here].text.as_str() {
                "-c" => {
                    if let Some((key, value)) = next.split_once('=') {
                        aliases.push((key.to_owned(), value.to_owned()));
                    }
                }
                "-C" => folder = Some(next.to_owned()),
                _ => {}
            }
        }
        let verb = words
            .get(at)
            .map_or("", |word| word.text.as_str())
            .to_owned();
        let rest = words.get(at + 1..).unwrap_or_default().to_vec();
        if verb == "config" {
            let operands: Vec<&Arg> = rest.iter().filter(|w| !w.text.starts_with('-')).collect();
            if let [key, value, ..] = operands.as_slice() {
                self.state
                    .aliases
                    .insert(format!("git {}", key.text), value.text.clone());
            }
        }
        for (key, value) in &aliases {
            let lower = key.to_ascii_lowercase();
            let runs = matches!(
                lower.as_str(),
                "core.pager"
                    | "core.editor"
                    | "core.sshcommand"
                    | "core.fsmonitor"
                    | "sequence.editor"
                    | "diff.external"
                    | "credential.helper"
                    | "core.askpass"
                    | "gpg.program"
                    | "core.alternaterefscommand"
                    | "core.gitproxy"
            ) || lower.starts_with("pager.")
                || lower.ends_with(".textconv")
                || lower.starts_with("filter.");
            if runs {
                let text = value.trim_start_matches('!').to_owned();
                self.nested("git -c", &text, None);
            }
        }
        let key = format!("alias.{verb}");
        let alias = aliases
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(&key))
            .map(|(_, value)| value.clone())
            .or_else(|| self.state.aliases.get(&format!("git {key}")).cloned());
        if let Some(alias) = alias {
            let text = match alias.strip_prefix('!') {
                Some(shell) => format!("{shell} {}", shown(&rest)),
                None => format!("git {alias} {}", shown(&rest)),
            };
            return self.nested("git alias", &text, None);
        }
        let operand = |walker: &mut Self, rest: &[Arg]| {
            let from = first_operand(rest, 0, "");
            let text = joined(rest.get(from..).unwrap_or_default()).text;
            walker.nested("git", &text, None)
        };
        match verb.as_str() {
            "bisect" if rest.first().is_some_and(|word| word.text == "run") => {
                self.inner("git bisect run", &rest[1..], None);
            }
            "submodule" => {
                if let Some(at) = rest.iter().position(|word| word.text == "foreach") {
                    operand(self, &rest[at + 1..]);
                }
            }
            "rebase" | "difftool" | "filter-branch" | "fetch" | "clone" | "pull" | "push"
            | "ls-remote" => {
                for (at, word) in rest.iter().enumerate() {
                    let text = word.text.as_str();
                    let given = ["--exec=", "--upload-pack=", "--receive-pack=", "--extcmd="]
                        .iter()
                        .find_map(|option| text.strip_prefix(option).map(str::to_owned))
                        .or_else(|| {
                            let next = matches!(
                                text,
                                "-x" | "--exec" | "--extcmd" | "--upload-pack" | "-u"
                            ) && matches!(
                                verb.as_str(),
                                "rebase" | "difftool" | "clone" | "fetch"
                            ) || text.ends_with("-filter") && verb == "filter-branch";
                            next.then(|| rest.get(at + 1).map(|word| word.text.clone()))?
                        });
                    if let Some(given) = given {
                        self.nested(&format!("git {verb}"), &given, None);
                    }
                    if let Some(command) = text.strip_prefix("ext::") {
                        let command = command.to_owned();
                        self.nested("git ext::", &command, None);
                    }
                }
            }
            _ => {}
        }

        match (verb.as_str(), rest.first().map(|word| word.text.as_str())) {
            ("rev-parse", Some("--show-toplevel")) => match (&folder, &self.facts.root) {
                (None, Some(root)) => Value::known(format!("{root}\n")),
                _ => Value::filled(),
            },
            ("rev-parse", Some("--git-dir" | "--absolute-git-dir" | "--git-common-dir")) => {
                match &self.facts.git_dir {
                    Some(folder) => Value::known(format!("{folder}\n")),
                    None => Value::known(".git\n"),
                }
            }
            // Without a path it lists all that git keeps, or all that it does not.
            ("ls-files", _) => {
                let some = rest.iter().any(|word| {
                    !word.text.starts_with('-')
                        || matches!(word.text.as_str(), "-d" | "--deleted" | "-i" | "--ignored")
                });
                if some {
                    Value::filled()
                } else {
                    Value::known("*\n")
                }
            }
            _ => Value::filled(),
        }
    }

    fn multiplexer(&mut self, name: &str, words: &[Arg]) -> Value {
        let verb = words.iter().position(|word| {
            matches!(
                word.text.as_str(),
                "send-keys"
                    | "send"
                    | "new-session"
                    | "new"
                    | "new-window"
                    | "neww"
                    | "split-window"
                    | "splitw"
                    | "run-shell"
                    | "run"
                    | "respawn-pane"
                    | "display-popup"
                    | "popup"
                    | "if-shell"
                    | "stuff"
                    | "-X"
                    | "pipe-pane"
            )
        });
        let from = match verb {
            Some(verb) => verb + 1,
            None if name == "screen" => 1,
            None => return Value::unknown(),
        };
        const TAKES: &str = "-t -s -n -c -x -y -F -e -l -p -S -L -f -h -w -d";
        let at = if name == "screen" {
            first_operand(words, from, "-S -t -p -c -s -T")
        } else {
            first_operand(
                words,
                from,
                if words.get(from).is_some_and(|w| w.text == "-d") {
                    "-t -s -n -c -x -y -F -e"
                } else {
                    TAKES
                },
            )
        };
        let mut text = String::new();
        for word in words.get(at..).unwrap_or_default() {
            match word.text.as_str() {
                "Enter" | "C-m" | "KPEnter" | "C-j" => text.push('\n'),
                "Space" => text.push(' '),
                "stuff" => {}
                other => {
                    let typed = other
                        .replace("\\n", "\n")
                        .replace("\\r", "\n")
                        .replace("^M", "\n");
                    if !text.is_empty()
                        && !text.ends_with('\n')
                        && verb.is_none_or(|at| !words[at].text.starts_with("send"))
                    {
                        text.push(' ');
                    }
                    text.push_str(&typed);
                }
            }
        }
        self.nested(name, &text, None)
    }

    /// Remembers where a link leads that is made here.
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
        // What a symbolic link says is read from the folder that it stands in.
        let folder = at.rsplit_once('/').map(|(folder, _)| folder);
        let target = match folder {
            Some(folder) if symbolic => path::absolute(target, Some(folder)),
            _ => self.state.absolute(target),
        };
        self.found.links.insert(at, target);
        Value::default()
    }

    fn crontab(&mut self, input: Option<&Value>) -> Value {
        for line in input
            .map_or("", |input| input.text.as_str())
            .lines()
            .take(MAX_ITEMS)
        {
            let line = line.trim();
            let fields = if line.starts_with('@') { 1 } else { 5 };
            let command: Vec<&str> = line.split_whitespace().skip(fields).collect();
            let text = command.join(" ");
            self.nested("crontab", &text, None);
        }
        Value::default()
    }

    /// Programs with commands of their own, some of which reach a shell.
    fn escapes(&mut self, name: &str, words: &[Arg], input: Option<&Value>) -> Value {
        // A file of statements that was written before is as if it came in.
        if let Some(pair) = words
            .windows(2)
            .find(|pair| matches!(pair[0].text.as_str(), "-f" | "--file" | "-init"))
        {
            let content = self.content(&pair[1]);
            if content.is_known()
                && let Some(call) = self.found.calls.last_mut()
            {
                call.input = Some(content);
            }
        }
        let mut texts: Vec<String> = words.iter().skip(1).map(|word| word.text.clone()).collect();
        texts.extend(input.map(|input| input.text.clone()));
        for text in texts.iter().flat_map(|text| text.lines()).take(64) {
            let text = text.trim_start_matches(['+', ':']).trim();
            let shell = text
                .strip_prefix('!')
                .or_else(|| text.strip_prefix("\\!"))
                .or_else(|| text.strip_prefix(".shell "))
                .or_else(|| text.strip_prefix(".system "))
                .or_else(|| text.strip_prefix("shell ").filter(|_| name == "gdb"))
                .or_else(|| text.strip_prefix("system ").filter(|_| name == "mysql"))
                .or_else(|| text.strip_prefix("silent !"))
                .or_else(|| text.strip_prefix("spawn ").filter(|_| name == "expect"))
                .or_else(|| text.strip_prefix("%!"))
                .or_else(|| text.strip_prefix("r !"))
                .or_else(|| {
                    let at = text.find("system(")?;
                    Some(text[at + 7..].trim_matches(['"', '\'', ')', ';']))
                });
            if let Some(shell) = shell {
                let shell = shell
                    .split(';')
                    .next()
                    .map_or(shell, |first| if name == "expect" { first } else { shell });
                let shell = shell.to_owned();
                self.nested(name, &shell, None);
            }
        }
        Value::unknown()
    }

    /// Options whose value is a command.
    fn attached(&mut self, name: &str, words: &[Arg], input: Option<&Value>) -> Value {
        for (at, word) in words.iter().enumerate().skip(1) {
            let text = word.text.as_str();
            let next = || words.get(at + 1).map(|word| word.text.clone());
            let given = match name {
                "tar" | "bsdtar" | "gtar" => text
                    .strip_prefix("--checkpoint-action=exec=")
                    .or_else(|| text.strip_prefix("--to-command="))
                    .or_else(|| text.strip_prefix("--use-compress-program="))
                    .or_else(|| text.strip_prefix("--rsh-command="))
                    .map(str::to_owned)
                    .or_else(|| (matches!(text, "-I" | "--to-command")).then(next)?),
                "rsync" => text
                    .strip_prefix("--rsh=")
                    .or_else(|| text.strip_prefix("--rsync-path="))
                    .map(str::to_owned)
                    .or_else(|| (text == "-e").then(next)?),
                "zip" => (matches!(text, "-TT" | "--unzip-command"))
                    .then(next)
                    .flatten(),
                "nix-shell" | "nix" => (matches!(text, "--run" | "--command" | "-c"))
                    .then(next)
                    .flatten(),
                "scp" => (text == "-S").then(next).flatten(),
                "ansible" => (matches!(text, "-a" | "--args")).then(next).flatten(),
                "make" | "gmake" => {
                    let shell = text.find("$(shell ").map(|at| &text[at + 8..]);
                    shell.map(|text| text.trim_end_matches(')').to_owned())
                }
                "sed" | "gsed" => sed_runs(text),
                _ => None,
            };
            if let Some(given) = given {
                self.nested(name, &given, None);
            }
        }
        if matches!(name, "make" | "gmake") {
            self.recipes(words, input);
        }
        self.output_of(name, words, input)
    }

    /// The recipes of a makefile that was written before, or comes in.
    fn recipes(&mut self, words: &[Arg], input: Option<&Value>) {
        let named = words
            .windows(2)
            .find(|pair| matches!(pair[0].text.as_str(), "-f" | "--file" | "--makefile"))
            .map(|pair| pair[1].clone());
        let content = match named {
            Some(file) if matches!(file.text.as_str(), "-" | "/dev/stdin") => {
                input.cloned().unwrap_or_default()
            }
            Some(file) => self.content(&file),
            None => ["Makefile", "makefile", "GNUmakefile"]
                .iter()
                .find_map(|name| self.state.files.get(&self.state.absolute(name)).cloned())
                .unwrap_or_default(),
        };
        for line in content.text.lines().take(64) {
            let recipe = line.strip_prefix('\t').or_else(|| {
                line.split_once(':')
                    .and_then(|(_, rest)| rest.split_once(';'))
                    .map(|(_, rest)| rest)
            });
            if let Some(recipe) = recipe {
                let recipe = recipe
                    .trim_start_matches(['@', '-', '+', ' '])
                    .replace("$$", "$");
                self.nested("make", &recipe, None);
            }
        }
    }

    /// Programs that are not known: where their words look like a command, they may run it.
    fn maybe_wrapped(&mut self, name: &str, words: &[Arg], input: Option<&Value>) {
        if crate::rule::is_modelled(name) || super::output::is_plain(name) {
            return;
        }
        let command = words.iter().skip(1).take(6).position(|word| {
            !word.text.contains(' ') && crate::rule::is_modelled(path::name(&word.text))
        });
        if let Some(at) = command {
            let inner = words[at + 1..].to_vec();
            if inner.len() > 1 {
                self.guessing(|walker| walker.inner(name, &inner, input));
            }
        }
    }

    fn interpreter(&mut self, name: &str, words: &[Arg], input: Option<&Value>) -> Value {
        let Some(language) = code::LANGUAGES.iter().find(|language| language.runs(name)) else {
            return Value::unknown();
        };
        let mut any = false;
        // `python -m twine upload` is `twine upload`.
        if language.name == "python -c"
            && let Some(at) = words.iter().position(|word| word.text == "-m")
            && words[1..at].iter().all(|word| word.text.starts_with('-'))
        {
            return self.inner("python -m", &words[at + 1..], input);
        }
        for (at, word) in words.iter().enumerate().skip(1) {
            let text = word.text.as_str();
            let next = words.get(at + 1);
            let inline = language.flags.iter().any(|flag| {
                text == *flag
                    || flag.len() == 2
                        && text.starts_with('-')
                        && !text.starts_with("--")
                        && text.ends_with(&flag[1..])
                        && text.len() <= 5
            });
            if inline && let Some(next) = next {
                any = true;
                let source = next.text.clone();
                self.code(language, &source);
            } else if let Some(given) = language
                .flags
                .iter()
                .filter(|flag| flag.starts_with("--"))
                .find_map(|flag| text.strip_prefix(flag)?.strip_prefix('='))
            {
                any = true;
                let source = given.to_owned();
                self.code(language, &source);
            } else if let Some(given) = language
                .flags
                .iter()
                .filter(|flag| flag.len() == 2)
                .find_map(|flag| text.strip_prefix(flag).filter(|rest| rest.len() > 3))
            {
                any = true;
                let source = given.to_owned();
                self.code(language, &source);
            }
        }
        if language.first && !any {
            let at = first_operand(words, 1, "-F -v -f -E");
            if let Some(word) = words.get(at) {
                let mut source = String::new();
                for pair in words.windows(2) {
                    if pair[0].text == "-v"
                        && let Some((name, value)) = pair[1].text.split_once('=')
                    {
                        source.push_str(&format_assignment(name, value));
                    }
                }
                source.push_str(&word.text);
                self.code(language, &source);
            }
            return Value::from(input.map(|input| input.source).unwrap_or_default());
        }
        if !any {
            let at = first_operand(words, 1, "-W -X -I -r -m");
            let file = words
                .get(at)
                .filter(|word| !matches!(word.text.as_str(), "-" | "/dev/stdin"));
            let content = if let Some(file) = file {
                let content = self.content(file);
                self.found_script(content.clone());
                content
            } else {
                let content = input.cloned().unwrap_or_default();
                self.found_script(content.clone());
                content
            };
            self.code(language, &content.text);
        }
        Value::from(Source::default())
    }

    /// Says of the command that was recorded last what it takes for a program.
    fn found_script(&mut self, content: Value) {
        if let Some(call) = self.found.calls.last_mut() {
            call.script = Some(content);
        }
    }

    /// Follows what a program in another language would do.
    fn code(&mut self, language: &code::Language, source: &str) -> Value {
        let home = self
            .facts
            .home
            .clone()
            .unwrap_or_else(|| "/root".to_owned());
        if language.name == "tclsh" {
            for line in source
                .lines()
                .filter_map(|line| line.trim().strip_prefix("exec "))
            {
                self.nested(language.name, line, None);
            }
        }
        for effect in code::effects(language, source, &home) {
            match effect {
                code::Effect::Shell(text) => {
                    self.nested(language.name, &text, None);
                }
                code::Effect::Perhaps(text) => {
                    self.guessing(|walker| {
                        walker.under(language.name, |walker| walker.text(&text, None))
                    });
                }
                code::Effect::Words(words) => {
                    let words: Vec<Arg> = words.into_iter().map(Arg::plain).collect();
                    self.apart(|walker| walker.inner(language.name, &words, None));
                }
            }
        }
        Value::unknown()
    }
}

/// The words with a mark in them replaced.
fn replaced(words: &[Arg], mark: &str, item: &Arg) -> Vec<Arg> {
    words
        .iter()
        .map(|word| {
            if word.text.contains(mark) {
                Arg {
                    text: word.text.replace(mark, &item.text),
                    source: word.source.join(item.source),
                    quoted: true,
                    glob: item.glob,
                }
            } else {
                word.clone()
            }
        })
        .collect()
}

/// A variable given to awk, as awk would write it.
fn format_assignment(name: &str, value: &str) -> String {
    format!("{name}=\"{}\";", value.replace('"', "\\\""))
}

/// What GNU sed's `e` command and flag would run.
fn sed_runs(text: &str) -> Option<String> {
    let trimmed = text.trim_start_matches(|c: char| c.is_ascii_digit() || "$,/".contains(c));
    if let Some(command) = trimmed.strip_prefix("e ") {
        return Some(command.to_owned());
    }
    let body = text.strip_prefix('s')?;
    let sign = body.chars().next().filter(|c| !c.is_alphanumeric())?;
    let mut pieces = vec![String::new()];
    let mut letters = body[sign.len_utf8()..].chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\' && letters.peek() == Some(&sign) {
            letters.next();
            pieces.last_mut()?.push(sign);
        } else if letter == sign {
            pieces.push(String::new());
        } else {
            pieces.last_mut()?.push(letter);
        }
    }
    match pieces.as_slice() {
        [_, with, flags, ..] if flags.contains('e') => Some(with.clone()),
        _ => None,
    }
}
