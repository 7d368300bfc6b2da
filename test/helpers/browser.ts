// A browser, as far as forms need one: it keeps cookies, follows no redirect by itself, and fills in forms. It connects to a
// real listener over HTTP.
import type { FastifyInstance } from 'fastify'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly location: string | null
  readonly body: string
}

export interface Form {
  readonly action: string
  /** The initial values of the form, of its fields that are not empty. */
  readonly fields: readonly (readonly [name: string, value: string])[]
}

/** Starts listening. Returns the address of the application. */
export async function listen(app: FastifyInstance): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  if (typeof address !== 'object' || address === null) throw new Error('it listens nowhere')
  return `http://127.0.0.1:${address.port}`
}

/** Sends a request without following redirects. */
export async function send(base: string, method: string, path: string, options: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(`${base}${path}`, { ...options, method, redirect: 'manual' })
  const { status, headers } = answer
  return { status, headers, location: headers.get('location'), body: await answer.text() }
}

export const formBody = (values: Readonly<Record<string, string>>) => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(values)
})

export class Browser {
  readonly cookies = new Map<string, string>()

  constructor(readonly base: string) {}

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send('GET', path, { headers })
  }

  post(path: string, values: Readonly<Record<string, string>>, headers: Record<string, string> = {}): Promise<Answer> {
    const form = formBody(values)
    return this.#send('POST', path, { ...form, headers: { ...form.headers, ...headers } })
  }

  delete(path: string, values: Readonly<Record<string, string>>): Promise<Answer> {
    return this.#send('DELETE', path, formBody(values))
  }

  /** Fills in a form of a page and sends it; `which` is a part of its action or of its HTML. */
  submit(page: Answer, which: string, values: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const { action, fields } = formIn(page.body, which)
    return this.post(action, { ...Object.fromEntries(fields), ...values })
  }

  /** Signs in through the page, as a text browser does: without sending an origin. */
  async signIn(
    { username, password }: { username: string; password: string },
    path = '/users/sign_in'
  ): Promise<Answer> {
    return this.submit(await this.get(path), '/users/sign_in', { login: username, password })
  }

  async #send(method: string, path: string, options: RequestInit = {}): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      accept: 'text/html',
      ...(options.headers as Record<string, string>),
      ...(cookie === '' ? {} : { cookie })
    }
    const answer = await send(this.base, method, path, { ...options, headers })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return answer
  }
}

/** The first form of a page whose HTML has the text. Throws when there is none. */
export function formIn(html: string, which: string): Form {
  const form = [...html.matchAll(/<form.*?<\/form>/gs)].map(([text]) => text).find(text => text.includes(which))
  if (form === undefined) throw new Error(`the page has no form ${which}: ${html}`)
  const fields = [...form.matchAll(/<input[^>]*>/g)].flatMap(([input]) => {
    const [name, value] = [attribute(input, 'name'), attribute(input, 'value')]
    const chosen = !/type="(checkbox|radio)"/.test(input) || / checked/.test(input)
    return name !== undefined && value !== undefined && chosen ? [[name, value] as const] : []
  })
  return { action: attribute(form, 'action') ?? '', fields }
}

const attribute = (tag: string, name: string) => {
  const found = new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
  return found && unescaped(found)
}

const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
