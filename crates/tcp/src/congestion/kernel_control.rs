//! A congestion control that is a real kernel's own: one of a user's, or one that nobody has modelled.
//!
//! Scenarios write `kernel:NAME`, so that a slip of the pen in the name of a modelled one stays an error. Only real
//! hosts can run it; they say themselves whether they have it. Its name is as long as Linux allows (TCP_CA_NAME_MAX of
//! include/net/tcp.h, 16 with the zero at its end).

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// What its name in a scenario begins with.
const PREFIX: &str = "kernel:";
/// Characters that Linux has room for.
const CHARACTERS_MAX: usize = 15;
/// The same with the prefix.
const BYTES_MAX: usize = PREFIX.len() + CHARACTERS_MAX;

/// A congestion control that a kernel has, by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Cow<'_, str>", into = "String")]
pub struct KernelControl {
    /// The name with its prefix, then zeros.
    text: [u8; BYTES_MAX],
    bytes: u8,
}

/// A text that names no kernel's congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidControl(String);

impl fmt::Display for InvalidControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} names no congestion control of a kernel: after \"{PREFIX}\" come 1 to {CHARACTERS_MAX} letters, \
             digits, points, hyphens or underscores",
            self.0
        )
    }
}

impl std::error::Error for InvalidControl {}

impl KernelControl {
    /// As scenarios and tables write it, `kernel:NAME`.
    #[must_use]
    pub fn name(&self) -> &str {
        let text = &self.text[..usize::from(self.bytes)];
        // It was a text when it was read.
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// As the kernel writes it.
    #[must_use]
    pub fn linux_name(&self) -> &str {
        self.name().strip_prefix(PREFIX).unwrap_or_default()
    }
}

impl std::str::FromStr for KernelControl {
    type Err = InvalidControl;

    fn from_str(text: &str) -> Result<Self, InvalidControl> {
        let is_part = |c: u8| c.is_ascii_alphanumeric() || b"._-".contains(&c);
        let is_name =
            |name: &str| (1..=CHARACTERS_MAX).contains(&name.len()) && name.bytes().all(is_part);
        if !text.strip_prefix(PREFIX).is_some_and(is_name) {
            return Err(InvalidControl(text.to_owned()));
        }
        let mut control = KernelControl {
            text: [0; BYTES_MAX],
            bytes: text.len() as u8,
        };
        control.text[..text.len()].copy_from_slice(text.as_bytes());
        Ok(control)
    }
}

impl TryFrom<Cow<'_, str>> for KernelControl {
    type Error = InvalidControl;

    fn try_from(text: Cow<'_, str>) -> Result<Self, InvalidControl> {
        text.parse()
    }
}

impl From<KernelControl> for String {
    fn from(control: KernelControl) -> String {
        control.name().to_owned()
    }
}

impl fmt::Debug for KernelControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl JsonSchema for KernelControl {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "KernelControl".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "tailback-KernelControl",
            "pattern": format!("^{PREFIX}[A-Za-z0-9._-]{{1,{CHARACTERS_MAX}}}$"),
            "examples": ["kernel:NAME"],
        })
    }
}

/// Names of modelled ones and of kernels' exclude each other, which schemars does not know.
pub(super) fn one_of(schema: &mut Schema) {
    if let Some(choices) = schema.remove("anyOf") {
        schema.insert("oneOf".to_owned(), choices);
    }
}

#[cfg(test)]
#[path = "kernel_control_tests.rs"]
mod tests;
