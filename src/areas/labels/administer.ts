// Labels as a sysadmin manages them, of projects and groups. The API makes no labels of groups.
import type { Origin } from '../../access/actor.js'
import { row, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { NoSuch } from '../../errors.js'
import { audit } from '../audit/audit.js'
import { createGroupLabel, createLabel, deleteLabel } from './labels.js'
import type { LabelBody } from './labels.schema.js'

/** A project or a group, with its path. */
export type LabelOwner =
  | { readonly kind: 'project'; readonly id: number; readonly namespace_id: number; readonly path: string }
  | { readonly kind: 'group'; readonly id: number; readonly path: string }

export interface DescribedLabel {
  readonly id: number
  readonly title: string
  readonly color: string
  readonly description: string | null
  readonly group: string | null
  readonly priority: number | null
  readonly issues: number
  readonly merge_requests: number
}

const COUNT = (type: string) =>
  `(select count(*) from label_links k where k.label_id = l.id and k.target_type = '${type}')`

/** The labels of a project, with those of its group, or of a group, by title. */
export function listDescribedLabels(owner: LabelOwner): Promise<DescribedLabel[]> {
  const group = owner.kind === 'group' ? owner.id : owner.namespace_id
  const project = owner.kind === 'group' ? 0 : owner.id
  return rows<DescribedLabel>(
    `select l.id, l.title, l.color, l.description, n.path as \`group\`, y.priority, ${COUNT('Issue')} as issues,
       ${COUNT('MergeRequest')} as merge_requests
     from labels l left join namespaces n on n.id = l.group_id
     left join label_priorities y on y.label_id = l.id and y.project_id = ?
     where l.project_id = ? or l.group_id = ? order by l.title, l.id`,
    [project, project, group]
  )
}

/** Creates a label, and returns its id. Throws Invalid or Conflict. */
export const administerLabel = (owner: LabelOwner, body: LabelBody, origin: Origin): Promise<number> =>
  transact(async () => {
    const id = owner.kind === 'group' ? await createGroupLabel(owner.id, body) : (await createLabel(owner, body)).id
    await audit(origin, { action: 'label.create', target: targetOf(owner, id, body.name) })
    return id
  })

/** Finds a label of the project or group itself, with how much has it. Throws NoSuch. */
export async function requireLabelOf(owner: LabelOwner, title: string) {
  const found = await row<{ id: number; title: string; used: number }>(
    `select l.id, l.title, (select count(*) from label_links k where k.label_id = l.id) as used
     from labels l where l.${owner.kind === 'group' ? 'group_id' : 'project_id'} = ? and l.title = ?`,
    [owner.id, title]
  )
  if (!found) throw new NoSuch('label', title)
  return found
}

/** Removes a label, and takes it from all that has it. */
export const removeLabel = (
  owner: LabelOwner,
  label: { readonly id: number; readonly title: string },
  origin: Origin
) =>
  transact(async () => {
    await deleteLabel(label)
    await audit(origin, { action: 'label.delete', target: targetOf(owner, label.id, label.title) })
  })

const targetOf = ({ path }: LabelOwner, id: number, title: string) => ({
  type: 'label',
  id,
  name: `${path} ${title}`
})
