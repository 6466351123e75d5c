//! HTTP: models that are asked where they are served.
//!
//! Start with `answer` in `worker`, which does one job in a process of its own. [`Endpoint`] is the
//! address of a server and the rule for what may be sent there. `client` makes one request; `lines`
//! reads its body. `openai`, `ollama` and `callosum` speak the interfaces of servers, and `hosted`,
//! in builds that have it, those of providers; `server` is any of these. `finish_reason` judges the
//! reason for an answer's end. `prompt_context` collects parts of the tree for a model that can open
//! no file. `rate_limit` decides when a server that refused is asked again. [`Webhook`] is no model
//! at all: an address that receives documents by POST.
//!
//! Deliberately not here: deadlines and cancellation, which end the process; cookies, redirects,
//! compression, proxies, and anything that the entry did not name.

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
