// Inserts the records of an archive under the id of a project that is still invisible. Each function inserts one record and
// everything that belongs to it, in the transaction of its part of the archive.
import type { PlannedBuild } from '../../../ci/plan.js'
import { setLastNumber } from '../../../db/connect/counters.js'
import { row } from '../../../db/connect/sql.js'
import { BadRequest } from '../../../errors.js'
import { encrypt } from '../../../secrets.js'
import { IMPORTED_ATTEMPT } from '../../ci/builds/files/imported-files.js'
import { checkVariables, seal } from '../../ci/pipelines/given-variables.js'
import { countAllIssues } from '../../planning/issues/issue-counts.js'
import { BadProjectArchive, type Kind, MOST_BUILD_FILES, MOST_KNOWN_BUILDS } from './format.js'
import {
  date,
  environmentId,
  insert,
  insertAwards,
  insertPlanned,
  insertSubscriptions,
  LAST_ID,
  type Loading,
  labelId,
  maybeDate,
  planned,
  ran,
  times,
  written
} from './loading.js'
import type { About, RecordOf } from './records.js'

/** Cancels an unfinished build or status, because nothing runs it here. The status of its pipeline then follows from its builds. */
function ended<T extends { status: string; finished_at: string | null; updated_at: string }>(record: T): T {
  if (!['created', 'pending', 'running'].includes(record.status)) return record
  return { ...record, status: 'canceled', finished_at: record.finished_at ?? record.updated_at }
}

/** The script is not in the archive. The output of a retried build says so. */
const PLAN = JSON.stringify({
  environment: null,
  coverage: null,
  variables: [],
  options: {
    script: ['echo "This build was imported without its script: run a new pipeline instead."', 'exit 1'],
    afterScript: [],
    image: null,
    services: [],
    artifacts: null,
    caches: [],
    dependencies: null
  }
} satisfies Pick<PlannedBuild, 'environment' | 'coverage' | 'variables' | 'options'>)

/** The project itself and its members come last, after all others. */
export type LoadedKind = Exclude<Kind, 'project' | 'member'>
type Load<K extends LoadedKind> = (loading: Loading, record: RecordOf<K>) => Promise<void>

/** Nothing of these works until somebody enables it: the project here must not do what the original still does. */
const SETTINGS: { readonly [K in 'hook' | 'variable' | 'pipeline_schedule' | 'environment' | 'deployment']: Load<K> } =
  {
    hook: async ({ projectId }, { kind: _, token, ...record }) => {
      const token_encrypted = token === null ? null : encrypt(token)
      await insert('hooks', { project_id: projectId, ...record, token_encrypted, enabled: false, ...times(record) })
    },
    variable: async ({ projectId }, { kind: _, key, value, ...record }) => {
      const values = { name: key, value_encrypted: encrypt(value) }
      await insert('variables', { project_id: projectId, ...record, ...values, ...times(record) })
    },
    pipeline_schedule: async ({ projectId, people }, { kind: _, owner, variables, ...record }) => {
      const values = { user_id: people.idOf(owner), variables_encrypted: sealed(variables) }
      await insert('pipeline_schedules', {
        project_id: projectId,
        ...record,
        ...values,
        active: false,
        ...times(record)
      })
    },
    environment: async ({ projectId, environments }, { kind: _, ...record }) => {
      environments.set(
        record.name,
        await insert('environments', { project_id: projectId, ...record, ...times(record) })
      )
    },
    deployment: async (loading, { kind: _, environment, build, user, ...record }) => {
      const build_id = loading.builds.deployed.get(build)
      if (build_id === undefined)
        throw new BadProjectArchive(`a deployment names the build ${build}, which has no environment`)
      await insert('deployments', {
        project_id: loading.projectId,
        ...record,
        environment_id: environmentId(loading, environment),
        build_id,
        user_id: loading.people.idOf(user),
        created_at: date(record.created_at)
      })
    }
  }

function sealed(variables: RecordOf<'pipeline_schedule'>['variables']): Buffer | null {
  try {
    return seal(checkVariables(Object.fromEntries(variables.map(({ key, value }) => [key, value]))))
  } catch (error) {
    throw error instanceof BadRequest ? new BadProjectArchive(`a schedule: ${error.message}`) : error
  }
}

const LOADS: { readonly [K in LoadedKind]: Load<K> } = {
  label: async (loading, { kind: _, priority, subscriptions, ...record }) => {
    const project_id = loading.projectId
    const id = await insert('labels', { project_id, ...record, ...times(record) })
    loading.labels.set(record.title, id)
    if (priority !== null) await insert('label_priorities', { project_id, label_id: id, priority })
    await insertSubscriptions(loading, 'Label', id, { subscriptions, ...record })
  },
  milestone: async ({ projectId, milestones }, { kind: _, ...record }) => {
    milestones.set(record.iid, await insert('milestones', { project_id: projectId, ...record, ...times(record) }))
  },
  protected_branch: async ({ projectId }, { kind: _, ...record }) => {
    await insert('protected_branches', { project_id: projectId, ...record, ...times(record) })
  },
  release: async ({ projectId }, { kind: _, ...record }) => {
    await insert('releases', { project_id: projectId, ...record, ...times(record) })
  },
  board: async (loading, { created_at, lists }) => {
    const board_id = await insert('boards', { project_id: loading.projectId, created_at: date(created_at) })
    for (const { label, position, created_at: at } of lists) {
      await insert('board_lists', { board_id, label_id: labelId(loading, label), position, created_at: date(at) })
    }
  },
  issue: async (loading, record) => {
    const { confidential, due_date } = record
    const fields = { ...planned(loading, record), confidential, due_date }
    await insertPlanned(loading, 'Issue', await insert('issues', { project_id: loading.projectId, ...fields }), record)
  },
  merge_request: async (loading, record) => {
    const { projectId } = loading
    const id = await insert('merge_requests', {
      ...planned(loading, record),
      target_project_id: projectId,
      source_project_id: record.fork === null ? projectId : LAST_ID - record.fork,
      target_branch: record.target_branch,
      source_branch: record.source_branch,
      merge_status: record.merge_status,
      head_sha: record.head_sha,
      merge_commit_sha: record.merge_commit_sha,
      merge_error: record.merge_error,
      merge_user_id: loading.people.idOf(record.merge_user),
      merge_message: record.merge_message,
      should_remove_source_branch: record.should_remove_source_branch,
      force_remove_source_branch: record.force_remove_source_branch
    })
    for (const { created_at, ...version } of record.versions) {
      await insert('merge_request_versions', { merge_request_id: id, ...version, created_at: date(created_at) })
    }
    await insertPlanned(loading, 'MergeRequest', id, record)
  },
  snippet: async (loading, record) => {
    const { number, title, file_name, content, visibility_level } = record
    // The content is a file, which gets no line about its author.
    const { author_id } = written(loading, record.author, '')
    const fields = { title, file_name, content, visibility_level, author_id, ...times(record) }
    const id = await insert('snippets', { project_id: loading.projectId, ...fields })
    loading.snippets.set(number, id)
    await insertAwards(loading, 'Snippet', id, record)
  },
  note: async (loading, record) => {
    const { projectId: project_id, people } = loading
    const { author_id, text } = written(loading, record.author, record.note)
    const { on, refers, is_system, path, line, line_type } = record
    if (on.type === 'Commit' && on.commit === null) throw new BadProjectArchive('a note about a commit names no commit')
    const id = await insert('notes', {
      project_id,
      noteable_type: on.type,
      noteable_id: await idOf(loading, on),
      commit_id: on.type === 'Commit' ? on.commit : null,
      author_id,
      note: text,
      is_system,
      path,
      line,
      line_type,
      updated_by_id: people.idOf(record.updated_by),
      refers_type: refers?.type ?? null,
      refers_id: refers ? await idOf(loading, refers) : null,
      refers_project_id: refers ? project_id : null,
      ...times(record)
    })
    await insertAwards(loading, 'Note', id, record)
  },
  ...SETTINGS,
  pipeline: async (loading, given) => {
    const { kind: _, number, user, committed_at, ...record } = ended(given)
    const id = await insert('pipelines', {
      project_id: loading.projectId,
      ...record,
      user_id: loading.people.idOf(user),
      committed_at: maybeDate(committed_at),
      ...ran(record)
    })
    loading.pipeline = { number, id }
  },
  build: async (loading, given) => {
    const { kind: _, pipeline, number, user, tag_list, erased_at, queued_at, ...more } = ended(given)
    const { environment, trace, artifacts, ...record } = more
    const id = await insert('builds', {
      project_id: loading.projectId,
      pipeline_id: pipelineId(loading, pipeline),
      environment_id: environment === null ? null : environmentId(loading, environment),
      // The number of the run that the files belong to.
      attempt: trace || artifacts ? IMPORTED_ATTEMPT : 0,
      artifacts_filename: artifacts?.filename ?? null,
      artifacts_expire_at: maybeDate(artifacts?.expire_at ?? null),
      ...record,
      user_id: loading.people.idOf(user),
      tag_list: JSON.stringify(tag_list),
      plan: PLAN,
      erased_at: maybeDate(erased_at),
      queued_at: maybeDate(queued_at),
      ...ran(record)
    })
    const { builds } = loading
    if (trace) know(builds.traces, MOST_BUILD_FILES, number, id)
    if (artifacts) know(builds.artifacts, MOST_BUILD_FILES, number, id)
    if (environment !== null) know(builds.deployed, MOST_KNOWN_BUILDS, number, id)
  },
  commit_status: async (loading, given) => {
    const { kind: _, pipeline, user, ...record } = ended(given)
    await insert('commit_statuses', {
      project_id: loading.projectId,
      pipeline_id: pipelineId(loading, pipeline),
      ...record,
      user_id: loading.people.idOf(user),
      ...ran(record)
    })
  }
}

function know(builds: Map<number, number>, most: number, number: number, id: number): void {
  if (builds.size >= most) throw new BadProjectArchive(`more than ${most} builds have files or an environment`)
  builds.set(number, id)
}

function pipelineId({ pipeline }: Loading, number: number): number {
  if (pipeline?.number !== number) throw new BadProjectArchive(`the pipeline ${number} does not come before its builds`)
  return pipeline.id
}

/** Returns the id of the target of a note, or of what it refers to; null for a commit. Throws BadProjectArchive when it is missing. */
async function idOf({ projectId, snippets, iids }: Loading, { type, number, commit }: About): Promise<number | null> {
  const missing = () => new BadProjectArchive(`a note names ${type} ${number ?? commit}, which is not in the archive`)
  if (type === 'Commit') {
    return null
  }
  if (number === null) throw missing()
  const known = type === 'Snippet' ? snippets.get(number) : iids.get(`${type} ${number}`)?.id
  if (known !== undefined) return known
  if (type === 'Snippet') throw missing()
  const table = type === 'Issue' ? 'issues where project_id' : 'merge_requests where target_project_id'
  const found = await row<{ id: number }>(`select id from ${table} = ? and iid = ?`, [projectId, number])
  if (!found) throw missing()
  iids.set(`${type} ${number}`, found)
  return found.id
}

/** Inserts one record. Call it inside `transact`. Throws BadProjectArchive. */
export function loadRecord<K extends LoadedKind>(loading: Loading, record: RecordOf<K>): Promise<void> {
  const load: Load<K> = LOADS[record.kind as K]
  return load(loading, record)
}

/** Sets counters: open issues, and the last iids. Call it inside `transact`, after all records are inserted. */
export async function finishRecords(projectId: number, counters: RecordOf<'project'>['counters']): Promise<void> {
  await countAllIssues(projectId)
  for (const kind of ['issue', 'milestone', 'merge_request'] as const) {
    await setLastNumber(projectId, kind, Math.min(counters[kind], LAST_ID))
  }
}
