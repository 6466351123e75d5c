//! JavaScript and TypeScript files: one set of rules, since the grammars share their names.

mod declarations;
mod modules;
mod names;
mod pages;
mod services;

pub(super) use self::declarations::JavaScript;
