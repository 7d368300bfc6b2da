// The activity feed: its rows for pushes and projects, their size limit, and their removal.

import { moveRefs } from '../../../../src/areas/code/refs/move-refs.js'
import type { PublishedEvent } from '../../../../src/areas/ground/activity/events.js'
import type { FeedEntry } from '../../../../src/areas/ground/activity/feed-entry.js'
import { notifyListeners } from '../../../../src/areas/ground/activity/listeners.js'
import { personalProjects } from '../../../../src/areas/ground/activity/project-snapshots.js'
import { recordEntries } from '../../../../src/areas/ground/activity/record-entries.js'
import { ensureRepository } from '../../../../src/areas/projects/projects/repositories.js'
import { activityFeed } from '../../../../src/areas/reach/events/activity-feed.js'
import { removeProjects } from '../../../../src/areas/upkeep/removal/project-removal.js'
import { deleteUser } from '../../../../src/areas/upkeep/removal/user-deletion.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { refValue, ZERO } from '../../../../src/git/refs/refs.js'
import { git, stream } from '../../../git/history.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, originBy, projectRow, someOrigin, type TestProject } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import t from '../../../helpers/tap.js'

await testDatabase()

interface ActivityRow {
  action: string
  author_id: number
  data: string | null
}
interface PushData {
  object_kind: string
  ref: string
  total_commits_count: number
  commits: { message: string; added: string[]; modified: string[] }[]
}

const feed = ({ id }: { id: number }) =>
  rows<ActivityRow>(
    'select action, author_id, data from activity_events where project_id = ? order by created_at, id',
    [id]
  )
const pushes = async (project: TestProject) =>
  (await feed(project))
    .filter(({ data }) => data !== null)
    .map(({ action, data }) => ({ action, ...(JSON.parse(data ?? '') as PushData) }))
const repositoryOf = ({ id }: TestProject) => ensureRepository({ id, storage: 'default' })
const activeAt = async ({ id }: TestProject) =>
  (await row<{ at: Date }>('select last_activity_at as at from projects where id = ?', [id]))?.at.getTime() ?? 0
const longAgo = ({ id }: TestProject) =>
  execute('update projects set last_activity_at = ? where id = ?', [new Date(0), id])

t.test('the feed shows a new project and the pushes to it', async t => {
  const project = await factory.project()
  const stored = await projectRow(project)
  await factory.file(project, 'one', '1')
  await factory.file(project, 'two', '2')
  const repository = await repositoryOf(project)
  const tip = (await refValue(repository, 'refs/heads/master')) ?? ''
  for (const move of [
    { ref: 'refs/heads/side', old: ZERO, new: tip },
    { ref: 'refs/heads/side', old: tip, new: ZERO },
    { ref: 'refs/tags/v1', old: ZERO, new: tip },
    { ref: 'refs/tags/v1', old: tip, new: ZERO }
  ]) {
    await moveRefs(stored, [move], originBy(project.owner))
  }
  await runJobs()
  t.same(new Set((await feed(project)).map(({ author_id }) => author_id)), new Set([project.owner.id]))
  t.equal((await feed(project))[0]?.action, 'created')
  t.match(await pushes(project), [
    {
      action: 'pushed new',
      object_kind: 'push',
      ref: 'refs/heads/master',
      total_commits_count: 1,
      commits: [{ added: ['one'] }]
    },
    {
      action: 'pushed to',
      ref: 'refs/heads/master',
      total_commits_count: 1,
      commits: [{ message: 'Add two', added: ['two'] }]
    },
    { action: 'pushed new', ref: 'refs/heads/side', total_commits_count: 0, commits: [] },
    { action: 'deleted', ref: 'refs/heads/side', total_commits_count: 0, commits: [] },
    {
      action: 'pushed new',
      object_kind: 'tag_push',
      ref: 'refs/tags/v1',
      total_commits_count: 1,
      commits: [{ added: ['two'] }]
    },
    { action: 'deleted', object_kind: 'tag_push', ref: 'refs/tags/v1', commits: [] }
  ])
})

t.test('a push without a user is not in the feed, but the project counts as active', async t => {
  const project = await factory.project()
  await factory.file(project, 'one', '1')
  await runJobs()
  const before = await feed(project)
  await longAgo(project)
  const repository = await repositoryOf(project)
  const tip = (await refValue(repository, 'refs/heads/master')) ?? ''
  const stored = await projectRow(project)
  await moveRefs(stored, [{ ref: 'refs/heads/side', old: ZERO, new: tip }], { ...someOrigin, asker: null })
  await runJobs()
  t.same(await feed(project), before)
  t.ok(Date.now() - (await activeAt(project)) < 60_000)
})

t.test('the row of the project records activity at most once an hour', async t => {
  const project = await factory.project()
  await runJobs()
  const since = await activeAt(project)
  await factory.file(project, 'one', '1')
  await runJobs()
  t.equal(await activeAt(project), since)
  await longAgo(project)
  await factory.file(project, 'two', '2')
  await runJobs()
  t.ok(Date.now() - (await activeAt(project)) < 60_000)
})

t.test('a large push takes at most 64 KiB', async t => {
  const project = await factory.project()
  await factory.file(project, 'one', '1')
  const repository = await repositoryOf(project)
  const before = (await refValue(repository, 'refs/heads/master')) ?? ''
  const files = Array.from(
    { length: 3000 },
    (_, at) => `M 100644 inline deep/${'folder-'.repeat(10)}/${at}\ndata 1\nx\n`
  )
  const message = 'ä "long" message '.repeat(5000)
  const commits = Array.from(
    { length: 25 },
    (_, at) =>
      `commit refs/internal/large\nmark :${at + 1}\ncommitter A <a@b> ${1_700_000_000 + at} +0000\ndata ${Buffer.byteLength(message)}\n${message}\n${at === 0 ? `from ${before}\n` : ''}${files.join('').replaceAll('deep/', `deep-${at}/`)}`
  )
  git(repository, ['fast-import', '--quiet'], commits.join(''))
  const after = git(repository, ['rev-parse', 'refs/internal/large'])
  const stored = await projectRow(project)
  await moveRefs(stored, [{ ref: 'refs/heads/master', old: before, new: after }], originBy(project.owner))
  await runJobs()
  const [large] = (await feed(project)).slice(-1)
  t.ok((large?.data?.length ?? 0) <= 65_536)
  const shown = (await pushes(project)).at(-1)
  t.match(shown, { total_commits_count: 25, commits: { length: 20 } })
  t.ok(shown?.commits.every(({ added, message: kept }) => added.length === 0 && message.startsWith(kept) && kept))
})

t.test('the whole history of a first push is counted', async t => {
  const project = await factory.project()
  const repository = await repositoryOf(project)
  git(repository, ['fast-import', '--quiet'], stream(300).replaceAll('refs/heads/', 'refs/internal/'))
  const tip = git(repository, ['rev-parse', 'refs/internal/master'])
  const stored = await projectRow(project)
  await moveRefs(stored, [{ ref: 'refs/heads/master', old: ZERO, new: tip }], originBy(project.owner))
  await runJobs()
  const [push] = await pushes(project)
  t.equal(push?.total_commits_count, Number(git(repository, ['rev-list', '--count', tip])))
  t.equal(push?.commits.length, 20)
  t.equal(push?.commits.at(-1)?.message, 'commit 300\n', 'the newest commit comes last')
})

t.test('rows are removed with their project and with their author', async t => {
  const [one, two] = [await factory.project(), await factory.project()]
  const member = await factory.member(two)
  await factory.file({ ...two, owner: member }, 'one', '1')
  await runJobs()
  t.equal((await feed(two)).length, 2)
  await removeProjects(await personalProjects(one.owner.id), someOrigin)
  await deleteUser(member.id, someOrigin)
  await runJobs()
  t.same(await feed(one), [])
  t.match(await feed(two), [{ action: 'created', author_id: two.owner.id }])
})

t.test('an event whose project or author is removed is not written', async t => {
  const project = await factory.project()
  const gone = await factory.user()
  const told = {
    id: 'told',
    at: new Date().toISOString(),
    event: { kind: 'project.created', project: {}, by: gone.id }
  } as unknown as PublishedEvent
  await runJobs()
  await deleteUser(gone.id, someOrigin)
  const entry: FeedEntry = { projectId: project.id, authorId: gone.id, action: 'created' }
  const hear = (written: FeedEntry, id: string) =>
    notifyListeners(
      [
        activityFeed({
          ...recordEntries,
          'project.created': () => written,
          'ref.changed': null,
          'commit.commented': null,
          'note.created': null,
          'note.edited': null,
          'issue.changed': null,
          'merge_request.changed': null
        })
      ],
      { ...told, id }
    )
  await hear(entry, 'no-author')
  await hear({ ...entry, authorId: project.owner.id, projectId: 999_999 }, 'no-project')
  t.same(await rows("select id from activity_events where happening_id in ('no-author', 'no-project')"), [])

  t.test('an entry with a target keeps the target', async t => {
    const target = { type: 'Note', id: 5, title: 'x'.repeat(300) }
    await hear({ ...entry, authorId: project.owner.id, target, noteId: 5 }, 'target')
    t.match(await rows("select * from activity_events where happening_id = 'target'"), [
      { target_type: 'Note', target_id: 5, target_title: 'x'.repeat(255), note_id: 5, created_at: new Date(told.at) }
    ])
  })
})
