//! What the mesh promises, over real files.

mod board;
mod bridge;
mod digest;
mod edits;
mod journal;
mod news;
mod place;
