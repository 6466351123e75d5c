//! Scout: the embedded executor, which reads a tree itself and needs no model.
//!
//! Start with [`Survey::read`], which gathers what a tree says of itself, and [`digest`], which
//! writes one of four answers ([`Kind`]) from it. [`answer`] speaks the executors' protocol, so
//! that scout runs as a subprocess like any other (`callosum executor run scout`).
//!
//! Every statement of a digest leans on a line of the tree and cites it; the same tree gives the
//! same bytes. What is deliberately not here: understanding a prompt. Scout answers the kind that
//! it is asked for, and says so.

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
