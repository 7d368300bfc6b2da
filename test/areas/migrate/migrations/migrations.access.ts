import { randomBytes } from 'node:crypto'
import { requestWork } from '../../../../src/areas/migrate/migrations/requests.js'
import { addMigration, placeOf } from '../../../../src/areas/migrate/runs/migrations.js'
import { insertPlaceholder } from '../../../../src/areas/people/users/ghost/placeholders.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { transact } from '../../../../src/db/connect/transact.js'
import { ADMINISTRATOR, answering, created } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { someOrigin } from '../../../helpers/factory.js'

const url = 'https://forge.example.org'
const aName = () => `m${randomBytes(8).toString('hex')}`

const add = () =>
  addMigration(aName(), 'sesame', { kind: 'gitlab4', url, map: {}, people: {}, rate: 50, keys: false }, someOrigin)

const aMigration = async () => ({ params: { id: (await add()).id }, payload: {} })

async function aRequest() {
  const migration = await add()
  await requestWork(migration, 'plan', {}, someOrigin)
  return { params: { id: migration.id } }
}

async function aPlaceholder({ world: { app } }: Asking) {
  const migration = await add()
  const username = aName()
  const { id } = await transact(() => insertPlaceholder({ username, name: username }, someOrigin))
  await execute(
    'insert into migrated_people (source, username, user_id, is_placeholder, created_at) values (?, ?, ?, true, ?)',
    [placeOf({ url }), username, id, new Date()]
  )
  const user = await app.make.user()
  return { params: { id: migration.id, placeholder_id: id }, payload: { user: user.username } }
}

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/migrations': { expected: ADMINISTRATOR },
    'POST /api/v3/migrations': {
      expected: created(ADMINISTRATOR),
      specimen: () => ({ payload: { name: aName(), kind: 'gitlab4', url, token: 'sesame' } })
    },
    'GET /api/v3/migrations/:id': { expected: ADMINISTRATOR, specimen: aMigration },
    'DELETE /api/v3/migrations/:id': { expected: ADMINISTRATOR, specimen: aMigration },
    'POST /api/v3/migrations/:id/plan': { expected: answering(202, ADMINISTRATOR), specimen: aMigration },
    'POST /api/v3/migrations/:id/run': { expected: answering(202, ADMINISTRATOR), specimen: aMigration },
    'POST /api/v3/migrations/:id/verify': { expected: answering(202, ADMINISTRATOR), specimen: aMigration },
    'POST /api/v3/migrations/:id/assign': { expected: answering(202, ADMINISTRATOR), specimen: aMigration },
    'POST /api/v3/migrations/:id/cancel': { expected: answering(202, ADMINISTRATOR), specimen: aRequest },
    'GET /api/v3/migrations/:id/placeholders': { expected: ADMINISTRATOR, specimen: aPlaceholder },
    'POST /api/v3/migrations/:id/placeholders/:placeholder_id/assign': {
      expected: created(ADMINISTRATOR),
      specimen: aPlaceholder
    }
  }
}
