// The raw routes give the content of a file in LFS when they are asked for it.
import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { storeObject } from '../../../../src/areas/projects/lfs/objects.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)

t.test('lfs=true gives the object, and only to those who have it', async t => {
  const project = await app.make.project()
  const bytes = randomBytes(5000)
  const oid = createHash('sha256').update(bytes).digest('hex')
  const key = { oid, size: bytes.length }
  await storeObject(project.id, key, () => Readable.from([bytes]))
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${bytes.length}\n`
  await app.make.file(project, 'dir/large.bin', pointer)
  await app.make.file(project, 'other.bin', pointer.replace(oid, 'f'.repeat(64)))
  await app.make.file(project, 'plain.txt', 'plain')
  const repository = `/projects/${project.id}/repository`
  const as = app.as(project.owner)
  const entry = (await as.get(`${repository}/tree?path=dir`)).json()[0]
  const paths = [
    `${repository}/blobs/master?filepath=dir/large.bin`,
    `${repository}/commits/master/blob?filepath=dir/large.bin`,
    `${repository}/raw_blobs/${entry.id}?`
  ]
  for (const path of paths) {
    const found = await as.get(`${path}&lfs=true`)
    t.same(found.rawPayload, bytes, path)
    t.match(found.headers, {
      'content-length': '5000',
      'content-type': /^text\/plain/,
      'content-security-policy': /sandbox/,
      'content-disposition': /^attachment/
    })
    const head = await as.inject({ method: 'HEAD', url: `/api/v3${path}&lfs=true` })
    t.match([head.statusCode, head.headers['content-length'], head.body], [200, '5000', ''])
    t.equal((await as.get(path)).body, pointer, 'without it, the pointer')
    const known = await as.inject({
      url: `/api/v3${path}&lfs=true`,
      headers: { 'if-none-match': `${found.headers.etag}` }
    })
    t.equal(known.statusCode, 304)
  }
  const other = await as.get(`${repository}/blobs/master?filepath=other.bin&lfs=true`)
  t.match(other.body, 'f'.repeat(64), 'the project does not have this object')
  t.equal((await as.get(`${repository}/blobs/master?filepath=plain.txt&lfs=true`)).body, 'plain')
  t.equal((await as.get(`${paths[0]}&lfs=maybe`)).statusCode, 400)
  t.equal((await app.as(await app.make.user()).get(`${paths[0]}&lfs=true`)).statusCode, 404)
  await execute('update projects set lfs_enabled = 0 where id = ?', [project.id])
  t.equal((await as.get(`${paths[0]}&lfs=true`)).body, pointer, 'LFS is off')
})
