// Story: when the machine that owned a repository was restarted during a long move or backup, the whole command failed.

import { withPatience } from '../../../../src/areas/projects/projects/elsewhere/patience.js'
import { OwnerAway } from '../../../../src/cluster/repository-elsewhere.js'
import { addStorage, joinStorages } from '../../../../src/cluster/storages.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { NotHere } from '../../../../src/errors.js'
import { testDatabase } from '../../../helpers/database.js'
import t from '../../../helpers/tap.js'

await testDatabase()
const never = new AbortController().signal
const project = { id: 1, storage: 'default' }

t.test('work begins again when the storage has got another owner', async t => {
  let tries = 0
  const found = await withPatience(
    project,
    async () => {
      tries += 1
      if (tries < 3) throw new NotHere('default')
      return tries
    },
    never
  )
  t.equal(found, 3)
})

t.test('the last failure counts when no owner comes', async t => {
  const work = async () => {
    throw new NotHere('fast')
  }
  await t.rejects(withPatience(project, work, never, 0), new NotHere('fast'))
})

t.test('other failures are not tried again', async t => {
  let tries = 0
  const work = async () => {
    tries += 1
    throw new TypeError('a fault')
  }
  await t.rejects(withPatience(project, work, never), new TypeError('a fault'))
  t.equal(tries, 1)
})

t.test('a machine that does not come back is named', async t => {
  await addStorage('default', null)
  const uid = 'f'.repeat(32)
  await execute(
    `insert into machines (uid, name, boot, version, address, created_at, started_at, lease_until, server_until)
     values (?, 'away', ?, '1', 'http://127.0.0.1:1', now(3), now(3), now(3) + interval 60 second, now(3) + interval 60 second)`,
    [uid, uid]
  )
  await execute('update storages set owner = ?, lease_until = now(3) + interval 60 second', [uid])
  await joinStorages()
  const work = async () => t.fail('there is nothing to work with')
  await t.rejects(
    withPatience(project, work, never, 0),
    new OwnerAway('the machine of the storage default does not answer: start it, and try again')
  )
})

t.test('the next project on a machine that did not come back does not wait again', async t => {
  let tries = 0
  const later = { id: 2, storage: 'default' }
  const away = async () => {
    tries += 1
    throw new OwnerAway('nobody answers')
  }
  await execute('delete from storages')
  await joinStorages()
  await t.rejects(withPatience(later, away, never), OwnerAway)
  t.equal(tries, 1)
  t.equal(await withPatience(later, async () => 'the machine is back', never), 'the machine is back')
  await t.rejects(
    withPatience(
      later,
      async () => {
        tries += 1
        if (tries > 3) throw new TypeError('a fault')
        throw new OwnerAway('nobody answers')
      },
      never
    ),
    TypeError,
    'then it waits again'
  )
})
