// One React hook for each kind of record that the dashboard reads.
import { useEffect, useState } from 'react'
import { NotFound } from '../../errors.js'
import { isShown, type Size } from './drawing/layout.js'
import type { JobPage } from './drawing/tables.js'
import type { State } from './model.js'
import type { Found } from './panes/detail.js'
import { readPage } from './read-page.js'
import type { Screen } from './screen.js'
import type { JobOverview, JobSource, WatchedBuild } from './source.js'
import { type Polled, usePolling } from './use-polling.js'

export function useOverview(
  source: JobSource,
  first: JobOverview,
  { interval }: State,
  tick: number
): { overview: JobOverview; error: unknown } {
  const { value, error } = usePolling({ key: 'overview', read: () => source.overview(), interval, tick, first })
  return { overview: value ?? first, error }
}

/** Reads a page of jobs, but only while the job pane is visible. */
export function useJobs(source: JobSource, state: State, size: Size, tick: number): Polled<JobPage> {
  const { pane, queue, search, reversed, pages, interval } = state
  const question = { text: search, queue, oldest: reversed.jobs, past: pages.at(-1) ?? null }
  const key = isShown('jobs', size, pane) ? JSON.stringify(question) : null
  return usePolling<JobPage>({ key, read: reading => readPage(source, question, reading), interval, tick })
}

/** Reads the builds, but only while the build pane is active. */
export function useBuilds(source: JobSource, { pane, interval }: State, tick: number): Polled<WatchedBuild[]> {
  return usePolling({ key: pane === 'builds' ? 'builds' : null, read: () => source.builds(), interval, tick })
}

/** Reads the open record; `gone` when it no longer exists. */
export function useOpened(
  source: JobSource,
  { detail, interval }: State,
  overview: JobOverview,
  tick: number
): Polled<Found> {
  const id = detail?.id ?? 0
  const read = async (): Promise<Found> => {
    try {
      if (detail?.kind === 'build') return { kind: 'build', build: await source.build(id) }
      return { kind: 'job', job: await source.job(id) }
    } catch (error) {
      if (error instanceof NotFound) return 'gone'
      throw error
    }
  }
  const reads = detail !== null && detail.kind !== 'hook'
  const polled = usePolling<Found>({ key: reads ? `${detail.kind} ${id}` : null, read, interval, tick })
  if (detail?.kind !== 'hook') return polled
  const hook = overview.hooks.find(each => each.id === id)
  return { value: hook ? { kind: 'hook', hook } : 'gone', error: null }
}

export function useSize(screen: Screen): Size {
  const [size, setSize] = useState(screen.size)
  useEffect(() => {
    const note = () => setSize(screen.size)
    screen.on('size', note)
    return () => void screen.off('size', note)
  }, [screen])
  return size
}
