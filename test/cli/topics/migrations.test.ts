// How the commands of migrations write numbers and failures.
import { countedKind } from '../../../src/cli/topics/migrations.js'
import { Invalid } from '../../../src/errors.js'
import t from '../../helpers/tap.js'

t.test('counts have the plural of their kind', async t => {
  t.same(
    [
      countedKind(1, 'issue'),
      countedKind(7, 'issue'),
      countedKind(1, 'files'),
      countedKind(32, 'merge_requests'),
      countedKind(null, 'note')
    ],
    ['1 issue', '7 issues', '1 file', '32 merge requests', '? notes']
  )
  t.same([countedKind(1, 'commit_status'), countedKind(2, 'commit_status')], ['1 commit status', '2 commit statuses'])
  t.equal(countedKind(2, 'protected_branch'), '2 protected branches')
})

t.test('a text about no attribute has no name before it', async t => {
  const text = 'The project already follows a remote'
  t.match(new Invalid('base', text), { message: text, errors: { base: [text] } })
  t.equal(new Invalid('url', 'is wrong').message, 'url is wrong')
})
