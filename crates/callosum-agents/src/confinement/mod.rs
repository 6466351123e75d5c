//! What an executor is held to while it runs.
//!
//! Start with [`decide`], which says from an entry's [`Policy`] and what this [`System`] can do
//! how far an executor is confined, or why it may not run. [`Wishes`] is what the entry names, and
//! [`Confiner`] what a caller hands in to have executors confined at all. The way to the hosts that
//! an entry names leads through a proxy of ours, which tells of each [`Connection`].
//!
//! What is deliberately not here: the doing, which is `callosum_host::confine`'s, and deciding
//! which hosts or folders a known client needs.

mod confiner;
mod level;
mod needs;
mod nested;
mod own_folder;
mod places;
mod policy;
mod protected;
mod proxy;
mod renewal;
mod settings;
mod system;
mod transcript;

pub use self::{
    confiner::Confiner,
    level::{Level, Reached, Refused, decide},
    places::{Surface, SystemFolders, Wishes, places},
    policy::{InvalidHost, Policy, Whitelisted},
    protected::{Protected, Withheld},
    proxy::{Connection, Connections, Names, Upstream, Verdict},
    system::{Missing, System},
    transcript::LastTranscript,
};
