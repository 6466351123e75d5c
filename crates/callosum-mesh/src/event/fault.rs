//! [`InvalidEvent`]: fault of a submitted event.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidEvent {
    /// The key, as a path: `payload.task`. Empty where the whole is meant.
    pub key: String,
    /// Value that was found, shortened.
    pub found: String,
    /// Values that are allowed.
    pub wanted: String,
}

/// All that is wrong with it, in the order of the schema; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<InvalidEvent>);

impl fmt::Display for InvalidEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "`{}` ", self.key)?;
        }
        write!(f, "is {}; it must be {}", self.found, self.wanted)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}
