//! noren-rlwe
