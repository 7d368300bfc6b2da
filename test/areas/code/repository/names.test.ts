// Names that are not UTF-8: git stores any bytes, and JSON has only characters.
import { execFileSync } from 'node:child_process'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { environment } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)

t.test('files and folders whose names are not UTF-8 are listed and read', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'start', 'start')
  const stream = [
    'commit refs/heads/master\ncommitter Ann <ann@example.org> 1700000000 +0000\ndata 1\nx\nfrom refs/heads/master^0\n',
    'M 100644 inline caf\xe9.txt\ndata 5\nfirst\n',
    'M 100644 inline caf\xe8.txt\ndata 6\nsecond\n',
    'M 100644 inline d\xe9p\xf4t/in.txt\ndata 5\nthird\n'
  ].join('')
  execFileSync('git', ['-C', repositoryPath({ id: project.id, storage: 'default' }), 'fast-import', '--quiet'], {
    env: environment,
    input: Buffer.from(stream, 'latin1')
  })
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}/repository`
  const listed = (await owner.get(`${path}/tree`, { recursive: true })).json() as { type: string; path: string }[]
  const contents: string[][] = []
  for (const { path: file } of listed.filter(({ type }) => type === 'blob')) {
    const read = await owner.get(`${path}/files`, { file_path: file, ref: 'master' })
    const raw = await owner.get(`${path}/blobs/master`, { filepath: file })
    t.equal(raw.statusCode, 200)
    contents.push([file, Buffer.from(read.json().content ?? '', 'base64').toString(), raw.body])
  }
  t.same(contents, [
    ['caf\\350.txt', 'second', 'second'],
    ['caf\\351.txt', 'first', 'first'],
    ['d\\351p\\364t/in.txt', 'third', 'third'],
    ['start', 'start', 'start']
  ])
  const folder = listed.find(({ type }) => type === 'tree')?.path ?? ''
  t.equal((await owner.get(`${path}/tree`, { path: folder })).json().length, 1)
})
