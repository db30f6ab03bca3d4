use std::collections::BTreeMap;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::*;

#[test]
fn what_is_not_read_takes_memory_of_the_receive_buffer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    client.write_all(&[7; 1000]).unwrap();
    let begun = Instant::now();
    let told: BTreeMap<String, u64> = loop {
        let told: BTreeMap<_, _> = read(&server).unwrap().collect();
        if told["rmem_alloc_bytes"] > 0 || begun.elapsed() > Duration::from_secs(5) {
            break told;
        }
    };
    assert!(
        (1001..100_000).contains(&told["rmem_alloc_bytes"]),
        "{told:?}"
    );
    assert!(told["rcvbuf_bytes"] > told["rmem_alloc_bytes"], "{told:?}");
    assert!(
        told["sndbuf_bytes"] > 0 && told["wmem_queued_bytes"] == 0,
        "{told:?}"
    );
}
