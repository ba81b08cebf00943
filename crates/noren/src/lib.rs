//! noren
