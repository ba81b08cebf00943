// Bits: keys, encryption, gates.

#include "bench.h"
#include "binfhecontext.h"

namespace {

using lbcrypto::BinFHEContext;
using lbcrypto::LWECiphertext;

struct Set {
    lbcrypto::BINFHE_PARAMSET parameters;
    lbcrypto::BINFHE_METHOD method;
    // With its failure as OpenFHE states it.
    const char* name;
};

// The sets whose failure is that of noren's.
const Set kFast{lbcrypto::STD128_LMKCDEY, lbcrypto::LMKCDEY, "STD128_LMKCDEY, failure 2^-60"};
const Set kSafe{lbcrypto::STD128, lbcrypto::GINX, "STD128, GINX, failure 2^-135"};

BinFHEContext MakeBinary(const Set& set) {
    BinFHEContext context;
    context.GenerateBinFHEContext(set.parameters, set.method);
    return context;
}

}  // namespace

void RunBinary(const std::string& workload, const Step& step) {
    const bool client = workload.rfind("client-", 0) == 0;
    const std::string name = client ? workload.substr(7) : workload;
    if (name != "BOOL" && name != "BOOL_128") {
        return;
    }
    const Set& set = name == "BOOL" ? kFast : kSafe;
    BinFHEContext context = MakeBinary(set);
    const auto report = [&](const char* op, bool right, const std::function<void()>& f) {
        const auto& ring = context.GetParams()->GetRingGSWParams();
        const auto bits = static_cast<double>(ring->GetQ().GetMSB());
        ReportBinary({step, op, workload, set.name, ring->GetN(), bits}, right, f);
    };
    const auto secret = context.KeyGen();
    const auto generate = [&] {
        context.ClearBTKeys();
        context.BTKeyGen(secret);
    };
    if (client) {
        // They have no smaller form: the client makes and holds all of them.
        report("client_keys", true, generate);
        return;
    }
    report("secret_key", true, [&] { context.KeyGen(); });
    report("server_key", true, generate);
    const LWECiphertext yes = context.Encrypt(secret, 1), no = context.Encrypt(secret, 0);
    const auto opens = [&](const LWECiphertext& bit) {
        lbcrypto::LWEPlaintext found = 0;
        context.Decrypt(secret, bit, &found);
        return found == 1;
    };
    const bool right = opens(yes) && !opens(no);
    report("encrypt", right, [&] { context.Encrypt(secret, 1); });
    report("decrypt", right, [&] { opens(yes); });
    const auto nand = [&](const LWECiphertext& a, const LWECiphertext& b) {
        return context.EvalBinGate(lbcrypto::NAND, a, b);
    };
    const LWECiphertext fresh = context.Encrypt(secret, 1);
    report("gate", !opens(nand(yes, fresh)) && opens(nand(yes, no)), [&] { nand(yes, fresh); });
}
