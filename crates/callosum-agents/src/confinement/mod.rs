//! What an executor is held to while it runs.
//!
//! Start with [`decide`], which says from an entry's [`Policy`] and what this [`System`] can do
//! how far an executor is confined, or why it may not run. [`RequestedPaths`] is what the entry names, and
//! [`Confiner`] what a caller hands in to have executors confined at all. The way to the hosts that
//! an entry names leads through a proxy of ours, which tells of each [`Connection`].
//!
//! What is deliberately not here: the doing, which is `callosum_host::confine`'s, and deciding
//! which hosts or folders a known client needs.

mod client_home;
mod client_requirements;
mod client_settings;
mod credential_refresh;
mod grants;
mod launcher;
mod mounts;
mod nested_repositories;
mod personal;
mod policy;
mod policy_decision;
mod probe;
mod protected_paths;
mod proxy;
mod transcript;

pub(crate) use self::grants::led_elsewhere;
pub use self::{
    grants::{LeadsOutside, leads_outside},
    launcher::Confiner,
    mounts::{RequestedPaths, Surface, SystemFolders, places},
    personal::personal,
    policy::{InvalidHost, Policy, Whitelisted},
    policy_decision::{Level, Reached, Refused, decide},
    probe::{Missing, System},
    protected_paths::{DeniedPath, Protected},
    proxy::{Connection, Connections, Names, Upstream, Verdict},
    transcript::LastTranscript,
};
