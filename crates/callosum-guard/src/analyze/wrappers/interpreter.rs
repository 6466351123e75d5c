//! Interpreters of other languages: finding their program, and following it.

use super::embedded_code;
use crate::analyze::{
    evaluator::Evaluator,
    line_filters::{picks_by_text, picks_out},
    parents,
    pid_sources::of_kind,
    taint::source_after,
    value::{Arg, Source, Value},
    wrapper_table::first_operand,
};

impl Evaluator<'_> {
    pub(super) fn interpreter(
        &mut self,
        name: &str,
        words: &[Arg],
        input: Option<&Value>,
    ) -> Value {
        let Some(language) = embedded_code::LANGUAGES
            .iter()
            .find(|language| language.runs(name))
        else {
            return Value::unknown();
        };
        // `eval "$(perl -Mlocal::lib)"`
        if words.iter().any(|word| word.text == "-Mlocal::lib") {
            return Value::default();
        }
        if name == "bun" {
            self.tasks(name, words, input);
        }
        let mut any = false;
        let mut output = Value::unknown();
        // `python -m twine upload` is `twine upload`.
        if language.name == "python -c"
            && let Some(at) = words.iter().position(|word| word.text == "-m")
            && words[1..at].iter().all(|word| word.text.starts_with('-'))
        {
            if words.get(at + 1).is_some_and(|word| word.text == "timeit") {
                let given = &words[at + 2..];
                let texts: Vec<&str> = given
                    .iter()
                    .map(|word| word.text.as_str())
                    .filter(|text| text.contains(['(', ' ']))
                    .collect();
                return self.code(language, &texts.join("\n"));
            }
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
                if !next.is_known() {
                    self.found_script(next.value());
                }
                let given = self.given_to(&words[at + 2..], input);
                output = self.code_given(language, &source, &given);
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
        // `bb '(shell "ls")'`
        if let Some(word) = words.get(1)
            && word.text.starts_with('(')
            && language.is_lisp()
        {
            any = true;
            let source = word.text.clone();
            self.code(language, &source);
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
            let mut source = input.map(|input| input.source).unwrap_or_default();
            source = source_after(name, words, source);
            source.of_kind = of_kind(name, words, source);
            source.of_user &= !picks_out(name, words);
            source.listed &= !picks_by_text(name, words);
            source = parents::printed(name, words, source);
            return Value::from(source);
        }
        if !any {
            let mut at = first_operand(words, 1, "-W -X -I -r -m");
            // `bun run x.ts`, `deno test -A x.ts`
            let verbs: &[&str] = match name {
                "bun" => &["run"],
                "deno" => &["run", "test", "bench", "serve"],
                _ => &[],
            };
            let is_verb = |word: &Arg| verbs.contains(&word.text.as_str());
            if words.get(at).is_some_and(is_verb) {
                at = first_operand(words, at + 1, "-r -c --config");
            }
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
            let given = embedded_code::Given {
                by_file: file.is_some(),
                ..self.given_to(words.get(at + 1..).unwrap_or_default(), file.and(input))
            };
            output = self.code_given(language, &content.text, &given);
        }
        if output.is_known() && !output.text.is_empty() {
            return output;
        }
        let texts = words.iter().map(|word| word.text.as_str());
        Value::from(Source {
            named: texts.into_iter().any(names_a_folder),
            ..Source::default()
        })
    }

    /// Says of the command that was recorded last what it takes for a program.
    pub(super) fn found_script(&mut self, content: Value) {
        if let Some(call) = self.found.calls.last_mut() {
            call.script = Some(content);
        }
    }

    /// Collects a program's values from outside: the words behind it, its input, and variables that
    /// were set before.
    fn given_to(&self, words: &[Arg], input: Option<&Value>) -> embedded_code::Given {
        let words = match words {
            [first, words @ ..] if first.text == "--" => words,
            words => words,
        };
        let is_fed_secrets = input.is_some_and(|input| input.source.secret);
        let input = input.filter(|input| input.is_known() && !input.text.is_empty());
        embedded_code::Given {
            is_fed_secrets,
            words: words.iter().map(|word| word.text.clone()).collect(),
            patterns: words
                .iter()
                .filter(|word| word.glob)
                .map(|word| word.text.clone())
                .collect(),
            sources: words
                .iter()
                .filter(|word| word.source != Source::default())
                .map(|word| (word.text.clone(), word.source))
                .collect(),
            by_file: false,
            input: input.map(|input| input.text.clone()),
            environment: self.state.known_texts(),
        }
    }

    /// Follows what a program in another language would do.
    pub(super) fn code(&mut self, language: &embedded_code::Language, source: &str) -> Value {
        self.code_given(language, source, &embedded_code::Given::default())
    }

    fn code_given(
        &mut self,
        language: &embedded_code::Language,
        source: &str,
        given: &embedded_code::Given,
    ) -> Value {
        let home = self
            .facts
            .home
            .clone()
            .unwrap_or_else(|| "/root".to_owned());
        if language.name == "tclsh" {
            let source = source
                .replace("$::env(HOME)", &home)
                .replace("$env(HOME)", &home);
            for line in source.split(['\n', ';', '[', ']']).map(str::trim) {
                let command = line.strip_prefix("exec ").map(str::to_owned).or_else(|| {
                    let paths = line.strip_prefix("file delete ")?;
                    Some(format!("rm -r {}", paths.replace("-force", "-f")))
                });
                if let Some(command) = command {
                    self.nested(language.name, &command, None);
                }
            }
        }
        let from = self.state.cwd.clone();
        let effects = embedded_code::effects_given(language, source, &home, self.known, given);
        // One that only runs another writes what that writes: `perl -e 'exec @ARGV' printf x`.
        let only_runs = effects.len() == 1;
        let mut output = Value::unknown();
        for effect in effects {
            output = self.effect(language, effect, None, given);
        }
        self.state.cwd = from;
        if only_runs { output } else { Value::unknown() }
    }

    fn effect(
        &mut self,
        language: &embedded_code::Language,
        effect: embedded_code::Effect,
        input: Option<&Value>,
        given: &embedded_code::Given,
    ) -> Value {
        match effect {
            embedded_code::Effect::Within(folder, effect) => {
                let from = self.state.cwd.clone();
                self.enter(&Value::known(folder));
                let output = self.effect(language, *effect, input, given);
                self.state.cwd = from;
                output
            }
            embedded_code::Effect::Fed(text, effect) => {
                self.effect(language, *effect, Some(&Value::known(text)), given)
            }
            embedded_code::Effect::Enters(folder) => {
                self.enter(&Value::known(folder));
                Value::unknown()
            }
            embedded_code::Effect::Shell(text) => self.nested(language.name, &text, input),
            embedded_code::Effect::Perhaps(text) => {
                self.guessing(|walker| {
                    walker.under(language.name, |walker| walker.text(&text, None))
                });
                Value::unknown()
            }
            embedded_code::Effect::Writes(path, content) => {
                // What is not known of a file may be all that stood there before.
                let content = content.map_or_else(
                    || {
                        Value::from(Source {
                            file: true,
                            ..Source::default()
                        })
                    },
                    Value::known,
                );
                let tee = [Arg::plain("tee"), Arg::plain(path)];
                self.inner(language.name, &tee, Some(&content));
                Value::unknown()
            }
            embedded_code::Effect::Words(words) => {
                let words = words.into_iter().map(|text| Arg {
                    source: given.sources.get(&text).copied().unwrap_or_default(),
                    glob: given.patterns.contains(&text),
                    ..Arg::plain(text)
                });
                let words: Vec<Arg> = words.collect();
                self.apart(|walker| walker.inner(language.name, &words, input))
            }
        }
    }
}

/// Whether a program asks where its language, or the home folder, is.
fn names_a_folder(program: &str) -> bool {
    const ASKED: [&str; 8] = [
        "site.",
        "sys.prefix",
        "base_prefix",
        "sysconfig",
        "expanduser",
        "homedir()",
        "Path.home",
        "Gem.dir",
    ];
    ASKED.iter().any(|asked| program.contains(asked))
}

/// A variable given to awk, as awk would write it.
fn format_assignment(name: &str, value: &str) -> String {
    format!("{name}=\"{}\";", value.replace('"', "\\\""))
}
