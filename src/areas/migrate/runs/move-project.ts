// Moves one project: reads it, writes an archive, and imports that. Nothing is visible before it is whole. A project that came before is
// replaced in one transaction, and left as it is when nothing has changed at the source.
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Origin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { row } from '../../../db/connect/sql.js'
import { Conflict } from '../../../errors.js'
import type { LfsKey } from '../../../storage/lfs.js'
import { ghostUser } from '../../people/users/ghost/ghost-user.js'
import { insertLinks } from '../../projects/lfs/kept-objects.js'
import { importProject } from '../../upkeep/project-archives/import.js'
import { removeProject } from '../../upkeep/removal/project-removal.js'
import type { Client } from '../sources/client.js'
import type { Draft, SourceProject } from '../sources/source.js'
import { writeProject, writeRecords } from './archive.js'
import { type Collected, collect } from './collect.js'
import { converter, pathHere } from './convert.js'
import { asPicture, type Downloaded, downloadFiles, type KeptFile } from './files.js'
import { relationsOf, takeRelations } from './forks.js'
import { bringFiles, namedFiles } from './lfs.js'
import { keyOf, type PeopleHere, peopleOptions, resolvePeople } from './people.js'
import { findMigrated, isUnchanged, type MigratedProject, recordMigrated, refuseTaken } from './project-here.js'
import { fetchCopy, placeOfRepository, type Repository, Uncloneable, withBases } from './repository.js'
import { type Part, type Session, withPart } from './session.js'
import { readSpool } from './spool.js'
import { readJson, writeJson } from './work-folder.js'

export interface Moved {
  /** The path at the source, and here. */
  readonly from: string
  readonly to: string
  readonly result: 'created' | 'replaced' | 'unchanged'
  readonly counts: { readonly [kind: string]: number }
  readonly refs: number
  readonly files: number
  /** Files in LFS. */
  readonly lfs: number
  readonly skipped: ReturnType<Collected['skips']['list']>
}

export interface Destination {
  readonly namespace: string
  readonly username: string
  /** Replaces a project also when somebody has changed it here. */
  readonly overwrite: boolean
  /** Where projects of the source are here, or will be. */
  readonly pathOf: (path: string) => string | null
  /** Instead of those that the source has. */
  readonly records?: AsyncIterable<Draft>
}

/** Throws SourceFailure, BadProjectArchive, and Conflict when the place is taken or the project was changed here. */
export const moveProject = (session: Session, project: SourceProject, to: Destination): Promise<Moved> =>
  withPart(session, project.id, async part => {
    const collected = await collect(session, part, project, to.records)
    const repository = await copyRepository(session, part, project, collected)
    if (to.records && repository.refs.length === 0) throw new Uncloneable(new URL(project.cloneUrl), 'is empty')
    const known = await findMigrated(session.place, project.id)
    const named = await namedFiles(session, part, repository)
    const there = stateThere(session, part, { repository, named, collected })
    const path = pathHere(project.path.split('/').at(-1) ?? project.path)
    const about = { from: project.path, refs: repository.refs.length }
    const file = join(part.folder, 'arrived.json')
    const arrived = await readJson<Arrived>(file)
    const last = arrived?.there === there ? arrived : undefined
    if (known?.there === there && !(await hasMended(part, { project, collected, known, broken: last?.broken ?? [] }))) {
      await part.end()
      const { survey, skips } = collected
      const counts = Object.fromEntries(survey.counts)
      const read = { ...about, counts, files: survey.files.size, lfs: named.length, skipped: skips.list() }
      return { ...(last?.moved ?? read), to: known.path, result: 'unchanged' }
    }
    if (known && !to.overwrite && !(await isUnchanged(known))) {
      await part.end()
      throw changedHere(known)
    }
    await refuseTaken(to.namespace, path, known)
    const people = await resolvePeople(part.source, collected.survey.people, peopleOptions(session), session.origin)
    const work = { session, part, project, collected, repository, named, people, to, path, known, there }
    const { broken, ...done } = await load(work)
    const moved = { ...about, ...done, skipped: collected.skips.list() }
    await writeJson(file, { there, moved, broken } satisfies Arrived)
    await part.end()
    return moved
  })

/** What came last, for a run in which nothing has changed. */
interface Arrived {
  readonly there: string
  readonly moved: Moved
  /** The URLs of files that the source did not give because it failed. */
  readonly broken: readonly string[]
}

interface Broken extends Pick<Work, 'project' | 'collected'>, Pick<Arrived, 'broken'> {
  readonly known: MigratedProject
}

/** Returns whether the source gives a file now that it did not give when the project came, and the project may be replaced. */
async function hasMended(part: Part, { project, collected, known, broken }: Broken): Promise<boolean> {
  const urls = new Set(broken)
  const files = new Map([...collected.survey.files].filter(([url]) => urls.has(url)))
  if (files.size === 0 || !(await isUnchanged(known))) return false
  const quiet = { folder: filesIn(part), project: project.id, skipped: () => {} }
  return (await downloadFiles(part.client, files, quiet)).kept.size > 0
}

const filesIn = ({ folder }: Part) => join(folder, 'files')

/** Throws Conflict for a project that another migration has brought. */
export async function refuseForeign({ place, migration }: Session, project: SourceProject): Promise<void> {
  const known = await findMigrated(place, project.id)
  if (!known?.migration || known.migration === migration.name) return
  throw new Conflict(
    `${known.path} came with the migration ${known.migration}: run that one, or replace the project with --overwrite`
  )
}

const changedHere = ({ path }: MigratedProject) =>
  new Conflict(
    `${path} was changed here since it came: the source is not read into it again, unless you give --overwrite`
  )

export function copyRepository(
  session: Session,
  { folder, source }: Part,
  project: SourceProject,
  { survey, skips }: Pick<Collected, 'survey' | 'skips'>
): Promise<Repository> {
  session.progress(`fetching ${project.path}`, 0, 0)
  const { refspecs } = source
  const { commits } = survey
  const place = placeOfRepository(session, project)
  return fetchCopy(folder, { ...place, refspecs, commits, skipped: skips.skipped, signal: session.signal })
}

/** Changes with everything that the source shows, and with what the sysadmin has set. */
function stateThere(
  { migration: { people, map, trust } }: Session,
  { client }: Part,
  { repository: { hash }, named, collected: { about } }: Pick<Work, 'repository' | 'named' | 'collected'>
): string {
  const settings = JSON.stringify(trust ? [people, map, trust] : [people, map])
  // With other limits, more or fewer of the files in LFS come.
  const { max_object_size, max_project_size } = config().lfs
  const lfs = named.length === 0 ? '' : ` ${max_object_size} ${max_project_size}`
  return createHash('sha256').update(`${client.newest()} ${hash} ${settings}${lfs} ${about}`).digest('hex')
}

type Converting = Pick<Work, 'part' | 'project' | 'collected' | 'people' | 'repository' | 'path'> & {
  readonly origin: Origin
  readonly pathOf: Destination['pathOf']
  /** The picture of the project. */
  readonly picture: KeptFile | null
  /** Whether the project has files in LFS here. */
  readonly hasLfs: boolean
}

interface Work {
  readonly session: Session
  readonly part: Part
  readonly project: SourceProject
  readonly collected: Collected
  readonly repository: Repository
  readonly named: readonly LfsKey[]
  readonly people: PeopleHere
  readonly to: Destination
  readonly path: string
  readonly known: MigratedProject | undefined
  readonly there: string
}

type Loaded = Pick<Moved, 'to' | 'result' | 'counts' | 'files' | 'lfs'> & Pick<Arrived, 'broken'>

async function load(work: Work): Promise<Loaded> {
  const { session, part, project, collected, repository, to, path, known, there } = work
  const { origin, signal, progress, place, migration } = session
  const { kept: files, broken } = await filesOf(part.client, work)
  const lfs = await bringFiles(session, part, { project, repository, skips: collected.skips, keys: work.named })
  const picture = await asPicture(files.get(project.avatarUrl ?? ''))
  const [archive, records] = [join(part.folder, 'archive.zip'), join(part.folder, 'records.jsonl')]
  const convert = await converterOf({ ...work, origin, pathOf: to.pathOf, picture, hasLfs: lfs.length > 0 }, files)
  const drafts = withBases(readSpool(collected.spool), repository.path)
  const counts = await writeRecords(drafts, records, convert)
  const others = [...files.values()].filter(({ url }) => url !== project.avatarUrl)
  const all = picture ? [...others, picture] : others
  await writeProject(archive, { project: project.path, records, counts, repository, files: all, signal })
  await rm(records)
  let relations: Awaited<ReturnType<typeof relationsOf>> | undefined
  const { path_with_namespace } = await importProject(
    archive,
    {
      namespace: to.namespace,
      path,
      creator: to.username,
      signal,
      progress: (what, done, total) => progress(`${what} of ${project.path}`, done, total),
      ...(known && { replaces: known.project_id }),
      fill: id => insertLinks(id, lfs),
      before: async () => {
        relations = known && (await relationsOf(known.project_id))
        await removeOld(known, to, origin)
      },
      after: async id => {
        if (relations) await takeRelations(session, id, relations, collected.skips.skipped)
        const { path: copy } = repository
        await recordMigrated(id, { place, migrationId: migration.id, id: project.id, there, repository: copy })
      }
    },
    origin
  )
  await rm(archive, { force: true })
  return {
    to: path_with_namespace,
    result: known ? 'replaced' : 'created',
    counts,
    files: files.size,
    lfs: lfs.length,
    broken
  }
}

/** Nobody changes the project between the last look at it and its removal. */
async function removeOld(known: MigratedProject | undefined, to: Destination, origin: Origin): Promise<void> {
  if (!known) return
  const found = await lockRow('projects', known.project_id)
  // Somebody has removed it here: then the new one takes its place as well.
  if (!found) return
  if (!to.overwrite && !(await isUnchanged(known))) throw changedHere(known)
  await removeProject({ id: known.project_id }, origin)
}

function filesOf(client: Client, { session, part, project, collected }: Work): Promise<Downloaded> {
  session.progress(`downloading files of ${project.path}`, 0, 0)
  const { survey, skips } = collected
  return downloadFiles(client, survey.files, {
    folder: filesIn(part),
    project: project.id,
    skipped: skips.skipped
  })
}

export async function converterOf(work: Converting, files: ReadonlyMap<string, KeptFile>) {
  const { origin, part, project, collected, people, repository, pathOf, path, picture, hasLfs } = work
  const ghost = await row<{ username: string }>('select username from users where id = ?', [await ghostUser(origin)])
  const into = {
    mention: (username: string) => people.get(keyOf(username)) ?? username,
    project: pathOf,
    file: (file: { readonly url: string }) => {
      const kept = files.get(file.url)
      return kept ? `/uploads/${kept.secret}/${kept.name}` : file.url
    }
  }
  const convert = converter({
    survey: collected.survey,
    people,
    ghost: ghost?.username ?? 'ghost',
    path,
    avatar: picture && `${picture.secret}/${picture.name}`,
    text: text => part.source.text(project, text, into),
    skipped: collected.skips.skipped
  })
  // The branch of the remote HEAD is what the source shows first, even where its API has no such field, or names a branch that is missing.
  // GitLab names one for an empty repository, too.
  const exists = (branch: unknown) => repository.refs.some(({ ref }) => ref === `refs/heads/${branch}`)
  const own = (draft: Draft): Draft => ({
    ...draft,
    default_branch: exists(draft.default_branch) ? draft.default_branch : repository.branch,
    lfs_enabled: hasLfs || draft.lfs_enabled
  })
  return (draft: Draft) => convert(draft.kind === 'project' ? own(draft) : draft)
}
