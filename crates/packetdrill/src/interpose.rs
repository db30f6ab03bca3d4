//! libc functions that packetdrill calls beside the table of the interface.
//!
//! It asks `getsockopt` for tcp_info when a script has code to check it, and spins on `times` to
//! begin just after a tick. Preloaded, these take their place: the first answers for the host's
//! sockets and hands all others on, the second lets virtual time pass. And it asks for real-time
//! priority and locked memory, which virtual time has no need of and a user without privileges may
//! not have.

use std::ffi::{c_int, c_long, c_void};
use std::sync::OnceLock;

use tailback_units::Duration;

use crate::ffi;

type GetSockOpt =
    unsafe extern "C" fn(c_int, c_int, c_int, *mut c_void, *mut libc::socklen_t) -> c_int;

/// Ticks of `times` a second (sysconf(_SC_CLK_TCK) on Linux).
const CLOCK_TICKS: u64 = 100;

/// getsockopt(2)
///
/// # Safety
///
/// As libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut libc::socklen_t,
) -> c_int {
    // SAFETY: value and length are valid as the caller promises.
    if let Some(answer) = unsafe { ffi::own_getsockopt(fd, level, name, value, length) } {
        return answer;
    }
    static REAL: OnceLock<Option<GetSockOpt>> = OnceLock::new();
    let real = REAL.get_or_init(|| {
        // SAFETY: the symbol is libc's function of this name and type.
        unsafe {
            let found = libc::dlsym(libc::RTLD_NEXT, c"getsockopt".as_ptr());
            (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, GetSockOpt>(found))
        }
    });
    match real {
        // SAFETY: as the caller promises.
        Some(real) => unsafe { real(fd, level, name, value, length) },
        None => -1,
    }
}

/// times(2), of which only the clock ticks are filled in: none of the process's times are.
///
/// # Safety
///
/// `buffer` is null or points to a `tms`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn times(buffer: *mut libc::tms) -> c_long {
    if !buffer.is_null() {
        // SAFETY: it points to a tms; all its fields are integers.
        unsafe { buffer.write_bytes(0, 1) };
    }
    match ffi::running() {
        Some(shared) => {
            let tick = Duration::from_secs(1) / CLOCK_TICKS;
            shared.sleep(tick);
            (shared.now().as_ps() / tick.as_ps()) as c_long
        }
        None => {
            let mut now = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            // SAFETY: `now` is a timespec.
            unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
            let nanoseconds = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
            (nanoseconds / (1_000_000_000 / CLOCK_TICKS)) as c_long
        }
    }
}

/// mlockall(2): nothing is locked.
#[unsafe(no_mangle)]
pub extern "C" fn mlockall(_flags: c_int) -> c_int {
    0
}

/// sched_setscheduler(2): the priority stays as it is.
#[unsafe(no_mangle)]
pub extern "C" fn sched_setscheduler(
    _pid: libc::pid_t,
    _policy: c_int,
    _parameters: *const c_void,
) -> c_int {
    0
}
