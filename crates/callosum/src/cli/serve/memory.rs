//! The memory of past sessions, as the daemon serves it.

use std::sync::Arc;

use callosum_app::memory::{MemoryMachine, MemoryServer};
use callosum_app::report::Reporter;
use callosum_client::signs_of_life::signs_of_life;
use callosum_config::Homes;
use callosum_daemon::{ListenTarget, QueryFailure, SessionMemory, SessionQuery, SignsOfLife};
use callosum_host::Disk;
use callosum_host::process::Cancel;
use serde::Serialize;
use serde_json::Value;

use super::Ground;

/// Returns what answers queries; `None` if they are not served.
pub(super) fn sessions(
    ground: &Ground,
    target: ListenTarget,
    cancel: &Cancel,
) -> Option<Arc<dyn SessionMemory>> {
    if target == ListenTarget::Off {
        return None;
    }
    let report: Arc<dyn Reporter> = Arc::new(ground.ui);
    let machine = MemoryMachine {
        disk: ground.disk.clone(),
        homes: ground.homes.clone(),
        environment: ground.environment.clone(),
        report: report.without_progress(),
        cancel: cancel.clone(),
        project: Vec::new(),
    };
    Some(Arc::new(Sessions {
        server: MemoryServer::new(machine),
        disk: ground.disk.clone(),
        homes: ground.homes.clone(),
    }))
}

struct Sessions {
    server: MemoryServer,
    disk: Disk,
    homes: Homes,
}

impl SessionMemory for Sessions {
    fn query(&self, query: SessionQuery) -> Result<Value, QueryFailure> {
        value(&self.server.query(&query)?)
    }

    fn health(&self) -> Result<Value, QueryFailure> {
        let state = self.server.status();
        value(&state.map_err(|error| QueryFailure::Unavailable(error.one_line()))?)
    }

    fn signs_of_life(&self) -> SignsOfLife {
        signs_of_life(&self.disk, &self.homes)
    }
}

fn value(answer: &impl Serialize) -> Result<Value, QueryFailure> {
    serde_json::to_value(answer).map_err(|error| QueryFailure::Unavailable(error.to_string()))
}
