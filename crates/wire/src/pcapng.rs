//! Captures in the pcapng format (IETF draft-ietf-opsawg-pcapng), nanoseconds, with comments.
//!
//! Three kinds of block are enough for a capture: section header, interface description, enhanced
//! packet. Written little-endian, one section, any number of interfaces.

use std::io::{self, Write};

use tailback_units::Time;

/// Block types (section 4 of the draft) and the byte-order magic.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Option codes (section 3.5, 4.1, 4.2, 4.3).
const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
/// Timestamps count 10^-9 seconds.
const NANOSECONDS: u8 = 9;
/// Link type of Ethernet (LINKTYPE_ETHERNET).
const ETHERNET: u16 = 1;
const PS_PER_NS: u64 = 1000;

/// Which way a packet passed the interface (epb_flags, bits 0 and 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the interface.
    Inbound = 1,
    /// Out of it.
    Outbound = 2,
}

/// An interface of a capture, as its writer numbered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface(u32);

/// Writes a capture.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    interfaces: u32,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a capture; `application` is named as its maker.
    ///
    /// # Errors
    ///
    /// What `out` says.
    pub fn new(out: W, application: &str) -> io::Result<Writer<W>> {
        let mut writer = Writer {
            out,
            interfaces: 0,
            block: Vec::new(),
        };
        writer.put(&BYTE_ORDER_MAGIC.to_le_bytes());
        // Version 1.0; the section's length is not known.
        writer.put(&[1, 0, 0, 0]);
        writer.put(&u64::MAX.to_le_bytes());
        writer.option(SHB_USERAPPL, application.as_bytes());
        writer.option(OPT_END, &[]);
        writer.end_block(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Adds an interface: its name, and its rate in bits a second.
    ///
    /// # Errors
    ///
    /// What the output says.
    pub fn interface(&mut self, name: &str, rate_bps: u64) -> io::Result<Interface> {
        self.put(&ETHERNET.to_le_bytes());
        // Reserved; packets of any length are kept whole.
        self.put(&[0; 6]);
        self.option(IF_NAME, name.as_bytes());
        self.option(IF_SPEED, &rate_bps.to_le_bytes());
        self.option(IF_TSRESOL, &[NANOSECONDS]);
        self.option(OPT_END, &[]);
        self.end_block(INTERFACE_DESCRIPTION)?;
        self.interfaces += 1;
        Ok(Interface(self.interfaces - 1))
    }

    /// Adds a frame, with a comment if there is something to say of it. Times are rounded down to
    /// the nanosecond.
    ///
    /// # Errors
    ///
    /// What the output says.
    pub fn packet(
        &mut self,
        interface: Interface,
        at: Time,
        frame: &[u8],
        direction: Direction,
        comment: Option<&str>,
    ) -> io::Result<()> {
        self.cut_packet(interface, at, (frame, frame.len()), direction, comment)
    }

    /// The same for a frame of which only the first bytes are kept: these, and how long it was.
    ///
    /// # Errors
    ///
    /// What the output says.
    pub fn cut_packet(
        &mut self,
        interface: Interface,
        at: Time,
        (kept, frame_bytes): (&[u8], usize),
        direction: Direction,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let ns = at.as_ps() / PS_PER_NS;
        self.put(&interface.0.to_le_bytes());
        self.put(&((ns >> 32) as u32).to_le_bytes());
        self.put(&(ns as u32).to_le_bytes());
        self.put(&(kept.len() as u32).to_le_bytes());
        self.put(&(frame_bytes as u32).to_le_bytes());
        self.put(kept);
        self.pad();
        if let Some(comment) = comment {
            self.option(OPT_COMMENT, comment.as_bytes());
        }
        self.option(EPB_FLAGS, &(direction as u32).to_le_bytes());
        self.option(OPT_END, &[]);
        self.end_block(ENHANCED_PACKET)
    }

    /// Ends the capture and gives the output back.
    ///
    /// # Errors
    ///
    /// What the output says on flushing.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.pad();
    }

    fn end_block(&mut self, kind: u32) -> io::Result<()> {
        // Type and length before, length after.
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length)?;
        self.block.clear();
        Ok(())
    }
}

#[cfg(test)]
#[path = "pcapng_tests.rs"]
mod tests;
