//! Clients' records of their sessions, as far as Callosum reads them: mainly the fill of a context.
//!
//! Start with [`usage`], which finds the numbers of the first and the last request in a transcript
//! of any client without reading all of it. [`Commands`] counts what a session ran. [`newest`]
//! finds the transcript of this project that was written last; [`save`] writes down the work in one
//! since the last checkpoint.
//!
//! Deliberately not here: the conversation. No message of a transcript is read or kept.

mod activity;
mod commands;
mod newest;
mod save;
mod statusline;
mod usage;

pub use self::{
    commands::Commands,
    newest::{newest, newest_few},
    save::{SaveError, save},
    statusline::StatusLine,
    usage::{usage, usage_in_brief},
};
