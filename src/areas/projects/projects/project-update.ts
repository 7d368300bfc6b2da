// Changes the attributes of a project, and archives and unarchives it.
import type { Actor, Origin } from '../../../access/actor.js'
import { authorizeProject } from '../../../access/authorize.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { transact } from '../../../db/connect/transact.js'
import { PROJECT_TEXTS, replaceTrigrams } from '../../../db/lists/trigrams.js'
import { Project } from '../../../db/models/index.js'
import { BadParameters, Invalid, NotFound, Taken } from '../../../errors.js'
import { isRefName, refValue } from '../../../git/refs/refs.js'
import { setHead } from '../../../git/repository/repository.js'
import { PRIVATE, PUBLIC } from '../../../lib/levels.js'
import { nameProblem, pathProblem } from '../../../lib/path.js'
import { plug } from '../../../lib/plug.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish } from '../../ground/activity/events.js'
import { projectSnapshot } from '../../ground/activity/project-snapshots.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { endProjectRedirect, redirectProject } from '../../ground/paths/redirects.js'
import { checkForkVisibility, checkProjectVisibility, lowerForks } from './project-visibility.js'
import type { ProjectRow } from './projects.queries.js'
import { ProjectChange } from './projects.schema.js'
import { repositoryPath, type StoredProject } from './repositories.js'

/** Attribute -> column of the model, for attributes that are stored unchanged. */
const COLUMNS = {
  name: 'name',
  path: 'path',
  description: 'description',
  default_branch: 'defaultBranch',
  issues_enabled: 'issuesEnabled',
  merge_requests_enabled: 'mergeRequestsEnabled',
  builds_enabled: 'buildsEnabled',
  wiki_enabled: 'wikiEnabled',
  snippets_enabled: 'snippetsEnabled',
  container_registry_enabled: 'containerRegistryEnabled',
  lfs_enabled: 'lfsEnabled',
  shared_runners_enabled: 'sharedRunnersEnabled',
  visibility_level: 'visibilityLevel',
  public_builds: 'publicBuilds',
  request_access_enabled: 'requestAccessEnabled',
  only_allow_merge_if_build_succeeds: 'onlyAllowMergeIfBuildSucceeds',
  only_allow_merge_if_all_discussions_are_resolved: 'onlyAllowMergeIfAllDiscussionsAreResolved'
} as const satisfies { [Name in Exclude<keyof ProjectChange, 'public'>]: keyof Project }

type WakeBuilds = (projectId: number) => Promise<void>

/** Called in the transaction of a change after which builds of a project may start that could not before. */
export const waitingBuilds = plug<WakeBuilds>('waitingBuilds')

/** When one of these is switched on, pending builds may start. */
const STARTS_BUILDS = ['shared_runners_enabled', 'builds_enabled'] as const

type Attribute = keyof typeof COLUMNS
const ATTRIBUTES = Object.keys(COLUMNS) as Attribute[]
type Values = Omit<ProjectChange, 'public'>

/** Throws Forbidden when the change needs a right that masters do not have: only owners change the name and the visibility. */
export function authorizeChange(actor: Actor, project: ProjectRow, change: ProjectChange): void {
  const { name, visibility_level: level, public: open } = change
  if (name === undefined && level === undefined && open === undefined) return
  authorizeProject(actor, 'project.administer', project)
}

/**
 * Changes the present attributes of a project. A new path moves the project and publishes an event; the old path
 * redirects to it. Throws NotFound, Invalid, and BadParameters when no attribute is present.
 */
export async function updateProject(project: ProjectRow, change: ProjectChange, origin: Origin): Promise<void> {
  const values = valuesOf(change)
  await checkValues(project, values)
  await transact(() => update(project.id, values, origin))
  const { default_branch: branch } = values
  // After the commit, so that a failed change leaves no clone on a branch that the record does not name.
  if (branch !== undefined && branch !== project.default_branch) await setHead(repositoryPath(project), branch)
}

/** Throws BadParameters when no attribute is present. */
function valuesOf({ public: open, ...change }: ProjectChange): Values {
  const present = ATTRIBUTES.filter(name => change[name] !== undefined)
  if (present.length === 0 && open === undefined) {
    const names = Object.keys(ProjectChange.properties)
    throw new BadParameters(`${names.join(', ')} are missing, at least one parameter must be provided`)
  }
  const values: Values = Object.fromEntries(present.map(name => [name, change[name]]))
  if (open === undefined || change.visibility_level !== undefined) return values
  return { ...values, visibility_level: open ? PUBLIC : PRIVATE }
}

async function checkValues(project: StoredProject, { name, path, default_branch: branch }: Values): Promise<void> {
  const problems = {
    name: name === undefined ? null : nameProblem(name),
    path: path === undefined ? null : pathProblem(path, 'project'),
    // Decided: an unknown branch is an error of the attribute.
    default_branch: branch === undefined || (await hasBranch(project, branch)) ? null : 'does not exist'
  }
  const errors: Record<string, string[]> = {}
  for (const [attribute, problem] of Object.entries(problems)) if (problem !== null) errors[attribute] = [problem]
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
}

async function hasBranch(project: StoredProject, branch: string): Promise<boolean> {
  const ref = `refs/heads/${branch}`
  return isRefName(ref) && (await refValue(repositoryPath(project), ref)) !== null
}

const SEARCHED = ['name', 'path', 'description'] as const

async function update(id: number, values: Values, origin: Origin): Promise<void> {
  const project = await Project.findByPk(id, { lock: true })
  if (!project) throw new NotFound('Project')
  const { visibility_level: level } = values
  if (level !== undefined && level !== project.visibilityLevel) {
    await checkProjectVisibility(level, project.namespaceId, origin)
    await checkForkVisibility(level, id)
  }
  const old = { namespaceId: project.namespaceId, path: project.path }
  const before = await projectSnapshot(id)
  const changes = changesBetween(attributesOf(project, values), values)
  await write(project, values)
  if (Object.keys(changes).length === 0) return
  if (SEARCHED.some(name => changes[name] !== undefined)) {
    await replaceTrigrams(PROJECT_TEXTS, { id, texts: SEARCHED.map(name => project[name]) })
  }
  const target = { type: 'project', id, name: before.path_with_namespace }
  await audit(origin, { action: 'project.update', target, changes })
  if (STARTS_BUILDS.some(name => changes[name]?.after === true)) await (await waitingBuilds())(id)
  if (changes.visibility_level !== undefined) await lowerForks(id, project.visibilityLevel, origin)
  if (changes.path === undefined) return
  await endProjectRedirect({ ...old, path: project.path })
  if (old.path.toLowerCase() !== project.path.toLowerCase()) await redirectProject(old, id)
  await publish({
    kind: 'project.renamed',
    project: await projectSnapshot(id),
    old_path_with_namespace: before.path_with_namespace,
    by: doerOf(origin)
  })
}

const attributesOf = (project: Project, values: Values): Values =>
  Object.fromEntries(
    ATTRIBUTES.filter(name => values[name] !== undefined).map(name => [name, project.get(COLUMNS[name])])
  )

async function write(project: Project, values: Values): Promise<void> {
  const columns = Object.entries(values).map(([name, value]) => [COLUMNS[name as Attribute], value])
  try {
    await project.update(Object.fromEntries(columns))
  } catch (error) {
    throw takenBy(error)
  }
}

/** Turns the error of a project's write into Taken when its name or path is taken; otherwise returns the error. */
export function takenBy(error: unknown): unknown {
  const key = duplicateKey(error)
  if (key === 'projects_path') return new Taken('path')
  return key === 'projects_name' ? new Taken('name') : error
}

/** Archives or unarchives a project. It does nothing when that is already done. Throws NotFound. */
export async function archiveProject(
  { id }: { readonly id: number },
  archived: boolean,
  origin: Origin
): Promise<void> {
  await transact(async () => {
    const project = await Project.findByPk(id, { lock: true })
    if (!project) throw new NotFound('Project')
    if (project.archived === archived) return
    await project.update({ archived })
    if (!archived) await (await waitingBuilds())(id)
    const { path_with_namespace: name } = await projectSnapshot(id)
    await audit(origin, {
      action: archived ? 'project.archive' : 'project.unarchive',
      target: { type: 'project', id, name }
    })
  })
}
