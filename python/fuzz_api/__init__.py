"""Differential fuzzer of the public API: random programs and mistakes, against numpy.

Every case draws parameters, keys and a program from its seed, and runs the program one call after the other. A call
that returns must be right: within its stated error bound, or exact. A call that raises must raise one of
`fuzz_api.verdict.ALLOWED`. Everything else is a finding: a wrong number, a mistake that was accepted, another
exception, a panic, a crash or a hang.

    python -m fuzz_api --seconds 600             # all schemes, seeds from the clock
    python -m fuzz_api --case ckks:17            # one case again, printed call by call
    python -m fuzz_api --scheme files            # changed files instead of programs; see fuzz_api.files

Cases run in a worker process, so that a crash or a hang is found, and told by its seed.
"""
