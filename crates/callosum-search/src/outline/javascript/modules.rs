//! How JavaScript files import and export: `import`, `export`, `require`, `module.exports`.

use std::collections::HashSet;

use tree_sitter::Node;

use super::super::{
    contents::ImportKind,
    page::{Page, arguments_of, child_of_kind, named_children},
};

/// The names that a file exports apart from their declarations.
#[derive(Default)]
pub(super) struct Exports<'t> {
    names: Vec<&'t str>,
}

impl<'t> Exports<'t> {
    /// `export { a, b as c }`, `export * from "./a"`, `export default name`.
    pub(super) fn statement(&mut self, page: &mut Page<'t>, node: Node<'t>) {
        let clause = child_of_kind(node, "export_clause");
        let names: Vec<_> = clause
            .into_iter()
            .flat_map(named_children)
            .map(|specifier| page.field(specifier, "name"))
            .collect();
        let source = node
            .child_by_field_name("source")
            .and_then(|source| page.string(source));
        if let Some(source) = source {
            let names = names.into_iter().map(str::to_owned).collect();
            page.import(ImportKind::ReExport, source, node).names = names;
            return;
        }
        self.names.extend(names);
        if let Some(value) = node.child_by_field_name("value") {
            self.value(page, value);
        }
    }

    /// `module.exports = { a, b }`, `module.exports = a`, `exports.a = b`.
    pub(super) fn value(&mut self, page: &Page<'t>, value: Node<'t>) {
        match value.kind() {
            "identifier" => self.names.push(page.text(value)),
            "object" => {
                for property in named_children(value) {
                    match property.kind() {
                        "shorthand_property_identifier" => self.names.push(page.text(property)),
                        "pair" => {
                            let value = property.child_by_field_name("value");
                            self.names.extend(
                                value
                                    .filter(|value| value.kind() == "identifier")
                                    .map(|value| page.text(value)),
                            );
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Marks what was exported apart, and what it contains, as public.
    pub(super) fn finish(&self, page: &mut Page<'t>) {
        if self.names.is_empty() {
            return;
        }
        let names: HashSet<_> = self.names.iter().copied().collect();
        for symbol in &mut page.outline.symbols {
            let outermost = symbol.container.as_deref().unwrap_or(&symbol.name);
            let hidden = symbol.name.starts_with(['_', '#']) && symbol.container.is_some();
            if names.contains(outermost) && !hidden && !symbol.test {
                symbol.public = true;
            }
        }
    }
}

/// `import a, { b } from "c"`.
pub(super) fn import<'t>(page: &mut Page<'t>, node: Node<'t>) {
    let source = node
        .child_by_field_name("source")
        .or_else(|| child_of_kind(node, "import_require_clause")?.child_by_field_name("source"));
    let Some(source) = source.and_then(|source| page.string(source)) else {
        return;
    };
    let clause = child_of_kind(node, "import_clause").map(named_children);
    let names: Vec<_> = clause
        .into_iter()
        .flatten()
        .flat_map(|part| match part.kind() {
            "named_imports" => named_children(part),
            _ => vec![part],
        })
        .map(|part| match part.kind() {
            "import_specifier" => page.field(part, "name").to_owned(),
            "identifier" => "default".to_owned(),
            _ => "*".to_owned(),
        })
        .collect();
    page.import(ImportKind::Use, source, node).names = names;
}

/// `require("a")` and `import("a")`.
pub(super) fn required<'t>(page: &mut Page<'t>, call: Node<'t>) {
    if matches!(
        page.field(call, "function"),
        "require" | "import" | "require.resolve"
    ) && let [source] = arguments_of(call).as_slice()
        && let Some(source) = page.string(*source)
        && !source.contains("${")
    {
        page.import(ImportKind::Use, source, call);
    }
}

/// `module.exports = require("./lib/app")` offers what that file does.
pub(super) fn passed_on<'t>(page: &mut Page<'t>, value: Node<'t>) {
    if value.kind() == "call_expression"
        && page.field(value, "function") == "require"
        && let [source] = arguments_of(value).as_slice()
        && let Some(source) = page.string(*source)
    {
        page.import(ImportKind::ReExport, source, value);
    }
}
