// The pages for browsers, from templates/web. Eta escapes every value that a template shows.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Eta } from 'eta'
import type { FastifyReply } from 'fastify'
import type { ActorUser } from '../../access/actor.js'
import type { Settings } from '../../areas/ground/settings/settings.table.js'
import { activeBroadcasts, type PageFrame, pageFrame } from '../../areas/reach/broadcasts/broadcasts.queries.js'
import { root } from '../../config.js'
import { isDatabaseAway } from '../../db/connect/failure.js'
import { isHexColor } from '../../lib/color.js'
import * as ui from './components.js'
import type { Place } from './place.js'

export interface Page {
  readonly title: string
  readonly heading?: string
  /** What went wrong, in our own words. */
  readonly problem?: string
  /** Makes the page narrow, for short forms, and leaves out the menu of the site. */
  readonly small?: true
  /** The user who is signed in. */
  readonly visitor?: ActorUser | undefined
  /** Proves that a form comes from this page. */
  readonly formToken?: string | undefined
  /** The project, group or user that the page belongs to, with its menu. */
  readonly place?: Place | undefined
  /** By when the visitor must set up a second factor. */
  readonly factorDueAt?: Date | undefined
  /** The path of the request, to which the visitor returns after signing in. */
  readonly here?: string | undefined
  readonly [name: string]: unknown
}

const views = join(root, 'templates/web')
const eta = new Eta({ views, cache: true })

const asset = (name: string) => {
  const text = readFileSync(join(views, name), 'utf8')
  return { text, digest: createHash('sha256').update(text).digest('hex').slice(0, 12) }
}
/** The only stylesheet, and the only script. Pages name them with their digest, so browsers keep them until they change. */
export const STYLE = asset('gitstead.css')
export const SCRIPT = asset('gitstead.js')
export const ICON = asset('icon.svg')
const assets = { style: STYLE.digest, script: SCRIPT.digest }

/** Browsers also check a redirect after a form against `form-action`: `formsTo` are the other places to which the forms of a page may lead. */
const policy = (formsTo: readonly string[]) =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `form-action ${["'self'", ...formsTo].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'"
  ].join('; ')

/** Sends a page with the current broadcast messages. Its content may be secret or change at once, so nobody may cache it. */
export async function sendPage(
  reply: FastifyReply,
  name: string,
  page: Page,
  formsTo: readonly string[] = []
): Promise<FastifyReply> {
  const { broadcasts, settings } = await shownFrame()
  const signedOut = page.visitor ? afterSignOut(settings) : []
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  return reply
    .type('text/html; charset=utf-8')
    .headers({
      'content-security-policy': policy([...formsTo, ...signedOut]),
      // A form must still send its origin to this server, and other sites must not see the parameters of a page.
      'referrer-policy': 'same-origin'
    })
    .send(eta.render(`./${name}`, { ...page, broadcasts, assets, ui }))
}

/** Where the form for signing out leads, if that is another site. */
function afterSignOut(settings: string | null): string[] {
  const { after_sign_out_path: path } = JSON.parse(settings ?? '{}') as Partial<Settings>
  return sourceOf(path ?? '')
}

/** Renders a part of a page, for an answer that the script puts into a page. */
export const renderPart = (name: string, values: object): string => eta.render(`./${name}`, { ...values, ui })

/** The current broadcast messages, for a page that is not made here. */
export const broadcastsHtml = async (): Promise<string> => {
  const { broadcasts } = await shownFrame()
  return eta.render('./broadcasts', { broadcasts })
}

interface ShownFrame extends Pick<PageFrame, 'settings'> {
  readonly broadcasts: readonly { readonly id: number; readonly message: string }[]
}

/** Returns no messages while the database is unavailable, because the page may have to report just that. */
const shownFrame = (): Promise<ShownFrame> =>
  pageFrame().catch(error => {
    if (isDatabaseAway(error)) return { broadcasts: [], settings: null }
    throw error
  })

/** The colours of the current broadcast messages, as a stylesheet: the policy of a page allows no styles in it. */
export async function broadcastStyle(): Promise<string> {
  const active = await activeBroadcasts()
  return active.map(({ id, color, font }) => `.broadcast-${id} { ${styleOf(color, font)} }\n`).join('')
}

function styleOf(color: string, font: string): string {
  return [
    ...(isHexColor(color) ? [`background-color: ${color}`] : []),
    ...(isHexColor(font) ? [`color: ${font}`] : [])
  ].join('; ')
}

/** The source of a policy for a URI: its origin, or its scheme when it has no origin. */
export function sourceOf(uri: string): string[] {
  if (!URL.canParse(uri)) return []
  const { protocol, origin, host } = new URL(uri)
  // A policy cannot express an address in brackets.
  return [/^https?:$/.test(protocol) && !host.includes('[') ? origin : protocol]
}
