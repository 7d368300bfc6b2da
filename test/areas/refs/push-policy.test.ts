import t from 'tap'
import { refusals } from '../../../src/areas/refs/push-policy.js'
import { ZERO } from '../../../src/git/refs.js'

const ID = 'a'.repeat(40)
const project = { default_branch: 'master' }
const reasonOf = (ref: string, old: string, next: string) =>
  refusals(project, [{ ref, old, new: next }]).get(ref) ?? null

t.test('names that mislead git cannot be pushed, but removed', async t => {
  for (const ref of ['refs/heads/HEAD', 'refs/tags/HEAD', `refs/replace/${ID}`]) {
    t.equal(reasonOf(ref, ZERO, ID), 'the name is reserved')
    t.equal(reasonOf(ref, ID, ID), 'the name is reserved')
    t.equal(reasonOf(ref, ID, ZERO), null)
  }
})

t.test('refs of the appliance cannot be pushed nor removed', async t => {
  for (const ref of ['refs/merge-requests/1/head', 'refs/internal/x', 'refs/pipelines/1']) {
    t.equal(reasonOf(ref, ZERO, ID), 'the name is reserved')
    t.equal(reasonOf(ref, ID, ZERO), 'the name is reserved')
  }
})

t.test('other names can be pushed', async t => {
  for (const ref of ['refs/heads/HEAD/x', 'refs/heads/HEADS', 'refs/heads/replace/x', 'refs/notes/commits']) {
    t.equal(reasonOf(ref, ZERO, ID), null)
  }
  t.equal(reasonOf('refs/heads/master', ID, ZERO), 'the default branch cannot be deleted')
})
