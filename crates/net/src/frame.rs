//! Frames on the wire, and what they cost there.
