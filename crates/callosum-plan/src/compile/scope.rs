//! Which name stands for what, function by function.
//!
//! Each function has slots of its own, one for each name it binds, never used again for another. A
//! name of a function further out becomes a copy that is taken when the inner one is made.

use std::sync::Arc;

use super::{Compiler, Reference};
use crate::{
    form::Name,
    program::{FunctionId, Id},
    span::Span,
};

/// How a function comes to the value of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    names: Vec<(Name, u32, Option<FunctionId>)>,
    slots: u32,
    /// Of the group that the function belongs to; none for the program itself.
    pub(super) group: GroupScope,
}

/// What the members of a group share while they are compiled.
#[derive(Default)]
pub(super) struct GroupScope {
    pub(super) place: u32,
    pub(super) siblings: Vec<Name>,
    pub(super) captures: Vec<Resolved>,
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
        self.names.push((name, slot, function));
        slot
    }

    /// Gives a slot that has no name.
    pub(super) fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    /// Makes a name stand for a slot that it doesn't have yet.
    pub(super) fn name_slot(&mut self, name: Name, slot: u32) {
        self.names.push((name, slot, None));
    }

    /// Returns how many names there are, for `release`.
    pub(super) fn mark(&self) -> usize {
        self.names.len()
    }

    /// Forgets the names that came after the mark; their slots stay theirs.
    pub(super) fn release(&mut self, mark: usize) {
        self.names.truncate(mark);
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
        if let Some((_, slot, function)) = scope.names.iter().rev().find(|(own, ..)| &**own == name)
        {
            return Some(Resolved {
                access: Access::Local(*slot),
                reference: function.map(Reference::Function),
            });
        }
        let siblings = &scope.group.siblings;
        if let Some(member) = siblings.iter().rposition(|own| &**own == name) {
            return Some(Resolved {
                access: Access::Sibling(member as u32),
                reference: Some(Reference::Function((scope.group.place, member as u32))),
            });
        }
        if level == 0 {
            if let Some(&place) = self.global_places.get(name) {
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
        let place = match captures.iter().position(|own| own.access == outer.access) {
            Some(place) => place,
            None => self.capture(level, outer),
        };
        Some(Resolved {
            access: Access::Captured(place as u32),
            reference: outer.reference,
        })
    }

    /// Lets the functions of a group take a value from around them.
    fn capture(&mut self, level: usize, outer: Resolved) -> usize {
        // The reference isn't noted: to take a function along is not to call it or hand it on.
        let silent = Resolved {
            reference: None,
            ..outer
        };
        let id = self.refer(silent, Span::default());
        let group = &mut self.functions[level].group;
        group.captures.push(outer);
        group.capture_ids.push(id);
        group.captures.len() - 1
    }

    /// Returns the known name that is most like this one, if any is.
    pub(super) fn nearest(&self, name: &str) -> Option<Arc<str>> {
        let locals = self
            .functions
            .iter()
            .flat_map(|scope| scope.names.iter().map(|(name, ..)| name));
        let known = locals
            .chain(&self.globals)
            .chain(self.options.library.names());
        let near = known
            .map(|known| (strsim::jaro_winkler(name, known), known))
            .filter(|(likeness, _)| *likeness > 0.84)
            .max_by(|(one, _), (other, _)| one.total_cmp(other));
        near.map(|(_, name)| Arc::clone(name))
    }
}
