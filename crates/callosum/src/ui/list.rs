//! [`List`]: a list in a JSON value whose items are made while it is printed.

use std::cell::RefCell;

use serde::{Serialize, Serializer, ser};
use serde_json::Value;

use super::CommandError;

/// Items that are made as they are printed, once. Where one cannot be made, printing ends.
pub(crate) struct List<'i>(RefCell<Items<'i>>);

type Items<'i> = Box<dyn Iterator<Item = Result<Value, CommandError>> + 'i>;

impl<'i> List<'i> {
    pub(crate) fn new(items: impl Iterator<Item = Result<Value, CommandError>> + 'i) -> Self {
        Self(RefCell::new(Box::new(items)))
    }
}

impl std::fmt::Debug for List<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("List").finish_non_exhaustive()
    }
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use ser::SerializeSeq as _;
        let mut list = serializer.serialize_seq(None)?;
        for item in &mut *self.0.borrow_mut() {
            let item = item.map_err(|error| ser::Error::custom(error.one_line()))?;
            list.serialize_element(&item)?;
        }
        list.end()
    }
}
