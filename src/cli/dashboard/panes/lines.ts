// The lines above and below the panes.
import stringWidth from 'string-width'
import { cutTo, fitTo, plainText } from '../../../lib/display-width.js'
import { questionOf } from '../changes.js'
import { clock, count } from '../drawing/format.js'
import { cutLine, type Look, type Theme } from '../drawing/style.js'
import { PANES } from '../keymap.js'
import type { State } from '../model.js'
import type { JobOverview } from '../source.js'

export const TITLES = {
  queues: 'Queues',
  processes: 'Processes',
  failures: 'Failures',
  builds: 'Builds',
  jobs: 'Jobs',
  hooks: 'Hooks',
  mail: 'Mail'
} as const

interface TitleProps {
  readonly name: string
  readonly at: Date | string
  readonly width: number
  readonly theme: Theme
  readonly readOnly?: boolean
  /** Seconds between two updates; undefined for a frame that is not updated. */
  readonly interval?: number
}

/** Returns the line with the name of the appliance and the time of the last update. */
export function titleLine({ name, at, width, theme, readOnly = false, interval }: TitleProps): string {
  const time = clock(new Date(at).getTime())
  const mode = readOnly ? 'read-only  ' : ''
  const pace = interval === undefined ? '' : `every ${interval} s  `
  // The name of the appliance is more important than the interval.
  const whole = `gitstead jobs top  ${plainText(name)}`
  const [full, short] = [`${mode}${pace}${time}`, `${mode}${time}`]
  const right = stringWidth(whole) + 1 + full.length <= width ? full : short
  return cutLine(`${fitTo(whole, width - right.length - 1)} ${right}`, { width, look: 'strong', theme })
}

/** Returns the line with the totals of queues, processes, builds, hooks and mails; a narrow terminal omits the last ones. */
export function totalsLine({ overview, width, theme }: { overview: JobOverview; width: number; theme: Theme }): string {
  const { totals, processes, builds, hooks, mail } = overview
  const busy = processes.reduce((sum, process) => sum + process.busy, 0)
  const slots = processes.reduce((sum, process) => sum + process.concurrency, 0)
  const parts = [
    `ready ${count(totals.ready)}`,
    `delayed ${count(totals.delayed)}`,
    `running ${count(totals.running)}`,
    `dead ${count(totals.dead)}`,
    `busy ${busy}/${slots}`,
    `builds ${builds.length}`,
    ...(hooks.length > 0 ? [`hooks failing ${hooks.length}`] : []),
    ...(mail.troubled.length > 0 ? [`mail waiting ${count(mail.waiting)} failed ${count(mail.failed)}`] : []),
    `done ${count(totals.processed)}`,
    `failed ${count(totals.failed)}`
  ]
  const bad = processes.length === 0 || totals.dead > 0 || hooks.length > 0
  return cutLine(whatFits(parts, width), { width, look: bad ? 'warn' : 'normal', theme })
}

/** Joins as many of the parts as fit in full. */
function whatFits(parts: readonly string[], width: number): string {
  const number = parts.findIndex((_part, at) => stringWidth(parts.slice(0, at + 1).join('  ')) > width)
  return parts.slice(0, number === -1 ? parts.length : Math.max(1, number)).join('  ')
}

/** Returns the line with the names of the panes and their keys; the active pane is in brackets. */
export function tabsLine({ state, width, theme }: { state: State; width: number; theme: Theme }): string {
  const tabs = (named: boolean) =>
    PANES.map((pane, at) => {
      const active = pane === state.pane
      const name = named || active ? `${at + 1} ${TITLES[pane]}` : String(at + 1)
      return active ? `[${name}]` : ` ${name} `
    }).join(' ')
  const notes = [
    ...(state.queue === null ? [] : [`queue: ${state.queue}`]),
    ...(state.filter === '' ? [] : [`${state.filter === state.search ? 'search' : 'filter'}: ${state.filter}`])
  ]
  const fits = (text: string) => stringWidth([text.trimEnd(), ...notes].join('  ')) <= width
  const names = [tabs(true), tabs(false)].find(fits) ?? tabs(false)
  return cutLine(plainText([names.trimEnd(), ...notes].join('  ')), { width, theme })
}

export interface StatusProps {
  readonly state: State
  /** Why the source does not answer; null when it answers. */
  readonly away: string | null
  readonly readOnly: boolean
  readonly width: number
  readonly theme: Theme
}

/** The most important keys come first: a narrow terminal shows fewer. */
const HINTS = ['? keys', 'q quit', '/ filter', 'enter open', 'esc back', 's sort', 'S reverse']
const OF_CHANGES = ['space mark', 'r retry', 'd discard', 'c cancel', 'p pause']

/** Returns the status line: a question, the typed filter, an error, or the last message; otherwise the most important keys. */
export function statusLine({ state, away, readOnly, width, theme }: StatusProps): string {
  const line = (text: string, look: Look) => cutLine(plainText(text), { width, look, theme })
  if (state.confirm) return line(questionOf(state.confirm), 'warn')
  // A message about the filter, such as its limit, replaces the filter.
  if (state.mode === 'filter' && state.message === null) return line(`/${endOf(state.filter, width - 2)}_`, 'strong')
  if (state.message !== null && !state.message.away) return line(state.message.text, 'strong')
  if (away !== null) return line(`no answer: ${away}; retrying, showing the last values`, 'bad')
  if (state.message !== null) return line(state.message.text, 'strong')
  return line(whatFits(readOnly ? HINTS : [...HINTS.slice(0, 4), ...OF_CHANGES, ...HINTS.slice(4)], width), 'dim')
}

/** Returns the end of the text, so that users see what they type. */
function endOf(text: string, width: number): string {
  const plain = plainText(text)
  return stringWidth(plain) <= width ? plain : `…${cutTo([...plain].slice(-Math.floor(width / 2)).join(''), width - 1)}`
}
