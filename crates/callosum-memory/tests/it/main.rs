//! The index of past sessions over real files of each client: reading, what changes, and what is found.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests write the files of clients, and fail loudly"
)]

mod machine;
mod opencode;
mod recall;
mod records;
mod search;
mod update;
