// The labels of projects and groups, as a sysadmin manages them. The API creates no labels of groups.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { audit } from '../../ground/audit/audit.js'
import { createGroupLabel, createLabel, deleteLabel } from './labels.js'
import type { LabelOwner } from './labels.queries.js'
import type { LabelBody } from './labels.schema.js'

/** Creates a label, and returns its id. Throws Invalid or Conflict. */
export const administerLabel = (owner: LabelOwner, body: LabelBody, origin: Origin): Promise<number> =>
  transact(async () => {
    const id = owner.kind === 'group' ? await createGroupLabel(owner.id, body) : (await createLabel(owner, body)).id
    await audit(origin, { action: 'label.create', target: targetOf(owner, id, body.name) })
    return id
  })

/** Deletes a label, and removes it from everything that has it. */
export const removeLabel = (
  owner: LabelOwner,
  label: { readonly id: number; readonly title: string },
  origin: Origin
) =>
  transact(async () => {
    await deleteLabel({ id: label.id, project_id: owner.kind === 'project' ? owner.id : null })
    await audit(origin, { action: 'label.delete', target: targetOf(owner, label.id, label.title) })
  })

const targetOf = ({ path }: LabelOwner, id: number, title: string) => ({
  type: 'label',
  id,
  name: `${path} ${title}`
})
