// Times operations of the installed OpenFHE and prints them as JSON lines in noren's benchmark schema. It takes the
// options of one step of a suite, as every program in bench/peers does: see bench/README.md.

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "bench.h"

namespace {

const std::vector<Shape> kHybrid = {{14, 48, 45, 7, 2}, {15, 48, 45, 11, 4}, {16, 48, 45, 24, 8}};
const std::vector<Shape> kSeal = {{15, 44, 44, 20, 1, false}};
const std::vector<Shape> kClient = {{13, 40, 33, 5, 1}, {14, 48, 42, 9, 1}, {15, 48, 44, 18, 1}, {16, 48, 45, 24, 8}};
const std::vector<Shape> kTrace = {{15, 48, 40, 10, 1}, {15, 48, 40, 10, 5}, {15, 48, 40, 10, 10}};

// Reads a list such as 1,2.
std::vector<int> Numbers(const std::string& list) {
    std::vector<int> numbers;
    std::istringstream stream(list);
    for (std::string field; std::getline(stream, field, ',');) {
        numbers.push_back(std::stoi(field));
    }
    return numbers;
}

bool Contains(const std::vector<int>& numbers, uint32_t number) {
    return std::find(numbers.begin(), numbers.end(), static_cast<int>(number)) != numbers.end();
}

void Run(std::map<std::string, std::string> options) {
    const Step step{std::stoi(options["--threads"]), Numbers(options["--level"]), std::stod(options["--seconds"])};
    const std::string suite = options["--suite"];
    const auto degrees = Numbers(options["--log-n"]), specials = Numbers(options["--special"]);
    if (suite == "ckks") {
        for (const Shape& shape : options["--shape"] == "seal" ? kSeal : kHybrid) {
            if (Contains(degrees, shape.log_n)) {
                RunCkks(shape, step);
            }
        }
    } else if (suite == "trace") {
        for (const Shape& shape : kTrace) {
            if (Contains(specials, shape.special)) {
                RunTrace(shape, step);
            }
        }
    } else if (suite == "client") {
        for (const Shape& shape : kClient) {
            if (Contains(degrees, shape.log_n)) {
                RunClient(shape, step);
            }
        }
    } else if (suite == "chain") {
        std::istringstream schemes(options["--scheme"]);
        for (std::string scheme; std::getline(schemes, scheme, ',');) {
            for (const int depth : Numbers(options["--depth"])) {
                RunChain(scheme, static_cast<uint32_t>(depth), step);
            }
        }
    } else if (suite == "tfhe") {
        std::istringstream workloads(options["--workload"]);
        for (std::string workload; std::getline(workloads, workload, ',');) {
            RunBinary(workload, step);
        }
    } else if (suite == "bootstrap") {
        // Its own setting stands beside noren's presets for 2^15 slots.
        if (options["--preset"].rfind("n16", 0) == 0) {
            RunBootstrap(options["--mode"] == "real", step);
        }
    } else if (suite == "product" || suite == "inner-product") {
        // TFHE of OpenFHE has bits alone.
        if (options["--scheme"].find("ckks") != std::string::npos) {
            for (const int count : Numbers(options["--count"])) {
                RunReduction(suite, options["--way"], static_cast<uint32_t>(count), step);
            }
        }
    } else if (suite == "switching") {
        for (const int log_slots : Numbers(options["--log-slots"])) {
            RunSwitching(log_slots, step);
        }
    } else {
        throw std::invalid_argument("there is no suite " + suite);
    }
}

// OpenFHE takes its threads from the environment, once, when it is loaded: each number needs a process of its own.
// Returns the exit code of the first that fails, or 0.
int RunApart(const std::vector<int>& threads, std::map<std::string, std::string> options) {
    for (const int count : threads) {
        options["--threads"] = std::to_string(count);
        std::vector<std::string> words{"openfhe"};
        for (const auto& [name, value] : options) {
            words.insert(words.end(), {name, value});
        }
        const pid_t child = fork();
        if (child < 0) {
            throw std::runtime_error("no process can be started");
        }
        if (child == 0) {
            setenv("OMP_NUM_THREADS", options["--threads"].c_str(), 1);
            std::vector<char*> arguments;
            for (auto& word : words) {
                arguments.push_back(word.data());
            }
            arguments.push_back(nullptr);
            execv("/proc/self/exe", arguments.data());
            _exit(127);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    // With the default thresholds every polynomial is given back to the system when it is freed, and additions and
    // plaintext products take several times as long.
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_TOP_PAD, 1 << 26);

    std::map<std::string, std::string> options = {
        {"--suite", "ckks"},  {"--log-n", "13,14,15,16"}, {"--shape", "hybrid"}, {"--special", "1,5,10"},
        {"--level", "1,4,9"}, {"--threads", "1"},         {"--seconds", "1"},
        {"--preset", "n16"},  {"--mode", "complex"},        {"--scheme", "bfv,bgv,ckks"},
        {"--depth", "2,4,6,8,10"}, {"--workload", "BOOL"}, {"--batch", "1"}, {"--log-slots", "4"},
        {"--count", "2"}, {"--way", "paper"}, {"--bits", "16"}};
    try {
        for (int i = 1; i < argc; i += 2) {
            if (options.count(argv[i]) == 0 || i + 1 == argc) {
                throw std::invalid_argument(std::string("unknown option, or no value: ") + argv[i]);
            }
            options[argv[i]] = argv[i + 1];
        }
        const auto threads = Numbers(options["--threads"]);
        const char* set = std::getenv("OMP_NUM_THREADS");
        if (threads.size() != 1 || set == nullptr || set != options["--threads"]) {
            return RunApart(threads, options);
        }
        Run(options);
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    return 0;
}
