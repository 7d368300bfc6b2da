// Imports the archive of a project. All of it is checked and loaded while it is invisible; the last transaction makes it visible.
import type { Origin } from '../../../access/actor.js'
import { row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Invalid } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { nameProblem, pathProblem } from '../../../lib/path.js'
import { enqueue } from '../../../queue/enqueue.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { type ImportedMember, insertImportedMembers } from '../../people/members/members.js'
import { requestChecks } from '../../planning/merge-requests/versions/mergeability.js'
import { type Place, placeOfNewProject } from '../../projects/projects/new-project-target.js'
import { storageForProject } from '../../projects/projects/new-projects.js'
import { adoptProject } from '../../projects/projects/projects.js'
import { BadProjectArchive, type Manifest, RECORDS } from './format.js'
import { type Content, loadBuildFiles, loadLfs, loadRepository, loadUploads } from './load-content.js'
import { checkedRecords, loadRecords } from './load-parts.js'
import { newLoading } from './loading.js'
import { newPeople, type People } from './people.js'
import { openArchive } from './read-archive.js'
import type { ProjectRecord, RecordOf } from './records.js'
import { eraseReserved, keepProject, reserveProject, stayReserved } from './staging.js'

export interface ImportOptions {
  readonly namespace: string
  /** The path of the new project; default: that of the archive. */
  readonly path?: string
  /** The user who imports, and who replaces missing authors. */
  readonly creator?: string
  readonly signal: AbortSignal
  readonly progress?: (what: string, done: number, total: number) => void
  /** The id of the project that this one replaces. `before` removes it. */
  readonly replaces?: number
  /** Adds other content, while nobody sees the project. */
  readonly fill?: (id: number) => Promise<void>
  /** Other writes of the transaction that makes the project visible: before it exists, and when it is complete. */
  readonly before?: () => Promise<void>
  readonly after?: (id: number) => Promise<void>
}

export interface Imported {
  readonly id: number
  readonly path_with_namespace: string
  /** The project of the archive, and when and by which version it was written. */
  readonly from: Pick<Manifest, 'project' | 'exported_at' | 'gitstead'>
  readonly counts: Manifest['counts']
  readonly refs: number
  readonly uploads: number
  readonly traces: number
  readonly artifacts: number
  readonly lfs: number
  /** People in the archive who have no account here; the first thousand of them. */
  readonly missing_users: readonly string[]
  /** The missing people who were members. */
  readonly missing_members: readonly string[]
}

/** The time between two updates of the reservation, while git works or one part takes long. */
const BEAT_MS = 60_000

/**
 * Imports an archive as a new project. Throws BadProjectArchive, NoSuch for the file or the namespace, Conflict when the path is
 * taken, Invalid, ProjectLimit. After a failure, nothing of it is kept.
 */
export async function importProject(file: string, options: ImportOptions, origin: Origin): Promise<Imported> {
  const archive = await openArchive(file)
  const records = checkedRecords(archive)
  try {
    const first = await records.next()
    if (first.done || first.value.kind !== 'project')
      throw new BadProjectArchive(`${RECORDS} does not begin with a project`)
    const target = await targetOf(first.value, options)
    const storage = storageForProject(await applicationSettings(), { here: true })
    const id = await reserveProject(storage, `${target.namespace}/${target.path}`)
    const beat = setInterval(() => void stayReserved(id).catch(() => undefined), BEAT_MS).unref()
    try {
      return await load({ archive, records, project: first.value, target, id, storage, options, origin })
    } catch (error) {
      await eraseReserved(id)
      throw error
    } finally {
      clearInterval(beat)
    }
  } finally {
    await records.return(undefined)
    archive.close()
  }
}

interface Target extends Place {
  readonly namespace: string
  readonly name: string
  readonly visibilityLevel: 0 | 10 | 20
}

/** Finds the place before anything is loaded. The last transaction checks it again. */
async function targetOf(project: RecordOf<'project'>, options: ImportOptions): Promise<Target> {
  const { namespace, path, creator, replaces = 0 } = options
  const place = await placeOfNewProject(`${namespace}/${path ?? project.path}`, creator)
  const problem = pathProblem(place.path, 'project')
  if (problem) throw new Invalid('path', problem)
  const found = await row<{ kind: string; path: string; level: number }>(
    'select kind, path, visibility_level as level from namespaces where id = ?',
    [place.namespaceId]
  )
  const taken = await rows<{ by_path: number; path: string }>(
    `select path_key = lower(?) as by_path, path from projects where namespace_id = ? and id <> ? and (path_key = lower(?) or name_key = lower(?))`,
    [place.path, place.namespaceId, replaces, place.path, project.name]
  )
  const there = taken.find(each => each.by_path === 1)
  if (there) throw new Conflict(`${found?.path}/${there.path} already exists: choose another path with --path`)
  // Not specified: a name that another project has. The path then becomes the name, unless it cannot be one.
  const other = nameProblem(place.path) === null ? place.path : `${project.name} ${place.path}`
  const name = taken.length > 0 ? other : project.name
  if (nameProblem(name)) throw new BadProjectArchive(`the name of the project ${nameProblem(name)}`)
  // Not specified: an archive of a project that is more visible than the group. It gets the visibility of the group.
  const most = found?.kind === 'group' ? found.level : 20
  const visibilityLevel = Math.min(project.visibility_level, most) as 0 | 10 | 20
  return { ...place, namespace: found?.path ?? namespace, name, visibilityLevel }
}

interface Import extends Content {
  readonly options: ImportOptions
  /** The records after the first one, which is the project. */
  readonly records: AsyncGenerator<ProjectRecord>
  readonly target: Target
  readonly origin: Origin
}

async function load(work: Import): Promise<Imported> {
  const { archive, project, target, id, storage, options, origin } = work
  const people = newPeople()
  const loading = newLoading(id, target.creator.id, people)
  const members = await loadRecords(work, work.records, loading)
  const defaultBranch = await loadRepository(work)
  await loadUploads(work)
  await loadBuildFiles(work, loading.builds)
  await loadLfs(work)
  await options.fill?.(id)
  const sums = await archive.checkSums()
  const memberships = await membershipsOf(members, people)
  await stayReserved(id)
  const { kind: _, name: _name, path: _path, counters: _counters, ...settings } = project
  const {
    archived,
    default_branch: _branch,
    tag_list,
    avatar,
    created_at,
    last_activity_at,
    description,
    ...flags
  } = settings
  const body = {
    ...flags,
    name: target.name,
    path: target.path,
    namespace_id: target.namespaceId,
    visibility_level: target.visibilityLevel,
    ...(description === null ? {} : { description })
  }
  const adoption = {
    id,
    storage,
    attributes: {
      archived,
      defaultBranch,
      tagList: JSON.stringify(tag_list),
      avatar,
      createdAt: new Date(created_at),
      lastActivityAt: new Date(last_activity_at)
    },
    content: { imported_from: archive.manifest.project, exported_at: archive.manifest.exported_at, archive: sums },
    finish: async () => {
      await finish(id, memberships.found)
      await options.after?.(id)
    }
  }
  await transact(async () => {
    await options.before?.()
    await adoptProject(target.creator, body, adoption, origin)
  })
  const { exported_at, gitstead, counts, refs, uploads, traces, artifacts, lfs, project: from } = archive.manifest
  return {
    id,
    path_with_namespace: `${target.namespace}/${target.path}`,
    from: { project: from, exported_at, gitstead },
    counts,
    refs,
    uploads,
    traces,
    artifacts,
    lfs,
    missing_users: people.missing(),
    missing_members: memberships.missing
  }
}

async function membershipsOf(members: readonly RecordOf<'member'>[], people: People) {
  const found: ImportedMember[] = []
  const missing: string[] = []
  for (const some of batches(members, 500)) {
    await people.lookUp(some)
    for (const record of some) {
      const { username, access_level: level, expires_at: expiresAt, created_at } = record
      const userId = people.idOf(username)
      if (userId === null) missing.push(username)
      else found.push({ userId, level, expiresAt, createdAt: new Date(created_at) })
    }
  }
  return { found, missing }
}

/** Adds what the project needs in addition to its row. Call it in the transaction that inserts the row. */
async function finish(id: number, members: readonly ImportedMember[]): Promise<void> {
  await keepProject(id)
  await insertImportedMembers(id, members)
  const unchecked = await rows<{ id: number }>(
    "select id from merge_requests where target_project_id = ? and is_open = true and merge_status = 'unchecked' limit 10000",
    [id]
  )
  await requestChecks(unchecked.map(each => each.id))
  await enqueue('repository.optimise', { projectId: id })
}
