//! What contradicts itself in token buckets: a link's policer, and traces of kind `shaper`.

use tailback_net::frame::{ETHERNET_BYTES, GAP_BYTES};
use tailback_net::link::LinkConfig;
use tailback_net::token_bucket::TokenBucketConfig;
use tailback_units::{Bytes, Rate};

use crate::problem::Finding;

/// A bucket that never fills.
pub(crate) fn findings(bucket: &TokenBucketConfig) -> Vec<Finding> {
    let empty =
        |path, is: bool| is.then(|| Finding::new(path, "nothing would ever go", "more than zero"));
    let found = [
        empty("rate", bucket.rate == Rate::default()),
        empty("burst", bucket.burst == Bytes::default()),
    ];
    found.into_iter().flatten().collect()
}

/// Of a link's policer.
pub(crate) fn policer(link: &LinkConfig) -> Vec<Finding> {
    let Some(bucket) = link.impairment.as_ref().and_then(|i| i.policer.as_ref()) else {
        return Vec::new();
    };
    let mut found = findings(bucket);
    if found.is_empty() {
        found.extend(too_shallow("burst", bucket, link));
    }
    found
        .into_iter()
        .map(|finding| finding.within("impairment.policer"))
        .collect()
}

/// A bucket that holds less than the link's longest frame, which would never go.
pub(crate) fn too_shallow(
    path: &str,
    bucket: &TokenBucketConfig,
    link: &LinkConfig,
) -> Option<Finding> {
    let frame_bytes = link.mtu.get().saturating_add(ETHERNET_BYTES.into());
    let longest = bucket.counted_bytes(frame_bytes);
    let longest = Bytes::new(longest);
    let none = bucket.burst == Bytes::default(); // which is told by itself
    (!none && bucket.burst < longest).then(|| {
        Finding::new(
            path,
            format!(
                "frames of up to {longest} would never go: no more than {} do at once",
                bucket.burst
            ),
            format!("a burst of {longest} or more"),
        )
    })
}

/// A policer that its link's rate keeps from ever having to drop.
pub(crate) fn never_binds(link: &LinkConfig) -> Option<Finding> {
    let bucket = link.impairment.as_ref()?.policer.as_ref()?;
    (bucket.rate >= link.rate && bucket.overhead_bytes <= GAP_BYTES as i16).then(|| {
        Finding::new(
            "impairment.policer.rate",
            format!("the link itself has {}: nothing is ever dropped", link.rate),
            "a rate below the link's, or no policer",
        )
    })
}
