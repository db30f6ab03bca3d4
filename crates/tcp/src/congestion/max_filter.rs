//! The greatest of recent values, by Kathleen Nichols' method (Linux lib/win_minmax.c): the three
//! best of the window, each younger than the one before it, so that one is at hand when the best
//! grows too old.

/// A value and when it was.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    time: u32,
    value: u32,
}

/// The greatest value of a window of time, in whatever unit time is counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    best: [At; 3],
}

impl MaxFilter {
    /// The greatest, as of the last update.
    pub(super) fn get(&self) -> u32 {
        self.best[0].value
    }

    /// Takes a value at `time`; answers the greatest of the last `window`.
    pub(super) fn update(&mut self, window: u32, time: u32, value: u32) -> u32 {
        let new = At { time, value };
        let age = |at: At| time.wrapping_sub(at.time);
        if value >= self.best[0].value || age(self.best[2]) > window {
            self.best = [new; 3];
            return value;
        }
        if value >= self.best[1].value {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        if age(self.best[0]) > window {
            // The best is too old: the others move up, and once more if the second is too.
            self.best = [self.best[1], self.best[2], new];
            if age(self.best[0]) > window {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].time == self.best[0].time && age(self.best[0]) > window / 4 {
            // A quarter without a second: the newest is it.
            self.best[1] = new;
            self.best[2] = new;
        } else if self.best[2].time == self.best[1].time && age(self.best[0]) > window / 2 {
            self.best[2] = new;
        }
        self.get()
    }
}

#[cfg(test)]
mod tests {
    use super::MaxFilter;

    #[test]
    fn the_greatest_of_the_window_and_then_the_next() {
        let mut filter = MaxFilter::default();
        let values = [
            (0, 5),
            (1, 9),
            (2, 7),
            (3, 4),
            (9, 6),
            (11, 6),
            (12, 3),
            (20, 2),
        ];
        let greatest: Vec<u32> = values
            .map(|(time, value)| filter.update(10, time, value))
            .into();
        // At 12 the nine of 1 is eleven old; what is left is the six of 11.
        assert_eq!(greatest, [5, 9, 9, 9, 9, 9, 6, 6]);
    }
}
