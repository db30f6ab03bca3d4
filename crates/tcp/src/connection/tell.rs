//! How the congestion control is told of what happens, without a `View` of all there is being gathered for it: where
//! a control is called by name, the compiler gathers what it reads and no more.

/// Does something in a function of its own, so that what most connections do for every segment lies close
/// together: it has to fit the processor's cache of instructions.
#[cold]
#[inline(never)]
pub(super) fn apart<R>(what: impl FnOnce() -> R) -> R {
    what()
}

/// Tells the congestion control of something. Those of the first list are called where it happens, those of
/// the second apart, so that of the `View` only what they read is gathered.
macro_rules! tell_with {
    (@among [] $connection:ident,
        $view:ident($now:expr), $hook:ident $arguments:tt, $others:block) => {
        $others
    };
    (@among [$($name:ident),*] $connection:ident,
        $view:ident($now:expr), $hook:ident $arguments:tt, $others:block) => {
        match $connection.congestion {
            $($crate::congestion::Congestion::$name(_) => {
                use $crate::congestion::CongestionControl as _;
                let view = $connection.$view($now);
                if let $crate::congestion::Congestion::$name(control) = &mut $connection.congestion {
                    $crate::connection::tell_with!(@call control, $connection, view, $hook $arguments);
                }
            })*
            _ => $others,
        }
    };
    (@any $connection:ident, $view:ident($now:expr), $hook:ident $arguments:tt) => {
        let view = $connection.$view($now);
        let control = &mut $connection.congestion;
        $crate::connection::tell_with!(@call control, $connection, view, $hook $arguments);
    };
    (@call $control:ident, $connection:ident, $view:ident, $hook:ident($($argument:expr),*)) => {
        $control.$hook(&mut $connection.window, &$view, $($argument),*)
    };
    ([$($here:ident),*], [$($apart:ident),*], $connection:ident, $($rest:tt)*) => {{
        let connection: &mut Connection = $connection;
        $crate::connection::tell_with!(@among [$($here),*] connection, $($rest)*, {
            $crate::connection::apart(move || {
                $crate::connection::tell_with!(@among [$($apart),*] connection, $($rest)*, {
                    $crate::connection::tell_with!(@any connection, $($rest)*);
                })
            })
        })
    }};
}
pub(super) use tell_with;
