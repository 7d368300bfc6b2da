// Tests that frames fit all sizes of terminals, whatever texts of users they show.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderToString } from 'ink'
import { cleanup, render } from 'ink-testing-library'
import t, { type Test } from 'tap'
import { Frame, type FrameProps } from '../../../src/cli/dashboard/frame.js'
import { keymap, PANES, type Pane } from '../../../src/cli/dashboard/keymap.js'
import { plainFrame } from '../../../src/cli/dashboard/once.js'
import { detailLines } from '../../../src/cli/dashboard/panes/detail.js'
import { styled } from '../../../src/cli/dashboard/style.js'
import { root } from '../../../src/config.js'
import { displayWidth } from '../../../src/lib/display-width.js'
import { failure, frameProps, job, NASTY, NOW, nasty, overview, state } from './make.js'

const SIZES = [
  { columns: 80, rows: 24 },
  { columns: 200, rows: 60 },
  { columns: 60, rows: 16 },
  { columns: 120, rows: 40 }
]

t.teardown(cleanup)

/** The lines of a frame, as a terminal of that size would show them. */
function linesOf(values: Partial<FrameProps> = {}): string[] {
  const props = frameProps(values)
  return renderToString(<Frame {...props} />, { columns: props.size.columns }).split('\n')
}

function fits(t: Test, lines: readonly string[], { columns, rows }: { columns: number; rows: number }): void {
  t.equal(lines.length, rows)
  t.same(
    lines.filter(line => displayWidth(line) > columns),
    [],
    'no line is too wide'
  )
  t.notMatch(lines.join('\n'), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/, 'nothing moves the cursor')
}

const on = (pane: Pane) => state({ pane })
const many = Array.from({ length: 100 }, (_, at) => job(at, { name: NASTY, payload: NASTY }))
const contents = [
  { overview: overview(), jobs: [] },
  { overview: nasty(), jobs: many }
]

t.test('every pane fits every size, also with nasty texts', async t => {
  for (const size of SIZES) {
    for (const pane of PANES) {
      for (const shown of contents) fits(t, linesOf({ size, state: on(pane), shown, name: NASTY }), size)
    }
  }
})

t.test('questions, filters, help and an open job fit too', async t => {
  const size = { columns: 80, rows: 24 }
  const long = job(1, { error: NASTY, payload: { [NASTY]: [NASTY] } })
  const lines = detailLines(long, 80, NOW)
  for (const values of [
    { state: state({ mode: 'help' }) },
    { state: state({ mode: 'filter', filter: NASTY }) },
    { state: state({ confirm: { kind: 'discard', job: 1e9 } }) },
    { state: state({ message: NASTY }) },
    { away: NASTY },
    { state: state({ detail: { job: 1, scroll: 3 } }), detail: { found: long, lines } }
  ] satisfies Partial<FrameProps>[]) {
    fits(t, linesOf({ size, ...values }), size)
  }
})

t.test('a small frame shows everything important', async t => {
  const text = linesOf().join('\n')
  t.match(text, /^gitstead jobs top {2}vm:\/var\/lib\/gitstead +every 2 s {2}2026-11-21 12:00:00Z\n/)
  t.match(text, /ready 1000 {2}delayed 10 {2}running 5 {2}dead 10 {2}busy 3\/8 {2}builds 1/)
  t.match(text, /\[1 Queues\]/)
  t.match(text, /^> default +active +0 +0 +1 +0 +0s +0 +0 _+$/m)
  t.match(text, /^ {2}mail +paused +300 +3 +1 +3 +3m03 +22\.5|23 +0 /m)
  t.match(text, /^ {2}hooks .* ▇?[▁▂▃▄▅▆▇█]+$/m)
})

t.test('a tall frame shows the panes below each other', async t => {
  const text = linesOf({ size: { columns: 200, rows: 60 } }).join('\n')
  for (const title of ['▸ Queues 5', '  Processes 1', '  Failures 2', '  Builds 1']) t.match(text, `\n${title}`)
  t.match(text, /worker-1 +4711 +3 of 8 +1d/)
  t.match(text, /1 +dead +hooks +hook.deliver +12 +1s +Error: no answer +{"deliveryId":1}/)
  t.match(text, /7 +ada\/engine +rspec +test +master +1m15 +worker-1:4711/)
})

t.test('an empty pane says that it is empty', async t => {
  const empty = overview({ failures: [], builds: [], processes: [] })
  const said = (pane: Pane) => linesOf({ state: on(pane), shown: { overview: empty, jobs: [] } }).join('\n')
  t.match(said('failures'), 'no job has failed')
  t.match(said('builds'), 'no build is running')
  t.match(said('processes'), 'no worker runs: jobs wait')
  t.match(said('jobs'), 'no jobs')
  t.match(linesOf({ state: state({ filter: 'zzz' }) }).join('\n'), 'no line contains this text')
})

t.test('a terminal that is too small gets a message', async t => {
  t.same(linesOf({ size: { columns: 30, rows: 5 } }), ['the terminal is too small'])
})

t.test('the chosen line is always on the screen', async t => {
  const failures = Array.from({ length: 50 }, (_, at) => failure(at))
  const chosen = state({ pane: 'failures' })
  const selections = { ...chosen.selections, failures: { id: '49', at: 49 } }
  const lines = linesOf({ state: { ...chosen, selections }, shown: { overview: overview({ failures }), jobs: null } })
  t.match(lines.at(-2), /^> +49 dead/)
})

t.test('an open job shows its whole error and payload', async t => {
  const lines = detailLines(job(1, { error: 'Error: no\n  at a\n  at b', payload: { deep: { er: 1 } } }), 80, NOW)
  const text = lines.join('\n')
  t.match(text, /error:\n +Error: no\n +at a\n +at b/)
  t.match(text, /payload:\n +\{\n +"deep": \{\n +"er": 1/)
})

t.test('a state is a word, and its look only adds to it', async t => {
  t.equal(styled('dead', 'bad', 'plain'), 'dead')
  t.equal(styled('dead', 'bad', 'mono'), '\u001B[1mdead\u001B[22m', 'NO_COLOR')
  t.equal(styled('dead', 'bad', 'color'), '\u001B[31mdead\u001B[39m')
})

t.test('a real renderer draws the same frame, and draws it again after a change', async t => {
  const { lastFrame, rerender } = render(<Frame {...frameProps()} />)
  t.equal(lastFrame(), linesOf().join('\n'))
  rerender(<Frame {...frameProps({ away: 'the database is not available' })} />)
  t.match(lastFrame(), /no answer: the database is not available/)
})

t.test('a plain frame has every pane, no escapes, and no spaces at the ends of lines', async t => {
  for (const width of [80, 200]) {
    const text = plainFrame('vm', nasty(), width)
    t.notMatch(text, /\u001b| $/m)
    t.ok(text.split('\n').every(line => displayWidth(line) <= width))
    for (const title of ['Queues 5', 'Processes 30', 'Failures 50', 'Builds 40']) t.match(text, title)
  }
})

t.test('docs/dashboard.md lists exactly the keys of the keymap', async t => {
  const text = readFileSync(join(root, 'docs/dashboard.md'), 'utf8')
  const rows = [...text.matchAll(/^\| (`.+`) \| (.+) \|$/gm)].map(([, keys = '', about = '']) => [
    [...keys.matchAll(/`([^`]+)`/g)].map(([, key]) => key),
    about
  ])
  t.same(
    rows,
    keymap.map(({ keys, about }) => [keys, about])
  )
})
