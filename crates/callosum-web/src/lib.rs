//! The page of Callosum: what agents do on this machine, as HTML for people and JSON for scripts.
//!
//! Start with [`Site`], which the daemon asks for answers. `router` maps paths to views. Each view of `views` runs commands of
//! the program with `--json` ([`Program`]), fills a template with what they print, and turns forms into commands. So the page
//! shows what the command line shows, and every item carries the line that prints the same.
//! `access` decides who gets an answer, `form` reads what a browser posts, `live` streams what changed.
//!
//! Not here: listening at a port, which the daemon does, and the work of any command.

#![forbid(unsafe_code)]

mod access;
mod assets;
mod command;
mod diff;
mod form;
mod form_token;
mod listing;
mod live;
mod markdown;
mod outcome;
mod project;
mod rendered;
mod response;
mod router;
mod service;
mod site;
#[cfg(test)]
mod test_site;
mod views;
mod visit;

pub use self::{
    access::Proxy,
    command::{Command, CommandFailure, Program},
    form_token::FormToken,
    project::{Machine, Subject},
    service::Site,
    site::SiteSetting,
};

use std::path::Path;

/// Whether there is a view of this name.
pub fn has_view(name: &str) -> bool {
    views::named(name).is_some()
}

/// Returns the names of all views, in the order of the menu.
pub fn view_names() -> Vec<&'static str> {
    views::VIEWS.iter().map(|view| view.name).collect()
}

/// Returns the path of a project's view in the address of the page, such as `/p/0123456789ab/now`.
pub fn view_path(root: &Path, view: &str) -> String {
    format!("/p/{}/{view}", project::Project::new(root.to_owned()).id)
}
