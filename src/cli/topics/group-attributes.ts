// The flags for the attributes of a group; `groups create` and `groups update` share them.
import { type VisibilityName, visibilityOf } from '../../lib/levels.js'
import { Flags } from '../oclif.js'

export const groupFlags = {
  description: Flags.string({ description: 'what the group is about' }),
  visibility: Flags.option({
    options: ['private', 'internal', 'public'] as const,
    description: 'who sees the group; its projects are at most as visible'
  })(),
  'request-access': Flags.boolean({ allowNo: true, description: 'users may ask to become members' }),
  'share-lock': Flags.boolean({ allowNo: true, description: 'its projects cannot be shared with other groups' })
}

interface Values {
  readonly name?: string
  readonly path?: string
  readonly description?: string
  readonly visibility?: VisibilityName
  readonly 'request-access'?: boolean
  readonly 'share-lock'?: boolean
}

/** The given flags as attributes of the API. Flags not given are left out. */
export const groupAttributes = ({ visibility, 'request-access': requests, 'share-lock': lock, ...flags }: Values) => ({
  ...(flags.name !== undefined && { name: flags.name }),
  ...(flags.path !== undefined && { path: flags.path }),
  ...(flags.description !== undefined && { description: flags.description }),
  ...(visibility !== undefined && { visibility_level: visibilityOf(visibility) }),
  ...(requests !== undefined && { request_access_enabled: requests }),
  ...(lock !== undefined && { share_with_group_lock: lock })
})
