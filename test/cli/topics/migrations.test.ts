// How the commands of migrations write numbers and failures.
import { counted } from '../../../src/cli/topics/migrations.js'
import { Invalid } from '../../../src/errors.js'
import t from '../../helpers/tap.js'

t.test('counts have the plural of their kind', async t => {
  t.same(
    [
      counted(1, 'issue'),
      counted(7, 'issue'),
      counted(1, 'files'),
      counted(32, 'merge_requests'),
      counted(null, 'note')
    ],
    ['1 issue', '7 issues', '1 file', '32 merge requests', '? notes']
  )
  t.same([counted(1, 'commit_status'), counted(2, 'commit_status')], ['1 commit status', '2 commit statuses'])
})

t.test('a text about no attribute has no name before it', async t => {
  const text = 'The project already follows a remote'
  t.match(new Invalid('base', text), { message: text, errors: { base: [text] } })
  t.equal(new Invalid('url', 'is wrong').message, 'url is wrong')
})
