//! Gates on the way to a database or a storage, which can be shut.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A gate on the way to a port: while it is shut, nothing passes and open connections are cut.
pub(crate) struct Gate {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    is_shut: bool,
    open: Vec<TcpStream>,
}

impl Gate {
    pub(crate) fn before(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, state) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(State::default())));
        let shared = Arc::clone(&state);
        // The thread ends with the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                pass(stream.unwrap(), ([127, 0, 0, 1], target).into(), &shared);
            }
        });
        Self { port, state }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Opens the gate, or shuts it.
    pub(crate) fn set(&self, is_open: bool) {
        let mut state = self.state.lock().unwrap();
        state.is_shut = !is_open;
        if !is_open {
            state.open.drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        }
    }
}

/// Lets a connection pass, if the gate is open.
fn pass(stream: TcpStream, target: SocketAddr, state: &Mutex<State>) {
    let mut state = state.lock().unwrap();
    if state.is_shut {
        return;
    }
    let Ok(other) = TcpStream::connect(target) else { return };
    for stream in [&stream, &other] {
        stream.set_nodelay(true).unwrap();
        state.open.push(stream.try_clone().unwrap());
    }
    for (mut from, mut to) in [(stream.try_clone().unwrap(), other.try_clone().unwrap()), (other, stream)] {
        std::thread::spawn(move || {
            drop(io::copy(&mut from, &mut to));
            drop(to.shutdown(Shutdown::Write));
        });
    }
}
