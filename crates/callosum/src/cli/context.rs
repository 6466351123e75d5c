//! [`Context`]: the context of every command that works on a project, with the terminal.

use std::{
    ops::{Deref, DerefMut},
    path::Path,
    sync::Arc,
};

use callosum_app::{CommandError, context};
use callosum_config::{Environment, Subject};

use super::interrupt;
use crate::ui::Ui;

/// The context of a use case, and the terminal that shows its result.
pub(crate) struct Context {
    app: context::Context,
    pub(super) ui: Ui,
}

impl Context {
    /// Finds the project and reads its configuration. Creates nothing. Ctrl-C cancels what runs.
    pub(super) fn gather(
        environment: Environment,
        directory: Option<&Path>,
        ui: Ui,
    ) -> Result<Self, CommandError> {
        let cancel = interrupt::watch()?;
        let app = context::Context::gather(environment, directory, Arc::new(ui), cancel)?;
        Ok(Self { app, ui })
    }

    /// Returns the context as it is now, after something in it was changed.
    pub(super) fn reloaded(&self) -> Result<Self, CommandError> {
        let app = self.app.anew()?;
        Ok(Self { app, ui: self.ui })
    }

    /// Returns the context as it would be if this was trusted.
    pub(super) fn as_if_trusted(&self, subject: Subject) -> Result<Self, CommandError> {
        let app = self.app.as_if_trusted(subject)?;
        Ok(Self { app, ui: self.ui })
    }

    /// Returns the context with the project's state in its tree; for `init`.
    pub(super) fn in_tree(&self) -> Result<Self, CommandError> {
        let app = self.app.in_tree()?;
        Ok(Self { app, ui: self.ui })
    }
}

impl Deref for Context {
    type Target = context::Context;

    fn deref(&self) -> &Self::Target {
        &self.app
    }
}

impl DerefMut for Context {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.app
    }
}
