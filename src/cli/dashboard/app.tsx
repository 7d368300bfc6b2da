// Holds the state of the dashboard: the records that were read, and the effect of the keys. The frame decides what is drawn.
import { useApp, useInput } from 'ink'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Misconfigured } from '../../errors.js'
import { carryOut, isChange, textOf, withoutMarks } from './changes.js'
import { bodyOf, frameLines, pageOf, tableFor } from './drawing/frame.js'
import { Drawn } from './drawing/painted-frame.js'
import type { Theme } from './drawing/style.js'
import type { Shown } from './drawing/tables.js'
import { keysOf } from './keys.js'
import { type Change, type Context, type Effect, type State, say } from './model.js'
import { detailLines } from './panes/detail.js'
import type { Screen } from './screen.js'
import type { JobOverview, JobSource } from './source.js'
import { useBuilds, useJobs, useOpened, useOverview, useSize } from './sources.js'
import { firstState, press, settle } from './state.js'

export interface AppProps {
  readonly source: JobSource
  readonly first: JobOverview
  readonly screen: Screen
  readonly interval: number
  readonly readOnly: boolean
  readonly theme: Theme
}

export function App({ source, first, screen, interval, readOnly, theme }: AppProps) {
  const { exit } = useApp()
  const size = useSize(screen)
  const [state, setState] = useState(() => firstState(interval))
  const [tick, setTick] = useState(0)
  // Several keys may arrive before the next frame. Each must see the state that the previous key left.
  const latest = useRef(state)
  const { overview, error } = useOverview(source, first, state, tick)
  const jobs = useJobs(source, state, size, tick)
  const builds = useBuilds(source, state, tick)
  const opened = useOpened(source, state, overview, tick)
  const now = new Date(overview.at).getTime()
  const found = opened.value
  const lines = useMemo(() => detailLines(found, size.columns, now), [found, size.columns, now])
  const shown: Shown = { overview, jobs: jobs.value, builds: builds.value }
  const away = [error, jobs.error, builds.error, opened.error].find(each => each !== null) ?? null

  useEffect(() => {
    // A revoked token stays revoked: retrying would not help.
    if (error instanceof Misconfigured) exit(error)
  }, [error, exit])

  const become = (next: State) => {
    latest.current = next
    setState(next)
  }
  const makeChange = async (change: Change) => {
    const { text, away, finished } = await carryOut(source, change)
    const left = finished ? withoutMarks(latest.current, change) : latest.current
    become(say(left, text, Date.now(), away))
    setTick(each => each + 1)
  }
  const run = (effect: Effect) => {
    if (effect.kind === 'quit') return exit()
    // The terminal sends no signal while the keyboard is raw. Like the terminal, this stops the whole job of the shell.
    if (effect.kind === 'suspend') return void process.kill(0, 'SIGTSTP')
    if (effect.kind === 'redraw') screen.forget()
    if (isChange(effect)) void makeChange(effect)
    else setTick(each => each + 1)
  }
  // Also a ref: a key may arrive between a frame and the moment when Ink gets the newest handler.
  const context = useRef<Context>(undefined)
  context.current = {
    readOnly,
    page: Math.max(1, (state.detail ? bodyOf(size) : pageOf({ size, state, shown })) - 1),
    lastScroll: Math.max(0, lines.length - bodyOf(size)),
    next: jobs.value?.next ?? null,
    openedIsGone: found === 'gone',
    get now() {
      return Date.now()
    },
    linesOf: wanted => tableFor(wanted.pane, wanted, shown, now).lines
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: messages end only when the source answers.
  useEffect(() => {
    if (context.current) become(settle(latest.current, context.current))
  }, [overview.at])

  useInput((input, key) => {
    for (const name of keysOf(input, key)) {
      if (!context.current) return
      const { state: next, effect } = press(latest.current, name, context.current)
      become(next)
      if (effect) run(effect)
    }
  })

  const text = away === null ? null : textOf(away)
  const detail = { found, lines }
  return (
    <Drawn lines={frameLines({ size, name: source.name, state, shown, detail, away: text, readOnly, now, theme })} />
  )
}
