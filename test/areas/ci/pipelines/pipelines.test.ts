// Pipelines that users ask for.
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)

async function subject(ci?: string) {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  await app.make.file(project, ci === undefined ? 'readme' : '.gitstead-ci.yml', ci ?? 'x')
  return { project, owner, create: (ref: string) => owner.post(`/projects/${project.id}/pipeline`, { ref }) }
}

t.test('POST /projects/:id/pipeline creates a pipeline of a branch', async t => {
  const { project, owner, create } = await subject('job: { script: x }\nonly-pushes: { script: x, only: [pushes] }\n')
  const res = await create('master')
  t.equal(res.statusCode, 201)
  t.match(res.json(), {
    ref: 'master',
    tag: false,
    status: 'pending',
    before_sha: '0'.repeat(40),
    yaml_errors: null,
    user: { id: project.owner.id }
  })
  const builds = (await owner.get(`/projects/${project.id}/builds`)).json()
  t.match(builds, [{ name: 'job', pipeline: { id: res.json().id } }], 'and each ask gives a pipeline')
  t.not((await create('master')).json().id, res.json().id)
})

const REFUSALS: { readonly [name: string]: { ci?: string; ref?: string; text: string | RegExp } } = {
  'a branch that does not exist': { ci: 'job: { script: x }\n', ref: 'gone', text: 'Reference not found' },
  'the id of a commit': { ci: 'job: { script: x }\n', ref: 'a'.repeat(40), text: 'Reference not found' },
  'a name that no ref can have': { ci: 'job: { script: x }\n', ref: '--all', text: 'Reference not found' },
  'no CI file': { text: 'Missing .gitstead-ci.yml file' },
  'no build for this source': { ci: 'job: { script: x, only: [pushes] }\n', text: 'No builds for this pipeline.' },
  'a broken CI file': { ci: 'job: { scrip: x }\n', text: /scrip/ }
}
for (const [name, { ci, ref = 'master', text }] of Object.entries(REFUSALS)) {
  t.test(`${name} is refused, and nothing is kept`, async t => {
    const { project, owner, create } = await subject(ci)
    const res = await create(ref)
    t.equal(res.statusCode, 400)
    t.match(res.json(), { message: { base: [text] } })
    t.same((await owner.get(`/projects/${project.id}/pipelines`)).json(), [])
  })
}

t.test('a skip marker does not count for a pipeline that somebody asks for', async t => {
  const { project, owner, create } = await subject('job: { script: x }\n')
  const file = { file_path: 'skipped', branch_name: 'master', content: 'x', commit_message: 'Add a file [ci skip]' }
  t.equal((await owner.post(`/projects/${project.id}/repository/files`, file)).statusCode, 201)
  t.match((await create('master')).json(), { status: 'pending', sha: String })
})

t.test('the parameter is required', async t => {
  const { project, owner } = await subject('job: { script: x }\n')
  const res = await owner.post(`/projects/${project.id}/pipeline`, {})
  t.equal(res.statusCode, 400)
  t.match(res.json(), { error: 'ref is missing' })
})
