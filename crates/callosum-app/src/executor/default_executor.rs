//! [`StepsBack`]: keeps the default executor what it was when another one is registered.
//!
//! An experiment that is registered must not get the tasks that name no executor. So a new executor that would come first
//! gets a place in `.calrc` behind the one that takes them now.

use callosum_config::{Address, Origin, PRIORITIES, Value};
use callosum_executor::registry::{EMBEDDED_ID, Executor};

use crate::config_errors;
use crate::context::Context;
use crate::executor_pool::Roster;

/// Settings of `.calrc` that put a new executor behind the default one.
#[derive(Debug)]
pub struct StepsBack {
    id: String,
    default: String,
    priority: u64,
}

impl StepsBack {
    /// Returns what keeps a new executor behind the default one; `None` if it would not come first anyway, takes no
    /// tasks, or has a place in `.calrc` already.
    pub fn behind_default(roster: &Roster<'_>, executor: &Executor) -> Option<Self> {
        let own = roster.preference(&executor.id).priority;
        if !executor.takes_tasks() || own.origin != Origin::Default {
            return None;
        }
        let default = roster.choice().next()?.id;
        let priority = roster.preference(&default).priority.value;
        // Among equals the one that was registered first leads, and `scout` is last.
        let would_lead = own.value < priority || (own.value == priority && default == EMBEDDED_ID);
        let priority = (priority + 1).min(*PRIORITIES.end());
        would_lead.then(|| Self {
            id: executor.id.clone(),
            default,
            priority,
        })
    }

    /// Writes the settings. If `.calrc` cannot be written, warns; the executor stays registered.
    pub fn apply(self, context: &mut Context) {
        let mut wishes = vec![(
            Address::Priority(self.id.clone()),
            Value::Count(self.priority),
        )];
        if self.default == EMBEDDED_ID {
            // `scout` has a place in the order only where `.calrc` names it.
            wishes.push((Address::Enabled(self.default), Value::Switch(true)));
        }
        for (address, value) in wishes {
            let set = context.project.set(&context.disk, &address, &value);
            if let Err(error) = set {
                let error = config_errors::set(&error).one_line();
                let what = format!(
                    "tasks that name no executor may now go to {}: {error}",
                    self.id
                );
                context.report.warn(&what, Some("callosum executor list"));
                return;
            }
        }
    }
}
