import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Nullable, NumberedUserParams } from '../../../lib/schema.js'
import { findUser, userNumber } from '../../people/users/users.queries.js'
import { viewUserForAdmin } from '../../people/users/users.record.js'
import { User } from '../../people/users/users.view.js'
import { deleteUser } from './user-deletion.js'

export const userDeletionRoutes: FastifyPluginAsyncTypebox = async app => {
  // Not specified: the body is null when there is no such user. When a user stays as the only owner of a group, the response is
  // the same as for a deleted user.
  app.delete(
    '/users/:id',
    {
      config: { can: 'user.administer' },
      schema: {
        tags: ['Users'],
        summary: 'Delete a user',
        description: 'Also deletes all personal projects of the user. Returns 200 and null when there is no such user.',
        params: NumberedUserParams,
        response: { 200: Nullable(User) }
      }
    },
    async ({ params, origin }) => {
      const user = await findUser(userNumber(params.id))
      // Another request may have deleted the user since.
      const groups = user && (await deleteUser(user.id, origin))
      return user && groups ? viewUserForAdmin(user) : null
    }
  )
}
