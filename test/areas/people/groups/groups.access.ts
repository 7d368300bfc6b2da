import { execute, row } from '../../../../src/db/connect/sql.js'
import { created, SIGNED_IN } from '../../../access/actors.js'
import { administerGroup, READ_GROUP } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import { factory, type TestGroup } from '../../../helpers/factory.js'

/** A group with the members of another one, for a request that removes it. */
async function copyOf(group: TestGroup): Promise<TestGroup> {
  const found = await row<{ level: number; holds: number }>(
    `select visibility_level as level, exists (select 1 from projects p where p.namespace_id = n.id) as holds
     from namespaces n where n.id = ?`,
    [group.id]
  )
  const copy = await factory.group({ visibilityLevel: found?.level ?? 0 })
  await execute(
    `insert into members (source_type, source_id, user_id, access_level, expires_at, created_at, updated_at)
     select source_type, ?, user_id, access_level, expires_at, created_at, updated_at
     from members where source_type = 'namespace' and source_id = ?`,
    [copy.id, group.id]
  )
  if (found?.holds) {
    const held = await factory.project({ visibility_level: 20 })
    await execute('update projects set namespace_id = ? where id = ?', [copy.id, held.id])
  }
  return copy
}

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/groups': { expected: SIGNED_IN },
    'GET /api/v3/groups/owned': { expected: SIGNED_IN },
    'GET /api/v3/namespaces': { expected: SIGNED_IN },
    'POST /api/v3/groups': {
      expected: created(SIGNED_IN),
      specimen: ({ unique }) => ({ payload: { name: unique, path: unique } })
    }
  },
  group: {
    'GET /api/v3/groups/:id': { expected: READ_GROUP },
    'PUT /api/v3/groups/:id': {
      expected: administerGroup(),
      specimen: ({ unique }) => ({ payload: { description: unique } })
    },
    'DELETE /api/v3/groups/:id': {
      expected: administerGroup(),
      specimen: async ({ group }) => ({ params: { id: (await copyOf(group)).id } })
    }
  }
}
