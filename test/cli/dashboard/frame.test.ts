// Tests that frames fit all terminal sizes, with any text from users.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { type FrameProps, frameLines } from '../../../src/cli/dashboard/drawing/frame.js'
import { styled } from '../../../src/cli/dashboard/drawing/style.js'
import { keymap, PANES, type Pane } from '../../../src/cli/dashboard/keymap.js'
import { plainFrame } from '../../../src/cli/dashboard/once.js'
import { detailLines } from '../../../src/cli/dashboard/panes/detail.js'
import { root } from '../../../src/config.js'
import t, { type Test } from '../../helpers/tap.js'
import {
  build,
  failure,
  frameProps,
  hook,
  job,
  NASTY,
  NOW,
  nasty,
  overview,
  shownJobs,
  state,
  troubledMail
} from './make.js'

const SIZES = [
  { columns: 80, rows: 24 },
  { columns: 200, rows: 60 },
  { columns: 60, rows: 16 },
  { columns: 120, rows: 40 }
]

const linesOf = (values: Partial<FrameProps> = {}) => frameLines(frameProps(values))

function fits(t: Test, lines: readonly string[], { columns, rows }: { columns: number; rows: number }): void {
  t.equal(lines.length, rows)
  t.same(
    lines.filter(line => stringWidth(line) > columns),
    [],
    'no line is too wide'
  )
  t.notMatch(lines.join('\n'), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/, 'nothing moves the cursor')
}

const on = (pane: Pane) => state({ pane })
const many = Array.from({ length: 100 }, (_, at) => job(at, { name: NASTY, payload: NASTY }))
const contents = [
  { overview: overview(), jobs: shownJobs([]), builds: [] },
  { overview: nasty(), jobs: shownJobs(many), builds: [] }
]

t.test('every pane fits every size, even with hostile texts', async t => {
  for (const size of SIZES) {
    for (const pane of PANES) {
      for (const shown of contents) fits(t, linesOf({ size, state: on(pane), shown, name: NASTY }), size)
    }
  }
})

t.test('questions, filters, help and an open job fit too', async t => {
  const size = { columns: 80, rows: 24 }
  const long = job(1, { error: NASTY, payload: { [NASTY]: [NASTY] } })
  const found = { kind: 'job', job: long } as const
  const lines = detailLines(found, 80, NOW)
  for (const values of [
    { state: state({ mode: 'help' }) },
    { state: state({ mode: 'filter', filter: NASTY }) },
    { state: state({ confirm: { kind: 'discard_jobs', ids: [1e9] } }) },
    { state: state({ message: { text: NASTY, at: NOW, away: false } }) },
    { state: state({ search: NASTY, filter: NASTY, queue: NASTY }) },
    { away: NASTY },
    { state: state({ detail: { kind: 'job', id: 1, scroll: 3 } }), detail: { found, lines } }
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

t.test('mails that were not sent have a pane, newest first', async t => {
  const troubled = [troubledMail(7), troubledMail(9, { state: 'failed', address: 'bob@example.org', tried_at: null })]
  const shown = {
    overview: overview({ mail: { waiting: 5, held: 1, failed: 1, bounced: 0, troubled } }),
    jobs: shownJobs([]),
    builds: []
  }
  const lines = linesOf({ state: state({ pane: 'mail' }), shown, size: { columns: 140, rows: 24 } })
  const text = lines.join('\n')
  t.match(text, /\[7 Mail\]/)
  t.match(text, /ID +STATE +KIND +TO +TRIES +TRIED +ERROR/)
  t.match(text, /9 +failed +merge-request +bob@example.org +2 +.*refused the connection/)
  t.match(text, /7 +waiting +merge-request +ada@example.org +2 +1m00 +the server refused the connection/)
  t.ok(text.indexOf('bob@') < text.indexOf('ada@'))
  t.match(linesOf({ state: state({ pane: 'mail' }) }).join('\n'), 'no mail waits or has failed')
})

t.test('a tall frame shows the panes below each other', async t => {
  const text = linesOf({ size: { columns: 200, rows: 60 } }).join('\n')
  for (const title of ['▸ Queues 5', '  Processes 1', '  Failures 2', '  Builds 1']) t.match(text, `\n${title}`)
  t.match(text, /worker-1 +4711 +3 of 8 +1d/)
  t.match(text, /1 +dead +hooks +hook.deliver +12 +1s +Error: no answer +{"deliveryId":1}/)
  t.match(text, /7 +running +ada\/engine +rspec +test +master +1m15 +1m15 +worker-1:4711/)
})

t.test('at 200x60 the whole screen is used', async t => {
  const size = { columns: 200, rows: 60 }
  const failures = Array.from({ length: 50 }, (_, at) => failure(at))
  const full = { overview: overview({ failures }), jobs: shownJobs(many), builds: null }
  for (const pane of PANES) {
    const lines = linesOf({ size, state: on(pane), shown: full })
    t.same(
      lines.slice(0, -1).findLastIndex(line => line !== ''),
      58,
      `${pane}: the last line is used`
    )
    t.ok(Math.max(...lines.slice(3, -1).map(line => stringWidth(line))) > 190, `${pane}: the width is used`)
  }
  const [one = ''] = linesOf({ size }).filter(line => line.includes('FAILED IN THE LAST HOUR'))
  t.match(one, 'LAST HOUR')
})

/** Returns the words of a frame. */
const wordsOf = (lines: readonly string[]) => new Set(lines.join('\n').match(/[A-Za-z0-9]+/g))

t.test('at 80 columns no word is cut, and columns that do not fit are named', async t => {
  const text = 'no connection could be established within the configured seconds'
  const long = {
    overview: overview({
      failures: [
        failure(1, {
          error: `Error: ${text}`,
          payload: { event: { kind: 'project.created', path: 'mathematics' } }
        })
      ],
      processes: overview().processes.map(each => ({ ...each, labels: ['linux', 'architecture'] })),
      hooks: [hook(1, { receiver: 'https://receiver.example.org/continuous/integration/notifications', error: text })],
      mail: {
        ...overview().mail,
        troubled: [troubledMail(1, { error: text })]
      }
    }),
    jobs: shownJobs([job(1, { payload: { event: { kind: 'repository.changed', description: text } }, error: text })]),
    builds: [
      build(1, {
        project: 'mathematics-department/analytical-engine',
        name: `integration tests ${text}`,
        ref: 'feature/very-long-name'
      })
    ]
  }
  const message = { text: `not done: ${text} ${text}`, at: NOW, away: false }
  for (const columns of [80, 64, 100, 132]) {
    for (const pane of PANES) {
      const values = { state: state({ pane, message, queue: pane === 'jobs' ? 'maintenance' : null }), shown: long }
      const wide = wordsOf(linesOf({ ...values, size: { columns: 2000, rows: 24 } }))
      // Only a narrow frame has the list of omitted columns.
      const narrow = linesOf({ ...values, size: { columns, rows: 24 } })
      const named = wordsOf(narrow.flatMap(line => /without (.*)/.exec(line)?.[1] ?? ''))
      t.same(
        [...wordsOf(narrow)].filter(word => !wide.has(word) && !named.has(word) && word !== 'without'),
        [],
        `${pane} at ${columns}`
      )
    }
  }
  t.match(linesOf({ shown: long, state: on('builds') }).join('\n'), /Builds 1 .*without .*STAGE/)
})

t.test('a build shows its worker or external runner, or that its worker is gone', async t => {
  const builds = [build(1, { hostname: 'vm', pid: 7 }), build(2, { runner: 'build host 1' }), build(3)]
  const lines = linesOf({ shown: { overview: overview(), jobs: null, builds }, state: on('builds') }).join('\n')
  t.match(lines, / 3 running .* gone *\n.* 2 running .* build host 1 *\n.* 1 running .* vm:7 *\n/)
})

t.test('a failing hook shows its failures, since when, and the time of the next attempt', async t => {
  const hooks = [hook(3, { failures: 12, since: new Date(NOW - 3_700_000), next_try_at: new Date(NOW + 45_000) })]
  const text = linesOf({ state: on('hooks'), shown: { overview: overview({ hooks }), jobs: null, builds: null } }).join(
    '\n'
  )
  t.match(text, /hooks failing 1/)
  t.match(text, /> +3 receiver\.example\.org\/in .* 12 +1h01 +in 45s/)
})

t.test('marked lines have an asterisk, and the title counts them', async t => {
  const marked = state({ pane: 'failures' })
  const text = linesOf({ state: { ...marked, marks: { ...marked.marks, failures: ['1', '2'] } } }).join('\n')
  t.match(text, /Failures 2 .*2 marked/)
  t.match(text, /^>\* +1 dead/m)
  t.match(text, /^ \* +2 delayed/m)
})

t.test('an open build shows the end of its trace, without escape sequences', async t => {
  const tail = 'old\n\u001b[32mgreen\u001b[0m\n10%\r50%\r100%\r\nlast line\n'
  const details = { ...build(7, { status: 'failed' }), failure_reason: 'script_failure', exit_code: 2 }
  const found = { kind: 'build', build: { ...details, trace: { size: 99_999, tail } } } as const
  const lines = detailLines(found, 80, NOW)
  t.match(lines.join('\n'), /status: +failed, script_failure, exit code 2/)
  t.match(lines.join('\n'), /trace \(99999 bytes, the end of it\):\n +old\n +green\n +100%\n +last line$/)
  const opened = state({ pane: 'builds', detail: { kind: 'build', id: 7, scroll: Number.POSITIVE_INFINITY } })
  const shown = linesOf({ size: { columns: 80, rows: 12 }, state: opened, detail: { found, lines } })
  t.match(shown.at(-2), 'last line')
})

t.test('an empty pane shows a message', async t => {
  const empty = overview({ failures: [], builds: [], processes: [] })
  const said = (pane: Pane) =>
    linesOf({ state: on(pane), shown: { overview: empty, jobs: shownJobs([]), builds: null } }).join('\n')
  t.match(said('failures'), 'no job has failed')
  t.match(said('builds'), 'no build is running')
  t.match(said('processes'), 'no worker runs: jobs wait')
  t.match(said('jobs'), 'no jobs')
  t.match(linesOf({ state: state({ filter: 'zzz' }) }).join('\n'), 'no line contains this text')
})

t.test('a terminal that is too small gets a message', async t => {
  t.same(linesOf({ size: { columns: 30, rows: 5 } }), ['the terminal is too small'])
})

t.test('the selected line is always visible', async t => {
  const failures = Array.from({ length: 50 }, (_, at) => failure(at))
  const chosen = state({ pane: 'failures' })
  const selections = { ...chosen.selections, failures: { id: '49', at: 49 } }
  const lines = linesOf({
    state: { ...chosen, selections },
    shown: { overview: overview({ failures }), jobs: null, builds: null }
  })
  t.match(lines.at(-2), /^> +49 dead/)
})

t.test('an open job shows its whole error and payload', async t => {
  const open = job(1, { error: 'Error: no\n  at a\n  at b', payload: { deep: { er: 1 } } })
  const lines = detailLines({ kind: 'job', job: open }, 80, NOW)
  const text = lines.join('\n')
  t.match(text, /error:\n +Error: no\n +at a\n +at b/)
  t.match(text, /payload:\n +\{\n +"deep": \{\n +"er": 1/)
})

t.test('a state is always a word, in addition to its style', async t => {
  t.equal(styled('dead', 'bad', 'plain'), 'dead')
  t.equal(styled('dead', 'bad', 'mono'), '\u001B[1mdead\u001B[22m', 'NO_COLOR')
  t.equal(styled('dead', 'bad', 'color'), '\u001B[31mdead\u001B[39m')
})

t.test('while the source does not answer, the status line says so', async t => {
  const message = { text: 'not done: the database is not available', at: NOW, away: true }
  const last = (away: string | null) => linesOf({ away, state: state({ message }) }).at(-1)
  t.match(last('the database is not available'), /^no answer: the database is not available/)
  t.match(last(null), /^not done/)
})

t.test('a plain frame has every pane, no escapes, and no spaces at the ends of lines', async t => {
  for (const width of [80, 200]) {
    const text = plainFrame('vm', nasty(), width)
    t.notMatch(text, /\u001b| $/m)
    t.ok(text.split('\n').every(line => stringWidth(line) <= width))
    for (const title of ['Queues 5', 'Processes 30', 'Failures 50', 'Builds 40', 'Mail 20']) t.match(text, title)
  }
})

t.test('docs/operate/dashboard.md lists exactly the keys of the keymap', async t => {
  const text = readFileSync(join(root, 'docs/operate/dashboard.md'), 'utf8')
  const rows = [...text.matchAll(/^\| (`.+`) \| (.+) \|$/gm)].map(([, keys = '', about = '']) => [
    [...keys.matchAll(/`([^`]+)`/g)].map(([, key]) => key),
    about
  ])
  t.same(
    rows,
    keymap.map(({ keys, about }) => [keys, about])
  )
})
