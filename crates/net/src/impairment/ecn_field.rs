//! Paths that write the ECN field anew.
//!
//! Models routers that take the whole former type-of-service octet for theirs, as measured on the Internet (Mandalari et
//! al., "Measuring ECN++: good news for ++, bad news for ECN over mobile", IEEE Communications Magazine, 2018; RFC 9768
//! section 3.2.2 names them "mangling"): bleaching to Not-ECT, marks that are erased, and marks on all. Packets that are not ECN-capable
//! stay as they are. Left out: routers that drop what asks for ECN (a `script` does), DSCPs, TCP's flags.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::{Ecn, Header};

/// What the ECN field of a packet that is ECN-capable becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnField {
    /// Not-ECT: bleached. Nothing can be marked from there on, and what was is not told.
    NotEct,
    /// ECT(0), whatever it was: marks are erased, and ECT(1) with them.
    Ect0,
    /// CE: all are marked.
    Ce,
}

impl EcnField {
    /// Writes a packet's field anew.
    pub fn write(self, header: &mut Header) {
        if header.ecn != Ecn::NotEct {
            header.ecn = match self {
                EcnField::NotEct => Ecn::NotEct,
                EcnField::Ect0 => Ecn::Ect0,
                EcnField::Ce => Ecn::Ce,
            };
        }
    }
}
