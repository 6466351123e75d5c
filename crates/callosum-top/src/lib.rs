//! The dashboard of `callosum top`: agents, tasks and decisions of the guard in a terminal.
//!
//! Start with [`run`], which draws until a person quits. [`App`] is the state: a key, an overview or an outcome goes in, an
//! [`Action`] comes out. It performs nothing, so tests need no terminal. [`draw()`] shows it. [`Overview`] is what there is to
//! show, and [`Source`] gathers it and runs the commands; the program implements both.
//!
//! Deliberately not here: where the data comes from, and what a command does.

#![forbid(unsafe_code)]

mod app;
mod draw;
mod driver;
mod overview;

pub use self::{
    app::{Action, App, Key, LineEditor, Outcome, View},
    draw::{Palette, draw},
    driver::{Options, Source, TopError, run},
    overview::{Agent, Command, Counts, Decision, Overview, Task, WaitingItem},
};
