// The components of the pages, which templates call as `it.ui`. Each returns HTML in which all values are escaped, so templates show
// it with `<%~ %>`.
import { titleOf } from '../../areas/code/repository/repository.view.js'
import { bytesText } from '../../lib/bytes.js'
import { isHexColor } from '../../lib/color.js'
import { escapeHtml } from '../../lib/escape-html.js'
import { levelName, visibilityName } from '../../lib/levels.js'
import { isWebUrl } from '../../lib/link.js'
import { lruOf } from '../../lib/lru.js'
import { visible, visibleName } from '../../lib/visible.js'
import type { Timed } from '../plugins/kept-readings.js'

export { foldersOf, limitedLinks } from './file-links.js'

// `visible` is a line that others wrote, and `visibleName` the name or path of a file. Both are not escaped.
export { bytesText as size, levelName, visibilityName, visible, visibleName }

/** The first line of the message of a commit. It is not escaped. */
export const commitTitle = (message: string): string => visible(titleOf(message)) || '(no message)'

/** Escapes a value for HTML and for quoted attributes. */
export const escaped = (value: unknown): string => escapeHtml(String(value))

/** Returns a path from its parts, each of which may contain anything: slashes in them do not separate. */
export const path = (...parts: readonly (string | number)[]): string =>
  parts.map(part => `/${encodeURIComponent(part)}`).join('')

/** Returns the name of a branch or file as a part of a path: its slashes stay, and everything else is escaped. */
export const inPath = (name: string): string => name.split('/').map(encodeURIComponent).join('/')

/** Returns the path of a URL of our own, such as a `web_url`: pages link to the host on which the visitor reads them. */
export const local = (url: string): string => {
  const { pathname, search, hash } = new URL(url)
  return pathname + search + hash
}

const MINUTE = 60
const STEPS: readonly (readonly [seconds: number, name: string])[] = [
  [31_536_000, 'year'],
  [2_592_000, 'month'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [MINUTE, 'minute']
]

/** When the first of the distances that were shown since then gets other words, by `Date.now()`: see `timed`. */
let changesAt = Number.POSITIVE_INFINITY

/** Renders something. The HTML is valid until one of its distances from now gets other words. */
export function timed(render: () => string): Timed {
  const before = changesAt
  changesAt = Number.POSITIVE_INFINITY
  try {
    return { html: render(), until: changesAt }
  } finally {
    changesAt = Math.min(before, changesAt)
  }
}

/** Notes when the words of a distance change: when it is one longer, or long enough for the next name. */
function noteChange(seconds: number): void {
  const at = STEPS.findIndex(([length]) => seconds >= length)
  const [length] = STEPS[at] ?? [MINUTE]
  const [longer] = STEPS[(at === -1 ? STEPS.length : at) - 1] ?? [Number.POSITIVE_INFINITY]
  // A moment in the future is nearer at each look.
  const next = seconds < 0 ? seconds : Math.min((Math.floor(seconds / length) + 1) * length, longer)
  changesAt = Math.min(changesAt, Math.ceil(Date.now() + (next - seconds) * 1000))
}

function distance(seconds: number): string {
  noteChange(seconds)
  const [length, name] = STEPS.find(([length]) => Math.abs(seconds) >= length) ?? [1, '']
  if (name === '') return 'just now'
  const count = Math.floor(Math.abs(seconds) / length)
  const words = `${count} ${name}${count === 1 ? '' : 's'}`
  return seconds > 0 ? `${words} ago` : `in ${words}`
}

type Moment = Date | string | null | undefined

const momentTag = (iso: string, text: string) => `<time datetime="${iso}" title="${exact(iso)} UTC">${text}</time>`

const exact = (iso: string) => `${iso.slice(0, 10)} ${iso.slice(11, 19)}`

/** A moment as its distance from now, with the exact moment as its title. Not for pages that a browser keeps. */
export function ago(moment: Moment): string {
  if (moment === null || moment === undefined) return 'never'
  const at = new Date(moment)
  return momentTag(at.toISOString(), distance((Date.now() - at.getTime()) / 1000))
}

/** A moment in UTC. */
export function time(moment: Moment): string {
  if (moment === null || moment === undefined) return 'never'
  const iso = new Date(moment).toISOString()
  return momentTag(iso, exact(iso).slice(0, 16))
}

interface Person {
  readonly username: string
  readonly name: string
}

/** A link to the page of a user. */
export const user = (person: Person | null | undefined): string =>
  person
    ? `<a class="user" href="${path(person.username)}">${escaped(visible(person.name))}</a>`
    : '<i>a deleted user</i>'

/** A discussion shows the same few people again and again. */
const avatars = lruOf<string, string>(1000)

/** The initials of a user on a colour that depends on the username. It only decorates the name next to it. */
export function avatar({ username, name }: Person, size = 24): string {
  const key = `${size} ${username} ${name}`
  const known = avatars.get(key)
  if (known !== undefined) return known
  const made = avatarOf({ username, name }, size)
  avatars.set(key, made)
  return made
}

function avatarOf({ username, name }: Person, size: number): string {
  let hue = 0
  for (let at = 0; at < username.length; at++) hue = (hue * 31 + username.charCodeAt(at)) % 360
  const letters = name
    .split(/\s+/)
    .flatMap(word => [...word].slice(0, 1))
    .slice(0, 2)
    .join('')
  return `<svg class="avatar" width="${size}" height="${size}" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="12" fill="hsl(${hue} 45% 38%)"/><text x="12" y="16" text-anchor="middle" font-size="10" fill="#fff">${escaped(letters.toUpperCase())}</text></svg>`
}

/** A label with its colour as a dot: the text keeps the contrast of the page, whatever colour was chosen. */
export function label(title: string, color?: string | null, href?: string): string {
  const fill = color && isHexColor(color) ? color : '#888'
  const dot = `<svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true"><circle cx="5" cy="5" r="5" fill="${fill}"/></svg>`
  const inner = `${dot} ${escaped(visible(title))}`
  return href ? `<a class="label" href="${escaped(href)}">${inner}</a>` : `<span class="label">${inner}</span>`
}

const TONES: Readonly<Record<string, string>> = {
  opened: 'good',
  reopened: 'good',
  active: 'good',
  success: 'good',
  merged: 'done',
  closed: 'bad',
  failed: 'bad',
  running: 'busy',
  pending: 'busy',
  created: 'busy'
}

/** A state as a badge. Its word says what the colour says. */
export const state = (name: string): string => `<span class="state ${TONES[name] ?? 'idle'}">${escaped(name)}</span>`

/** The hidden field that proves that a form comes from this page. */
export const token = (formToken: unknown): string =>
  `<input type="hidden" name="authenticity_token" value="${escaped(formToken ?? '')}">`

/** What is wrong with the value of a field, to stand after it; the field names it with `aria-describedby="NAME-error"`. */
export const fault = (refusals: Readonly<Record<string, string>> | undefined, name: string): string =>
  refusals?.[name] ? `<p class="error" id="${escaped(name)}-error">${escaped(refusals[name])}</p>` : ''

/** A form with a single button; `fields` are hidden. */
export function button(
  action: string,
  text: string,
  formToken: unknown,
  fields: Readonly<Record<string, string | number>> = {}
): string {
  const hidden = Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
    .join('')
  return `<form method="post" action="${escaped(action)}" class="inline">${token(formToken)}${hidden}<button>${escaped(text)}</button></form>`
}

/** A URL to copy. Without the script it can be selected. */
export const copyable = (text: string, label: string): string =>
  `<span class="copyable"><input readonly value="${escaped(text)}" aria-label="${escaped(label)}"><button type="button" data-copy hidden>Copy</button></span>`

interface Listed {
  readonly total: number
  readonly page: number
  readonly perPage: number
}

/** The links to the neighbours of a page of a list. `here` is the path with the query of the request, whose other parameters stay. */
export function pages({ total, page, perPage }: Listed, here: string): string {
  const last = Math.max(1, Math.ceil(total / perPage))
  if (last === 1 && page === 1) return ''
  const link = (to: number, rel: string, text: string) =>
    `<a rel="${rel}" href="${escaped(withQuery(here, { page: to }))}">${text}</a>`
  const newer = page > 1 ? link(Math.min(page - 1, last), 'prev', 'Previous') : ''
  const older = page < last ? link(page + 1, 'next', 'Next') : ''
  return `<nav class="pages" aria-label="Pages">${newer}<span>Page ${page} of ${last}</span>${older}</nav>`
}

/** Returns a path with other values for some parameters of its query; null removes a parameter. */
export function withQuery(here: string, values: Readonly<Record<string, string | number | null>>): string {
  const [path = '', query = ''] = here.split('?', 2)
  const parameters = new URLSearchParams(query)
  for (const [name, value] of Object.entries(values)) {
    if (value === null) parameters.delete(name)
    else parameters.set(name, String(value))
  }
  return parameters.size > 0 ? `${path}?${parameters}` : path
}

/** A number of things: "1 commit", "2 commits". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${escaped(count === 1 ? one : many)}`

/**
 * A button of a form that shows one of its Markdown fields as it would look: below the field, or without the script in a new tab.
 * In a project, also a link that attaches a file to the field. `project` is NAMESPACE/PROJECT.
 */
export const preview = (field: string, project = ''): string =>
  previewButton(field, project) + (project === '' ? '' : attachment(field, project))

const attachment = (field: string, project: string) =>
  ` <a class="button" href="${path(...project.split('/'))}/uploads/new" target="_blank" data-attach="${escaped(field)}">Attach a file</a>`

const previewButton = (field: string, project: string) =>
  `<button name="preview" value="${escaped(field)}" formaction="/markdown/preview?${new URLSearchParams({ project })}" formtarget="_blank" formnovalidate data-preview>Preview</button>`

/** A link that leads out of the appliance; only the text when it is no http or https URL. An import may have any URL. */
export const outside = (url: string | null, text = url ?? ''): string =>
  url !== null && isWebUrl(url)
    ? `<a href="${escaped(url)}" rel="nofollow noopener">${escaped(text)}</a>`
    : escaped(text)

/** A number of seconds in words, such as `1 h 5 min`. */
export function lasted(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return [`${Math.floor(whole / 60)} min`, ...(whole % 60 ? [`${whole % 60} s`] : [])].join(' ')
  const minutes = Math.floor((whole % 3600) / 60)
  return [`${Math.floor(whole / 3600)} h`, ...(minutes ? [`${minutes} min`] : [])].join(' ')
}
