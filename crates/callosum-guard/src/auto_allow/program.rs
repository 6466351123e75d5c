//! Checks a command by the [table of programs](super::table); a few have a form of their own.

use super::{
    AllowRefusal, Line, path, refused_word,
    script::{awk_is_plain, find_is_plain, jq_is_plain, sed_is_plain},
    table::{Arguments, Operands, PROGRAMS, Program, TYPES, VERSIONED, read},
};

impl Line<'_> {
    /// Checks a command by the table of programs.
    pub(super) fn built_in(
        &self,
        words: &[String],
        is_fed: bool,
        folders: &[String],
    ) -> Result<(), AllowRefusal> {
        // `/bin/ls` and `/usr/bin/ls` are what they are called; any other path is a program of its own.
        let name = words[0].as_str();
        let system = ["/bin/", "/usr/bin/"].iter();
        let mut system = system.filter_map(|folder| name.strip_prefix(folder));
        let name = system.next().unwrap_or(name);
        let operands = &words[1..];
        let is_word = |word: &str, allowed: &[&str]| allowed.contains(&word);
        if let [word] = operands
            && VERSIONED.contains(&name)
            && (is_word(word, &["--version", "-V", "version"])
                || word == "-v" && matches!(name, "node" | "npm" | "pnpm" | "yarn"))
        {
            return Ok(());
        }
        match name {
            "git" => return self.git(words, folders),
            "cp" | "mv" => return self.copy(words, folders),
            "find" => return self.find(words, folders),
            "echo" | "true" | "false" | ":" => return Ok(()),
            "printf" => {
                return plain_if(words, operands.first().is_some_and(|a| printf_is_plain(a)));
            }
            "test" | "[" => {
                let runs = |word: &String| {
                    word.contains("$(") || word.contains('`') || is_word(word, &["-v", "-R"])
                };
                return plain_if(words, !operands.iter().any(runs));
            }
            "date" => {
                let known = [
                    "uRI",
                    "d",
                    "utc universal iso-8601 rfc-3339 date rfc-email",
                    "date",
                ];
                let read = read(words, known, false)?;
                let is_format = |word: &String| word.starts_with('+');
                return plain_if(words, read.operands.iter().all(is_format));
            }
            "command" => {
                return plain_if(
                    words,
                    operands.len() > 1 && is_word(&operands[0], &["-v", "-V"]),
                );
            }
            "set" => {
                let known = [
                    "-e", "-u", "-x", "-eu", "-ex", "-eux", "-o", "pipefail", "-euo", "-exo",
                    "-euxo", "+x", "+e",
                ];
                return plain_if(
                    words,
                    !operands.is_empty() && operands.iter().all(|a| is_word(a, &known)),
                );
            }
            "ps" => {
                let known = [
                    "aux", "-aux", "ax", "-ef", "-e", "-A", "-f", "-ax", "auxf", "-axo", "-eo",
                    "pid,comm",
                ];
                return plain_if(words, operands.iter().all(|a| is_word(a, &known)));
            }
            _ => {}
        }
        let mut programs = PROGRAMS.iter();
        let is_it = |program: &&Program| program.names.split(' ').any(|one| one == name);
        let program = programs.find(is_it);
        let program = program.ok_or_else(|| AllowRefusal::Program(words[0].clone()))?;
        let known = [
            program.flags,
            program.values,
            program.long,
            program.long_values,
        ];
        let read = read(words, known, program.numbers)?;
        for folder in folders {
            self.operands(program.operands, name, (words, &read), is_fed, folder)?;
        }
        Ok(())
    }

    fn operands(
        &self,
        kind: Operands,
        name: &str,
        (words, read): (&[String], &Arguments),
        is_fed: bool,
        folder: &str,
    ) -> Result<(), AllowRefusal> {
        let operands = read.operands.as_slice();
        let each = |operands: &[String], check: &dyn Fn(&str) -> Result<(), AllowRefusal>| {
            let named = operands.iter().filter(|operand| *operand != "-");
            named.map(String::as_str).try_for_each(check)
        };
        let names = |operand: &str| path::names(self, operand, folder).map(drop);
        let reads = |operand: &str| path::read(self, operand, folder).map(drop);
        match kind {
            Operands::None => plain_if(words, operands.is_empty()),
            Operands::Text => Ok(()),
            Operands::Names if operands.is_empty() => names("."),
            Operands::Names => each(operands, &names),
            Operands::ReadOne if operands.len() > 1 => Err(refused_word(words, operands.get(1))),
            Operands::Read if read.has(&["r", "recursive"]) => each(operands, &|operand: &str| {
                path::read_all(self, operand, folder, true)
            }),
            Operands::Read | Operands::ReadOne => each(operands, &reads),
            Operands::SearchNames if operands.len() < 2 => names("."),
            Operands::SearchNames => each(&operands[1..], &names),
            Operands::Own => each(operands, &|operand: &str| {
                path::own(self, operand, folder).map(drop)
            }),
            Operands::Write => each(operands, &|operand: &str| {
                path::write(self, operand, folder).map(drop)
            }),
            Operands::Search => self.search(name, (words, read), is_fed, folder),
        }
    }

    /// Checks what looks for something in files, or does something to their lines.
    fn search(
        &self,
        name: &str,
        (words, read): (&[String], &Arguments),
        is_fed: bool,
        folder: &str,
    ) -> Result<(), AllowRefusal> {
        let lists_files = name == "rg" && read.has(&["files", "type-list"]);
        let given = match name {
            "sed" => read.has(&["e", "expression"]),
            "jq" | "awk" | "gawk" | "mawk" => false,
            _ => read.has(&["e", "regexp"]) || lists_files,
        };
        let mut operands = read.operands.iter();
        let script = if given { None } else { operands.next() };
        if !given && script.is_none() {
            return Err(refused_word(words, None));
        }
        let options = read.options.iter();
        let scripts = options
            .filter(|(option, _)| matches!(option.as_str(), "e" | "expression"))
            .filter_map(|(_, value)| value.as_ref());
        let mut scripts = scripts.chain(script);
        let is_plain = match name {
            "sed" => scripts.all(|script| sed_is_plain(script)),
            "awk" | "gawk" | "mawk" => scripts.all(|script| awk_is_plain(script)),
            "jq" => scripts.all(|script| jq_is_plain(script)),
            _ => true,
        };
        if !is_plain {
            return Err(refused_word(words, script));
        }
        let files: Vec<&String> = operands.filter(|file| *file != "-").collect();
        let is_awk = matches!(name, "awk" | "gawk" | "mawk");
        if !matches!(name, "rg" | "grep" | "egrep" | "fgrep") {
            // `x=1` sets a variable of the program's.
            let sets = |file: &str| {
                let name = file.split_once('=').map_or("", |(name, _)| name);
                let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                is_awk && !name.is_empty() && name.chars().all(is_letter)
            };
            let mut files = files.into_iter().filter(|file| !sets(file));
            return files.try_for_each(|file| path::read(self, file, folder).map(drop));
        }
        let is_recursive = name == "rg" || read.has(&["r", "recursive"]);
        if lists_files {
            return files
                .into_iter()
                .try_for_each(|file| path::names(self, file, folder).map(drop));
        }
        if !is_recursive {
            return files
                .into_iter()
                .try_for_each(|file| path::read(self, file, folder).map(drop));
        }
        // Names that are left out by a pattern for one ending are not looked at.
        let is_narrow = read.value(&["include"]).is_some_and(ends_as_code)
            || name == "rg" && read.value(&["g", "glob"]).is_some_and(ends_as_code)
            || name == "rg"
                && read
                    .value(&["t", "type"])
                    .is_some_and(|kind| TYPES.contains(&kind));
        let count = |names: &[&str]| {
            let options = read.options.iter();
            options
                .filter(|(option, _)| names.contains(&option.as_str()))
                .count()
        };
        let is_narrow = is_narrow && count(&["include", "g", "glob", "t", "type"]) == 1;
        let sees_hidden = name != "rg"
            || read.has(&[
                "hidden",
                ".",
                "u",
                "unrestricted",
                "no-ignore",
                "no-ignore-vcs",
            ]);
        let check = |file: &str| {
            if is_narrow {
                path::read(self, file, folder).map(drop)
            } else {
                path::read_all(self, file, folder, sees_hidden)
            }
        };
        if files.is_empty() && !(is_fed && name == "rg") {
            return check(".");
        }
        files.into_iter().try_for_each(|file| check(file))
    }

    fn find(&self, words: &[String], folders: &[String]) -> Result<(), AllowRefusal> {
        let starts = find_is_plain(words)?;
        for folder in folders {
            if starts.is_empty() {
                path::names(self, ".", folder)?;
            }
            for start in &starts {
                path::names(self, start, folder)?;
            }
        }
        Ok(())
    }

    /// Checks `cp` and `mv` of files, not of folders.
    fn copy(&self, words: &[String], folders: &[String]) -> Result<(), AllowRefusal> {
        let read = read(
            words,
            [
                "pvnuif",
                "",
                "verbose no-clobber update interactive force",
                "",
            ],
            false,
        )?;
        let Some((target, sources)) = read.operands.split_last() else {
            return Err(refused_word(words, None));
        };
        if sources.is_empty() {
            return Err(refused_word(words, None));
        }
        for folder in folders {
            for source in sources {
                let real = if words[0].ends_with("mv") {
                    path::data(self, source, folder)?
                } else {
                    path::read(self, source, folder)?
                };
                if self.tree.kind(&real) == Some(super::Kind::Folder) {
                    return Err(refused_word(words, Some(source)));
                }
                let end = path::inside(self, target, folder)?;
                let to = if self.tree.kind(&end) == Some(super::Kind::Folder) {
                    format!("{end}/{}", crate::path::name(source))
                } else {
                    target.clone()
                };
                path::write(self, &to, folder)?;
            }
        }
        Ok(())
    }
}

/// Returns whether a format of `printf` sets no variable: `%n` does.
fn printf_is_plain(format: &str) -> bool {
    let sets = |part: &str| {
        let conversion = part.find(|c: char| c.is_ascii_alphabetic() || c == '(');
        conversion.is_some_and(|at| part[at..].starts_with('n'))
    };
    !format.starts_with('-') && !format.split('%').skip(1).any(sets)
}

/// Returns whether a pattern is for files with one ending, and that one of code: `*.rs`.
fn ends_as_code(pattern: &str) -> bool {
    let Some(end) = pattern.strip_prefix("*.") else {
        return false;
    };
    path::is_code(end)
}

fn plain_if(words: &[String], is_plain: bool) -> Result<(), AllowRefusal> {
    if is_plain {
        Ok(())
    } else {
        Err(refused_word(words, words.get(1)))
    }
}
