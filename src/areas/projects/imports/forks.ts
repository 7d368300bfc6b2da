// Forks: a new project with the branches and tags of another one, and the relation between the two.
import type { Actor, Origin } from '../../../access/actor.js'
import { canSee, may } from '../../../access/authorize.js'
import { row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, ConflictingValues, Invalid, NotFound, NotModified } from '../../../errors.js'
import { projectSnapshot } from '../../ground/activity/project-snapshots.js'
import { audit } from '../../ground/audit/audit.js'
import { deleteForkLink, type ForkLink, findForkLink, insertForkLink } from '../projects/fork-links.js'
import { createProject } from '../projects/projects.js'
import { findProject, holdProject, type ProjectRow } from '../projects/projects.queries.js'

interface Target {
  readonly id: number
  readonly kind: string
  readonly visibility_level: number
}

/**
 * Creates a fork of a project and returns its id. A job copies the repository. `namespace` is the id, path or name of the target;
 * without it, the fork is in the actor's own namespace. Throws NotFound for a target in which the actor may not create projects,
 * and ConflictingValues when the target already has the name or path, or when the actor may not read the repository.
 */
export async function forkProject(
  source: ProjectRow,
  namespace: string | undefined,
  actor: Actor,
  origin: Origin
): Promise<number> {
  if (!may(actor, 'repository.read', source)) {
    throw new ConflictingValues({ forked_from_project_id: ['is forbidden'] })
  }
  const target = await findTarget(namespace, actor)
  if (!target) throw new NotFound('Target Namespace')
  // Not specified: the level in a group that is less visible than the source. A project cannot be more visible than its group.
  const most = target.kind === 'group' ? target.visibility_level : source.visibility_level
  const level = Math.min(source.visibility_level, most) as 0 | 10 | 20
  const shown = await row<{ text: string | null }>('select description as text from projects where id = ?', [source.id])
  const body = {
    name: source.name,
    path: source.path,
    namespace_id: target.id,
    visibility_level: level,
    ...(typeof shown?.text === 'string' && { description: shown.text }),
    shared_runners_enabled: source.shared_runners_enabled === 1,
    builds_enabled: source.builds_enabled === 1
  }
  try {
    return await createProject(body, origin, { forkOf: source.id })
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    if (error.errors.namespace) throw new NotFound('Target Namespace')
    if (error.errors.name || error.errors.path) throw new ConflictingValues(error.errors)
    throw error
  }
}

/** Returns the namespace with this id, path or name, in this order; without one, the actor's own. */
function findTarget(namespace: string | undefined, { user }: Actor): Promise<Target | undefined> {
  const select = 'select id, kind, visibility_level from namespaces'
  if (namespace === undefined || namespace === '') {
    return row<Target>(`${select} where kind = 'user' and owner_id = ?`, [user?.id ?? 0])
  }
  const id = /^\d{1,10}$/.test(namespace) ? Number(namespace) : 0
  return row<Target>(
    `${select} where id = ? or path_key = lower(?) or name = ?
     order by id = ? desc, path_key = lower(?) desc, id limit 1`,
    [id, namespace, namespace, id, namespace]
  )
}

/** Makes a project a fork of another one, without a copy. Throws NotFound, and Conflict when it is already a fork. */
export async function relateFork(
  project: ProjectRow,
  sourceId: string,
  actor: Actor,
  origin: Origin
): Promise<ForkLink> {
  const source = await findProject(sourceId, actor)
  if (!source || !canSee(source, actor)) throw new NotFound('Project')
  // Not specified: a project as the fork of itself.
  if (source.id === project.id) throw new Conflict('A project cannot be a fork of itself')
  return linkFork(project.id, source, origin)
}

/** Makes a project a fork of another one. Throws NotFound, and Conflict when it is already a fork. */
export function linkFork(projectId: number, source: ProjectRow, origin: Origin): Promise<ForkLink> {
  return transact(async () => {
    // In the order of the ids, so that two concurrent relations do not wait for each other.
    for (const id of [projectId, source.id].sort((a, b) => a - b)) {
      if (!(await holdProject(id))) throw new NotFound('Project')
    }
    if (await findForkLink(projectId)) throw new Conflict('Project already forked')
    await insertForkLink(projectId, source.id)
    await note(projectId, origin, 'project.relate_fork', { forked_from: { after: pathOf(source) } })
    const link = await findForkLink(projectId)
    if (!link) throw new NotFound('Project')
    return link
  })
}

/** Ends the relation of a fork to its source. Returns the link. Throws NotModified when the project is not a fork. */
export async function unrelateFork(project: ProjectRow, origin: Origin): Promise<ForkLink> {
  return transact(async () => {
    const link = await findForkLink(project.id)
    if (!link || !(await deleteForkLink(project.id))) throw new NotModified()
    await note(project.id, origin, 'project.unrelate_fork', { forked_from: { before: link.forked_from_project_id } })
    return link
  })
}

const pathOf = ({ namespace_path, path }: ProjectRow) => `${namespace_path}/${path}`

async function note(
  id: number,
  origin: Origin,
  action: 'project.relate_fork' | 'project.unrelate_fork',
  changes: { readonly forked_from: { readonly before?: unknown; readonly after?: unknown } }
): Promise<void> {
  const { path_with_namespace: name } = await projectSnapshot(id)
  await audit(origin, { action, target: { type: 'project', id, name }, changes })
}
