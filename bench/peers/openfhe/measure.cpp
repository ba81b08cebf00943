#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "bench.h"

namespace {

// As in noren's measure.rs.
constexpr size_t kLeastSamples = 5;
constexpr double kSample = 50e-6;
constexpr double kWarmUp = 0.2;

// Tells right results from wrong ones: all shapes are thousands of times more exact.
constexpr double kTolerance = 1.0 / 1024;

struct Timing {
    double median_ns, mad_ns;
    size_t reps;
};

double Median(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    const size_t middle = x.size() / 2;
    return x.size() % 2 == 1 ? x[middle] : (x[middle - 1] + x[middle]) / 2;
}

double Now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Times one call, warm.
Timing Measure(double seconds, double per, const std::function<void()>& call) {
    size_t repeats = 1;
    const auto once = [&] {
        const double start = Now();
        for (size_t i = 0; i < repeats; ++i) {
            call();
        }
        return Now() - start;
    };
    double start = Now();
    while (once() < kSample) {
        repeats *= 2;
    }
    while (Now() - start < seconds * kWarmUp) {
        once();
    }
    start = Now();
    std::vector<double> times;
    while (times.size() < kLeastSamples || Now() - start < seconds) {
        times.push_back(once() * 1e9 / static_cast<double>(repeats) / per);
    }
    const double median = Median(times);
    std::vector<double> deviations;
    for (const double time : times) {
        deviations.push_back(std::fabs(time - median));
    }
    return {median, Median(deviations), times.size()};
}

// The most memory held since the call before this one, in bytes.
size_t PeakRss() {
    std::ifstream status("/proc/self/status");
    size_t kib = 0;
    for (std::string word; status >> word;) {
        if (word == "VmHWM:") {
            status >> kib;
            break;
        }
    }
    // Where this is forbidden, the peak is that of the whole run.
    std::ofstream("/proc/self/clear_refs") << "5";
    return kib << 10;
}

std::shared_ptr<lbcrypto::CryptoParametersCKKSRNS> ParametersOf(const Context& context) {
    return std::dynamic_pointer_cast<lbcrypto::CryptoParametersCKKSRNS>(context->GetCryptoParameters());
}

}  // namespace

Context MakeContext(const Shape& shape) {
    lbcrypto::CCParams<lbcrypto::CryptoContextCKKSRNS> parameters;
    parameters.SetRingDim(1u << shape.log_n);
    parameters.SetBatchSize(1u << (shape.log_n - 1));
    parameters.SetMultiplicativeDepth(shape.limbs - 1);
    parameters.SetFirstModSize(shape.first);
    parameters.SetScalingModSize(shape.scale);
    parameters.SetScalingTechnique(lbcrypto::FIXEDMANUAL);
    parameters.SetKeySwitchTechnique(lbcrypto::HYBRID);
    parameters.SetNumLargeDigits(shape.Digits());
    parameters.SetSecretKeyDist(lbcrypto::UNIFORM_TERNARY);
    parameters.SetCKKSDataType(lbcrypto::COMPLEX);
    // The shapes are those that noren checked; OpenFHE's own special primes would fail some of them.
    parameters.SetSecurityLevel(lbcrypto::HEStd_NotSet);
    Context context = GenCryptoContext(parameters);
    context->Enable(lbcrypto::PKE);
    context->Enable(lbcrypto::KEYSWITCH);
    context->Enable(lbcrypto::LEVELEDSHE);
    context->Enable(lbcrypto::ADVANCEDSHE);
    context->Enable(lbcrypto::FHE);
    return context;
}

Values MakeValues(const Shape& shape) {
    Values values(size_t{1} << (shape.log_n - 1));
    for (size_t j = 0; j < values.size(); ++j) {
        values[j] = std::polar(1.0, static_cast<double>(j));
    }
    return values;
}

bool IsRight(const Context& context, const Keys& keys, const Ciphertext& ciphertext,
             const std::function<std::complex<double>(size_t)>& expected) {
    lbcrypto::Plaintext plaintext;
    context->Decrypt(keys.secretKey, ciphertext, &plaintext);
    const Values& found = plaintext->GetCKKSPackedValue();
    for (size_t j = 0; j < found.size(); ++j) {
        // The negation also catches what is not a number.
        if (!(std::abs(found[j] - expected(j)) <= kTolerance)) {
            return false;
        }
    }
    return !found.empty();
}

void Report(const Context& context, const Shape& shape, const Step& step, const Op& op, bool right,
            const std::function<void()>& call) {
    const auto parameters = ParametersOf(context);
    const auto& special = parameters->GetParamsP()->GetParams();
    // The modulus itself is too large for a double.
    double log_qp = 0;
    for (const auto& prime : parameters->GetParamsQP()->GetParams()) {
        log_qp += std::log2(prime->GetModulus().ConvertToDouble());
    }
    std::string times = "\"median_ns\":null,\"mad_ns\":null,\"reps\":0";
    if (right) {
        const Timing timing = Measure(step.seconds, op.per, call);
        char text[128];
        std::snprintf(text, sizeof text, "\"median_ns\":%.1f,\"mad_ns\":%.1f,\"reps\":%zu", timing.median_ns,
                      timing.mad_ns, timing.reps);
        times = text;
    }
    std::string note = right ? op.note : "wrong result: no time";
    note += (note.empty() ? "" : "; ") + std::string("own special primes: ") + std::to_string(special.size()) + " of " +
            std::to_string(special[0]->GetModulus().GetMSB()) + " bits";
    std::string more;
    if (op.level) {
        const size_t words = 2 * size_t{shape.Digits()} * (shape.limbs + special.size()) << shape.log_n;
        more = ",\"level\":" + std::to_string(*op.level) + ",\"keys\":" + std::to_string(op.keys) +
               ",\"key_bytes\":" + std::to_string(op.keys * words * sizeof(uint64_t)) + ",\"method\":\"" + op.method +
               "\"";
    }
    std::printf(
        "{\"suite\":\"%s\",\"op\":\"%s\",\"library\":\"openfhe\",\"version\":\"%s\",\"n\":%u,\"limbs\":%u,"
        "\"log_qp\":%.3f,\"special\":%u,\"dnum\":%u,\"slots\":%u,\"security\":\"%s\",\"isa\":\"native\","
        "\"threads\":%d,%s,\"peak_rss_bytes\":%zu,\"note\":\"%s\"%s}\n",
        op.suite.c_str(), op.op.c_str(), BENCH_OPENFHE_VERSION, 1u << shape.log_n, shape.limbs, log_qp, shape.special,
        shape.Digits(), 1u << (shape.log_n - 1), shape.secure ? "128" : "none", step.threads, times.c_str(), PeakRss(),
        note.c_str(), more.c_str());
    std::fflush(stdout);
}
