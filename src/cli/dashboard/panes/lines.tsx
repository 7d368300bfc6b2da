// Draws the lines above and below the panes.
import { displayWidth, fitTo, plainText } from '../../../lib/display-width.js'
import { clock, count } from '../format.js'
import { PANES } from '../keymap.js'
import type { JobOverview } from '../source.js'
import type { State } from '../state.js'
import type { Look, Theme } from '../style.js'
import { CutLine } from './line.js'

export const TITLES = {
  queues: 'Queues',
  processes: 'Processes',
  failures: 'Failures',
  builds: 'Builds',
  jobs: 'Jobs'
} as const

interface TitleProps {
  readonly name: string
  readonly at: Date | string
  readonly width: number
  readonly theme: Theme
  readonly note?: string
}

/** The name of the appliance, and the time of the last update. */
export function Title({ name, at, width, theme, note = '' }: TitleProps) {
  const right = `${note}${clock(new Date(at).getTime())}`
  const left = fitTo(`gitstead jobs top  ${plainText(name)}`, width - displayWidth(right) - 1)
  return <CutLine text={`${left} ${right}`} width={width} look="strong" theme={theme} />
}

/** The totals of all queues, processes and builds in one line. */
export function Totals({ overview, width, theme }: { overview: JobOverview; width: number; theme: Theme }) {
  const { totals, processes, builds } = overview
  const busy = processes.reduce((sum, process) => sum + process.busy, 0)
  const slots = processes.reduce((sum, process) => sum + process.concurrency, 0)
  const parts = [
    `ready ${count(totals.ready)}`,
    `delayed ${count(totals.delayed)}`,
    `running ${count(totals.running)}`,
    `dead ${count(totals.dead)}`,
    `busy ${busy}/${slots}`,
    `builds ${builds.length}`,
    `done ${count(totals.processed)}`,
    `failed ${count(totals.failed)}`
  ]
  const look = processes.length === 0 || totals.dead > 0 ? 'warn' : 'normal'
  return <CutLine text={parts.join('  ')} width={width} look={look} theme={theme} />
}

/** The names of the panes with their keys; the active pane is in brackets. */
export function Tabs({ state, width, theme }: { state: State; width: number; theme: Theme }) {
  const tabs = PANES.map((pane, at) => {
    const name = `${at + 1} ${TITLES[pane]}`
    return pane === state.pane ? `[${name}]` : ` ${name} `
  })
  const notes = [
    ...(state.queue === null ? [] : [`queue: ${state.queue}`]),
    ...(state.filter === '' ? [] : [`filter: ${plainText(state.filter)}`])
  ]
  return <CutLine text={[tabs.join(' '), ...notes].join('  ')} width={width} theme={theme} />
}

export interface StatusProps {
  readonly state: State
  /** Why the source does not answer; null when it answers. */
  readonly away: string | null
  readonly readOnly: boolean
  readonly width: number
  readonly theme: Theme
}

const HINTS = '? keys  / filter  s sort  enter open  esc back  q quit'
const ALL_HINTS = '? keys  / filter  s sort  enter open  r retry  d discard  p pause  q quit'

/** The status line: a question, the typed filter, an error, or the last message; otherwise the most important keys. */
export function Status({ state, away, readOnly, width, theme }: StatusProps) {
  const line = (text: string, look: Look) => <CutLine text={plainText(text)} width={width} look={look} theme={theme} />
  if (state.confirm && 'job' in state.confirm) return line(`discard job ${state.confirm.job}? y/n`, 'warn')
  if (state.mode === 'filter') return line(`/${state.filter}_`, 'strong')
  if (away !== null) return line(`no answer: ${away}; trying again, these are the last figures`, 'bad')
  if (state.message !== '') return line(state.message, 'strong')
  return line(readOnly ? HINTS : ALL_HINTS, 'dim')
}
