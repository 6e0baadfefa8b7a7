//! Conversion between Rust values and columns.

use grov_domain::{
    ActionType, AgentId, CallOutcome, ClientSessionId, CorrectionId, CorrectionLevel, CorrectionOutcome,
    DriftEventId, DriftType, ExchangeId, ExchangeKind, GoalEditId, GoalEditKind, GuardVerdict, HistoryKey,
    JudgedBy, LinkState, LlmCallId, MemoryEdits, MemoryItemId, MemoryStatus, MemoryType, MicroUsd,
    ModelScreening, Outcome, Purpose, RequestEdits, SessionId, SessionMode, SessionStatus, SharedKind,
    SideRequest, StepId, StepOutcome, StoreError, TaskId, TaskStatus, TaskType, TriggerReason,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::error::BoxDynError;
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteRow, SqliteValueRef};
use sqlx::{Arguments, ColumnIndex, Decode, Encode, Row, SqlSafeStr, Type, ValueRef};
use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;
use time::OffsetDateTime;

/// The values of a statement.
#[derive(Default)]
pub(super) struct Values {
    arguments: SqliteArguments,
    fault: Option<BoxDynError>,
}

impl Values {
    pub(super) fn add<T: ToColumn + ?Sized>(&mut self, value: &T) {
        value.add_to(self);
    }

    fn push<'t, T: Encode<'t, Sqlite> + Type<Sqlite>>(&mut self, value: T) {
        // Encoding these types does not fail. If it does, the statement is not run.
        if let Err(fault) = self.arguments.add(value) {
            self.fault = Some(fault);
        }
    }

    fn push_null(&mut self) {
        self.push(None::<i64>);
    }

    /// Returns the statement with these values.
    pub(super) fn query<'q>(
        self,
        sql: impl SqlSafeStr,
    ) -> Result<Query<'q, Sqlite, SqliteArguments>, StoreError> {
        match self.fault {
            Some(fault) => Err(StoreError::Other(format!("cannot write a value: {fault}"))),
            None => Ok(sqlx::query_with(sql, self.arguments)),
        }
    }
}

/// The values of a statement, in the order of its parameters.
macro_rules! params {
    ($($value:expr),* $(,)?) => {{
        #[allow(unused_mut, reason = "there may be no values")]
        let mut values = $crate::sqlite::columns::Values::default();
        $(values.add(&$value);)*
        values
    }};
}
pub(super) use params;

/// A value that can be written to a column.
pub(super) trait ToColumn {
    fn add_to(&self, values: &mut Values);
}

/// A value that can be read from a column.
pub(super) trait FromColumn: Sized {
    /// Reads a value that is not NULL.
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError>;

    /// Returns the value for NULL; an error by default.
    fn from_null() -> Result<Self, BoxDynError> {
        Err("it is NULL".into())
    }

    /// Returns the value of an optional column that this version cannot decode.
    fn from_unknown(error: BoxDynError) -> Result<Option<Self>, BoxDynError> {
        Err(error)
    }
}

/// Reads columns. A value that cannot be decoded is an error, because only this crate writes the database.
pub(super) trait RowExt {
    /// Reads a column by name or number.
    fn read<T: FromColumn>(&self, column: impl ColumnIndex<SqliteRow> + Display) -> Result<T, StoreError>;

    /// Borrows the text of a column; `None` for NULL.
    fn text(&self, column: &'static str) -> Result<Option<&str>, StoreError>;
}

impl RowExt for SqliteRow {
    fn read<T: FromColumn>(&self, column: impl ColumnIndex<SqliteRow> + Display) -> Result<T, StoreError> {
        let value = self
            .try_get_raw(&column)
            .map_err(|error| damaged(&column, &error))?;
        let read = if value.is_null() {
            T::from_null()
        } else {
            T::from_value(value)
        };
        read.map_err(|error| damaged(&column, &error))
    }

    fn text(&self, column: &'static str) -> Result<Option<&str>, StoreError> {
        self.try_get(column).map_err(|error| damaged(&column, &error))
    }
}

pub(super) fn damaged(column: &dyn Display, error: &dyn Display) -> StoreError {
    StoreError::Other(format!("column {column} has an invalid value: {error}"))
}

/// Builds a struct from the columns named like its fields. Other fields are given as `field: value`.
macro_rules! from_row {
    ($row:ident => $type:ident { $($field:ident $(: $value:expr)?),* $(,)? }) => {
        $type { $($field: $crate::sqlite::columns::from_row!(@ $row $field $($value)?)),* }
    };
    (@ $row:ident $field:ident) => { $row.read(stringify!($field))? };
    (@ $row:ident $field:ident $value:expr) => { $value };
}
pub(super) use from_row;

impl<T: ToColumn + ?Sized> ToColumn for &T {
    fn add_to(&self, values: &mut Values) {
        (**self).add_to(values);
    }
}

impl<T: ToColumn> ToColumn for Option<T> {
    fn add_to(&self, values: &mut Values) {
        match self {
            Some(value) => value.add_to(values),
            None => values.push_null(),
        }
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        T::from_value(value).map(Some).or_else(T::from_unknown)
    }

    fn from_null() -> Result<Self, BoxDynError> {
        Ok(None)
    }
}

impl ToColumn for str {
    fn add_to(&self, values: &mut Values) {
        values.push(Arc::<str>::from(self));
    }
}

impl ToColumn for String {
    fn add_to(&self, values: &mut Values) {
        self.as_str().add_to(values);
    }
}

impl ToColumn for Cow<'_, str> {
    fn add_to(&self, values: &mut Values) {
        (**self).add_to(values);
    }
}

/// Text shared by several rows. Each value is sent to the connection's thread, so copying costs noticeable time.
impl ToColumn for Arc<str> {
    fn add_to(&self, values: &mut Values) {
        values.push(Arc::clone(self));
    }
}

impl FromColumn for String {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        <&str as Decode<'_, Sqlite>>::decode(value).map(ToOwned::to_owned)
    }
}

/// Plain values: the stored type, and the conversions to and from it.
macro_rules! column {
    ($($type:ty as $stored:ty: |$value:ident| $to:expr, |$read:ident| $from:expr;)*) => {
        $(
            impl ToColumn for $type {
                fn add_to(&self, values: &mut Values) {
                    let $value = *self;
                    values.push::<$stored>($to);
                }
            }

            impl FromColumn for $type {
                fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
                    let $read = <$stored as Decode<'_, Sqlite>>::decode(value)?;
                    $from
                }
            }
        )*
    };
}

column! {
    i64 as i64: |value| value, |stored| Ok(stored);
    bool as i64: |value| i64::from(value), |stored| Ok(stored != 0);
    u8 as i64: |value| i64::from(value), |stored| Ok(u8::try_from(stored)?);
    u32 as i64: |value| i64::from(value), |stored| Ok(u32::try_from(stored)?);
    u64 as i64: |value| integer(value), |stored| Ok(u64::try_from(stored).unwrap_or(0));
    usize as i64: |value| integer(value as u64), |stored| Ok(usize::try_from(stored)?);
    MicroUsd as i64: |value| integer(value.0), |stored| Ok(MicroUsd(u64::try_from(stored).unwrap_or(0)));
    OffsetDateTime as i64: |value| millis(value), |stored| time(stored);
}

/// Identifiers, stored as text.
macro_rules! ids {
    ($($type:ident),* $(,)?) => {
        $(
            impl ToColumn for $type {
                fn add_to(&self, values: &mut Values) {
                    self.as_str().add_to(values);
                }
            }

            impl FromColumn for $type {
                fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
                    String::from_value(value).map(Self::new)
                }
            }
        )*
    };
}

ids! {
    AgentId, ClientSessionId, CorrectionId, DriftEventId, ExchangeId, GoalEditId, LlmCallId, SessionId, StepId, TaskId,
}

/// Values stored by name. In an optional column, an unknown name is read as `None`.
macro_rules! names {
    ($parse:expr; $($type:ident),* $(,)?) => {
        $(
            impl ToColumn for $type {
                fn add_to(&self, values: &mut Values) {
                    values.push::<&'static str>(self.as_str());
                }
            }

            impl FromColumn for $type {
                fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
                    let name = <&str as Decode<'_, Sqlite>>::decode(value)?;
                    $parse(name).ok_or_else(|| format!("unknown name {name:?}").into())
                }

                fn from_unknown(_: BoxDynError) -> Result<Option<Self>, BoxDynError> {
                    Ok(None)
                }
            }
        )*
    };
}

names! { |name| Some(Self::from_name(name).unwrap_or_default()); ActionType }
names! {
    Self::from_name;
    CallOutcome, CorrectionLevel, CorrectionOutcome, DriftType, GoalEditKind, GuardVerdict, JudgedBy, LinkState, MemoryStatus,
    MemoryType, Outcome, Purpose,
    SessionMode, SessionStatus, SharedKind, StepOutcome, TaskStatus, TaskType, TriggerReason,
}

impl ToColumn for ExchangeKind {
    fn add_to(&self, values: &mut Values) {
        self.as_str().add_to(values);
    }
}

impl FromColumn for ExchangeKind {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        let name = <&str as Decode<'_, Sqlite>>::decode(value)?;
        // A newer version may store other kinds.
        Ok(Self::from_name(name).unwrap_or(Self::Side(SideRequest::Other)))
    }
}

impl ToColumn for MemoryItemId {
    fn add_to(&self, values: &mut Values) {
        self.to_string().add_to(values);
    }
}

impl FromColumn for MemoryItemId {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(<&str as Decode<'_, Sqlite>>::decode(value)?.parse()?)
    }
}

impl ToColumn for HistoryKey {
    fn add_to(&self, values: &mut Values) {
        values.push(self.0.to_be_bytes().to_vec());
    }
}

impl FromColumn for HistoryKey {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self(u128::from_be_bytes(
            <&[u8] as Decode<'_, Sqlite>>::decode(value)?.try_into()?,
        )))
    }
}

/// Bytes.
pub(super) struct Blob(pub(super) Vec<u8>);

impl ToColumn for Blob {
    fn add_to(&self, values: &mut Values) {
        values.push(self.0.clone());
    }
}

impl FromColumn for Blob {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        <Vec<_> as Decode<'_, Sqlite>>::decode(value).map(Self)
    }
}

/// A value stored as JSON.
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> ToColumn for Json<&T> {
    fn add_to(&self, values: &mut Values) {
        match serde_json::to_string(self.0) {
            Ok(json) => values.push(json),
            Err(error) => values.fault = Some(error.into()),
        }
    }
}

impl<T: DeserializeOwned> FromColumn for Json<T> {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self(serde_json::from_str(<&str as Decode<'_, Sqlite>>::decode(
            value,
        )?)?))
    }
}

/// Edits are stored as JSON; none as NULL.
impl ToColumn for MemoryEdits {
    fn add_to(&self, values: &mut Values) {
        if self.is_empty() {
            values.push_null();
        } else {
            Json(self).add_to(values);
        }
    }
}

impl FromColumn for MemoryEdits {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        Json::from_value(value).map(|Json(edits)| edits)
    }

    fn from_null() -> Result<Self, BoxDynError> {
        Ok(Self::default())
    }
}

impl ToColumn for ModelScreening {
    fn add_to(&self, values: &mut Values) {
        Json(self).add_to(values);
    }
}

impl FromColumn for ModelScreening {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        Json::from_value(value).map(|Json(screening)| screening)
    }

    // A kind of harm that this version does not know: the text is judged again.
    fn from_unknown(_: BoxDynError) -> Result<Option<Self>, BoxDynError> {
        Ok(None)
    }
}

impl ToColumn for RequestEdits {
    fn add_to(&self, values: &mut Values) {
        Json(self).add_to(values);
    }
}

impl FromColumn for RequestEdits {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        Json::from_value(value).map(|Json(edits)| edits)
    }
}

/// Lists are stored as JSON; an empty list as NULL.
impl<T: Serialize> ToColumn for [T] {
    fn add_to(&self, values: &mut Values) {
        if self.is_empty() {
            values.push_null();
        } else {
            Json(&self).add_to(values);
        }
    }
}

impl<T: Serialize> ToColumn for Vec<T> {
    fn add_to(&self, values: &mut Values) {
        self.as_slice().add_to(values);
    }
}

impl<T: DeserializeOwned> FromColumn for Vec<T> {
    fn from_value(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        Json::from_value(value).map(|Json(list)| list)
    }

    fn from_null() -> Result<Self, BoxDynError> {
        Ok(Self::new())
    }
}

/// Converts a time to its stored form: Unix milliseconds, rounded down.
pub(super) fn millis(time: OffsetDateTime) -> i64 {
    let millis = time.unix_timestamp_nanos().div_euclid(1_000_000);
    i64::try_from(millis).unwrap_or(if millis < 0 { i64::MIN } else { i64::MAX })
}

/// A duration in milliseconds.
pub(super) fn duration_millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Converts a count to its stored form.
pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn time(millis: i64) -> Result<OffsetDateTime, BoxDynError> {
    Ok(OffsetDateTime::from_unix_timestamp_nanos(
        i128::from(millis) * 1_000_000,
    )?)
}

/// Writes and reads a struct whose fields are named like the columns. An existing row with the same key is updated:
/// each column is replaced, or set to the given expression.
macro_rules! record {
    (
        $type:ident in $table:literal, key ($first_key:ident $(, $key:ident)*);
        $first:ident $(= $first_set:literal)? $(, $column:ident $(= $set:literal)?)* $(,)?
    ) => {
        impl $crate::sqlite::columns::Record for $type {
            const UPSERT: $crate::sqlite::insert::Insert = $crate::sqlite::insert::Insert {
                into: concat!("INSERT INTO ", $table),
                columns: &[
                    stringify!($first_key) $(, stringify!($key))*, stringify!($first) $(, stringify!($column))*
                ],
                tail: concat!(
                    "ON CONFLICT (", stringify!($first_key) $(, ", ", stringify!($key))*, ") DO UPDATE SET ",
                    $crate::sqlite::columns::record!(@set $first $($first_set)?) $(, ", ", record!(@set $column $($set)?))*
                ),
            };

            fn bind(&self, values: &mut $crate::sqlite::columns::Values) {
                values.add(&self.$first_key);
                $(values.add(&self.$key);)*
                values.add(&self.$first);
                $(values.add(&self.$column);)*
            }

            fn from_row(row: &sqlx::sqlite::SqliteRow) -> Result<Self, grov_domain::StoreError> {
                use $crate::sqlite::columns::RowExt;
                Ok($crate::sqlite::columns::from_row!(row => $type {
                    $first_key $(, $key)*, $first $(, $column)*
                }))
            }
        }
    };
    (@set $column:ident) => { concat!(stringify!($column), " = excluded.", stringify!($column)) };
    (@set $column:ident $set:literal) => { concat!(stringify!($column), " = ", $set) };
}
pub(super) use record;

/// A struct that is one row of a table; see [`record!`].
pub(super) trait Record: Sized {
    const UPSERT: super::insert::Insert;

    fn bind(&self, values: &mut Values);

    fn from_row(row: &SqliteRow) -> Result<Self, StoreError>;
}
