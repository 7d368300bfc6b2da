import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Page } from '../page.js'
import { show } from '../page-routes.js'
import type { Place } from '../place.js'

const MENU = [
  ['Profile', '/profile'],
  ['Password', '/profile/password'],
  ['Second factor', '/profile/two_factor'],
  ['SSH keys', '/profile/keys'],
  ['Addresses', '/profile/emails'],
  ['Connected accounts', '/profile/identities'],
  ['Notifications', '/profile/notifications'],
  ['Access tokens', '/profile/personal_access_tokens'],
  ['Applications', '/profile/applications'],
  ['Sessions', '/profile/sessions']
] as const

/** Shows an account page, with the menu of the account. */
export function showOwn(request: FastifyRequest, reply: FastifyReply, name: string, page: Page): Promise<FastifyReply> {
  const [here] = request.url.split('?', 1)
  const place: Place = {
    trail: [['Your account', '/profile']],
    menu: MENU.map(([text, href]) => ({ text, href, current: href === here }))
  }
  return show(request, reply, `account/${name}`, { place, ...page })
}
