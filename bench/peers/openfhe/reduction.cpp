// Many encrypted numbers become one: products in the way of the comparison of Tsuji and Oguchi and as a tree, inner products by
// one product and EvalSum, which is what EvalInnerProduct does. The numbers are those of noren's reduction/values.rs.

#include <cmath>
#include <stdexcept>

#include "bench.h"

namespace {

// Numbers and levels as noren's shape.rs has them.
constexpr uint32_t kLongestChain = 19;

// Of absolute values from 0.98 to 1.
double Factor(size_t j) {
    const double size = 1 - static_cast<double>(37 * j % 101) / 5050;
    return j % 3 == 0 ? -size : size;
}

// From -1 to 1.
double Entry(size_t j, bool second) {
    return second ? static_cast<double>(53 * j % 103) / 51 - 1 : static_cast<double>(37 * j % 101) / 50 - 1;
}

uint32_t Padded(uint32_t count) {
    uint32_t padded = 1;
    while (padded < count) {
        padded *= 2;
    }
    return padded;
}

uint32_t Doublings(uint32_t padded) {
    return static_cast<uint32_t>(std::lround(std::log2(padded)));
}

// The context with the fewest digits that is 128-bit secure: special primes have 60 bits.
Context MakeSecure(uint32_t log_n, uint32_t first, uint32_t scale, uint32_t depth, uint32_t slots) {
    for (uint32_t digits = std::min(3u, depth + 1);; ++digits) {
        lbcrypto::CCParams<lbcrypto::CryptoContextCKKSRNS> parameters;
        parameters.SetRingDim(1u << log_n);
        parameters.SetBatchSize(slots);
        parameters.SetMultiplicativeDepth(depth);
        parameters.SetFirstModSize(first);
        parameters.SetScalingModSize(scale);
        parameters.SetScalingTechnique(lbcrypto::FIXEDMANUAL);
        parameters.SetKeySwitchTechnique(lbcrypto::HYBRID);
        parameters.SetNumLargeDigits(digits);
        parameters.SetSecretKeyDist(lbcrypto::UNIFORM_TERNARY);
        parameters.SetSecurityLevel(lbcrypto::HEStd_128_classic);
        try {
            Context context = GenCryptoContext(parameters);
            for (const auto feature : {lbcrypto::PKE, lbcrypto::KEYSWITCH, lbcrypto::LEVELEDSHE, lbcrypto::ADVANCEDSHE}) {
                context->Enable(feature);
            }
            return context;
        } catch (const lbcrypto::OpenFHEException&) {
            // Too long a modulus for the degree: more digits take fewer special primes.
            if (digits > depth) {
                throw;
            }
        }
    }
}

// A reduction: its record, and what is timed and checked.
struct Reduction {
    const Step& step;
    ReductionOp op;
    const Context& context;
    const Keys& keys;

    void Report(const std::function<Ciphertext()>& call, const std::function<double(size_t)>& expected) const {
        const double start = Now();
        const Ciphertext result = call();
        const double first = Now() - start;
        const bool right = IsRight(context, keys, result, [&](size_t j) { return expected(j); });
        ReportReduction(context, step, op, right, first, [&] { call(); });
    }
};

// The product of the slots from j on.
std::function<double(size_t)> ProductOf(const std::vector<double>& x, uint32_t terms) {
    return [&x, terms](size_t j) {
        double product = 1;
        for (uint32_t i = 0; i < terms; ++i) {
            product *= x[(i + j) % x.size()];
        }
        return product;
    };
}

std::vector<double> Factors(size_t slots, size_t count) {
    std::vector<double> x(slots, 1);
    for (size_t j = 0; j < count; ++j) {
        x[j] = Factor(j);
    }
    return x;
}

void ProductTree(uint32_t count, ReductionOp op, const Step& step) {
    const uint32_t padded = Padded(count), depth = Doublings(padded);
    const Context context = MakeSecure(depth <= 2 ? 13 : 14, 46, 40, depth, padded);
    const double start = Now();
    const Keys keys = context->KeyGen();
    context->EvalMultKeyGen(keys.secretKey);
    std::vector<int32_t> rotations;
    for (uint32_t r = 1; r < padded; r *= 2) {
        rotations.push_back(static_cast<int32_t>(r));
    }
    context->EvalRotateKeyGen(keys.secretKey, rotations);
    op.keys_time = Now() - start;
    op.depth = depth;
    op.slots = padded;
    const auto x = Factors(padded, count);
    const Ciphertext a = context->Encrypt(keys.publicKey, context->MakeCKKSPackedPlaintext(x));
    const auto call = [&] {
        Ciphertext product = a;
        for (const int32_t r : rotations) {
            product = context->EvalMult(product, context->EvalRotate(product, r));
            context->RescaleInPlace(product);
        }
        return product;
    };
    Reduction{step, op, context, keys}.Report(call, ProductOf(x, padded));
}

// Products in a row without bootstrapping.
void ProductChain(uint32_t count, ReductionOp op, const Step& step) {
    const uint32_t depth = count - 1;
    const uint32_t log_n = depth == 1 ? 13 : 16;
    const Context context = MakeSecure(log_n, 50, 45, depth, 1u << (log_n - 1));
    const double start = Now();
    const Keys keys = context->KeyGen();
    context->EvalMultKeyGen(keys.secretKey);
    context->EvalRotateKeyGen(keys.secretKey, {1});
    op.keys_time = Now() - start;
    op.depth = depth;
    op.slots = 1u << (log_n - 1);
    const auto x = Factors(op.slots, op.slots);
    const Ciphertext a = context->Encrypt(keys.publicKey, context->MakeCKKSPackedPlaintext(x));
    const auto call = [&] {
        Ciphertext product = a, high = a;
        for (uint32_t i = 0; i < depth; ++i) {
            if (i > 0) {
                // The operands must have as many primes.
                high = context->LevelReduce(high, nullptr, 1);
            }
            product = context->EvalMult(high, context->EvalRotate(product, 1));
            context->RescaleInPlace(product);
        }
        return product;
    };
    Reduction{step, op, context, keys}.Report(call, ProductOf(x, count));
}

// Products in a row, bootstrapped where their levels end, at the setting of the suite bootstrap.
void ProductBootstrapped(uint32_t count, ReductionOp op, const Step& step) {
    const Bootstrapping setting = MakeBootstrapping(true);
    const Context& context = setting.context;
    double start = Now();
    context->EvalRotateKeyGen(setting.keys.secretKey, {1});
    op.keys_time = setting.keys_time + Now() - start;
    op.depth = count - 1;
    op.slots = context->GetRingDimension() / 2;
    const auto x = Factors(op.slots, op.slots);
    // A fresh ciphertext has as many levels as one that was bootstrapped.
    const auto plain = context->MakeCKKSPackedPlaintext(x, 1, setting.fresh_level, nullptr, op.slots);
    const Ciphertext a = context->Encrypt(setting.keys.publicKey, plain);
    const auto call = [&] {
        op.bootstraps = 0;
        Ciphertext product = a;
        for (uint32_t i = 1; i < count; ++i) {
            if (setting.LevelsLeft(product) == 0) {
                product = context->EvalBootstrap(product);
                ++op.bootstraps;
            }
            product = context->EvalMult(a, context->EvalRotate(product, 1));
        }
        return product;
    };
    // The bootstraps are counted by the call.
    start = Now();
    const Ciphertext result = call();
    const double first = Now() - start;
    const auto expected = ProductOf(x, count);
    const bool right = IsRight(context, setting.keys, result, [&](size_t j) { return expected(j); });
    ReportReduction(context, step, op, right, first, [&] { call(); });
}

void InnerProduct(uint32_t count, ReductionOp op, const Step& step) {
    const uint32_t padded = Padded(count);
    const Context context = MakeSecure(13, 50, 40, 1, padded);
    const double start = Now();
    const Keys keys = context->KeyGen();
    context->EvalMultKeyGen(keys.secretKey);
    context->EvalSumKeyGen(keys.secretKey);
    op.keys_time = Now() - start;
    op.depth = 1;
    op.slots = padded;
    std::vector<double> x(padded), y(padded);
    double total = 0;
    for (size_t j = 0; j < count; ++j) {
        x[j] = Entry(j, false);
        y[j] = Entry(j, true);
        total += x[j] * y[j];
    }
    const auto encrypt = [&](const std::vector<double>& values) {
        return context->Encrypt(keys.publicKey, context->MakeCKKSPackedPlaintext(values));
    };
    const Ciphertext a = encrypt(x), b = encrypt(y);
    const auto call = [&] {
        Ciphertext product = context->EvalMult(a, b);
        // Before the rotations, which then have one prime less.
        context->RescaleInPlace(product);
        return context->EvalSum(product, padded);
    };
    Reduction{step, op, context, keys}.Report(call, [&](size_t) { return total; });
}

}  // namespace

void RunReduction(const std::string& suite, const std::string& way, uint32_t count, const Step& step) {
    if (count < 2) {
        throw std::invalid_argument("a reduction needs at least two numbers");
    }
    const ReductionOp op{suite, way, count};
    if (suite == "inner-product") {
        // It has one way.
        if (way == "paper") {
            InnerProduct(count, op, step);
        }
    } else if (way == "tree") {
        ProductTree(count, op, step);
    } else if (count - 1 <= kLongestChain) {
        ProductChain(count, op, step);
    } else {
        ProductBootstrapped(count, op, step);
    }
}
