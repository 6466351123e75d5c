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
mod digest;
mod exports;
#[cfg(test)]
mod fixture;
mod graph;
mod kind;
mod manifest;
mod mentions;
mod modules;
mod page;
mod progress;
mod protocol;
mod role;
mod surface;
mod survey;

pub use self::{
    digest::{Digest, Limits, UnknownSection, digest, digest_section},
    kind::{Kind, UnknownKind},
    progress::{Phase, Progress},
    protocol::answer,
    survey::{Relation, Survey, SurveyError},
};
