//! Long work ends when it is told to, on any number of threads, and reports its steps.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use noren_ring::engine::Engine;
use noren_ring::interrupt::{Interrupt, Interrupted, Steps};
use noren_ring::parallel::Parallel;

/// Words for which loops are shared out.
const MANY: usize = 1 << 20;
/// Far longer than a test takes.
const LONG: Duration = Duration::from_secs(60);

fn engines() -> [Engine; 3] {
    [None, Some(1), Some(3)].map(|threads| Engine::new(threads, Parallel::default(), 0).expect("threads"))
}

/// A loop of tasks of a millisecond, which takes [`LONG`] on one thread.
fn work(engine: &Engine, done: &AtomicUsize) {
    engine.run_with(
        MANY,
        0..LONG.as_millis(),
        || (),
        |(), _| {
            thread::sleep(Duration::from_millis(1));
            done.fetch_add(1, Ordering::Relaxed);
        },
    );
}

#[test]
fn another_thread_ends_a_loop() {
    for engine in engines() {
        let (interrupt, done) = (Interrupt::new(), AtomicUsize::new(0));
        let start = Instant::now();
        let result = thread::scope(|scope| {
            scope.spawn(|| {
                while done.load(Ordering::Relaxed) == 0 {
                    thread::sleep(Duration::from_millis(1));
                }
                interrupt.stop();
            });
            interrupt.run(|| work(&engine, &done))
        });
        assert_eq!(result, Err(Interrupted));
        assert!(start.elapsed() < LONG / 6);
        assert_eq!(engine.map(vec![1, 2, 3], |x| 2 * x), [2, 4, 6], "the engine works as before");
    }
}

#[test]
fn a_watcher_is_called_on_the_thread_that_started_the_work() {
    for engine in engines() {
        let (caller, calls) = (thread::current().id(), Arc::new(AtomicUsize::new(0)));
        let counted = calls.clone();
        let watch = move || {
            assert_eq!(thread::current().id(), caller);
            counted.fetch_add(1, Ordering::Relaxed) == 2
        };
        let interrupt = Interrupt::with(Some(Box::new(watch)), None);
        assert_eq!(interrupt.run(|| work(&engine, &AtomicUsize::new(0))), Err(Interrupted));
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }
}

#[test]
fn the_outermost_loop_reports_its_steps() {
    for engine in engines() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let told = heard.clone();
        let listen = move |done, of| told.lock().expect("no panic").push((done, of));
        let interrupt = Interrupt::with(None, Some(Box::new(listen)));
        let result = interrupt.run(|| {
            let outer = Steps::new(4);
            engine.map(vec![(); 4], |()| {
                Steps::new(10).advance(10);
                outer.advance(1);
            });
        });
        assert_eq!(result, Ok(()));
        let mut heard = heard.lock().expect("no panic").clone();
        heard.sort_unstable();
        assert_eq!(heard, [(1, 4), (2, 4), (3, 4), (4, 4)]);
    }
}

#[test]
fn a_panic_is_no_interrupt() {
    let result = std::panic::catch_unwind(|| Interrupt::new().run(|| panic!("a bug")));
    assert_eq!(*result.expect_err("the panic goes on").downcast::<&str>().expect("its message"), "a bug");
}
