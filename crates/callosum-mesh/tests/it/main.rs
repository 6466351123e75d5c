//! What the mesh promises, over real files.

mod board;
mod bridge;
mod digest;
mod edits;
mod incoming;
mod journal;
mod messages;
mod news;
mod place;
mod tasks;
