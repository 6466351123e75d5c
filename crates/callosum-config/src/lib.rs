//! Settings, the project root, the machine's folders, and trust.
//!
//! Start with [`Project`], which a command loads once and passes on. [`Environment`] is the only
//! type that reads the environment; [`Key`] is the table of every setting.
//!
//! Not here: command-line arguments and everything a user sees.

#![forbid(unsafe_code)]

mod address;
mod amendment;
mod auto_allow;
mod cake;
mod calrc;
mod digest_sources;
mod environment;
mod governance;
#[cfg(test)]
mod ground;
mod homes;
mod key;
mod matrix_file;
mod mesh;
mod models;
mod notify;
mod output_folders;
mod permissions;
mod places;
mod project;
mod repositories;
mod root;
mod secret_reads;
mod setting;
mod settings;
mod sinks;
mod state_file;
mod state_place;
mod trust;
mod user;
mod value;

pub use self::{
    address::{Address, PRIORITIES},
    auto_allow::{AutoAllow, AutoAllowSettings},
    cake::{BrokenCake, GuardConfig},
    calrc::{Calrc, CalrcError, EditError},
    digest_sources::{DigestSource, SourceFrom},
    environment::{Environment, EnvironmentError},
    governance::{Governance, GovernanceError, Revocation},
    homes::{Homes, HomesError},
    key::Key,
    matrix_file::{Looked, MatrixFile},
    mesh::{LeaseMode, MeshSettings, MeshSettingsError},
    models::{
        ModelKind, ModelSetting, ModelSettings, ModelSettingsError, ServedModels, TokenPlace,
    },
    notify::{NotifyBy, NotifySetting},
    output_folders::OutputFolders,
    permissions::{Permissions, Permit, Reach, RuleLevel},
    places::Places,
    project::{MendError, Project, ProjectError, SetError, Told},
    repositories::Repositories,
    root::{ForeignMark, Roots, is_repository},
    secret_reads::SecretReadsFile,
    setting::Origin,
    settings::{DEFAULT_PRIORITY, ExecutorSettings, Refusal, Settings, SettingsError, default_at},
    sinks::{SinkKind, SinkSetting},
    state_file::StateFileError,
    state_place::{MOVING, MOVING_SESSIONS, NewState, StatePlace, is_initialized, place_sessions},
    trust::{Subject, Trust},
    user::user_faults,
    value::Value,
};
