//! The calendar: which component has its next event when.
//!
//! A component (one direction of a link, a port that schedules, an endpoint's timers) has its next
//! event in here and whatever else it holds in a queue of its own. Events order by time, then by
//! the component's rank, which is its fixed number.
//!
//! A calendar queue (R. Brown, CACM 31(10), 1988) in the form of a wheel: time is cut into days of
//! a power of two of picoseconds; the events of each of the next days are an unsorted list, those of the
//! day reached are sorted, those beyond the wheel wait in a heap. The length of a day follows how
//! many events a day has, the number of days how many lie beyond the wheel. None of that shows in the order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailback_units::Time;

/// One event: when, and whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    pub(crate) at: Time,
    pub(crate) rank: u32,
}

/// Where an event waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It comes soon.
    Near,
    /// It comes late: putting it in cost more, and it stays until its time.
    Far,
}

/// No node: the end of a list.
const NONE: u32 = u32::MAX;
/// Days of the wheel of a small world: they stay in the nearest of the processor's caches, and reach as far as
/// most of its links are long.
const DAYS_MIN: usize = 1024;
/// Days of the largest wheel.
const DAYS_MAX: usize = 32_768;
/// Days are looked at this often to see whether their length fits.
const DAYS_PER_REVIEW: u32 = 1024;
/// And whenever so many events have been put beyond the wheel: there may be none on it.
const FAR_PER_REVIEW: u32 = 4096;
/// From so many components on a day holds more events: what they need does not fit the processor's
/// cache (measured with 2 MiB of second level), and whoever looks ahead has it fetched in time.
pub(crate) const CROWD: usize = 4096;
/// So many events has a day of a world that large: of the first few of a day all that they need cannot be
/// fetched in time, and sorting more costs more.
const CROWDED_DAY: u32 = 20;
/// Shortest and longest day: 2^this picoseconds (16 ps, 1 ms).
const SHIFTS: std::ops::RangeInclusive<u32> = 4..=30;

/// An event, and the node of the next of the same day.
#[derive(Clone, Copy, Debug)]
struct Node {
    at: Time,
    rank: u32,
    next: u32,
}

impl Node {
    #[inline(always)]
    fn new(event: Event, next: u32) -> Node {
        let Event { at, rank } = event;
        Node { at, rank, next }
    }

    #[inline(always)]
    fn event(self) -> Event {
        let Node { at, rank, .. } = self;
        Event { at, rank }
    }
}

/// What an empty day holds.
const EMPTY: Node = Node {
    at: Time::NEVER,
    rank: 0,
    next: NONE,
};

/// Days in a week: as many as a word has bits.
const WEEK: usize = 64;

/// So many days in a row.
#[derive(Clone, Debug)]
struct Week {
    /// A bit for each day that has events.
    busy: u64,
    /// For each of those one of its events, and the list of the others in [`Calendar::nodes`].
    days: [Node; WEEK],
}

impl Week {
    const EMPTY: Week = Week {
        busy: 0,
        days: [EMPTY; WEEK],
    };
}

/// No event: later than all.
const NEVER: Event = Event {
    at: Time::NEVER,
    rank: u32::MAX,
};

/// What has happened since the last review of the length of a day.
#[derive(Clone, Copy, Debug, Default)]
struct Review {
    days: u32,
    /// Weeks that have ended.
    weeks: u32,
    /// Events beyond the first of their day.
    more: u32,
    far: u32,
}

/// All events to come.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    /// Events of the day `today` and before it, the latest first.
    sorted: Vec<Event>,
    today: u64,
    /// Where today's week is, and its first day.
    week: usize,
    week_start: u64,
    /// A day has 2^shift picoseconds.
    shift: u32,
    /// The days after `today`, the last week excepted: so none of today's week has yet to come again.
    /// As many weeks as a power of two.
    weeks: Vec<Week>,
    /// Days ahead of tomorrow that the wheel does not reach.
    reach: u64,
    nodes: Vec<Node>,
    /// Nodes not in use.
    free: u32,
    /// Events that a day should have.
    aim: u32,
    far: BinaryHeap<Reverse<Event>>,
    /// When the first of `far` is.
    far_at: Time,
    review: Review,
    /// The day it was when this was last asked.
    asked: u64,
    /// Nothing has been put on the wheel since nothing was found there.
    bare: bool,
}

impl Calendar {
    /// An empty calendar, for about so many components.
    pub(crate) fn new(components: usize) -> Calendar {
        let days = (components / 2)
            .next_power_of_two()
            .clamp(DAYS_MIN, DAYS_MAX);
        // At 10 Gb/s a frame takes about a microsecond: as if each component had one.
        let shift = 21_u32.saturating_sub(components.max(1).ilog2());
        Calendar {
            sorted: Vec::with_capacity(64),
            today: 0,
            week: 0,
            week_start: 0,
            shift: shift.clamp(*SHIFTS.start(), *SHIFTS.end()),
            weeks: vec![Week::EMPTY; days / WEEK],
            reach: (days - WEEK) as u64,
            nodes: Vec::new(),
            free: NONE,
            aim: if components < CROWD { 1 } else { CROWDED_DAY },
            far: BinaryHeap::new(),
            far_at: Time::NEVER,
            review: Review::default(),
            asked: 0,
            bare: false,
        }
    }

    /// Puts an event in. It is not before the last that was taken out.
    #[inline(always)]
    pub(crate) fn schedule(&mut self, rank: u32, at: Time) -> Wait {
        let event = Event { at, rank };
        let day = at.as_ps() >> self.shift;
        // Today and before wrap around to far beyond the wheel.
        if day.wrapping_sub(self.today + 1) >= self.reach {
            return self.schedule_off_wheel(event, day);
        }
        self.bare = false;
        let index = self.week_of(day);
        let week = &mut self.weeks[index];
        let bit = 1 << (day % WEEK as u64);
        if week.busy & bit != 0 {
            self.schedule_beside(event, day);
            return Wait::Near;
        }
        week.busy |= bit;
        week.days[day as usize % WEEK] = Node::new(event, NONE);
        Wait::Near
    }

    /// Where a day's week is.
    #[inline(always)]
    fn week_of(&self, day: u64) -> usize {
        (day / WEEK as u64) as usize & (self.weeks.len() - 1)
    }

    /// An event of a day that has one already.
    #[inline(never)]
    fn schedule_beside(&mut self, event: Event, day: u64) {
        let index = self.free;
        let Some(node) = self.nodes.get_mut(index as usize) else {
            return self.schedule_anew(event, day);
        };
        self.free = node.next;
        let week = (day / WEEK as u64) as usize & (self.weeks.len() - 1);
        let first = &mut self.weeks[week].days[day as usize % WEEK];
        *node = Node::new(event, first.next);
        first.next = index;
    }

    /// All nodes are in use: makes more.
    #[cold]
    fn schedule_anew(&mut self, event: Event, day: u64) {
        let first = self.nodes.len() as u32;
        let more = first.max(64);
        for index in first..first + more {
            let next = if index + 1 < first + more {
                index + 1
            } else {
                NONE
            };
            self.nodes.push(Node::new(event, next));
        }
        self.free = first;
        self.schedule_beside(event, day);
    }

    /// An event of today, or of a day that the wheel does not reach.
    #[inline(never)]
    fn schedule_off_wheel(&mut self, event: Event, day: u64) -> Wait {
        if day <= self.today {
            self.insert_sorted(event);
            return Wait::Near;
        }
        self.schedule_far(event);
        Wait::Far
    }

    #[cold]
    fn schedule_far(&mut self, event: Event) {
        self.far.push(Reverse(event));
        self.far_at = self.far_at.min(event.at);
        self.review.far += 1;
    }

    #[inline]
    fn insert_sorted(&mut self, event: Event) {
        let mut index = self.sorted.len();
        self.sorted.push(event);
        if index == 0 || self.sorted[index - 1] >= event {
            return;
        }
        while index > 0 && self.sorted[index - 1] < event {
            self.sorted[index] = self.sorted[index - 1];
            index -= 1;
        }
        self.sorted[index] = event;
    }

    /// When the earliest event is.
    #[inline(always)]
    pub(crate) fn next_at(&mut self) -> Option<Time> {
        if self.sorted.is_empty() && !self.bare {
            let first = self.turn();
            if first.at == Time::NEVER {
                self.bare = true;
            } else {
                self.sorted.push(first);
            }
        }
        let near = self.sorted.last().map_or(Time::NEVER, |e| e.at);
        let at = near.min(self.far_at);
        (at != Time::NEVER).then_some(at)
    }

    /// Whose event comes after `others` others, as far as that is known without turning the wheel.
    #[inline]
    pub(crate) fn upcoming(&self, others: usize) -> Option<u32> {
        let index = self.sorted.len().checked_sub(others + 1)?;
        self.sorted.get(index).map(|event| event.rank)
    }

    /// Whether another day has begun since this was last asked.
    #[inline]
    pub(crate) fn take_turned(&mut self) -> bool {
        std::mem::replace(&mut self.asked, self.today) != self.today
    }

    /// Whose events are still to come today, the earliest first.
    pub(crate) fn today(&self) -> impl Iterator<Item = u32> {
        self.sorted.iter().rev().map(|event| event.rank)
    }

    /// Whose events come on the next day that has any, as far as that is known, in no order.
    pub(crate) fn next_day(&self) -> impl Iterator<Item = u32> {
        let found = self.next_busy();
        let mut node = found.map(|(week, day)| &self.weeks[week].days[day]);
        std::iter::from_fn(move || {
            let Node { rank, next, .. } = node?;
            node = self.nodes.get(*next as usize);
            Some(*rank)
        })
    }

    /// Takes the earliest event out.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.take_first()
    }

    /// The same, as part of whatever does it.
    #[inline(always)]
    pub(crate) fn take_first(&mut self) -> Option<Event> {
        let near = match self.sorted.pop() {
            Some(near) => near,
            None => self.turn(),
        };
        if near.at < self.far_at {
            return Some(near);
        }
        let first = self.pop_either(near);
        (first.at != Time::NEVER).then_some(first)
    }

    /// The same of the events before `horizon`: one that is never if the earliest is not.
    #[inline(always)]
    pub(crate) fn take_before(&mut self, horizon: Time) -> Event {
        let near = match self.sorted.pop() {
            Some(near) => near,
            None => self.turn(),
        };
        if near.at < horizon && near.at < self.far_at {
            return near;
        }
        self.take_before_else(near, horizon)
    }

    /// The same; `near` has been taken out, or there is none, but it is too late or not the earliest.
    #[inline(never)]
    fn take_before_else(&mut self, near: Event, horizon: Time) -> Event {
        if near.at.min(self.far_at) < horizon {
            return self.pop_either(near);
        }
        if near.at != Time::NEVER {
            self.sorted.push(near);
        }
        NEVER
    }

    /// `near` has been taken out, or there is none, but one of those far away may come before it.
    #[cold]
    #[inline(never)]
    fn pop_either(&mut self, near: Event) -> Event {
        if near.at == Time::NEVER {
            return self.pop_far();
        }
        if self.far.peek().is_some_and(|Reverse(far)| *far < near) {
            self.sorted.push(near);
            return self.pop_far();
        }
        near
    }

    #[cold]
    fn pop_far(&mut self) -> Event {
        let Some(Reverse(event)) = self.far.pop() else {
            return NEVER;
        };
        self.far_at = self.far.peek().map_or(Time::NEVER, |Reverse(e)| e.at);
        if self.sorted.is_empty() {
            // Nothing on the wheel comes before this event's day: the wheel may begin with it.
            self.set_today(self.today.max(event.at.as_ps() >> self.shift));
        }
        if self.review.far >= FAR_PER_REVIEW {
            self.adjust();
        }
        event
    }

    /// Turns the wheel to the next day that has events; answers its first, and sorts the others;
    /// [`NEVER`] if nothing is on the wheel. What is far away may come before it.
    #[inline(always)]
    fn turn(&mut self) -> Event {
        // Days of this week that are over have no events.
        let mut week = &mut self.weeks[self.week];
        if week.busy == 0 {
            if !self.end_week() {
                return self.sorted.pop().unwrap_or(NEVER);
            }
            week = &mut self.weeks[self.week];
        }
        let day = week.busy.trailing_zeros() as usize % WEEK;
        week.busy &= week.busy - 1;
        let node = week.days[day];
        self.today = self.week_start + day as u64;
        self.review.days += 1;
        if node.next == NONE {
            return node.event();
        }
        self.sort_day(node.event(), node.next)
    }

    /// This week has no more events: goes on to the next that has. False if there is none, or if the length of
    /// a day has changed and today has events again.
    #[inline(never)]
    fn end_week(&mut self) -> bool {
        if self.review.days >= DAYS_PER_REVIEW {
            self.adjust();
            if !self.sorted.is_empty() {
                return false;
            }
            if self.weeks[self.week].busy != 0 {
                self.review.weeks += 1;
                return true;
            }
        }
        self.enter_week()
    }

    /// Goes on to the next week that has events; false if there is none.
    #[inline]
    fn enter_week(&mut self) -> bool {
        let all = self.weeks.len();
        for ahead in 1..all {
            let week = (self.week + ahead) & (all - 1);
            if self.weeks[week].busy != 0 {
                self.review.weeks += 1;
                self.week = week;
                self.week_start += (ahead * WEEK) as u64;
                return true;
            }
        }
        false
    }

    /// Days up to this one are over.
    fn set_today(&mut self, day: u64) {
        self.today = day;
        self.week = self.week_of(day);
        self.week_start = day - day % WEEK as u64;
    }

    /// A day has `first` and the events of the list that begins at `node`: answers the earliest, and
    /// sorts the others.
    #[inline(never)]
    fn sort_day(&mut self, mut first: Event, mut node: u32) -> Event {
        while let Some(was) = self.free_node(node) {
            let event = was.event();
            let later = event.max(first);
            first = event.min(first);
            self.insert_sorted(later);
            self.review.more += 1;
            node = was.next;
        }
        first
    }

    /// Takes a node out of use; answers what it was.
    #[inline]
    fn free_node(&mut self, index: u32) -> Option<Node> {
        let node = self.nodes.get_mut(index as usize)?;
        let was = *node;
        node.next = self.free;
        self.free = index;
        Some(was)
    }

    /// The next day after today that has events: its week, and which day of that.
    fn next_busy(&self) -> Option<(usize, usize)> {
        let all = self.weeks.len();
        (0..all).find_map(|ahead| {
            let week = (self.week + ahead) & (all - 1);
            let busy = self.weeks[week].busy;
            (busy != 0).then(|| (week, busy.trailing_zeros() as usize))
        })
    }

    /// Makes days shorter if they have many events, longer if most weeks have but one day with events, or most days
    /// of a crowd but one event. If many events lie beyond the wheel there are more days, or longer ones where there
    /// are as many as there may be.
    #[cold]
    fn adjust(&mut self) {
        let Review {
            days,
            weeks,
            more,
            far,
        } = std::mem::take(&mut self.review);
        let events = days + more;
        // Where most weeks have one busy day, events of one day are mostly of one time.
        let short = days == 0 || weeks > days / 2 || events < self.aim * days * 5 / 8;
        let all_days = self.weeks.len() * WEEK;
        let wider = !short && far > events / 16 && all_days < DAYS_MAX;
        let shift = if short || (far > events / 8 && !wider) {
            self.shift + 1
        } else if self.aim == 1 && more > days / 4 {
            // The first of a day costs least.
            self.shift - (events / days).ilog2().clamp(1, self.shift)
        } else if events > 2 * self.aim * days {
            self.shift - (events / (self.aim * days)).ilog2().min(self.shift)
        } else {
            self.shift
        };
        let shift = shift.clamp(*SHIFTS.start(), *SHIFTS.end());
        let all_days = if wider { 2 * all_days } else { all_days };
        self.resize(shift, all_days);
    }

    /// Gives days another length, and the wheel so many of them; nothing is done if both are as they were.
    fn resize(&mut self, shift: u32, all_days: usize) {
        if shift == self.shift && all_days == self.weeks.len() * WEEK {
            return;
        }
        let mut events = Vec::new();
        for week in &mut self.weeks {
            for (day, first) in week.days.iter().enumerate() {
                let mut node = Some(first).filter(|_| week.busy & (1 << day) != 0);
                while let Some(found) = node {
                    events.push(found.event());
                    node = self.nodes.get(found.next as usize);
                }
            }
            week.busy = 0;
        }
        self.nodes.clear();
        self.free = NONE;
        self.weeks.resize(all_days / WEEK, Week::EMPTY);
        self.reach = (all_days - WEEK) as u64;
        let reached = (self.today << self.shift) | ((1 << self.shift) - 1);
        self.set_today(reached >> shift);
        self.shift = shift;
        for Event { at, rank } in events {
            self.schedule(rank, at);
        }
        self.review = Review::default();
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
