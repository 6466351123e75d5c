//! [`ModelRegistry`]: the models that there are, by id (Seed CCOS §3.b.4).

use std::{collections::BTreeMap, sync::Arc};

use crate::{provider::ModelProvider, scripted::EchoModel};

/// Models by id.
#[derive(Clone, Debug, Default)]
pub struct ModelRegistry {
    models: BTreeMap<String, Arc<dyn ModelProvider>>,
}

impl ModelRegistry {
    /// Returns a registry with `echo` alone.
    pub fn with_defaults() -> Self {
        let mut registry = Self::default();
        registry.register(EchoModel);
        registry
    }

    /// Adds a model. A model with the same id is replaced.
    pub fn register(&mut self, model: impl ModelProvider + 'static) {
        self.add(Arc::new(model));
    }

    /// Adds a model that others hold, too. A model with the same id is replaced.
    pub fn add(&mut self, model: Arc<dyn ModelProvider>) {
        self.models.insert(model.id().to_owned(), model);
    }

    /// Returns the model of an id.
    pub fn get(&self, id: &str) -> Option<Arc<dyn ModelProvider>> {
        self.models.get(id).cloned()
    }

    /// Returns all models, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn ModelProvider>> {
        self.models.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{ECHO, ScriptedModel};

    /// CCOS-MOD-1: ids come from configuration, and a new model replaces the old one.
    #[test]
    fn models_are_found_by_their_ids() {
        let mut registry = ModelRegistry::with_defaults();
        for reply in ["one", "two"] {
            let script = format!("{{\"reply\": \"{reply}\"}}");
            registry.register(ScriptedModel::read_lines("local-phi", &script).unwrap());
        }
        let ids: Vec<&str> = registry.iter().map(|model| model.id()).collect();
        assert_eq!(ids, [ECHO, "local-phi"]);
        assert!(registry.get("phi").is_none());
    }
}
