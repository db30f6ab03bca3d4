//! What is to be done at a time, whoever waits for it: a thread for each time, not for each of a thousand flows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::Clock;

type Action = Box<dyn FnOnce() + Send>;

/// Actions by their times, ns.
#[derive(Clone, Default)]
pub(super) struct Ends(Arc<Mutex<BTreeMap<u64, Vec<Action>>>>);

impl Ends {
    /// Does something at a time, at once if that is over. The process may end before it.
    pub(super) fn at(&self, clock: Clock, time_ns: u64, action: impl FnOnce() + Send + 'static) {
        let action: Action = Box::new(action);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.entry(time_ns) {
            Entry::Occupied(mut others) => others.get_mut().push(action),
            Entry::Vacant(first) => {
                first.insert(vec![action]);
                let ends = self.clone();
                thread::spawn(move || ends.come(clock, time_ns));
            }
        }
    }

    fn come(&self, clock: Clock, time_ns: u64) {
        clock.sleep_until(time_ns);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let actions = all.remove(&time_ns).unwrap_or_default();
        drop(all);
        actions.into_iter().for_each(|action| action());
    }
}
