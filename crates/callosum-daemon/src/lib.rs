//! The daemon behind `callosum serve`: events over HTTP, a bus over WebSocket, metrics.
//!
//! Start with [`serve`], which runs until it is asked to end. [`Instance`] is the one that serves this
//! machine's home, and how others find it. `hub` appends to the log (`appending`) and tells everybody who listens, `keeper` keeps the
//! board and the bridge file; `routes` is what is asked, at which door; `bus`, `stream`, `reading`, `posting` and `models` answer.
//!
//! One thread and a runtime on it: the log is written where it is handed in, and who listens is told from there. Others do what
//! would hold it up: one waits for the disk (`syncer`), one decides what changes the board (`keeper`), one reads the bridge file as
//! soon as it is written (`scribe`); each port has one that takes connections and looks whose they are (`doorkeeper`), and each
//! place outside that events are passed on to has one (`sink`). What the guard has decided is read on one that the runtime lends, when metrics are asked for.
//!
//! What is deliberately not here: anything that only works with a daemon. Other processes append to the same log, under its
//! lock, and are heard of as well.

#![forbid(unsafe_code)]

mod addresses;
mod appending;
mod board;
mod bus;
mod connection;
mod crowd;
mod discord;
mod doorkeeper;
mod feed;
mod frame;
mod gate;
mod house;
mod hub;
mod instance;
mod keeper;
mod listening;
mod metrics;
mod models;
mod posting;
mod rate;
mod reading;
mod recent;
mod replaced;
mod reply;
mod request;
mod routes;
mod run;
mod scribe;
mod seat;
mod sink;
mod stream;
mod syncer;
mod trail;

use self::house::House;
pub use self::{
    addresses::{Addresses, Wish},
    instance::{Instance, Serving, Unserved, ask, is_held, may_be_there, noted_pid, running},
    listening::{Listening, Told, hand_in},
    models::{Infer, InferError, InferReply, InferRequest, ModelServing},
    run::{ServeError, Setting, serve},
    sink::SinkStatus,
};
