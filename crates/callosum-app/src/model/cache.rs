//! [`ModelCache`]: what one process has read and started of the models in the user's configuration.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use callosum_config::ModelSettings;
use callosum_model::{LlamaServer, ScriptedModel};

/// Settings, scripts, and the server of the model file. Each is filled in when a model needs it.
#[derive(Debug, Default)]
pub struct ModelCache {
    pub(super) settings: OnceLock<ModelSettings>,
    /// Scripts keep which replies they gave.
    pub(super) scripts: Mutex<BTreeMap<String, Arc<ScriptedModel>>>,
    /// The server of the model file. It ends with the last context of the process.
    pub(super) llama: OnceLock<Arc<LlamaServer>>,
}
