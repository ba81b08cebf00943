#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include "bench.h"

namespace {

// As in noren's measure.rs.
constexpr size_t kLeastSamples = 5;
constexpr double kSample = 50e-6;
constexpr double kWarmUp = 0.2;

// Tells right results from wrong ones: all shapes are thousands of times more exact.
constexpr double kTolerance = 1.0 / 1024;

// The longest moduli that are 128-bit secure with a ternary secret, by ring degree.
const std::map<uint32_t, double> kSecureBits = {{1u << 15, 868}, {1u << 16, 1747}};

constexpr char kWrong[] = "wrong result: no time";

struct Timing {
    double median_ns, mad_ns;
    size_t reps;
};

double Median(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    const size_t middle = x.size() / 2;
    return x.size() % 2 == 1 ? x[middle] : (x[middle - 1] + x[middle]) / 2;
}

Timing TimingOf(const std::vector<double>& times) {
    const double median = Median(times);
    std::vector<double> deviations;
    for (const double time : times) {
        deviations.push_back(std::fabs(time - median));
    }
    return {median, Median(deviations), times.size()};
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
    return TimingOf(times);
}

// The fields of a record; without samples those of a wrong result.
std::string Fields(const Timing& timing) {
    if (timing.reps == 0) {
        return "\"median_ns\":null,\"mad_ns\":null,\"reps\":0";
    }
    char text[128];
    std::snprintf(text, sizeof text, "\"median_ns\":%.1f,\"mad_ns\":%.1f,\"reps\":%zu", timing.median_ns, timing.mad_ns,
                  timing.reps);
    return text;
}

std::shared_ptr<lbcrypto::CryptoParametersRNS> ParametersOf(const Context& context) {
    return std::dynamic_pointer_cast<lbcrypto::CryptoParametersRNS>(context->GetCryptoParameters());
}

// The bits of a product of primes, which itself is too large for a double.
double BitsOf(const std::vector<std::shared_ptr<lbcrypto::ILNativeParams>>& primes) {
    double bits = 0;
    for (const auto& prime : primes) {
        bits += std::log2(prime->GetModulus().ConvertToDouble());
    }
    return bits;
}

// Those of the keys' modulus.
double BitsOfQp(const Context& context) {
    const auto parameters = ParametersOf(context);
    const bool hybrid = parameters->GetKeySwitchTechnique() == lbcrypto::HYBRID;
    return BitsOf((hybrid ? parameters->GetParamsQP() : parameters->GetElementParams())->GetParams());
}

// What a record says besides its times.
struct Head {
    std::string suite, op, note;
    uint32_t limbs, special, digits;
    bool secure;
    int threads;
    // Where they are not all slots, and not the memory since the record before.
    std::optional<uint32_t> slots = {};
    std::optional<size_t> peak_rss = {};
};

// Prints a record; without samples it has no time.
void Print(const Context& context, const Head& head, const Timing& timing, const std::string& more) {
    const std::string times = Fields(timing);
    const uint32_t n = context->GetRingDimension();
    const uint32_t all = context->getSchemeId() == lbcrypto::CKKSRNS_SCHEME ? n / 2 : n;
    const size_t peak_rss = head.peak_rss ? *head.peak_rss : PeakRss();
    std::printf(
        "{\"suite\":\"%s\",\"op\":\"%s\",\"library\":\"openfhe\",\"version\":\"%s\",\"n\":%u,\"limbs\":%u,"
        "\"log_qp\":%.3f,\"special\":%u,\"dnum\":%u,\"slots\":%u,\"security\":\"%s\",\"isa\":\"native\","
        "\"threads\":%d,%s,\"peak_rss_bytes\":%zu,\"note\":\"%s\"%s}\n",
        head.suite.c_str(), head.op.c_str(), BENCH_OPENFHE_VERSION, n, head.limbs, BitsOfQp(context), head.special, head.digits,
        head.slots.value_or(all), head.secure ? "128" : "none", head.threads, times.c_str(), peak_rss, head.note.c_str(),
        more.c_str());
    std::fflush(stdout);
}

}  // namespace

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

double Now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

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
    const auto& special = ParametersOf(context)->GetParamsP()->GetParams();
    const Timing timing = right ? Measure(step.seconds, op.per, call) : Timing{0, 0, 0};
    std::string note = right ? op.note : kWrong;
    note += (note.empty() ? "" : "; ") + std::string("own special primes: ") + std::to_string(special.size()) + " of " +
            std::to_string(special[0]->GetModulus().GetMSB()) + " bits";
    std::string more;
    if (op.level) {
        const size_t words = 2 * size_t{shape.Digits()} * (shape.limbs + special.size()) << shape.log_n;
        more = ",\"level\":" + std::to_string(*op.level) + ",\"keys\":" + std::to_string(op.keys) +
               ",\"key_bytes\":" + std::to_string(op.keys * words * sizeof(uint64_t)) + ",\"method\":\"" + op.method +
               "\"";
    }
    Print(context, {op.suite, op.op, note, shape.limbs, shape.special, shape.Digits(), shape.secure, step.threads},
          timing, more);
}

void ReportTimes(const Context& context, const Step& step, const std::string& op, uint32_t digits, bool right,
                 const std::vector<double>& times, const std::string& more) {
    const auto parameters = ParametersOf(context);
    const auto limbs = static_cast<uint32_t>(parameters->GetElementParams()->GetParams().size());
    const auto special = static_cast<uint32_t>(parameters->GetParamsP()->GetParams().size());
    Print(context, {"bootstrap", op, right ? "" : kWrong, limbs, special, digits, true, step.threads},
          right ? TimingOf(times) : Timing{0, 0, 0}, more);
}

void ReportSwitching(const Context& context, const Step& step, const SwitchingOp& op, bool right,
                     const std::vector<double>& times) {
    const auto parameters = ParametersOf(context);
    const auto limbs = static_cast<uint32_t>(parameters->GetElementParams()->GetParams().size());
    const auto special = static_cast<uint32_t>(parameters->GetParamsP()->GetParams().size());
    Print(context,
          {"switching", op.op, right ? op.note : kWrong, limbs, special, op.digits, true, step.threads, op.values,
           op.peak_rss},
          right ? TimingOf(times) : Timing{0, 0, 0}, ",\"values\":" + std::to_string(op.values) + op.more);
}

void ReportChain(const Context& context, const Step& step, const std::string& op, const std::string& scheme,
                 uint32_t depth, bool right, const std::function<void()>& call) {
    const auto parameters = ParametersOf(context);
    const auto& primes = parameters->GetElementParams()->GetParams();
    const bool hybrid = parameters->GetKeySwitchTechnique() == lbcrypto::HYBRID;
    const size_t special = hybrid ? parameters->GetParamsP()->GetParams().size() : 0;
    const uint32_t digits = hybrid ? parameters->GetNumPartQ() : static_cast<uint32_t>(primes.size());
    const bool secure = BitsOfQp(context) <= kSecureBits.at(context->GetRingDimension());
    char more[128];
    std::snprintf(more, sizeof more, ",\"scheme\":\"%s\",\"depth\":%u,\"log_q\":%.3f", scheme.c_str(), depth,
                  BitsOf(primes));
    const std::string note = hybrid ? "key switching HYBRID" : "key switching BV";
    Print(context,
          {"chain", op, right ? note : kWrong, static_cast<uint32_t>(primes.size()), static_cast<uint32_t>(special),
           digits, secure, step.threads},
          right ? Measure(step.seconds, 1, call) : Timing{0, 0, 0}, more);
}

void ReportReduction(const Context& context, const Step& step, const ReductionOp& op, bool right, double first,
                     const std::function<void()>& call) {
    // As in noren's measure.rs: the time that goes to the samples of a slow operation.
    constexpr double kPatience = 10;
    const auto parameters = ParametersOf(context);
    const auto& primes = parameters->GetElementParams()->GetParams();
    const size_t special = parameters->GetParamsP()->GetParams().size();
    char more[256];
    std::snprintf(more, sizeof more,
                  ",\"scheme\":\"ckks\",\"way\":\"%s\",\"count\":%u,\"log_q\":%.3f,\"depth\":%u,\"bootstraps\":%u,"
                  "\"keys_ns\":%.0f",
                  op.way.c_str(), op.count, BitsOf(primes), op.depth, op.bootstraps, op.keys_time * 1e9);
    Timing timing{0, 0, 0};
    if (right && first * kLeastSamples < kPatience) {
        timing = Measure(step.seconds, 1, call);
    } else if (right) {
        std::vector<double> times;
        for (double spent = first; spent < kPatience; spent += times.back() / 1e9) {
            const double start = Now();
            call();
            times.push_back((Now() - start) * 1e9);
        }
        timing = TimingOf(times.empty() ? std::vector<double>{first * 1e9} : times);
    }
    const std::string name = op.suite == "product" ? "product" : "inner_product";
    Print(context,
          {op.suite, name, right ? "" : kWrong, static_cast<uint32_t>(primes.size()), static_cast<uint32_t>(special),
           parameters->GetNumPartQ(), true, step.threads, op.slots},
          timing, more);
}

void ReportBinary(const BinaryOp& op, bool right, const std::function<void()>& call) {
    const Timing timing = right ? Measure(op.step.seconds, 1, call) : Timing{0, 0, 0};
    std::printf(
        "{\"suite\":\"tfhe\",\"op\":\"%s\",\"library\":\"openfhe\",\"version\":\"%s\",\"n\":%u,\"limbs\":1,"
        "\"log_qp\":%.0f,\"special\":0,\"dnum\":0,\"slots\":0,\"security\":\"128\",\"isa\":\"native\",\"threads\":%d,"
        "%s,\"peak_rss_bytes\":%zu,\"note\":\"%s\",\"set\":\"%s\",\"workload\":\"%s\",\"batch\":1}\n",
        op.op.c_str(), BENCH_OPENFHE_VERSION, op.n, op.word_bits, op.step.threads, Fields(timing).c_str(), PeakRss(),
        right ? "" : kWrong, op.set.c_str(), op.workload.c_str());
    std::fflush(stdout);
}
