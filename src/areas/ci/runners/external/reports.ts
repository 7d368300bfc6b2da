// Reports that external runners upload in addition to the archive of a build.
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { config } from '../../../../config.js'
import { BadRequest, TooLarge } from '../../../../errors.js'
import { receiveReport } from '../dotenv-reports.js'
import { type HeldBuild, NotHeld } from './held-builds.js'

/** Bytes of a file with variables, packed or unpacked: a report may have fewer (docs/reference/ci-file.md). */
const MOST_BYTES = 65_536

/** Stores the variables that a build reports for later builds. Throws Invalid, TooLarge, BadRequest and NotHeld. */
export async function receiveVariables(build: HeldBuild, stream: Readable, format: string): Promise<void> {
  const bytes = await readAll(stream)
  const text = format === 'gzip' ? await unpack(bytes) : bytes
  if (!(await receiveReport(build, text))) throw new NotHeld()
}

/** Other reports are ignored. A build would fail if its runner could not deliver them. */
export async function readToEnd(stream: Readable): Promise<void> {
  for await (const _ of bounded(stream, config().artifacts.max_size));
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of bounded(stream, MOST_BYTES)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* bounded(stream: Readable, most: number): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of stream) {
    size += (chunk as Buffer).length
    if (size > most) throw new TooLarge()
    yield chunk as Buffer
  }
}

/** A runner packs each file separately, one after another. */
async function unpack(bytes: Buffer): Promise<Buffer> {
  const unpacked = createGunzip()
  unpacked.end(bytes)
  try {
    return await readAll(unpacked)
  } catch (error) {
    if (error instanceof TooLarge) throw error
    throw new BadRequest('400 (Bad request) the report is not packed with gzip')
  }
}
