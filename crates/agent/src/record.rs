//! What a host tells: one JSON object a line. A file without a [`Record::Done`] at its end is of
//! a host that died.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddrV4;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::delays::DelaysTold;

use crate::tcp_info::TcpInfo;

/// One line of results. Times are on the engine's clock, ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Record {
    /// Set-up is done, the tasks begin.
    Ready {
        /// When.
        time_ns: u64,
    },
    /// One iteration of an incast client.
    Transaction {
        /// Its number, from 0.
        iteration: u64,
        /// First send call.
        started_ns: u64,
        /// When the application has seen the last byte of the last answer.
        ended_ns: u64,
        /// Bytes of all answers.
        bytes: u64,
        /// Segments retransmitted on the client's own connections so far.
        retransmissions: u64,
        /// Retransmission timeouts of the client's own connections so far.
        timeouts: u64,
    },
    /// What a client that asks one server again and again has waited for its answers.
    Answered {
        /// The server.
        peer: SocketAddrV4,
        /// From each request's write, or when it was due, to the last byte of its answer, ns, of those that came
        /// in the time that is counted.
        latencies_ns: Vec<u64>,
        /// When these requests were due, ns, if that is asked for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        asked_ns: Vec<u64>,
        /// How many had been answered before.
        #[serde(default)]
        answered_before: u64,
        /// Requests that were due in that time, if they did not wait for answers.
        #[serde(default)]
        due: u64,
    },
    /// A server of synchronised reads has got a request in whole.
    Request {
        /// The client.
        peer: SocketAddrV4,
        /// Its number on that connection, from 0.
        number: u64,
        /// When.
        time_ns: u64,
        /// Segments retransmitted on that connection so far.
        retransmissions: u64,
        /// Retransmission timeouts of that connection so far.
        timeouts: u64,
    },
    /// A TCP connection that is over, as one of its ends saw it.
    Flow(Flow),
    /// A connection in the course of time.
    Sample {
        /// The end that tells.
        local: SocketAddrV4,
        /// The other end.
        peer: SocketAddrV4,
        /// When.
        time_ns: u64,
        /// Bytes that the application has read or written so far.
        bytes: u64,
        /// The kernel's view.
        tcp_info: TcpInfo,
    },
    /// A connection at one of [`GuestConfig::looks_ns`](crate::GuestConfig::looks_ns).
    Look {
        /// The end that tells.
        local: SocketAddrV4,
        /// The other end.
        peer: SocketAddrV4,
        /// When.
        time_ns: u64,
        /// Bytes that the application has read so far.
        read_bytes: u64,
        /// The kernel's view.
        tcp_info: TcpInfo,
    },
    /// The kernel's counters at one of [`GuestConfig::counters_ns`](crate::GuestConfig::counters_ns).
    LookedCounters {
        /// When.
        time_ns: u64,
        /// Value by name.
        counters: BTreeMap<String, u64>,
    },
    /// What a source of datagrams sent.
    UdpSent {
        /// The receiver.
        peer: SocketAddrV4,
        /// Datagrams sent.
        datagrams: u64,
        /// Datagrams that the kernel refused (full queue); they have numbers too.
        refused: u64,
        /// Payload bytes sent.
        bytes: u64,
        /// First send call.
        started_ns: u64,
        /// Return of the last.
        ended_ns: u64,
    },
    /// What a sink of datagrams received.
    UdpReceived {
        /// Where it listened.
        port: u16,
        /// Datagrams received, duplicates among them.
        datagrams: u64,
        /// Payload bytes received.
        bytes: u64,
        /// Numbers up to the highest received that never came.
        lost: u64,
        /// Datagrams that came after one with a higher number, or again.
        reordered: u64,
        /// Datagrams whose number had come before.
        duplicates: u64,
        /// Numbers up to the highest received that never came: the first of a row, and how many.
        missing: Vec<(u64, u64)>,
        /// Numbers that came after a higher one, or again.
        late: Vec<u64>,
        /// Variation of the time from a datagram's being due to its being read (RFC 3550, 6.4.1).
        jitter_ns: u64,
        /// From a datagram's being sent to its being read, by the clocks of both ends; none of datagrams that have
        /// no room for a time.
        #[serde(default)]
        delays: DelaysTold,
        /// Arrival of the first.
        started_ns: u64,
        /// Arrival of the last.
        ended_ns: u64,
    },
    /// An echo request and its reply.
    Ping {
        /// Which of the run's pairs of hosts it is of.
        line: u32,
        /// Its number, from 0.
        sequence: u32,
        /// The send call.
        sent_ns: u64,
        /// From the send call to the reply's arrival at the application; absent: none came.
        rtt_ns: Option<u64>,
    },
    /// A program of the user's has ended.
    Command {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Its exit code; absent: a signal ended it.
        status: Option<i32>,
        /// The file with its output, beside the results.
        log: String,
        /// That output, as far as it is text.
        output: String,
        /// When it began.
        started_ns: u64,
        /// When it ended.
        ended_ns: u64,
    },
    /// Sysctls of the profile that this kernel does not have, or not with that value.
    NotSet {
        /// Names, with what the kernel says.
        sysctls: BTreeMap<String, String>,
    },
    /// The kernel's counters since its start: `Tcp.RetransSegs`, `TcpExt.TCPTimeouts`,
    /// `eth0.rx_packets`, ….
    Counters {
        /// When they were read.
        time_ns: u64,
        /// Value by name.
        counters: BTreeMap<String, u64>,
    },
    /// Something failed: the results of this host are not to be used.
    Error {
        /// What, and why.
        message: String,
    },
    /// All tasks are over.
    Done {
        /// When.
        time_ns: u64,
    },
}

/// A TCP connection that is over, as one of its ends saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// The end that tells.
    pub local: SocketAddrV4,
    /// The other end.
    pub peer: SocketAddrV4,
    /// Whether the one that tells is the one that sends most.
    pub sends: bool,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// When it was up.
    pub started_ns: u64,
    /// First read that gave bytes, or first write.
    pub first_byte_ns: u64,
    /// Last read that gave bytes, or last write.
    pub last_byte_ns: u64,
    /// The kernel's view at the end.
    pub tcp_info: TcpInfo,
}

/// Takes records from all tasks, in the order in which they come.
#[derive(Debug)]
pub struct Recorder {
    out: Mutex<BufWriter<File>>,
    exits: bool,
}

impl Recorder {
    /// Writes to a new file.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> io::Result<Recorder> {
        Ok(Recorder {
            out: Mutex::new(BufWriter::with_capacity(1 << 16, File::create(path)?)),
            exits: false,
        })
    }

    /// The process ends at the first failure: on a real host others wait for what will not come, and
    /// whoever started it sees it end.
    #[must_use]
    pub fn exiting_on_failure(self) -> Recorder {
        Recorder {
            exits: true,
            ..self
        }
    }

    /// Adds a record. What cannot be written is missing, and then the last line, `done`, is too.
    pub fn add(&self, record: &Record) {
        let mut line = serde_json::to_vec(record).unwrap_or_default();
        line.push(b'\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = out.write_all(&line) {
            eprintln!("tailback-agent: results: {error}");
        }
    }

    /// Adds the record of a failure, and sees to it that it is on disk.
    pub fn fail(&self, message: impl Into<String>) {
        let message = message.into();
        eprintln!("tailback-agent: {message}");
        self.add(&Record::Error { message });
        self.flush();
        if self.exits {
            std::process::exit(1);
        }
    }

    /// Writes what is pending.
    pub fn flush(&self) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = out.flush().and_then(|()| out.get_ref().sync_all()) {
            eprintln!("tailback-agent: results: {error}");
        }
    }
}

/// Reads a host's results: its records and, where a line is no record, what is wrong with it.
///
/// # Errors
/// The text of what is wrong, with the line's number.
pub fn parse(text: &str) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let record =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
        records.push(record);
    }
    Ok(records)
}
