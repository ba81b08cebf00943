// What the suites share: shapes, options, measuring, records.
#pragma once

#include <complex>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "openfhe.h"

// A parameter set: sizes of primes in bits, and how many there are. The same as in noren's shape.rs, but that OpenFHE
// chooses the special primes itself: as many of 60 bits as a digit needs.
struct Shape {
    uint32_t log_n, first, scale, limbs, special;
    bool secure = true;

    uint32_t Digits() const {
        return (limbs + special - 1) / special;
    }
};

// The options of one step.
struct Step {
    int threads;
    std::vector<int> levels;
    double seconds;
};

// What a record says besides its shape and its times.
struct Op {
    std::string suite, op, note;
    double per = 1;
    // Fields of the suite trace.
    std::optional<uint32_t> level;
    size_t keys = 0;
    std::string method;
};

using Context = lbcrypto::CryptoContext<lbcrypto::DCRTPoly>;
using Ciphertext = lbcrypto::Ciphertext<lbcrypto::DCRTPoly>;
using Keys = lbcrypto::KeyPair<lbcrypto::DCRTPoly>;
using Values = std::vector<std::complex<double>>;

Context MakeContext(const Shape& shape);

// Numbers of absolute value 1 for all slots.
Values MakeValues(const Shape& shape);

// Decrypts and compares.
bool IsRight(const Context& context, const Keys& keys, const Ciphertext& ciphertext,
             const std::function<std::complex<double>(size_t)>& expected);

// Measures an operation if its result is right, and prints the record.
void Report(const Context& context, const Shape& shape, const Step& step, const Op& op, bool right,
            const std::function<void()>& call);

// Prints a record of the suite bootstrap, with the times of single calls.
void ReportTimes(const Context& context, const Step& step, const std::string& op, uint32_t digits, bool right,
                 const std::vector<double>& times, const std::string& more);

// The real numbers in [-1, 1) that every library takes as random messages.
std::vector<double> RandomReals(size_t slots);

// Bytes of the keys for products and rotations.
size_t KeyBytes(const Context& context, const Keys& keys);

// The most memory held since the call before this one, in bytes.
size_t PeakRss();

// What a record of the suite switching says besides its times.
struct SwitchingOp {
    std::string op, note;
    uint32_t values, digits;
    size_t peak_rss;
    // Other fields.
    std::string more;
};

// Prints a record of the suite switching, with the times of single calls.
void ReportSwitching(const Context& context, const Step& step, const SwitchingOp& op, bool right,
                     const std::vector<double>& times);

// Prints a record of the suite chain, with the shape that OpenFHE chose.
void ReportChain(const Context& context, const Step& step, const std::string& op, const std::string& scheme,
                 uint32_t depth, bool right, const std::function<void()>& call);

// What a record of the suite tfhe says besides its times.
struct BinaryOp {
    const Step& step;
    std::string op, workload, set;
    uint32_t n;
    double word_bits;
};

// Measures an operation on bits if its result is right, and prints the record.
void ReportBinary(const BinaryOp& op, bool right, const std::function<void()>& call);

// What a record of the suites product and inner-product says besides its times.
struct ReductionOp {
    std::string suite, way;
    uint32_t count, depth = 0, bootstraps = 0, slots = 0;
    // Of all keys, in seconds.
    double keys_time = 0;
};

// Measures a reduction whose first call took `first` seconds, if its result is right, and prints the record. A call of more than ten
// seconds is not repeated.
void ReportReduction(const Context& context, const Step& step, const ReductionOp& op, bool right, double first,
                     const std::function<void()>& call);

// A context that bootstraps, its keys, and the times of its set-up in seconds.
struct Bootstrapping {
    Context context;
    Keys keys;
    uint32_t depth, digits;
    // The level of a ciphertext that has as many levels as the result of a bootstrap.
    uint32_t fresh_level;
    double context_time, matrices_time, keys_time;

    // How many products can follow on a ciphertext before it must be bootstrapped.
    uint32_t LevelsLeft(const Ciphertext& ciphertext) const;
};

// OpenFHE's best documented setting for 2^15 slots.
Bootstrapping MakeBootstrapping(bool real);

// Seconds since some time in the past.
double Now();

void RunCkks(const Shape& shape, const Step& step);
void RunTrace(const Shape& shape, const Step& step);
void RunClient(const Shape& shape, const Step& step);
void RunChain(const std::string& scheme, uint32_t depth, const Step& step);
void RunBootstrap(bool real, const Step& step);
void RunBinary(const std::string& workload, const Step& step);
void RunSwitching(int log_slots, const Step& step);
void RunReduction(const std::string& suite, const std::string& way, uint32_t count, const Step& step);
