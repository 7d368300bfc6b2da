// Searches of issues and merge requests find old records, and words of descriptions.
import { findIssuesByText } from '../../../../src/areas/planning/issues/issue-search.queries.js'
import { findMergeRequestsByText } from '../../../../src/areas/planning/merge-requests/merge-request-search.queries.js'
import { wordsOf } from '../../../../src/areas/planning/participation/search-words.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { actorOf, someOrigin, type TestUser } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { makeIssue } from '../discussion/make-discussion.js'
import { makeMergeRequest, makeProject } from '../merge-requests/make-merge-requests.js'

const app = await testApp(t)
const project = await makeProject()
const { owner } = project
const api = app.as(owner)
const title = 'Die Türglocke läutet'
const description = 'The `doorbell` rings after midnight, see E1234_overflow.'
const old = await makeIssue(project, owner, { title, description })
const other = await makeIssue(project, owner, { title: 'Doorbell', description: 'only in the morning' })
const mergeRequest = await makeMergeRequest(project, { title: 'Mute it', description: 'Silences the doorbell.' })

// These push the first issues out of the newest ones, whose titles are read.
await execute(
  `insert into issues (project_id, iid, title, author_id, created_at, updated_at)
   with recursive n (i) as (select 0 union all select i + 1 from n where i < 141)
   select ?, 1000 + a.i * 142 + b.i, 'filler', ?, now(3), now(3) from n a join n b`,
  [project.id, owner.id]
)
// The task would need a while for them.
for (const word of ['', 'filler']) {
  await execute("insert into issue_words (word, issue_id) select ?, id from issues where title = 'filler'", [word])
}

const index = (dryRun = false) => runTask('search_words', { dryRun }, someOrigin)
const issues = async (text: string, user: TestUser = owner) =>
  (await findIssuesByText(text, 50, actorOf(user))).map(({ id }) => id)

t.test('words have neither case nor accents', async t => {
  const texts = (text: string) => wordsOf(text).map(word => word.toString())
  t.same(texts('Die TÜR-Glocke, e\u0301te\u0301 `snake_case` 42 404 the the'), [
    ...['die', 'tur', 'glocke', 'ete', 'snake', 'case', '404', 'the']
  ])
  t.same(texts('a bc \u0000 ;--'), [])
  t.equal(wordsOf('x'.repeat(1000))[0]?.length, 64)
  const many = Array.from({ length: 1000 }, (_, at) => `word${at}`).join(' ')
  t.equal(wordsOf(many).length, 300)
})

t.test('an old record is found by all its words, once the task has run', async t => {
  t.same(await issues('doorbell'), [], 'before')
  t.match(await index(true), { count: 3 }, 'a dry run counts')
  t.same(await issues('doorbell'), [])
  t.match(await index(), { count: 3 })
  t.match(await index(), { count: 0 }, 'nothing is left to do')
  t.same(await issues('doorbell'), [other, old], 'newest first')
  for (const text of [
    'midnight',
    'TURGLOCKE',
    'türgl',
    'lautet doorb',
    'overflow',
    'e1234',
    'filler midnight midnigh'
  ]) {
    t.same(await issues(text), text.startsWith('filler') ? [] : [old], text)
  }
  for (const text of ['midnight morning', 'oorbell', '%', '____', "' or 1=1", '\\', 'xx'])
    t.same(await issues(text), [], text)
  t.same(
    (await findMergeRequestsByText('silence', 50, actorOf(owner))).map(({ id }) => id),
    [mergeRequest.id]
  )
  const common = await issues('filler')
  t.equal(common.length, 50, 'a word of very many records')
  const one = await countStatements(() => issues('filler'))
  t.equal(await countStatements(() => issues('doorbell')), one, 'a fixed number of statements')
})

t.test('a record that appears after thousands with higher ids is found within a day', async t => {
  // As if its transaction had only ended now.
  await execute("delete from issue_words where word = '' and issue_id = ?", [other])
  t.match(await index(), { count: 0 }, 'the look at new records does not reach that far back')
  const real = performance.now
  t.teardown(() => {
    performance.now = real
  })
  performance.now = () => real.call(performance) + 86_400_000
  t.match(await index(), { count: 1 })
})

t.test('only records that the visitor may see', async t => {
  t.same(await issues('midnight', await app.make.user()), [])
  const guest = await app.make.member(project, 10)
  t.same(await issues('midnight', guest), [old])
  await api.put(`/projects/${project.id}/issues/${old}`, { confidential: true })
  t.same(await issues('midnight', guest), [])
  t.same(await issues('midnight'), [old])
})

t.test('a changed text is found by its new words, and a deleted record by none', async t => {
  await api.put(`/projects/${project.id}/issues/${old}`, { description: 'It rings at noon' })
  await api.put(`/projects/${project.id}/merge_requests/${mergeRequest.id}`, { description: 'Louder' })
  t.match(await index(), { count: 2 })
  t.same(await issues('midnight'), [])
  t.same(await issues('noon'), [old])
  t.equal((await findMergeRequestsByText('louder', 50, actorOf(owner))).length, 1)
  await api.put(`/projects/${project.id}/issues/${old}`, { labels: 'x' })
  t.match(await index(), { count: 0 }, 'other changes need no new words')
  await api.delete(`/projects/${project.id}/issues/${old}`)
  t.same(await row('select count(*) as known from issue_words where issue_id = ?', [old]), { known: 0 })
})
