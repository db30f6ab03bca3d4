//! Tables as Arrow IPC streams, which Polars reads without a copy of its own.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema};
use tailback_sim::{ColumnData, Table};

/// The table as one Arrow IPC stream with one record batch.
///
/// Counts become signed: the difference of two counts must not wrap around in a frame.
///
/// # Errors
/// A count of 2^63 or more, or columns of different lengths.
pub(crate) fn to_ipc(table: &Table) -> Result<Vec<u8>, ArrowError> {
    let mut fields = Vec::with_capacity(table.columns.len());
    let mut arrays = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let array = to_array(&column.data)?;
        fields.push(Field::new(&column.name, array.data_type().clone(), false));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays)?;
    let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
    writer.write(&batch)?;
    writer.into_inner()
}

fn to_array(data: &ColumnData) -> Result<ArrayRef, ArrowError> {
    Ok(match data {
        ColumnData::U64(values) => Arc::new(Int64Array::from(signed(values)?)),
        ColumnData::F64(values) => Arc::new(Float64Array::from(values.clone())),
        ColumnData::Str(values) => Arc::new(StringArray::from_iter_values(values)),
        ColumnData::Bool(values) => Arc::new(BooleanArray::from(values.clone())),
    })
}

fn signed(values: &[u64]) -> Result<Vec<i64>, ArrowError> {
    let fits = |&value: &u64| {
        i64::try_from(value)
            .map_err(|_| ArrowError::ComputeError(format!("{value} does not fit 64 bits, signed")))
    };
    values.iter().map(fits).collect()
}
