// An S3 server with one bucket, as a process of its own: `bucket-process.js ADDRESS PORT FOLDER`.
import { createRequire } from 'node:module'

const [address, port, directory] = process.argv.slice(2)
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver')
await new S3rver({
  address,
  port: Number(port),
  directory,
  silent: true,
  resetOnClose: false,
  configureBuckets: [{ name: 'gitstead' }]
}).run()
