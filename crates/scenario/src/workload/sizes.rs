//! Distributions of the sizes of flows, requests and answers: those published, and one's own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::sizes::Distribution;
use tailback_units::Bytes;

use super::pareto;
use crate::path;
use crate::problem::Finding;

/// How large flows are, or requests, or answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sizes {
    /// A production cluster for web search (Alizadeh et al., SIGCOMM 2010, figure 4); mean 1.7 MB.
    WebSearch {},
    /// A cluster for data mining (Greenberg et al., SIGCOMM 2009, figure 2); mean 7.5 MB.
    DataMining {},
    /// All the same.
    Fixed {
        /// The size.
        bytes: Bytes,
    },
    /// A bounded Pareto distribution: many small, few large.
    Pareto {
        /// The smallest size.
        least: Bytes,
        /// The largest size.
        most: Bytes,
        /// The shape: the smaller, the more of the bytes are in the large ones.
        #[schemars(range(min = 0.1, max = 10.0))]
        shape: f64,
    },
    /// A distribution of one's own.
    Points {
        /// Its points, sizes and shares rising, the last share 1.
        #[schemars(length(min = 2))]
        points: Vec<SizePoint>,
    },
    /// The same from a file, which stands for its points: a line a point, a size in bytes and the share
    /// (or percent) of flows no larger.
    File {
        /// The file, relative to the scenario's own.
        path: String,
    },
}

/// A point of a distribution of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizePoint {
    /// A size.
    pub bytes: Bytes,
    /// The share of flows, or of messages, no larger.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
}

/// The points below are in segments of so many bytes.
const SEGMENT_BYTES: u64 = 1460;

/// Segments and share of flows no larger: the points that pFabric's simulations read off the paper's
/// figure (Alizadeh et al., SIGCOMM 2013).
const WEB_SEARCH: [(u64, f64); 12] = [
    (1, 0.0),
    (6, 0.15),
    (13, 0.2),
    (19, 0.3),
    (33, 0.4),
    (53, 0.53),
    (133, 0.6),
    (667, 0.7),
    (1333, 0.8),
    (3333, 0.9),
    (6667, 0.97),
    (20_000, 1.0),
];

/// Likewise.
const DATA_MINING: [(u64, f64); 9] = [
    (1, 0.0),
    (1, 0.5),
    (2, 0.6),
    (3, 0.7),
    (7, 0.8),
    (267, 0.9),
    (2107, 0.95),
    (66_667, 0.99),
    (666_667, 1.0),
];

impl Sizes {
    pub(super) fn distribution(&self) -> Distribution {
        let segments = |points: &[(u64, f64)]| -> Vec<(u64, f64)> {
            points
                .iter()
                .map(|(n, p)| (n * SEGMENT_BYTES, *p))
                .collect()
        };
        let points = match self {
            Sizes::WebSearch {} => segments(&WEB_SEARCH),
            Sizes::DataMining {} => segments(&DATA_MINING),
            Sizes::Fixed { bytes } => vec![(bytes.get(), 0.0), (bytes.get(), 1.0)],
            Sizes::Pareto { least, most, shape } => pareto::points(least.get(), most.get(), *shape),
            Sizes::Points { points } => points.iter().map(|p| (p.bytes.get(), p.share)).collect(),
            // Refused below where its points have not taken its place.
            Sizes::File { .. } => Vec::new(),
        };
        Distribution::new(points)
    }

    /// What is wrong with those that the key `at` gives.
    pub(super) fn findings(&self, at: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut add = |reason: String, remedy: &str| {
            found.push(Finding::new(path::join(at, "points"), reason, remedy));
        };
        match self {
            Sizes::Fixed { bytes } if bytes.get() == 0 => found.push(Finding::new(
                path::join(at, "bytes"),
                "no bytes to send",
                "a size above zero, such as \"64KB\"",
            )),
            Sizes::Pareto { least, most, .. } if least.get() == 0 || least >= most => {
                found.push(Finding::new(
                    path::join(at, "most"),
                    format!("sizes from {least} to {most} are no range"),
                    "a least size above zero and a larger one",
                ));
            }
            Sizes::File { path } => found.push(Finding::new(
                path::join(at, "path"),
                format!("{path} has not been read"),
                "a file named in a scenario's own text",
            )),
            Sizes::Points { points } if points.len() < 2 => add(
                "fewer than two points are no distribution".to_owned(),
                "at least two points",
            ),
            Sizes::Points { points } => {
                let sorted = points.is_sorted_by(|a, b| a.bytes <= b.bytes && a.share <= b.share);
                if !sorted || points.iter().any(|p| !(0.0..=1.0).contains(&p.share)) {
                    add(
                        "sizes and shares do not rise from 0 to 1".to_owned(),
                        "sizes and shares none less than the one before",
                    );
                } else if points.last().is_some_and(|p| p.share < 1.0) {
                    add(
                        "some are larger than the last point".to_owned(),
                        "a last point with the share 1.0",
                    );
                } else if points.iter().any(|p| p.bytes.get() == 0) {
                    add("no bytes to send".to_owned(), "sizes of at least 1B");
                }
            }
            _ => {}
        }
        found
    }
}

#[cfg(test)]
#[path = "sizes_tests.rs"]
mod tests;
