//! [`Issue`]: a task as `bd` prints it, in any of the shapes that its versions have.

use serde_json::Value;

/// A task of `bd`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Issue {
    /// Its id.
    pub id: String,
    /// Title of the task.
    pub title: String,
    /// Its status, as `bd` has it.
    pub status: String,
    /// 0 comes first; 2 if `bd` prints no priority.
    pub priority: i64,
}

impl Issue {
    /// The tasks of what was printed: one, a list, or either under `data` or `items`. `None` where it
    /// is none of these.
    pub fn all(printed: &[u8]) -> Option<Vec<Self>> {
        let printed: Value = serde_json::from_slice(printed).ok()?;
        let inner = ["data", "items"]
            .iter()
            .find_map(|name| printed.get(name))
            .unwrap_or(&printed);
        match inner {
            Value::Array(items) => items.iter().map(Self::read).collect(),
            // What has nothing to show is nothing in some versions.
            Value::Null => Some(Vec::new()),
            item => Some(vec![Self::read(item)?]),
        }
    }

    fn read(item: &Value) -> Option<Self> {
        let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
        let id = text("id");
        (!id.is_empty()).then(|| Self {
            id: id.to_owned(),
            title: text("title").to_owned(),
            status: text("status").to_owned(),
            priority: item.get("priority").and_then(Value::as_i64).unwrap_or(2),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-BEAD-1: each shape that a version of `bd` prints is understood.
    #[test]
    fn every_shape_of_an_answer_is_understood() {
        let one = r#"{"id":"bd-1","title":"T","status":"open","priority":1,"new":{}}"#;
        for printed in [
            one.to_owned(),
            format!("[{one}]"),
            format!("{{\"schema_version\":2,\"data\":[{one}]}}"),
            format!("{{\"items\":[{one}]}}"),
            format!("{{\"data\":{one}}}"),
        ] {
            let issues = Issue::all(printed.as_bytes()).unwrap();
            assert_eq!(issues.len(), 1, "{printed}");
            assert_eq!((issues[0].id.as_str(), issues[0].priority), ("bd-1", 1));
        }
        assert_eq!(Issue::all(b"[]"), Some(Vec::new()));
        assert_eq!(Issue::all(b"null"), Some(Vec::new()));
        for wrong in [
            "",
            "no tasks",
            "{}",
            "[1]",
            "{\"data\":[{\"title\":\"x\"}]}",
        ] {
            assert_eq!(Issue::all(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
