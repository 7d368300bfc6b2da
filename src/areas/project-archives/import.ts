// Imports the archive of a project. All of it is checked and loaded while nobody sees it; the last transaction shows it.
import { randomInt } from 'node:crypto'
import type { Origin } from '../../access/actor.js'
import { config } from '../../config.js'
import { isWrongValue } from '../../db/failure.js'
import { execute, row, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { Conflict, Invalid, TooLarge } from '../../errors.js'
import { fillFromPack, isPortable, type PackedRef } from '../../git/packs.js'
import { setHead } from '../../git/repository.js'
import { GitFailure } from '../../git/run.js'
import { batches } from '../../lib/batches.js'
import { nameProblem, pathProblem } from '../../lib/path.js'
import { enqueue, enqueueAll } from '../../queue/enqueue.js'
import { syncFileSystem } from '../../storage/sync.js'
import { putUpload } from '../../storage/uploads.js'
import { storagesInUse } from '../projects/new-projects.js'
import { type Place, placeOfNewProject } from '../projects/place-of-new.js'
import { adoptProject } from '../projects/projects.js'
import { prepareProject, repositoryPath } from '../projects/repositories.js'
import { applicationSettings } from '../settings/settings.queries.js'
import { BadProjectArchive, KINDS, type Kind, type Manifest, RECORDS, REFS } from './format.js'
import { finishRecords, type Loading, loadRecord, newLoading } from './load-records.js'
import { newPeople, type People } from './people.js'
import { type OpenArchive, openArchive } from './read-archive.js'
import { checkRecord, type ProjectRecord, type RecordOf } from './records.js'
import { eraseReserved, keepProject, reserveProject, stayReserved } from './unseen.js'

export interface ImportOptions {
  readonly namespace: string
  /** The path of the new project; that of the archive without it. */
  readonly path?: string
  /** Who imports: it stands in for authors who are missing. */
  readonly creator?: string
  readonly signal: AbortSignal
  readonly progress?: (what: string, done: number, total: number) => void
}

export interface Imported {
  readonly id: number
  readonly path_with_namespace: string
  /** The project of the archive, and when and by which version it was written. */
  readonly from: Pick<Manifest, 'project' | 'exported_at' | 'gitstead'>
  readonly counts: Manifest['counts']
  readonly refs: number
  readonly uploads: number
  /** People of the archive who have no account here; the first thousand of them. */
  readonly missing_users: readonly string[]
  /** Those of them who were members. */
  readonly missing_members: readonly string[]
}

/**
 * Imports an archive as a new project. Throws BadProjectArchive, NoSuch for the file or the namespace, Conflict when the path is
 * taken, Invalid, ProjectLimit. After a failure nothing of it is there.
 */
export async function importProject(file: string, options: ImportOptions, origin: Origin): Promise<Imported> {
  const archive = await openArchive(file)
  const records = checkedRecords(archive)
  try {
    const first = await records.next()
    if (first.done || first.value.kind !== 'project')
      throw new BadProjectArchive(`${RECORDS} does not begin with a project`)
    const target = await targetOf(first.value, options)
    const storages = storagesInUse(await applicationSettings())
    const storage = storages[randomInt(storages.length)] ?? 'default'
    const id = await reserveProject(storage, `${target.namespace}/${target.path}`)
    try {
      return await load({ archive, records, project: first.value, target, id, storage, options, origin })
    } catch (error) {
      await eraseReserved(id)
      throw error
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

/** Finds the place, before anything is loaded. The last transaction looks again. */
async function targetOf(project: RecordOf<'project'>, { namespace, path, creator }: ImportOptions): Promise<Target> {
  const place = await placeOfNewProject(`${namespace}/${path ?? project.path}`, creator)
  const problem = pathProblem(place.path, 'project')
  if (problem) throw new Invalid('path', problem)
  const found = await row<{ kind: string; path: string; level: number }>(
    'select kind, path, visibility_level as level from namespaces where id = ?',
    [place.namespaceId]
  )
  const taken = await rows<{ by_path: number; path: string }>(
    `select path_key = lower(?) as by_path, path from projects where namespace_id = ? and (path_key = lower(?) or name_key = lower(?))`,
    [place.path, place.namespaceId, place.path, project.name]
  )
  const there = taken.find(each => each.by_path === 1)
  if (there) throw new Conflict(`${found?.path}/${there.path} exists already: name another path by --path`)
  // Not specified: a name that another project has. The path then is the name.
  const name = taken.length > 0 ? place.path : project.name
  if (nameProblem(name)) throw new BadProjectArchive(`the name of the project ${nameProblem(name)}`)
  // Not specified: an archive of a project that is more visible than the group. It becomes as visible as the group.
  const most = found?.kind === 'group' ? found.level : 20
  const visibilityLevel = Math.min(project.visibility_level, most) as 0 | 10 | 20
  return { ...place, namespace: found?.path ?? namespace, name, visibilityLevel }
}

interface Import {
  readonly archive: OpenArchive
  /** Behind the first record, which is the project. */
  readonly records: AsyncGenerator<ProjectRecord>
  readonly project: RecordOf<'project'>
  readonly target: Target
  readonly id: number
  readonly storage: string
  readonly options: ImportOptions
  readonly origin: Origin
}

async function load(work: Import): Promise<Imported> {
  const { archive, project, target, id, storage, origin } = work
  const people = newPeople()
  const members = await loadRecords(work, newLoading(id, target.creator.id, people))
  const defaultBranch = await loadRepository(work)
  await loadUploads(work)
  const sums = await archive.checkSums()
  const memberships = await membershipsOf(members, people)
  await stayReserved(id)
  const { kind: _, name: _name, path: _path, counters: _counters, ...settings } = project
  const { archived, default_branch: _branch, tag_list, created_at, last_activity_at, description, ...flags } = settings
  await adoptProject(
    target.creator,
    {
      ...flags,
      name: target.name,
      path: target.path,
      namespace_id: target.namespaceId,
      visibility_level: target.visibilityLevel,
      ...(description === null ? {} : { description })
    },
    {
      id,
      storage,
      attributes: {
        archived,
        defaultBranch,
        tagList: JSON.stringify(tag_list),
        createdAt: new Date(created_at),
        lastActivityAt: new Date(last_activity_at)
      },
      content: { imported_from: archive.manifest.project, exported_at: archive.manifest.exported_at, archive: sums },
      finish: () => finish(id, memberships.found)
    },
    origin
  )
  const { exported_at, gitstead, counts, refs, uploads, project: from } = archive.manifest
  return {
    id,
    path_with_namespace: `${target.namespace}/${target.path}`,
    from: { project: from, exported_at, gitstead },
    counts,
    refs,
    uploads,
    missing_users: people.missing(),
    missing_members: memberships.missing
  }
}

/** The records of an archive, checked, in their order, and as many of each kind as the manifest says. */
async function* checkedRecords({ lines, manifest }: OpenArchive): AsyncGenerator<ProjectRecord> {
  const counts = Object.fromEntries(KINDS.map(kind => [kind, 0])) as { [K in Kind]: number }
  let [number, last] = [0, 0]
  for await (const line of lines(RECORDS)) {
    number++
    const record = checkRecord(parsed(line, number), `line ${number} of ${RECORDS}`)
    const rank = Math.min(KINDS.indexOf(record.kind), KINDS.indexOf('pipeline'))
    if (rank < last) throw new BadProjectArchive(`line ${number} of ${RECORDS}: a ${record.kind} comes too late`)
    last = rank
    if (++counts[record.kind] > manifest.counts[record.kind]) throw differs(record.kind)
    yield record
  }
  for (const kind of KINDS) if (counts[kind] !== manifest.counts[kind]) throw differs(kind)
}

const differs = (kind: Kind) =>
  new BadProjectArchive(`the number of records of the kind ${kind} is not that of the manifest`)

function parsed(line: string, number: number): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new BadProjectArchive(`line ${number} of ${RECORDS} is not JSON`)
  }
}

const PART = 200
/** Characters of the texts of one part, about. */
const PART_SIZE = 2_000_000

/** Loads the records in parts, each in one transaction. Returns the members, who come last. */
async function loadRecords(
  { archive, records, options, project }: Import,
  loading: Loading
): Promise<RecordOf<'member'>[]> {
  const total = KINDS.reduce((sum, kind) => sum + archive.manifest.counts[kind], 0)
  const members: RecordOf<'member'>[] = []
  let part: ProjectRecord[] = []
  let [size, done] = [0, 0]
  const flush = async () => {
    options.signal.throwIfAborted()
    await loadPart(loading, part)
    done += part.length
    options.progress?.('records', done, total)
    part = []
    size = 0
  }
  for await (const record of records) {
    if (record.kind === 'member') members.push(record)
    else part.push(record)
    size += sizeOf(record)
    if (part.length === PART || size > PART_SIZE) await flush()
  }
  await flush()
  await transact(() => finishRecords(loading.projectId, project.counters))
  return members
}

const sizeOf = (record: ProjectRecord): number =>
  Object.values(record).reduce(
    (sum: number, value) => sum + (typeof value === 'object' ? 1000 : String(value).length),
    0
  )

async function loadPart(loading: Loading, part: readonly ProjectRecord[]): Promise<void> {
  await loading.people.lookUp(part)
  const { pipeline } = loading
  try {
    await transact(async () => {
      await stayReserved(loading.projectId)
      // The transaction may run twice.
      loading.pipeline = pipeline
      for (const record of part) {
        if (record.kind !== 'project' && record.kind !== 'member') await loadRecord(loading, record)
      }
    })
  } catch (error) {
    // What the check of records does not know: numbers that come twice, and texts that a column cannot hold.
    if (isWrongValue(error))
      throw new BadProjectArchive(`a record cannot be stored: ${(error as Error).message.slice(0, 300)}`)
    throw error
  }
}

/** Fills the repository beside its place, and moves it there. Returns the default branch, if that is there. */
async function loadRepository({ archive, project, id, storage, options }: Import): Promise<string | null> {
  const refs = await readRefs(archive)
  const pack = await archive.pack()
  if ((pack === null) !== (refs.length === 0))
    throw new BadProjectArchive('the archive has refs without a pack, or a pack without refs')
  const draft = await prepareProject(storage)
  const { max_size: maxBytes, max_objects: most, timeout } = config().imports
  try {
    if (pack) {
      options.progress?.('repository', 0, 0)
      const limits = { maxBytes, timeout, signal: options.signal }
      const { objects } = await fillFromPack(draft.path, pack, refs, limits).catch(error => {
        options.signal.throwIfAborted()
        if (!(error instanceof GitFailure)) throw error
        throw new BadProjectArchive(
          `git refuses the repository: ${error.message.replace(/\p{Cc}+/gu, ' ').slice(0, 500)}`
        )
      })
      if (objects > most)
        throw new BadProjectArchive(`the repository has more than ${most} objects (imports.max_objects)`)
    }
    await stayReserved(id)
    const isThere = refs.some(({ ref }) => ref === `refs/heads/${project.default_branch}`)
    const branch = isThere ? project.default_branch : null
    if (branch !== null) await setHead(draft.path, branch)
    await syncFileSystem(draft.path)
    await draft.place(repositoryPath({ id, storage }))
    return branch
  } catch (error) {
    await draft.drop()
    throw error
  } finally {
    pack?.destroy()
  }
}

async function readRefs({ lines, manifest }: OpenArchive): Promise<readonly PackedRef[]> {
  const refs: PackedRef[] = []
  for await (const line of lines(REFS)) {
    const { ref, id } = refIn(line)
    if (typeof ref !== 'string' || typeof id !== 'string' || !isPortable(ref) || !/^[0-9a-f]{40}$/.test(id)) {
      throw new BadProjectArchive(`${REFS}: ${line.slice(0, 200)} is not a branch or tag that a project may have`)
    }
    if (refs.push({ ref, id }) > manifest.refs) break
  }
  if (refs.length !== manifest.refs) throw new BadProjectArchive('the number of refs is not that of the manifest')
  return refs
}

function refIn(line: string): { readonly ref?: unknown; readonly id?: unknown } {
  try {
    return (JSON.parse(line) ?? {}) as { readonly ref?: unknown; readonly id?: unknown }
  } catch {
    throw new BadProjectArchive(`${REFS} is not JSON`)
  }
}

async function loadUploads({ archive, id, options }: Import): Promise<void> {
  let done = 0
  for (const { secret, name, size, open } of archive.uploads()) {
    options.signal.throwIfAborted()
    await stayReserved(id)
    const excess = new TooLarge(`the upload ${secret}/${name} is larger than its archive says`)
    await putUpload({ project: id, secret, name }, await open(), { limit: size, excess })
    options.progress?.('uploads', ++done, archive.manifest.uploads)
  }
}

interface Membership {
  readonly userId: number
  readonly record: RecordOf<'member'>
}

async function membershipsOf(members: readonly RecordOf<'member'>[], people: People) {
  const found: Membership[] = []
  const missing: string[] = []
  for (const some of batches(members, 500)) {
    await people.lookUp(some)
    for (const record of some) {
      const userId = people.idOf(record.username)
      if (userId === null) missing.push(record.username)
      else found.push({ userId, record })
    }
  }
  return { found, missing }
}

/** What the project needs beside its row. Call it in the transaction that inserts that. */
async function finish(id: number, members: readonly Membership[]): Promise<void> {
  await keepProject(id)
  for (const some of batches(members, 500)) {
    const now = new Date()
    await execute(
      // The owner of the namespace is a member already.
      `insert ignore into members (source_type, source_id, user_id, access_level, expires_at, created_at, updated_at)
       values ${some.map(() => "('project', ?, ?, ?, ?, ?, ?)").join(', ')}`,
      some.flatMap(({ userId, record: { access_level, expires_at, created_at } }) => [
        id,
        userId,
        access_level,
        expires_at,
        new Date(created_at),
        now
      ])
    )
  }
  const unchecked = await rows<{ id: number }>(
    "select id from merge_requests where target_project_id = ? and is_open = true and merge_status = 'unchecked' limit 10000",
    [id]
  )
  if (unchecked.length > 0)
    await enqueueAll(
      'merge_requests.check',
      batches(unchecked, 100).map(some => ({ ids: some.map(each => each.id) }))
    )
  await enqueue('repository.optimise', { projectId: id })
}
