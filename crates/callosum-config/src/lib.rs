//! Settings, the project root, the machine's folders, and trust.
//!
//! Start with [`Project`], which a command loads once and passes on. [`Environment`] is the only
//! type that reads the environment; [`Key`] is the table of every setting.
//!
//! Not here: command-line arguments and everything a user sees.

#![forbid(unsafe_code)]

mod auto_allow;
mod calrc;
mod digest_sources;
mod directories;
mod environment;
mod fleet;
mod guard_config;
mod key;
mod mesh;
mod models;
mod notify;
mod output_folders;
mod page;
mod permissions;
mod project;
mod project_paths;
mod repositories;
mod root;
mod routing_config;
mod secret_reads;
mod setting;
mod setting_path;
mod settings;
mod sinks;
mod state_file;
mod state_place;
#[cfg(test)]
mod test_dir;
mod trust;
mod user;
mod value;

pub use self::{
    auto_allow::{AutoAllow, AutoAllowSettings},
    calrc::{Calrc, CalrcError, EditError},
    digest_sources::{DigestSource, SourceFrom},
    directories::{Homes, HomesError},
    environment::{Environment, EnvironmentError},
    fleet::{Credentials, FleetSetting, FleetSettingError},
    guard_config::{BrokenCake, GuardConfig},
    key::Key,
    mesh::{LeaseMode, MeshSettings, MeshSettingsError},
    models::{
        ModelKind, ModelSetting, ModelSettings, ModelSettingsError, ServedModels, TokenPlace,
    },
    notify::{NotifyBy, NotifySetting},
    output_folders::OutputFolders,
    page::{PageSetting, PageSettingError},
    permissions::{Permissions, Permit, Reach, RuleLevel},
    project::{MendError, Project, ProjectError, ProjectOverrides, SetError},
    project_paths::Places,
    repositories::Repositories,
    root::{ForeignMark, Roots, is_repository},
    routing_config::{MatrixFile, ReloadOutcome},
    secret_reads::SecretReadsFile,
    setting::Origin,
    setting_path::{Address, PRIORITIES},
    settings::{
        DEFAULT_PRIORITY, ExecutorSettings, RejectedValue, Settings, SettingsError, default_at,
    },
    sinks::{SinkKind, SinkSetting},
    state_file::StateFileError,
    state_place::{MOVING, MOVING_SESSIONS, NewState, StatePlace, is_initialized, place_sessions},
    trust::{Subject, Trust},
    user::user_faults,
    value::Value,
};
