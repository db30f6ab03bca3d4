//! The vhost-user protocol, as far as a virtio network card of User-Mode Linux needs it.
//!
//! Source: the vhost-user specification (QEMU docs/interop/vhost-user.rst) and the behaviour of
//! Linux 7.2 arch/um/drivers/virtio_uml.c. Kicks and calls travel as messages
//! (INBAND_NOTIFICATIONS) and each is answered, so that nothing is under way when time moves on.
//! Left out: several queue pairs, migration, an IOMMU, descriptors for kicks and calls.
//! Why this is not the `vhost` crate: docs/decisions/0007-kernels-in-virtual-time.md.

mod message;
mod session;

pub(crate) use message::{Header, REPLY_FLAGS, call_message};
pub(crate) use session::{Answer, Session};
