//! One connection: its handshake, and the two threads that read and write it.
//!
//! TLS keeps one state for both directions. The reader holds it while it decrypts what came, the writer while it encrypts what goes, and neither while it waits for the network.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustls::Connection;

use super::certificate::Pinned;
use super::frame::{self, Assembler, Frame, HELLO_LEN};
use super::shared::{LINGER, Next, Shared};
use super::{Limits, Side};
use crate::{ChannelFault, Party};

/// Time after which a thread that waits for the network looks whether it is still needed.
const SLICE: Duration = Duration::from_millis(200);
/// Number of bytes that are encrypted, or read, at once.
const CHUNK: usize = 1 << 14;

/// A socket that gives up at a moment, however slowly bytes come.
struct Until<'a> {
    socket: &'a TcpStream,
    end: Instant,
}

impl Until<'_> {
    fn left(&self) -> io::Result<Duration> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(Some(self.left()?))?;
        self.socket.read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(Some(self.left()?))?;
        self.socket.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Goes through handshake and hello of both ends, and returns the party at the other end.
///
/// # Errors
/// Any [`ChannelFault`].
pub(super) fn greet(
    side: &Side,
    socket: &TcpStream,
    tls: &mut Connection,
    pinned: &Pinned,
) -> Result<Party, ChannelFault> {
    let limit = side.limits.handshake;
    let mut socket = Until { socket, end: Instant::now() + limit };
    let fault = |error: io::Error| match pinned.found() {
        Some(Err(fault)) => fault,
        _ if is_timeout(&error) => ChannelFault::Slow { what: "the handshake", seconds: limit.as_secs() },
        _ => ChannelFault::Connection { reason: error.to_string() },
    };
    while tls.is_handshaking() {
        tls.complete_io(&mut socket).map_err(fault)?;
    }
    let Some(Ok(party)) = pinned.found() else {
        return Err(ChannelFault::Connection { reason: "no certificate came".to_owned() });
    };
    let hello = frame::hello(&side.channel, &side.contacts, side.me, party);
    let other = exchange(tls, &mut socket, &hello).map_err(fault)?;
    frame::check_hello(&other, &side.channel, &side.contacts, party, side.me)?;
    Ok(party)
}

/// Sends a hello, and returns that of the other end. What comes behind it is left.
fn exchange(tls: &mut Connection, socket: &mut Until<'_>, hello: &[u8]) -> io::Result<[u8; HELLO_LEN]> {
    tls.writer().write_all(hello)?;
    while tls.wants_write() {
        tls.write_tls(socket)?;
    }
    let mut other = [0; HELLO_LEN];
    let mut left = &mut other[..];
    while !left.is_empty() {
        match tls.reader().read(left) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => left = left.get_mut(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if tls.read_tls(socket)? == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                tls.process_new_packets().map_err(io::Error::other)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(other)
}

/// A connection to a party that is known.
struct Wire<'a> {
    tls: Mutex<Connection>,
    socket: &'a TcpStream,
    shared: &'a Shared,
    limits: Limits,
    party: Party,
    id: u64,
}

/// Sends and receives until the connection ends.
///
/// # Errors
/// Any [`ChannelFault`].
pub(super) fn run(
    side: &Side,
    shared: &Arc<Shared>,
    socket: &TcpStream,
    tls: Connection,
    party: Party,
) -> Result<(), ChannelFault> {
    let limits = side.limits;
    let broken = |error: io::Error| ChannelFault::Connection { reason: error.to_string() };
    socket.set_read_timeout(Some(SLICE)).map_err(broken)?;
    socket.set_write_timeout(Some(limits.idle)).map_err(broken)?;
    let id = shared.connect(party, socket.try_clone().map_err(broken)?);
    let wire = Wire { tls: Mutex::new(tls), socket, shared, limits, party, id };
    thread::scope(|scope| {
        let writer = thread::Builder::new().name("sunzi-writer".to_owned()).spawn_scoped(scope, || {
            // The reader sees that the connection ended, and says why.
            drop(wire.write());
        });
        let read = match writer {
            Ok(_) => wire.read(),
            Err(error) => Err(broken(error)),
        };
        shared.disconnect(party, id);
        drop(socket.shutdown(Shutdown::Both));
        read
    })
}

impl Wire<'_> {
    fn tls(&self) -> MutexGuard<'_, Connection> {
        self.tls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends messages and signs of life.
    fn write(&self) -> io::Result<()> {
        let (mut at, mut told) = (0, false);
        loop {
            match self.shared.next(self.party, self.id, &mut at, told, self.limits.idle / 3) {
                Next::Message(outgoing) => {
                    self.put(&frame::message_head(outgoing.bytes.len()))?;
                    outgoing.bytes.chunks(CHUNK).try_for_each(|chunk| self.put(chunk))?;
                }
                Next::Done => {
                    self.put(&frame::done())?;
                    told = true;
                    self.shared.knows(self.party);
                }
                Next::Alive => self.put(&frame::alive())?,
                Next::Close => break,
            }
        }
        self.tls().send_close_notify();
        self.put(&[])?;
        self.socket.shutdown(Shutdown::Write)
    }

    /// Encrypts bytes, and writes them and all else that TLS has to write.
    fn put(&self, bytes: &[u8]) -> io::Result<()> {
        let mut encrypted = Vec::new();
        {
            let mut tls = self.tls();
            if !bytes.is_empty() {
                tls.writer().write_all(bytes)?;
            }
            while tls.wants_write() {
                tls.write_tls(&mut encrypted)?;
            }
        }
        let mut socket = self.socket;
        socket.write_all(&encrypted)
    }

    /// Takes messages until the connection ends.
    fn read(&self) -> Result<(), ChannelFault> {
        let mut assembler = Assembler::new(self.limits.longest_message);
        let mut buffer = vec![0; CHUNK];
        let mut heard = Instant::now();
        // What came with the hello is there already.
        let mut is_over = self.decrypt(&mut assembler, &[])?;
        while !is_over {
            let mut socket = self.socket;
            match socket.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    heard = Instant::now();
                    is_over = self.decrypt(&mut assembler, buffer.get(..count).unwrap_or_default())?;
                }
                Err(error) if is_timeout(&error) || error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    assembler.ended()?;
                    return Err(ChannelFault::Connection { reason: error.to_string() });
                }
            }
            if self.shared.stopped().is_some_and(|since| since.elapsed() > LINGER) {
                return Ok(());
            }
            assembler.check_pace(self.limits.idle)?;
            if heard.elapsed() > self.limits.idle {
                let seconds = self.limits.idle.as_secs();
                return Err(ChannelFault::Slow { what: "a sign of life", seconds });
            }
        }
        assembler.ended()
    }

    /// Decrypts bytes that came, and takes the frames in them; whether the other end has closed.
    fn decrypt(&self, assembler: &mut Assembler, mut bytes: &[u8]) -> Result<bool, ChannelFault> {
        let broken = |error: &dyn std::fmt::Display| ChannelFault::Connection { reason: error.to_string() };
        loop {
            let mut plain = zeroize::Zeroizing::new(Vec::new());
            let is_over;
            {
                let mut tls = self.tls();
                if !bytes.is_empty() {
                    tls.read_tls(&mut bytes).map_err(|error| broken(&error))?;
                }
                let state = tls.process_new_packets().map_err(|error| broken(&error))?;
                plain.resize(state.plaintext_bytes_to_read(), 0);
                is_over = state.peer_has_closed();
                tls.reader().read_exact(&mut plain).map_err(|error| broken(&error))?;
            }
            self.take(assembler, &plain)?;
            if bytes.is_empty() || is_over {
                return Ok(is_over);
            }
        }
    }

    /// Takes the frames in what was decrypted.
    fn take(&self, assembler: &mut Assembler, mut plain: &[u8]) -> Result<(), ChannelFault> {
        while !plain.is_empty() {
            let (taken, frame) = assembler.push(plain)?;
            plain = plain.get(taken..).unwrap_or_default();
            match frame {
                Some(Frame::Message(message)) => {
                    // A link that is dropped takes no more, and hears the others to their end.
                    self.shared.deliver(self.party, self.id, message);
                }
                Some(Frame::Done) => self.shared.done(self.party),
                Some(Frame::Alive) | None => {}
            }
        }
        Ok(())
    }
}

/// Whether a socket gave up waiting.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}
