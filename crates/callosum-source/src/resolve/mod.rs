//! The file of the tree that an import means.
//!
//! Start with [`Resolver`]. Manifests are not read here: [`Packages`] holds what their reader found
//! out, in plain values. Each language has a file of its own, which knows where that language
//! looks.

mod packages;
mod resolver;

mod names;

mod c;
mod go;
mod java;
mod javascript;
mod python;
mod rust;

#[cfg(test)]
mod tests;

pub use self::{
    names::join,
    packages::{Alias, Dependency, Ecosystem, Package, Packages},
    resolver::{Resolver, Target},
};
