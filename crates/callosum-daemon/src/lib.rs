//! The daemon behind `callosum serve`: events over HTTP, a bus over WebSocket, metrics.
//!
//! Start with [`serve`], which runs until it is canceled. [`Instance`] is the daemon of this
//! machine's home, and the way to find it. `broker` appends to the log (`append_queue`) and delivers to
//! all subscribers. `board_worker` maintains the board and the bridge file. `routes` dispatches requests
//! by port and path; `websocket`, `event_stream`, `get_events`, `post_events` and `post_infer` answer
//! them. `page` passes the requests at its port to the page, which the program supplies.
//!
//! One thread and a runtime on it: it writes the log and delivers to subscribers. Other threads do
//! what would delay it: one waits for the disk (`fsync_worker`), one decides what changes the board
//! (`board_worker`), and one reads the bridge file as soon as it is written (`bridge_watcher`). Each port has a
//! thread that accepts connections and checks their owners (`acceptor`), and each outside
//! recipient of events has one (`sink`). The guard's decisions are read on a thread of the runtime,
//! when metrics are requested.
//!
//! Deliberately not here: anything that only works with a daemon. Other processes append to the
//! same log, under its lock, and subscribers get their events as well.

#![forbid(unsafe_code)]

mod acceptor;
mod addresses;
mod append_queue;
mod board;
mod board_worker;
mod bridge_versions;
mod bridge_watcher;
mod broker;
mod client;
mod connection;
mod connection_limit;
mod counts;
mod discord;
mod encoded_event;
mod event_cache;
mod event_stream;
mod fsync_worker;
mod get_events;
mod heartbeats;
mod instance;
mod memory;
mod metrics;
mod models;
mod origin_check;
mod page;
mod post_events;
mod post_infer;
mod rate;
mod request;
mod response;
mod routes;
mod run;
mod send_queue;
mod serve_error;
mod sink;
mod state;
mod subscription;
mod unlinked_files;
mod websocket;

use self::state::ServerState;
pub use self::{
    addresses::{Addresses, ListenTarget},
    client::{Listening, ServerMessage, hand_in},
    heartbeats::SignsOfLife,
    instance::{Instance, Serving, Unserved, ask, is_held, may_be_there, noted_pid, running},
    memory::{QueryFailure, SessionMemory, SessionQuery},
    models::{Infer, InferError, InferReply, InferRequest, ModelServing},
    page::{Page, PageBody, PageFuture, Sender},
    run::{Setting, serve},
    serve_error::ServeError,
    sink::SinkStatus,
};
