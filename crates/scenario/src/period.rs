//! What happens again and again, and how often at most.

use tailback_units::Duration;

use crate::problem::Finding;

/// Timers of cards and switches go in microseconds (QCN's and DCQCN's in tens of them). With much shorter ones a run would
/// practically never end.
pub(crate) const SHORTEST: Duration = Duration::from_us(1);

/// What is wrong with doing something every `time`.
pub(crate) fn too_short(path: &str, time: Duration) -> Option<Finding> {
    (time < SHORTEST).then(|| {
        Finding::new(
            path,
            format!("every {time} there is time for nothing else, and the run hardly ends"),
            format!("at least {SHORTEST}"),
        )
    })
}

/// The same where zero stands for never.
pub(crate) fn too_short_but_zero(path: &str, time: Duration) -> Option<Finding> {
    let mut finding = too_short(path, time).filter(|_| !time.is_zero())?;
    finding.remedy += ", or \"0s\" for none";
    Some(finding)
}
