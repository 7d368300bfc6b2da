// A page shows exactly what the API shows to the same person. Each page has a twin here: the request of the API that reads the same
// record. Where the API answers 200, the page exists; everywhere else it is the page of a path that does not exist.

import { beginSession, byPassword } from '../../../src/areas/people/credentials/credentials.js'
import { row } from '../../../src/db/connect/sql.js'
import type { ProjectKind } from '../../access/expectations.js'
import { makeWorld } from '../../access/world.js'
import { endBuild, makePipeline } from '../../areas/ci/builds/make-builds.js'
import { testApp } from '../../helpers/app.js'
import { factory, type TestProject } from '../../helpers/factory.js'
import { pagesOf } from '../../helpers/route-configs.js'
import t from '../../helpers/tap.js'
import { zipOf } from './ci/archives.js'

/** The records of each project. */
interface Made {
  readonly sha: string
  readonly issue: number
  readonly note: number
  /** On the commit. */
  readonly comment: number
  readonly label: number
  readonly mergeRequest: number
  readonly mergeRequestNote: number
  readonly milestone: number
  readonly snippet: number
  readonly pipeline: number
  readonly build: number
  readonly board: number
  readonly environment: number
  readonly hook: number
  readonly mirror: number
}

/** The request of the API whose status decides: below the project when it begins with a slash. */
type Twin = (made: Made) => {
  readonly page: string
  readonly api: string
  /** The page is a form, which fewer people may open than may read the record. */
  readonly form?: true
}

const TREE = '/repository/tree'
const COMMIT = '/repository/commits/master'
const COMPARE = '/repository/compare?from=master&to=topic'

const ofMergeRequest = ({ mergeRequest }: Made, rest: string) => ({
  page: `/merge_requests/1${rest}`,
  api: `/merge_requests/${mergeRequest}`
})

const app = await testApp(t)

/** By the path of the page after `/:namespace/:project`. */
const TWINS: { readonly [route: string]: Twin } = {
  '/tree/*': () => ({ page: '/tree/master', api: TREE }),
  '/blob/*': () => ({ page: '/blob/master/README', api: TREE }),
  '/raw/*': () => ({ page: '/raw/master/README', api: TREE }),
  '/blame/*': () => ({ page: '/blame/master/README', api: COMMIT }),
  '/commits': () => ({ page: '/commits', api: COMMIT }),
  '/commits/*': () => ({ page: '/commits/master', api: COMMIT }),
  '/commit/:sha': ({ sha }) => ({ page: `/commit/${sha}`, api: COMMIT }),
  '/compare': () => ({ page: '/compare', api: COMPARE }),
  '/compare/*': () => ({ page: '/compare/master...topic', api: COMPARE }),
  '/branches': () => ({ page: '/branches', api: '/repository/branches' }),
  '/tags': () => ({ page: '/tags', api: '/repository/tags' }),
  '/tags/*': () => ({ page: '/tags/v1', api: '/repository/tags/v1' }),
  '/releases/*': () => ({ page: '/releases/v1', api: '/repository/tags/v1' }),
  '/edit/*': () => ({ page: '/edit/master/README', api: TREE, form: true }),
  '/new/*': () => ({ page: '/new/master', api: TREE, form: true }),
  '/delete/*': () => ({ page: '/delete/master/README', api: TREE, form: true }),
  '/switch': () => ({ page: '/switch?ref=topic&path=none', api: TREE }),
  '/search': () => ({ page: '/search?q=read', api: TREE }),
  '/notes/:kind/:target/:note': ({ issue, note }) => ({
    page: `/notes/issues/${issue}/${note}`,
    api: `/issues/${issue}/notes/${note}`
  }),
  '/notes/:kind/:target/:note/whole': ({ issue, note }) => ({
    page: `/notes/issues/${issue}/${note}/whole`,
    api: `/issues/${issue}/notes/${note}`
  }),
  '/commit/:sha/notes/:note/whole': ({ sha, comment }) => ({
    page: `/commit/${sha}/notes/${comment}/whole`,
    api: COMMIT
  }),
  '/notes/:kind/:target/:note/edit': ({ issue, note }) => ({
    page: `/notes/issues/${issue}/${note}/edit`,
    api: `/issues/${issue}/notes/${note}`,
    form: true
  }),
  '/notes/:kind/:target/:note/awards': ({ issue, note }) => ({
    page: `/notes/issues/${issue}/${note}/awards`,
    api: `/issues/${issue}/notes/${note}`
  }),
  '/uploads/new': () => ({ page: '/uploads/new', api: '/labels' }),
  '/issues': () => ({ page: '/issues', api: '/issues' }),
  '/issues/new': () => ({ page: '/issues/new', api: '/issues' }),
  '/issues/:iid/edit': ({ issue }) => ({ page: '/issues/1/edit', api: `/issues/${issue}`, form: true }),
  '/labels': () => ({ page: '/labels', api: '/labels' }),
  '/labels/:label/edit': ({ label }) => ({ page: `/labels/${label}/edit`, api: '/labels', form: true }),
  '/milestones': () => ({ page: '/milestones', api: '/milestones' }),
  '/milestones/new': () => ({ page: '/milestones/new', api: '/milestones', form: true }),
  '/milestones/:iid': ({ milestone }) => ({ page: '/milestones/1', api: `/milestones/${milestone}` }),
  '/milestones/:iid/edit': ({ milestone }) => ({
    page: '/milestones/1/edit',
    api: `/milestones/${milestone}`,
    form: true
  }),
  '/boards': () => ({ page: '/boards', api: '/boards' }),
  '/boards/:board': ({ board }) => ({ page: `/boards/${board}`, api: `/boards/${board}/lists` }),
  '/issues/:iid': ({ issue }) => ({ page: '/issues/1', api: `/issues/${issue}` }),
  '/notification_setting': () => ({ page: '/notification_setting', api: '/notification_settings' }),
  '/pipelines': () => ({ page: '/pipelines', api: '/pipelines' }),
  '/pipelines/new': () => ({ page: '/pipelines/new', api: '/pipelines', form: true }),
  '/pipelines/:pipeline_id': ({ pipeline }) => ({ page: `/pipelines/${pipeline}`, api: `/pipelines/${pipeline}` }),
  '/builds': () => ({ page: '/builds', api: '/builds' }),
  '/builds/:build_id': ({ build }) => ({ page: `/builds/${build}`, api: `/builds/${build}` }),
  '/builds/:build_id/trace': ({ build }) => ({
    page: `/builds/${build}/trace?attempt=1&offset=0`,
    api: `/builds/${build}/trace`
  }),
  '/builds/:build_id/raw': ({ build }) => ({ page: `/builds/${build}/raw`, api: `/builds/${build}/trace` }),
  '/builds/:build_id/artifacts/download': ({ build }) => ({
    page: `/builds/${build}/artifacts/download`,
    api: `/builds/${build}/artifacts`
  }),
  '/builds/:build_id/artifacts/browse': ({ build }) => ({
    page: `/builds/${build}/artifacts/browse`,
    api: `/builds/${build}/artifacts`
  }),
  '/builds/:build_id/artifacts/browse/*': ({ build }) => ({
    page: `/builds/${build}/artifacts/browse/out/`,
    api: `/builds/${build}/artifacts`
  }),
  '/builds/:build_id/artifacts/file/*': ({ build }) => ({
    page: `/builds/${build}/artifacts/file/out/a`,
    api: `/builds/${build}/artifacts`
  }),
  '/environments': () => ({ page: '/environments', api: '/environments' }),
  '/environments/:environment_id': ({ environment }) => ({
    page: `/environments/${environment}`,
    api: '/deployments'
  }),
  '/merge_requests': () => ({ page: '/merge_requests', api: '/merge_requests' }),
  '': () => ({ page: '', api: '' }),
  '/activity': () => ({ page: '/activity', api: '/events' }),
  '/activity.atom': () => ({ page: '/activity.atom', api: '/events' }),
  '/settings': () => ({ page: '/settings', api: '', form: true }),
  '/settings/branches': () => ({ page: '/settings/branches', api: '/repository/branches', form: true }),
  '/settings/deploy_keys': () => ({ page: '/settings/deploy_keys', api: '/deploy_keys' }),
  '/settings/hooks': () => ({ page: '/settings/hooks', api: '/hooks' }),
  '/settings/hooks/:hook_id': ({ hook }) => ({ page: `/settings/hooks/${hook}`, api: `/hooks/${hook}` }),
  '/settings/mirrors': () => ({ page: '/settings/mirrors', api: '/remote_mirrors' }),
  '/settings/mirrors/:mirror_id': ({ mirror }) => ({
    page: `/settings/mirrors/${mirror}`,
    api: `/remote_mirrors/${mirror}`
  }),
  '/settings/services': () => ({ page: '/settings/services', api: '/services/emails-on-push' }),
  '/settings/services/:slug': () => ({ page: '/settings/services/builds-email', api: '/services/builds-email' }),
  '/settings/variables': () => ({ page: '/settings/variables', api: '/variables' }),
  '/settings/variables/:key': () => ({ page: '/settings/variables/KEY', api: '/variables/KEY' }),
  '/settings/runners': () => ({ page: '/settings/runners', api: '/runners' }),
  '/settings/triggers': () => ({ page: '/settings/triggers', api: '/triggers' }),
  '/project_members': () => ({ page: '/project_members', api: '/members' }),
  '/forks/new': () => ({ page: '/forks/new', api: '', form: true }),
  '/snippets': () => ({ page: '/snippets', api: '/snippets' }),
  '/snippets/new': () => ({ page: '/snippets/new', api: '/snippets', form: true }),
  '/snippets/:snippet_id': ({ snippet }) => ({ page: `/snippets/${snippet}`, api: `/snippets/${snippet}` }),
  '/snippets/:snippet_id/raw': ({ snippet }) => ({ page: `/snippets/${snippet}/raw`, api: `/snippets/${snippet}/raw` }),
  '/snippets/:snippet_id/edit': ({ snippet }) => ({
    page: `/snippets/${snippet}/edit`,
    api: `/snippets/${snippet}`,
    form: true
  }),
  '/merge_requests/new': () => ({ page: '/merge_requests/new', api: '/merge_requests', form: true }),
  '/merge_requests/:iid': made => ofMergeRequest(made, ''),
  '/merge_requests/:iid/commits': made => ofMergeRequest(made, '/commits'),
  '/merge_requests/:iid/diffs': made => ofMergeRequest(made, '/diffs'),
  '/merge_requests/:iid/diffs/notes/:note': ({ mergeRequest, mergeRequestNote: note }) => ({
    page: `/merge_requests/1/diffs/notes/${note}`,
    api: `/merge_requests/${mergeRequest}/notes/${note}`
  }),
  '/merge_requests/:iid/changes': made => ofMergeRequest(made, '/changes'),
  '/merge_requests/:iid/pipelines': made => ofMergeRequest(made, '/pipelines'),
  '/merge_requests/:iid/edit': made => ({ ...ofMergeRequest(made, '/edit'), form: true })
}

const KINDS: readonly ProjectKind[] = ['private', 'internal', 'public', 'closedBuilds', 'withoutBuilds', 'grouped']
const ACTORS = ['nobody', 'stranger', 'external', 'guest', 'reporter', 'owner', 'admin', 'expired'] as const

const PLACE = '/:namespace/:project'
const CI = 'build:\n  script: [make]\n  environment: {name: review}\n'

async function fill(project: TestProject): Promise<Made> {
  const api = app.as(project.owner)
  const post = async (path: string, body: object) => (await api.post(`/projects/${project.id}${path}`, body)).json()
  await factory.file(project, 'README', 'read me\n')
  const builds = await makePipeline(project, CI)
  if (builds[0]) await endBuild(builds[0], { trace: 'made', artifacts: await zipOf({ 'out/a': 'a' }) })
  await factory.branch(project, 'topic')
  await factory.file(project, 'more', 'more\n', 'topic')
  await post('/repository/tags', { tag_name: 'v1', ref: 'master', release_description: 'First' })
  const milestone = await post('/milestones', { title: 'm1' })
  const issue = await post('/issues', { title: 'First' })
  const note = await post(`/issues/${issue.id}/notes`, { body: 'A note' })
  const label = await post('/labels', { name: 'bug', color: '#ff0000' })
  const mergeRequest = await post('/merge_requests', { source_branch: 'topic', target_branch: 'master', title: 'More' })
  const mergeRequestNote = await post(`/merge_requests/${mergeRequest.id}/notes`, { body: 'A note' })
  await api.put(`/projects/${project.id}`, { snippets_enabled: true })
  const snippet = await post('/snippets', { title: 's', file_name: 's.txt', code: 'code', visibility_level: 20 })
  const environment = await post('/environments', { name: 'staging' })
  const hook = await post('/hooks', { url: 'https://ci.example.org/' })
  const mirror = await post('/remote_mirrors', { url: 'https://git.example.org/a.git', enabled: false })
  await post('/variables', { key: 'KEY', value: 'secret value' })
  await post('/triggers', {})
  const [board] = (await api.get(`/projects/${project.id}/boards`)).json()
  const commit = (await api.get(`/projects/${project.id}/repository/commits/master`)).json()
  await post(`/repository/commits/${commit.id}/comments`, { note: 'A comment' })
  const comment = await row<{ id: number }>(
    "select max(id) as id from notes where project_id = ? and noteable_type = 'Commit'",
    [project.id]
  )
  return {
    sha: commit.id,
    issue: issue.id,
    note: note.id,
    comment: comment?.id ?? 0,
    label: label.id,
    mergeRequest: mergeRequest.id,
    mergeRequestNote: mergeRequestNote.id,
    milestone: milestone.id,
    snippet: snippet.id,
    pipeline: builds[0]?.pipelineId ?? 0,
    build: builds[0]?.id ?? 0,
    board: board.id,
    environment: environment.id,
    hook: hook.id,
    mirror: mirror.id
  }
}

const records = new Map<number, Made>()
const world = await makeWorld(async project => void records.set(project.id, await fill(project)))

/** The session cookies of the actors; nobody has none. */
const cookies = new Map<string, string>()
for (const actor of ACTORS) {
  const user = world.users[actor]
  if (!user) continue
  const { cookie } = await beginSession(byPassword(user), { address: '127.0.0.1', userAgent: 'test' })
  cookies.set(actor, `_service_session=${cookie}`)
}

const ask = async (method: 'GET' | 'POST', url: string, actor: string, headers: Record<string, string> = {}) => {
  const cookie = cookies.get(actor)
  const all = { accept: 'text/html', ...(cookie && { cookie }), ...headers }
  const body =
    method === 'POST'
      ? { payload: 'title=forged', headers: { ...all, 'content-type': 'application/x-www-form-urlencoded' } }
      : { headers: all }
  return app.fastify.inject({ method, url, ...body })
}

t.test('every page of a project has a twin', async t => {
  const known = pagesOf(app.fastify, 'GET').filter(path => path.startsWith(PLACE))
  t.same(
    known.map(path => path.slice(PLACE.length)).filter(path => !(path in TWINS)),
    [],
    'add a line to TWINS'
  )
  t.same(
    Object.keys(TWINS).filter(path => !known.includes(PLACE + path)),
    [],
    'each line has a page'
  )
})

for (const [route, twin] of Object.entries(TWINS)) {
  t.test(`${route} is there for those whom the API answers`, async t => {
    for (const kind of KINDS) {
      const project = world.projects[kind]
      const made = records.get(project.id)
      if (!made) throw new Error(`the project ${kind} has no records`)
      const { page, api, form } = twin(made)
      const found: Record<string, number> = {}
      const expected: Record<string, number> = {}
      for (const actor of ACTORS) {
        const asker = world.users[actor] ? app.as(world.users[actor]) : app.nobody
        const { statusCode } = await asker.get(`/projects/${project.id}${api}`)
        const shown = (await ask('GET', `/${project.path}${page}`, actor)).statusCode
        expected[actor] = statusCode === 200 && !(form && shown === 404) ? 200 : 404
        // A page may lead to another one.
        found[actor] = shown === 302 ? 200 : shown
      }
      t.same(found, expected, `${kind}: ${page} as ${api}`)
    }
  })
}

t.test('a form without the token of its page changes nothing', async t => {
  for (const path of pagesOf(app.fastify, 'POST')) {
    const project = world.projects.public
    const url = path.replace(':namespace/:project', project.path).replace(/\/:\w+|\/\*/g, '/1')
    const statuses = [
      (await ask('POST', url, 'owner')).statusCode,
      (await ask('POST', url, 'owner', { origin: 'https://evil.example' })).statusCode,
      (await ask('POST', url, 'owner', { 'sec-fetch-site': 'cross-site' })).statusCode,
      (await ask('POST', url, 'nobody')).statusCode
    ]
    t.ok(
      statuses.every(status => [400, 401, 403, 404, 409].includes(status)),
      `${path}: ${statuses.join()}`
    )
  }
})
