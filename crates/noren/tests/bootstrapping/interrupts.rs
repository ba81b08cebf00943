//! Setting bootstrapping up and loading its keys ends when it is told to.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use noren::bootstrapping::{BootstrapKeyFile, BootstrapKeys, Bootstrapper, Mode, Preset};
use noren::ckks::{Context, KeyRequest};
use noren::wire::{Form, Limits, Object};
use noren::{Interrupt, Interrupted, Resources, Seed};

use crate::scratch::Scratch;

#[test]
fn setting_up_and_loading_ends_when_it_is_told_to() {
    /// Without interrupts, far longer than a test takes.
    const TIMES: usize = 10_000;
    let parameters = Preset::Toy.parameters().expect("a preset");
    let context = Context::new(parameters.ckks().expect("primes")).expect("rings");
    let keys = context.generate_keys(Seed::from_bytes([1; 32]), &KeyRequest::default()).expect("keys");
    let bootstrap = BootstrapKeys::generate(&context, &parameters, &keys.secret, Seed::from_bytes([2; 32]), None);
    let bootstrap = Arc::new(bootstrap.expect("keys"));
    let scratch = Scratch::new("interrupts");
    let path = scratch.path("keys");
    let file =
        BootstrapKeyFile { context: context.clone(), parameters: parameters.clone(), keys: Arc::clone(&bootstrap) };
    file.write_file(&(), Form::Packed, &path).expect("a directory of its own");
    let set_up =
        || drop(Bootstrapper::new(&context, &parameters, Arc::clone(&bootstrap), Mode::Real).expect("its keys"));
    let resources = Resources::of_machine(&path);
    let load = || drop(BootstrapKeyFile::open(&path, &Limits::default(), &resources, &mut |_| {}).expect("whole"));
    let works: [&(dyn Fn() + Sync); 2] = [&set_up, &load];
    for work in works {
        let interrupt = Interrupt::new();
        let result = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                interrupt.stop();
            });
            interrupt.run(|| (0..TIMES).for_each(|_| work()))
        });
        assert_eq!(result, Err(Interrupted));
        work();
    }
}
