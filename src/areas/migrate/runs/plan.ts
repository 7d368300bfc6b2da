// Says what a run would bring. It reads the projects whole, and the run that follows uses what it has read.

import { pathProblem } from '../../../lib/path.js'
import type { Source, SourceGroup, SourceProject } from '../sources/source.js'
import { type Collected, collect } from './collect.js'
import { pathHere } from './convert.js'
import { claimOf, namespacePath, takenText } from './groups.js'
import { namedFiles } from './lfs.js'
import { keepResult, type Migration } from './migrations.js'
import { copyRepository } from './move-project.js'
import { checkSourcePath } from './namespaces.js'
import { keyOf, knownPeople, matchPeople, peopleOptions } from './people.js'
import { failureOf, projectsOf } from './run.js'
import { type Given, type Part, type Session, withPart, withSource } from './session.js'
import { newSkips } from './skips.js'

export interface PlanOptions {
  /** Paths at the source; default: all projects that the token shows. */
  readonly projects: readonly string[]
  /** Only asks the source for its counts. */
  readonly quick: boolean
}

interface PlannedProject {
  readonly path: string
  /** Bytes of the repository. */
  readonly size: number | null
  readonly counts: { readonly [kind: string]: number | null }
  readonly files: number | null
  /** Files in LFS; null when the repository was not fetched. */
  readonly lfs: { readonly files: number; readonly bytes: number } | null
  readonly skipped: readonly { readonly what: string; readonly why: string; readonly count: number }[]
}

export interface Plan {
  readonly source: { readonly version: string; readonly username: string; readonly is_admin: boolean }
  readonly projects: readonly PlannedProject[]
  /** What would stop a project. */
  readonly problems: readonly string[]
  /** Usernames at the source -> here. */
  readonly matched: { readonly [username: string]: string }
  /** Usernames at the source that get placeholders. */
  readonly unmatched: readonly string[]
}

/** Reads the source. Writes only its result into the database. Throws AlreadyRunning, ReadElsewhere and SourceFailure. */
export const planMigration = (migration: Migration, options: PlanOptions, given: Given): Promise<Plan> =>
  withSource(migration, given, async (session, { source }) => {
    const { version, username, isAdmin } = await source.about()
    const projects: PlannedProject[] = []
    const problems: string[] = []
    const people = new Set<string>()
    const namespaces = new Set<string>()
    /** The paths at the source, by those here. */
    const places = new Map<string, string>()
    for await (const project of projectsOf(session, source, options.projects)) {
      const { path, size } = project
      const problem = (error: unknown) => {
        problems.push(`${path}: ${failureOf(project, session.signal)(error).error}`)
        return null
      }
      try {
        checkSourcePath(path)
        namespaces.add(path.split('/').slice(0, -1).join('/').toLowerCase())
        const here = placeHere(session, path)
        const other = places.get(here.toLowerCase())
        if (other !== undefined)
          problems.push(`${other} and ${path} would both be ${here} here: rename one of them there`)
        places.set(here.toLowerCase(), path)
        projects.push(
          options.quick
            ? { path, size, counts: await source.counts(project), files: null, lfs: null, skipped: [] }
            : await planProject(session, project, { people, problem })
        )
      } catch (error) {
        problem(error)
      }
    }
    const groups = options.quick ? [] : await groupsOf(session, source, namespaces)
    for (const { members } of groups) for (const { username: member } of members) people.add(member)
    const known = await knownPeople(session.place, people)
    const unknown = [...people].filter(name => !known.has(keyOf(name))).sort()
    const matched: Record<string, string> = Object.fromEntries(known)
    const unmatched: string[] = []
    for await (const { username: name, here } of matchPeople(source, unknown, peopleOptions(session))) {
      if (here) matched[name] = here.username
      else unmatched.push(name)
    }
    for (const group of groups) problems.push(...(await problemsOf(migration, group)))
    problems.push(...session.unreadable.list().map(({ from, error }) => `${from}: ${error}`))
    const about = { version, username, is_admin: isAdmin }
    return keepResult(migration, 'plan', { source: about, projects, problems, matched, unmatched })
  })

/** Reads a project, and adds the people whom it names. `problem` notes why the repository cannot be read. */
const planProject = (
  session: Session,
  project: SourceProject,
  { people, problem }: { readonly people: Set<string>; readonly problem: (error: unknown) => null }
): Promise<PlannedProject> =>
  withPart(session, project.id, async part => {
    const collected = await collect(session, part, project)
    const { survey, skips } = collected
    for (const person of survey.people) people.add(person)
    const lfs = await plannedLfs(session, part, project, collected).catch(problem)
    const counts = Object.fromEntries(survey.counts)
    return { path: project.path, size: project.size, counts, files: survey.files.size, lfs, skipped: skips.list() }
  })

/** Fetches the repository, which the run needs anyway. */
async function plannedLfs(
  session: Session,
  part: Part,
  project: SourceProject,
  collected: Collected
): Promise<PlannedProject['lfs']> {
  // The run reports the commits that are missing.
  const repository = await copyRepository(session, part, project, { survey: collected.survey, skips: newSkips() })
  const named = await namedFiles(session, part, repository)
  return { files: named.length, bytes: named.reduce((sum, { size }) => sum + size, 0) }
}

/** Returns where a project would be here. Not specified: the namespace of a person is named as at the source. */
function placeHere({ migration }: Session, path: string): string {
  const parts = path.split('/')
  const namespace = parts.slice(0, -1).join('/')
  const mapped = Object.entries(migration.map).find(([from]) => from.toLowerCase() === namespace.toLowerCase())
  return `${mapped?.[1] ?? namespacePath(namespace)}/${pathHere(parts.at(-1) ?? '')}`
}

/** Returns the groups of the projects. Those that go elsewhere bring no members. */
async function groupsOf(
  { migration, unreadable }: Session,
  source: Source,
  paths: ReadonlySet<string>
): Promise<SourceGroup[]> {
  const mapped = new Set(Object.keys(migration.map).map(path => path.toLowerCase()))
  const groups: SourceGroup[] = []
  for await (const group of source.groups(unreadable.skipped)) {
    const path = group.path.toLowerCase()
    if (paths.has(path) && !mapped.has(path)) groups.push(group)
  }
  return groups
}

async function problemsOf(migration: Migration, { path }: SourceGroup): Promise<readonly string[]> {
  const here = namespacePath(path)
  if (pathProblem(here, 'namespace')) return [`${here} cannot be the path of a group here: choose one with --map`]
  return (await claimOf(migration, path)) === null ? [takenText(path)] : []
}
