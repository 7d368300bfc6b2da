// The pages for browsers, from templates/web. Eta escapes every value that a template shows. The pages have no script, and
// their policy lets none run.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Eta } from 'eta'
import type { FastifyReply } from 'fastify'
import type { ActorUser } from '../../access/actor.js'
import { activeBroadcasts } from '../../areas/reach/broadcasts/broadcasts.queries.js'
import { root } from '../../config.js'
import { isDatabaseAway } from '../../db/connect/failure.js'
import { isHexColor } from '../../lib/color.js'

export interface Page {
  readonly title: string
  readonly heading?: string
  /** What went wrong, in our own words. */
  readonly problem?: string
  /** Makes the page narrow, for short forms. */
  readonly small?: true
  /** The user who is signed in; without one, the page has no menu. */
  readonly visitor?: ActorUser
  /** Proves that a form comes from this page. */
  readonly formToken?: string
  readonly [name: string]: unknown
}

const views = join(root, 'templates/web')
const eta = new Eta({ views, cache: true })
/** The only stylesheet. */
export const STYLE = readFileSync(join(views, 'gitstead.css'), 'utf8')

/**
 * Browsers also check a redirect after a form against `form-action`: `formsTo` are the other places to which the forms of
 * a page may lead. The colours of broadcast messages are the only styles in a page.
 */
const policy = (formsTo: readonly string[]) =>
  [
    "default-src 'none'",
    "style-src 'self' 'unsafe-inline'",
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
  const broadcasts = await shownBroadcasts()
  return reply
    .type('text/html; charset=utf-8')
    .headers({
      'content-security-policy': policy(formsTo),
      'cache-control': 'no-store',
      // A form must still send its origin to this server, and other sites must not see the parameters of a page.
      'referrer-policy': 'same-origin'
    })
    .send(eta.render(`./${name}`, { ...page, broadcasts }))
}

/** The current broadcast messages, for a page that is not made here. */
export const broadcastsHtml = async (): Promise<string> =>
  eta.render('./broadcasts', { broadcasts: await shownBroadcasts() })

/** Returns no messages while the database is unavailable, because the page may have to report just that. */
async function shownBroadcasts(): Promise<{ message: string; style: string }[]> {
  const active = await activeBroadcasts().catch(error => {
    if (isDatabaseAway(error)) return []
    throw error
  })
  return active.map(({ message, color, font }) => ({ message, style: styleOf(color, font) }))
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

/** A time as pages show it. */
export const shown = (moment: Date | null): string =>
  moment === null ? 'never' : moment.toISOString().slice(0, 16).replace('T', ' ')
