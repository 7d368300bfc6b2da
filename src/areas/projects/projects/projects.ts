import type { CreationAttributes } from 'sequelize'
import { type ActorUser, type Origin, requireAsker } from '../../../access/actor.js'
import { holds } from '../../../cluster/storages.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { addTrigrams, PROJECT_TEXTS } from '../../../db/lists/trigrams.js'
import { Project } from '../../../db/models/index.js'
import { Invalid, ProjectLimit, Taken } from '../../../errors.js'
import { isRefName } from '../../../git/refs/refs.js'
import { MASTER } from '../../../lib/levels.js'
import { nameProblem, pathOfName, pathProblem } from '../../../lib/path.js'
import { log } from '../../../log.js'
import { encrypt, newToken, tokenHash } from '../../../secrets.js'
import { shownUrl } from '../../../webhooks/url.js'
import { publish } from '../../ground/activity/events.js'
import { projectSnapshot } from '../../ground/activity/project-snapshots.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { endProjectRedirect } from '../../ground/paths/redirects.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import type { Settings } from '../../ground/settings/settings.table.js'
import { checkVisibility } from '../../ground/settings/visibility.js'
import { insertMember } from '../../people/members/members.js'
import { levelInNamespace } from '../../people/members/members.queries.js'
import { storageForProject, takenNames, visibilityOfNewProject } from './new-projects.js'
import { checkedImportUrl, type Filling, scheduleFilling } from './pending-imports.js'
import type { ProjectBody, UserProjectBody } from './projects.schema.js'
import { prepareProject, repositoryPath, storageOf } from './repositories.js'

/**
 * Creates a project with an empty repository and returns its id. Throws Invalid, and ProjectLimit when the owner has as
 * many projects as allowed. The repository is created before the row, because a full disk must leave neither. A crash
 * before the repository is in its place leaves a project without one, which `ensureRepository` creates when needed.
 */
export async function createProject(body: ProjectBody, origin: Origin, options: CreateOptions = {}): Promise<number> {
  const asker = options.owner ?? requireAsker(origin)
  const path = body.path || pathOfName(body.name)
  checkNames(body.name, path)
  const instance = await applicationSettings()
  const storage = await storageOfNew(options, instance)
  const filling = fillingOf(body, options)
  const insert = () => transact(() => insertProject({ ...body, path, storage }, asker, { filling, origin, instance }))
  // The job that fills the repository also creates it. On another machine, the first use of the repository does.
  if (filling || !holds(storage)) return (await insert()).id
  const repository = await prepareProject(storage, options.branch)
  const { id } = await insert().catch(async error => {
    await repository.drop()
    throw error
  })
  try {
    await repository.place(repositoryPath({ id, storage }))
  } catch (error) {
    // The project already exists, and the first use of its repository tries again, maybe on another machine.
    log().warn({ error, project: id }, 'the repository of a new project is not in its place yet')
  }
  return id
}

/** A fork is where its source is: they share objects, and merge requests read both. */
async function storageOfNew({ forkOf }: CreateOptions, instance: Settings): Promise<string> {
  const source = forkOf === undefined ? undefined : await storageOf(String(forkOf))
  return source ?? storageForProject(instance)
}

export interface CreateOptions {
  /** The user who becomes the owner, when somebody else creates the project. */
  readonly owner?: ActorUser
  /** The source project of a fork. */
  readonly forkOf?: number
  /** The branch of a clone of the empty project. */
  readonly branch?: string
}

/** Creates a project on behalf of another user. Throws as `createProject` does, and Invalid for its limit. */
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

/** A project whose content already exists, under an id that no project has. */
export interface Adoption {
  readonly id: number
  readonly storage: string
  /** The attributes that a new project does not have. */
  readonly attributes: Pick<
    CreationAttributes<Project>,
    'defaultBranch' | 'archived' | 'tagList' | 'avatar' | 'createdAt' | 'lastActivityAt'
  >
  /** The origin of the content, for the audit. */
  readonly content: { readonly [name: string]: string }
  /** The remaining writes that complete the project, in the same transaction. */
  readonly finish: () => Promise<void>
}

/** Creates a project from existing content. Throws as `createProjectFor` does. */
export async function adoptProject(
  owner: NewOwner,
  body: ProjectBody & { readonly path: string },
  adopted: Adoption,
  origin: Origin
): Promise<void> {
  checkNames(body.name, body.path)
  const user = { ...owner, admin: owner.admin === 1, external: owner.external === 1 }
  const instance = await applicationSettings()
  await transact(async () => {
    await insertProject({ ...body, storage: adopted.storage }, user, { filling: undefined, origin, instance, adopted })
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

interface Insertion {
  readonly filling: Filling | undefined
  readonly origin: Origin
  readonly instance: Settings
  readonly adopted?: Adoption
}

async function insertProject(
  body: ProjectBody & { path: string; storage: string },
  asker: ActorUser,
  { filling, origin, instance, adopted }: Insertion
): Promise<Project> {
  const namespace = await findNamespace(body.namespace_id, asker)
  const visibilityLevel = visibilityOfNewProject(body, instance, namespace)
  // A command may use all levels, as administrators do.
  checkVisibility(visibilityLevel, origin.via === 'command' ? { admin: true } : (origin.asker ?? asker), instance)
  if (namespace.kind === 'group' && visibilityLevel > namespace.visibilityLevel) {
    throw new Invalid('visibility_level', 'cannot be higher than the level of the group')
  }
  // Only personal projects are subject to the project limit and make their owner a member.
  const ownerId = namespace.kind === 'user' ? await lockOwner(namespace) : null
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
  await addTrigrams(PROJECT_TEXTS, [{ id: project.id, texts: [project.name, project.path, project.description] }])
  await endProjectRedirect({ namespaceId: namespace.id, path: body.path })
  if (filling) await scheduleFilling(project.id, filling)
  if (ownerId !== null) await insertMember({ type: 'project', id: project.id }, ownerId, MASTER)
  const snapshot = await projectSnapshot(project.id)
  await publish({ kind: 'project.created', project: snapshot, by: asker.id })
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

/** Returns the origin of a new project's content for the audit: the URL without its password. */
async function originOfContent(filling: Filling): Promise<{ readonly [name: string]: string }> {
  if ('url' in filling) return { import_url: shownUrl(filling.url) }
  return { forked_from: (await projectSnapshot(filling.fromProjectId)).path_with_namespace }
}

/**
 * Returns the namespace of the new project: the caller's own, a group in which the caller is at least a Master, or any namespace
 * for administrators. Nobody can change or remove it before the transaction ends. Throws Invalid for any other namespace.
 */
async function findNamespace(id: number | undefined, asker: ActorUser): Promise<Place> {
  const [condition, value] = id === undefined ? ["kind = 'user' and owner_id", asker.id] : ['id', id]
  const namespace = await row<Place>(
    `select id, kind, owner_id as ownerId, visibility_level as visibilityLevel from namespaces where ${condition} = ?
     limit 1 lock in share mode`,
    [value]
  )
  if (!namespace || !(await mayCreateIn(namespace, asker))) throw new Invalid('namespace', 'is not valid')
  return namespace
}

/** A namespace in which somebody creates a project. */
interface Place {
  readonly id: number
  readonly kind: string
  readonly ownerId: number | null
  readonly visibilityLevel: number
}

async function mayCreateIn({ id, kind, ownerId }: Place, asker: ActorUser): Promise<boolean> {
  if (asker.admin || ownerId === asker.id) return true
  if (kind === 'user') return false
  return ((await levelInNamespace(id, asker.id)) ?? 0) >= MASTER
}

/** Locks the owner's row, so that two concurrent requests cannot both use the last place. Throws Invalid, ProjectLimit. */
async function lockOwner({ ownerId }: Place): Promise<number> {
  if (ownerId === null || !(await lockRow('users', ownerId))) throw new Invalid('namespace', 'is not valid')
  const found = await row<{ most: number; owned: number }>(
    `select u.projects_limit as most,
       (select count(*) from projects p join namespaces n on n.id = p.namespace_id where n.owner_id = u.id) as owned
     from users u where u.id = ?`,
    [ownerId]
  )
  const { most = 0, owned = 0 } = found ?? {}
  if (owned >= most) throw new ProjectLimit(most)
  return ownerId
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
    throw new Taken(...(await takenNames(values, key === 'projects_path' ? 'path' : 'name')))
  }
}
