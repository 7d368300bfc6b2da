// The Link and X- headers of a list ("Limits").
import type { FastifyInstance, FastifyReply } from 'fastify'
import { publicUrl } from '../../config.js'
import type { Page, TextReply } from '../../db/lists/paginate.js'
import { parseForm } from '../../lib/form.js'
import { versionOf } from './versions.js'

declare module 'fastify' {
  interface FastifyReply extends TextReply<FastifyReply> {
    /** Sets the headers of a page and returns its items, as the view shows them. */
    page<T, V>(page: Page<T>, view: (item: T) => V): V[]
  }
}

/** Adds `reply.page` to an application. */
export function answerPages(app: FastifyInstance): void {
  app.decorateReply('page', function <T, V>(this: FastifyReply, page: Page<T>, view: (item: T) => V): V[] {
    setHeaders(this, page)
    return page.items.map(view)
  })
  app.decorateReply('jsonOf', function (this: FastifyReply, record: object): string {
    const serialize = this.getSerializationFunction('200') ?? JSON.stringify
    return serialize([record]).slice(1, -1)
  })
  app.decorateReply('pageOfTexts', function (this: FastifyReply, page) {
    const texts = this.page(page, ({ text }) => text)
    this.keptVersion = versionOf(this, page.items.map(({ version }) => version).join())
    return this.type('application/json; charset=utf-8').send(`[${texts.join()}]`)
  })
}

function setHeaders(reply: FastifyReply, { total, page, perPage }: Page<unknown>): void {
  const last = Math.max(1, Math.ceil(total / perPage))
  const previous = page > 1 ? String(page - 1) : ''
  const next = page < last ? String(page + 1) : ''
  const link = linkTo(reply, perPage)
  reply.headers({
    'x-total': String(total),
    'x-total-pages': String(last),
    'x-per-page': String(perPage),
    'x-page': String(page),
    'x-next-page': next,
    'x-prev-page': previous,
    link: [
      ...(previous ? [link(previous, 'prev')] : []),
      ...(next ? [link(next, 'next')] : []),
      link('1', 'first'),
      link(String(last), 'last')
    ].join(', ')
  })
}

const DROPPED = new Set(['page', 'per_page', 'private_token', 'access_token'])

/** Returns the name of a parameter as the server reads it: `private%5Ftoken[]=x` is a `private_token`. */
function nameOf(pair: string): string {
  const [name] = Object.keys(parseForm(pair))
  return name?.trim().toLowerCase() ?? ''
}

/** Returns a function that builds a link. Links keep the other parameters, except secrets. */
function linkTo({ request }: FastifyReply, perPage: number): (page: string, rel: string) => string {
  const [path = ''] = request.url.split('?', 1)
  const kept = request.url
    .slice(path.length + 1)
    .split('&')
    .filter(pair => pair !== '' && !DROPPED.has(nameOf(pair)))
    .join('&')
  const base = `${publicUrl()}${path}?${kept}${kept ? '&' : ''}`
  return (page, rel) => `<${base}page=${page}&per_page=${perPage}>; rel="${rel}"`
}
