// HElib's matrix of all slots times an encrypted vector, as its Test_matmul does it: the suite cyclotomic.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <NTL/BasicThreadPool.h>
#include <helib/helib.h>
#include <helib/matmul.h>
#include <helib/randomMatrices.h>

namespace {

// As in noren's measure.rs.
constexpr size_t kLeastSamples = 5;
constexpr double kSample = 50e-6;
constexpr double kWarmUp = 0.2;
// The bits of the modulus of ciphertexts, and into how many digits key switching cuts it: HElib's own choice for them.
constexpr long kBits = 200;
constexpr long kColumns = 3;

struct Set {
    long m, p, r;
};

double Now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Median(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    const size_t middle = x.size() / 2;
    return x.size() % 2 == 1 ? x[middle] : (x[middle - 1] + x[middle]) / 2;
}

// The times of one call in nanoseconds, warm.
std::vector<double> Measure(double seconds, const std::function<void()>& call) {
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
        times.push_back(once() * 1e9 / static_cast<double>(repeats));
    }
    return times;
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

// Prints a record; without times that of a wrong result.
void Report(const helib::Context& context, const helib::EncryptedArray& ea, const Set& set, int threads, const char* op,
            const std::vector<double>& times) {
    std::string fields = "\"median_ns\":null,\"mad_ns\":null,\"reps\":0";
    if (!times.empty()) {
        const double median = Median(times);
        std::vector<double> deviations;
        for (const double time : times) {
            deviations.push_back(std::fabs(time - median));
        }
        char text[128];
        std::snprintf(text, sizeof text, "\"median_ns\":%.1f,\"mad_ns\":%.1f,\"reps\":%zu", median, Median(deviations),
                      times.size());
        fields = text;
    }
    const double bits = context.logOfProduct(context.getCtxtPrimes() | context.getSpecialPrimes()) / std::log(2.0);
    std::printf(
        "{\"suite\":\"cyclotomic\",\"op\":\"%s\",\"library\":\"helib\",\"version\":\"%s\",\"n\":%ld,\"limbs\":%ld,"
        "\"log_qp\":%.3f,\"special\":%ld,\"dnum\":%ld,\"slots\":%ld,\"security\":\"none\",\"isa\":\"native\","
        "\"threads\":%d,%s,\"peak_rss_bytes\":%zu,\"note\":\"%s\",\"m\":%ld,\"p\":%ld,\"r\":%ld,\"entries\":\"elements\"}\n",
        op, BENCH_HELIB_VERSION, context.getPhiM(), context.getCtxtPrimes().card(), bits,
        context.getSpecialPrimes().card(), kColumns, ea.size(), threads, fields.c_str(), PeakRss(),
        times.empty() ? "wrong result: no time" : "", set.m, set.p, set.r);
    std::fflush(stdout);
}

void Run(const Set& set, int threads, double seconds) {
    NTL::SetNumThreads(threads);
    const helib::Context context =
        helib::ContextBuilder<helib::BGV>().m(set.m).p(set.p).r(set.r).bits(kBits).c(kColumns).build();
    const helib::EncryptedArray ea(context, context.getAlMod());
    const auto make_keys = [&] {
        auto keys = std::make_unique<helib::SecKey>(context);
        keys->GenSecKey();
        helib::addSome1DMatrices(*keys);
        return keys;
    };
    const std::unique_ptr<helib::MatMulFull> matrix(helib::buildRandomFullMatrix(ea));
    const auto encode = [&] {
        auto encoded = std::make_unique<helib::MatMulFullExec>(*matrix);
        encoded->upgrade();
        return encoded;
    };

    const auto keys = make_keys();
    const helib::PubKey& public_key = *keys;
    auto encoded = encode();
    helib::PlaintextArray vector(ea);
    helib::random(ea, vector);
    const auto encrypt = [&](helib::Ctxt& x) { ea.encrypt(x, public_key, vector); };
    helib::Ctxt x(public_key);
    encrypt(x);
    helib::Ctxt product = x;
    encoded->mul(product);
    helib::PlaintextArray expected = vector, found(ea);
    helib::mul(expected, *matrix);
    const auto decrypt = [&] { ea.decrypt(product, *keys, found); };
    decrypt();
    const bool right = helib::equals(ea, expected, found);

    const auto report = [&](const char* op, const std::function<void()>& call) {
        Report(context, ea, set, threads, op, right ? Measure(seconds, call) : std::vector<double>());
    };
    report("keygen", [&] { make_keys(); });
    report("encode_matrix", [&] {
        encoded.reset();
        encoded = encode();
    });
    report("encrypt", [&] {
        helib::Ctxt y(public_key);
        encrypt(y);
    });
    report("matvec", [&] {
        helib::Ctxt y = x;
        encoded->mul(y);
    });
    report("decrypt", decrypt);
}

std::vector<long> Numbers(const std::string& text, char separator) {
    std::vector<long> numbers;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        numbers.push_back(std::stol(part));
    }
    return numbers;
}

}  // namespace

int main(int argc, char** argv) {
    std::string suite, set = "511:2:1", threads = "1";
    double seconds = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i], value = argv[i + 1];
        if (name == "--suite") {
            suite = value;
        } else if (name == "--set") {
            set = value;
        } else if (name == "--threads") {
            threads = value;
        } else if (name == "--seconds") {
            seconds = std::stod(value);
        } else {
            std::cerr << "unknown option " << name << "\n";
            return 2;
        }
    }
    const std::vector<long> parts = Numbers(set, ':');
    if (suite != "cyclotomic" || parts.size() != 3) {
        std::cerr << "the suite cyclotomic is needed, with a set M:P:R\n";
        return 2;
    }
    for (const long count : Numbers(threads, ',')) {
        try {
            Run({parts[0], parts[1], parts[2]}, static_cast<int>(count), seconds);
        } catch (const std::exception& error) {
            // A set that this build of NTL cannot hold has no records.
            std::cerr << set << ": " << error.what() << "\n";
        }
    }
    return 0;
}
