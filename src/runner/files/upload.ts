// The last stage: packs and stores the artifacts of the build.
import { join } from 'node:path'
import { config } from '../../config.js'
import { Failure } from '../../errors.js'
import { counted } from '../../lib/counted.js'
import { isDiskFull } from '../../lib/disk-full.js'
import type { ArtifactsWish, RunnerResult } from '../job.js'
import { type Run, StageFailure } from '../stages.js'
import { expand } from '../variables.js'
import { archiveName, packArtifacts } from './artifacts.js'

/** Not specified: a build that its time limit or output limit stopped counts as failed here. */
export async function uploadArtifacts(run: Run, outcome: RunnerResult, before?: Set<string>): Promise<RunnerResult> {
  const { job, trace, port } = run
  const wish = job.artifacts
  const wanted = outcome.status === 'success' ? 'on_success' : 'on_failure'
  if (!wish || outcome.status === 'canceled' || outcome.reason === 'runner_system_failure') return outcome
  if (wish.when !== 'always' && wish.when !== wanted) return outcome
  if (wish.dotenv?.length && wish.paths.length === 0 && !wish.untracked) return outcome
  trace.line('Packing the artifacts')
  try {
    await run.room?.bringBack()
    const archive = await packFor(run, wish, wish.untracked ? before : undefined)
    if (archive) await port.putArtifacts(archive)
    else trace.line('WARNING: no files match the artifacts; nothing is stored')
  } catch (error) {
    if (port.signal.aborted) return { status: 'canceled' }
    const text = `the artifacts are not stored: ${reasonOf(error)}`
    if (outcome.status === 'success') {
      const reason = error instanceof Failure ? 'script_failure' : 'runner_system_failure'
      throw new StageFailure(reason, text, undefined, { cause: error })
    }
    trace.line(`ERROR: ${text}`)
  }
  return outcome
}

function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.message
  return isDiskFull(error) ? 'the disk is full' : 'the runner failed'
}

async function packFor(
  { folders, places, trace, port, lookup }: Run,
  wish: ArtifactsWish,
  before: Set<string> | undefined
) {
  const path = join(folders.work, 'artifacts.zip')
  const { project } = places
  const patterns = (list: readonly string[]) => list.flatMap(text => inProject(text, { project, trace, lookup }))
  const packed = await packArtifacts({
    tree: folders.project,
    paths: patterns(wish.paths),
    exclude: patterns(wish.exclude),
    before,
    to: path,
    limit: config().artifacts.max_size,
    user: folders.user,
    signal: port.signal,
    warn: text => trace.line(`WARNING: ${text}`)
  })
  if (!packed) return undefined
  trace.line(`${counted(packed.files, 'file')}, ${packed.size} bytes`)
  return { path, size: packed.size, filename: archiveName(expand(wish.name, lookup)) }
}

interface Place extends Pick<Run, 'trace' | 'lookup'> {
  /** The folder of the project, as the build sees it. */
  readonly project: string
}

/**
 * Returns a pattern, with its variables replaced, as a path in the project. An absolute pattern may point into the project.
 * Any other pattern gets a warning and an empty list.
 */
export function inProject(text: string, { project, trace, lookup }: Place): string[] {
  const pattern = expand(text, lookup)
  const inner = pattern.startsWith(`${project}/`) ? pattern.slice(project.length + 1) : pattern
  if (inner !== '' && !inner.startsWith('/') && !inner.split('/').includes('..')) return [inner]
  trace.line(`WARNING: ${JSON.stringify(pattern)} is not a path in the project`)
  return []
}
