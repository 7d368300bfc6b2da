// A clone after a repair does not get the answer that git gave from the damaged pack.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryPath } from '../../src/areas/projects/projects/repositories.js'
import { repackRepository } from '../../src/git/repository/maintenance.js'
import { environment } from '../git/history.js'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

const app = await testApp(t)

t.test('clones work again as soon as the pack is repaired', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'data', randomBytes(30_000).toString('base64'))
  const path = repositoryPath({ id: project.id, storage: 'default' })
  await repackRepository(path)
  await app.fastify.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.fastify.server.address() as AddressInfo
  const url = `http://x:${project.owner.privateToken}@127.0.0.1:${port}/${project.path}.git`
  const folder = t.testdir()
  const clone = (name: string) =>
    promisify(execFile)('git', ['clone', '--quiet', url, name], { cwd: folder, env: environment }).then(
      () => true,
      () => false
    )
  const packs = join(path, 'objects/pack')
  const pack = join(packs, readdirSync(packs).find(name => name.endsWith('.pack')) ?? '')
  const copy = join(folder, 'copy')
  copyFileSync(pack, copy)
  const content = readFileSync(pack)
  const middle = Math.floor(content.length / 2)
  content[middle] = (content[middle] ?? 0) ^ 0xff
  chmodSync(pack, 0o600)
  writeFileSync(pack, content)
  t.notOk(await clone('damaged'))
  renameSync(copy, pack)
  t.ok(await clone('repaired'))
})
