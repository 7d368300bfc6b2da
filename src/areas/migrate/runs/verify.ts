// Compares what the source has with what is here, record by record. Both sides become records of an archive in the same order.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { nobody } from '../../../access/actor.js'
import { receiverOf } from '../../../webhooks/url.js'
import { linked } from '../../projects/imports/lfs/pointers.js'
import { findProject } from '../../projects/projects/projects.queries.js'
import { exportProject } from '../../upkeep/project-archives/export.js'
import { KINDS, RECORDS, REFS } from '../../upkeep/project-archives/format.js'
import { openArchive } from '../../upkeep/project-archives/read-archive.js'
import type { SourceProject } from '../sources/source.js'
import { writeRecords } from './archive.js'
import { collect } from './collect.js'
import { pathHere } from './convert.js'
import { uploadOf } from './files.js'
import { namedFiles } from './lfs.js'
import { keepResult, type Migration } from './migrations.js'
import { converterOf, copyRepository } from './move-project.js'
import { openNamespaces } from './namespaces.js'
import { knownPeople } from './people.js'
import { findMigrated } from './project-here.js'
import { withBases } from './repository.js'
import { projectsOf } from './run.js'
import { INSTANCE, openSession, type Part, type Session, withPart } from './session.js'
import { newSkips } from './skips.js'
import { readLines, readSpool } from './spool.js'
import { workingOn } from './work-folder.js'

const MOST_SHOWN = 20

export interface Verified {
  readonly from: string
  /** Null: it has not come yet. */
  readonly to: string | null
  /** Numbers of records by kind, and of files in LFS, where both sides differ. */
  readonly counts: { readonly [kind: string]: { readonly there: number; readonly here: number } }
  readonly compared: number
  readonly different: number
  /** The first differences, such as `issue 5: title`. */
  readonly differences: readonly string[]
  /** The branches and tags that differ; the first of them. */
  readonly refs: readonly string[]
}

/** Writes only its result into the database. Throws AlreadyRunning, ReadElsewhere and SourceFailure. */
export function verifyMigration(
  migration: Migration,
  projects: readonly string[],
  given: Pick<Session, 'origin' | 'signal'> & Partial<Pick<Session, 'progress'>>
): Promise<readonly Verified[]> {
  return workingOn(migration, given.signal, async signal => {
    const session = await openSession(migration, { ...given, signal })
    return withPart(session, INSTANCE, async ({ source }) => {
      const own = { ...session, login: (await source.about()).username }
      const { pathOf } = await openNamespaces(own, source, newSkips().skipped)
      const verified: Verified[] = []
      for await (const project of projectsOf(source, projects)) {
        signal.throwIfAborted()
        verified.push(await withPart(own, project.id, part => verifyProject(own, part, { project, pathOf })))
      }
      return keepResult(migration, 'verify', verified)
    })
  })
}

interface Verifying {
  readonly project: SourceProject
  readonly pathOf: (path: string) => string | null
}

async function verifyProject(session: Session, part: Part, { project, pathOf }: Verifying): Promise<Verified> {
  const known = await findMigrated(session.place, project.id)
  const here = known && (await findProject(String(known.project_id), nobody))
  const nothing = { from: project.path, to: null, counts: {}, compared: 0, different: 0, differences: [], refs: [] }
  if (!known || !here) return nothing
  const collected = await collect(session, part, project)
  const repository = await copyRepository(session, part, project, collected)
  const named = await namedFiles(session, part, repository)
  const linkedHere = (await linked(known.project_id, named)).length
  const [records, archive] = [join(part.folder, 'there.jsonl'), join(part.folder, 'here.zip')]
  try {
    const path = pathHere(project.path.split('/').at(-1) ?? project.path)
    const people = await knownPeople(session.place, collected.survey.people)
    // Files that did not come are a difference of the texts that name them.
    const kept = new Map(
      [...collected.survey.files].map(([url, file]) => [url, { url, size: 0, path: '', ...uploadOf(project.id, file) }])
    )
    const to = { namespace: '', username: '', overwrite: false, pathOf }
    const convert = await converterOf(
      { session, part, project, collected, people, repository, to, path, picture: null, hasLfs: linkedHere > 0 },
      kept
    )
    await writeRecords(withBases(readSpool(collected.spool), repository.path), records, convert)
    await rm(archive, { force: true })
    await exportProject(here, { output: archive, extras: ['variables'], signal: session.signal }, session.origin)
    const compared = await compare(records, archive, { refs: repository.refs, owner: known.path.split('/')[0] ?? '' })
    const lfs = { lfs: { there: named.length, here: linkedHere } }
    const counts = linkedHere === named.length ? compared.counts : { ...compared.counts, ...lfs }
    return { ...nothing, to: known.path, ...compared, counts }
  } finally {
    await rm(records, { force: true })
    await rm(archive, { force: true })
  }
}

interface Comparing {
  /** Those of the source. */
  readonly refs: readonly { readonly ref: string; readonly id: string }[]
  /** The username of the owner of the project here; the path of its group otherwise. */
  readonly owner: string
}

type Compared = Pick<Verified, 'counts' | 'compared' | 'different' | 'differences' | 'refs'>
type Values = { readonly [name: string]: unknown }

async function compare(records: string, file: string, { refs, owner }: Comparing): Promise<Compared> {
  const archive = await openArchive(file)
  // Here, the owner of a namespace is a member of its projects; most forges do not list owners.
  const isOwner = ({ kind, username }: Values) => kind === 'member' && username === owner
  try {
    const counts = new Map<string, { there: number; here: number }>()
    const count = (kind: unknown, side: 'there' | 'here') => {
      const known = counts.get(String(kind)) ?? { there: 0, here: 0 }
      known[side]++
      counts.set(String(kind), known)
    }
    const differences: string[] = []
    let [compared, different] = [0, 0]
    const others = nextOf(archive.lines(RECORDS), isOwner)
    let other = await others()
    for await (const line of readLines(records)) {
      const one = JSON.parse(line) as Values
      if (isOwner(one)) continue
      count(one.kind, 'there')
      // One side may have more of a kind than the other.
      while (other && rank(other) < rank(one)) {
        count(other.kind, 'here')
        other = await others()
      }
      if (!other || other.kind !== one.kind) continue
      count(other.kind, 'here')
      compared++
      const fields = differing(one, other)
      if (fields.length > 0 && ++different <= MOST_SHOWN) differences.push(`${nameOf(one)}: ${fields.join(', ')}`)
      other = await others()
    }
    for (; other; other = await others()) count(other.kind, 'here')
    const uneven = [...counts].filter(([, { there, here }]) => there !== here)
    const found = new Map<string, string>()
    for await (const line of archive.lines(REFS)) {
      const { ref, id } = JSON.parse(line) as { ref: string; id: string }
      found.set(ref, id)
    }
    const wrong = refs.filter(({ ref, id }) => !ref.startsWith('refs/internal/') && found.get(ref) !== id)
    return {
      counts: Object.fromEntries(uneven),
      compared,
      different,
      differences,
      refs: wrong.slice(0, MOST_SHOWN).map(({ ref }) => ref)
    }
  } finally {
    archive.close()
  }
}

const rank = ({ kind }: Values) => KINDS.indexOf(kind as (typeof KINDS)[number])

/** Returns a function that returns the next record for which `leavesOut` is false; null at the end. */
function nextOf(lines: AsyncGenerator<string>, leavesOut: (values: Values) => boolean): () => Promise<Values | null> {
  return async () => {
    for (;;) {
      const { value, done } = await lines.next()
      const values = done ? null : (JSON.parse(value) as Values)
      if (values === null || !leavesOut(values)) return values
    }
  }
}

/** What this appliance decides itself. */
const OWN = new Set([
  'merge_status',
  'counters',
  'last_activity_at',
  'username',
  'avatar',
  'updated_by',
  'member created_at'
])

function differing(one: Values, other: Values): string[] {
  return Object.keys(one).filter(
    name =>
      !OWN.has(one.kind === 'member' ? `member ${name}` : name) &&
      JSON.stringify(comparable(name, one[name])) !== JSON.stringify(comparable(name, other[name]))
  )
}

/** The order of people and labels says nothing, and the password in the URL of a hook does not come along. */
function comparable(name: string, value: unknown): unknown {
  if (name === 'url' && typeof value === 'string') return receiverOf(value)
  if (!Array.isArray(value)) return value
  return [...value].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
}

function nameOf({ kind, iid, number, title, name, on }: Values): string {
  const { type, number: of } = (on ?? {}) as { readonly type?: string; readonly number?: number }
  return `${kind} ${iid ?? number ?? title ?? name ?? (type === undefined ? '' : `about ${type} ${of}`)}`.trim()
}
