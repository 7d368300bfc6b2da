// The flags for the attributes of a group; `groups create` and `groups update` share them.
import { type VisibilityName, visibilityOf } from '../../lib/levels.js'
import { Flags } from '../oclif.js'

export const groupFlags = {
  description: Flags.string({ description: 'description of the group' }),
  visibility: Flags.option({
    options: ['private', 'internal', 'public'] as const,
    description: 'who can see the group; its projects cannot be more visible'
  })(),
  'request-access': Flags.boolean({ allowNo: true, description: 'allow users to request access' }),
  'share-lock': Flags.boolean({ allowNo: true, description: 'prevent sharing its projects with other groups' })
}

interface Values {
  readonly name?: string
  readonly path?: string
  readonly description?: string
  readonly visibility?: VisibilityName
  readonly 'request-access'?: boolean
  readonly 'share-lock'?: boolean
}

/** Returns the given flags as attributes of the API. */
export const groupAttributes = ({ visibility, 'request-access': requests, 'share-lock': lock, ...flags }: Values) => ({
  ...(flags.name !== undefined && { name: flags.name }),
  ...(flags.path !== undefined && { path: flags.path }),
  ...(flags.description !== undefined && { description: flags.description }),
  ...(visibility !== undefined && { visibility_level: visibilityOf(visibility) }),
  ...(requests !== undefined && { request_access_enabled: requests }),
  ...(lock !== undefined && { share_with_group_lock: lock })
})
