# The tool in an image: docker build --tag noren . && docker run --rm --volume "$PWD:/data" noren info
FROM rust:1-slim-bookworm AS build
WORKDIR /noren
COPY . .
# The toolchain of the image, not the newest one.
RUN rm -f rust-toolchain.toml && cargo build --locked --profile wheel --package noren-cli

FROM debian:bookworm-slim
COPY --from=build /noren/target/wheel/noren /usr/local/bin/noren
COPY --from=build /noren/LICENSE-* /noren/THIRD-PARTY-LICENSES.txt /usr/local/share/doc/noren/
# Keys are files of the caller's, in the mounted directory: --user "$(id -u)" makes them so.
WORKDIR /data
ENTRYPOINT ["noren"]
CMD ["--help"]
