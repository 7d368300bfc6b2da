// Appends the output of external runners to the traces of their builds, without secrets. A mask is as long as the
// secret, so that the offsets of the runner stay right.
//
// A secret may be split between requests, at any byte. So the trace does not show the end of a request in which a secret may begin:
// it stays in the row of the build, encrypted, until more output or the end of the build shows what it is. The offsets of the runner
// count it. The next request may reach another process, or this one after a restart: it continues with the end in the row. If a crash
// has separated the two, the runner repeats its output from the end of the file.
import { createHash } from 'node:crypto'
import { forgetWithPool } from '../../../../db/connect/connection.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { Limiter } from '../../../../lib/limiter.js'
import { lruOf } from '../../../../lib/lru.js'
import { endOf, Masker, type Tail } from '../../../../runner/mask.js'
import { decrypt, encrypt } from '../../../../secrets.js'
import { appendTrace, type BuildKey, replaceTrace, TraceMismatch, traceSize } from '../../../../storage/traces.js'
import { knownSigningKey } from '../../id-tokens/signing-key.js'
import { hiddenValues } from '../../variables/hidden-values.js'
import { projectVariables } from '../../variables/variables.js'
import type { HeldBuild } from './held-builds.js'

/** The minimum length of a secret's beginning at the end of a build to be masked. */
const LEAST_BEGINNING = 4
/** The number of traces whose ends this process remembers. */
const MOST_OPEN = 1000

interface OpenTrace {
  readonly masker: Masker
  /** The bytes that were received, also those that the trace does not show yet. */
  end: number
  /** The last request, which a runner repeats when it missed the response. */
  last?: { readonly start: number; readonly hash: string }
}

const traces = lruOf<string, OpenTrace>(MOST_OPEN)
const tokens = lruOf<string, string>(MOST_OPEN)
/** Requests for the same trace run one after another, because the mask depends on the earlier output. */
const turns = new Limiter({ perClient: 1 })

forgetWithPool(() => {
  traces.clear()
  tokens.clear()
})

const nameOf = ({ build, attempt }: BuildKey) => `${build}-${attempt}`
const keyOf = ({ buildId: build, attempt }: HeldBuild): BuildKey => ({ build, attempt })

/** Remembers the token of a build for requests without it. */
export const rememberToken = (key: BuildKey, token: string): void => void tokens.set(nameOf(key), token)

/** The trace would exceed its limit. */
export class TraceFull extends Error {}

/**
 * Appends a chunk that begins at `start`, and returns the number of received bytes. Decided: a repeated chunk changes nothing.
 * Throws TraceMismatch when another number was received, and TraceFull when it would exceed `most` bytes.
 */
export function appendMasked(build: HeldBuild, start: number, chunk: Buffer, most: number): Promise<number> {
  const name = nameOf(keyOf(build))
  return turns.run({ client: name }, async () => {
    const known = traces.get(name)
    if (known?.end === start) {
      try {
        return await append(known, build, { start, chunk, most })
      } catch (error) {
        if (!(error instanceof TraceMismatch)) throw error
        // Another process has written to the trace in the meantime.
      }
    }
    return append(await openTrace(build), build, { start, chunk, most })
  })
}

interface Piece {
  readonly start: number
  readonly chunk: Buffer
  readonly most: number
}

async function append(trace: OpenTrace, build: HeldBuild, { start, chunk, most }: Piece): Promise<number> {
  const key = keyOf(build)
  const hash = createHash('sha256').update(chunk).digest('base64')
  if (trace.last?.start === start && trace.last.hash === hash) return trace.end
  if (start !== trace.end) throw new TraceMismatch(trace.end)
  if (start + chunk.length > most) throw new TraceFull()
  try {
    const shown = trace.end - trace.masker.tail.bytes.length
    const size = await appendTrace(key, trace.masker.mask(chunk), shown)
    await keepTail(build, trace.masker.tail, size)
    trace.end = start + chunk.length
    trace.last = { start, hash }
    return trace.end
  } catch (error) {
    // The mask has seen bytes that the trace does not contain.
    traces.delete(nameOf(key))
    throw error
  }
}

/** Replaces the trace by the whole text that an old runner sends. `final`: the build has ended. */
export function replaceMasked(build: HeldBuild, text: string, final: boolean): Promise<void> {
  const key = keyOf(build)
  return turns.run({ client: nameOf(key) }, async () => {
    traces.delete(nameOf(key))
    const masker = await maskerOf(build)
    const bytes = masker.mask(Buffer.from(text))
    await replaceTrace(key, final ? Buffer.concat([bytes, endOf(masker.tail, LEAST_BEGINNING)]) : bytes)
    if (!final) await keepTail(build, masker.tail, bytes.length, build.tail !== null)
  })
}

/** Adds the rest to the trace of a build that ends, and `line`. */
export function endMasked(build: HeldBuild, line = ''): Promise<void> {
  const key = keyOf(build)
  return turns.run({ client: nameOf(key) }, async () => {
    traces.delete(nameOf(key))
    const rest = endOf(tailOf(build, await traceSize(key)), LEAST_BEGINNING)
    const bytes = Buffer.concat([rest, Buffer.from(line)])
    if (bytes.length > 0) await appendTrace(key, bytes)
  })
}

/** Continues the trace as the file and the row of the build have it. */
async function openTrace(build: HeldBuild): Promise<OpenTrace> {
  const name = nameOf(keyOf(build))
  const size = await traceSize(keyOf(build))
  const [known, tail] = [traces.get(name), tailOf(build, size)]
  const end = size + tail.bytes.length
  if (known?.end === end) return known
  const masker = await maskerOf(build)
  masker.resume(tail)
  const trace: OpenTrace = { masker, end }
  traces.set(name, trace)
  return trace
}

const NO_TAIL: Tail = { bytes: Buffer.alloc(0), hidden: new Uint8Array(0) }

/** Stores the bytes after `at` that the trace does not show yet. A tail for another place does not count, so none needs no statement. */
async function keepTail(
  { buildId, token }: HeldBuild,
  { bytes, hidden }: Tail,
  at: number,
  always = false
): Promise<void> {
  if (bytes.length === 0 && !always) return
  const text = JSON.stringify({ at, bytes: bytes.toString('base64'), hidden: Buffer.from(hidden).toString('base64') })
  await execute('update builds set trace_tail_encrypted = ? where id = ? and token_hash = ?', [
    encrypt(text),
    buildId,
    token
  ])
}

/** Returns the bytes after the end of the file, as the row of the build has them. */
function tailOf({ tail: box }: HeldBuild, size: number): Tail {
  if (!box) return NO_TAIL
  const { at, bytes, hidden } = JSON.parse(decrypt(box)) as { at: number; bytes: string; hidden: string }
  return at === size ? { bytes: Buffer.from(bytes, 'base64'), hidden: Buffer.from(hidden, 'base64') } : NO_TAIL
}

/** Signed tokens are not stored, but all of them begin in the same way. */
async function maskerOf(build: HeldBuild): Promise<Masker> {
  const key = await knownSigningKey()
  return new Masker(await secretsOf(build), key ? [`${key.header}.`] : [])
}

/**
 * Returns the tokens of the build and of its runner, and all masked values of its project: variables of a caller may have the same
 * values.
 */
async function secretsOf(build: HeldBuild): Promise<string[]> {
  const [ofProject, runner] = await Promise.all([
    projectVariables(build.projectId),
    row<{ box: Buffer | null }>('select token_encrypted as box from runners where id = ?', [build.runnerId])
  ])
  const token = tokens.get(nameOf(keyOf(build)))
  return [
    ...(token === undefined ? [] : [token]),
    ...hiddenValues(ofProject.filter(({ masked }) => masked)),
    ...tokenIn(runner?.box ?? null)
  ]
}

function tokenIn(box: Buffer | null): string[] {
  try {
    return box ? [decrypt(box)] : []
  } catch {
    return []
  }
}
