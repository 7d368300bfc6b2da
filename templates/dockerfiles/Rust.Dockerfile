# A Rust program. Change the name of the binary in both places.
FROM rust:1-bookworm AS build
WORKDIR /src
COPY . .
# The registry and the output stay on the builder between builds.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked && cp target/release/app /app

# Only the C library and certificates.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /app /app
EXPOSE 8080
ENTRYPOINT ["/app"]
