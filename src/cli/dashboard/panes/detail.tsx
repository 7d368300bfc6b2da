// Shows one job with every line of its error and its payload.
import { Box } from 'ink'
import { breakLines, plainText } from '../../../lib/display-width.js'
import { since } from '../format.js'
import type { Job } from '../source.js'
import type { Theme } from '../style.js'
import { CutLine, Line } from './line.js'

/** A payload may have megabytes. Its first lines are enough here. */
const MOST_LINES = 2000

export interface DetailProps {
  readonly job: number
  /** Null while the job is read; `gone` when the job is done or discarded. */
  readonly found: Job | 'gone' | null
  readonly lines: readonly string[]
  readonly scroll: number
  readonly width: number
  readonly body: number
  readonly theme: Theme
}

export function Detail({ job, found, lines, scroll, width, body, theme }: DetailProps) {
  const shown = lines.slice(scroll, scroll + body)
  const rest = lines.length - scroll - shown.length
  const title = `▸ Job ${job}${rest > 0 ? `  ${rest} more lines below` : ''}`
  const note = found === null ? '  reading ...' : '  this job is done or discarded'
  return (
    <Box flexDirection="column">
      <CutLine text={title} width={width} look="strong" theme={theme} />
      {found === null || found === 'gone' ? <CutLine text={note} width={width} look="dim" theme={theme} /> : null}
      {shown.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text have no other name than their place.
        <Line key={at} text={line} />
      ))}
    </Box>
  )
}

/** All lines that describe a job, none longer than the width. `now` is in milliseconds. */
export function detailLines(job: Job, width: number, now: number): string[] {
  const field = (name: string, value: string) => `${`${name}:`.padEnd(10)}${value}`
  const fields = [
    field('name', job.name),
    field('queue', job.queue),
    field('state', job.state),
    field('tries', `${job.attempts}${job.crashes > 0 ? `; its process died ${job.crashes} times` : ''}`),
    field('made', `${new Date(job.created_at).toISOString()} (${since(job.created_at, now)})`),
    field('due', `${new Date(job.run_at).toISOString()} (${since(job.run_at, now)})`),
    ...(job.process_id === null ? [] : [field('process', String(job.process_id))]),
    '',
    'error:',
    ...(job.error ?? 'none').split('\n').map(line => `  ${line}`),
    '',
    'payload:',
    ...JSON.stringify(job.payload, null, 2)
      .split('\n')
      .map(line => `  ${line}`)
  ]
  return fields
    .slice(0, MOST_LINES)
    .flatMap(line => breakLines(plainText(line.slice(0, 20_000)), width - 2).map(part => `  ${part}`))
    .slice(0, MOST_LINES)
}
