use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::*;

#[test]
fn the_kernel_counts_what_was_written() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(&[7; 1000]).unwrap();
    server.read_exact(&mut [0; 1000]).unwrap();
    server.write_all(&[7; 10]).unwrap();
    client.read_exact(&mut [0; 10]).unwrap();

    let (client, server) = (read(&client).unwrap(), read(&server).unwrap());
    assert_eq!(client["bytes_sent"], 1000);
    assert_eq!(client["bytes_acked"], 1001, "the SYN counts");
    assert_eq!(server["bytes_received"], 1000);
    assert_eq!(client["state"], 1, "TCP_ESTABLISHED");
    assert!(client["snd_cwnd"] >= 10);
}

#[test]
fn an_older_kernel_says_less() {
    let info = decode(&[1; 104]);
    assert_eq!(info["total_retrans"], 0x0101_0101);
    assert!(!info.contains_key("bytes_acked"));
}
