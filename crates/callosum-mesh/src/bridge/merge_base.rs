//! [`nearest`]: merge base of a file whose author may have seen another's version of it.
//!
//! A file that someone wrote carries the revision of the projection that they began with. So does
//! the next author's version of that file, until the projection is written again. The differences
//! show which of the two a version was made from.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    Document,
    document::{LISTS, TASKS},
};

/// So many writings are looked at, the last ones.
pub(super) const MOST: usize = 16;

/// Whether a version changes any values. Additions of items without an id, additions of unknown
/// tasks, and removals do not count: the merge base makes no difference to these.
pub(super) fn changes_values(
    theirs: &Document,
    projection: &Document,
    is_known_task: impl Fn(&str) -> bool,
) -> bool {
    let mut fields = theirs.fields();
    let is_field_changed = fields.any(|(key, value)| projection.get(key) != Some(value));
    is_field_changed
        || LISTS.into_iter().any(|key| {
            let known = projection.list(key).unwrap_or_default().iter();
            let known: HashMap<&str, &Value> = known
                .filter_map(|item| Some((item.get("id")?.as_str()?, item)))
                .collect();
            let mut items = theirs.list(key).unwrap_or_default().iter();
            items.any(|item| {
                let id = item.get("id").filter(|id| !id.is_null());
                let before = id.and_then(Value::as_str).map(|id| (id, known.get(id)));
                match before {
                    Some((id, None)) if key == TASKS => is_known_task(id),
                    Some((_, known)) => known != Some(&item),
                    None => id.is_some(),
                }
            })
        })
}

/// Returns the version that differs less from `theirs` than the projection does, or the last of
/// several. Returns `None` if there is none.
pub(super) fn nearest<'a>(
    theirs: &Document,
    projection: &Document,
    written: &'a [Document],
) -> Option<&'a Document> {
    let mut least = differences(projection, theirs);
    let mut found = None;
    for document in written {
        let count = differences(document, theirs);
        if count < least || (count == least && found.is_some()) {
            least = count;
            found = Some(document);
        }
    }
    found
}

/// In how many items and keys two documents differ; what we write counts only where it says who has written.
fn differences(one: &Document, other: &Document) -> usize {
    let items: usize = LISTS
        .into_iter()
        .map(|key| {
            let mut surplus: HashMap<String, isize> = HashMap::new();
            let lists = [(one, 1), (other, -1)];
            for (document, sign) in lists {
                for item in document.list(key).unwrap_or_default() {
                    *surplus.entry(item.to_string()).or_default() += sign;
                }
            }
            surplus
                .values()
                .map(|count| count.unsigned_abs())
                .sum::<usize>()
        })
        .sum();
    let is_other = |key: &str, value: &Value| other.get(key) != Some(value);
    let changed = one.fields().filter(|(key, value)| is_other(key, value));
    let added = other.fields().filter(|(key, _)| one.get(key).is_none());
    let writer = usize::from(one.last_writer() != other.last_writer());
    items + changed.count() + added.count() + writer
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(writer: &str, contents: &[&str], count: u64) -> Document {
        let items: Vec<Value> = contents
            .iter()
            .map(|content| json!({"content": content}))
            .collect();
        let value = json!({
            "last_writer": writer, "revision": 5, "discoveries": items, "account_state": {"n": count},
        });
        Document::read(value.to_string().as_bytes()).unwrap()
    }

    /// CALC-L3-1: an author who continued from the version that was there is distinguished from one
    /// who did not see it.
    #[test]
    fn the_version_that_differs_least_is_the_one_that_was_begun_with() {
        let projection = document("callosum", &["a"], 0);
        let first = document("codex", &["a", "b"], 1);
        let written = [first.clone()];
        for (theirs, is_first) in [
            (document("codex", &["a", "b"], 2), true),
            (document("codex", &["a", "b", "c"], 1), true),
            (document("qwen", &["a", "b"], 2), true),
            (document("qwen", &["a", "c"], 0), false),
            (document("qwen", &["a"], 1), false),
            (projection.clone(), false),
        ] {
            let found = nearest(&theirs, &projection, &written);
            assert_eq!(found, is_first.then_some(&first), "{theirs:?}");
        }
        assert_eq!(nearest(&first, &projection, &[]), None);
    }

    /// CALC-L3-1: who only adds and takes out is not asked what they began with.
    #[test]
    fn what_is_only_added_or_taken_out_changes_no_value() {
        let with = |items: Value, count: u64| {
            let value = json!({"task_queue": items, "account_state": {"n": count}, "revision": 5});
            Document::read(value.to_string().as_bytes()).unwrap()
        };
        let known = json!({"id": "a", "prompt": "p", "priority": 5});
        let projection = with(json!([known]), 0);
        for (items, count, is_changed) in [
            (json!([known]), 0, false),
            (json!([]), 0, false),
            (json!([known, {"prompt": "q"}]), 0, false),
            (json!([known]), 1, true),
            (json!([{"id": "a", "prompt": "p", "priority": 1}]), 0, true),
            (json!([known, {"id": "b", "prompt": "q"}]), 0, true),
            (json!([known, {"id": "new", "prompt": "q"}]), 0, false),
        ] {
            let theirs = with(items, count);
            assert_eq!(
                changes_values(&theirs, &projection, |id| id != "new"),
                is_changed,
                "{theirs:?}"
            );
        }
    }
}
