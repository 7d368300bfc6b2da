# A Go program: built with the toolchain, shipped without it.
FROM golang:1.23-bookworm AS build
WORKDIR /src
# Modules first: they change less often than the sources, so their layer stays cached.
COPY go.mod go.sum* ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /app .

# Only certificates and a user that is not root.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /app /app
EXPOSE 8080
ENTRYPOINT ["/app"]
