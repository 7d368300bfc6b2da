// The stages of a build, up to and including its scripts.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { config } from '../config.js'
import { Failure } from '../errors.js'
import type { DiskWatch } from './disk.js'
import type { Room } from './executor.js'
import { CONTENT_RATIO } from './files/artifacts.js'
import { unzip } from './files/unzip.js'
import { FolderLost, type Folders, isLost } from './folders.js'
import type { Halt } from './halt.js'
import type { FailureReason, RunnerJob, RunnerPort, RunnerResult } from './job.js'
import { baseEnvironment, type Places, placesInside, sandboxRefused, shellCommand } from './sandbox.js'
import { quietScript, shellScript } from './script.js'
import { LINK, runShell, type ShellRun } from './shell.js'
import type { Trace } from './trace.js'
import { filesIn, handOver } from './tree.js'
import { expandVariables } from './variables.js'
import { watchScript } from './watch.js'

export interface Run {
  readonly job: RunnerJob
  readonly port: RunnerPort
  readonly trace: Trace
  readonly halt: Halt
  readonly folders: Folders
  readonly disk: DiskWatch
  /** The place where the scripts run, when it is not the sandbox. */
  readonly room?: Room | undefined
  readonly places: Places
  readonly values: Map<string, string>
  readonly lookup: (name: string) => string | undefined
}

const AFTER_SCRIPT_LIMIT = 300_000

/** A failed stage that ends the build. `text` is the line for the trace. */
export class StageFailure extends Error {
  constructor(
    readonly reason: FailureReason,
    text: string,
    readonly exitCode?: number,
    options?: ErrorOptions
  ) {
    super(text, options)
  }
}

/** Returns the result of a build that something outside stopped. */
export function halted({ reason, error }: Halt): RunnerResult {
  if (reason === 'canceled' || reason === undefined) return { status: 'canceled' }
  return error === undefined ? { status: 'failed', reason } : { status: 'failed', reason, error }
}

/** The parts that every stage of a build has from the beginning. */
export type Base = Pick<Run, 'job' | 'port' | 'trace' | 'halt' | 'disk'>

/** Prepares the variables of a build, and the images of its containers. Throws StageFailure when an image is unavailable. */
export async function prepare(base: Base, folders: Folders, room?: Room): Promise<Run> {
  const places = room?.places ?? placesInside(folders)
  const { lookup } = valuesOf(base.job, places, {})
  const before = room ? await room.prepare(lookup) : baseEnvironment(places.home)
  return { ...base, folders, room, places, ...valuesOf(base.job, places, before) }
}

function valuesOf(job: RunnerJob, places: Places, before: Record<string, string>): Pick<Run, 'values' | 'lookup'> {
  const own = { CI_PROJECT_DIR: places.project, CI_BUILDS_DIR: places.builds }
  const fixed = Object.entries(own).map(([key, value]) => ({ key, value, public: true }))
  const defaults = { CI: 'true', CI_SERVER: 'yes', CI_JOB_TIMEOUT: String(job.timeout), ...own }
  const set = { ...before, ...defaults }
  const values = new Map([...Object.entries(defaults), ...expandVariables([...job.variables, ...fixed], set)])
  const all = new Map([...Object.entries(set), ...values])
  return { values, lookup: name => all.get(name) }
}

/** Gets the sources. Returns the files of the checkout when artifacts or caches need the untracked files later. */
export async function fetchSources(run: Run): Promise<Set<string> | undefined> {
  const { job, port, trace, halt, folders } = run
  trace.line('Getting the sources')
  try {
    await port.getSources({
      run: (commands, serve) => runInside(run, quietScript(commands, LINK), halt.signal, serve),
      link: LINK,
      signal: halt.signal
    })
    halt.signal.throwIfAborted()
  } catch (error) {
    halt.signal.throwIfAborted()
    if (isLost(folders)) throw new FolderLost()
    const text = error instanceof Failure ? error.message : 'the sources could not be fetched'
    throw new StageFailure('runner_system_failure', text, undefined, { cause: error })
  }
  return job.artifacts?.untracked || job.caches?.some(cache => cache.untracked) ? filesIn(folders.project) : undefined
}

/** Unpacks the archives of earlier builds over the sources, and gives all files to the user of builds. Throws StageFailure. */
export async function fetchDependencies({ port, trace, halt, folders }: Run): Promise<void> {
  const total = config().artifacts.max_size * CONTENT_RATIO
  for (const { name, copyTo } of port.dependencies) {
    trace.line(`Unpacking the artifacts of ${name}`)
    const archive = join(folders.work, 'dependency.zip')
    try {
      await copyTo(archive, halt.signal)
      await unzip(archive, folders.project, { total, file: total }, halt.signal)
    } catch (error) {
      halt.signal.throwIfAborted()
      const why = error instanceof Failure ? error.message : 'they could not be read'
      throw new StageFailure('missing_dependency_failure', `the artifacts of ${name}: ${why}`, undefined, {
        cause: error
      })
    }
  }
  if (folders.user && port.dependencies.length > 0) await handOver(folders.project, folders.user)
}

const runStep = ({ values, room, ...run }: Run, commands: readonly string[], signal: AbortSignal) =>
  room ? room.run(commands, values, signal) : runInside(run, shellScript(values, commands), signal)

type Inside = Pick<Run, 'folders' | 'trace' | 'halt' | 'disk'>

/** Runs a script in the sandbox. Throws Misconfigured when this machine cannot confine builds, and FolderLost. */
export async function runInside(
  run: Inside,
  script: string,
  signal: AbortSignal,
  link?: ShellRun['link'],
  drained?: boolean
) {
  const { folders, trace } = run
  const command = shellCommand(folders)
  try {
    return await runShell({
      folders,
      command,
      script,
      output: chunk => trace.output(chunk),
      signal,
      link,
      drained,
      watch: await watchOf(run)
    })
  } catch (error) {
    throw stepRefused(folders, error instanceof Error ? error.message : String(error))
  }
}

/** Returns the error of a step that did not begin. The same message of the system may have two reasons. */
const stepRefused = (folders: Folders, why: string) => (isLost(folders) ? new FolderLost() : sandboxRefused(why))

/** Returns the watch over one step, which ends the build at its limits. */
async function watchOf({ folders, trace, halt, disk }: Inside): Promise<ShellRun['watch']> {
  const { memory_limit: memory, process_limit: processes } = config().runner
  const { dev: device } = await stat(folders.work)
  const end = (reason: 'memory_limit' | 'script_failure', text: string) => {
    if (!halt.reason) trace.line(`ERROR: ${text}; the build stops`)
    halt.now(reason)
  }
  return members =>
    watchScript(members, {
      memory,
      processes,
      device,
      onMemory: () =>
        end('memory_limit', `the processes of the build use more than ${memory} bytes of memory together`),
      onStopped: () => end('script_failure', 'the first process of the sandbox was stopped'),
      onHidden: bytes => {
        disk.hidden = bytes
      }
    })
}

/** Notes in the trace that the time limit has ended the build. */
export function tellTimeout({ halt, job, trace }: Pick<Run, 'halt' | 'job' | 'trace'>): void {
  if (halt.reason === 'job_execution_timeout') trace.line(`ERROR: the build took longer than ${job.timeout} seconds`)
}

/** Runs the script. The time limit of the build ends with it. Throws Misconfigured when this machine cannot confine builds. */
export async function runScript(run: Run): Promise<RunnerResult> {
  const { halt, job } = run
  const exitCode = await runStep(run, job.script, halt.signal)
  halt.stopClock()
  tellTimeout(run)
  if (halt.reason) return halted(halt)
  if (exitCode === undefined) throw stepRefused(run.folders, 'see above')
  return exitCode === 0 ? { status: 'success', exitCode } : { status: 'failed', reason: 'script_failure', exitCode }
}

/** Not specified: after_script does not run when something outside stopped the script (cancel, time or output limit). */
export async function runAfterScript(run: Run, outcome: RunnerResult): Promise<void> {
  const { job, trace, halt, values } = run
  if (job.afterScript.length === 0) return
  trace.line('Running after_script')
  const limit = AbortSignal.timeout(AFTER_SCRIPT_LIMIT)
  const withStatus = { ...run, values: new Map(values).set('CI_JOB_STATUS', outcome.status) }
  const exitCode = await runStep(withStatus, job.afterScript, AbortSignal.any([halt.signal, limit]))
  halt.signal.throwIfAborted()
  if (limit.aborted) trace.line('WARNING: after_script took longer than 5 minutes')
  else if (exitCode !== 0) trace.line('WARNING: after_script failed; this does not change the result of the build')
}
