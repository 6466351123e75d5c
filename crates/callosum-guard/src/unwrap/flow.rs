//! Where input comes from and output goes: redirections, and what is known of files.

use super::{
    call::Write,
    value::{MAX_VALUE, Source, Value},
    walk::Walker,
};
use crate::{
    protect::keeps_secrets,
    shell::tree::{Redirect, RedirectKind, Target},
};

/// Where a command's input and output go.
pub(super) struct Plan {
    pub(super) input: Option<Value>,
    pub(super) writes: Vec<Write>,
    pub(super) output: Option<(String, bool)>,
}

impl Walker<'_> {
    pub(super) fn redirect(&mut self, redirects: &[Redirect], input: Option<&Value>) -> Plan {
        let mut plan = Plan {
            input: input.cloned(),
            writes: Vec::new(),
            output: None,
        };
        for redirect in redirects {
            let value = match &redirect.target {
                Target::Body(body) => {
                    plan.input = Some(match body.get() {
                        Some(word) => self.whole(word),
                        None => Value::unknown(),
                    });
                    continue;
                }
                Target::Word(word) => self.whole(word),
            };
            let path = self.state.absolute(&value.text);
            match redirect.kind {
                RedirectKind::Text => {
                    let mut value = value;
                    value.text.push('\n');
                    plan.input = Some(value);
                }
                RedirectKind::Read if path == "/dev/null" => plan.input = Some(Value::default()),
                RedirectKind::Read => {
                    plan.input = Some(match self.state.files.get(&path) {
                        Some(content) => content.clone(),
                        None => Value::from(Source {
                            secret: keeps_secrets(&path),
                            file: true,
                            ..Source::default()
                        }),
                    });
                }
                RedirectKind::Duplicate => {
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
                    plan.writes.push(Write {
                        path,
                        appends,
                        listed: value.source.listed,
                    });
                }
            }
        }
        plan
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
        if path != "/dev/null" {
            self.write_file(path, output, *appends);
        }
        Value::default()
    }

    /// Remembers what a file holds.
    pub(super) fn write_file(&mut self, path: &str, content: Value, appends: bool) {
        let there = self.state.files.entry(path.to_owned()).or_default();
        if !appends {
            *there = Value::default();
        }
        if there.text.len() + content.text.len() <= MAX_VALUE {
            there.append(&content);
        }
    }
}
