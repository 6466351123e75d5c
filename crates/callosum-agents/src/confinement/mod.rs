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
mod grants;
mod level;
mod needs;
mod nested;
mod own_folder;
mod personal;
mod places;
mod policy;
mod protected;
mod proxy;
mod renewal;
mod settings;
mod system;
mod transcript;

pub(crate) use self::grants::led_elsewhere;
pub use self::{
    confiner::Confiner,
    grants::{LeadsOutside, leads_outside},
    level::{Level, Reached, Refused, decide},
    personal::personal,
    places::{Surface, SystemFolders, Wishes, places},
    policy::{InvalidHost, Policy, Whitelisted},
    protected::{Protected, Withheld},
    proxy::{Connection, Connections, Names, Upstream, Verdict},
    system::{Missing, System},
    transcript::LastTranscript,
};
