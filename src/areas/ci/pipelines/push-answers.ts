// Shows a user who pushes the result for CI: the number of the pipeline, or the errors of the CI file. The worker
// creates the pipeline; the response waits for it briefly, and only when the file selects a build.
import { setTimeout as sleep } from 'node:timers/promises'
import { publicUrl } from '../../../config.js'
import { marks, rows } from '../../../db/connect/sql.js'
import { log } from '../../../log.js'
import type { OpenChange } from '../../code/refs/ref-changes.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { planSimplePush, type SimplePush } from './pipelines.js'

/** The maximum number of milliseconds that a push waits for its pipelines. Creating a pipeline takes about 20. */
const PATIENCE = 500
/** The same when rules may exclude all builds. */
const SHORT_PATIENCE = 200
/** The maximum number of changes of one push to describe. */
const MOST_CHANGES = 5
/** A longer CI file is not read here, because reading it would delay other requests. */
const FILE_LIMIT = 65_536
const MOST_ERRORS = 10

interface Described extends SimplePush {
  readonly id: number
}

/** Returns the lines for the user about the pipelines of ref changes. Never throws. */
export async function describePipelines(project: ProjectRow, changes: readonly OpenChange[]): Promise<string[]> {
  if (!project.builds_enabled) return []
  if (changes.some(({ skipCi }) => skipCi)) return ['no pipeline, because of the push option ci.skip']
  const end = new AbortController()
  const timer = setTimeout(() => end.abort(), PATIENCE)
  try {
    const described = await Promise.race([describe(project, changes, end.signal), over(end.signal)])
    return described ?? []
  } catch (error) {
    log().warn({ error, project: project.id }, 'the pipelines of a push could not be described')
    return []
  } finally {
    clearTimeout(timer)
  }
}

const over = (signal: AbortSignal) =>
  new Promise<undefined>(resolve => signal.addEventListener('abort', () => setImmediate(resolve, undefined)))

async function describe(project: ProjectRow, changes: readonly OpenChange[], end: AbortSignal): Promise<string[]> {
  const planned: Described[] = []
  for (const { id, ref, old: old_id, new: new_id } of changes.slice(0, MOST_CHANGES)) {
    const projectPath = `${project.namespace_path}/${project.path}`
    const pushed = { ref, old_id, new_id, user_id: null }
    const found = await planSimplePush(repositoryPath(project), projectPath, pushed, FILE_LIMIT)
    if (found && found.plan?.kind !== 'empty') planned.push({ ...found, id })
  }
  if (planned.length === 0) return []
  const numbers = await awaitPipelines(
    planned.map(({ id }) => id),
    planned.every(({ open }) => open) ? AbortSignal.any([end, AbortSignal.timeout(SHORT_PATIENCE)]) : end
  )
  const url = `${publicUrl()}/${project.namespace_path}/${project.path}`
  return planned.flatMap(change => linesOf(url, change, numbers.get(change.id)))
}

/** Returns the numbers of the pipelines that were created in time, by ref change. */
async function awaitPipelines(changeIds: readonly number[], end: AbortSignal): Promise<Map<number, number>> {
  for (let pause = 10; ; pause *= 2) {
    const found = await rows<{ id: number; ref_change_id: number }>(
      `select id, ref_change_id from pipelines where ref_change_id in (${marks(changeIds)})`,
      changeIds
    )
    const numbers = new Map(found.map(({ id, ref_change_id }) => [ref_change_id, id]))
    if (numbers.size === changeIds.length) return numbers
    await sleep(pause, undefined, { signal: end }).catch(() => undefined)
    if (end.aborted) return numbers
  }
}

function linesOf(projectUrl: string, described: Described, number: number | undefined): string[] {
  const { ref, ciFile, plan, errors, open } = described
  const url = `  ${projectUrl}/pipelines/${number}`
  const urls = number === undefined ? [] : [url]
  if (open) return number === undefined ? [] : [`pipeline ${number} created`, ...urls]
  if (!plan) {
    const shown = errors.slice(0, MOST_ERRORS).map(error => `  ${oneLine(error)}`)
    return [`${oneLine(ref)}: no builds, because ${ciFile} has errors:`, ...shown, ...urls]
  }
  if (plan.kind === 'skipped') return [`${oneLine(ref)}: no builds, because the commit message asks to skip them`]
  if (number === undefined) return [`${oneLine(ref)}: a pipeline will be created in a moment`]
  return [`pipeline ${number} created`, ...urls]
}

/** Control characters of a CI file must not reach the terminal of the user. */
const oneLine = (text: string) => text.replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ').slice(0, 300)
