// Changes that keys make outside of the dashboard: which change a key requests, how it is made, and what the status line says.
import { Unavailable } from '../../errors.js'
import {
  type Change,
  type Context,
  type Effect,
  type Kind,
  type RecordChange,
  type State,
  type Step,
  say
} from './model.js'
import { current } from './moves.js'
import { Stopped } from './one-by-one.js'
import type { JobSource } from './source.js'

export const isChange = (effect: Effect): effect is Change => 'ids' in effect || 'queue' in effect

interface Words {
  readonly question?: string
  readonly done: (many: boolean) => string
  /** The state of a record that did not change. */
  readonly otherwise: string
}

const WORDS: { readonly [Name in Kind]: Words } = {
  retry_jobs: { done: () => 'will be tried again', otherwise: 'neither delayed nor dead' },
  discard_jobs: {
    question: 'discard',
    done: many => (many ? 'are discarded' : 'is discarded'),
    otherwise: 'running or deleted'
  },
  retry_builds: {
    done: many => (many ? 'are retried as new builds' : 'is retried as a new build'),
    otherwise: 'still active or not retryable'
  },
  cancel_builds: {
    question: 'cancel',
    done: many => (many ? 'are canceled' : 'is canceled'),
    otherwise: 'already finished or deleted'
  }
}

const nounOf = (kind: Kind) => (kind === 'retry_jobs' || kind === 'discard_jobs' ? 'job' : 'build')
const numbered = (kind: Kind, ids: readonly number[]) =>
  ids.length === 1 ? `${nounOf(kind)} ${ids[0]}` : `${ids.length} ${nounOf(kind)}s`

/** Returns the question in the status line before a change. */
export const questionOf = ({ kind, ids }: RecordChange) =>
  `${WORDS[kind].question ?? 'change'} ${numbered(kind, ids)}? y/n`

/** Returns the change that a key requests: of the open record, else of all marked lines, else of the selected line. */
export function change(state: State, action: 'retry' | 'discard' | 'cancel' | 'pause', context: Context): Step {
  const line = current(state, context)
  const refused = (text: string): Step => ({ state: say(state, text, context.now) })
  if (action === 'pause') {
    if (state.pane !== 'queues' || line?.queue === undefined) return refused('to pause a queue, choose it first: key 1')
    return { state, effect: { kind: line.paused ? 'resume' : 'pause', queue: line.queue } }
  }
  const what = state.detail?.kind ?? line?.opens
  const kind = what === 'job' || what === 'build' ? kindOf(action, what) : undefined
  if (kind === undefined) {
    const where = {
      retry: 'a job or build, choose it first: key 3, 4 or 5',
      discard: 'a job, choose it first: key 3 or 5'
    }
    return refused(`to ${action} ${action === 'cancel' ? 'a build, choose it first: key 4' : where[action]}`)
  }
  const marks = state.marks[state.pane].map(Number)
  const ids = state.detail ? [state.detail.id] : marks.length > 0 ? marks : [Number(line?.id)]
  if (WORDS[kind].question === undefined) return { state, effect: { kind, ids } }
  return { state: { ...state, confirm: { kind, ids } } }
}

function kindOf(action: 'retry' | 'discard' | 'cancel', what: 'job' | 'build'): Kind | undefined {
  if (action === 'retry') return what === 'job' ? 'retry_jobs' : 'retry_builds'
  if (action === 'discard') return what === 'job' ? 'discard_jobs' : undefined
  return what === 'build' ? 'cancel_builds' : undefined
}

export interface Outcome {
  readonly text: string
  /** The source did not answer. */
  readonly away: boolean
  /** Whether all records were attempted, so that their marks can be removed. */
  readonly finished: boolean
}

/** Makes a change. Returns the text for the status line, also when the change fails. */
export async function carryOut(source: JobSource, change: Change): Promise<Outcome> {
  try {
    return { text: await make(source, change), away: false, finished: true }
  } catch (error) {
    const cause = error instanceof Stopped ? error.cause : error
    const first =
      error instanceof Stopped && 'ids' in change ? `${partOf(change, error.changed)}; then: ` : 'not done: '
    return { text: first + textOf(cause), away: cause instanceof Unavailable, finished: false }
  }
}

async function make(source: JobSource, change: Change): Promise<string> {
  switch (change.kind) {
    case 'retry_jobs':
      return told(change, await source.retry(change.ids))
    case 'discard_jobs':
      return told(change, await source.discard(change.ids))
    case 'retry_builds':
      return told(change, await source.retryBuilds(change.ids))
    case 'cancel_builds':
      return told(change, await source.cancelBuilds(change.ids))
    case 'pause':
      await source.pause(change.queue)
      return `queue ${change.queue} is paused`
    case 'resume':
      await source.resume(change.queue)
      return `queue ${change.queue} is resumed`
  }
}

function told(change: RecordChange, done: number): string {
  const { kind, ids } = change
  const words = WORDS[kind]
  if (ids.length === 1) return `${numbered(kind, ids)} ${done === 1 ? words.done(false) : `is ${words.otherwise}`}`
  return done === ids.length ? partOf(change, done) : `${partOf(change, done)}; the others are ${words.otherwise}`
}

const partOf = ({ kind, ids }: RecordChange, done: number) =>
  `${done} of ${numbered(kind, ids)} ${WORDS[kind].done(true)}`

/** Returns the state without the marks of the records in a change. */
export function withoutMarks(state: State, change: Change): State {
  if (!('ids' in change)) return state
  const panes = nounOf(change.kind) === 'job' ? (['failures', 'jobs'] as const) : (['builds'] as const)
  const named = new Set(change.ids.map(String))
  const left = panes.map(pane => [pane, state.marks[pane].filter(id => !named.has(id))] as const)
  return { ...state, marks: { ...state.marks, ...Object.fromEntries(left) } }
}

export const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
