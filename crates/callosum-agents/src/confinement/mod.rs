//! Confinement of an executor while it runs.
//!
//! Start with [`decide`], which determines from an entry's [`Policy`] and the features of this
//! [`System`] how far an executor is confined, or why it may not run. [`RequestedPaths`] lists the
//! paths that the entry names. A caller passes a [`Confiner`] to confine executors at all. The way
//! to the hosts that an entry names leads through our proxy, which reports each [`Connection`].
//!
//! Deliberately not here: the mechanism, which is in `callosum_host::confine`, and deciding which
//! hosts or folders a known client needs.

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
