// Holds the state of the dashboard: what was read and what was pressed. The frame alone decides what is drawn.
import { useApp, useInput } from 'ink'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Misconfigured, NotFound } from '../../errors.js'
import { bodyOf, Frame } from './frame.js'
import { keysOf } from './keys.js'
import { detailLines } from './panes/detail.js'
import type { Screen } from './screen.js'
import type { JobOverview, JobSource } from './source.js'
import { useJob, useJobs, useOverview, useSize } from './sources.js'
import { type Change, type Context, type Effect, firstState, isChange, press, type State } from './state.js'
import type { Theme } from './style.js'
import { tableOf } from './tables.js'

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
  // Several keys may arrive before the next frame. Each must see the state that the key before it made.
  const latest = useRef(state)
  const { overview, error } = useOverview(source, first, state.interval, tick)
  const jobs = useJobs(source, state, tick)
  const job = useJob(source, state, tick)
  const now = new Date(overview.at).getTime()
  const found = job.value
  const lines = useMemo(
    () => (found === null || found === 'gone' ? [] : detailLines(found, size.columns, now)),
    [found, size.columns, now]
  )
  const shown = { overview, jobs: jobs.value }

  useEffect(() => {
    // A revoked token stays revoked: to try again would not help.
    if (error instanceof Misconfigured) exit(error)
  }, [error, exit])

  const become = (next: State) => {
    latest.current = next
    setState(next)
  }
  const say = (message: string) => {
    become({ ...latest.current, message })
    setTick(each => each + 1)
  }
  const run = (effect: Effect) => {
    if (effect.kind === 'quit') return exit()
    if (effect.kind === 'redraw') screen.forget()
    if (isChange(effect)) void carryOut(source, effect).then(say)
    else setTick(each => each + 1)
  }
  // A reference too: a key may arrive between a frame and the moment when Ink gets the newest handler.
  const context = useRef<Context>(undefined)
  context.current = {
    readOnly,
    page: bodyOf(size) - 2,
    lastScroll: Math.max(0, lines.length - bodyOf(size)),
    linesOf: ({ pane, filter, sorts }) => tableOf(pane, shown, { filter, sort: sorts[pane], now }).lines
  }
  useInput((input, key) => {
    for (const name of keysOf(input, key)) {
      if (!context.current) return
      const { state: next, effect } = press(latest.current, name, context.current)
      become(next)
      if (effect) run(effect)
    }
  })

  return (
    <Frame
      size={size}
      name={source.name}
      state={state}
      shown={shown}
      detail={{ found, lines }}
      away={textOf(error)}
      readOnly={readOnly}
      now={now}
      theme={theme}
    />
  )
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : error === null ? null : String(error))

/** Makes a change; gives the message for the status line, also when the change fails. */
async function carryOut(source: JobSource, change: Change): Promise<string> {
  try {
    switch (change.kind) {
      case 'retry':
        await source.retry(change.job)
        return `job ${change.job} will be tried again`
      case 'discard':
        await source.discard(change.job)
        return `job ${change.job} is discarded`
      case 'pause':
        await source.pause(change.queue)
        return `queue ${change.queue} is paused`
      case 'resume':
        await source.resume(change.queue)
        return `queue ${change.queue} is resumed`
    }
  } catch (error) {
    if (!(error instanceof NotFound) || !('job' in change)) return `not done: ${textOf(error)}`
    const why = change.kind === 'retry' ? 'neither delayed nor dead' : 'running, or does not exist any more'
    return `not done: job ${change.job} is ${why}`
  }
}
