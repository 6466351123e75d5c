//! A command whose words are known: it is recorded, and what it runs is followed.
//!
//! Start with [`Evaluator::invoke`]. `wrappers` has what is special to a program.

use super::{
    call::{Call, Write},
    database_framework::variables,
    evaluator::Evaluator,
    renamed_binaries::named,
    setting,
    value::{Arg, Value},
};
use crate::{
    path,
    shell::{ParseError, tree::Command},
};

/// Commands that are looked at in one decision.
const MAX_STEPS: usize = 2_000;

impl Evaluator<'_> {
    /// Runs a command whose words are known, and returns what it would write.
    pub(super) fn invoke(
        &mut self,
        mut words: Vec<Arg>,
        input: Option<Value>,
        writes: Vec<Write>,
    ) -> Value {
        // Long commands count for several, since all that is found is kept.
        let bytes: usize = words.iter().map(|word| word.text.len()).sum();
        self.steps += 1 + words.len() / 32 + bytes / 2048;
        if self.steps > MAX_STEPS {
            self.found.faults.insert(ParseError::TooMuch);
            return Value::unknown();
        }
        // What comes to nothing in front leaves the next word to be the command.
        while words.len() > 1 && words[0].text.is_empty() && !words[0].quoted {
            words.remove(0);
        }
        self.with_parts_empty(&words, input.as_ref());
        let Some(first) = words.first() else {
            return Value::default();
        };
        let name = if super::value::is_known(path::name(&first.text)) {
            self.put_there(&first.text)
                .unwrap_or_else(|| named(&first.text))
        } else {
            String::new()
        };
        if words[0].glob && words[0].text.contains('/') && name.contains(['*', '?', '[']) {
            self.any_of(&name, &words, input.as_ref());
        }
        // `git-reset` is `git reset`, but for programs that only have such a name.
        if let Some(verb) = name.strip_prefix("git-")
            && !matches!(verb, "xargs" | "bash" | "cmd")
        {
            let verb = Arg::plain(verb);
            words[0] = Arg::plain("git");
            words.insert(1, verb);
            return self.invoke(words, input, writes);
        }
        if let Some(body) = self.state.functions.get(&name).cloned()
            && !words[0].text.contains('/')
        {
            return self.function(&name, &body, words, input.as_ref());
        }
        // `git apply -R <(git diff)`, `git diff > a.diff; git apply -R a.diff`
        let input = match input {
            None if matches!(name.as_str(), "git" | "patch") => words.iter().find_map(|word| {
                let content = self.state.files.get(&self.state.absolute(&word.text))?;
                let is_read = word.text.starts_with("/dev/fd/")
                    || content.source.changes
                    || content.source.undoing;
                is_read.then(|| content.clone())
            }),
            input => input,
        };
        let script = self.script_of(&name, &words, input.as_ref());
        self.mark_made(&name, &mut words);
        let collects = self.collects(&name, &words);
        let settings = if name == "git" {
            setting::settings(&words, &self.state)
        } else {
            Vec::new()
        };
        self.record(Call {
            settings: settings.clone(),
            name: name.clone(),
            words: self.with_held(&words),
            input: input.clone(),
            fed_from: self.fed_from.clone(),
            script: script.clone(),
            writes,
            open: name.is_empty(),
            collects,
            ..Call::default()
        });
        if name == "git" {
            let mut output = self.git(&words, &settings);
            output.source = output.source.join(self.secrets_printed("git", &words));
            return output;
        }
        self.carry(&name, &words, script, input)
    }

    fn function(
        &mut self,
        name: &str,
        body: &Command,
        words: Vec<Arg>,
        input: Option<&Value>,
    ) -> Value {
        if self.state.running.iter().any(|running| running == name) {
            self.recursions += 1;
            if self.piped > 0 || self.recursions > 1 {
                self.record(Call {
                    name: "fork-bomb".to_owned(),
                    words: vec![Arg::plain("fork-bomb")],
                    ..Call::default()
                });
            }
            return Value::unknown();
        }
        self.state.running.push(name.to_owned());
        let before = self
            .state
            .arguments
            .replace(words.into_iter().skip(1).collect());
        let left = self.state.left.len();
        let locals = self.state.locals.len();
        let output = self.under(name, |walker| walker.command(body, input));
        self.rejoin(left);
        self.state.leave_function(locals);
        self.state.arguments = before;
        self.state.running.retain(|running| running != name);
        output
    }

    /// Runs words that came out of another command.
    pub(super) fn inner(&mut self, via: &str, words: &[Arg], input: Option<&Value>) -> Value {
        if words.is_empty() {
            return Value::default();
        }
        let words = words.to_vec();
        self.under(via, |walker| {
            walker.invoke(words, input.cloned(), Vec::new())
        })
    }

    pub(super) fn record(&mut self, call: Call) {
        const ENDPOINT: &str = "AWS_ENDPOINT_URL";
        let environment = variables(&call)
            .filter(|name| !self.state.own.contains(*name) && self.state.get(name).is_some())
            .map(|name| (name, self.state.known(name).unwrap_or_default().to_owned()))
            .collect();
        let endpoint = match call.name.as_str() {
            "aws" => {
                let known = self.state.known(ENDPOINT).map(str::to_owned);
                known.filter(|_| !self.state.own.contains(ENDPOINT))
            }
            _ => None,
        };
        let call = Call {
            environment,
            endpoint,
            depth: self.depth,
            via: self.via.clone(),
            cwd: self.state.cwd.clone(),
            elsewhere: self.elsewhere,
            contained: self.contained,
            guessed: self.guessed,
            ..call
        };
        let call = match &self.mounts {
            Some(mounts) => mounts.lead_out(call),
            None => call,
        };
        for other in &self.state.others {
            self.found.calls.push(Call {
                cwd: other.clone(),
                ..call.clone()
            });
        }
        self.found.calls.push(call);
    }
}
