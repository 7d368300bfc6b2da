import { randomInt } from 'node:crypto'
import { type CreationAttributes, Transaction } from 'sequelize'
import { type ActorUser, type Origin, requireAsker } from '../../access/actor.js'
import { duplicateKey } from '../../db/failure.js'
import { Namespace, Project, User } from '../../db/models/index.js'
import { transact } from '../../db/transact.js'
import { Invalid, ProjectLimit } from '../../errors.js'
import { isRefName } from '../../git/refs.js'
import { MASTER } from '../../lib/levels.js'
import { nameProblem, pathOfName, pathProblem } from '../../lib/path.js'
import { log } from '../../log.js'
import { encrypt, newToken, tokenHash } from '../../secrets.js'
import { shownUrl } from '../../webhooks/url.js'
import { tell } from '../activity/happenings.js'
import { projectSnapshot } from '../activity/project-snapshots.js'
import { audit, changesBetween } from '../audit/audit.js'
import { insertMember } from '../members/members.js'
import { levelInNamespace } from '../members/members.queries.js'
import { endProjectRedirect } from '../paths/redirects.js'
import { applicationSettings } from '../settings/settings.queries.js'
import { checkVisibility } from '../settings/visibility.js'
import { checkedImportUrl, type Filling, scheduleFilling } from './fillings.js'
import { storagesInUse, takenNames, visibilityOfNewProject } from './new-projects.js'
import type { ProjectBody, UserProjectBody } from './projects.schema.js'
import { prepareProject, repositoryPath } from './repositories.js'

/**
 * Creates a project with an empty repository and gives its id. Throws Invalid, and ProjectLimit when the owner has as
 * many projects as allowed. The repository is made before the row, because a full disk must leave neither. A crash
 * before it is in its place leaves a project without a repository, which `ensureRepository` makes when needed.
 */
export async function createProject(body: ProjectBody, origin: Origin, options: CreateOptions = {}): Promise<number> {
  const asker = options.owner ?? requireAsker(origin)
  const path = body.path || pathOfName(body.name)
  checkNames(body.name, path)
  const storage = oneOf(storagesInUse(await applicationSettings()))
  const filling = fillingOf(body, options)
  const insert = () => transact(() => insertProject({ ...body, path, storage }, asker, { filling, origin }))
  // The job that fills the repository makes it too.
  if (filling) return (await insert()).id
  const repository = await prepareProject(storage, options.branch)
  const { id } = await insert().catch(async error => {
    await repository.drop()
    throw error
  })
  await repository.place(repositoryPath({ id, storage })).catch(error => {
    // The project is there already, and whoever uses its repository first tries again.
    log().warn({ error, project: id }, 'the repository of a new project is not in its place yet')
  })
  return id
}

export interface CreateOptions {
  /** The user whose project it becomes, when somebody else creates it. */
  readonly owner?: ActorUser
  /** The project that the new one is a fork of. */
  readonly forkOf?: number
  /** The branch that a clone of the empty project is on. */
  readonly branch?: string
}

/** Creates a project in the name of another user. Throws as `createProject` does, and Invalid for its limit. */
export async function createProjectFor(owner: NewOwner, body: UserProjectBody, origin: Origin): Promise<number> {
  const { default_branch: branch, ...rest } = body
  if (branch !== undefined && !isRefName(`refs/heads/${branch}`)) throw new Invalid('default_branch')
  const user = { ...owner, admin: owner.admin === 1, external: owner.external === 1 }
  try {
    return await createProject(rest, origin, { owner: user, ...(branch === undefined ? {} : { branch }) })
  } catch (error) {
    if (error instanceof ProjectLimit) throw new Invalid('limit_reached', error.message)
    throw error
  }
}

/** A project whose content is there already, under an id that no project has. */
export interface Adoption {
  readonly id: number
  readonly storage: string
  /** What a new project does not have. */
  readonly attributes: Pick<
    CreationAttributes<Project>,
    'defaultBranch' | 'archived' | 'tagList' | 'createdAt' | 'lastActivityAt'
  >
  /** Where the content comes from, for the audit. */
  readonly content: { readonly [name: string]: string }
  /** What else makes it whole, in the same transaction. */
  readonly finish: () => Promise<void>
}

/** Makes a project of content that is there. Throws as `createProjectFor` does. */
export async function adoptProject(
  owner: NewOwner,
  body: ProjectBody & { readonly path: string },
  adopted: Adoption,
  origin: Origin
): Promise<void> {
  checkNames(body.name, body.path)
  const user = { ...owner, admin: owner.admin === 1, external: owner.external === 1 }
  await transact(async () => {
    await insertProject({ ...body, storage: adopted.storage }, user, { filling: undefined, origin, adopted })
    await adopted.finish()
  })
}

type NewOwner = Pick<ActorUser, 'id' | 'username' | 'name' | 'email'> & {
  readonly admin: number
  readonly external: number
}

function fillingOf({ import_url: url }: ProjectBody, { forkOf }: CreateOptions): Filling | undefined {
  if (forkOf !== undefined) return { fromProjectId: forkOf }
  return url ? { url: checkedImportUrl(url) } : undefined
}

function checkNames(name: string, path: string): void {
  const errors: Record<string, string[]> = {}
  const badName = nameProblem(name)
  if (badName) errors.name = [badName]
  const badPath = pathProblem(path, 'project')
  if (badPath) errors.path = [badPath]
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
}

async function insertProject(
  body: ProjectBody & { path: string; storage: string },
  asker: ActorUser,
  { filling, origin, adopted }: { filling: Filling | undefined; origin: Origin; adopted?: Adoption }
): Promise<Project> {
  const namespace = await findNamespace(body.namespace_id, asker)
  const instance = await applicationSettings()
  const visibilityLevel = visibilityOfNewProject(body, instance, namespace)
  // A command may use all levels, as administrators do.
  checkVisibility(visibilityLevel, origin.via === 'command' ? { admin: true } : (origin.asker ?? asker), instance)
  if (namespace.kind === 'group' && visibilityLevel > namespace.visibilityLevel) {
    throw new Invalid('visibility_level', 'cannot be higher than that of the group')
  }
  // The limit of projects, and the membership of the owner, are for personal projects only.
  const owner = namespace.kind === 'user' ? await lockOwner(namespace) : null
  const runnersToken = newToken()
  const now = new Date()
  const project = await create({
    ...settings(body),
    visibilityLevel,
    namespaceId: namespace.id,
    creatorId: asker.id,
    name: body.name,
    path: body.path,
    storage: body.storage,
    runnersTokenHash: tokenHash(runnersToken),
    runnersTokenEncrypted: encrypt(runnersToken),
    lastActivityAt: now,
    ...(adopted && { id: adopted.id, ...adopted.attributes })
  })
  await endProjectRedirect({ namespaceId: namespace.id, path: body.path })
  if (filling) await scheduleFilling(project.id, filling)
  if (owner) await insertMember({ type: 'project', id: project.id }, owner.id, MASTER)
  const snapshot = await projectSnapshot(project.id)
  await tell({ kind: 'project.created', project: snapshot, by: asker.id })
  const { import_url: _url, namespace_id: _id, path: _path, ...given } = body
  const after = {
    ...given,
    visibility_level: visibilityLevel,
    ...(filling && (await originOfContent(filling))),
    ...adopted?.content
  }
  const target = { type: 'project', id: project.id, name: snapshot.path_with_namespace }
  await audit(origin, { action: 'project.create', target, changes: changesBetween(null, after) })
  return project
}

/** What the audit says about the content of a new project: the URL without the password that it may have. */
async function originOfContent(filling: Filling): Promise<{ readonly [name: string]: string }> {
  if ('url' in filling) return { import_url: shownUrl(filling.url) }
  return { forked_from: (await projectSnapshot(filling.fromProjectId)).path_with_namespace }
}

/**
 * The namespace of the new project: the asker's own, a group in which the asker is at least a Master, or for administrators
 * any namespace. Nobody can change or remove it before the transaction ends. Throws Invalid for any other namespace.
 */
async function findNamespace(id: number | undefined, asker: ActorUser): Promise<Namespace> {
  const where = id === undefined ? { kind: 'user' as const, ownerId: asker.id } : { id }
  const namespace = await Namespace.findOne({ where, lock: Transaction.LOCK.SHARE })
  if (!namespace || !(await mayCreateIn(namespace, asker))) throw new Invalid('namespace', 'is not valid')
  return namespace
}

async function mayCreateIn({ id, kind, ownerId }: Namespace, asker: ActorUser): Promise<boolean> {
  if (asker.admin || ownerId === asker.id) return true
  if (kind === 'user') return false
  return ((await levelInNamespace(id, asker.id)) ?? 0) >= MASTER
}

/**
 * Locks the owner's row, so that two requests at once cannot both take the last place. Throws Invalid, ProjectLimit.
 */
async function lockOwner({ ownerId }: Namespace): Promise<User> {
  const owner = ownerId === null ? null : await User.findByPk(ownerId, { lock: true })
  if (!owner) throw new Invalid('namespace', 'is not valid')
  const namespaces = await Namespace.findAll({ where: { ownerId }, attributes: ['id'] })
  const owned = await Project.count({ where: { namespaceId: namespaces.map(({ id }) => id) } })
  if (owned >= owner.projectsLimit) throw new ProjectLimit(owner.projectsLimit)
  return owner
}

function settings(body: ProjectBody) {
  return {
    description: body.description ?? null,
    issuesEnabled: body.issues_enabled,
    mergeRequestsEnabled: body.merge_requests_enabled,
    buildsEnabled: body.builds_enabled,
    wikiEnabled: body.wiki_enabled,
    snippetsEnabled: body.snippets_enabled,
    containerRegistryEnabled: body.container_registry_enabled,
    lfsEnabled: body.lfs_enabled,
    sharedRunnersEnabled: body.shared_runners_enabled,
    publicBuilds: body.public_builds,
    requestAccessEnabled: body.request_access_enabled,
    onlyAllowMergeIfBuildSucceeds: body.only_allow_merge_if_build_succeeds,
    onlyAllowMergeIfAllDiscussionsAreResolved: body.only_allow_merge_if_all_discussions_are_resolved
  }
}

async function create(values: CreationAttributes<Project>): Promise<Project> {
  try {
    return await Project.create(values)
  } catch (error) {
    const key = duplicateKey(error)
    if (key !== 'projects_path' && key !== 'projects_name') throw error
    throw new Invalid(await takenNames(values, key === 'projects_path' ? 'path' : 'name'))
  }
}

const oneOf = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T
