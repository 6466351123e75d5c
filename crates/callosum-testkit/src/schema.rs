//! [`Schema`]: a published JSON Schema, to validate written files.

use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use callosum_host::Disk;
use serde_json::Value;

/// A schema of `docs/schemas/`.
pub struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    /// Reads `docs/schemas/NAME.schema.json`. Panics if it is not a schema.
    pub fn published(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
        let bytes = Disk::real()
            .read(&folder.join(format!("{name}.schema.json")))
            .expect("the schema can be read");
        let schema: Value = serde_json::from_slice(&bytes).expect("the schema is JSON");
        let place = schema["$id"]
            .as_str()
            .expect("the schema has an `$id`")
            .to_owned();
        let mut compiler = Compiler::new();
        compiler.enable_format_assertions();
        compiler
            .add_resource(&place, schema)
            .expect("the schema has a place");
        let mut schemas = Schemas::new();
        let index = compiler
            .compile(&place, &mut schemas)
            .unwrap_or_else(|error| panic!("{name}: {error:#}"));
        Self { schemas, index }
    }

    /// Returns the reason that a value does not fit, if it does not.
    pub fn fault(&self, value: &Value) -> Option<String> {
        let validated = self.schemas.validate(value, self.index);
        validated.err().map(|error| format!("{error:#}"))
    }

    /// Whether a value fits.
    pub fn accepts(&self, value: &Value) -> bool {
        self.fault(value).is_none()
    }
}
