//! Where input comes from and output goes: redirections, and what is known of files.

use super::{
    call::{Call, Write},
    value::{Arg, MAX_VALUE, Source, Value},
    walk::Walker,
};
use crate::{
    path,
    protect::keeps_secrets,
    rule::is_loopback,
    shell::tree::{Redirect, RedirectKind, Target},
};

/// Where a command's input and output go.
pub(super) struct Plan {
    pub(super) input: Option<Value>,
    pub(super) writes: Vec<Write>,
    pub(super) output: Option<(String, bool)>,
}

/// Where goes what is written to a descriptor that leads to the network.
const JOINED: &str = "/dev/tcp/joined";

impl Walker<'_> {
    pub(super) fn redirect(&mut self, redirects: &[Redirect], input: Option<&Value>) -> Plan {
        let mut plan = Plan {
            input: input.cloned(),
            writes: Vec::new(),
            output: None,
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
            match redirect.kind {
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
                    // `>&3` of a descriptor that leads there.
                    let is_further = value.text.parse::<u8>().is_ok_and(|number| number > 2);
                    if self.state.joined && redirect.output && is_further {
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
                    let appends = redirect.kind == RedirectKind::Append;
                    self.state.joined |= path.starts_with("/dev/tcp/");
                    if redirect.output {
                        plan.output = Some((path.clone(), appends));
                    }
                    // `> link/../x` is written where the link leads.
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

    /// Whoever reads what this program keeps, reads it, whatever it is then done with.
    fn read_from(&mut self, path: &str) {
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
        let Some((path, appends)) = &plan.output else {
            return output;
        };
        if matches!(
            path.as_str(),
            "/dev/stdout" | "/dev/fd/1" | "/dev/stderr" | "/dev/tty"
        ) {
            return output;
        }
        let address = path.strip_prefix("/dev/tcp/");
        let address = address.or_else(|| path.strip_prefix("/dev/udp/"));
        if let Some(address) = address {
            if output.source.secret && !is_loopback(address) {
                let words = ["sent-secret", path].map(Arg::plain);
                self.inner(">", &words, None);
            }
        } else if path != "/dev/null" {
            self.write_file(path, output, *appends);
        }
        Value::default()
    }

    /// Remembers what a file holds.
    pub(super) fn write_file(&mut self, path: &str, content: Value, appends: bool) {
        if let Some(script) = self.state.takers.get(path).cloned() {
            self.apart(|walker| walker.under(">(…)", |w| w.script(&script, Some(&content))));
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

/// The path by which a descriptor is read.
pub(super) fn from(descriptor: &str) -> String {
    format!("/dev/fd/{descriptor}")
}
