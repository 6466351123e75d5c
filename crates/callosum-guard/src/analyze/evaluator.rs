//! The walk through a script, command by command.
//!
//! Each command is given what it reads and gives back what it would write, as far as either can
//! be known: that is how a pipe into a shell is followed. What becomes of a command whose words are known is
//! `invocation`'s.

use std::rc::Rc;

use super::{
    call::{Analysis, Call},
    docker::Mounts,
    known_programs::KnownPrograms,
    scope::Branches,
    state::State,
    uncertain_cwd::{CwdState, ends, is_asked},
    value::{Arg, MAX_VALUE, MAYBE, SOME, Value, display_words},
};
use crate::{
    facts::Facts,
    link,
    shell::{
        self, Budget, ParseError,
        tree::{Command, Script, Simple},
    },
};

/// Bytes that are read in one decision, those of texts within texts counted again.
const MAX_BYTES: usize = 256 * 1024;
/// Bytes of a command beyond which it is not looked at.
pub(crate) const MAX_COMMAND: usize = 64 * 1024;
/// Limit on the nesting of commands that run one another.
const MAX_DEPTH: usize = 24;
/// Limit on the rounds of a loop that are walked.
pub(super) const MAX_ROUNDS: usize = 16;

/// Finds every command that a text would run.
pub(crate) fn unwrap(text: &str, facts: &Facts, known: KnownPrograms) -> Analysis {
    let mut walker = Evaluator {
        facts,
        known,
        budget: Budget { bytes: MAX_BYTES },
        found: Analysis::default(),
        steps: 0,
        depth: 0,
        via: String::new(),
        elsewhere: false,
        mounts: None,
        contained: false,
        guessed: false,
        piped: 0,
        recursions: 0,
        expanded: 0,
        processes: 0,
        state: State::new(facts),
        fed_from: None,
        chained: false,
        sure: false,
        left: None,
        rounds: 0,
        reads_items: false,
    };
    if text.len() > MAX_COMMAND {
        walker.found.faults.insert(ParseError::TooMuch);
        return walker.found;
    }
    walker.text(text, None);
    walker.found.drop_used_copies();
    walker.found
}

/// The key of a shell's input in the state, once `exec` has changed it.
pub(super) const INPUT: &str = "/dev/fd/0";

/// State of the walk.
pub(super) struct Evaluator<'a> {
    pub(super) facts: &'a Facts,
    /// The programs that matter.
    pub(super) known: KnownPrograms,
    budget: Budget,
    pub(super) found: Analysis,
    pub(super) steps: usize,
    pub(super) depth: usize,
    pub(super) via: String,
    pub(super) elsewhere: bool,
    /// The folders of this machine that are mounted in the container it runs in.
    pub(super) mounts: Option<Rc<Mounts>>,
    pub(super) contained: bool,
    pub(super) guessed: bool,
    /// Number of pipelines around the command.
    pub(super) piped: usize,
    pub(super) recursions: usize,
    /// Bytes that variables came to.
    pub(super) expanded: usize,
    pub(super) processes: usize,
    pub(super) state: State,
    /// The file that the command's input was redirected from.
    pub(super) fed_from: Option<String>,
    /// Whether what follows the command runs only if it succeeds.
    pub(super) chained: bool,
    /// Whether nothing follows the command if it fails, since all ends there.
    pub(super) sure: bool,
    /// The shell's folder at a command that could not leave it but should have.
    pub(super) left: Option<CwdState>,
    /// The number of loops around the command.
    pub(super) rounds: usize,
    /// Whether what is read is one item of a loop: `while read file`.
    pub(super) reads_items: bool,
}

impl Evaluator<'_> {
    /// Walks through a text, and gives what it would write.
    pub(super) fn text(&mut self, text: &str, input: Option<&Value>) -> Value {
        // A shell leaves them out.
        let without_nul = text.contains('\0').then(|| text.replace('\0', ""));
        let text = without_nul.as_deref().unwrap_or(text);
        let (script, faults) = shell::read(text, self.depth, &mut self.budget);
        self.found.faults.extend(faults);
        self.script(&script, input)
    }

    /// Walks through a text that another command runs, with a memory of its own.
    pub(super) fn nested(&mut self, via: &str, text: &str, input: Option<&Value>) -> Value {
        self.apart(|walker| walker.under(via, |walker| walker.text(text, input)))
    }

    /// Runs a walk one level down, recorded as coming by way of `via`.
    pub(super) fn under(&mut self, via: &str, walk: impl FnOnce(&mut Self) -> Value) -> Value {
        if self.depth >= MAX_DEPTH {
            self.found.faults.insert(ParseError::TooDeep);
            return Value::unknown();
        }
        self.depth += 1;
        let before = std::mem::replace(&mut self.via, via.to_owned());
        let value = walk(self);
        self.via = before;
        self.depth -= 1;
        value
    }

    /// Does something and forgets what it changed.
    pub(super) fn apart(&mut self, walk: impl FnOnce(&mut Self) -> Value) -> Value {
        let before = self.state.clone();
        let value = walk(self);
        // What was written to files stays.
        let files = std::mem::replace(&mut self.state, before).files;
        self.state.files = files;
        value
    }

    /// Goes to another folder as the system does: `..` behind a link leads from the link's target.
    /// A shell's `cd` removes it as text.
    pub(super) fn enter(&mut self, to: &Value) {
        if !to.is_known() || self.state.cwd.is_none() {
            return self.state.change_folder(to);
        }
        let to = self.led_to(&to.text);
        self.state.change_folder(&Value::known(to));
    }

    /// Returns the target of a path from the working folder, as far as links are known.
    pub(super) fn led_to(&self, path: &str) -> String {
        let leads = |link: &str| {
            let made = self.found.links.get(link);
            made.or_else(|| self.facts.links.get(link))
        };
        link::resolve_by(path, self.state.cwd.as_deref(), &leads)
    }

    /// Runs a walk on another machine, with none of this machine's folders and files.
    pub(super) fn elsewhere(&mut self, walk: impl FnOnce(&mut Self) -> Value) -> Value {
        let before = std::mem::replace(&mut self.elsewhere, true);
        let mounts = self.mounts.take();
        let value = self.apart(|walker| {
            walker.state.cwd = None;
            walker.state.keep_variables();
            walk(walker)
        });
        self.elsewhere = before;
        self.mounts = mounts;
        value
    }

    pub(super) fn script(&mut self, script: &Script, input: Option<&Value>) -> Value {
        let before = std::mem::replace(&mut self.sure, false);
        let output = self.commands(&script.commands, input, false);
        self.sure = before;
        output
    }

    fn commands(
        &mut self,
        commands: &[Command],
        input: Option<&Value>,
        are_chained: bool,
    ) -> Value {
        let before = self.chained;
        let mut output = Value::default();
        for command in commands {
            self.chained = are_chained;
            let more = self.command(command, input);
            if output.text.len() + more.text.len() <= MAX_VALUE {
                output.append(&more);
            }
        }
        self.chained = before;
        output
    }

    /// Walks through commands joined so that none runs behind one that fails. If one is a `cd`,
    /// those behind it are examined in the folder that it goes to, and what follows all of them
    /// runs in the folder before. If the first of them may not have run either, the shell may be in
    /// the folder where it was before that.
    fn chain(
        &mut self,
        commands: &[Command],
        input: Option<&Value>,
        stood: Option<CwdState>,
    ) -> Value {
        let outer = self.left.take();
        let cloned = self.state.cloned.clone();
        let asked = commands.iter().position(is_asked).map(|at| at + 1);
        let (mut stood, mut before) = (stood, None);
        let mut output = Value::default();
        for (at, command) in commands.iter().enumerate() {
            if asked == Some(at) {
                before = Some(self.whereabouts());
            }
            let more = self.commands(std::slice::from_ref(command), input, true);
            if output.text.len() + more.text.len() <= MAX_VALUE {
                output.append(&more);
            }
            if let Some(stood) = stood.take() {
                self.perhaps(stood);
            }
        }
        if let Some(before) = before {
            self.perhaps(before);
        }
        if !self.state.strict {
            self.state.cloned = cloned;
        }
        if let Some(stays) = std::mem::replace(&mut self.left, outer) {
            self.stand(stays);
        }
        output
    }

    /// Walks through commands; each runs if the one before it fails.
    fn either(&mut self, script: &Script, input: Option<&Value>) -> Value {
        let before = self.sure;
        let mut branches = Branches::default();
        let mut output = Value::default();
        for (at, command) in script.commands.iter().enumerate() {
            let others = script.commands.get(at + 1..).unwrap_or_default();
            self.sure = before || others.iter().any(ends);
            self.chained = false;
            // A shell that ends at the first failure only applies that to the last of these.
            let was_strict = self.state.strict;
            self.state.strict &= others.is_empty();
            let stood = script.commands[..at].iter().any(is_asked);
            let stood = stood.then(|| self.whereabouts());
            // `a || b && c` is `(a || b) && c`: the last runs wherever the first succeeds.
            let more = if let Command::Chain(chained) = command {
                self.chain(&chained.commands, input, stood)
            } else {
                let more = self.command(command, input);
                if let Some(stood) = stood {
                    self.perhaps(stood);
                }
                more
            };
            self.state.strict |= was_strict;
            branches.note_command(command, &self.state);
            if output.text.len() + more.text.len() <= MAX_VALUE {
                output.append(&more);
            }
        }
        self.sure = before;
        branches.join(&mut self.state);
        output
    }

    pub(super) fn command(&mut self, command: &Command, input: Option<&Value>) -> Value {
        match command {
            Command::Simple(simple) => self.simple(simple, input),
            Command::Pipeline(commands) => self.pipeline(commands, input),
            Command::Group { body, subshell } => {
                if *subshell {
                    self.apart(|walker| walker.script(body, input))
                } else {
                    self.script(body, input)
                }
            }
            Command::Chain(script) => self.chain(&script.commands, input, None),
            Command::Either(script) => self.either(script, input),
            Command::Parts(parts) => self.parts(parts, input),
            Command::Loop(parts) => self.repeating(parts, |walker| {
                walker.reads_items = true;
                walker.parts(parts, input)
            }),
            Command::For {
                variable,
                words,
                body,
            } => self.every(variable, words.as_deref(), body, input),
            Command::Case {
                subject,
                arms,
                is_whole,
            } => {
                self.whole(subject);
                let mut output = Value::default();
                let stood = self.whereabouts();
                let mut states = Vec::new();
                let mut branches = Branches::default();
                for arm in arms {
                    self.stand(stood.clone());
                    output.append(&self.script(arm, input));
                    branches.note(arm, &self.state);
                    self.leave(arm, &mut states);
                }
                states.extend((!is_whole).then_some(stood));
                self.stand_in_any(states);
                branches.join(&mut self.state);
                output
            }
            Command::Function { name, body } => {
                // What is called by the name from here on is another function.
                self.state.running.retain(|running| running != name);
                self.state.functions.insert(name.clone(), Rc::clone(body));
                Value::default()
            }
            Command::Test(words) => {
                for word in words {
                    self.whole(word);
                }
                Value::default()
            }
            Command::Redirected { command, redirects } => {
                let plan = self.redirect(redirects, input);
                if !plan.writes.is_empty() {
                    self.record(Call {
                        writes: plan.writes.clone(),
                        ..Call::default()
                    });
                }
                let output = self.command(command, plan.input.as_ref());
                self.keep(output, &plan)
            }
        }
    }

    fn pipeline(&mut self, commands: &[Command], input: Option<&Value>) -> Value {
        self.piped += 1;
        let mut flowing = input.cloned();
        let last = commands.len().saturating_sub(1);
        for (at, command) in commands.iter().enumerate() {
            let fed = flowing.as_ref();
            flowing = Some(if at < last {
                self.caught(|walker| walker.command(command, fed))
            } else {
                self.apart(|walker| walker.command(command, fed))
            });
        }
        self.piped -= 1;
        flowing.unwrap_or_default()
    }

    /// `if` and `while`: once, or once for each line that is known to come in.
    fn parts(&mut self, parts: &[Script], input: Option<&Value>) -> Value {
        let lines: Vec<Value> = match input {
            Some(value) if value.text.trim_end().contains('\n') => value
                .text
                .lines()
                .take(MAX_ROUNDS)
                .map(|line| Value {
                    text: line.to_owned(),
                    source: value.source,
                })
                .collect(),
            Some(value) => vec![value.clone()],
            None => Vec::new(),
        };
        let mut output = Value::default();
        let reads_items = std::mem::take(&mut self.reads_items);
        let mut round = |walker: &mut Self, input: Option<&Value>| {
            // A test and the body that runs if it holds, again and again; at the end the body that
            // runs if none does.
            let mut states = Vec::new();
            // Two parts may be a loop, which goes on behind a round that was left early.
            let is_loop = parts.len() == 2;
            let mut branches = Branches::default();
            let left = walker.state.left.len();
            for branch in parts.chunks(2) {
                if let [test, _] = branch {
                    walker.reads_items = reads_items;
                    output.append(&walker.script(test, input));
                    walker.reads_items = false;
                }
                let stood = walker.whereabouts();
                let body = &branch[branch.len() - 1];
                output.append(&walker.script(body, input));
                branches.note(body, &walker.state);
                if is_loop {
                    walker.rejoin(left);
                }
                walker.leave(body, &mut states);
                walker.stand(stood);
            }
            if !is_loop {
                branches.join(&mut walker.state);
            }
            if parts.len().is_multiple_of(2) {
                states.push(walker.whereabouts());
            }
            walker.stand_in_any(states);
        };
        if lines.is_empty() {
            round(self, input);
        }
        for line in &lines {
            round(self, Some(line));
        }
        output
    }

    fn every(
        &mut self,
        variable: &str,
        words: Option<&[shell::tree::Word]>,
        body: &Script,
        input: Option<&Value>,
    ) -> Value {
        let mut are_several = words.is_none();
        let values: Vec<Value> = match words {
            // A word without quotes that turns out empty is none.
            Some(words) => {
                let words = self.expand_all(words);
                are_several =
                    words.len() > 1 || words.iter().any(|word| word.glob || !word.is_known());
                let values = words.iter().map(|word| match word.value() {
                    value
                        if !word.quoted
                            && !value.text.is_empty()
                            && value.text.chars().all(|c| c == MAYBE) =>
                    {
                        Value {
                            text: SOME.to_string(),
                            ..value
                        }
                    }
                    value => value,
                });
                values.collect()
            }
            None => match &self.state.arguments {
                Some(arguments) => arguments.iter().map(Arg::value).collect(),
                None => vec![Value::unknown()],
            },
        };
        let mut output = Value::default();
        let left = self.state.left.len();
        self.repeating(std::slice::from_ref(body), |walker| {
            for mut value in values.into_iter().take(MAX_ROUNDS) {
                value.source.each = are_several;
                walker.state.set(variable, value);
                output.append(&walker.script(body, input));
                walker.rejoin(left);
            }
            output
        })
    }

    pub(super) fn simple(&mut self, simple: &Simple, input: Option<&Value>) -> Value {
        self.with_alternatives(simple, input);
        let words = self.expand_all(&simple.words);
        let mut plan = self.redirect(&simple.redirects, input);
        if words.is_empty() {
            self.assign(simple);
            for assignment in &simple.assignments {
                self.state.own.insert(assignment.name.clone());
                self.variable_runs(&assignment.name);
            }
            if !plan.writes.is_empty() {
                self.record(Call {
                    writes: plan.writes.clone(),
                    ..Call::default()
                });
            }
            // `$(< file)` is the contents of the file.
            let read = plan.input.clone().filter(|_| plan.writes.is_empty());
            return self.keep(read.unwrap_or_default().apart(), &plan);
        }
        // `exec < file`: all that follows reads it.
        if words.len() == 1 && words[0].text == "exec" {
            self.stay_open(&mut plan);
            if let Some(input) = &plan.input {
                self.state.files.insert(INPUT.to_owned(), input.clone());
            }
        }
        if let Some(alias) = simple.words.first().and_then(|word| self.alias(word)) {
            let text = format!("{alias} {}", display_words(&words[1..]));
            self.state.aliases.remove(&words[0].text);
            let output = self.under("alias", |walker| walker.text(&text, plan.input.as_ref()));
            return self.keep(output, &plan);
        }
        let output = if simple.assignments.is_empty() {
            self.invoke(words, plan.input.clone(), plan.writes.clone())
        } else if matches!(words[0].text.as_str(), "read" | "mapfile" | "readarray") {
            // `IFS=, read …`: the variables that it reads stay, those assigned before it do not.
            let names = simple.assignments.iter().map(|one| one.name.clone());
            let before: Vec<_> = names
                .map(|name| {
                    let values = self.state.get(&name).map(<[Value]>::to_vec);
                    (name, values)
                })
                .collect();
            self.assign(simple);
            let output = self.invoke(words, plan.input.clone(), plan.writes.clone());
            for (name, values) in before {
                self.state.restore(&name, values);
            }
            output
        } else if Self::declares(&words[0].text) {
            self.state.declare(&words[0].text, &words);
            for assignment in &simple.assignments {
                let name = [words[0].clone(), Arg::plain(&assignment.name)];
                self.state.declare(&words[0].text, &name);
            }
            self.assign(simple);
            Value::default()
        } else {
            self.apart(|walker| {
                walker.assign(simple);
                for assignment in &simple.assignments {
                    walker.state.own.remove(&assignment.name);
                    walker.variable_runs(&assignment.name);
                }
                walker.invoke(words, plan.input.clone(), plan.writes.clone())
            })
        };
        self.keep(output, &plan)
    }

    /// Does what is only a guess.
    pub(super) fn guessing(&mut self, walk: impl FnOnce(&mut Self) -> Value) -> Value {
        let before = std::mem::replace(&mut self.guessed, true);
        let value = self.apart(walk);
        self.guessed = before;
        value
    }
}
