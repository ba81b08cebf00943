//! The limits of both parties.

use noren_rlwe::error::{Error, Result};

use crate::cost::price::{Party, Price};

/// Limits of both parties. Where no memory is said, it is that of the machines.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// The most memory of the server, in bytes.
    pub server_memory: Option<u64>,
    /// The most memory of the client, in bytes.
    pub client_memory: Option<u64>,
    /// The longest that the server may take, in seconds.
    pub server_seconds: Option<f64>,
    /// The longest that the client may take, keys included, in seconds.
    pub client_seconds: Option<f64>,
}

impl Limits {
    /// Refuses times that are no times: nothing is longer than what is not a number.
    ///
    /// # Errors
    /// [`Error::Parameters`] names the limit.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, limit) in [("server_seconds", self.server_seconds), ("client_seconds", self.client_seconds)] {
            if let Some(seconds) = limit.filter(|seconds| !(seconds.is_finite() && *seconds > 0.0)) {
                return Err(Error::parameter(name, seconds, "a positive number of seconds, or no limit"));
            }
        }
        Ok(())
    }

    /// The same, with the memory of the machines where no other limit is set.
    pub(crate) fn within(&self, client: &Party, server: &Party) -> Self {
        Self {
            server_memory: self.server_memory.or(Some(server.machine.memory)),
            client_memory: self.client_memory.or(Some(client.machine.memory)),
            ..*self
        }
    }

    /// The limits that a price keeps, each as it is where the price keeps it.
    pub(super) fn wider(&self, price: &Price) -> Self {
        let bytes = |limit: Option<u64>, found: u64| {
            limit.map(
                |limit| if found > limit { found.checked_next_multiple_of(1 << 20).unwrap_or(u64::MAX) } else { limit },
            )
        };
        let seconds = |limit: Option<f64>, found: f64| {
            limit.map(|limit| if found > limit { libm::ceil(found * 1000.0) / 1000.0 } else { limit })
        };
        Self {
            server_memory: bytes(self.server_memory, price.server_memory),
            client_memory: bytes(self.client_memory, price.client_memory),
            server_seconds: seconds(self.server_seconds, price.server_seconds),
            client_seconds: seconds(self.client_seconds, price.client_seconds()),
        }
    }

    /// The limits that differ from others, in words.
    pub(super) fn differences(&self, other: &Self) -> String {
        let bytes = [
            (self.server_memory, other.server_memory, "MiB of server_memory"),
            (self.client_memory, other.client_memory, "MiB of client_memory"),
        ];
        let seconds = [
            (self.server_seconds, other.server_seconds, "server_seconds"),
            (self.client_seconds, other.client_seconds, "client_seconds"),
        ];
        let bytes = bytes.into_iter().filter(|(limit, other, _)| limit != other);
        let bytes = bytes.filter_map(|(limit, _, name)| Some(format!("{} {name}", limit? >> 20)));
        let seconds = seconds.into_iter().filter(|(limit, other, _)| limit != other);
        let seconds = seconds.filter_map(|(limit, _, name)| Some(format!("{} {name}", limit?)));
        bytes.chain(seconds).collect::<Vec<_>>().join(" and ")
    }

    /// By how much a price exceeds a limit, as a ratio, and what of it; nothing if it keeps all of them.
    pub(crate) fn exceeded(&self, price: &Price) -> Option<(f64, String)> {
        let mebibytes = |bytes: u64| format!("{:.0} MiB", bytes as f64 / 1_048_576.0);
        let seconds = |seconds: f64| format!("{seconds:.3} s");
        let memory = [
            (self.server_memory, price.server_memory, "of memory on the server"),
            (self.client_memory, price.client_memory, "of memory on the client"),
        ];
        let times = [
            (self.server_seconds, price.server_seconds, "on the server"),
            (self.client_seconds, price.client_seconds(), "on the client"),
        ];
        let memory = memory.into_iter().filter_map(|(limit, found, place)| {
            let limit = limit?;
            let text = format!("takes {} {place}, {} are allowed", mebibytes(found), mebibytes(limit));
            Some((found as f64 / limit.max(1) as f64, text))
        });
        let times = times.into_iter().filter_map(|(limit, found, place)| {
            let limit = limit?;
            Some((found / limit, format!("takes {} {place}, {} are allowed", seconds(found), seconds(limit))))
        });
        memory.chain(times).filter(|(excess, _)| *excess > 1.0).max_by(|(a, _), (b, _)| a.total_cmp(b))
    }
}
