// Comments on lines of the changes of a merge request come from another Gitstead with their lines; GitLab 8 does not show these.
import t from 'tap'
import { gitlab3 } from '../../../../src/areas/migrate/gitlab/v3/reader.js'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { createLineNote } from '../../../../src/areas/planning/discussion/line-notes.js'
import { config, loadConfig } from '../../../../src/config.js'
import { testApp } from '../../../helpers/app.js'
import { actorOf, originBy, projectRow, someOrigin } from '../../../helpers/factory.js'
import { listen } from '../../../server/lfs/client.js'
import { makeBranch, makeMergeRequest, makeProject } from '../../planning/merge-requests/make-merge-requests.js'
import { openSource, readRecords, startForge } from '../forge.js'

const app = await testApp(t)
const { home } = config()
loadConfig({ home, hooks: { allow: ['127.0.0.1'] } })
t.teardown(() => void loadConfig({ home }))
const url = await listen(app)

t.test('comments on lines come with their lines', async t => {
  const source = await makeProject()
  await makeBranch(source, 'topic', 'one\ntwo\n')
  const found = await makeMergeRequest(source, { source_branch: 'topic' })
  const owner = app.as(source.owner)
  await createLineNote(
    await projectRow(source),
    found,
    { body: 'Why?', head: found.head_sha ?? '', path: 'topic.txt', line: 2, side: 'new' },
    { actor: actorOf(source.owner), origin: originBy(source.owner) }
  )
  await owner.post(`/projects/${source.id}/merge_requests/${found.id}/notes`, { body: 'All of it' })
  const notesOf = async (path: string) => {
    const at = `/projects/${encodeURIComponent(path)}/merge_requests`
    const [mergeRequest] = (await owner.get(at)).json()
    return (await owner.get(`${at}/${mergeRequest.id}/notes`)).json()
  }
  const there = await notesOf(source.path)
  t.match(there, [
    { body: 'Why?', position: { new_path: 'topic.txt', new_line: 2, old_line: null } },
    { body: 'All of it', position: undefined }
  ])
  const place = await app.make.group({ owner: source.owner })
  const [namespace = '', name] = source.path.split('/')
  const settings = { kind: 'gitlab3', url, map: { [namespace]: place.path }, people: {}, rate: 1000, keys: false }
  await addMigration('lines', (await app.make.admin()).privateToken, settings, someOrigin)
  const { projects } = await runMigration(
    await findMigration('lines'),
    { projects: [source.path], overwrite: false },
    { origin: someOrigin, signal: new AbortController().signal }
  )
  t.match(projects, [{ result: 'created' }])
  t.notMatch(JSON.stringify(projects), /comments on changes/)
  t.match(
    await notesOf(`${place.path}/${name}`),
    there.map(({ body, position }: { body: string; position: object }) => ({ body, position }))
  )
})

t.test('the report names the lines that GitLab 8 does not show', async t => {
  const at = '2016-11-01T10:00:00.000Z'
  const project = {
    ...{
      id: 7,
      path_with_namespace: 'crew/tool',
      http_url_to_repo: 'https://git.example.org/crew/tool.git',
      name: 'tool'
    },
    ...{ visibility_level: 0, created_at: at }
  }
  const mergeRequest = {
    ...{ id: 70, iid: 1, title: 'Topic', state: 'opened', labels: [], created_at: at },
    ...{ source_branch: 'topic', target_branch: 'master', source_project_id: 7, author: { username: 'ada' } }
  }
  const answers: { [path: string]: unknown } = {
    version: { version: '8.17.4', revision: '1a2b3c4' },
    'projects/crew%2Ftool': project,
    'projects/7/merge_requests': [mergeRequest],
    'projects/7/merge_requests/70/notes': [{ id: 1, body: 'Why?', created_at: at, author: { username: 'ada' } }]
  }
  const forge = await startForge(t, answers, {
    paging: ({ total }) => ({ 'x-total': String(total) }),
    size: { name: 'per_page', most: 100 },
    api: '/api/v3'
  })
  const reportOf = async () => {
    const { source } = openSource(t, gitlab3, forge.url)
    return Object.keys((await readRecords(source, await source.project('crew/tool'))).skipped)
  }
  const line = 'lines of comments on changes: GitLab 8 does not show which comments on merge requests have one'
  t.ok((await reportOf()).includes(line))
  answers.version = { version: '0.1.0', revision: 'unknown' }
  t.notOk((await reportOf()).includes(line))
})
