//! The choice of the instruction set.

use sunzi_kernels::internals::choose_isa as choose;
use sunzi_kernels::{Isa, KernelError};

#[test]
fn override_is_obeyed_or_refused() {
    assert_eq!(choose(Some("sse9".into())), Err(KernelError::UnknownIsa { value: "sse9".into() }));
    for isa in Isa::ALL {
        let refused = Err(KernelError::UnavailableIsa { isa });
        let expected = if isa.is_available() { Ok(isa) } else { refused };
        assert_eq!(choose(Some(isa.to_string().into())), expected);
    }
    assert_eq!(choose(None).ok(), Isa::ALL.into_iter().find(|isa| isa.is_available()));
}
