"""The whole way once with parameters that are secure."""

import pickle

import numpy as np

from noren import ckks, programs


def test_a_mean_under_128_bit_security() -> None:
    table = np.random.default_rng(3).uniform(-5, 5, (100, 4))
    mean = programs.Program("mean")
    depth = programs.plan([mean], rows=100, columns=4, slots=4096).depth
    params = ckks.Parameters.for_requirements(depth=depth, precision_bits=15, slots=512)
    assert params.security == 128

    client = ckks.Context(params)
    keys = programs.plan([mean], rows=100, columns=4, slots=client.slots).keygen(client)
    sent = pickle.dumps((keys.evaluation, programs.encrypt_table(table, keys.secret, max_abs=[5] * 4)))

    evaluation, encrypted = pickle.loads(sent)
    server = ckks.Context(evaluation.parameters)
    reply = bytes(programs.run(server.evaluator(evaluation), mean, encrypted))

    matrix = programs.decrypt_table(programs.EncryptedTable.from_bytes(client, reply), keys.secret)
    assert (np.abs(matrix.values[0] - table.mean(axis=0)) <= matrix.errors[0]).all()
    assert matrix.errors.max() < 1e-3
