//! [`Places`]: the parts of the file that are around the walk.
//!
//! A place knows what it and all places around it come to, so that no question has to go through
//! them: a file may nest a hundred thousand.

use std::rc::Rc;

use super::walker::cut;

/// The open parts of a file, outermost first.
#[derive(Default)]
pub(super) struct Places {
    open: Vec<Scope>,
}

/// A part of the file that holds others.
pub(super) struct Scope {
    pub(super) kind: PlaceKind,
    /// Its name, if its contents should be known by it.
    pub(super) name: Option<String>,
    /// Whether what it holds can be seen from outside: so it is with every place around it.
    visible: bool,
    in_function: bool,
    /// Number of enclosing modules, itself included, and their path.
    modules: usize,
    path: Option<Rc<str>>,
    /// Index of the innermost place that is no function.
    holder: Option<usize>,
    /// The level of the syntax tree that it ends with.
    depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceKind {
    /// A module or namespace.
    Module,
    /// A class, struct, `impl`.
    Type,
    /// A trait or interface, or what implements one.
    Interface,
    /// A class whose methods a test runner calls.
    TestCase,
    /// A function body: its declarations cannot be used elsewhere.
    Function,
}

impl Places {
    /// Opens a place inside the innermost one; `public` says whether it lets others see what it
    /// holds.
    pub(super) fn open(&mut self, kind: PlaceKind, name: Option<&str>, public: bool, depth: usize) {
        let is_function = kind == PlaceKind::Function;
        let holder = if is_function {
            self.innermost().and_then(|around| around.holder)
        } else {
            Some(self.open.len())
        };
        let around = self.innermost().and_then(|around| around.path.clone());
        let path = match name.filter(|_| kind == PlaceKind::Module) {
            Some(name) => Some(match around {
                Some(around) => cut(&format!("{around}::{}", cut(name))).into(),
                None => cut(name).into(),
            }),
            None => around,
        };
        self.open.push(Scope {
            kind,
            path,
            name: name.map(|name| cut(name).to_owned()),
            visible: public && self.are_visible(),
            in_function: is_function || self.in_function(),
            modules: self.modules() + usize::from(kind == PlaceKind::Module),
            holder,
            depth,
        });
    }

    /// Closes the places that end with this level of the syntax tree.
    pub(super) fn close(&mut self, depth: usize) {
        while self.open.pop_if(|place| place.depth == depth).is_some() {}
    }

    pub(super) fn innermost(&self) -> Option<&Scope> {
        self.open.last()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether the walk is inside a function's body.
    pub(super) fn in_function(&self) -> bool {
        self.innermost().is_some_and(|place| place.in_function)
    }

    /// Whether the innermost place holds methods.
    pub(super) fn in_type(&self) -> bool {
        self.innermost()
            .is_some_and(|place| matches!(place.kind, PlaceKind::Type | PlaceKind::Interface))
    }

    /// Whether everything around can be seen from outside.
    pub(super) fn are_visible(&self) -> bool {
        self.innermost().is_none_or(|place| place.visible)
    }

    /// Returns the number of enclosing modules.
    pub(super) fn modules(&self) -> usize {
        self.innermost().map_or(0, |place| place.modules)
    }

    /// Returns the path of the enclosing modules.
    pub(super) fn module(&self) -> Option<&str> {
        self.innermost()?.path.as_deref()
    }

    /// The name of the innermost place that is no function.
    pub(super) fn container(&self) -> Option<&str> {
        self.open[self.innermost()?.holder?].name.as_deref()
    }
}
