//! noren-ring
