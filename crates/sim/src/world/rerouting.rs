//! Routes that change while a run goes on.

use tailback_units::Time;

use super::World;

impl World {
    /// When switches may learn something next.
    pub(super) fn reroutes_at(&self) -> Time {
        self.reroute.as_ref().map_or(Time::NEVER, |r| r.next())
    }

    /// Goes on to the next time at which switches may learn something: from then on frames take the ways that follow.
    pub(super) fn reroute(&mut self) {
        let Some(reroute) = &mut self.reroute else {
            return;
        };
        if !reroute.advance() {
            return;
        }
        for (switch, routes) in self.switches.iter_mut().zip(reroute.routes()) {
            if switch.routes == routes {
                continue;
            }
            if let Some(balancer) = &mut switch.balancer {
                balancer.reroute(routes.sets());
            }
            switch.routes = routes;
        }
    }

    /// All that switches learn up to `at`: parts of one world are brought to one time.
    pub(crate) fn reroute_until(&mut self, at: Time) {
        while self.reroutes_at() <= at {
            self.reroute();
        }
        self.recorder.watch(self.watches_at());
    }
}
