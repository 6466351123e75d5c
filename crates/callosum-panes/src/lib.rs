//! Coding agents in the terminals of this machine: which they are and what each is doing.
//!
//! Start with [`Sensor`], which looks, and [`Pane`], what it finds. [`State`] is what an agent can be doing,
//! [`RuleSet::judge`] reads it from a screen, and [`assess::assess`] weighs the screen against what hooks and the client
//! itself report. [`tmux::Connection`] reads the screens, [`program::Processes`] finds the clients.
//! [`inject`] types a prompt into a client and proves that it took it.
//!
//! What is deliberately not here: the hooks that report events, settings, and who may write to a pane.

#![forbid(unsafe_code)]

pub mod assess;
pub mod claude_sessions;
pub mod hook_event;
pub mod inject;
pub mod layout;
pub mod notify;
pub mod notify_route;
mod pane;
pub mod program;
pub mod registry;
pub mod resume;
pub mod rule;
pub mod screen;
pub mod sensor;
pub mod state;
pub mod tmux;
pub mod tracker;

pub use self::{
    hook_event::HookEvent,
    layout::Layout,
    notify::{Notice, NoticeKind, Notifier, NotifySettings, QuietHours},
    notify_route::{Delivery, Route},
    pane::Pane,
    program::{Processes, Program},
    registry::Registry,
    rule::{RuleError, RuleSet},
    screen::Screen,
    sensor::{Look, Sensor},
    state::{Assessment, Evidence, Signal, State},
};
