//! [`Globals`]: the names that are defined at the top of a source, and the definition that each use means.
//!
//! All globals are known everywhere, so that functions may call those that follow. A second `defn` of a name has a
//! place of its own: nothing that ran before it changes, and the bound on calls stays exact.

use std::{collections::HashMap, sync::Arc};

use crate::form::{Form, Name};

/// The names that are defined at the top of a source.
#[derive(Default)]
pub(super) struct Globals {
    /// The name at each place.
    pub(super) names: Vec<Name>,
    definitions: HashMap<Name, Definitions>,
    /// The run of the form that is compiled.
    run: u32,
}

/// The definitions of one name: the run and the place of each, in the order of the source.
struct Definitions {
    keyword: Keyword,
    places: Vec<(u32, u32)>,
}

/// The form that defines a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Def,
    Defn,
}

/// A name that may not be defined again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Twice;

impl Globals {
    /// Numbers the runs of forms: functions that are defined next to one another are one run.
    pub(super) fn runs(forms: &[&Form]) -> Vec<u32> {
        let is_defn = |form: &Form| form.head() == Some("defn");
        let mut run = 0;
        let mut runs = Vec::with_capacity(forms.len());
        for (at, form) in forms.iter().enumerate() {
            let continues = at > 0 && is_defn(form) && is_defn(forms[at - 1]);
            run += u32::from(at > 0 && !continues);
            runs.push(run);
        }
        runs
    }

    /// Adds a definition, those of earlier runs first. Within a run, the last one of a name takes its place.
    pub(super) fn define(&mut self, name: &str, keyword: Keyword, run: u32) -> Result<(), Twice> {
        let place = self.names.len() as u32;
        let Some(known) = self.definitions.get_mut(name) else {
            let name: Name = name.into();
            self.names.push(Arc::clone(&name));
            let places = vec![(run, place)];
            self.definitions
                .insert(name, Definitions { keyword, places });
            return Ok(());
        };
        if keyword != Keyword::Defn || known.keyword != Keyword::Defn {
            return Err(Twice);
        }
        if known.places.last().is_none_or(|&(last, _)| last != run) {
            known.places.push((run, place));
            self.names.push(name.into());
        }
        Ok(())
    }

    /// Sets the run of the form that is compiled next.
    pub(super) fn enter(&mut self, run: u32) {
        self.run = run;
    }

    /// Returns the place of the latest definition up to the form that is compiled, or else of the first one after it.
    pub(super) fn place(&self, name: &str) -> Option<u32> {
        let places = &self.definitions.get(name)?.places;
        let passed = places.partition_point(|&(run, _)| run <= self.run);
        let (_, place) = places.get(passed.saturating_sub(1))?;
        Some(*place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::read;

    /// CCOS-RTFS-1: a use means the definition before it, or the first one if all follow.
    #[test]
    fn a_name_means_the_latest_definition_before_its_use() {
        let forms =
            read("(defn f []) (defn f []) (f) (defn g []) (f) (defn f []) (defn h [])").unwrap();
        let forms: Vec<&Form> = forms.iter().collect();
        let runs = Globals::runs(&forms);
        assert_eq!(runs, [0, 0, 1, 2, 3, 4, 4]);
        let mut globals = Globals::default();
        for (name, run) in [("f", 0), ("f", 0), ("g", 2), ("f", 4), ("h", 4)] {
            assert_eq!(globals.define(name, Keyword::Defn, run), Ok(()));
        }
        assert_eq!(globals.names.len(), 4);
        let mut places = |name: &str| -> Vec<Option<u32>> {
            let at = |run| {
                globals.enter(run);
                globals.place(name)
            };
            (0..5).map(at).collect()
        };
        assert_eq!(places("f"), [0, 0, 0, 0, 2].map(Some));
        assert_eq!(places("h"), [Some(3); 5]);
        assert_eq!(places("other"), [None; 5]);
    }

    /// CCOS-RTFS-1: only functions are defined again; a value never changes.
    #[test]
    fn a_value_is_defined_once() {
        let mut globals = Globals::default();
        globals.define("x", Keyword::Def, 0).unwrap();
        globals.define("f", Keyword::Defn, 1).unwrap();
        for (name, keyword) in [
            ("x", Keyword::Def),
            ("x", Keyword::Defn),
            ("f", Keyword::Def),
        ] {
            assert_eq!(globals.define(name, keyword, 2), Err(Twice), "{name}");
        }
    }
}
