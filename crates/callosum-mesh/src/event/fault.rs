//! [`InvalidEvent`]: what is wrong with an event that was handed in.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidEvent {
    /// The key, as a path: `payload.task`. Empty where the whole is meant.
    pub key: String,
    /// What stands there, shortened.
    pub found: String,
    /// What may stand there.
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
