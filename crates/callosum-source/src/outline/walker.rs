//! [`Page`]: a file while it is read, and the walk over its syntax tree.
//!
//! The walk is a loop, not a recursion, so that no input can exhaust the stack, and it never asks
//! a node for its parent or siblings, which costs a descent from the root each time: what a
//! grammar needs to know of them is kept here.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use tree_sitter::{Node, Tree};

use super::{
    scopes::{PlaceKind, Places},
    sentence,
    symbol::{
        Command, Import, ImportKind, Local, Note, Outline, Reference, Route, Symbol, SymbolKind,
    },
    uses::Uses,
};

/// Bytes of a name, path or long line that are kept; people write less.
///
/// The text may be kept again for each thing that it contains.
const LONGEST: usize = 300;

/// Bytes of a command's description that are searched for its first sentence.
const LONGEST_HELP: usize = 2048;

/// The rules of one language for its files.
pub(super) trait Grammar<'t> {
    /// Whether a node says something about the sibling that follows: a comment, an attribute.
    fn leads(&self, kind: &str) -> bool;

    /// Takes in a named node; parents come before children. `lead` holds the siblings before it
    /// that say something about it.
    fn enter(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) -> Next;

    /// Sees to what needs the whole file.
    fn finish(&mut self, _page: &mut Page<'t>, _root: Node<'t>) {}
}

/// The next step of the walk after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// To its children.
    Into,
    /// To its next sibling.
    Past,
}

/// A symbol about to be noted.
pub(super) struct SymbolNode<'t> {
    pub(super) kind: SymbolKind,
    pub(super) name: Node<'t>,
    pub(super) whole: Node<'t>,
    pub(super) public: bool,
    pub(super) about: Option<String>,
}

/// The lines of a name's first mention, and of the first and the last one by itself.
#[derive(Clone, Copy)]
struct Mention {
    line: u32,
    bare: Option<u32>,
    last_bare: Option<u32>,
}

/// A file while it is read.
pub(super) struct Page<'t> {
    pub(super) path: &'t str,
    pub(super) text: &'t str,
    pub(super) outline: Outline,
    pub(super) places: Places,
    pub(super) uses: Uses<'t>,
    line_starts: Vec<usize>,
    mentions: HashMap<&'t str, Mention>,
    declared_at: HashSet<usize>,
    depth: usize,
}

impl<'t> Page<'t> {
    pub(super) fn new(path: &'t str, text: &'t str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self {
            path,
            text,
            outline: Outline::default(),
            places: Places::default(),
            uses: Uses::default(),
            line_starts: std::iter::once(0)
                .chain(newlines.map(|(at, _)| at + 1))
                .collect(),
            mentions: HashMap::new(),
            declared_at: HashSet::new(),
            depth: 0,
        }
    }

    /// Walks the tree once and returns the outline.
    pub(super) fn read(mut self, tree: &'t Tree, grammar: &mut impl Grammar<'t>) -> Outline {
        self.walk(tree, grammar);
        grammar.finish(&mut self, tree.root_node());
        self.forget_what_tests_serve();
        self.outline.has_errors = tree.root_node().has_error();
        let mut references: Vec<_> = self
            .mentions
            .into_iter()
            .map(|(name, mention)| Reference {
                name: name.to_owned(),
                line: mention.line,
                bare: mention.bare,
                last_bare: mention.last_bare.filter(|_| mention.bare.is_some()),
            })
            .collect();
        references.sort();
        self.outline.references = references;
        let line_starts = &self.line_starts;
        self.outline.uses = self.uses.finish(&self.outline, |at| {
            line_starts.partition_point(|start| *start <= at) as u32
        });
        // Chains of calls are read from their ends; everyone expects the order of the file.
        self.outline.imports.sort_by_key(|import| import.line);
        self.outline.routes.sort_by_key(|route| route.line);
        self.outline.commands.sort_by_key(|command| command.line);
        self.outline
    }

    /// Removes routes and commands that a test sets up: no one can use them.
    fn forget_what_tests_serve(&mut self) {
        let outline = &mut self.outline;
        if is_test_file(self.path) {
            outline.routes.clear();
            outline.commands.clear();
        }
        let is_test = |symbol: &&Symbol| {
            symbol.test || symbol.kind == SymbolKind::Module && symbol.name.starts_with("test")
        };
        let tests = outline.symbols.iter().filter(is_test);
        let mut tests: Vec<_> = tests.map(|test| (test.line, test.last_line)).collect();
        // One stretch for all that overlap.
        tests.sort_unstable();
        tests.dedup_by(|next, before| {
            let overlaps = next.0 <= before.1;
            if overlaps {
                before.1 = before.1.max(next.1);
            }
            overlaps
        });
        let in_test = |line: u32| {
            let begun = tests.partition_point(|(first, _)| *first <= line);
            begun > 0 && line <= tests[begun - 1].1
        };
        outline.routes.retain(|route| !in_test(route.line));
        outline.commands.retain(|command| !in_test(command.line));
    }

    fn walk(&mut self, tree: &'t Tree, grammar: &mut impl Grammar<'t>) {
        let mut cursor = tree.root_node().walk();
        // The nodes that lead the next one, and the row of the last one's end, level by level.
        let mut levels: Vec<(Vec<Node<'t>>, Option<usize>)> = vec![(Vec::new(), None)];
        loop {
            let node = cursor.node();
            let mut next = Next::Past;
            if node.is_named() {
                let (leads, last_row) = &mut levels[self.depth];
                if grammar.leads(node.kind()) {
                    // A comment at the end of a line belongs to that line.
                    if *last_row != Some(node.start_position().row) {
                        leads.push(node);
                    }
                    next = grammar.enter(self, node, &[]);
                } else {
                    let lead = std::mem::take(leads);
                    *last_row = Some(last_row_of(node));
                    next = grammar.enter(self, node, &lead);
                }
            }
            if next == Next::Into && cursor.goto_first_child() {
                self.depth += 1;
                levels.push((Vec::new(), None));
                continue;
            }
            self.close();
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                levels.pop();
                self.depth -= 1;
                self.close();
            }
        }
    }

    /// Says that the node being entered holds what comes inside it.
    pub(super) fn open(&mut self, kind: PlaceKind, name: Option<&str>, public: bool) {
        self.places.open(kind, name, public, self.depth);
    }

    /// Closes what ends with this level of the syntax tree.
    fn close(&mut self) {
        self.places.close(self.depth);
        self.uses.close(self.depth);
    }

    /// Opens a scope for the local names inside of the node being entered.
    pub(super) fn open_scope(&mut self, node: Node<'_>) {
        self.uses.open(self.depth, node.byte_range());
    }

    /// Notes that code uses the name at `node` alone, unless it is the name of a declaration.
    pub(super) fn use_name(&mut self, node: Node<'_>) {
        if !self.is_declared(node) {
            self.uses.note("", self.text(node), node.start_byte());
        }
    }

    /// Notes that code uses the name at `node` behind a path or receiver.
    pub(super) fn use_member(&mut self, qualifier: Node<'_>, node: Node<'_>) {
        if qualifier.byte_range().len() <= super::uses::LONGEST_QUALIFIER {
            let qualifier = self.text(qualifier);
            self.uses
                .note(qualifier, self.text(node), node.start_byte());
        }
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'t str {
        &self.text[node.byte_range()]
    }

    /// The text of a node that may be quoted for a name: on one line, and no longer than names are.
    pub(super) fn name(&self, node: Node<'_>) -> Option<&'t str> {
        let text = self.text(node);
        (text.len() <= LONGEST && !text.contains('\n')).then_some(text)
    }

    /// Returns the text of a field of a node; empty if it has none.
    pub(super) fn field(&self, node: Node<'_>, name: &str) -> &'t str {
        node.child_by_field_name(name)
            .map_or("", |child| self.text(child))
    }

    /// The words between the quotes of a string literal, escapes as written; `None` for what is
    /// no literal.
    pub(super) fn string(&self, node: Node<'_>) -> Option<&'t str> {
        if !node.kind().contains("string") {
            return None;
        }
        let text = self.text(node);
        let open = text.find(['"', '\'', '`'])?;
        let quoted = text[open..].trim_end_matches('#');
        let triple = ["\"\"\"", "'''"]
            .into_iter()
            .find(|mark| quoted.len() >= 6 && quoted.starts_with(mark) && quoted.ends_with(mark));
        match triple {
            Some(_) => quoted.get(3..quoted.len() - 3),
            None => quoted.get(1..quoted.len().checked_sub(1)?),
        }
    }

    fn line_range(&self, line: u32) -> Range<usize> {
        let end = self.line_starts.get(line as usize).copied();
        self.line_starts[line as usize - 1]..end.unwrap_or(self.text.len())
    }

    /// Returns the line of a symbol's name; of a long line the piece with the symbol.
    fn declaration(&self, found: &SymbolNode<'t>) -> &'t str {
        let line = self.line_range(line_of(found.name));
        if line.len() <= LONGEST {
            return self.text[line].trim();
        }
        let name = found.name.byte_range();
        let whole = found.whole.start_byte();
        let start = if whole >= line.start && name.end <= whole + LONGEST {
            whole
        } else {
            name.start
        };
        let end = found.whole.end_byte().max(name.end).min(line.end);
        cut(&self.text[start..end]).trim()
    }

    /// Whether a symbol has its name from this node.
    pub(super) fn is_declared(&self, name: Node<'_>) -> bool {
        self.declared_at.contains(&name.start_byte())
    }

    /// Notes a symbol; the caller may still change it.
    pub(super) fn add(&mut self, found: SymbolNode<'t>) -> &mut Symbol {
        self.add_named(self.text(found.name), found)
    }

    /// Notes a symbol under another name than its node's text.
    pub(super) fn add_named(&mut self, name: &str, found: SymbolNode<'t>) -> &mut Symbol {
        self.declared_at.insert(found.name.start_byte());
        let line = line_of(found.name);
        let at = self.outline.symbols.len();
        self.outline.symbols.push(Symbol {
            kind: found.kind,
            name: cut(name).to_owned(),
            container: self.places.container().map(str::to_owned),
            module: self.places.module().map(str::to_owned),
            line,
            last_line: line.max(last_row_of(found.whole) as u32 + 1),
            public: found.public && self.places.are_visible(),
            test: false,
            declaration: self.declaration(&found).to_owned(),
            about: found.about,
        });
        &mut self.outline.symbols[at]
    }

    /// Notes a type inside of a function. Its name is mentioned like any other: it declares nothing to others.
    pub(super) fn add_local(&mut self, kind: SymbolKind, whole: Node<'t>) {
        let Some(name) = whole.child_by_field_name("name") else {
            return;
        };
        let line = line_of(name);
        self.outline.locals.push(Local {
            kind,
            name: cut(self.text(name)).to_owned(),
            line,
            last_line: line.max(last_row_of(whole) as u32 + 1),
        });
    }

    /// Takes the line on which `whole` begins for that of the symbol noted last.
    pub(super) fn quote_last_by_first_line(&mut self, whole: Node<'_>) {
        let line = line_of(whole);
        let text = cut(&self.text[self.line_range(line)]).trim();
        if let Some(symbol) = self.outline.symbols.last_mut() {
            symbol.line = line;
            text.clone_into(&mut symbol.declaration);
        }
    }

    /// Notes that a name is mentioned, unless it is the name of a declaration.
    pub(super) fn mention(&mut self, node: Node<'_>) {
        self.mention_as(node, true);
    }

    /// Notes that a name is mentioned; `bare` says whether it can mean a declaration by itself.
    pub(super) fn mention_as(&mut self, node: Node<'_>, bare: bool) {
        if self.is_declared(node) {
            return;
        }
        let line = line_of(node);
        let first = Mention {
            line,
            bare: None,
            last_bare: None,
        };
        let mention = self.mentions.entry(self.text(node)).or_insert(first);
        if bare {
            mention.bare.get_or_insert(line);
            mention.last_bare = mention.last_bare.max(Some(line));
        }
    }

    /// Notes that the name at this place of the text means a declaration.
    pub(super) fn mention_at(&mut self, name: Range<usize>) {
        let line = self
            .line_starts
            .partition_point(|start| *start <= name.start) as u32;
        let bare = Some(line);
        let mention = self.mentions.entry(&self.text[name]);
        let mention = mention.or_insert(Mention {
            line,
            bare,
            last_bare: bare,
        });
        mention.line = mention.line.min(line);
        mention.bare = mention.bare.min(bare).or(bare);
        mention.last_bare = mention.last_bare.max(bare);
    }

    /// Takes back that these names are mentioned by themselves.
    pub(super) fn never_bare(&mut self, names: impl IntoIterator<Item = &'t str>) {
        for name in names {
            if let Some(mention) = self.mentions.get_mut(name) {
                mention.bare = None;
            }
        }
    }

    pub(super) fn import(&mut self, kind: ImportKind, target: &str, at: Node<'_>) -> &mut Import {
        let line = line_of(at);
        let index = self.outline.imports.len();
        self.outline.imports.push(Import {
            target: target.to_owned(),
            kind,
            names: Vec::new(),
            bindings: Vec::new(),
            purpose: self.uses.purpose_at(at.start_byte()),
            line,
        });
        &mut self.outline.imports[index]
    }

    pub(super) fn route(&mut self, method: &str, path: &str, handler: Option<&str>, at: Node<'_>) {
        let line = line_of(at);
        self.outline.routes.push(Route {
            method: cut(method).to_ascii_uppercase(),
            path: cut(path).to_owned(),
            handler: handler.map(|handler| cut(handler).to_owned()),
            line,
        });
    }

    pub(super) fn command(&mut self, name: &str, about: Option<&str>, at: Node<'_>) {
        let line = line_of(at);
        self.outline.commands.push(Command {
            name: cut(name).to_owned(),
            about: about.and_then(|about| sentence::first(cut_to(about, LONGEST_HELP))),
            line,
        });
    }

    /// Takes a documentation text as the file's own, if it says anything.
    pub(super) fn about_file(&mut self, text: &str, at: Node<'_>) {
        if self.outline.about.is_none()
            && let Some(text) = sentence::first(text)
        {
            let line = self.line_of_words(&text, line_of(at));
            self.outline.about = Some(Note { text, line });
        }
    }

    /// Returns the line on which a sentence begins, in the comment that begins on `first`: a
    /// license may come before it.
    fn line_of_words(&self, sentence: &str, first: u32) -> u32 {
        let words: Vec<_> = sentence.split(' ').take(3).collect();
        (1..=words.len())
            .rev()
            .map(|count| words[..count].join(" "))
            .find_map(|words| {
                let mut lines = first..=self.line_starts.len() as u32;
                lines.find(|line| self.text[self.line_range(*line)].contains(&words))
            })
            .unwrap_or(first)
    }

    /// Returns the first sentence of the comments among `lead` that are right above `node`.
    pub(super) fn comment_above(&self, lead: &[Node<'t>], node: Node<'_>) -> Option<String> {
        let mut row = node.start_position().row;
        let mut from = lead.len();
        for (index, comment) in lead.iter().enumerate().rev() {
            if !comment.kind().contains("comment") {
                row = comment.start_position().row;
                continue;
            }
            let lines = self.text(*comment).trim_end().matches('\n').count();
            let last_row = comment.start_position().row + lines;
            // A text that calls itself documentation may keep a line's distance.
            let gap = usize::from(self.text(*comment).starts_with("/**"));
            if last_row + 1 + gap < row {
                break;
            }
            row = comment.start_position().row;
            from = index;
        }
        // `//// Parsing ////` is the heading of a stretch of the file.
        let comments = lead[from..]
            .iter()
            .filter(|node| node.kind().contains("comment"))
            .filter(|node| !self.text(**node).starts_with("////"));
        let text: Vec<_> = comments
            .map(|comment| sentence::bare(self.text(*comment)))
            .collect();
        sentence::first(&text.join("\n"))
    }
}

/// The beginning of a text, as much of it as is kept.
pub(super) fn cut(text: &str) -> &str {
    cut_to(text, LONGEST)
}

fn cut_to(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The line of a node, from 1.
pub(super) fn line_of(node: Node<'_>) -> u32 {
    node.start_position().row as u32 + 1
}

/// The row that a node ends on; one that ends with its line break ends on the row before.
fn last_row_of(node: Node<'_>) -> usize {
    let end = node.end_position();
    end.row.saturating_sub(usize::from(end.column == 0))
}

/// The arguments of a call.
pub(super) fn arguments_of(call: Node<'_>) -> Vec<Node<'_>> {
    call.child_by_field_name("arguments")
        .map(named_children)
        .unwrap_or_default()
}

/// The named children of a node, comments left out.
pub(super) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk())
        .filter(|child| !child.kind().contains("comment"))
        .collect()
}

/// The first named child of this kind.
pub(super) fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    node.named_children(&mut node.walk())
        .find(|child| child.kind() == kind)
}

/// `OutputFormat` and `output_format` as a command line writes them: `output-format`.
pub(super) fn kebab(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len() + 2);
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && after_lower {
            kebab.push('-');
        }
        after_lower = c.is_lowercase() || c.is_ascii_digit();
        if c == '_' {
            kebab.push('-');
        } else {
            kebab.extend(c.to_lowercase());
        }
    }
    kebab.trim_matches('-').to_owned()
}

/// Whether a file is one that only tests are in, by the customs of its name.
fn is_test_file(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let named = stem.starts_with("test_") || stem.ends_with("_test") || stem.ends_with("Test");
    let spec = [".test.", ".spec."].iter().any(|mark| name.contains(mark));
    named || spec || parts.any(|part| matches!(part, "test" | "tests" | "__tests__"))
}

/// The methods of HTTP that frameworks name functions after.
pub(super) fn is_http_method(name: &str) -> bool {
    ["get", "post", "put", "delete", "patch", "head", "options"]
        .iter()
        .any(|method| name.eq_ignore_ascii_case(method))
}
