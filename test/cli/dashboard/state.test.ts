// Tests how each key changes the state, and which effects it requests.
import type { Key } from 'ink'
import { tableFor } from '../../../src/cli/dashboard/drawing/frame.js'
import type { Line } from '../../../src/cli/dashboard/drawing/tables.js'
import { helpLines, keymap, PANES } from '../../../src/cli/dashboard/keymap.js'
import { keysOf } from '../../../src/cli/dashboard/keys.js'
import type { Context, Effect, State } from '../../../src/cli/dashboard/model.js'
import { chosen } from '../../../src/cli/dashboard/moves.js'
import { press, settle } from '../../../src/cli/dashboard/state.js'
import t from '../../helpers/tap.js'
import { build, hook, job, NOW, overview, shownJobs, state } from './make.js'

const shown = {
  overview: overview({ hooks: [hook(1)] }),
  jobs: shownJobs([job(5), job(4), job(3)], { next: 3 }),
  builds: [build(9), build(8, { status: 'failed' })]
}
const context = (values: Partial<Context> = {}): Context => ({
  readOnly: false,
  page: 10,
  lastScroll: 7,
  next: 3,
  openedIsGone: false,
  now: NOW,
  linesOf: wanted => tableFor(wanted.pane, wanted, shown, NOW).lines,
  ...values
})

/** Returns the state after some keys, and the effects that they requested. */
function after(keys: string[], from: State = state(), values: Partial<Context> = {}) {
  const effects: Effect[] = []
  let now = from
  for (const key of keys) {
    const step = press(now, key, context(values))
    now = step.state
    if (step.effect) effects.push(step.effect)
  }
  return { state: now, effects }
}
const chosenId = (now: State) => {
  const lines = context().linesOf(now)
  return lines[chosen(now.selections[now.pane], lines)]?.id
}

t.test('no key has two actions, and every pane has its number', async t => {
  const keys = keymap.flatMap(binding => binding.keys)
  t.equal(new Set(keys).size, keys.length)
  for (const [at, pane] of PANES.entries()) t.equal(after([String(at + 1)]).state.pane, pane)
})

t.test('the help fits into a terminal of 24 lines', async t => {
  t.ok(helpLines().length <= 20)
  t.ok(helpLines().every(({ keys, about }) => keys.length < 17 && about.length <= 80 - 19))
})

t.test('keysOf returns the names of keys, also of several keys at once', async t => {
  const none = {} as Key
  t.same(keysOf('jjk', none), ['j', 'j', 'k'])
  t.same(keysOf('/x\r\u007f\u0004', none), ['/', 'x', 'enter', 'backspace', 'ctrl-d'])
  t.same(keysOf('', { ...none, upArrow: true }), ['up'])
  t.same(keysOf('', { ...none, tab: true, shift: true }), ['shift-tab'])
  t.same(keysOf('d', { ...none, ctrl: true }), ['ctrl-d'])
  t.same(keysOf('d', { ...none, meta: true }), [], 'keys with alt are ignored')
  t.same(keysOf('漢', none), ['漢'])
})

t.test('tab and shift-tab cycle through all panes', async t => {
  t.equal(after(['tab']).state.pane, 'processes')
  t.equal(after(['shift-tab']).state.pane, 'mail')
  t.equal(after(['tab', 'tab', 'tab', 'tab', 'tab', 'tab', 'tab']).state.pane, 'queues')
})

t.test('moves stop at the first and the last line', async t => {
  t.equal(chosenId(after(['k']).state), 'default')
  t.equal(chosenId(after(['j', 'down']).state), 'hooks')
  t.equal(chosenId(after(['G', 'j']).state), 'maintenance')
  t.equal(chosenId(after(['pagedown', 'up']).state), 'mail')
  t.equal(chosenId(after(['G', 'g']).state), 'default')
})

t.test(
  'a chosen line stays chosen when others appear; when it disappears, the line in its place is chosen',
  async t => {
    const lines = (...ids: string[]): Line[] => ids.map(id => ({ id, cells: [] }))
    t.equal(chosen({ id: 'b', at: 1 }, lines('new', 'a', 'b')), 2)
    t.equal(chosen({ id: 'b', at: 1 }, lines('a', 'c')), 1)
    t.equal(chosen({ id: 'b', at: 1 }, lines('a')), 0)
    t.equal(chosen({ id: 'b', at: 1 }, []), -1)
  }
)

t.test('a filter is typed, enter keeps it, esc removes it', async t => {
  t.match(after(['/', 'm', 'a', 'q', 'backspace', 'enter']).state, { filter: 'ma', mode: 'browse' })
  t.same(
    context()
      .linesOf(after(['/', 'm', 'a', 'enter']).state)
      .map(({ id }) => id),
    ['mail', 'maintenance']
  )
  t.match(after(['/', 'm', 'esc']).state, { filter: '', mode: 'browse' })
  t.match(after(['/', 'm', 'enter', 'esc']).state, { filter: '' })
  t.same(after(['/', 'q', 'd']).effects, [], 'letters are text in a filter')
})

t.test('sorting cycles through all orders', async t => {
  const first = (now: State) => context().linesOf(now)[0]?.id
  t.equal(first(after(['s']).state), 'maintenance', 'the largest backlog')
  t.equal(first(after(['s', 's', 's', 's', 's']).state), 'default')
})

t.test('enter opens the jobs of a queue, then a job; esc goes back the same way', async t => {
  const queue = after(['j', 'j', 'enter']).state
  t.match(queue, { pane: 'jobs', queue: 'hooks', detail: null })
  const detail = after(['j', 'enter'], queue).state
  t.match(detail, { detail: { kind: 'job', id: 4, scroll: 0 } })
  t.match(after(['j', 'j', 'k'], detail).state, { detail: { scroll: 1 } })
  t.match(after(['G', 'j', 'k'], detail).state, { detail: { scroll: 6 } })
  t.match(after(['esc'], detail).state, { detail: null, pane: 'jobs', queue: 'hooks' })
  t.match(after(['esc', 'esc'], detail).state, { pane: 'queues', queue: null })
})

t.test('retry acts at once, discard only after a confirmation', async t => {
  t.same(after(['3', 'r']).effects, [{ kind: 'retry_jobs', ids: [1] }])
  const asked = after(['3', 'j', 'd'])
  t.same(asked.effects, [])
  t.same(asked.state.confirm, { kind: 'discard_jobs', ids: [2] })
  t.same(after(['y'], asked.state).effects, [{ kind: 'discard_jobs', ids: [2] }])
  for (const key of ['n', 'esc', 'enter', 'd', 'q']) {
    const { state: left, effects } = after([key], asked.state)
    t.same(effects, [], key)
    t.equal(left.confirm, null)
    t.match(left.message, { text: 'nothing changed' }, 'not "canceled", which builds can be')
  }
  t.same(after(['3', 'enter', 'ctrl-d', 'y']).effects, [{ kind: 'discard_jobs', ids: [1] }], 'also for an open job')
})

t.test('builds are retried at once, and canceled only after a confirmation', async t => {
  t.same(after(['4', 'j', 'r']).effects, [{ kind: 'retry_builds', ids: [8] }])
  t.same(after(['4', 'c', 'y']).effects, [{ kind: 'cancel_builds', ids: [9] }])
  t.same(after(['4', 'enter', 'c', 'y']).effects, [{ kind: 'cancel_builds', ids: [9] }], 'also an open build')
  t.match(after(['4', 'd']), { effects: [], state: { message: { text: /^to discard a job, choose it first/ } } })
  t.match(after(['3', 'c']), { effects: [], state: { message: { text: /^to cancel a build, choose it first/ } } })
  t.match(after(['6', 'r']), { effects: [], state: { message: { text: /^to retry a job or build/ } } })
})

t.test('space marks lines; a change applies to all marked ones', async t => {
  const marked = after(['3', ' ', ' ']).state
  t.same(marked.marks.failures, ['1', '2'])
  t.same(after(['r'], marked).effects, [{ kind: 'retry_jobs', ids: [1, 2] }])
  t.same(after(['k', ' '], marked).state.marks.failures, ['2'], 'space unmarks a marked line')
  t.same(after(['*'], marked).state.marks.failures, [], 'all are marked already')
  t.same(after(['5', '*', 'd', 'y']).effects, [{ kind: 'discard_jobs', ids: [5, 4, 3] }])
  t.same(after(['4', '*', 'c', 'y']).effects, [{ kind: 'cancel_builds', ids: [9, 8] }])
  t.same(after(['esc'], marked).state.marks.failures, [])
  t.match(after([' ']).state.message, { text: /^only jobs and builds/ })
  const full = state({ pane: 'failures' })
  const marks = { ...full.marks, failures: Array.from({ length: 1000 }, (_, at) => `x${at}`) }
  t.match(after([' '], { ...full, marks }).state.message, { text: /^at most 1000 lines can be marked/ })
})

t.test('a step past the last job turns the page, and back', async t => {
  const next = after(['5', 'G', 'j']).state
  t.same(next.pages, [null, 3])
  t.same(after(['g', 'k'], next).state.pages, [null])
  t.same(after([']', '['], next).state.pages, [null, 3])
  t.same(after(['5', ']'], state(), { next: null }).state.pages, [null], 'there is no other page')
  t.same(after(['S'], next).state, { ...after(['S'], next).state, pages: [null] }, 'the other end of all jobs')
})

t.test('in the job pane, enter searches all jobs; esc ends the search', async t => {
  const typed = after(['5', ']', '/', 'a', 'b']).state
  t.equal(typed.search, '', 'nothing is searched during typing')
  const searching = after(['enter'], typed).state
  t.match(searching, { search: 'ab', filter: 'ab', pages: [null] })
  t.match(after(['esc'], searching).state, { search: '', filter: '' })
  t.match(after(['1', '/', 'm', 'enter']).state, { search: '', filter: 'm' }, 'other panes filter their lines')
  t.match(after(['1'], searching).state, { search: '', filter: '' }, 'a filter belongs to its pane')
  const most = after(['/', ...Array(61).fill('a')]).state
  t.equal(most.filter.length, 60)
  t.match(most.message, { text: 'a filter has at most 60 characters' })
})

t.test('S reverses the order', async t => {
  t.equal(chosenId(after(['S']).state), 'maintenance')
  t.equal(chosenId(after(['S', 'S']).state), 'default')
  t.equal(chosenId(after(['s', 'S']).state), 'default', 'the smallest backlog')
})

t.test('an open build stays at the end of its trace until the user scrolls up', async t => {
  const opened = after(['4', 'enter']).state
  t.match(opened.detail, { kind: 'build', id: 9, scroll: Number.POSITIVE_INFINITY })
  t.match(after(['k'], opened).state.detail, { scroll: 6 })
  t.match(after(['k', 'j'], opened).state.detail, { scroll: Number.POSITIVE_INFINITY })
})

t.test('messages and questions disappear when they no longer apply', async t => {
  const away = state({ message: { text: 'not done', at: NOW, away: true } })
  t.equal(settle(away, context()).message, null, 'the source answers again')
  const note = state({ message: { text: 'done', at: NOW, away: false } })
  t.equal(settle(note, context({ now: NOW + 9999 })).message?.text, 'done')
  t.equal(settle(note, context({ now: NOW + 10_000 })).message, null)
  const asked = after(['3', 'd']).state
  t.equal(settle(asked, context()), asked, 'the job still exists')
  const gone = settle(asked, context({ linesOf: () => [] }))
  t.equal(gone.confirm, null)
  t.match(gone.message, { text: /^no longer possible/ })
  const open = after(['3', 'enter', 'd']).state
  t.equal(settle(open, context()).confirm, open.confirm)
  t.equal(settle(open, context({ openedIsGone: true })).confirm, null)
})

t.test('p pauses a queue, and resumes a paused one', async t => {
  t.same(after(['p']).effects, [{ kind: 'pause', queue: 'default' }])
  t.same(after(['j', 'j', 'j', 'p']).effects, [{ kind: 'resume', queue: 'mail' }])
  t.match(after(['3', 'p']), { effects: [], state: { message: { text: /^to pause a queue, choose it first/ } } })
  t.match(after(['d']), { effects: [], state: { message: { text: /^to discard a job, choose it first/ } } })
})

t.test('--read-only changes nothing', async t => {
  for (const keys of [['3', 'r'], ['3', 'd', 'y'], ['3', 'ctrl-d', 'y'], ['4', 'c', 'y'], ['p']]) {
    const { state: left, effects } = after(keys, state(), { readOnly: true })
    t.same(effects, [], keys.join(' '))
    t.equal(left.confirm, null)
  }
  t.match(after(['p'], state(), { readOnly: true }).state, { message: { text: /--read-only$/ } })
})

t.test('the interval between updates has limits', async t => {
  t.match(after(['+']).state, { interval: 5, message: { text: 'updates every 5 s' } })
  t.equal(after(['-']).state.interval, 1)
  t.equal(after(Array(20).fill('+')).state.interval, 60)
  t.equal(after(Array(20).fill('-')).state.interval, 0.5)
})

t.test('ctrl-z suspends, also in the middle of a filter or a question', async t => {
  for (const keys of [['ctrl-z'], ['/', 'ctrl-z'], ['3', 'd', 'ctrl-z'], ['?', 'ctrl-z']])
    t.same(after(keys).effects, [{ kind: 'suspend' }], keys.join(' '))
})

t.test('q and ctrl-c quit', async t => {
  for (const keys of [['q'], ['ctrl-c'], ['/', 'ctrl-c'], ['3', 'd', 'ctrl-c'], ['?', 'q']]) {
    t.same(after(keys).effects, [{ kind: 'quit' }], keys.join(' '))
  }
  t.match(after(['?']).state, { mode: 'help' })
  t.match(after(['?', 'x']).state, { mode: 'browse' })
})
