//! [`RunRules`]: permissions of the machine and the project at this moment, while a run is under way.

use std::collections::BTreeSet;

use callosum_host::disk::FileStat;
use callosum_plan::CapabilityName;

use crate::kernel::Constitution;

/// Permissions at this moment.
pub trait RunRules: Sync {
    /// Returns what tells the files of the rules from what they were: another stamp, other rules. Opens no file.
    fn stamp(&self) -> RulesStamp;

    /// Returns what is revoked on this machine, or why that can't be known.
    fn revoked(&self) -> Result<BTreeSet<CapabilityName>, String>;

    /// Returns the constitution, or `None` if there is none that can be relied on: one that is being edited and is not
    /// signed yet.
    fn constitution(&self) -> Option<Constitution>;
}

/// The files of the rules without their content; `None` means that one is absent.
pub type RulesStamp = Vec<Option<FileStat>>;
