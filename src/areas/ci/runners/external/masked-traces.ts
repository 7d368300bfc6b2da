// Appends the output of external runners to the traces of their builds, without secrets. A mask is as long as the
// secret, so that the offsets of the runner stay right.
//
// A secret may be split between two requests. This process remembers the end of each trace that it writes, and masks
// the rest of a secret that began there. When another process received the previous request, or this one was restarted,
// it reads the stored end instead; then the rest of a secret whose beginning is already masked may be visible.
import { createHash } from 'node:crypto'
import { forgetWithPool } from '../../../../db/connect/connection.js'
import { row } from '../../../../db/connect/sql.js'
import { Limiter } from '../../../../lib/limiter.js'
import { lruOf } from '../../../../lib/lru.js'
import { Masker } from '../../../../runner/mask.js'
import { decrypt } from '../../../../secrets.js'
import {
  appendTrace,
  type BuildKey,
  readTrace,
  replaceTrace,
  TraceMismatch,
  traceSize
} from '../../../../storage/traces.js'
import { knownSigningKey } from '../../id-tokens/signing-key.js'
import { givenVariables } from '../../pipelines/given-variables.js'
import { hiddenValues } from '../../variables/hidden-values.js'
import { variablesForBuild } from '../../variables/variables.js'
import type { HeldBuild } from './held-builds.js'

/** The minimum length of a secret's beginning at the end of a request to be masked. */
const LEAST_BEGINNING = 4
/** Bytes of the stored end that a new mask reads. */
const LONGEST_BEGINNING = 4096
/** The number of traces whose ends this process remembers. */
const MOST_OPEN = 1000

interface OpenTrace {
  readonly masker: Masker
  /** The size of the trace after the last request. */
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
 * Appends a chunk that begins at `start`, and returns the new size of the trace. Decided: a repeated chunk changes nothing.
 * Throws TraceMismatch when the trace has a different size, and TraceFull when it would have more than `most` bytes.
 */
export function appendMasked(build: HeldBuild, start: number, chunk: Buffer, most: number): Promise<number> {
  const key = keyOf(build)
  return turns.run({ client: nameOf(key) }, async () => {
    const known = traces.get(nameOf(key))
    if (known?.end === start) {
      try {
        return await append(known, key, { start, chunk, most })
      } catch (error) {
        if (!(error instanceof TraceMismatch)) throw error
        // Another process has written to the trace in the meantime.
      }
    }
    return append(await openTrace(build), key, { start, chunk, most })
  })
}

interface Piece {
  readonly start: number
  readonly chunk: Buffer
  readonly most: number
}

async function append(trace: OpenTrace, key: BuildKey, { start, chunk, most }: Piece): Promise<number> {
  const hash = createHash('sha256').update(chunk).digest('base64')
  if (trace.last?.start === start && trace.last.hash === hash) return trace.end
  if (start !== trace.end) throw new TraceMismatch(trace.end)
  if (start + chunk.length > most) throw new TraceFull()
  try {
    trace.end = await appendTrace(key, hide(trace.masker, chunk), start)
    trace.last = { start, hash }
    return trace.end
  } catch (error) {
    // The mask has seen bytes that the trace does not contain.
    traces.delete(nameOf(key))
    throw error
  }
}

/** Replaces the trace by the whole text that an old runner sends. Returns its size. */
export function replaceMasked(build: HeldBuild, text: string): Promise<number> {
  const key = keyOf(build)
  return turns.run({ client: nameOf(key) }, async () => {
    traces.delete(nameOf(key))
    const bytes = hide(await maskerOf(build), Buffer.from(text))
    await replaceTrace(key, bytes)
    return bytes.length
  })
}

async function openTrace(build: HeldBuild): Promise<OpenTrace> {
  const key = keyOf(build)
  const [known, size] = [traces.get(nameOf(key)), await traceSize(key)]
  if (known?.end === size) return known
  const masker = await maskerOf(build)
  if (size > 0) hide(masker, await readTrace(key, Math.max(0, size - LONGEST_BEGINNING)))
  const trace: OpenTrace = { masker, end: size }
  traces.set(nameOf(key), trace)
  return trace
}

/** Returns as many bytes as it receives. */
function hide(masker: Masker, chunk: Buffer): Buffer {
  const sure = masker.mask(chunk)
  const rest = masker.release()
  return Buffer.concat([sure, rest.length >= LEAST_BEGINNING ? Buffer.alloc(rest.length, '*') : rest])
}

/** Signed tokens are not stored, but all of them begin in the same way. */
async function maskerOf(build: HeldBuild): Promise<Masker> {
  const key = await knownSigningKey()
  return new Masker(await secretsOf(build), key ? [`${key.header}.`] : [])
}

/** Returns the tokens of the build and of its runner, and the values of variables that are not public. */
async function secretsOf(build: HeldBuild): Promise<string[]> {
  const [project, ofPipeline, runner] = await Promise.all([
    variablesForBuild(build.projectId),
    givenVariables(build.pipelineId),
    row<{ box: Buffer | null }>('select token_encrypted as box from runners where id = ?', [build.runnerId])
  ])
  const token = tokens.get(nameOf(keyOf(build)))
  return [
    ...(token === undefined ? [] : [token]),
    ...hiddenValues([...project, ...ofPipeline]),
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
