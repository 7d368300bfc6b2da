// Shows one job, build or hook in full: a job with every line of its error and its payload, a build with the end of its trace.
import { breakLines, plainText } from '../../../lib/display-width.js'
import { duration, since } from '../drawing/format.js'
import { cutLine, type Theme } from '../drawing/style.js'
import type { Opened } from '../model.js'
import type { Job, JobOverview, WatchedBuildDetails } from '../source.js'

/** A payload may have megabytes. Its first lines are enough. */
const MOST_LINES = 2000
const LONGEST_LINE = 20_000

/** The open record: null while it is read; `gone` when it no longer exists. */
export type Found =
  | { readonly kind: 'job'; readonly job: Job }
  | { readonly kind: 'build'; readonly build: WatchedBuildDetails }
  | { readonly kind: 'hook'; readonly hook: JobOverview['hooks'][number] }
  | 'gone'
  | null

export interface DetailProps {
  readonly opened: Opened
  readonly found: Found
  /** All lines of the record. */
  readonly lines: readonly string[]
  readonly width: number
  readonly body: number
  readonly theme: Theme
}

const NAMES = { job: 'Job', build: 'Build', hook: 'Hook' } as const
const GONE = {
  job: 'this job is finished or was discarded',
  build: 'this build no longer exists',
  hook: 'this hook no longer fails, or was removed'
} as const

export function openedLines({ opened, found, lines, width, body, theme }: DetailProps): string[] {
  const first = Math.min(opened.scroll, Math.max(0, lines.length - body))
  const shown = lines.slice(first, first + body)
  const rest = lines.length - first - shown.length
  const title = `▸ ${NAMES[opened.kind]} ${opened.id}${rest > 0 ? `  ${rest} more lines below` : ''}`
  const note = found === null ? 'reading ...' : found === 'gone' ? GONE[opened.kind] : null
  return [
    cutLine(title, { width, look: 'strong', theme }),
    ...(note === null ? [] : [cutLine(`  ${note}`, { width, look: 'dim', theme })]),
    ...shown
  ]
}

/** Returns all lines that describe a record, none longer than the width. `now` is in milliseconds. */
export function detailLines(found: Found, width: number, now: number): string[] {
  if (found === null || found === 'gone') return []
  const all =
    found.kind === 'job'
      ? ofJob(found.job, now)
      : found.kind === 'build'
        ? ofBuild(found.build, now)
        : ofHook(found.hook, now)
  const broken = (line: string) =>
    breakLines(plainText(line.slice(0, LONGEST_LINE)), width - 2).map(part => `  ${part}`)
  // Of a long trace, show the end; of everything else, the beginning.
  if (found.kind === 'build') return all.slice(-MOST_LINES).flatMap(broken).slice(-MOST_LINES)
  return all.slice(0, MOST_LINES).flatMap(broken).slice(0, MOST_LINES)
}

const field = (name: string, value: string) => `${`${name}:`.padEnd(10)}${value}`
const moment = (time: Date | string, now: number) => `${new Date(time).toISOString()} (${since(time, now)})`
const indented = (text: string) => text.split('\n').map(line => `  ${line}`)

const ofJob = (job: Job, now: number) => [
  field('name', job.name),
  field('queue', job.queue),
  field('state', job.state),
  field('tries', `${job.attempts}${job.crashes > 0 ? `; its process died ${job.crashes} times` : ''}`),
  field('made', moment(job.created_at, now)),
  field('due', moment(job.run_at, now)),
  ...(job.process_id === null ? [] : [field('process', String(job.process_id))]),
  '',
  'error:',
  ...indented(job.error ?? 'none'),
  '',
  'payload:',
  ...indented(JSON.stringify(job.payload, null, 2))
]

const ofBuild = (build: WatchedBuildDetails, now: number) => [
  field('build', `${build.name} of stage ${build.stage}`),
  field('project', build.project),
  field('ref', build.ref),
  field('status', [build.status, build.failure_reason ?? '', exitOf(build)].filter(Boolean).join(', ')),
  field('made', moment(build.created_at, now)),
  ...(build.started_at === null ? [] : [field('started', `${moment(build.started_at, now)}${lastedOf(build)}`)]),
  ...(build.runner === null ? [] : [field('runner', build.runner)]),
  ...(build.hostname === null ? [] : [field('worker', `${build.hostname}:${build.pid}`)]),
  '',
  `trace (${build.trace.size} bytes${Buffer.byteLength(build.trace.tail) < build.trace.size ? ', the end of it' : ''}):`,
  ...linesOfTrace(build.trace.tail)
]

const exitOf = ({ exit_code: code }: WatchedBuildDetails) => (code === null ? '' : `exit code ${code}`)
const lastedOf = ({ started_at: from, finished_at: to }: WatchedBuildDetails) =>
  from === null || to === null ? '' : `, took ${duration((new Date(to).getTime() - new Date(from).getTime()) / 1000)}`

/** Returns the lines of a trace. Of a line that a program has redrawn, such as a progress bar, only the last state is kept. */
function linesOfTrace(tail: string): string[] {
  const plain = tail.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '').replace(/\n$/, '')
  return plain.split('\n').map(line => `  ${line.replace(/\r+$/, '').split('\r').at(-1) ?? ''}`)
}

const ofHook = (hook: JobOverview['hooks'][number], now: number) => [
  field('receiver', hook.receiver),
  field('project', hook.project ?? 'none (system hook)'),
  field('failures', `${hook.failures} in a row`),
  field('since', hook.since === null ? 'unknown' : moment(hook.since, now)),
  field('next try', hook.next_try_at === null ? 'none: no delivery is waiting' : moment(hook.next_try_at, now)),
  field('waiting', `${hook.pending} deliveries`),
  field('dead', `${hook.dead} deliveries`),
  '',
  'the oldest dead or waiting delivery:',
  `  ${hook.event ?? 'none'}${hook.status === null ? '' : `, HTTP status ${hook.status}`}`,
  ...indented(hook.error ?? 'no error recorded'),
  '',
  `To list its deliveries: gitstead hooks deliveries ${hook.id}`
]
