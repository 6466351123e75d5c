//! The daemon behind `callosum serve`: events over HTTP, a bus over WebSocket, metrics.
//!
//! Start with [`serve`], which runs until it is canceled. [`Instance`] is the daemon of this
//! machine's home, and the way to find it. `hub` appends to the log (`appending`) and delivers to
//! all subscribers. `keeper` maintains the board and the bridge file. `routes` dispatches requests
//! by port and path; `bus`, `stream`, `reading`, `posting` and `models` answer them.
//!
//! One thread and a runtime on it: it writes the log and delivers to subscribers. Other threads do
//! what would delay it: one waits for the disk (`syncer`), one decides what changes the board
//! (`keeper`), and one reads the bridge file as soon as it is written (`scribe`). Each port has a
//! thread that accepts connections and checks their owners (`doorkeeper`), and each outside
//! recipient of events has one (`sink`). The guard's decisions are read on a thread of the runtime,
//! when metrics are requested.
//!
//! Deliberately not here: anything that only works with a daemon. Other processes append to the
//! same log, under its lock, and subscribers get their events as well.

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
