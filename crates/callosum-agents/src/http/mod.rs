//! HTTP: models that are asked where they are served.
//!
//! Start with `answer`, which does one job in a process of its own. [`Endpoint`] is where a
//! server is and what may be sent there; `call` makes one request; `openai`, `ollama` and `callosum` are what
//! servers say, `ending` what their reason for the end makes of it, and `hosted`, where it is built in, asks providers in their own interfaces; `server` is any of these; `material` is what a model that can open no file is shown of the tree,
//! `wait` when a server that refused is asked again. [`Webhook`] is no model at all: an address that documents are posted to.
//!
//! What is deliberately not here: deadlines and cancellation, which end the process; cookies,
//! redirects, compression, proxies, and anything that the entry did not name.

mod callosum;
mod client;
mod endpoint;
mod finish_reason;
#[cfg(feature = "hosted")]
mod hosted;
mod lines;
mod ollama;
mod openai;
mod prompt_context;
mod rate_limit;
mod server;
mod webhook;
mod worker;

pub(crate) use self::{
    client::Caller,
    lines::{Broken, read_lines},
    server::Interface,
    worker::answer,
};
pub use self::{
    endpoint::{Endpoint, EndpointError},
    webhook::{NoWebhook, Posted, Unposted, Webhook},
};
