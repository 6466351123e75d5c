//! `callosum mesh inject`: sends a prompt to an agent, with evidence that it was taken (Seed CALC §6, pattern 3).
//!
//! [`inject`] finds the agent and tries its routes in order: the client's own mailbox, a message that a hook delivers,
//! and keys that tmux sends. A route that took nothing makes room for the next. One that may have taken the text ends
//! the injection: a second route could bring it twice.

mod by_hook;
mod injector;
mod output;

use std::time::Duration;

use callosum_mesh::Author;
use callosum_panes::inject::{
    DeliveryRoute, Injection, Options, Reason, Receipt, mailbox::Mailbox, prepare,
};
use callosum_panes::{Pane, State};

pub(crate) use self::injector::{Injector, program};
pub use self::output::{InjectOutput, SkippedOutput, StepOutput};
use crate::context::Context;
use crate::mesh::panes::{Watcher, named, unknown};
use crate::{CommandError, Exit};

/// A route that a person may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteChoice {
    /// The client's own mailbox.
    Native,
    /// A message that a hook delivers.
    Hook,
    /// Keys that tmux sends.
    Tmux,
}

/// A text, its recipient and the terms.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// A pane, or an agent of the mesh that is in no pane.
    pub to: &'a str,
    /// The text.
    pub text: &'a str,
    /// The terms.
    pub options: Options,
    /// The only route to use, if the person chose one.
    pub route: Option<RouteChoice>,
    /// Time to wait for a hook to deliver a message.
    pub wait: Duration,
}

/// Facts that decide which routes are tried.
#[derive(Clone, Copy, Debug)]
struct Facts {
    state: State,
    while_working: bool,
    has_mailbox: bool,
    has_hooks: bool,
    is_in_tmux: bool,
}

/// Returns the routes to try, in order.
///
/// A hook runs with a tool call, so it is the first route to an agent that works, and the last to one that waits for a
/// prompt. Delegations of ours speak the Agent Client Protocol with a process of their own that ends with the task, so
/// there is no session to reach by that protocol.
fn routes(choice: Option<RouteChoice>, facts: Facts) -> Vec<RouteChoice> {
    if let Some(choice) = choice {
        return vec![choice];
    }
    if facts.state == State::Working && !facts.while_working && facts.has_hooks {
        return vec![RouteChoice::Hook];
    }
    let all = [
        (RouteChoice::Native, facts.has_mailbox),
        (RouteChoice::Tmux, facts.is_in_tmux),
        (RouteChoice::Hook, facts.has_hooks && !facts.is_in_tmux),
    ];
    let possible = all.into_iter().filter(|(_, is_possible)| *is_possible);
    possible.map(|(route, _)| route).collect()
}

/// Sends a text to the one agent that `request` means. The receipt is an event in the log; the text is not in it.
pub fn inject(
    context: &Context,
    voice: &Author,
    request: &Request<'_>,
) -> Result<InjectOutput, CommandError> {
    let text = prepare(request.text);
    let injection = Injection {
        text: text.map_err(|error| CommandError::from_error(Exit::Usage, &error))?,
        options: request.options.clone(),
    };
    let injector = Injector {
        disk: &context.disk,
        clock: &context.clock,
        ids: &context.ids,
        environment: &context.environment,
        homes: &context.project.homes,
    };
    let mut watcher = Watcher::open(context)?;
    let registry = watcher.look_twice(context)?;
    let found = named(&registry.panes, request.to);
    let [pane] = &*found else {
        let by_hook = matches!(request.route, None | Some(RouteChoice::Hook));
        if found.is_empty()
            && by_hook
            && let Some(to) = by_hook::agent(context, request.to)?
        {
            let receipt = by_hook::send(context, voice, &to, None, &injection, request.wait)?;
            if !request.options.dry_run {
                injector.log(voice, (to.agent.as_str(), &to.to_string()), &receipt, None)?;
            }
            return Ok(InjectOutput::new(receipt, to.agent.as_str(), Vec::new()));
        }
        return Err(not_one(request.to, &found, &registry.panes));
    };
    let mut attempt = Attempt {
        context,
        voice,
        injector: &injector,
        watcher: &watcher,
        pane,
        injection: &injection,
        wait: request.wait,
        mailbox: injector.mailbox(watcher.sensor(), pane),
        skipped: Vec::new(),
    };
    let receipt = attempt.run(request.route)?;
    let skipped = std::mem::take(&mut attempt.skipped);
    if !request.options.dry_run {
        let agent = pane.mesh_agent().unwrap_or("unknown");
        injector.log(voice, (agent, &pane.pane), &receipt, None)?;
    }
    Ok(InjectOutput::new(receipt, &pane.runtime, skipped))
}

/// An injection into one pane.
struct Attempt<'a> {
    context: &'a Context,
    voice: &'a Author,
    injector: &'a Injector<'a>,
    watcher: &'a Watcher,
    pane: &'a Pane,
    injection: &'a Injection,
    wait: Duration,
    mailbox: Option<Box<dyn Mailbox>>,
    skipped: Vec<SkippedOutput>,
}

impl Attempt<'_> {
    /// Tries the routes in order.
    fn run(&mut self, choice: Option<RouteChoice>) -> Result<Receipt, CommandError> {
        let place = self.watcher.sensor().in_tmux(&self.pane.pane);
        let hooks = by_hook::addressee(self.context, self.pane)?;
        let facts = Facts {
            state: self.pane.state,
            while_working: self.injection.options.while_working,
            has_mailbox: self.mailbox.is_some(),
            has_hooks: hooks.is_some(),
            is_in_tmux: place.is_some(),
        };
        let routes = routes(choice, facts);
        let first = match routes.first() {
            Some(RouteChoice::Hook) => DeliveryRoute::Hook,
            Some(RouteChoice::Native) => self.native(),
            _ => DeliveryRoute::Tmux,
        };
        if !routes.is_empty()
            && let Some(receipt) = self.injector.rate(self.pane, self.injection, first)?
        {
            return Ok(receipt);
        }
        for route in routes {
            let receipt = match route {
                RouteChoice::Native => self.by_mailbox()?,
                RouteChoice::Hook => match &hooks {
                    Some(to) => Some(self.by_hook(to)?),
                    None => self.skip(DeliveryRoute::Hook, "no hook reports this session"),
                },
                RouteChoice::Tmux => match &place {
                    Some(place) => Some(self.injector.by_tmux(
                        self.watcher.sensor(),
                        place,
                        self.injection,
                    )?),
                    None => self.skip(DeliveryRoute::Tmux, "it is not in tmux"),
                },
            };
            if let Some(receipt) = receipt {
                return Ok(receipt);
            }
        }
        Err(self.unreachable())
    }

    fn native(&self) -> DeliveryRoute {
        let mailbox = self.mailbox.as_ref();
        mailbox.map_or(DeliveryRoute::ClaudeSocket, |mailbox| mailbox.route())
    }

    fn skip(&mut self, route: DeliveryRoute, why: &str) -> Option<Receipt> {
        self.skipped.push(SkippedOutput::new(route, why.to_owned()));
        None
    }

    fn by_mailbox(&mut self) -> Result<Option<Receipt>, CommandError> {
        let route = self.native();
        let Some(mailbox) = &mut self.mailbox else {
            return Ok(self.skip(route, "no mailbox of this client is known"));
        };
        let sensor = self.watcher.sensor();
        let posted =
            self.injector
                .by_mailbox(sensor, self.pane, self.injection, mailbox.as_mut())?;
        Ok(match posted {
            Ok(receipt) => Some(receipt),
            Err(skipped) => {
                self.skipped.push(skipped);
                None
            }
        })
    }

    /// Leaves a message, unless the agent waits for a person: it would read the message after the dialog at the earliest,
    /// and the sender would not know.
    fn by_hook(&self, to: &callosum_mesh::addressee::Addressee) -> Result<Receipt, CommandError> {
        let refusal = match self.pane.state {
            State::BlockedOnApproval => Some(Reason::Dialog {
                detail: self.pane.detail.clone(),
            }),
            state @ (State::SessionEnded | State::ContextExhausted | State::UsageLimited) => {
                Some(Reason::NotReady { state })
            }
            _ => None,
        };
        if let Some(reason) = refusal {
            let (pane, route) = (self.pane, DeliveryRoute::Hook);
            return Ok(self.injector.refusal(pane, self.injection, route, reason));
        }
        let pane = Some(self.pane);
        by_hook::send(
            self.context,
            self.voice,
            to,
            pane,
            self.injection,
            self.wait,
        )
    }

    /// Says that no route leads to the pane, and why.
    fn unreachable(&self) -> CommandError {
        let name = &self.pane.pane;
        let what = if self.skipped.is_empty() {
            format!(
                "no text can reach {name}: it is not in tmux, has no mailbox, and no hook reports it"
            )
        } else {
            let skipped = self.skipped.iter();
            let reasons = skipped.map(|one| format!("{}: {}", one.route, one.reason));
            let reasons: Vec<String> = reasons.collect();
            format!("no text can reach {name} ({})", reasons.join("; "))
        };
        let agent = self.pane.mesh_agent().unwrap_or("AGENT");
        let hint = format!("callosum mesh message send {agent} TEXT");
        CommandError::new(Exit::No, what).hint(hint)
    }
}

/// Says that a name means no pane, or several.
fn not_one(name: &str, found: &[&Pane], panes: &[Pane]) -> CommandError {
    if found.is_empty() {
        return unknown(name, panes);
    }
    let names: Vec<&str> = found.iter().map(|pane| pane.pane.as_str()).collect();
    let what = format!("`{name}` means several panes: {}", names.join(", "));
    CommandError::new(Exit::Usage, what).hint("callosum mesh panes")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Facts = Facts {
        state: State::TrulyIdle,
        while_working: false,
        has_mailbox: true,
        has_hooks: true,
        is_in_tmux: true,
    };

    #[test]
    fn a_mailbox_comes_before_keys() {
        use RouteChoice::{Hook, Native, Tmux};
        assert_eq!(routes(None, ALL), [Native, Tmux]);
        let bare = Facts {
            has_mailbox: false,
            ..ALL
        };
        assert_eq!(routes(None, bare), [Tmux]);
        let outside = Facts {
            is_in_tmux: false,
            ..ALL
        };
        assert_eq!(routes(None, outside), [Native, Hook]);
        assert_eq!(routes(Some(Tmux), outside), [Tmux]);
    }

    #[test]
    fn an_agent_that_works_gets_a_message_at_its_next_tool_call() {
        use RouteChoice::{Hook, Native, Tmux};
        let working = Facts {
            state: State::Working,
            ..ALL
        };
        assert_eq!(routes(None, working), [Hook]);
        let urgent = Facts {
            while_working: true,
            ..working
        };
        assert_eq!(routes(None, urgent), [Native, Tmux]);
        let without = Facts {
            has_hooks: false,
            ..working
        };
        assert_eq!(routes(None, without), [Native, Tmux]);
    }
}
