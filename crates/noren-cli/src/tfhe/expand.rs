//! `noren expand` of server keys of TFHE: as they lie in memory, in a file that is mapped.

use noren::tfhe::ServerKeyFile;

use crate::console::Console;
use crate::failure::Failure;
use crate::jobs::Expansion;
use crate::takes;
use crate::tfhe::files::ServerKeyForm;

pub(super) fn run(job: Expansion<'_>, console: &Console) -> Result<(), Failure> {
    let open = || ServerKeyForm::open(job.input, &takes::EXPAND_INPUT, console);
    job.run(console, open, |(context, keys), to| Ok(ServerKeyFile::write(to, &context, &*keys.expanded(&context)?)?))
}
