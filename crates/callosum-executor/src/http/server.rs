//! [`Server`]: a server of models with any of the interfaces.

use std::ffi::OsString;

#[cfg(feature = "hosted")]
use super::hosted::Provider;
use super::{callosum, client::Caller, lines::Broken, ollama, openai, worker::Answering};
use crate::{output_format::ErrorText, protocol::AnswerForm, transport::Job};

/// Interface of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interface {
    /// OpenAI's chat completions.
    OpenAi,
    /// Ollama's own chat.
    Ollama,
    /// Another Callosum's daemon.
    Callosum,
    /// The interface of the provider that the model's name begins with.
    Hosted,
}

/// Offer of a server.
pub(super) struct Look {
    pub(super) version: Option<String>,
    pub(super) offers: Vec<String>,
}

/// A server that may be asked.
pub(super) enum Server {
    OpenAi(Caller),
    Ollama(Caller),
    Callosum(Caller),
    #[cfg(feature = "hosted")]
    Hosted(Provider),
}

impl Server {
    /// Prepares to ask the server that a job names.
    pub(super) fn new(
        interface: Interface,
        job: &Job,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, ErrorText> {
        Ok(match interface {
            Interface::OpenAi => Self::OpenAi(Caller::new(job, environment)?),
            Interface::Ollama => Self::Ollama(Caller::new(job, environment)?),
            Interface::Callosum => Self::Callosum(Caller::new(job, environment)?),
            #[cfg(feature = "hosted")]
            Interface::Hosted => Self::Hosted(Provider::new(job, environment)?),
            #[cfg(not(feature = "hosted"))]
            Interface::Hosted => return Err(ErrorText::of_ours("this build does not include it")),
        })
    }

    /// Requests its offer.
    pub(super) fn look(&self) -> Result<Look, ErrorText> {
        match self {
            Self::OpenAi(caller) => openai::look(caller),
            Self::Ollama(caller) => ollama::look(caller),
            Self::Callosum(caller) => callosum::look(caller),
            #[cfg(feature = "hosted")]
            Self::Hosted(provider) => Ok(provider.look()),
        }
    }

    /// Waits until a server with OpenAI's interface has loaded its model, as long as `alive`
    /// returns true.
    pub(super) fn wait_until_ready(
        &self,
        alive: &mut dyn FnMut() -> bool,
    ) -> Result<(), ErrorText> {
        match self {
            Self::OpenAi(caller) => openai::wait_until_ready(caller, alive),
            _ => Err(ErrorText::of_ours("only a server of our own is waited for")),
        }
    }

    /// Asks the model that a job names.
    pub(super) fn ask(
        &self,
        job: &Job,
        prompt: &str,
        form: &AnswerForm,
        window: u64,
        answering: &mut Answering<'_>,
    ) -> Result<(), Broken> {
        let model = job.model.as_deref().unwrap_or_default();
        match self {
            Self::OpenAi(caller) => openai::ask(caller, model, prompt, form, answering),
            Self::Ollama(caller) => ollama::ask(caller, model, prompt, window, answering),
            Self::Callosum(caller) => callosum::ask(caller, job, prompt, form, answering),
            #[cfg(feature = "hosted")]
            Self::Hosted(provider) => provider.ask(prompt, answering),
        }
    }

    /// Removes the key from a complaint, if the server repeated it.
    pub(super) fn hidden(&self, complaint: ErrorText) -> ErrorText {
        match self {
            Self::OpenAi(caller) | Self::Ollama(caller) | Self::Callosum(caller) => {
                caller.hidden(complaint)
            }
            #[cfg(feature = "hosted")]
            Self::Hosted(provider) => provider.hidden(complaint),
        }
    }
}
