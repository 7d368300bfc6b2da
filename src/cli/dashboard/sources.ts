// One React hook for each kind of record that the dashboard reads.
import { useEffect, useState } from 'react'
import { NotFound } from '../../errors.js'
import type { Size } from './layout.js'
import type { Screen } from './screen.js'
import type { Job, JobOverview, JobSource } from './source.js'
import type { State } from './state.js'
import { type Polled, usePolling } from './use-polling.js'

export function useOverview(
  source: JobSource,
  first: JobOverview,
  interval: number,
  tick: number
): { overview: JobOverview; error: unknown } {
  const { value, error } = usePolling({ key: 'overview', read: () => source.overview(), interval, tick, first })
  return { overview: value ?? first, error }
}

/** Reads the jobs, but only while their pane is shown. */
export function useJobs(source: JobSource, { pane, queue, interval }: State, tick: number): Polled<Job[]> {
  const key = pane === 'jobs' ? `jobs ${queue ?? ''}` : null
  return usePolling({ key, read: () => source.jobs(queue), interval, tick })
}

/** Reads the job that is open; `gone` when it does not exist any more. */
export function useJob(source: JobSource, { detail, interval }: State, tick: number): Polled<Job | 'gone'> {
  const id = detail?.job ?? 0
  const read = async (): Promise<Job | 'gone'> => {
    try {
      return await source.job(id)
    } catch (error) {
      if (error instanceof NotFound) return 'gone'
      throw error
    }
  }
  return usePolling({ key: detail === null ? null : `job ${id}`, read, interval, tick })
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
