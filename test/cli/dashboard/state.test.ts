// Tests how each key changes the state, and which effects it asks for.
import type { Key } from 'ink'
import t from 'tap'
import { helpLines, keymap, PANES } from '../../../src/cli/dashboard/keymap.js'
import { keysOf } from '../../../src/cli/dashboard/keys.js'
import { type Context, chosen, type Effect, press, type State } from '../../../src/cli/dashboard/state.js'
import { type Line, tableOf } from '../../../src/cli/dashboard/tables.js'
import { job, NOW, overview, state } from './make.js'

const shown = { overview: overview(), jobs: [job(5), job(4), job(3)] }
const context = (values: Partial<Context> = {}): Context => ({
  readOnly: false,
  page: 10,
  lastScroll: 7,
  linesOf: ({ pane, filter, sorts }) => tableOf(pane, shown, { filter, sort: sorts[pane], now: NOW }).lines,
  ...values
})

/** The state after some keys, and the effects that they asked for. */
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

t.test('keysOf gives the names of keys, also of several at once', async t => {
  const none = {} as Key
  t.same(keysOf('jjk', none), ['j', 'j', 'k'])
  t.same(keysOf('/x\r\u007f\u0004', none), ['/', 'x', 'enter', 'backspace', 'ctrl-d'])
  t.same(keysOf('', { ...none, upArrow: true }), ['up'])
  t.same(keysOf('', { ...none, tab: true, shift: true }), ['shift-tab'])
  t.same(keysOf('d', { ...none, ctrl: true }), ['ctrl-d'])
  t.same(keysOf('d', { ...none, meta: true }), [], 'keys with alt are ignored')
  t.same(keysOf('漢', none), ['漢'])
})

t.test('tab and shift-tab go round all panes', async t => {
  t.equal(after(['tab']).state.pane, 'processes')
  t.equal(after(['shift-tab']).state.pane, 'jobs')
  t.equal(after(['tab', 'tab', 'tab', 'tab', 'tab']).state.pane, 'queues')
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

t.test('sorting goes round all orders', async t => {
  const first = (now: State) => context().linesOf(now)[0]?.id
  t.equal(first(after(['s']).state), 'maintenance', 'the largest backlog')
  t.equal(first(after(['s', 's', 's', 's', 's']).state), 'default')
})

t.test('enter opens the jobs of a queue, then a job; esc goes back the same way', async t => {
  const queue = after(['j', 'j', 'enter']).state
  t.match(queue, { pane: 'jobs', queue: 'hooks', detail: null })
  const detail = after(['j', 'enter'], queue).state
  t.match(detail, { detail: { job: 4, scroll: 0 } })
  t.match(after(['j', 'j', 'k'], detail).state, { detail: { scroll: 1 } })
  t.match(after(['G', 'j', 'k'], detail).state, { detail: { scroll: 6 } })
  t.match(after(['esc'], detail).state, { detail: null, pane: 'jobs', queue: 'hooks' })
  t.match(after(['esc', 'esc'], detail).state, { pane: 'queues', queue: null })
})

t.test('retry acts at once, discard after a question', async t => {
  t.same(after(['3', 'r']).effects, [{ kind: 'retry', job: 1 }])
  const asked = after(['3', 'j', 'd'])
  t.same(asked.effects, [])
  t.same(asked.state.confirm, { kind: 'discard', job: 2 })
  t.same(after(['y'], asked.state).effects, [{ kind: 'discard', job: 2 }])
  for (const key of ['n', 'esc', 'enter', 'd', 'q']) {
    const { state: left, effects } = after([key], asked.state)
    t.same(effects, [], key)
    t.equal(left.confirm, null)
  }
  t.same(after(['3', 'enter', 'ctrl-d', 'y']).effects, [{ kind: 'discard', job: 1 }], 'also for an open job')
})

t.test('p pauses a queue, and resumes a paused one', async t => {
  t.same(after(['p']).effects, [{ kind: 'pause', queue: 'default' }])
  t.same(after(['j', 'j', 'j', 'p']).effects, [{ kind: 'resume', queue: 'mail' }])
  t.match(after(['3', 'p']), { effects: [], state: { message: /^to pause a queue, choose it first/ } })
  t.match(after(['d']), { effects: [], state: { message: /^to discard a job, choose it first/ } })
})

t.test('--read-only changes nothing', async t => {
  for (const keys of [['3', 'r'], ['3', 'd', 'y'], ['3', 'ctrl-d', 'y'], ['p']]) {
    const { state: left, effects } = after(keys, state(), { readOnly: true })
    t.same(effects, [], keys.join(' '))
    t.equal(left.confirm, null)
  }
  t.match(after(['p'], state(), { readOnly: true }).state, { message: /--read-only$/ })
})

t.test('the interval between updates has limits', async t => {
  t.match(after(['+']).state, { interval: 5, message: 'updates every 5 s' })
  t.equal(after(['-']).state.interval, 1)
  t.equal(after(Array(20).fill('+')).state.interval, 60)
  t.equal(after(Array(20).fill('-')).state.interval, 0.5)
})

t.test('q and ctrl-c quit', async t => {
  for (const keys of [['q'], ['ctrl-c'], ['/', 'ctrl-c'], ['3', 'd', 'ctrl-c'], ['?', 'q']]) {
    t.same(after(keys).effects, [{ kind: 'quit' }], keys.join(' '))
  }
  t.match(after(['?']).state, { mode: 'help' })
  t.match(after(['?', 'x']).state, { mode: 'browse' })
})
