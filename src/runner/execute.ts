// Executes one build: sources, caches, archives of earlier builds, script, after_script, caches, artifacts. It writes the
// trace all the time.
import { existsSync } from 'node:fs'
import { config } from '../config.js'
import { Failure, Unavailable } from '../errors.js'
import { watchDisk } from './disk.js'
import { dockerRoom } from './docker/docker-room.js'
import type { Room } from './executor.js'
import { keepCaches, restoreCaches } from './files/caches.js'
import { storeReports } from './files/reports.js'
import { uploadArtifacts } from './files/upload.js'
import { FolderLost, prepareFolders, removeFolder } from './folders.js'
import { Halt } from './halt.js'
import type { RunnerJob, RunnerPort, RunnerResult } from './job.js'
import {
  type Base,
  fetchDependencies,
  fetchSources,
  halted,
  prepare,
  runAfterScript,
  runScript,
  StageFailure,
  tellTimeout
} from './stages.js'
import { Trace } from './trace.js'

export type { RunnerJob, RunnerPort, RunnerResult } from './job.js'

/**
 * Runs a build to its end, and never rejects. When the promise resolves, no process and no file of the build is left. The error
 * of the result is FolderLost when the build must run again.
 */
export async function executeBuild(job: RunnerJob, port: RunnerPort): Promise<RunnerResult> {
  const halt = new Halt(job.timeout, port.signal)
  const trace = new Trace({
    secrets: job.secrets,
    limit: config().runner.output_limit,
    write: chunk => port.writeTrace(chunk),
    onLimit: () => halt.now('output_limit'),
    onFailure: error => halt.now('runner_system_failure', error)
  })
  for (const line of job.header ?? ['Running on the built-in runner']) trace.line(line)
  const limit = config().runner.disk_limit
  const disk = watchDisk({
    folder: port.workFolder,
    limit,
    onFull: () => {
      trace.line(`ERROR: the files of the build take more than ${limit} bytes of the disk; the build stops`)
      halt.now('disk_limit')
    },
    onLow: () => {
      trace.line('ERROR: the disk of the runner is nearly full; the build stops')
      halt.now('runner_system_failure', new Unavailable('the disk of builds is nearly full'))
    }
  })
  let result = await runStages({ job, port, trace, halt, disk })
  // Scripts fail in many ways when their files are removed.
  if (!halt.reason && !existsSync(port.workFolder)) result = failed(new FolderLost(), trace)
  trace.line(lastLine(result))
  halt.done()
  try {
    await disk.stop()
    await trace.close()
    await removeFolder(port.workFolder)
  } catch (error) {
    result = { status: 'failed', reason: 'runner_system_failure', error }
  }
  return halt.reason === 'runner_system_failure' ? halted(halt) : result
}

async function runStages(base: Base): Promise<RunnerResult> {
  const { trace, halt, port } = base
  let room: Room | undefined
  try {
    halt.signal.throwIfAborted()
    const folders = await prepareFolders(port.workFolder)
    if (config().runner.executor === 'docker') room = dockerRoom({ ...base, folders })
    const run = await prepare(base, folders, room)
    const before = await fetchSources(run)
    await restoreCaches(run)
    await fetchDependencies(run)
    await room?.furnish(run.values)
    const outcome = await runScript(run)
    if (outcome.reason === 'script_failure' || outcome.status === 'success') await runAfterScript(run, outcome)
    await keepCaches(run, outcome, before)
    await storeReports(run, outcome)
    return await uploadArtifacts(run, outcome, before)
  } catch (error) {
    if (!halt.reason) return failed(error, trace)
    tellTimeout(base)
    return halted(halt)
  } finally {
    await room?.close()
  }
}

function failed(error: unknown, trace: Trace): RunnerResult {
  if (error instanceof StageFailure) {
    trace.line(`ERROR: ${error.message}`)
    return {
      status: 'failed',
      reason: error.reason,
      ...(error.exitCode !== undefined && { exitCode: error.exitCode }),
      ...(error.cause !== undefined && { error: error.cause })
    }
  }
  trace.line(`ERROR: ${error instanceof Failure ? error.message : 'the runner itself failed'}`)
  return { status: 'failed', reason: 'runner_system_failure', error }
}

function lastLine({ status, reason, exitCode }: RunnerResult): string {
  if (status === 'success') return 'Build succeeded'
  if (status === 'canceled') return 'Build canceled'
  if (reason === 'script_failure' && exitCode !== undefined) return `Build failed: exit code ${exitCode}`
  return `Build failed: ${(reason ?? '').replaceAll('_', ' ')}`
}
