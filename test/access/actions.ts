// What the permission table allows, for actions whose routes have rules that refuse more: only its author may change a
// note, but the table does not know authors. For all other actions, the expectations of their routes are complete.
import type { Action } from '../../src/access/abilities.js'
import { FORBIDDEN, SIGNED_IN } from './actors.js'
import { READ_GROUP, SEE_PROJECT, write } from './expectations.js'
import type { ResourceAccess } from './resource.js'

type Allowed<Kind extends keyof ResourceAccess> = {
  readonly [Name in Action]?: NonNullable<ResourceAccess[Kind]>[string]['expected']
}

const instance: Allowed<'instance'> = {
  'personal_snippet.write': SIGNED_IN,
  'runner.read': SIGNED_IN,
  'runner.write': SIGNED_IN,
  'todo.write': SIGNED_IN
}

const project: Allowed<'project'> = {
  'access_request.create': SEE_PROJECT(),
  'access_request.remove': SEE_PROJECT(),
  'award.read': SEE_PROJECT(),
  'award.write': SEE_PROJECT(),
  'issue.write': SEE_PROJECT(),
  'member.remove': SEE_PROJECT(),
  'merge_request.accept': SEE_PROJECT(),
  'merge_request.create': write(201),
  'merge_request.write': { ...SEE_PROJECT(), archived: FORBIDDEN },
  'note.read': SEE_PROJECT(),
  'note.write': SEE_PROJECT(),
  'project.fork': SEE_PROJECT(),
  'snippet.write': SEE_PROJECT()
}

const group: Allowed<'group'> = {
  'group_access_request.create': READ_GROUP,
  'group_access_request.remove': READ_GROUP,
  'group_member.remove': READ_GROUP
}

/**
 * Returns the expectation of a route with this action, as if no rule refused more; undefined when the route's own
 * expectation holds.
 */
export function tableOnly(route: string, can: Action): ResourceAccess | undefined {
  if (instance[can]) return { instance: { [route]: { expected: instance[can] } } }
  if (project[can]) return { project: { [route]: { expected: project[can] } } }
  if (group[can]) return { group: { [route]: { expected: group[can] } } }
  return undefined
}
