//! [`Reference`]: function or global that an expression is known to name.

use crate::program::FunctionId;

/// Function or global that an expression is known to name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reference {
    Function(FunctionId),
    Global(u32),
}
