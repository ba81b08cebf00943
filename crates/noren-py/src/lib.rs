//! noren-py
