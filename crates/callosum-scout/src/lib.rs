//! Scout: the embedded executor, which reads a tree itself and needs no model.
//!
//! Start with [`Survey::read`], which collects the facts of a tree, and [`digest`], which writes one
//! of four answers ([`Kind`]) from them. [`answer`] speaks the executors' protocol, so that scout
//! runs as a subprocess like any other (`callosum executor run scout`).
//!
//! Every statement of a digest cites the line of the tree that supports it; the same tree gives the
//! same bytes. Deliberately not here: understanding a prompt. Scout answers the requested kind, and
//! nothing else.

#![forbid(unsafe_code)]

mod citation;
mod dependency_graph;
mod exports;
mod file_role;
#[cfg(test)]
mod fixture;
mod kind;
mod manifest;
mod modules;
mod progress;
mod protocol;
mod public_api;
mod references;
mod report;
mod report_layout;
mod survey;

pub use self::{
    kind::{Kind, UnknownKind},
    progress::{Phase, Progress},
    protocol::answer,
    report::{Digest, Limits, UnknownSection, digest, digest_section},
    survey::{Relation, Survey, SurveyError},
};
