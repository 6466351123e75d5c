//! Whether an error needs a message: severity, confidence, repeats and cooldown (Seed CAKE §2).
//!
//! Start with [`classify`]. It is pure: the caller counts occurrences and strikes, and gives the time. [`suggest()`]
//! derives a fix from the event alone, and the caller's guard decides whether it may be offered.
//!
//! What is deliberately not here: reading tool output, storing errors, and known fixes.

mod confidence;
mod package_name;
mod rules;
mod suggest;

pub use self::{
    confidence::confidence,
    package_name::{Ecosystem, is_package_name, resembles_popular},
    rules::{Classification, Facts, Interventions, Rules, classify},
    suggest::{Project, SuggestedFix, suggest},
};
