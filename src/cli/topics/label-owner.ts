// Labels belong to a project or to a group. A command names one of the two.
import { requireGroup } from '../../areas/people/groups/groups.queries.js'
import type { LabelOwner } from '../../areas/planning/labels/labels.queries.js'
import { BadParameters } from '../../errors.js'
import { requireNamedProject } from '../input/named-project.js'
import { Flags } from '../oclif.js'

export const labelOwnerFlags = {
  project: Flags.string({
    exclusive: ['group'],
    description: 'the project with the labels: NAMESPACE/PROJECT or number'
  }),
  group: Flags.string({ description: 'the group with the labels: path or number' })
}

/** Returns the project or group that the flags name. Throws BadParameters when they name none, and NoSuch. */
export async function requireLabelOwner(flags: { project?: string; group?: string }): Promise<LabelOwner> {
  if (flags.group !== undefined) {
    const { id, path } = await requireGroup(flags.group)
    return { kind: 'group', id, path }
  }
  const text = 'name the owner of the labels with --project or --group'
  if (flags.project === undefined) throw new BadParameters(text, text)
  const { id, namespace_id, namespace_path, path } = await requireNamedProject(flags.project)
  return { kind: 'project', id, namespace_id, path: `${namespace_path}/${path}` }
}
