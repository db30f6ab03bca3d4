//! The scenarios that come with Tailback.

/// Name, path from the project's root, and text of each built-in scenario.
pub const BUILT_IN: &[(&str, &str, &str)] = &[
    (
        "incast-8mb",
        "scenarios/incast/incast-8mb.toml",
        include_str!("../../../scenarios/incast/incast-8mb.toml"),
    ),
    (
        "incast-4mb",
        "scenarios/incast/incast-4mb.toml",
        include_str!("../../../scenarios/incast/incast-4mb.toml"),
    ),
    (
        "incast-striped",
        "scenarios/incast/incast-striped.toml",
        include_str!("../../../scenarios/incast/incast-striped.toml"),
    ),
    (
        "incast-rto",
        "scenarios/incast/incast-rto.toml",
        include_str!("../../../scenarios/incast/incast-rto.toml"),
    ),
    (
        "incast-rto-dctcp",
        "scenarios/incast/incast-rto-dctcp.toml",
        include_str!("../../../scenarios/incast/incast-rto-dctcp.toml"),
    ),
    (
        "ecn-switch",
        "scenarios/ecn-switch/ecn-switch.toml",
        include_str!("../../../scenarios/ecn-switch/ecn-switch.toml"),
    ),
    (
        "tcp-parity",
        "scenarios/parity/tcp-parity.toml",
        include_str!("../../../scenarios/parity/tcp-parity.toml"),
    ),
    (
        "congestion-parity",
        "scenarios/parity/congestion-parity.toml",
        include_str!("../../../scenarios/parity/congestion-parity.toml"),
    ),
];
