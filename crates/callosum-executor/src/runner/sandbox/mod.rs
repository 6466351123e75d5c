//! Sandboxed executors: what a known client needs inside, and its start there.
//!
//! Start with [`Confiner`], which a caller passes to confine executors at all. The client's own
//! folder is replaced by a copy (`client_home`), with its settings reduced (`client_settings`) and
//! its login taken back when the client renewed it (`credential_refresh`).
//!
//! Deliberately not here: the mechanism and the policy, which are in `callosum-sandbox`.

mod client_home;
mod client_requirements;
mod client_settings;
mod credential_refresh;
mod launcher;
mod transcript;

pub use self::{launcher::Confiner, transcript::LastTranscript};
