//! Result tables as plain columns; the writer turns them into files.

/// One table of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The table's name, which is its file's name too.
    pub name: &'static str,
    /// Its columns, all of the same length.
    pub columns: Vec<Column>,
}

/// One column; its name ends in its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// Its values.
    pub data: ColumnData,
}

/// The values of a column.
#[derive(Clone, Debug)]
pub enum ColumnData {
    /// Counts.
    U64(Vec<u64>),
    /// Measures; NaN where there is none.
    F64(Vec<f64>),
    /// Names.
    Str(Vec<String>),
    /// Yes or no.
    Bool(Vec<bool>),
}

/// To the last bit: what is measured nowhere (NaN) is the same in both.
impl PartialEq for ColumnData {
    fn eq(&self, other: &ColumnData) -> bool {
        match (self, other) {
            (ColumnData::U64(a), ColumnData::U64(b)) => a == b,
            (ColumnData::F64(a), ColumnData::F64(b)) => a
                .iter()
                .map(|v| v.to_bits())
                .eq(b.iter().map(|v| v.to_bits())),
            (ColumnData::Str(a), ColumnData::Str(b)) => a == b,
            (ColumnData::Bool(a), ColumnData::Bool(b)) => a == b,
            _ => false,
        }
    }
}

impl Table {
    pub(crate) fn new(name: &'static str) -> Table {
        Table {
            name,
            columns: Vec::new(),
        }
    }

    pub(crate) fn counts(mut self, name: &str, values: impl IntoIterator<Item = u64>) -> Table {
        self.push(name, ColumnData::U64(values.into_iter().collect()));
        self
    }

    pub(crate) fn measures(mut self, name: &str, values: impl IntoIterator<Item = f64>) -> Table {
        self.push(name, ColumnData::F64(values.into_iter().collect()));
        self
    }

    pub(crate) fn names(mut self, name: &str, values: impl IntoIterator<Item = String>) -> Table {
        self.push(name, ColumnData::Str(values.into_iter().collect()));
        self
    }

    pub(crate) fn flags(mut self, name: &str, values: impl IntoIterator<Item = bool>) -> Table {
        self.push(name, ColumnData::Bool(values.into_iter().collect()));
        self
    }

    fn push(&mut self, name: &str, data: ColumnData) {
        self.columns.push(Column {
            name: name.to_owned(),
            data,
        });
    }

    /// Adds another table's rows; columns that only one of them has go.
    pub(crate) fn append(&mut self, mut more: Table) {
        self.columns.retain_mut(|column| {
            let other = more.columns.iter_mut().find(|c| c.name == column.name);
            match (&mut column.data, other.map(|c| &mut c.data)) {
                (ColumnData::U64(rows), Some(ColumnData::U64(more))) => rows.append(more),
                (ColumnData::F64(rows), Some(ColumnData::F64(more))) => rows.append(more),
                (ColumnData::Str(rows), Some(ColumnData::Str(more))) => rows.append(more),
                (ColumnData::Bool(rows), Some(ColumnData::Bool(more))) => rows.append(more),
                _ => return false,
            }
            true
        });
    }

    /// Keeps the rows whose value of that column is wanted; all if there is no such measure.
    pub(crate) fn retain(&mut self, name: &str, wanted: impl Fn(f64) -> bool) {
        let Some(ColumnData::F64(values)) = self.column(name) else {
            return;
        };
        let kept: Vec<bool> = values.iter().map(|value| wanted(*value)).collect();
        for column in &mut self.columns {
            column.data.retain(&kept);
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.data.len())
    }

    /// The column of that name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnData> {
        self.columns
            .iter()
            .find(|c| c.name == name)
            .map(|c| &c.data)
    }
}

impl ColumnData {
    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            ColumnData::U64(v) => v.len(),
            ColumnData::F64(v) => v.len(),
            ColumnData::Str(v) => v.len(),
            ColumnData::Bool(v) => v.len(),
        }
    }

    fn retain(&mut self, kept: &[bool]) {
        fn of<T>(values: &mut Vec<T>, kept: &[bool]) {
            let mut kept = kept.iter();
            values.retain(|_| kept.next().is_none_or(|kept| *kept));
        }
        match self {
            ColumnData::U64(v) => of(v, kept),
            ColumnData::F64(v) => of(v, kept),
            ColumnData::Str(v) => of(v, kept),
            ColumnData::Bool(v) => of(v, kept),
        }
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
