// What the owner of the data does.

#include "bench.h"

void RunClient(const Shape& shape, const Step& step) {
    const Context context = MakeContext(shape);
    const Keys keys = context->KeyGen();
    const Values x = MakeValues(shape);
    const auto plain = context->MakeCKKSPackedPlaintext(x);
    const Ciphertext public_ct = context->Encrypt(keys.publicKey, plain);
    const Ciphertext secret_ct = context->Encrypt(keys.secretKey, plain);
    const auto same = [&](size_t j) { return x[j]; };
    const bool right = IsRight(context, keys, public_ct, same) && IsRight(context, keys, secret_ct, same);
    const auto report = [&](const char* op, const char* note, const std::function<void()>& f) {
        Report(context, shape, step, {"client", op, note, 1, {}, 0, ""}, right, f);
    };
    report("keygen", "secret and public key", [&] { context->KeyGen(); });
    report("encode", "", [&] { context->MakeCKKSPackedPlaintext(x); });
    report("encrypt", "public key", [&] { context->Encrypt(keys.publicKey, plain); });
    report("encrypt_secret", "secret key", [&] { context->Encrypt(keys.secretKey, plain); });
    report("decrypt_decode", "decryption with decoding", [&] {
        lbcrypto::Plaintext decrypted;
        context->Decrypt(keys.secretKey, public_ct, &decrypted);
    });
}
