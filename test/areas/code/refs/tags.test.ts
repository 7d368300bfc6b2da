import { execFileSync } from 'node:child_process'
import { LONGEST_NOTES } from '../../../../src/areas/code/refs/tags/tags.schema.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { rows } from '../../../../src/db/connect/sql.js'
import { refValue } from '../../../../src/git/refs/refs.js'
import { environment } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import type { TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const below = ({ id }: TestProject, name = '', more = '') =>
  `/projects/${id}/repository/tags${name && `/${encodeURIComponent(name)}`}${more}`
const repositoryOf = ({ id }: TestProject) => repositoryPath({ id, storage: 'default' })
const git = (project: TestProject, ...args: string[]) =>
  execFileSync('git', ['-C', repositoryOf(project), ...args], { env: environment, encoding: 'utf8' }).trim()
const writeTag = (project: TestProject, input: string) =>
  execFileSync('git', ['-C', repositoryOf(project), 'hash-object', '-t', 'tag', '-w', '--stdin'], {
    input,
    encoding: 'utf8'
  }).trim()
const releases = ({ id }: TestProject) =>
  rows<{ tag: string; description: string }>('select tag, description from releases where project_id = ?', [id])

async function filled(): Promise<TestProject> {
  const project = await app.make.project({ visibility_level: 20 })
  await app.make.file(project, 'README', 'one\n')
  return project
}

t.test('POST tags', async t => {
  const project = await filled()
  const tip = (await refValue(repositoryOf(project), 'refs/heads/master')) ?? ''
  const create = (body: object) => app.as(project.owner).post(below(project), body)

  t.test('makes a light tag', async t => {
    const res = await create({ tag_name: 'v1', ref: 'master' })
    t.equal(res.statusCode, 201)
    t.match(res.json(), { name: 'v1', message: null, release: null, commit: { id: tip, parent_ids: [] } })
    t.equal(git(project, 'cat-file', '-t', 'v1'), 'commit')
  })

  t.test('makes an annotated tag with release notes', async t => {
    const body = { tag_name: 'rel/v2.0', ref: tip.slice(0, 8), message: 'The second', release_description: '# New' }
    const res = await create(body)
    t.equal(res.statusCode, 201)
    t.match(res.json(), {
      name: 'rel/v2.0',
      message: 'The second',
      commit: { id: tip },
      release: { tag_name: 'rel/v2.0', description: '# New' }
    })
    const raw = git(project, 'cat-file', 'tag', 'rel/v2.0')
    t.match(raw, new RegExp(`^object ${tip}\ntype commit\ntag rel/v2.0\ntagger ${project.owner.name} <`))
    t.equal(git(project, 'fsck', '--strict'), '')
  })

  t.test('answers 405 with the reason', async t => {
    for (const [tag_name, ref, message] of [
      ['v1', 'master', 'Tag v1 already exists'],
      ['v3', 'nowhere', 'Target nowhere is invalid'],
      ['v3', '--help', 'Target --help is invalid'],
      ['-d', 'master', 'Tag name invalid'],
      ['HEAD', 'master', 'Tag name invalid'],
      [tip, 'master', 'Tag name invalid'],
      ['a..b', 'master', 'Tag name invalid'],
      ['', 'master', 'Tag name invalid'],
      ['v1/x', 'master', 'Tag name invalid: it conflicts with the name of another tag']
    ] as const) {
      const res = await create({ tag_name, ref })
      t.same([res.statusCode, res.json()], [405, { message }], tag_name)
    }
    const missing = await create({ ref: 'master' })
    t.same([missing.statusCode, missing.json().error], [400, 'tag_name is missing'])
  })
})

t.test('a chain of tags is followed for a while only', async t => {
  const project = await filled()
  let id = git(project, 'rev-parse', 'master')
  for (let depth = 1; depth <= 101; depth++) {
    const type = depth === 1 ? 'commit' : 'tag'
    const tag = `object ${id}\ntype ${type}\ntag deep\ntagger A <a@example.com> 1 +0000\n\nlevel ${depth}\n`
    id = writeTag(project, tag)
    if (depth >= 100) git(project, 'update-ref', `refs/tags/deep-${depth}`, id)
  }
  const res = await app.as(project.owner).get(below(project))
  t.match(res.json(), [
    { name: 'deep-101', message: null, commit: null },
    { name: 'deep-100', message: 'level 100', commit: { id: git(project, 'rev-parse', 'master') } }
  ])
})

t.test('GET tags', async t => {
  const project = await filled()
  for (const name of ['a', 'b/c']) await app.as(project.owner).post(below(project), { tag_name: name, ref: 'master' })
  git(project, 'tag', '-a', '-m', 'of a tag\n\nwith more', 'nested', 'a')
  git(project, 'tag', '-a', '-m', 'again', 'z-nested', 'nested')
  git(project, 'tag', 'blob', git(project, 'rev-parse', 'master:README'))
  git(project, 'tag', '-a', '-m', 'of a file', 'file', git(project, 'rev-parse', 'master:README'))
  const res = await app.nobody.get(below(project))

  t.test('lists them in reverse order, without credentials', async t => {
    t.equal(res.statusCode, 200)
    const brief = res
      .json()
      .map(({ name, message, commit }: Record<string, { id: string } | string | null>) => [
        name,
        message,
        commit === null
      ])
    t.same(brief, [
      ['z-nested', 'again', false],
      ['nested', 'of a tag\n\nwith more', false],
      ['file', 'of a file', true],
      ['blob', null, true],
      ['b/c', null, false],
      ['a', null, false]
    ])
    t.notOk(res.headers['x-total'], 'no pages')
  })

  t.test('answers 304 until a tag or a release changes', async t => {
    const asker = app.as(project.owner, { 'if-none-match': String(res.headers.etag) })
    t.equal((await asker.get(below(project))).statusCode, 304)
    await app.as(project.owner).post(below(project, 'a', '/release'), { description: 'notes' })
    const after = await asker.get(below(project))
    t.match(after.json().at(-1), { name: 'a', release: { tag_name: 'a', description: 'notes' } })
  })

  t.test('gives one tag', async t => {
    t.match((await app.nobody.get(below(project, 'b/c'))).json(), { name: 'b/c', message: null })
    t.match((await app.nobody.get(`${below(project)}/b/c`)).json(), { name: 'b/c' })
    for (const tag of (await app.nobody.get(below(project))).json()) {
      t.same((await app.nobody.get(below(project, tag.name))).json(), tag, 'as in the list')
    }
    for (const name of ['nothing', '-x', 'master', 'refs/tags/a']) {
      const missing = await app.nobody.get(below(project, name))
      t.same([missing.statusCode, missing.json()], [404, { message: '404 Tag Not Found' }], name)
    }
  })
})

t.test('releases', async t => {
  const project = await filled()
  await app.as(project.owner).post(below(project), { tag_name: 'v1/x', ref: 'master' })
  const post = (name: string, description = 'one') =>
    app.as(project.owner).post(below(project, name, '/release'), { description })
  const put = (name: string, description = 'two') =>
    app.as(project.owner).put(below(project, name, '/release'), { description })

  t.test('are written once, and changed after that', async t => {
    t.same((await put('v1/x')).json(), { message: 'Release does not exist' })
    const made = await post('v1/x')
    t.same([made.statusCode, made.json()], [201, { tag_name: 'v1/x', description: 'one' }])
    const again = await post('v1/x')
    t.same([again.statusCode, again.json()], [409, { message: 'Release already exists' }])
    const changed = await put('v1/x')
    t.same([changed.statusCode, changed.json()], [200, { tag_name: 'v1/x', description: 'two' }])
    t.equal((await put('v1/x')).statusCode, 200, 'the same again')
  })

  t.test('need a tag and a text of a limited length', async t => {
    for (const res of [await post('v9'), await put('v9')]) {
      t.same([res.statusCode, res.json()], [404, { message: 'Tag does not exist' }])
    }
    t.equal((await post('v1/x', 'x'.repeat(LONGEST_NOTES + 1))).statusCode, 400)
    t.equal((await post('v1/x', '')).statusCode, 400)
  })

  t.test('are deleted with their tag, and do not come back with the next one', async t => {
    const gone = await app.as(project.owner).delete(below(project, 'v1/x'))
    t.same([gone.statusCode, gone.json()], [200, { tag_name: 'v1/x' }])
    t.same(await releases(project), [])
    const res = await app.as(project.owner).post(below(project), { tag_name: 'v1/x', ref: 'master' })
    t.equal(res.json().release, null)
    await post('v1/x')
    git(project, 'tag', '--delete', 'v1/x')
    const again = { tag_name: 'v1/x', ref: 'master', release_description: 'new' }
    t.match((await app.as(project.owner).post(below(project), again)).json(), { release: { description: 'new' } })
    const missing = await app.as(project.owner).delete(below(project, 'v7'))
    t.same([missing.statusCode, missing.json()], [404, { message: 'No such tag' }])
  })
})
