//! Congestion controls that are not Tailback's: a real kernel's own, and those that a user wrote for modelled hosts.
//!
//! Scenarios write `kernel:NAME` and `python:NAME`, so that a slip of the pen in the name of a modelled one stays an
//! error. Only real hosts can run the former, and say themselves whether they have it; only modelled ones the latter
//! ([`super::own`]). A name is as long as Linux allows (TCP_CA_NAME_MAX of include/net/tcp.h, 16 with the zero at its
//! end).

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Characters that Linux has room for.
const CHARACTERS_MAX: usize = 15;
/// The same with either prefix.
const BYTES_MAX: usize = 7 + CHARACTERS_MAX;

/// A congestion control that is not Tailback's, by name: a kernel's, or a user's own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Cow<'_, str>", into = "String")]
pub struct NamedControl<const OWN: bool> {
    /// The name with its prefix, then zeros.
    text: [u8; BYTES_MAX],
    bytes: u8,
}

/// One that a kernel has.
pub type KernelControl = NamedControl<false>;
/// One of a user's own, at modelled hosts.
pub type OwnName = NamedControl<true>;

/// A text that names no such congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidControl {
    text: String,
    whose: &'static str,
    prefix: &'static str,
}

impl fmt::Display for InvalidControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} names no congestion control {}: after \"{}\" come 1 to {CHARACTERS_MAX} letters, \
             digits, points, hyphens or underscores",
            self.text, self.whose, self.prefix
        )
    }
}

impl std::error::Error for InvalidControl {}

impl<const OWN: bool> NamedControl<OWN> {
    /// What its name in a scenario begins with.
    const PREFIX: &'static str = if OWN { "python:" } else { "kernel:" };

    /// As scenarios and tables write it, with its prefix.
    #[must_use]
    pub fn name(&self) -> &str {
        let text = &self.text[..usize::from(self.bytes)];
        // It was a text when it was read.
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// Without the prefix: as the kernel writes it.
    #[must_use]
    pub fn linux_name(&self) -> &str {
        self.name().strip_prefix(Self::PREFIX).unwrap_or_default()
    }
}

impl<const OWN: bool> std::str::FromStr for NamedControl<OWN> {
    type Err = InvalidControl;

    fn from_str(text: &str) -> Result<Self, InvalidControl> {
        let is_part = |c: u8| c.is_ascii_alphanumeric() || b"._-".contains(&c);
        let is_name =
            |name: &str| (1..=CHARACTERS_MAX).contains(&name.len()) && name.bytes().all(is_part);
        if !text.strip_prefix(Self::PREFIX).is_some_and(is_name) {
            return Err(InvalidControl {
                text: text.to_owned(),
                whose: if OWN { "of one's own" } else { "of a kernel" },
                prefix: Self::PREFIX,
            });
        }
        let mut control = NamedControl {
            text: [0; BYTES_MAX],
            bytes: text.len() as u8,
        };
        control.text[..text.len()].copy_from_slice(text.as_bytes());
        Ok(control)
    }
}

impl<const OWN: bool> TryFrom<Cow<'_, str>> for NamedControl<OWN> {
    type Error = InvalidControl;

    fn try_from(text: Cow<'_, str>) -> Result<Self, InvalidControl> {
        text.parse()
    }
}

impl<const OWN: bool> From<NamedControl<OWN>> for String {
    fn from(control: NamedControl<OWN>) -> String {
        control.name().to_owned()
    }
}

impl<const OWN: bool> fmt::Debug for NamedControl<OWN> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<const OWN: bool> JsonSchema for NamedControl<OWN> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        if OWN { "OwnName" } else { "KernelControl" }.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": format!("tailback-{}", Self::schema_name()),
            "pattern": format!("^{}[A-Za-z0-9._-]{{1,{CHARACTERS_MAX}}}$", Self::PREFIX),
            "examples": [format!("{}NAME", Self::PREFIX)],
        })
    }
}

/// Names of modelled ones, of kernels' and of one's own exclude each other, which schemars does not know.
pub(super) fn one_of(schema: &mut Schema) {
    if let Some(choices) = schema.remove("anyOf") {
        schema.insert("oneOf".to_owned(), choices);
    }
}

#[cfg(test)]
#[path = "named_control_tests.rs"]
mod tests;
