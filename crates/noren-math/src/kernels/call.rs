//! The call of a function of a table, and the check of its rows.

/// Calls a kernel: the one place where a table's functions are called.
macro_rules! call {
    ($table:ident.$($kernel:ident).+($($argument:expr),*)) => {{
        let _mode = $crate::machine::float_mode::StandardMode::enter();
        // SAFETY: the functions of a table need nothing but a CPU with the instructions that its
        // `supported` looks for, and a table leaves `kernels` only through `available`, after
        // `supported` said yes.
        unsafe { ($table.$($kernel).+)($($argument),*) }
    }};
}

pub(super) use call;

#[track_caller]
pub(super) fn assert_lengths(expected: usize, found: &[usize]) {
    for &len in found {
        assert_eq!(len, expected, "the rows of one call need one length");
    }
}
