//! Frames singled out by their number in one direction of a link.
//!
//! Deterministic experiments need a loss, a mark or a late frame at a place of their choosing
//! (packetdrill scripts and RFC examples are of this kind).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

use super::Fate;

/// A direction of a link: a link of a star leads from its host to the switch, an explicit one
/// from the first of its `ends` to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the first end to the second.
    Forward,
    /// From the second end to the first.
    Backward,
}

impl Direction {
    /// The other one.
    #[must_use]
    pub fn turned(self) -> Direction {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }
}

/// Which frames a rule counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// All frames.
    All,
    /// Frames with payload.
    #[default]
    Data,
    /// Frames without payload.
    Acks,
}

/// What is done to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FrameAction {
    /// It is lost.
    Drop,
    /// It arrives later, and frames behind it overtake it.
    Delay,
    /// It arrives twice.
    Duplicate,
    /// It arrives with CE, if it is ECN-capable.
    Mark,
}

/// One rule: these frames of this direction suffer this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameRule {
    /// Direction that is meant.
    pub direction: Direction,
    /// Which frames are counted.
    #[serde(default)]
    pub of: Counted,
    /// Numbers of the frames, the first of the run being 1.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub frames: Vec<u64>,
    /// What is done to them.
    pub action: FrameAction,
    /// How much later they arrive, if they are delayed.
    #[serde(default)]
    pub by: Duration,
}

/// The rules of one direction, at work.
#[derive(Clone, Debug)]
pub struct Script {
    all: Pending,
    data: Pending,
    acks: Pending,
}

/// Rules that count alike: (number, fate), ascending, and where they stand.
#[derive(Clone, Debug, Default)]
struct Pending {
    counted: u64,
    next: usize,
    fates: Vec<(u64, Fate)>,
}

impl Script {
    /// The rules of `direction`.
    pub(super) fn new(rules: &[FrameRule], direction: Direction) -> Script {
        let of = |counted| {
            let mut fates: Vec<(u64, Fate)> = rules
                .iter()
                .filter(|rule| rule.direction == direction && rule.of == counted)
                .flat_map(|rule| rule.frames.iter().map(|n| (*n, rule.fate())))
                .collect();
            fates.sort_by_key(|(number, _)| *number);
            fates.dedup_by_key(|(number, _)| *number);
            Pending {
                fates,
                ..Pending::default()
            }
        };
        Script {
            all: of(Counted::All),
            data: of(Counted::Data),
            acks: of(Counted::Acks),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        [&self.all, &self.data, &self.acks]
            .iter()
            .all(|pending| pending.fates.is_empty())
    }

    /// What becomes of the next frame; a rule that counts all frames goes first.
    pub(super) fn fate(&mut self, data: bool) -> Fate {
        let all = self.all.count();
        let own = if data {
            self.data.count()
        } else {
            self.acks.count()
        };
        all.or(own).unwrap_or(Fate::Pass)
    }
}

impl Pending {
    fn count(&mut self) -> Option<Fate> {
        self.counted += 1;
        let (number, fate) = *self.fates.get(self.next)?;
        if number != self.counted {
            return None;
        }
        self.next += 1;
        Some(fate)
    }
}

impl FrameRule {
    fn fate(&self) -> Fate {
        match self.action {
            FrameAction::Drop => Fate::Lost,
            FrameAction::Delay => Fate::Late(self.by),
            FrameAction::Duplicate => Fate::Doubled,
            FrameAction::Mark => Fate::Marked,
        }
    }
}
