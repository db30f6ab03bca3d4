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

/// What is wrong with a course of steps that hold from these times on, in the order of the file, and begins anew after
/// `period`, if it does; `steps` is their key.
pub(crate) fn course(steps: &str, from: &[Duration], period: Option<Duration>) -> Vec<Finding> {
    let back = from.windows(2).position(|pair| pair[1] <= pair[0]);
    let back = back.map(|i| {
        Finding::new(
            format!("{steps}[{}].from", i + 1),
            format!("{} is not after {}", from[i + 1], from[i]),
            "steps in order",
        )
    });
    let last = from.last().copied().unwrap_or_default();
    let period = period.and_then(|period| match period <= last {
        true => Some(Finding::new(
            "period",
            format!("the last step, from {last}, would never hold"),
            "a time after the last step's",
        )),
        false => too_short("period", period),
    });
    back.into_iter().chain(period).collect()
}
