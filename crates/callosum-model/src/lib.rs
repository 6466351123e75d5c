//! Asks models: one trait for executors, servers and scripted models.
//!
//! Start with [`ModelProvider`], and [`ModelRegistry`], which has the models that there are. [`json_object`] takes the
//! JSON out of a reply. A plan, a vote or a policy means nothing here: a model gets a prompt and answers with text.

#![forbid(unsafe_code)]

mod executor;
mod json_reply;
mod llama;
mod provider;
mod registry;
mod scripted;

pub use crate::{
    executor::ExecutorModel,
    json_reply::{JsonReplyError, json_object},
    llama::{LlamaCommand, LlamaError, LlamaModel, LlamaServer},
    provider::{Delta, LONGEST_REPLY, Limits, ModelError, ModelProvider, Place, Reply, Request},
    registry::ModelRegistry,
    scripted::{ECHO, EchoModel, ScriptError, ScriptedModel},
};
