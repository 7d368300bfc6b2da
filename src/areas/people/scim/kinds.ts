// The two kinds of resources, which the routes and `/Bulk` use alike.
import type { Origin } from '../../../access/actor.js'
import type { Chosen } from './attributes.js'
import { groupVersion, viewScimGroup, viewScimGroups } from './group-resource.js'
import type { ListQuery } from './lists.js'
import type { Operation } from './patch.js'
import { createScimGroup, deleteScimGroup, patchScimGroup, replaceScimGroup } from './scim-groups.js'
import { findScimGroup, listScimGroups, memberCounts } from './scim-groups.queries.js'
import { createScimUser, deleteScimUser, patchScimUser, replaceScimUser } from './scim-users.js'
import { findScimUser, listScimUsers } from './scim-users.queries.js'
import { userVersion, viewScimUser, viewScimUsers } from './user-resource.js'
import type { Change } from './versions.js'

/** A resource with its version, and a way to read what the client wants of it. */
interface Found {
  readonly version: string
  readonly view: (chosen: Chosen) => Promise<object>
}

/** What a kind of resource does. */
export interface Kind {
  readonly list: (query: ListQuery) => Promise<object>
  /** Undefined when the directory has no such resource. */
  readonly find: (id: number) => Promise<Found | undefined>
  readonly create: (body: unknown, origin: Origin) => Promise<number>
  readonly replace: (id: number, body: unknown, change: Change) => Promise<void>
  readonly patch: (id: number, operations: readonly Operation[], change: Change) => Promise<void>
  readonly remove: (id: number, change: Change) => Promise<void>
}

const users: Kind = {
  list: async query => viewScimUsers(await listScimUsers(query), query),
  find: async id => {
    const user = await findScimUser(id)
    return user && { version: userVersion(user), view: chosen => viewScimUser(user, chosen) }
  },
  create: createScimUser,
  replace: replaceScimUser,
  patch: patchScimUser,
  remove: deleteScimUser
}

const groups: Kind = {
  list: async query => viewScimGroups(await listScimGroups(query), query),
  find: async id => {
    const [group, [size = 0]] = await Promise.all([findScimGroup(id), memberCounts([id])])
    return group && { version: groupVersion(group, size), view: chosen => viewScimGroup(group, size, chosen) }
  },
  create: createScimGroup,
  replace: replaceScimGroup,
  patch: patchScimGroup,
  remove: deleteScimGroup
}

export type KindName = 'Users' | 'Groups'

export const KINDS: Readonly<Record<KindName, Kind>> = { Users: users, Groups: groups }

/** A text that is no number is the id of no resource. */
export const numberOf = (id: string): number => (/^\d{1,10}$/.test(id) ? Number(id) : 0)
