//! A machine under test, and one application on it.

use tailback_units::{Bytes, Duration, Time};

use super::{
    Affinity, Costs, Effect, Interrupts, Machine, MachineConfig, Merging, Scheduler, Softirq,
    TaskId,
};
use crate::pool::{Flight, FramePool};
use crate::testing::frame;

/// One core on which a frame costs 2 us, a call 3 us, an interrupt 2 us.
pub(super) fn config() -> MachineConfig {
    MachineConfig {
        cores: 1,
        hz: 1000,
        interrupts: Interrupts {
            throttle: Duration::from_us(100),
            adaptive: None,
            queues: 1,
            affinity: Affinity::Bound { core: 0 },
        },
        softirq: Softirq {
            napi: true,
            weight: 64,
            budget: 300,
            budget_cuts_polls: false,
            yields: false,
            time_limit_jiffies: 0,
            restarts: 10,
            backlog_frames: 1000,
        },
        merging: Merging::Off,
        crossing: None,
        costs: Costs {
            interrupt: Duration::from_us(2),
            handler_frame: Duration::from_us(1),
            receive_frame: Duration::from_us(2),
            receive_ack: Duration::from_us(1),
            send_packet: Duration::ZERO,
            send_ack: None,
            complete_packet: Duration::ZERO,
            call: Duration::from_us(3),
            copy_kilobyte: Duration::ZERO,
            copy_kilobyte_cold: Duration::ZERO,
            cache: Bytes::new(1 << 20),
            wakeup: Duration::ZERO,
        },
        socket: None,
        scheduler: Scheduler::default(),
        call_bytes: Bytes::new(65_536),
    }
}

/// A machine that is sent frames and has one application, which reads a socket of a size.
pub(super) struct Bench {
    pub(super) machine: Machine,
    pub(super) app: TaskId,
    pub(super) socket: usize,
    pub(super) room: usize,
    pub(super) pool: FramePool,
    /// When each frame was handled.
    pub(super) handled: Vec<Time>,
    pub(super) read: Vec<Time>,
    pub(super) socket_dropped: u64,
    pub(super) backlog_dropped: u64,
    pub(super) ring_dropped: u64,
    /// Calls take the socket's lock.
    pub(super) locks: bool,
    /// Another task sends a packet so long after the one before.
    pub(super) pace: Duration,
}

impl Bench {
    pub(super) fn new(config: &MachineConfig, descriptors: u32, room: usize) -> Bench {
        let mut machine = Machine::new(config, descriptors, 0);
        let app = machine.add_task();
        Bench {
            machine,
            app,
            socket: 0,
            room,
            pool: FramePool::default(),
            handled: Vec::new(),
            read: Vec::new(),
            socket_dropped: 0,
            backlog_dropped: 0,
            ring_dropped: 0,
            locks: false,
            pace: Duration::from_us(7),
        }
    }

    pub(super) fn arrive(&mut self, at: Time) {
        let flight: Flight = self.pool.put(at, &frame(1448));
        self.machine.arrive(flight, None);
    }

    /// All that happens up to `end`.
    pub(super) fn run_until(&mut self, end: Time) {
        if !self.machine.goes_long {
            let mut now = self.machine.poll_timeout().max(self.last());
            let limit = end + Duration::from_ps(1);
            while now < limit {
                let Some(effect) = self.machine.work(&mut now, limit) else {
                    break;
                };
                self.act(now, effect);
            }
            return;
        }
        while self.machine.poll_timeout() <= end {
            let now = self.machine.poll_timeout().max(self.last());
            while let Some(effect) = self.machine.handle_timeout(now) {
                self.act(now, effect);
            }
        }
    }

    pub(super) fn last(&self) -> Time {
        let last = |times: &[Time]| times.last().copied().unwrap_or(Time::ZERO);
        last(&self.handled).max(last(&self.read))
    }

    pub(super) fn act(&mut self, now: Time, effect: Effect) {
        match effect {
            Effect::Packet(_) => {
                self.handled.push(now);
                if self.socket == self.room {
                    self.socket_dropped += 1;
                    return;
                }
                self.socket += 1;
                let cost = self.machine.config().costs.call;
                self.machine.run(now, self.app, cost);
            }
            Effect::Task(task) if task != self.app => {
                self.machine.send(now, now + Duration::from_us(3));
                self.machine.charge(Duration::from_ns(700));
                self.machine
                    .run_at(now + self.pace, task, Duration::from_ns(900));
            }
            Effect::Task(task) => {
                assert_eq!(task, self.app);
                self.read.push(now);
                self.socket -= 1;
                if self.locks {
                    self.machine.release_socket();
                }
                if self.socket > 0 {
                    let cost = self.machine.config().costs.call;
                    self.machine.run(now, task, cost);
                }
            }
            Effect::BacklogFull(_) => self.backlog_dropped += 1,
            Effect::RingFull(_) => self.ring_dropped += 1,
        }
    }

    /// Frames every `gap_ns` for so long; answers how many found the ring full.
    pub(super) fn load(&mut self, gap_ns: u64, millis: u64) -> u64 {
        let count = millis * 1_000_000 / gap_ns;
        for number in 0..count {
            let at = us(0) + Duration::from_ns(gap_ns * number);
            self.run_until(at);
            self.arrive(at);
        }
        self.run_until(us(millis * 1000));
        self.machine.settle(us(millis * 1000));
        while let Some(effect) = self.machine.take_lost() {
            self.act(us(millis * 1000), effect);
        }
        self.ring_dropped
    }
}

pub(super) fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}
