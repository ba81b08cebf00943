// Operations on full ciphertexts.

#include <numeric>

#include "bench.h"

void RunCkks(const Shape& shape, const Step& step) {
    const Context context = MakeContext(shape);
    const Keys keys = context->KeyGen();
    std::vector<int32_t> steps(8);
    std::iota(steps.begin(), steps.end(), 1);
    context->EvalMultKeyGen(keys.secretKey);
    context->EvalRotateKeyGen(keys.secretKey, steps);

    const Values x = MakeValues(shape);
    const auto encode = [&] { return context->MakeCKKSPackedPlaintext(x); };
    const auto plain = encode();
    const auto encrypt = [&] { return context->Encrypt(keys.publicKey, plain); };
    const Ciphertext a = encrypt();
    const Ciphertext b = encrypt();
    const auto multiply = [&] { return context->Rescale(context->EvalMult(a, b)); };
    const auto hoisted = [&] {
        const auto digits = context->EvalFastRotationPrecompute(a);
        std::vector<Ciphertext> all;
        for (const int32_t k : steps) {
            all.push_back(context->EvalFastRotation(a, static_cast<uint32_t>(k), digits));
        }
        return all;
    };
    const auto turned = [&](size_t k) { return [&x, k](size_t j) { return x[(j + k) % x.size()]; }; };
    const auto square = [&](size_t j) { return x[j] * x[j]; };

    const auto right = [&](const Ciphertext& ct, const std::function<std::complex<double>(size_t)>& expected) {
        return IsRight(context, keys, ct, expected);
    };
    const auto report = [&](const char* op, const char* note, double per, bool ok, const std::function<void()>& f) {
        Report(context, shape, step, {"ckks", op, note, per, {}, 0, ""}, ok, f);
    };
    const bool fresh = right(a, turned(0));
    report("encode", "", 1, fresh, [&] { encode(); });
    report("encrypt", "public key", 1, fresh, [&] { encrypt(); });
    report("decrypt", "with decoding", 1, fresh, [&] {
        lbcrypto::Plaintext decrypted;
        context->Decrypt(keys.secretKey, a, &decrypted);
    });
    report("add", "", 1, right(context->EvalAdd(a, b), [&](size_t j) { return 2.0 * x[j]; }),
           [&] { context->EvalAdd(a, b); });
    report("mul_plain", "without rescaling", 1, right(context->EvalMult(a, plain), square),
           [&] { context->EvalMult(a, plain); });
    report("mul_relin_rescale", "", 1, right(multiply(), square), [&] { multiply(); });
    report("rotate", "", 1, right(context->EvalRotate(a, 1), turned(1)), [&] { context->EvalRotate(a, 1); });
    bool ok = true;
    const auto all = hoisted();
    for (size_t i = 0; i < all.size(); ++i) {
        ok = ok && right(all[i], turned(i + 1));
    }
    report("rotate_hoisted", "per rotation of eight", static_cast<double>(steps.size()), ok, [&] { hoisted(); });
    context->ClearEvalMultKeys();
    context->ClearEvalAutomorphismKeys();
}
