// Story: after the disk of a storage was unmounted, its owner served the empty folder below the mount.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { joinMachines } from '../../src/cluster/machines.js'
import { holds, joinStorages, ownStorages } from '../../src/cluster/storages.js'
import { config, loadConfig } from '../../src/config.js'
import { testDatabase } from '../helpers/database.js'
import t from '../helpers/tap.js'
import { until } from '../helpers/until.js'

await testDatabase()

t.test('the owner of a storage gives it up while the disk is not mounted', async t => {
  loadConfig({ cluster: { address: 'http://127.0.0.1:1' } })
  await joinMachines('server')
  await joinStorages()
  await ownStorages()
  t.ok(holds('default'))
  const folder = join(config().home, 'repositories', 'default')
  // As if the disk were gone: the place of the mount stays.
  renameSync(folder, `${folder}.disk`)
  mkdirSync(folder)
  await until('the owner stops using the folder', () => !holds('default'))
  t.same(readdirSync(folder), [], 'nothing is written there')
  rmSync(folder, { recursive: true })
  renameSync(`${folder}.disk`, folder)
  await until('the storage comes back', () => holds('default'))
})
