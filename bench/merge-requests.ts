// Measures merge requests: merges of small changes one after another, and the changes of merge requests of 200
// files.
import { setTimeout as sleep } from 'node:timers/promises'
import { row } from '../src/db/connect/sql.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { percentile, report } from './lib/figure.js'
import { ask, commitFile, createProject, type ProjectRecord } from './lib/rest.js'

const MERGES = 60
const LARGE = 12
const FILES = 200
const LOOKS = 20
const PATIENCE_MS = 10_000

interface Made {
  readonly id: number
}

/** Makes a merge request of files in a separate branch. */
async function make(appliance: Prepared, project: ProjectRecord, branch: string, files: number): Promise<Made> {
  const below = `/projects/${project.id}`
  await ask(appliance, 'POST', `${below}/repository/branches`, { branch_name: branch, ref: 'master' })
  const actions = Array.from({ length: files }, (_, at) => ({
    action: 'create',
    file_path: `${branch}/folder-${at % 10}/file-${at}.txt`,
    content: Array.from({ length: 40 }, (_, line) => `line ${line} of ${branch} ${at}\n`).join('')
  }))
  await ask(appliance, 'POST', `${below}/repository/commits`, { branch_name: branch, commit_message: branch, actions })
  const wish = { source_branch: branch, target_branch: 'master', title: branch }
  return ask<Made>(appliance, 'POST', `${below}/merge_requests`, wish)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const publish = (name: string, took: readonly number[], share: number, limit: number) =>
  report({
    name,
    value: percentile(took, share),
    unit: `ms p${share * 100}`,
    limit,
    better: 'lower',
    detail: { p50_ms: Math.round(percentile(took, 0.5) * 10) / 10, times: took.length }
  })

async function measureMerges(appliance: Prepared, project: ProjectRecord): Promise<void> {
  const took: number[] = []
  for (let number = 0; number < MERGES; number++) {
    const { id } = await make(appliance, project, `small-${number}`, 1)
    took.push(await timed(() => ask(appliance, 'PUT', `/projects/${project.id}/merge_requests/${id}/merge`)))
  }
  publish('merge of a small change', took, 0.5, 60)
}

/** Milliseconds from the answer of `push` until the merge request is in the state that only the new commits cause. */
async function knownAfter(id: number, push: () => Promise<unknown>, state: string): Promise<number> {
  await push()
  const answered = performance.now()
  while (!(await row(`select id from merge_requests where id = ? and ${state}`, [id]))) {
    if (performance.now() - answered > PATIENCE_MS) throw new Error(`merge request ${id} is not ${state}`)
    await sleep(2)
  }
  return performance.now() - answered
}

/** A push to the source resolves a conflict, and one to the target causes one: the state shows that both were processed. */
async function measureMergeability(appliance: Prepared, project: ProjectRecord): Promise<void> {
  const took = { source: [] as number[], target: [] as number[] }
  for (let number = 0; number < LOOKS; number++) {
    const branch = `looked-${number}`
    const path = `${branch}/folder-0/file-0.txt`
    const { id } = await make(appliance, project, branch, 1)
    const conflict = () => commitFile(appliance, project, path, `another text ${number}\n`)
    const remove = () =>
      ask(appliance, 'POST', `/projects/${project.id}/repository/commits`, {
        branch_name: branch,
        commit_message: 'Remove',
        actions: [
          { action: 'delete', file_path: path },
          { action: 'create', file_path: `${branch}.txt`, content: 'another file' }
        ]
      })
    await knownAfter(id, async () => undefined, "merge_status = 'can_be_merged'")
    took.target.push(await knownAfter(id, conflict, "merge_status = 'cannot_be_merged'"))
    took.source.push(await knownAfter(id, remove, "merge_status = 'can_be_merged'"))
  }
  publish('mergeability after a push to the source', took.source, 0.9, 200)
  publish('mergeability after a push to the target', took.target, 0.9, 200)
}

async function measureChanges(appliance: Prepared, project: ProjectRecord): Promise<void> {
  const made: Made[] = []
  for (let number = 0; number < LARGE; number++) made.push(await make(appliance, project, `large-${number}`, FILES))
  const path = ({ id }: Made) => `/projects/${project.id}/merge_requests/${id}/changes`
  // Each process reads the changes for itself: the creation reads them once.
  const first: number[] = []
  const again: number[] = []
  for (const one of made) first.push(await timed(() => ask(appliance, 'GET', path(one))))
  for (const one of made) again.push(await timed(() => ask(appliance, 'GET', path(one))))
  publish(`changes of ${FILES} files`, first, 0.9, 150)
  publish(`changes of ${FILES} files, cached`, again, 0.9, 10)
}

async function measure(appliance: Prepared): Promise<void> {
  const project = await createProject(appliance, 'reviewed')
  await commitFile(appliance, project, 'README', 'read me\n')
  await measureMerges(appliance, project)
  await measureMergeability(appliance, project)
  await measureChanges(appliance, project)
}

await withAppliance({}, measure)
