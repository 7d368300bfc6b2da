// Labels of projects and groups, and the priorities that projects set for them.
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { moved } from '../../../db/lists/keyset-cache.js'
import { deleteRows } from '../../../db/ownership/owned-rows.js'
import { BadParameters, Conflict, Invalid, NotFound, NotFoundAs, NotModified, Stale, Taken } from '../../../errors.js'
import { versionOf } from '../../../text/versions.js'
import { holdProject } from '../../projects/projects/projects.queries.js'
import { readSubscriptions, setSubscription } from '../participation/subscriptions.js'
import { checkLabel, MOST_LABELS } from './label-rules.js'
import {
  findLabelById,
  findLabels,
  findOwnLabel,
  type LabelPlace,
  type LabelRow,
  lockOwnLabel
} from './labels.queries.js'
import { type LabelBody, LabelChange } from './labels.schema.js'

/** Creates a label of a project. Throws Invalid, and Conflict when the project or its group already has it. */
export async function createLabel(project: LabelPlace, body: LabelBody): Promise<LabelRow> {
  const { color, priority = null } = body
  const title = body.name.trim()
  const description = body.description || null
  checkLabel({ title, color, description, priority })
  try {
    const id = await transact(async () => {
      if (!(await holdProject(project.id))) throw new NotFound('Project')
      if ((await findLabels(project, [title])).size > 0) throw new Conflict('Label already exists')
      await requireRoom('project_id', project.id)
      const made = await insertLabel('project_id', project.id, { title, color, description })
      await setPriority(project.id, made, priority)
      return made
    })
    return { id, project_id: project.id, title, color, description, priority }
  } catch (error) {
    throw duplicateKey(error) ? new Conflict('Label already exists') : error
  }
}

/** Creates a label of a group, which all projects of the group can use. Throws Invalid or Conflict. */
export async function createGroupLabel(
  groupId: number,
  body: Pick<LabelBody, 'name' | 'color' | 'description'>
): Promise<number> {
  const title = body.name.trim()
  const values = { title, color: body.color, description: body.description || null }
  checkLabel(values)
  try {
    return await transact(async () => {
      const group = await row('select id from namespaces where id = ? lock in share mode', [groupId])
      if (!group) throw new NotFound('Group')
      await requireRoom('group_id', groupId)
      return insertLabel('group_id', groupId, values)
    })
  } catch (error) {
    throw duplicateKey(error) ? new Conflict('Label already exists') : error
  }
}

async function insertLabel(
  owner: 'project_id' | 'group_id',
  id: number,
  { title, color, description }: Pick<LabelRow, 'title' | 'color' | 'description'>
): Promise<number> {
  const now = new Date()
  const { insertId } = await execute(
    `insert into labels (${owner}, title, color, description, created_at, updated_at) values (?, ?, ?, ?, ?, ?)`,
    [id, title, color, description, now, now],
    owner === 'project_id' ? id : undefined
  )
  return insertId
}

/** Throws Invalid when a project or group would have too many labels after adding `more`. */
export async function requireRoom(owner: 'project_id' | 'group_id', id: number, more = 1): Promise<void> {
  const found = await row<{ known: number }>(`select count(*) as known from labels where ${owner} = ?`, [id])
  if ((found?.known ?? 0) + more <= MOST_LABELS) return
  throw new Invalid('base', `There can be at most ${MOST_LABELS} labels: remove some first`)
}

/** Returns the version of what people edit of a label. */
export const versionOfLabel = ({ title, color, description, priority }: LabelRow): string =>
  versionOf(title, color, description, priority === null ? null : String(priority))

/**
 * Changes a label of the project itself. Throws NotFound, also for a label of its group; Invalid, Taken, BadParameters
 * when the request contains only the name, and Stale when the label has another version than `version`.
 */
export async function updateLabel(project: LabelPlace, change: LabelChange, version?: string): Promise<LabelRow> {
  const { name, new_name: newName, color, description, priority } = change
  const values = {
    ...(newName !== undefined && { title: newName.trim() }),
    ...(color !== undefined && { color }),
    ...(description !== undefined && { description: description || null })
  }
  if (Object.keys(values).length === 0 && priority === undefined) throw nothingGiven()
  const found = await findOwnLabel(project, name)
  if (!found) throw gone()
  checkLabel({ ...values, ...(priority !== undefined && { priority }) })
  try {
    return await transact(async () => {
      // Another request may change it at the same moment.
      const label = await lockOwnLabel(project, found.id)
      if (!label) throw gone()
      if (version !== undefined && version !== versionOfLabel(label)) throw new Stale()
      const after = { ...label, ...values, ...(priority !== undefined && { priority }) }
      await execute(
        'update labels set title = ?, color = ?, description = ?, updated_at = ? where id = ?',
        [after.title, after.color, after.description, new Date(), label.id],
        project.id
      )
      if (priority !== undefined) await setPriority(project.id, label.id, priority)
      return after
    })
  } catch (error) {
    throw duplicateKey(error) ? new Taken('title') : error
  }
}

const gone = () => new NotFoundAs('404 Label not found Not Found')

function nothingGiven(): BadParameters {
  const names = Object.keys(LabelChange.properties).filter(name => name !== 'name')
  return new BadParameters(`${names.join(', ')} are missing, at least one parameter must be provided`)
}

/** Sets the priority of a label in a project; null removes it. Call it inside `transact`. */
async function setPriority(projectId: number, labelId: number, priority: number | null): Promise<void> {
  if (priority === null) {
    await execute('delete from label_priorities where project_id = ? and label_id = ?', [projectId, labelId], projectId)
    return
  }
  await execute(
    `insert into label_priorities (project_id, label_id, priority) values (?, ?, ?)
     on duplicate key update priority = ?`,
    [projectId, labelId, priority, priority],
    projectId
  )
}

/** Returns the label of a project that a client names by its id or its title, including labels of its group. Throws NotFound. */
export async function requireLabel(project: LabelPlace, name: string): Promise<LabelRow> {
  const byId = /^\d{1,10}$/.test(name) ? await findLabelById(project, Number(name)) : undefined
  const found = byId ?? (await findLabels(project, [name])).get(name)
  if (!found) throw new NotFound('Label')
  return found
}

/** Returns a label of the project itself, by its title. Throws NotFound. */
export async function requireOwnLabel(project: Pick<LabelPlace, 'id'>, title: string): Promise<LabelRow> {
  const found = await findOwnLabel(project, title)
  if (!found) throw new NotFound('Label')
  return found
}

/** Deletes a label, and removes it from everything that has it. Throws NotFound when another request already deleted it. */
export const deleteLabel = ({ id, project_id: projectId }: Pick<LabelRow, 'id' | 'project_id'>): Promise<void> =>
  transact(async () => {
    if (!(await row('select id from labels where id = ? for update', [id]))) throw new NotFound('Label')
    await deleteRows('labels', [id], projectId ?? undefined)
    moved('Issue')
    moved('MergeRequest')
  })

/** Subscribes a user to a label, or ends the subscription. Throws NotModified when nothing changes. */
export async function changeLabelSubscription(
  project: LabelPlace,
  label: LabelRow,
  userId: number,
  subscribed: boolean
): Promise<void> {
  const now = await readSubscriptions([label.id], userId, project.id)
  if ((now.get(label.id) ?? false) === subscribed) throw new NotModified()
  const place = { type: 'Label' as const, id: label.id, projectId: project.id }
  if (!(await setSubscription(place, userId, subscribed))) throw new NotModified()
}
