// Numbers of CKKS become samples of FHEW, are decided there, and come back: whether they are negative.
//
// CKKS is that of OpenFHE's example ComparisonViaSchemeSwitching, of the degree that its check of security demands. FHEW
// has 128-bit security, and the largest modulus of samples whose signs take three bootstraps: the example's modulus of 25
// bits takes nine, of one digit more, for a dead zone that is hundreds of times smaller.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "bench.h"
#include "binfhecontext.h"

namespace {

using lbcrypto::LWECiphertext;
using lbcrypto::LWEPrivateKey;

constexpr uint32_t kDepth = 17, kScale = 50, kFirst = 60, kDigits = 3;
// Bits of the modulus of samples.
constexpr uint32_t kLogQ = 16;
// The levels that the way to samples takes.
constexpr uint32_t kLevelsDown = 2;
// The part of the circle that a value of 1 is, as noren's.
constexpr double kPart = 0.45;
// More values are left out: a bootstrap for each takes hours.
constexpr int kMostLogSlots = 8;
// Calls that are timed, after one that is checked.
constexpr size_t kCalls = 5;
// Tells right results from wrong ones.
constexpr double kLeastBits = 4;
// That a coefficient leaves the range of the approximate reduction on the way back, as OpenFHE's source states it.
constexpr int kLog2Failure = -49;

// One call of each part.
struct Part {
    const char *op, *note;
    std::vector<double> times = {};
    size_t peak_rss = 0;

    void Add(double seconds, size_t peak) {
        times.push_back(seconds * 1e9);
        peak_rss = std::max(peak_rss, peak);
    }
};

Context MakeSwitchingContext(uint32_t slots) {
    lbcrypto::CCParams<lbcrypto::CryptoContextCKKSRNS> parameters;
    parameters.SetMultiplicativeDepth(kDepth);
    parameters.SetFirstModSize(kFirst);
    parameters.SetScalingModSize(kScale);
    parameters.SetScalingTechnique(lbcrypto::FLEXIBLEAUTO);
    parameters.SetSecurityLevel(lbcrypto::HEStd_128_classic);
    parameters.SetBatchSize(slots);
    parameters.SetSecretKeyDist(lbcrypto::UNIFORM_TERNARY);
    parameters.SetKeySwitchTechnique(lbcrypto::HYBRID);
    parameters.SetNumLargeDigits(kDigits);
    Context context = GenCryptoContext(parameters);
    for (const auto feature : {lbcrypto::PKE, lbcrypto::KEYSWITCH, lbcrypto::LEVELEDSHE, lbcrypto::ADVANCEDSHE,
                               lbcrypto::SCHEMESWITCH}) {
        context->Enable(feature);
    }
    return context;
}

}  // namespace

void RunSwitching(int log_slots, const Step& step) {
    if (log_slots > kMostLogSlots) {
        return;
    }
    const uint32_t slots = 1u << log_slots;
    double start = Now();
    const Context context = MakeSwitchingContext(slots);
    const double context_time = Now() - start;
    start = Now();
    const Keys keys = context->KeyGen();
    lbcrypto::SchSwchParams parameters;
    parameters.SetSecurityLevelCKKS(lbcrypto::HEStd_128_classic);
    parameters.SetSecurityLevelFHEW(lbcrypto::STD128);
    parameters.SetCtxtModSizeFHEWLargePrec(kLogQ);
    parameters.SetNumSlotsCKKS(slots);
    parameters.SetNumValues(slots);
    const LWEPrivateKey secret = context->EvalSchemeSwitchingSetup(parameters);
    // Those of FHEW as well.
    context->EvalSchemeSwitchingKeyGen(keys, secret);
    const double keys_time = Now() - start;
    const auto samples = context->GetBinCCForSchemeSwitch();
    // The messages of a sample.
    const double modulus = 1u << kLogQ;
    const auto beta = samples->GetBeta().ConvertToInt<uint32_t>();
    const auto p = static_cast<uint32_t>(modulus / (2 * beta));
    start = Now();
    context->EvalCompareSwitchPrecompute(p, kPart * p);
    const double matrices_time = Now() - start;

    char text[512];
    std::snprintf(text, sizeof text, ",\"set\":\"STD128, log q %u\"", kLogQ);
    const std::string shared = text;
    const auto report = [&](const Part& part, bool right, const std::string& more) {
        ReportSwitching(context, step, {part.op, part.note, slots, kDigits, part.peak_rss, shared + more}, right, part.times);
    };
    std::snprintf(text, sizeof text, ",\"context_ns\":%.0f,\"switch_keys_ns\":%.0f,\"matrices_ns\":%.0f,\"switch_key_bytes\":%zu",
                  context_time * 1e9, keys_time * 1e9, matrices_time * 1e9, KeyBytes(context, keys));
    Part setup{"setup", "keys of both schemes"};
    setup.Add(context_time + keys_time + matrices_time, PeakRss());
    report(setup, true, text);

    const std::vector<double> values = RandomReals(slots);
    const auto x = context->Encrypt(keys.publicKey, context->MakeCKKSPackedPlaintext(values, 1, 0, nullptr, slots));
    std::vector<LWECiphertext> there, signs(slots);
    Ciphertext back;
    // EvalCompareSchemeSwitching in its parts.
    const auto down = [&] { there = context->EvalCKKStoFHEW(x, slots); };
    const auto decide = [&] {
#pragma omp parallel for
        for (uint32_t i = 0; i < slots; ++i) {
            signs[i] = samples->EvalSign(there[i], true);
        }
    };
    const auto up = [&] { back = context->EvalFHEWtoCKKS(signs, slots, slots, 4, -1.0, 1.0); };

    down();
    decide();
    up();
    // Nearest messages: the noise may make them neighbours.
    bool right_down = true;
    for (uint32_t i = 0; i < slots; ++i) {
        lbcrypto::LWEPlaintext message = 0;
        samples->Decrypt(secret, there[i], &message, p);
        const double distance = static_cast<double>(message) - values[i] * kPart * p;
        right_down &= std::abs(distance - p * std::round(distance / p)) <= 2;
    }
    // Below it the first bootstrap may take a value for one of the other sign, so nothing is expected there.
    const double dead_zone = beta / modulus / kPart;
    lbcrypto::Plaintext plaintext;
    context->Decrypt(keys.secretKey, back, &plaintext);
    plaintext->SetLength(slots);
    const std::vector<double> found = plaintext->GetRealPackedValue();
    double worst = 0, sum = 0;
    size_t decided = 0;
    for (uint32_t i = 0; i < slots; ++i) {
        if (std::abs(values[i]) >= dead_zone) {
            // It says 1 for a negative value and 0 for others.
            const double distance = std::abs(1 - 2 * found[i] - std::copysign(1.0, values[i]));
            worst = std::max(worst, distance);
            sum += distance * distance;
            ++decided;
        }
    }
    const double worst_bits = -std::log2(worst), rms_bits = -std::log2(sum / static_cast<double>(decided)) / 2;
    // The sum also tells what is not a number.
    const bool right = worst_bits >= kLeastBits && std::isfinite(sum);
    const auto used = static_cast<uint32_t>(back->GetLevel() + back->GetNoiseScaleDeg() - 1);

    Part parts[] = {{"down", "to samples, all values"},
                    {"down_sign", "to samples and EvalSign, three bootstraps each"},
                    {"up", "signs to slots, all values"},
                    {"sign", "down, EvalSign each, up"}};
    const auto lap = [](const auto& call) {
        const double before = Now();
        call();
        return Now() - before;
    };
    PeakRss();
    for (size_t i = 0; i < kCalls; ++i) {
        const double down_time = lap(down);
        const size_t down_rss = PeakRss();
        const double decide_time = lap(decide);
        const size_t decide_rss = std::max(down_rss, PeakRss());
        const double up_time = lap(up);
        const size_t up_rss = PeakRss();
        parts[0].Add(down_time, down_rss);
        parts[1].Add(down_time + decide_time, decide_rss);
        parts[2].Add(up_time, up_rss);
        parts[3].Add(down_time + decide_time + up_time, std::max(decide_rss, up_rss));
    }
    std::snprintf(text, sizeof text, ",\"worst_bits\":%.3f,\"rms_bits\":%.3f", worst_bits, rms_bits);
    const std::string bits = right ? text : "";
    std::snprintf(text, sizeof text, ",\"dead_zone\":%.6f,\"log2_failure\":%d,\"levels_left\":%d", dead_zone, kLog2Failure,
                  static_cast<int>(kDepth - used) - static_cast<int>(kLevelsDown));
    report(parts[0], right_down, "");
    report(parts[1], right_down && right, "");
    report(parts[2], right, bits);
    report(parts[3], right, bits + text);
}
