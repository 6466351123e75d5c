//! Sources of input and destinations of output: redirections, substitutions, and the known contents
//! of files.

use std::rc::Rc;

use super::{
    call::{Call, Write},
    descriptor::Descriptors,
    evaluator::Evaluator,
    value::{Arg, MAX_VALUE, Source, Value},
};
use crate::{
    loopback::is_loopback,
    path,
    secret_files::keeps_secrets,
    shell::tree::{Redirect, RedirectKind, Script, Target},
};

/// Input and output of a command.
pub(super) struct Plan {
    pub(super) input: Option<Value>,
    pub(super) writes: Vec<Write>,
    pub(super) output: Option<(String, bool)>,
    /// The descriptors to restore once the command is done.
    pub(super) before: Option<Descriptors>,
}

/// Destination of a write to a descriptor that is not known to lead elsewhere than to the network.
const JOINED: &str = "/dev/tcp/joined";

impl Evaluator<'_> {
    pub(super) fn redirect(&mut self, redirects: &[Redirect], input: Option<&Value>) -> Plan {
        let mut plan = Plan {
            input: input.cloned(),
            writes: Vec::new(),
            output: None,
            before: (!redirects.is_empty()).then(|| self.state.descriptors.clone()),
        };
        self.fed_from = None;
        for redirect in redirects {
            let value = match &redirect.target {
                Target::Body(body) => {
                    let content = match body.get() {
                        Some(word) => self.whole(word),
                        None => Value::unknown(),
                    };
                    self.feed(redirect, content, &mut plan);
                    continue;
                }
                Target::Word(word) => self.whole(word),
            };
            let path = self.state.absolute(&value.text);
            let path = self.behind_descriptor(&path).unwrap_or(&path).to_owned();
            let kind = match redirect.kind {
                // `>&"$file"`
                RedirectKind::Duplicate if redirect.output && is_file(&value) => {
                    RedirectKind::Truncate
                }
                kind => kind,
            };
            match kind {
                RedirectKind::Text => {
                    let mut value = value;
                    value.text.push('\n');
                    self.feed(redirect, value, &mut plan);
                }
                RedirectKind::Read if path == "/dev/null" => {
                    self.feed(redirect, Value::default(), &mut plan);
                }
                RedirectKind::Read => {
                    self.read_from(&path);
                    if matches!(redirect.descriptor, None | Some(0)) {
                        self.fed_from = Some(path.clone());
                    }
                    let content = match self.state.files.get(&path) {
                        Some(content) => content.clone(),
                        None => Value::from(Source {
                            secret: keeps_secrets(&path),
                            entire: keeps_secrets(&path),
                            file: true,
                            ..Source::default()
                        }),
                    };
                    self.feed(redirect, content, &mut plan);
                }
                RedirectKind::Duplicate if self.state.files.contains_key(&from(&value.text)) => {
                    let content = self.state.files.get(&from(&value.text)).cloned();
                    self.feed(redirect, content.unwrap_or_default(), &mut plan);
                }
                RedirectKind::Duplicate => {
                    self.duplicated(redirect, &value.text, &mut plan);
                    if self.state.joined && redirect.output && !value.is_known() {
                        plan.output = Some((JOINED.to_owned(), true));
                    }
                    if self.state.joined && plan.input.is_none() {
                        plan.input = Some(Value::from(Source {
                            remote: true,
                            ..Source::default()
                        }));
                    }
                }
                RedirectKind::Truncate | RedirectKind::Append | RedirectKind::ReadWrite => {
                    let appends = kind == RedirectKind::Append;
                    self.state.joined |= address(&path).is_some();
                    self.opened(redirect, &path);
                    if redirect.output {
                        plan.output = Some((path.clone(), appends));
                    }
                    // `> link/../x` is written behind the link's target.
                    let has_links = !self.found.links.is_empty() || !self.facts.links.is_empty();
                    let is_behind = has_links && value.text.contains("..");
                    plan.writes.push(Write {
                        path: if is_behind {
                            self.led_to(&value.text)
                        } else {
                            path
                        },
                        appends,
                        listed: value.source.listed,
                    });
                }
            }
        }
        plan
    }

    /// Records a read of a file. A program that reads what this machine stores there counts as
    /// reading it, with any later use.
    fn read_from(&mut self, path: &str) {
        if !self.elsewhere {
            self.found.reads.push(path.to_owned());
        }
        let machine = self.facts.machine.as_deref();
        if machine.is_some_and(|machine| path::is_within(path, machine)) {
            self.record(Call {
                name: "cat".to_owned(),
                words: ["cat", path].map(Arg::plain).to_vec(),
                ..Call::default()
            });
        }
    }

    /// Gives a descriptor something to read: the command's input, or one that is read by its name.
    fn feed(&mut self, redirect: &Redirect, content: Value, plan: &mut Plan) {
        match redirect.descriptor {
            None | Some(0) => plan.input = Some(content),
            Some(number) => {
                self.state.files.insert(from(&number.to_string()), content);
            }
        }
    }

    /// Keeps what was written to a file, and gives what is left for a pipe.
    pub(super) fn keep(&mut self, output: Value, plan: &Plan) -> Value {
        let of_shell = || Some((self.output_of_shell()?.to_owned(), true));
        let Some((path, appends)) = plan.output.clone().or_else(of_shell) else {
            self.close(plan);
            return output;
        };
        self.close(plan);
        if matches!(
            path.as_str(),
            "/dev/stdout" | "/dev/fd/1" | "/dev/stderr" | "/dev/tty"
        ) {
            return output;
        }
        if path != "/dev/null" {
            self.write_file(&path, output, appends);
        }
        Value::default()
    }

    /// Returns the value of `$(…)`.
    pub(super) fn substitute(&mut self, script: &Script) -> Value {
        let mut value = self.caught(|walker| walker.under("$(…)", |w| w.script(script, None)));
        let kept = value.text.trim_end_matches('\n').len();
        value.text.truncate(kept);
        value.text.retain(|c| c != '\0');
        value
    }

    /// The name of the file through which `<(…)` is read, or `>(…)` written.
    pub(super) fn process(&mut self, script: &Script, takes: bool) -> String {
        let output = self.caught(|walker| walker.under("<(…)", |w| w.script(script, None)));
        self.processes += 1;
        let path = format!("/dev/fd/callosum-{}", self.processes);
        if takes {
            let script = Rc::new(script.clone());
            self.state.takers.insert(path.clone(), script);
        } else {
            self.state.files.insert(path.clone(), output);
        }
        path
    }

    /// Restores the descriptors from before the command.
    fn close(&mut self, plan: &Plan) {
        if let Some(before) = &plan.before {
            self.state.descriptors.clone_from(before);
        }
    }

    /// Remembers the contents of a file, and records what goes to another machine by it.
    pub(super) fn write_file(&mut self, path: &str, content: Value, appends: bool) {
        let path = self.behind_descriptor(path).unwrap_or(path).to_owned();
        let path = path.as_str();
        if let Some(address) = address(path) {
            if content.source.secret && !is_loopback(address) {
                let words = ["sent-secret", path].map(Arg::plain);
                self.inner(">", &words, None);
            }
            return;
        }
        if let Some(script) = self.state.takers.get(path).cloned() {
            if !content.text.is_empty() {
                self.caught(|walker| walker.under(">(…)", |w| w.script(&script, Some(&content))));
            }
            return;
        }
        let there = self.state.files.entry(path.to_owned()).or_default();
        if !appends {
            *there = Value::default();
        }
        if there.text.len() + content.text.len() <= MAX_VALUE {
            there.append(&content);
        }
    }
}

/// Whether what `>&` is given is known to be no number of a descriptor.
fn is_file(value: &Value) -> bool {
    let number = value.text.trim_end_matches('-');
    value.is_known() && !value.text.is_empty() && !number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The address that a path leads to by the network.
fn address(path: &str) -> Option<&str> {
    let address = path.strip_prefix("/dev/tcp/");
    address.or_else(|| path.strip_prefix("/dev/udp/"))
}

/// The path by which a descriptor is read.
pub(super) fn from(descriptor: &str) -> String {
    format!("/dev/fd/{descriptor}")
}
