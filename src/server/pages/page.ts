// The pages of the browser, from templates/web. Eta escapes every value that a template shows. The pages have no script, and
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
  /** What went wrong, in the words of this program. */
  readonly problem?: string
  /** For short forms. */
  readonly small?: true
  /** Who is signed in; without, the page has no menu. */
  readonly visitor?: ActorUser
  /** Proves that a form comes from this page. */
  readonly formToken?: string
  readonly [name: string]: unknown
}

const views = join(root, 'templates/web')
const eta = new Eta({ views, cache: true })
/** The one stylesheet. */
export const STYLE = readFileSync(join(views, 'gitstead.css'), 'utf8')

/**
 * Browsers hold a redirect after a form against `form-action` too: `formsTo` are the other places to which the forms of a
 * page may lead. The colours of broadcast messages are the only styles in a page.
 */
const policy = (formsTo: readonly string[]) =>
  [
    "default-src 'none'",
    "style-src 'self' 'unsafe-inline'",
    `form-action ${["'self'", ...formsTo].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'"
  ].join('; ')

/** Sends a page with the broadcast messages of now. What it shows may be secret or change at once, so nobody keeps a copy. */
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
      // A form must still tell its origin here, and other sites must not see the parameters of a page.
      'referrer-policy': 'same-origin'
    })
    .send(eta.render(`./${name}`, { ...page, broadcasts }))
}

/** The broadcast messages of now, for a page that is not made here. */
export const broadcastsHtml = async (): Promise<string> =>
  eta.render('./broadcasts', { broadcasts: await shownBroadcasts() })

/** A page that says that the database is away can show no messages. */
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

/** The source of a policy that stands for a URI: its origin, or its scheme where it has none. */
export function sourceOf(uri: string): string[] {
  if (!URL.canParse(uri)) return []
  const { protocol, origin, host } = new URL(uri)
  // A policy has no form for an address in brackets.
  return [/^https?:$/.test(protocol) && !host.includes('[') ? origin : protocol]
}

/** A moment as pages show it. */
export const shown = (moment: Date | null): string =>
  moment === null ? 'never' : moment.toISOString().slice(0, 16).replace('T', ' ')
