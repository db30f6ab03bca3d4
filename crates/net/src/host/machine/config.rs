//! What a machine is made of: its card, its interrupts, its processors and what work costs there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration};

use super::crossing::Crossing;
use super::merge::Merging;
use super::socket::SocketLock;
use super::throttle::Adaptive;
use crate::host::{is_one, one};

/// A host's machine with its parts, in place of the plain capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineConfig {
    /// Processor cores.
    #[schemars(range(min = 1, max = 64))]
    pub cores: u32,
    /// Ticks of the kernel's clock a second (HZ).
    #[schemars(range(min = 10, max = 10_000))]
    pub hz: u32,
    /// When the card interrupts.
    pub interrupts: Interrupts,
    /// How received frames get from the ring to TCP or UDP.
    pub softirq: Softirq,
    /// Whether frames of a flow are put together before TCP has them; with `softirq.napi`.
    #[serde(default, skip_serializing_if = "Merging::is_off")]
    pub merging: Merging,
    /// What work costs a core.
    pub costs: Costs,
    /// What packets cost beyond, that cross from core to core; absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crossing: Option<Crossing>,
    /// How TCP sockets keep softirqs and threads apart; absent: TCP handles each packet in the softirq,
    /// whatever the socket's thread does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<SocketLock>,
    /// How cores are shared between applications and ksoftirqd.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// Bytes that one system call of an application reads or writes at most.
    pub call_bytes: Bytes,
}

impl MachineConfig {
    /// TCP's part of what it costs to receive a packet, where that may fall to a thread.
    #[inline]
    #[must_use]
    pub fn protocol_cost(&self) -> Duration {
        let socket = self.socket.as_ref();
        socket.map_or(Duration::ZERO, |socket| socket.protocol)
    }

    /// What a softirq spends on a packet, with payload or without, before TCP or UDP has it.
    pub(super) fn softirq_cost(&self, carries: bool) -> Duration {
        let costs = &self.costs;
        let cost = if carries {
            costs.receive_frame
        } else {
            costs.receive_ack
        };
        cost - self.protocol_cost().min(cost)
    }

    /// What a frame costs a softirq at least.
    pub(super) fn softirq_least(&self) -> Duration {
        let least = self.softirq_cost(true).min(self.softirq_cost(false));
        match self.merging {
            Merging::Off => least,
            merging => least.min(merging.frame_cost()),
        }
    }
}

/// When and where the card interrupts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interrupts {
    /// Least time between two interrupts (InterruptThrottleRate, rx-usecs); "0s" for none.
    pub throttle: Duration,
    /// That time follows the traffic; then `throttle` does not count but for what has been sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<Adaptive>,
    /// Receive queues (RSS): each has a ring and an interrupt of its own, and a flow's frames are all in
    /// one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 64), default = "one")]
    pub queues: u32,
    /// Which core takes them.
    pub affinity: Affinity,
}

/// Which core takes a card's interrupts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Affinity {
    /// Always the same (smp_affinity); that of the second queue is the next core, and so on.
    Bound {
        /// The core, from 0.
        #[serde(default)]
        core: u32,
    },
    /// The core that was least busy, looked at from time to time (irqbalance); that of the second queue
    /// is the second least busy, and so on.
    Balanced {
        /// Time between looks; irqbalance's is ten seconds.
        #[serde(default = "ten_seconds")]
        #[schemars(default = "ten_seconds")]
        period: Duration,
    },
}

fn ten_seconds() -> Duration {
    Duration::from_secs(10)
}

/// How received frames get from the ring to TCP or UDP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Softirq {
    /// The driver polls while there is something to do (NAPI); false: its interrupt handler puts
    /// each frame into the backlog queue.
    pub napi: bool,
    /// Frames that one poll handles at most (the driver's weight; 64 for the backlog).
    #[serde(default = "weight")]
    #[schemars(range(min = 1, max = 1024), default = "weight")]
    pub weight: u32,
    /// Frames after which a pass begins no more polls (netdev_budget).
    #[serde(default = "budget")]
    #[schemars(range(min = 1, max = 100_000), default = "budget")]
    pub budget: u32,
    /// A poll too ends where the budget does, as before 2.6.24; false: a pass ends with the poll in which it has
    /// handled `budget` frames or more.
    #[serde(default)]
    pub budget_cuts_polls: bool,
    /// A pass ends when the clock has ticked more often than this since it began: 0 in 2.6.24, 1
    /// before.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub time_limit_jiffies: u32,
    /// Passes in a row before the rest is left to ksoftirqd (MAX_SOFTIRQ_RESTART).
    #[serde(default = "restarts")]
    #[schemars(range(min = 1, max = 1000), default = "restarts")]
    pub restarts: u32,
    /// Softirqs give way to tasks, as since 4.9: they go on with another pass only while no other task wants the core,
    /// and not at all while ksoftirqd, whose nice is 0, has the rest to do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub yields: bool,
    /// Frames that the backlog of a core holds (netdev_max_backlog); without NAPI only.
    #[serde(default = "backlog")]
    #[schemars(range(min = 1, max = 1_000_000), default = "backlog")]
    pub backlog_frames: u32,
}

fn weight() -> u32 {
    64
}

fn budget() -> u32 {
    300
}

fn restarts() -> u32 {
    10
}

fn backlog() -> u32 {
    1000
}

/// What work costs a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// One hardware interrupt, from its entry to its return.
    pub interrupt: Duration,
    /// What the interrupt handler does for each frame; without NAPI only.
    pub handler_frame: Duration,
    /// A received frame with payload: driver, IP and TCP or UDP.
    pub receive_frame: Duration,
    /// A received acknowledgement without payload.
    pub receive_ack: Duration,
    /// A packet sent; one that segmentation offload cuts counts once.
    pub send_packet: Duration,
    /// A packet without payload sent, an acknowledgement; absent: as `send_packet`. A packet with
    /// payload waits in the socket until nothing of it is in the cache; one without is made on the
    /// spot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_ack: Option<Duration>,
    /// A packet that has left the card: unmapping and freeing it, in the handler of an interrupt for
    /// such packets; zero: there is none.
    #[serde(default)]
    pub complete_packet: Duration,
    /// A system call without its copy.
    pub call: Duration,
    /// Copying 1000 bytes that are in the cache.
    pub copy_kilobyte: Duration,
    /// Copying 1000 bytes that are not.
    pub copy_kilobyte_cold: Duration,
    /// What the cache holds of a socket's buffer: of a fuller one a share is copied cold.
    pub cache: Bytes,
    /// Waking an application and switching to it.
    pub wakeup: Duration,
}

/// How a core is shared: the completely fair scheduler of 2.6.24, for one level of tasks; its sysctls
/// without their `_ns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduler {
    /// Time in which each runnable task runs once.
    pub sched_latency: Duration,
    /// Least time a task runs before another may take its place at a tick.
    pub sched_min_granularity: Duration,
    /// How far behind a woken task must be to take the core at once.
    pub sched_wakeup_granularity: Duration,
}

/// Linux 2.6.24 kernel/sched_fair.c: 20, 4 and 10 ms, times 1 + log2(CPUs); here for four.
impl Default for Scheduler {
    fn default() -> Scheduler {
        Scheduler {
            sched_latency: Duration::from_ms(60),
            sched_min_granularity: Duration::from_ms(12),
            sched_wakeup_granularity: Duration::from_ms(30),
        }
    }
}

impl Costs {
    /// What a packet costs that is sent with so much payload.
    #[inline]
    #[must_use]
    pub fn send(&self, payload_bytes: u32) -> Duration {
        match self.send_ack {
            Some(cost) if payload_bytes == 0 => cost,
            _ => self.send_packet,
        }
    }

    /// What a system call that copies `bytes` costs; see [`Costs::copying`].
    #[inline]
    #[must_use]
    pub fn call_with(&self, bytes: u64, buffered_bytes: u64) -> Duration {
        self.call + self.copying(bytes, buffered_bytes)
    }

    /// What copying `bytes` costs, if so many bytes of the socket's buffer have
    /// been filled since they arrived. Of a buffer that is gone through again and again, the share
    /// that does not fit into the cache is copied cold: the least that any cache misses of it.
    #[inline]
    #[must_use]
    pub fn copying(&self, bytes: u64, buffered_bytes: u64) -> Duration {
        let beyond = buffered_bytes.saturating_sub(self.cache.get());
        let cold = match beyond {
            0 => 0,
            _ => bytes * beyond / buffered_bytes.max(1),
        };
        let copying =
            (bytes - cold) * self.copy_kilobyte.as_ps() + cold * self.copy_kilobyte_cold.as_ps();
        Duration::from_ps(copying.div_ceil(1000))
    }

    /// What it costs to copy received data together (tcp_collapse): a card has put it into memory,
    /// and nobody has looked at it.
    #[must_use]
    pub fn collapse(&self, bytes: u64) -> Duration {
        Duration::from_ps((bytes * self.copy_kilobyte_cold.as_ps()).div_ceil(1000))
    }
}
