// Products that follow one another, with a fresh ciphertext and of the ciphertext with itself, at the parameters of the
// comparison of Tsuji and Oguchi: for each depth OpenFHE chooses its moduli for integers itself.

#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "bench.h"

namespace {

constexpr int64_t kPlaintextModulus = 65537;
constexpr uint32_t kLogNOfIntegers = 15;

// Whether keys of the kind BV are faster: one digit for each prime, and no special primes. BGV gains while primes are few. With
// them BFV takes a prime more at small depths, and no more at large ones.
template <typename Scheme>
bool PrefersBv(uint32_t depth) {
    return std::is_same_v<Scheme, lbcrypto::CryptoContextBFVRNS> ? depth >= 8 : depth <= 6;
}

// BFV or BGV, with the defaults of OpenFHE but for what is set.
template <typename Scheme>
Context MakeIntegers(uint32_t depth) {
    lbcrypto::CCParams<Scheme> parameters;
    parameters.SetPlaintextModulus(kPlaintextModulus);
    parameters.SetMultiplicativeDepth(depth);
    parameters.SetRingDim(1u << kLogNOfIntegers);
    parameters.SetSecurityLevel(lbcrypto::HEStd_128_classic);
    parameters.SetSecretKeyDist(lbcrypto::UNIFORM_TERNARY);
    parameters.SetKeySwitchTechnique(PrefersBv<Scheme>(depth) ? lbcrypto::BV : lbcrypto::HYBRID);
    if constexpr (std::is_same_v<Scheme, lbcrypto::CryptoContextBGVRNS>) {
        // Faster than OpenFHE's automatic ways to rescale.
        parameters.SetScalingTechnique(lbcrypto::FIXEDMANUAL);
    }
    Context context = GenCryptoContext(parameters);
    for (const auto feature : {lbcrypto::PKE, lbcrypto::KEYSWITCH, lbcrypto::LEVELEDSHE}) {
        context->Enable(feature);
    }
    return context;
}

int64_t Reduced(int64_t number) {
    return (number % kPlaintextModulus + kPlaintextModulus) % kPlaintextModulus;
}

// Numbers as every driver takes them, between -t/2 and t/2.
std::vector<int64_t> MakeNumbers(int64_t step) {
    std::vector<int64_t> numbers(size_t{1} << kLogNOfIntegers);
    for (size_t j = 0; j < numbers.size(); ++j) {
        const int64_t number = Reduced(static_cast<int64_t>(j) * step + 3);
        numbers[j] = number > kPlaintextModulus / 2 ? number - kPlaintextModulus : number;
    }
    return numbers;
}

void ReportChains(const Context& context, const std::string& scheme, uint32_t depth, const Step& step,
                  const Ciphertext& a, const Ciphertext& b, const std::function<bool(const Ciphertext&, bool)>& right) {
    // BFV has no moduli to drop.
    const bool drops = scheme != "bfv";
    const auto product = [&](const Ciphertext& x, bool squares) {
        Ciphertext made = squares ? context->EvalSquare(x) : context->EvalMult(x, b);
        if (drops) {
            context->RescaleInPlace(made);
        }
        return made;
    };
    const auto chain = [&](bool squares) {
        Ciphertext x = product(a, squares);
        for (uint32_t i = 1; i < depth; ++i) {
            x = product(x, squares);
        }
        return x;
    };
    for (const bool squares : {false, true}) {
        ReportChain(context, step, squares ? "chain_squares" : "chain", scheme, depth, right(chain(squares), squares),
                    [&] { chain(squares); });
    }
    context->ClearEvalMultKeys();
}

void ChainOfIntegers(const std::string& scheme, uint32_t depth, const Step& step) {
    const Context context = scheme == "bfv" ? MakeIntegers<lbcrypto::CryptoContextBFVRNS>(depth)
                                            : MakeIntegers<lbcrypto::CryptoContextBGVRNS>(depth);
    const Keys keys = context->KeyGen();
    context->EvalMultKeyGen(keys.secretKey);
    const auto x = MakeNumbers(5), y = MakeNumbers(7);
    const auto encrypt = [&](const std::vector<int64_t>& numbers) {
        return context->Encrypt(keys.publicKey, context->MakePackedPlaintext(numbers));
    };
    const auto right = [&](const Ciphertext& found, bool squares) {
        lbcrypto::Plaintext decrypted;
        context->Decrypt(keys.secretKey, found, &decrypted);
        decrypted->SetLength(x.size());
        const auto& numbers = decrypted->GetPackedValue();
        for (size_t j = 0; j < x.size(); ++j) {
            int64_t expected = x[j];
            for (uint32_t i = 0; i < depth; ++i) {
                expected = Reduced(expected * (squares ? expected : y[j]));
            }
            if (Reduced(numbers[j]) != expected) {
                return false;
            }
        }
        return true;
    };
    ReportChains(context, scheme, depth, step, encrypt(x), encrypt(y), right);
}

void ChainOfNumbers(uint32_t depth, const Step& step) {
    const Shape shape{16, 48, 45, depth + 1, (depth + 3) / 3};
    const Context context = MakeContext(shape);
    const Keys keys = context->KeyGen();
    context->EvalMultKeyGen(keys.secretKey);
    const Values x = MakeValues(shape);
    const auto plain = context->MakeCKKSPackedPlaintext(x);
    const auto right = [&](const Ciphertext& found, bool squares) {
        const int power = squares ? 1 << depth : static_cast<int>(depth) + 1;
        return IsRight(context, keys, found, [&](size_t j) { return std::pow(x[j], power); });
    };
    const Ciphertext a = context->Encrypt(keys.publicKey, plain), b = context->Encrypt(keys.publicKey, plain);
    ReportChains(context, "ckks", depth, step, a, b, right);
}

}  // namespace

void RunChain(const std::string& scheme, uint32_t depth, const Step& step) {
    if (scheme == "ckks") {
        ChainOfNumbers(depth, step);
    } else if (scheme == "bfv" || scheme == "bgv") {
        ChainOfIntegers(scheme, depth, step);
    } else {
        throw std::invalid_argument("there is no scheme " + scheme);
    }
}
