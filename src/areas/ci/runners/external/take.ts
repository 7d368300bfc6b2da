// Gives builds to external runners, with the same claims as the built-in runner. An external runner never takes over a build.
import { forgetWithPool } from '../../../../db/connect/connection.js'
import { Forbidden } from '../../../../errors.js'
import { lruOf } from '../../../../lib/lru.js'
import { log } from '../../../../log.js'
import { tokenHash } from '../../../../secrets.js'
import { type BuildClaim, finishBuild } from '../../builds/claim.js'
import { claimNext } from '../claim-next.js'
import { endMissing, isLasting } from '../downstream/missing.js'
import { describeBuild, type JobDescription } from '../job-description.js'
import type { OutsideRunner } from '../runners.queries.js'
import { noteContact } from './contact.js'
import type { InTurn } from './held-questions.js'
import { rememberToken } from './masked-traces.js'
import { lookAtQueue, type QueueLook } from './queue-look.js'
import { requireRunner } from './registration.js'

export interface Question {
  readonly token: string | undefined
  readonly info?: unknown
  /** The value of the runner's last response without a build. */
  readonly last_update?: string | undefined
}

export interface Answer {
  readonly runner: OutsideRunner
  /** Null when no build waits for the runner, or the runner is paused. */
  readonly job: JobDescription | null
  /** As long as this value stays the same, the runner gets no build. */
  readonly value: string
}

/**
 * Gives a runner the next build. A request with the current value stays open with `held` until a build arrives or its
 * time has passed. Throws Forbidden when no runner has this token.
 */
export async function takeNext(
  question: Question,
  held?: (first: Answer, ask: Ask) => Promise<Answer>
): Promise<Answer> {
  const answer = await ask(question)
  if (!held || answer.job || question.last_update !== answer.value) return answer
  return held(answer, turn => ask(question, turn))
}

type Ask = (turn: InTurn) => Promise<Answer>

async function ask({ token, info, last_update }: Question, turn: InTurn = search => search()): Promise<Answer> {
  // Read before the search: a build that arrives between the two changes the value.
  const look = await lookAtQueue()
  const known = await findKnownRunner(token, look)
  const { runner } = known
  if (await noteContact(runner, info)) knownRunners.delete(known.key)
  const { value } = look
  // Another process has searched.
  if (last_update === value && !known.miss) noteMiss(known, value)
  if (!look.work || isKnownMiss(known, value)) return { runner, job: null, value }
  const job = runner.active ? await turn(() => claim(runner)) : null
  if (job === null) noteMiss(known, value)
  return { runner, job: job ?? null, value }
}

/**
 * Milliseconds after which a search runs again in any case. The state may change between the look and the search, and
 * back before the next look, for example when a runner is paused and resumed.
 */
const SEARCH_AGAIN_MS = 60_000

function noteMiss(known: KnownRunner, value: string): void {
  known.miss = { value, until: performance.now() + SEARCH_AGAIN_MS }
}

const isKnownMiss = ({ miss }: KnownRunner, value: string) => miss?.value === value && performance.now() < miss.until

interface KnownRunner {
  readonly key: string
  readonly runner: OutsideRunner
  /** The runners at the time when this one was read. */
  readonly runners: string
  /** The value with which a search found nothing, and until when that counts. */
  miss?: { readonly value: string; readonly until: number }
}

/** The number of runners that this process remembers: as many as an instance may have. */
const knownRunners = lruOf<string, KnownRunner>(10_000)
forgetWithPool(() => knownRunners.clear())

/** Returns the current state of a runner, without a statement while no runner has changed. */
async function findKnownRunner(token: string | undefined, { runners }: QueueLook): Promise<KnownRunner> {
  if (token === undefined || token === '') throw new Forbidden()
  const key = tokenHash(token).toString('base64')
  const known = knownRunners.get(key)
  if (known?.runners === runners) return known
  const found = { key, runner: await requireRunner(token), runners }
  knownRunners.set(key, found)
  return found
}

async function claim(runner: OutsideRunner): Promise<JobDescription | null> {
  const claim = await claimNext(runner)
  if (!claim) return null
  rememberToken({ build: claim.buildId, attempt: claim.attempt }, claim.token)
  const description = await describe(claim, runner)
  return description && { ...description, timeout: Math.min(description.timeout, runner.maximum_timeout ?? Infinity) }
}

/** If the runner never receives the build, nobody else would finish it. */
async function describe(claim: BuildClaim, runner: OutsideRunner): Promise<JobDescription | null> {
  try {
    return await describeBuild(claim, runner)
  } catch (error) {
    if (isLasting(error)) {
      await endMissing(claim, error)
      return null
    }
    log().error({ error, build: claim.buildId }, 'a build cannot be described to its runner')
    await finishBuild(claim, { status: 'failed', reason: 'runner_system_failure' }, { size: 0, sha256: null })
    return null
  }
}
