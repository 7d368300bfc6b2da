// Compares what the source has with what is here, record by record. Both sides become records of an archive in the same order.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { nobody } from '../../../../access/actor.js'
import { linked } from '../../../projects/imports/lfs/pointers.js'
import { findProject } from '../../../projects/projects/projects.queries.js'
import { exportProject } from '../../../upkeep/project-archives/export.js'
import type { SourceProject } from '../../sources/source.js'
import { writeRecords } from '../archive.js'
import { collect } from '../collect.js'
import { pathHere } from '../convert.js'
import { uploadOf } from '../files.js'
import { namedFiles } from '../lfs.js'
import { keepResult, type Migration } from '../migrations.js'
import { converterOf, copyRepository } from '../move-project.js'
import { openNamespaces } from '../namespaces.js'
import { knownPeople } from '../people.js'
import { findMigrated } from '../project-here.js'
import { withBases } from '../repository.js'
import { failureOf, projectsOf } from '../run.js'
import { type Given, type Part, type Session, withPart, withSource } from '../session.js'
import { newSkips } from '../skips.js'
import { readSpool } from '../spool.js'
import { type Compared, compare } from './compare.js'

export interface Verified extends Compared {
  readonly from: string
  /** Null: it has not come yet, or could not be compared. */
  readonly to: string | null
  /** Why it could not be compared; otherwise null. */
  readonly error: string | null
}

/** Writes only its result into the database. Throws AlreadyRunning, ReadElsewhere and SourceFailure. */
export const verifyMigration = (
  migration: Migration,
  projects: readonly string[],
  given: Given
): Promise<readonly Verified[]> =>
  withSource(migration, given, async (session, { source }) => {
    const { pathOf } = await openNamespaces(session, source, newSkips().skipped)
    const verified: Verified[] = []
    const incomparable = ({ from, error }: { readonly from: string; readonly error: string }) =>
      verified.push({ ...NOTHING, from, error })
    for await (const project of projectsOf(session, source, projects)) {
      session.signal.throwIfAborted()
      await withPart(session, project.id, part => verifyProject(session, part, { project, pathOf }))
        .catch(failureOf(project, session.signal))
        .then(done => ('result' in done ? incomparable(done) : verified.push(done)))
    }
    session.unreadable.list().forEach(incomparable)
    return keepResult(migration, 'verify', verified)
  })

/** A project that has not come. */
const NOTHING = { to: null, error: null, counts: {}, compared: 0, different: 0, differences: [], refs: [] }

interface Verifying {
  readonly project: SourceProject
  readonly pathOf: (path: string) => string | null
}

async function verifyProject(session: Session, part: Part, { project, pathOf }: Verifying): Promise<Verified> {
  const known = await findMigrated(session.place, project.id)
  const here = known && (await findProject(String(known.project_id), nobody))
  const { origin, signal } = session
  const nothing = { ...NOTHING, from: project.path }
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
    const convert = await converterOf(
      {
        ...{ origin, part, project, collected, people, repository, pathOf, path },
        picture: null,
        hasLfs: linkedHere > 0
      },
      kept
    )
    await writeRecords(withBases(readSpool(collected.spool), repository.path), records, convert)
    await rm(archive, { force: true })
    await exportProject(here, { output: archive, extras: ['variables'], signal }, origin)
    const compared = await compare(records, archive, { refs: repository.refs, owner: known.path.split('/')[0] ?? '' })
    const lfs = { lfs: { there: named.length, here: linkedHere } }
    const counts = linkedHere === named.length ? compared.counts : { ...compared.counts, ...lfs }
    return { ...nothing, to: known.path, ...compared, counts }
  } finally {
    await rm(records, { force: true })
    await rm(archive, { force: true })
  }
}
