//! Keep-alive, and the timer it shares with FIN-WAIT-2 and TIME-WAIT.
//!
//! Models Linux 7.2 net/ipv4/tcp_timer.c: tcp_keepalive_timer (RFC 9293 section 3.8.4); alike in
//! 2.6.18 but for the user timeout and the wheel in which today's timers wait.

use tailback_units::Duration;

use super::{Connection, Life};
use crate::clock::{self, Jiffies};

impl Connection {
    pub(super) fn arm_life_timer(&mut self, now: Jiffies, wait: Jiffies) {
        let due = now.wrapping_add(wait.max(1));
        self.life_timer = Some(match self.is_modern() {
            true => self.clock.wheel(due, now),
            false => due,
        });
    }

    /// Starts or stops asking.
    pub(super) fn arm_keepalive(&mut self, now: Jiffies) {
        if !self.life.is_synchronised() {
            return;
        }
        if self.options.keepalive {
            let wait = self.keepalive_time();
            self.arm_life_timer(now, wait);
        } else if self.life != Life::FinWait2 {
            self.life_timer = None;
        }
    }

    fn keepalive_time(&self) -> Jiffies {
        self.set_or(self.options.keepidle, self.stack.tcp_keepalive_time)
    }

    fn set_or(&self, option: Duration, stack: Duration) -> Jiffies {
        let span = if option > Duration::ZERO {
            option
        } else {
            stack
        };
        self.clock.ticks(span)
    }

    /// The life timer fired.
    pub(super) fn life_timed_out(&mut self, now: Jiffies) {
        if self.life_timer.is_none_or(|at| clock::before(now, at)) {
            return;
        }
        self.life_timer = None;
        match self.life {
            Life::TimeWait => self.time_wait_over(),
            Life::FinWait2 if self.orphan => self.fin_wait_2_timed_out(now),
            life if life.is_synchronised() && self.options.keepalive => self.keep_alive(now),
            _ => {}
        }
    }

    fn keep_alive(&mut self, now: Jiffies) {
        let wait = self.keepalive_time();
        if self.packets_out > 0 || self.has_unsent() {
            return self.arm_life_timer(now, wait);
        }
        let heard = if clock::before(self.ack_received, self.receive.ack.last_received()) {
            self.receive.ack.last_received()
        } else {
            self.ack_received
        };
        let idle = now.wrapping_sub(heard);
        if idle < wait {
            return self.arm_life_timer(now, wait - idle);
        }
        let patience = self.clock.ticks(self.options.user_timeout);
        let most = match self.options.keepcnt {
            0 => self.stack.tcp_keepalive_probes,
            n => n,
        };
        let hopeless = if patience > 0 {
            idle >= patience && self.questions > 0
        } else {
            self.questions >= most
        };
        if hopeless {
            self.send_reset();
            return self.give_up();
        }
        self.wake_peer(now);
        self.questions += 1;
        let interval = self.set_or(self.options.keepintvl, self.stack.tcp_keepalive_intvl);
        self.arm_life_timer(now, interval);
    }
}
