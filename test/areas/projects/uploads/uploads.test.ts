import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { safeName } from '../../../../src/areas/projects/uploads/uploads.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { formOf } from './form.js'

function draftsIn(folder: string): string[] {
  const path = join(config().home, folder)
  return existsSync(path) ? readdirSync(path).filter(name => name.startsWith('upload-')) : []
}

t.test('POST /projects/:id/uploads', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  const url = `/api/v3/projects/${project.id}/uploads`
  const send = (name: string, content: string | Buffer, field?: string) =>
    app.as(project.owner).inject({ method: 'POST', url, ...formOf(name, content, field) })

  t.test('stores a file, which is served as it was', async t => {
    const res = await send('notes.txt', 'hello')
    t.equal(res.statusCode, 201)
    const { alt, url: path, markdown } = res.json()
    t.match(path, /^\/uploads\/[0-9a-f]{32}\/notes\.txt$/)
    t.same([alt, markdown], ['notes.txt', `[notes.txt](${path})`])
    const file = await app.as(project.owner).inject({ url: `/${project.path}${path}` })
    t.equal(file.body, 'hello')
    t.match(file.headers, {
      'content-type': 'application/octet-stream',
      'content-length': '5',
      'x-content-type-options': 'nosniff',
      'content-disposition': 'attachment; filename=notes.txt',
      'content-security-policy': /sandbox/
    })
  })

  t.test('refuses a name that is not UTF-8', async t => {
    const form = formOf('caf\ufffd.txt', 'x')
    const post = (payload: Buffer) =>
      app.as(project.owner).inject({ method: 'POST', url, headers: form.headers, payload })
    t.equal((await post(form.payload)).statusCode, 201, 'the character that stands for such bytes is a character, too')
    const latin1 = Buffer.from(form.payload.toString().replace('\ufffd', 'é'), 'latin1')
    t.match((await post(latin1)).json(), { message: /not valid UTF-8/ })
  })

  t.test('shows images, but none that can contain a script', async t => {
    const { alt, url: path, markdown } = (await send('a b.PNG', 'png')).json()
    t.same([alt, markdown], ['a_b', `![a\\_b](${path})`])
    const image = await app.as(project.owner).inject({ url: `/${project.path}${path}` })
    t.match(image.headers, { 'content-type': 'image/png', 'content-disposition': /^inline/ })
    for (const name of ['x.svg', 'x.html']) {
      const { url: at } = (await send(name, '<script>')).json()
      const file = await app.as(project.owner).inject({ url: `/${project.path}${at}` })
      t.match(file.headers, {
        'content-type': 'application/octet-stream',
        'content-disposition': /^attachment/
      })
    }
  })

  t.test('refuses a file above the limit of the settings, and keeps nothing of it', async t => {
    const admin = await app.make.admin()
    await app.as(admin).put('/application/settings', { max_attachment_size: 1 })
    const before = draftsIn('tmp').length
    const large = await send('large.bin', Buffer.alloc(1_048_577))
    t.equal(large.statusCode, 413)
    t.match(large.json().message, /a file has at most 1 MB \(max_attachment_size\)/)
    t.equal(draftsIn('tmp').length, before)
    t.equal((await send('fits.bin', Buffer.alloc(1_048_576))).statusCode, 201)
  })

  t.test('refuses more files and more bytes than a project may have together', async t => {
    const { home } = config()
    const configure = (uploads: object) => void loadConfig({ home, uploads })
    t.teardown(() => void loadConfig({ home }))
    const other = await app.make.project()
    const path = `/api/v3/projects/${other.id}/uploads`
    const add = (size: number) =>
      app.as(other.owner).inject({ method: 'POST', url: path, ...formOf('x.bin', Buffer.alloc(size)) })
    configure({ max_files: 10, max_size: 100 })
    t.equal((await add(60)).statusCode, 201)
    const large = await add(41)
    t.equal(large.statusCode, 413)
    t.match(large.json().message, /uploads of a project have at most 100 bytes \(uploads\.max_size\)/)
    t.equal((await add(40)).statusCode, 201, 'what was refused takes no room')
    t.equal((await add(0)).statusCode, 413, 'a full project')
    configure({ max_files: 2, max_size: 1000 })
    t.match((await add(1)).json().message, /at most 2 files \(uploads\.max_files\)/)
    t.equal(readdirSync(join(home, 'uploads', String(other.id))).length, 2)
    configure({ max_files: 3, max_size: 1000 })
    await execute('update project_statistics set uploads_count = 9 where project_id = ?', [other.id])
    t.equal((await add(1)).statusCode, 201, 'a count that is too high is counted again')
    t.same(await rows('select uploads_count, uploads_size from project_statistics where project_id = ?', [other.id]), [
      { uploads_count: 3, uploads_size: 101 }
    ])
    configure({ max_files: 100, max_size: 100_000 })
    const both = await Promise.all([add(1), add(2), add(3)])
    t.same(
      both.map(({ statusCode }) => statusCode),
      [201, 201, 201]
    )
    t.match(await rows('select uploads_count from project_statistics where project_id = ?', [other.id]), [
      { uploads_count: 6 }
    ])
  })

  t.test('asks for a file', async t => {
    for (const form of [formOf('a', 'x', 'other'), { payload: { file: 'x' } }, {}]) {
      const res = await app.as(project.owner).inject({ method: 'POST', url, ...form })
      t.equal(res.statusCode, 400)
      t.match(res.json(), { error: 'file is missing' })
    }
    const broken = { payload: '--edge\r\nno', headers: { 'content-type': 'multipart/form-data; boundary=edge' } }
    t.equal((await app.as(project.owner).inject({ method: 'POST', url, ...broken })).statusCode, 400)
  })

  t.test('a file that is not there, and paths that lead elsewhere', async t => {
    const secret = 'a'.repeat(32)
    for (const path of [`${secret}/none.txt`, `${secret}/..%2f..%2fsecrets.json`, '..%2f/x', 'short/none.txt']) {
      const res = await app.as(project.owner).inject({ url: `/${project.path}/uploads/${path}` })
      t.equal(res.statusCode, 404, path)
    }
  })

  t.test('the files are deleted with the project', async t => {
    const folder = join(config().home, 'uploads', String(project.id))
    t.ok(existsSync(folder))
    await app.as(project.owner).delete(`/projects/${project.id}`)
    await app.runJobs()
    t.notOk(existsSync(folder))
  })
})

t.test('names are made safe', async t => {
  const cases = [
    ['a.txt', 'a.txt'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\dir\\photo.jpg', 'photo.jpg'],
    ['.htaccess', '_.htaccess'],
    ['..', '_'],
    ['a](x) <b>.md', 'a__x___b_.md'],
    ['é.png', '_.png'],
    ['x\r\ny.txt', 'x__y.txt'],
    [`${'n'.repeat(300)}.txt`, `${'n'.repeat(196)}.txt`]
  ] as const
  for (const [given, safe] of cases) t.equal(safeName(given), safe, given)
  t.throws(() => safeName('dir/'), /has no name/)
})
