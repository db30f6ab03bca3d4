use super::*;

#[test]
fn names_and_values_stand_in_two_lines() {
    let mut counters = BTreeMap::new();
    pairs(
        "Tcp: MaxConn RetransSegs\nTcp: -1 17\nTcpExt: TCPTimeouts\nTcpExt: 3\n",
        &mut counters,
    );
    assert_eq!(
        counters,
        BTreeMap::from([
            ("Tcp.RetransSegs".into(), 17),
            ("TcpExt.TCPTimeouts".into(), 3)
        ])
    );
}

#[test]
fn devices_have_sixteen_columns() {
    let mut counters = BTreeMap::new();
    let head = "Inter-|   Receive\n face |bytes\n";
    devices(
        &format!("{head}  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"),
        &mut counters,
    );
    assert_eq!(counters["eth0.rx_packets"], 2);
    assert_eq!(counters["eth0.tx_compressed"], 16);
    assert_eq!(counters.len(), 16);
}

#[test]
fn this_machine_has_a_loopback() {
    let counters = read();
    assert!(counters.contains_key("lo.rx_bytes"));
    assert!(counters.contains_key("Tcp.OutSegs"));
}
