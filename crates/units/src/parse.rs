//! Numbers with units, read exactly and written back exactly.

use std::fmt;

/// A unit's name and how many base units it stands for.
pub(crate) struct Unit {
    name: &'static str,
    scale: u64,
}

impl Unit {
    pub(crate) const fn new(name: &'static str, scale: u64) -> Unit {
        Unit { name, scale }
    }
}

/// Why a text is not a quantity; the message says what was found and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {expected}{hint}")]
pub struct ParseError {
    found: String,
    expected: &'static str,
    hint: String,
}

/// Reads `text` as a decimal number followed by one of `units`, exactly: digits beyond one base
/// unit are an error, and so is a sign.
pub(crate) fn parse(text: &str, units: &[Unit], expected: &'static str) -> Result<u64, ParseError> {
    let error = |hint: &str| ParseError {
        found: text.to_owned(),
        expected,
        hint: if hint.is_empty() {
            String::new()
        } else {
            format!(": {hint}")
        },
    };
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return Err(error("it cannot be negative"));
    }
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let number: String = number.chars().filter(|c| *c != '_').collect();
    let unit = unit.trim();
    if number.is_empty() {
        return Err(error("it does not begin with a number"));
    }
    let Some(unit) = units.iter().find(|u| u.name == unit) else {
        let near = units.iter().find(|u| u.name.eq_ignore_ascii_case(unit));
        return Err(error(&match (unit, near) {
            ("", _) => "the unit is missing".to_owned(),
            (_, Some(near)) => format!("write {:?} for the unit", near.name),
            _ => format!("{unit:?} is not a unit it knows"),
        }));
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let too_large = || error("it is too large");
    let mut value: u128 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| too_large())?
    };
    value = value
        .checked_mul(u128::from(unit.scale))
        .ok_or_else(too_large)?;
    let mut scale = u128::from(unit.scale);
    let mut rest = 0_u128;
    let mut denominator = 1_u128;
    for digit in fraction.trim_end_matches('0').chars() {
        let digit = digit
            .to_digit(10)
            .ok_or_else(|| error("it has two decimal points"))?;
        if denominator > 1_000_000_000_000_000_000 {
            return Err(error("it has too many decimals"));
        }
        rest = rest * 10 + u128::from(digit);
        denominator *= 10;
    }
    scale *= rest;
    if !scale.is_multiple_of(denominator) {
        return Err(error("it is finer than the smallest step"));
    }
    u64::try_from(value + scale / denominator).map_err(|_| too_large())
}

/// Writes `value` in the first (largest) of `units` that divides it; zero in `zero_unit`.
pub(crate) fn write_exact(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    units: &[Unit],
    zero_unit: &str,
) -> fmt::Result {
    if value == 0 {
        return write!(f, "0{zero_unit}");
    }
    match units.iter().find(|u| value.is_multiple_of(u.scale)) {
        Some(unit) => write!(f, "{}{}", value / unit.scale, unit.name),
        None => write!(f, "{value}"),
    }
}

/// Gives a newtype over `u64` its text form: `FromStr`, serde (as a string) and JSON Schema.
macro_rules! quantity {
    ($type:ident, $units:expr, $name:literal, $expected:literal, [$($example:literal),+]) => {
        impl std::str::FromStr for $type {
            type Err = crate::ParseError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                crate::parse::parse(text, $units, $expected).map($type)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "format": concat!("tailback-", $name),
                    "description": $expected,
                    "examples": [$($example),+],
                })
            }
        }
    };
}
pub(crate) use quantity;
