//! [`answer`]: one job of the process that speaks HTTP for the controller.

use std::ops::ControlFlow;

use callosum_citation::tokens;
use serde_json::json;

use super::{
    lines::{Broken, Flow},
    prompt_context::{self, Material},
    rate_limit::Waits,
    server::{Interface, Server},
};
use crate::{
    output_format::{ErrorText, LARGEST_STREAM},
    protocol::Request,
    runner::LARGEST_ANSWER,
    transport::{Event, Job, Tell, Want, WorkerContext},
};

/// Context size of a model in tokens, unless its entry gives one.
const WINDOW: u64 = 16_384;

/// Tokens of the window that are reserved for the answer: a summary of 10 KB and some thought.
const FOR_THE_ANSWER: u64 = 4_096;

/// Does one job and reports its events; `tell` returns whether the receiver still listens.
pub(crate) fn answer(
    interface: Interface,
    job: &Job,
    means: &WorkerContext<'_>,
    tell: &mut Tell<'_>,
) -> Result<(), ErrorText> {
    let server = Server::new(interface, job, means.environment)?;
    let mut waits = Waits::new(job.limits);
    match &job.want {
        Want::Look => {
            let look = server.look()?;
            tell(Event::Found {
                version: look.version,
                offers: look.offers,
                tools: Vec::new(),
            });
            Ok(())
        }
        Want::Ready => {
            server.wait_until_ready(&mut || tell(Event::Life))?;
            tell(Event::Found {
                version: None,
                offers: Vec::new(),
                tools: Vec::new(),
            });
            Ok(())
        }
        Want::Call(_) => Err(ErrorText::of_ours("a model has no tools to call")),
        Want::Resources(_) => Err(ErrorText::of_ours("a model has no resources")),
        Want::Answer(request) => {
            let window = job.context_tokens.unwrap_or(WINDOW);
            let prompt = prompt(request, job, window, means, tell)?;
            let form = request.form.clone().unwrap_or_default();
            let mut answering = Answering::new(tell);
            let mut ask = || loop {
                let done = server.ask(job, &prompt, &form, window, &mut answering);
                let Err(Broken::Because(refusal)) = &done else {
                    return done;
                };
                let Some(length) = waits.before_again(refusal) else {
                    return done;
                };
                if waits.wait(refusal, length, &mut answering).is_break() {
                    return Ok(());
                }
            };
            match ask() {
                Ok(()) => Ok(()),
                Err(Broken::TooMuch) => {
                    tell(Event::TooMuch);
                    Ok(())
                }
                Err(Broken::Because(complaint)) => Err(server.hidden(complaint)),
            }
        }
    }
}

/// The whole prompt: the question, and of the tree what there is room for.
fn prompt(
    request: &Request,
    job: &Job,
    window: u64,
    means: &WorkerContext<'_>,
    tell: &mut Tell<'_>,
) -> Result<String, ErrorText> {
    // A prompt by itself is not about the tree.
    if request.metadata.is_none() {
        tell(Event::Given {
            prompt_tokens: tokens::estimate(&request.prompt),
            shown: serde_json::Map::new(),
        });
        return Ok(request.prompt.clone());
    }
    tell(Event::Doing {
        what: "reads the tree for it".to_owned(),
    });
    let question = tokens::estimate(&request.spoken_with(""));
    let room = window
        .saturating_sub(FOR_THE_ANSWER.min(window / 2))
        .saturating_sub(question);
    let material: Material =
        prompt_context::gather(means.disk, &job.root, request, room, &mut || {
            tell(Event::Life);
        })
        .map_err(|error| ErrorText::of_ours(&error))?;
    let prompt = request.spoken_with(&material.text);
    tell(Event::Given {
        prompt_tokens: tokens::estimate(&prompt),
        shown: json!({
            "window_tokens": window,
            "digest_bytes": material.digest_bytes,
            "files": material.files,
            "files_left_out": material.left_out,
        })
        .as_object()
        .cloned()
        .unwrap_or_default(),
    });
    Ok(prompt)
}

/// An answer that is coming.
pub(super) struct Answering<'t> {
    tell: &'t mut Tell<'t>,
    bytes: usize,
    named: bool,
    thinking: bool,
}

impl<'t> Answering<'t> {
    pub(super) fn new(tell: &'t mut Tell<'t>) -> Self {
        Self {
            tell,
            bytes: 0,
            named: false,
            thinking: false,
        }
    }

    /// Reports an event; breaks if no one listens any more.
    pub(super) fn tell(&mut self, event: Event) -> ControlFlow<()> {
        if (self.tell)(event) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// Something came that is no text.
    pub(super) fn alive(&mut self) -> ControlFlow<()> {
        self.tell(Event::Life)
    }

    /// A piece of the answer came.
    pub(super) fn text(&mut self, text: &str) -> Flow {
        if text.is_empty() {
            return Ok(self.alive());
        }
        self.bytes += text.len();
        if self.bytes > LARGEST_ANSWER.min(LARGEST_STREAM) {
            return Err(Broken::TooMuch);
        }
        Ok(self.tell(Event::Text {
            text: text.to_owned(),
        }))
    }

    /// Reports the name of the model that answers, once.
    pub(super) fn model(&mut self, name: &str) {
        if !std::mem::replace(&mut self.named, true) {
            let _reported = self.tell(Event::Model {
                name: name.to_owned(),
            });
        }
    }

    /// Reports once that the model writes thoughts, which are no part of the answer.
    pub(super) fn thinking(&mut self) {
        if !std::mem::replace(&mut self.thinking, true) {
            let _reported = self.tell(Event::Doing {
                what: "thinks".to_owned(),
            });
        }
    }

    /// The answer is whole.
    pub(super) fn done(&mut self) {
        let _reported = self.tell(Event::Done);
    }
}
