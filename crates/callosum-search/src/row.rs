//! [`Row`]: a passage as the index has it, without its text.

/// Reads [`Row`]s; a condition may follow.
pub(super) const ROWS: &str = "SELECT passage.id, collection, place, name, container, kind, first, last, source, public \
                    FROM passage JOIN source ON passage.source = source.id";

/// A passage as the index knows it.
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) collection: String,
    pub(super) place: String,
    pub(super) name: String,
    pub(super) container: Option<String>,
    pub(super) kind: String,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) source: i64,
    /// Whether it declares something that others may use.
    pub(super) public: bool,
}

impl Row {
    pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            collection: row.get(1)?,
            place: row.get(2)?,
            name: row.get(3)?,
            container: row.get(4)?,
            kind: row.get(5)?,
            first: row.get(6)?,
            last: row.get(7)?,
            source: row.get(8)?,
            public: row.get(9)?,
        })
    }
}
