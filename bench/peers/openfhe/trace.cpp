// Sums over 128 slots at each level: rotate and sum, and three iterations of hoisted rotations that are divided by the
// special modulus once.

#include "bench.h"

namespace {

constexpr size_t kSummed = 128;

Ciphertext RotateAndSum(const Context& context, Ciphertext ct) {
    for (size_t k = 1; k < kSummed; k *= 2) {
        ct = context->EvalAdd(ct, context->EvalRotate(ct, static_cast<int32_t>(k)));
    }
    return ct;
}

// The rotations of each iteration: chunks of two, two and three doublings.
std::vector<std::vector<int32_t>> Iterations() {
    std::vector<std::vector<int32_t>> iterations;
    int32_t reached = 1;
    for (const int32_t factor : {4, 4, 8}) {
        iterations.emplace_back();
        for (int32_t j = 1; j < factor; ++j) {
            iterations.back().push_back(j * reached);
        }
        reached *= factor;
    }
    return iterations;
}

Ciphertext Unrolled(const Context& context, Ciphertext ct, const std::vector<std::vector<int32_t>>& iterations) {
    for (const auto& rotations : iterations) {
        const auto digits = context->EvalFastRotationPrecompute(ct);
        Ciphertext sum;
        for (const int32_t k : rotations) {
            auto rotated = context->EvalFastRotationExt(ct, static_cast<uint32_t>(k), digits, true);
            if (!sum) {
                sum = rotated;
                continue;
            }
            // There is no public addition of extended ciphertexts.
            auto& elements = sum->GetElements();
            for (size_t i = 0; i < elements.size(); ++i) {
                elements[i] += rotated->GetElements()[i];
            }
        }
        ct = context->EvalAdd(ct, context->KeySwitchDown(sum));
    }
    return ct;
}

}  // namespace

void RunTrace(const Shape& shape, const Step& step) {
    const Context context = MakeContext(shape);
    const Keys keys = context->KeyGen();
    const auto iterations = Iterations();
    std::vector<int32_t> all;
    for (const auto& rotations : iterations) {
        // The rotations by powers of two are among these.
        all.insert(all.end(), rotations.begin(), rotations.end());
    }
    context->EvalRotateKeyGen(keys.secretKey, all);
    const Values x = MakeValues(shape);
    const auto sum = [&](size_t j) {
        std::complex<double> total = 0;
        for (size_t i = 0; i < kSummed; ++i) {
            total += x[(j + i) % x.size()];
        }
        return total;
    };
    for (const int level : step.levels) {
        const auto used = shape.limbs - 1 - static_cast<uint32_t>(level);
        const auto plain = context->MakeCKKSPackedPlaintext(x, 1, used);
        const Ciphertext ct = context->Encrypt(keys.publicKey, plain);
        const auto report = [&](const std::string& method, size_t count, const std::function<Ciphertext()>& f) {
            const Op op{"trace", "trace", method + "; keys for all levels", 1, level, count, method};
            Report(context, shape, step, op, IsRight(context, keys, f(), sum), [&] { f(); });
        };
        report("rotate and sum", 7, [&] { return RotateAndSum(context, ct); });
        report("unrolled, 3 iterations", all.size(), [&] { return Unrolled(context, ct, iterations); });
    }
    context->ClearEvalAutomorphismKeys();
}
