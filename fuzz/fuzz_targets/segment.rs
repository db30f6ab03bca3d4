//! Any bytes as an IP packet: read or refused without harm, and what was read is written so that the
//! same is read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tailback_wire::ip::{self, Payload};

fuzz_target!(|bytes: &[u8]| {
    let _ = ip::parse(bytes);
    let Ok(read) = ip::parse_offloaded(bytes) else {
        return;
    };
    let mut written = Vec::new();
    let payload = Payload::Bytes(&bytes[read.payload.clone()]);
    ip::write(&mut written, &read.segment, read.from, read.to, read.fields, payload);
    let again = ip::parse(&written).expect("what is written is a packet");
    assert_eq!((again.from, again.to), (read.from, read.to));
    assert_eq!(again.segment, read.segment);
    assert_eq!(written[again.payload], bytes[read.payload]);
});
