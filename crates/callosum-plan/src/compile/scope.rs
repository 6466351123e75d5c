//! Meaning of names, function by function.
//!
//! Each function has slots of its own, one for each name it binds, never used again for another. A
//! name of a function further out becomes a copy that is taken when the inner one is made.

use std::{collections::HashMap, sync::Arc};

use super::{Compiler, reference::Reference};
use crate::{
    form::Name,
    program::{FunctionId, Id},
    span::Span,
};

/// Most names of one kind that are searched for a similar one.
const NEAR: usize = 500;

/// Longest name that others are compared with.
const LIKE: usize = 64;

/// Way in which a function gets the value of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Access {
    Local(u32),
    Captured(u32),
    Sibling(u32),
    Global(u32),
    Library(u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    pub(super) access: Access,
    pub(super) reference: Option<Reference>,
}

/// The names of one function while it is compiled.
#[derive(Default)]
pub(super) struct FunctionScope {
    /// Meaning of each name, the innermost last.
    names: HashMap<Name, Vec<(u32, Option<FunctionId>)>>,
    /// The names in the order in which they were bound.
    order: Vec<Name>,
    slots: u32,
    /// Of the group that the function belongs to; none for the program itself.
    pub(super) group: GroupScope,
}

/// State that the members of a group share while they are compiled.
#[derive(Default)]
pub(super) struct GroupScope {
    pub(super) place: u32,
    pub(super) siblings: HashMap<Name, u32>,
    pub(super) captures: HashMap<Access, u32>,
    pub(super) capture_ids: Vec<Id>,
}

impl FunctionScope {
    pub(super) fn of_group(group: GroupScope) -> Self {
        Self {
            group,
            ..Self::default()
        }
    }

    /// Gives a name a slot; it hides the same name of before.
    pub(super) fn bind(&mut self, name: Name, function: Option<FunctionId>) -> u32 {
        let slot = self.slot();
        self.bind_slot(name, slot, function);
        slot
    }

    /// Gives a slot that has no name.
    pub(super) fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    /// Makes a name stand for a slot that it doesn't have yet.
    pub(super) fn name_slot(&mut self, name: Name, slot: u32) {
        self.bind_slot(name, slot, None);
    }

    fn bind_slot(&mut self, name: Name, slot: u32, function: Option<FunctionId>) {
        self.order.push(Name::clone(&name));
        self.names.entry(name).or_default().push((slot, function));
    }

    /// Returns how many names there are, for `release`.
    pub(super) fn mark(&self) -> usize {
        self.order.len()
    }

    /// Forgets the names that came after the mark; their slots stay theirs.
    pub(super) fn release(&mut self, mark: usize) {
        for name in self.order.drain(mark..) {
            if let Some(bound) = self.names.get_mut(&name) {
                bound.pop();
            }
        }
    }

    pub(super) fn frame(&self) -> u32 {
        self.slots
    }
}

impl Compiler<'_> {
    pub(super) fn resolve(&mut self, name: &str) -> Option<Resolved> {
        self.resolve_at(self.functions.len() - 1, name)
    }

    fn resolve_at(&mut self, level: usize, name: &str) -> Option<Resolved> {
        let scope = &self.functions[level];
        let bound = scope.names.get(name).and_then(|bound| bound.last());
        if let Some((slot, function)) = bound {
            return Some(Resolved {
                access: Access::Local(*slot),
                reference: function.map(Reference::Function),
            });
        }
        if let Some(&member) = scope.group.siblings.get(name) {
            return Some(Resolved {
                access: Access::Sibling(member),
                reference: Some(Reference::Function((scope.group.place, member))),
            });
        }
        if level == 0 {
            if let Some(place) = self.globals.place(name) {
                return Some(Resolved {
                    access: Access::Global(place),
                    reference: Some(Reference::Global(place)),
                });
            }
            let function = self.options.library.find(name)?;
            return Some(Resolved {
                access: Access::Library(function),
                reference: None,
            });
        }
        let outer = self.resolve_at(level - 1, name)?;
        if matches!(outer.access, Access::Global(_) | Access::Library(_)) {
            return Some(outer);
        }
        let captures = &self.functions[level].group.captures;
        let place = match captures.get(&outer.access) {
            Some(&place) => place,
            None => self.capture(level, outer),
        };
        Some(Resolved {
            access: Access::Captured(place),
            reference: outer.reference,
        })
    }

    /// Lets the functions of a group take a value from around them.
    fn capture(&mut self, level: usize, outer: Resolved) -> u32 {
        // The reference isn't noted: to take a function along is not to call it or hand it on.
        let silent = Resolved {
            reference: None,
            ..outer
        };
        let id = self.refer(silent, Span::default());
        let group = &mut self.functions[level].group;
        let place = group.capture_ids.len() as u32;
        group.captures.insert(outer.access, place);
        group.capture_ids.push(id);
        place
    }

    /// Returns the known name that is most like this one, if any is.
    pub(super) fn nearest(&self, name: &str) -> Option<Arc<str>> {
        // Two names are compared in the product of their lengths.
        if name.len() > LIKE {
            return None;
        }
        // Those that were bound last, of functions with very many.
        let locals = self
            .functions
            .iter()
            .flat_map(|scope| scope.order.iter().rev().take(NEAR));
        let known = locals
            .chain(self.globals.names.iter().take(NEAR))
            .chain(self.options.library.names());
        let near = known
            .filter(|known| known.len() <= LIKE)
            .map(|known| (strsim::jaro_winkler(name, known), known))
            .filter(|(likeness, _)| *likeness > 0.84)
            .max_by(|(one, _), (other, _)| one.total_cmp(other));
        near.map(|(_, name)| Arc::clone(name))
    }
}
