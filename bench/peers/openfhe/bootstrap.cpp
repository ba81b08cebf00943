// Bootstrapping at OpenFHE's best documented setting for 2^15 slots and 128 bits: a sparse secret encapsulated in a dense
// one, slots to coefficients first, three levels for each transform, a scale of 50 bits.

#include <array>
#include <cmath>
#include <map>

#include "bench.h"
#include "scheme/ckksrns/ckksrns-fhe.h"

namespace {

constexpr uint32_t kLogN = 16, kScale = 50, kFirst = 57;
const std::vector<uint32_t> kLevelBudget = {3, 3};
// Of the levels after bootstrapping, the transform takes three and the adjustment of the scale one.
constexpr uint32_t kLevelsAfter = 11;
// Tells right results from wrong ones.
constexpr double kLeastBits = 8;

// A kind of message.
struct Message {
    std::string name;
    Values values;
};

// In bits: of the worst slot, and of the root of the mean square.
using Precision = std::array<double, 2>;

// The messages that every library bootstraps, of absolute values up to 1.
std::vector<Message> Messages(size_t slots, bool real) {
    uint64_t state = 1;
    // Knuth's generator; the upper bits are the good ones. In [-1, 1).
    const auto next = [&state] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state >> 11) / static_cast<double>(uint64_t{1} << 52) - 1;
    };
    std::vector<Message> all = {{"random complex", Values(slots)}, {"random real", Values(slots)},
                                {"constant 1", Values(slots, 1)},  {"constant i", Values(slots, {0, 1})},
                                {"one-hot", Values(slots)},        {"alternating", Values(slots)}};
    for (auto& x : all[0].values) {
        const double re = next() / std::sqrt(2);
        x = {re, next() / std::sqrt(2)};
    }
    for (size_t j = 0; j < slots; ++j) {
        all[1].values[j] = next();
        all[5].values[j] = j % 2 == 0 ? 1 : -1;
    }
    all[4].values[slots / 3] = 1;
    if (real) {
        all.erase(all.begin() + 3);
        all.erase(all.begin());
    }
    return all;
}

Precision Bits(const Values& found, const Values& expected) {
    double worst = 0, sum = 0;
    for (size_t j = 0; j < expected.size(); ++j) {
        const double distance = std::abs(found[j] - expected[j]);
        if (std::isnan(distance)) {
            return {-1e3, -1e3};
        }
        worst = std::max(worst, distance);
        sum += distance * distance;
    }
    return {-std::log2(worst), -std::log2(sum / static_cast<double>(expected.size())) / 2};
}

// The context with the fewest digits that is 128-bit secure.
Context MakeBootstrapContext(bool real, uint32_t depth, uint32_t* digits) {
    for (*digits = 3;; ++*digits) {
        lbcrypto::CCParams<lbcrypto::CryptoContextCKKSRNS> parameters;
        parameters.SetSecretKeyDist(lbcrypto::SPARSE_ENCAPSULATED);
        parameters.SetSecurityLevel(lbcrypto::HEStd_128_classic);
        parameters.SetRingDim(1u << kLogN);
        parameters.SetScalingModSize(kScale);
        parameters.SetFirstModSize(kFirst);
        parameters.SetScalingTechnique(lbcrypto::FLEXIBLEAUTO);
        parameters.SetKeySwitchTechnique(lbcrypto::HYBRID);
        parameters.SetNumLargeDigits(*digits);
        parameters.SetCKKSDataType(real ? lbcrypto::REAL : lbcrypto::COMPLEX);
        parameters.SetMultiplicativeDepth(depth);
        try {
            Context context = GenCryptoContext(parameters);
            for (const auto feature : {lbcrypto::PKE, lbcrypto::KEYSWITCH, lbcrypto::LEVELEDSHE, lbcrypto::ADVANCEDSHE,
                                       lbcrypto::FHE}) {
                context->Enable(feature);
            }
            return context;
        } catch (const lbcrypto::OpenFHEException&) {
            // Too long a modulus for the degree: more digits take fewer special primes.
            if (*digits > depth) {
                throw;
            }
        }
    }
}

}  // namespace

std::vector<double> RandomReals(size_t slots) {
    std::vector<double> reals;
    for (const auto& x : Messages(slots, true)[0].values) {
        reals.push_back(x.real());
    }
    return reals;
}

size_t KeyBytes(const Context& context, const Keys& keys) {
    size_t words = 0;
    const auto count = [&words](const auto& key) {
        for (const auto* half : {&key->GetAVector(), &key->GetBVector()}) {
            for (const auto& element : *half) {
                words += element.GetNumOfElements() * element.GetRingDimension();
            }
        }
    };
    const auto tag = keys.secretKey->GetKeyTag();
    for (const auto& key : context->GetEvalMultKeyVector(tag)) {
        count(key);
    }
    for (const auto& [index, key] : context->GetEvalAutomorphismKeyMap(tag)) {
        count(key);
    }
    return words * sizeof(uint64_t);
}

uint32_t Bootstrapping::LevelsLeft(const Ciphertext& ciphertext) const {
    // Slots to coefficients, which come first, take their levels before the raise, and the scale one.
    const size_t used = ciphertext->GetLevel() + ciphertext->GetNoiseScaleDeg() - 1 + kLevelBudget[1] + 1;
    return used < depth ? depth - static_cast<uint32_t>(used) : 0;
}

Bootstrapping MakeBootstrapping(bool real) {
    Bootstrapping made;
    made.depth = kLevelsAfter + lbcrypto::FHECKKSRNS::GetBootstrapDepth({kLevelBudget[0], 0},
                                                                        lbcrypto::SPARSE_ENCAPSULATED);
    made.fresh_level = made.depth - kLevelsAfter;
    double start = Now();
    made.context = MakeBootstrapContext(real, made.depth, &made.digits);
    made.context_time = Now() - start;
    const size_t slots = size_t{1} << (kLogN - 1);
    start = Now();
    made.context->EvalBootstrapSetup(kLevelBudget, {0, 0}, slots, 0, true, true);
    made.matrices_time = Now() - start;
    start = Now();
    made.keys = made.context->KeyGen();
    made.context->EvalMultKeyGen(made.keys.secretKey);
    made.context->EvalBootstrapKeyGen(made.keys.secretKey, slots);
    made.keys_time = Now() - start;
    return made;
}

void RunBootstrap(bool real, const Step& step) {
    const Bootstrapping setting = MakeBootstrapping(real);
    const Context& context = setting.context;
    const Keys& keys = setting.keys;
    const uint32_t digits = setting.digits;
    const size_t slots = size_t{1} << (kLogN - 1);
    double start = 0;

    char text[512];
    const std::string shared = ",\"set\":\"sparse encapsulation\",\"mode\":\"" +
                               std::string(real ? "real" : "complex") +
                               "\",\"key_bytes\":" + std::to_string(KeyBytes(context, keys));
    const auto report = [&](const std::string& op, const std::vector<double>& times, bool right, const std::string& more) {
        ReportTimes(context, step, op, digits, right, times, shared + more);
    };
    std::snprintf(text, sizeof text, ",\"context_ns\":%.0f,\"keys_ns\":%.0f,\"matrices_ns\":%.0f", setting.context_time * 1e9,
                  setting.keys_time * 1e9, setting.matrices_time * 1e9);
    report("setup", {(setting.context_time + setting.keys_time + setting.matrices_time) * 1e9}, true, text);

    auto messages = Messages(slots, real);
    if (step.threads != 1) {
        // The same results again: only their times differ.
        messages.resize(3);
    }
    std::vector<double> times;
    double first_time = 0;
    uint32_t left = 0;
    Precision least = {1e3, 1e3};
    std::string precision;
    for (const auto& [name, values] : messages) {
        const auto plain = context->MakeCKKSPackedPlaintext(values, 1, setting.depth - 1 - kLevelBudget[1], nullptr, slots);
        const auto low = context->Encrypt(keys.publicKey, plain);
        start = Now();
        const Ciphertext high = context->EvalBootstrap(low);
        const double time = (Now() - start) * 1e9;
        if (first_time == 0) {
            first_time = time;
        } else {
            times.push_back(time);
        }
        lbcrypto::Plaintext decrypted;
        context->Decrypt(keys.secretKey, high, &decrypted);
        decrypted->SetLength(slots);
        const Precision bits = Bits(decrypted->GetCKKSPackedValue(), values);
        for (size_t i = 0; i < bits.size(); ++i) {
            least[i] = std::min(least[i], bits[i]);
        }
        std::snprintf(text, sizeof text, "%s\"%s\":[%.3f,%.3f]", precision.empty() ? "" : ",", name.c_str(), bits[0],
                      bits[1]);
        precision += text;
        left = setting.LevelsLeft(high);
    }
    std::snprintf(text, sizeof text, ",\"first_ns\":%.0f,\"levels_left\":%u,\"level_bits\":%u", first_time, left, kScale);
    std::string more = text;
    if (step.threads == 1) {
        std::snprintf(text, sizeof text, ",\"worst_bits\":%.3f,\"rms_bits\":%.3f", least[0], least[1]);
        more += text + (",\"precision\":{" + precision + "}");
    }
    report("bootstrap", times, least[0] >= kLeastBits, more);
}
