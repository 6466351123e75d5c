//! Programs that run a command for each of many things: `xargs`, `find`, `fd`, `parallel`.

use super::{MAX_ITEMS, joined};
use crate::{
    analyze::{
        evaluator::Evaluator,
        list_commands::LISTED,
        value::{Arg, SOME, Source, Value},
        wrapper_table::first_operand,
    },
    shell::ansi,
};

impl Evaluator<'_> {
    pub(super) fn xargs(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        const TAKES: &str = "-I -n -P -L -d -E -s -a --arg-file --max-args --max-procs --max-lines --delimiter --max-chars --process-slot-var -S -R -J";
        let at = first_operand(words, 1, TAKES);
        let mut mark: Option<String> = None;
        let mut lines = false;
        let mut ended_by_nul = false;
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
            } else if text.starts_with("-d") || text == "--null" || is_null(text) {
                lines = true;
                ended_by_nul |= !text.starts_with("-d");
            }
        }
        let input = match file {
            Some(file) => Some(self.content(&file).apart()),
            None => input.cloned(),
        };
        let input = input.unwrap_or_else(Value::filled);
        let takes_one = words[..at].windows(2).any(|pair| {
            let joined = ["-n1", "-L1", "--max-args=1", "--max-lines=1"];
            let apart = ["-n", "-L", "--max-args", "--max-lines"];
            let texts = [&*pair[0].text, &*pair[1].text];
            joined.contains(&texts[1]) || apart.contains(&texts[0]) && texts[1] == "1"
        });
        let item = |text: &str| Arg {
            text: text.to_owned(),
            source: input.source,
            quoted: true,
            glob: false,
        };
        let mut items: Vec<Arg> = if lines {
            input
                .text
                .split(|c| c == '\n' || ended_by_nul && c == '\0')
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
        let are_several = items.len() > 1
            || items
                .iter()
                .any(|item| !item.is_known() || item.text.contains('*'));
        if are_several && (mark.is_some() || takes_one) {
            for item in &mut items {
                item.source.each = true;
            }
        }
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

    pub(super) fn find(&mut self, words: &[Arg]) -> Value {
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
        let mut pattern = None;
        let mut recent = false;
        let mut by_state = false;
        let mut by_name = false;
        let mut is_deep = false;
        let mut is_flat = false;
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
                | "-newermt" | "-newerct" | "-size" | "-user" | "-group" | "-perm" | "-inum"
                | "-lname" | "-samefile" => {
                    if matches!(test, "-name" | "-iname")
                        && !not
                        && !value.contains(['*', '?', '['])
                    {
                        named = Some(value.to_owned());
                    }
                    if matches!(test, "-name" | "-iname") && !not && !value.contains('/') {
                        pattern = Some(value.to_owned());
                    }
                    // What was worked on last is picked out by that.
                    let is_recent = test.starts_with("-newer")
                        || matches!(test, "-mtime" | "-mmin" | "-ctime" | "-cmin")
                            && value.starts_with('-');
                    recent |= is_recent && !not;
                    let by_own =
                        test.contains("name") || test.contains("path") || test.contains("regex");
                    by_name |= by_own && !not;
                    by_state |= !by_own && !not;
                    narrow |= !not && !matches!(value, "*" | "*.*" | ".*" | "?*" | "*/*");
                    here += 1;
                }
                "-empty" => narrow |= !not,
                "-maxdepth" => is_flat = matches!(value, "0" | "1"),
                "-mindepth" => is_deep = !matches!(value, "0" | "1"),
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
                    let deep = if is_deep {
                        format!("/{SOME}")
                    } else {
                        String::new()
                    };
                    let base = &format!("{}{deep}", folder.text.trim_end_matches('/'));
                    match &named {
                        // Within the tree it matters what kind of files they are.
                        None if self.is_inside(base) && pattern.is_some() => {
                            Arg::plain(format!("{base}/{}", pattern.as_deref().unwrap_or("")))
                        }
                        Some(name) => Arg {
                            source: Source {
                                found: self.is_inside(base),
                                ..Source::default()
                            },
                            ..Arg::plain(format!("{base}/{name}"))
                        },
                        // What is old or large is so in the repository's own folder as well.
                        None if self.is_tree(&folder.text)
                            && (recent || by_state && !by_name && self.is_inside(&folder.text)) =>
                        {
                            Arg::plain(format!("{base}/*"))
                        }
                        None => Arg::plain(format!("{base}/{SOME}")),
                    }
                } else if self.is_inside(&folder.text) && !self.is_tree(&folder.text) {
                    Arg::plain(format!("{}/*", folder.text.trim_end_matches('/')))
                } else {
                    Arg {
                        source: Source {
                            within: !is_flat,
                            ..folder.source
                        },
                        ..folder.clone()
                    }
                }
            })
            .collect();
        let mut output = Value::default();
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
                    let is_each = matches!(action, "-exec" | "-ok")
                        && named.is_none()
                        && words.get(end).is_none_or(|word| word.text == ";");
                    for item in &items {
                        let mut item = item.clone();
                        item.source.each = is_each;
                        let run = replaced(&command, "{}", &item);
                        let via = format!("find {action}");
                        let written = self.apart(|walker| walker.inner(&via, &run, None));
                        // The unknown part of it is added below.
                        if written.is_known() {
                            output.append(&written);
                        } else {
                            output.source.secret |= written.source.secret;
                            output.source.entire |= written.source.entire;
                        }
                    }
                    here = end;
                }
                // The folder of a found file: it may be the searched folder itself.
                "-printf"
                    if words
                        .get(here + 1)
                        .is_some_and(|word| word.text.contains("%h")) =>
                {
                    for folder in &folders {
                        let at = folder.text.trim_end_matches('/');
                        let within = if is_deep {
                            format!("/{SOME}")
                        } else {
                            String::new()
                        };
                        output.append(&Value::known(format!("{at}{within}\n")));
                    }
                }
                action @ ("-fprint" | "-fprintf" | "-fls" | "-fprint0") => {
                    if let Some(file) = words.get(here + 1) {
                        let format = words.get(here + 2).filter(|_| action == "-fprintf");
                        let content = match format {
                            Some(format) => Value::known(format_of_find(&format.text)),
                            None => Value::filled(),
                        };
                        let run = [Arg::plain("tee"), file.clone()];
                        self.inner("find -fprint", &run, Some(&content));
                    }
                }
                _ => {}
            }
            here += 1;
        }
        for item in &items {
            output.append(&Value {
                text: format!("{}\n", item.text),
                source: item.source,
            });
        }
        let names = |folder: &Arg| self.is_tree(&folder.text);
        // What is run for each writes something as well.
        if words
            .iter()
            .any(|word| matches!(word.text.as_str(), "-exec" | "-execdir"))
        {
            output.append(&Value::unknown());
        }
        if !narrow && folders.iter().any(names) {
            output.source = Source {
                within: output.source.within,
                ..LISTED
            };
        }
        output
    }

    pub(super) fn fd(&mut self, words: &[Arg]) -> Value {
        let exec = words
            .iter()
            .position(|word| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
        // The first operand is what is looked for, the second where.
        const TAKES: &str = "-e -E -t -d -S -c -j --extension --exclude --type --max-depth --size --changed-within --changed-before --owner --base-directory";
        let options = &words[..exec.unwrap_or(words.len())];
        let pattern = first_operand(options, 1, TAKES);
        let folder = first_operand(options, pattern + 1, TAKES);
        let folder = options.get(folder).map_or(".", |word| word.text.as_str());
        let hidden = [
            "-H",
            "--hidden",
            "-u",
            "--unrestricted",
            "-HI",
            "-IH",
            "-uu",
        ];
        let is_all = options
            .iter()
            .any(|word| hidden.contains(&word.text.as_str()));
        // Names that begin with a dot are found if an option asks for them.
        let name = options.get(pattern).map_or("", |word| word.text.as_str());
        let name = name.trim_matches(['^', '$', '/']).replace('\\', "");
        let found = match name.strip_prefix('.') {
            Some(rest) if is_all && !rest.is_empty() && rest.chars().all(char::is_alphanumeric) => {
                name
            }
            _ => SOME.to_string(),
        };
        let mut item = Arg::plain(format!("{}/{found}", folder.trim_end_matches('/')));
        let picks = options
            .get(pattern)
            .is_some_and(|word| !matches!(word.text.as_str(), "." | ".*" | "" | "*"))
            || options.iter().any(|word| {
                matches!(
                    word.text.as_str(),
                    "-e" | "--extension" | "-g" | "--glob" | "-S" | "--size"
                ) || word.text.starts_with("--changed")
            });
        if !picks && self.is_tree(folder) {
            item.source = LISTED;
        }
        item.source.within = !picks;
        if let Some(at) = exec {
            item.source.each = matches!(&*words[at].text, "-x" | "--exec");
            let mut command = words[at + 1..].to_vec();
            command.retain(|word| word.text != ";");
            if !command.iter().any(|word| word.text.contains('{')) {
                command.push(Arg::plain("{}"));
            }
            let run = replaced(&command, "{}", &item);
            self.apart(|walker| walker.inner("fd -x", &run, None));
            item.source.each = false;
        }
        Value {
            text: format!("{}\n", item.text),
            source: item.source,
        }
    }

    pub(super) fn parallel(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        const TAKES: &str = "-j -P -I -N -n -L -a --jobs --arg-file --delay --timeout --retries --joblog --colsep -C -S --sshlogin --results --tmpdir --workdir --wd -d --max-args --id --semaphore-name --st --semaphore-timeout";
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
        if command.is_empty()
            && let Some(input) = input
        {
            self.found_script(input.clone().apart());
        }
        // For numbers of processes, their source matters.
        let from = input.map(|input| input.source).unwrap_or_default();
        let are_numbers = from.of_kind || from.of_user || from.ours || from.parent;
        // Of what is moved or copied it matters that it is one of several. `{.}` and its like are made from it.
        let collects = ["mv ", "cp "].iter().any(|verb| command.starts_with(verb))
            && command.contains("{}")
            && !command.replace("{}", "").contains('{');
        if collects || are_numbers && end == words.len() && !command.is_empty() {
            let item = Value {
                text: SOME.to_string(),
                source: Source {
                    each: collects,
                    ..from
                },
            };
            let text = if command.contains("{}") {
                command.replace("{}", "$PARALLEL_ITEM")
            } else {
                format!("{command} $PARALLEL_ITEM")
            };
            return self.apart(|walker| {
                walker.state.set("PARALLEL_ITEM", item);
                walker.nested("parallel", &text, None)
            });
        }
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
}

/// Whether it is `-0` of `xargs`, among other letters too.
fn is_null(option: &str) -> bool {
    let letters = option.strip_prefix('-').unwrap_or("");
    letters.contains('0') && letters.chars().all(|c| "0rtpx".contains(c))
}

/// Returns the text that `-fprintf` writes for one file.
fn format_of_find(format: &str) -> String {
    let mut text = String::new();
    let decoded = ansi::decode(format);
    let mut letters = decoded.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
        } else if letters.next() == Some('%') {
            text.push('%');
        } else {
            text.push(SOME);
        }
    }
    text
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
