//! [`Lack`]: a missing requirement of an active executor, as far as its own folder and this environment show.
//!
//! Deliberately not here: asking the executor. Nothing is started, and a login that only the client
//! can judge counts as one.

use std::path::Path;

use callosum_executor::client::{Client, Key, KeysIn};
use callosum_executor::registry::Executor;
use callosum_executor::runner::passes;

use crate::context::Context;
use crate::executor::registration_line;

/// Something that an executor lacks.
#[derive(Clone, Debug)]
pub struct Lack {
    /// Description.
    pub what: String,
    /// Remedy, if one is known.
    pub hint: Option<String>,
    /// Whether it is a login, so that each of its tasks would fail.
    pub is_login: bool,
}

impl Lack {
    /// Looks at what a coding agent needs; `None` where nothing is missing, or none is behind the executor.
    pub fn of(context: &Context, executor: &Executor) -> Option<Self> {
        let client = Client::behind(executor)?;
        let value = |name: &str| context.environment.get(name).map(Path::new);
        let home = value("HOME")?;
        let own = client.folder(home, client.home.variable.and_then(value));
        let unseen = |what| Self {
            what,
            hint: None,
            is_login: false,
        };
        let standing = match client.standing(&context.disk, &own) {
            Ok(standing) => standing,
            Err(error) => {
                return Some(unseen(format!("cannot read its folder: {error}")));
            }
        };
        // Without a login nothing is answered; without its hooks it works.
        let hooks = standing.untrusted_hooks.as_ref().map(|hooks| Self {
            what: format!(
                "it silently ignores {} until a person trusts it",
                hooks.display()
            ),
            hint: Some(format!(
                "start {} once in a terminal, then review its hooks",
                client.program
            )),
            is_login: false,
        });
        let is_listed = |name: &str| passes(name, &executor.pass_environment);
        let is_given = |name: &str| value(name).is_some() && is_listed(name);
        let words = shlex::split(&executor.command_template).unwrap_or_default();
        let keys = match client.keys(&context.disk, home, &own, &words) {
            Ok(keys) => keys,
            Err(error) => {
                return Some(unseen(format!("cannot read its settings: {error}")));
            }
        };
        let named = keys.iter().filter_map(|key| match key {
            Key::Settled => None,
            Key::Variable(name) => Some(name.as_str()),
        });
        let named: Vec<&str> = named.collect();
        let variables = client.login.variables;
        // A provider that is chosen by name is asked with its own key, and with no login.
        let is_chosen = client.keys_in == KeysIn::ChosenProvider && !named.is_empty();
        let has_login = || {
            let is_there = standing.logged_in || keys.contains(&Key::Settled);
            is_there || variables.iter().any(|name| is_given(name))
        };
        if named.iter().any(|name| is_given(name)) || (!is_chosen && has_login()) {
            return hooks;
        }
        let lack = |what, hint| {
            Some(Self {
                what,
                hint: Some(hint),
                is_login: true,
            })
        };
        if let Some(name) = named.first() {
            let why = if value(name).is_some() {
                "not passed to it"
            } else {
                "not set here"
            };
            let what = format!("its settings expect a key in {name}, which is {why}");
            return lack(what, passing(executor, name, is_listed(name)));
        }
        if let Some(name) = variables.iter().find(|name| value(name).is_some()) {
            let what = format!("{name} is set here but not passed to it");
            return lack(what, passing(executor, name, false));
        }
        let what = format!(
            "no login found: {} has no {}, no {} is passed to it, and its settings have no key",
            own.display(),
            client.login.files.join(" or "),
            variables.join(" or ")
        );
        lack(what, client.login.command.to_owned())
    }
}

/// Returns the command that passes a variable to an executor.
fn passing(executor: &Executor, name: &str, is_listed: bool) -> String {
    if is_listed {
        return format!("export {name}=KEY");
    }
    let mut mended = executor.clone();
    mended.pass_environment.push(name.to_owned());
    registration_line(&mended)
}
